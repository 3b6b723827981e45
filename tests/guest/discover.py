# SPDX-License-Identifier: GPL-2.0-or-later
"""Every model in every capacity sold: are the SSDs found, in phy order, with
the sizes and names of the real ones?

One boot per model (the argument) with one card of each capacity, in sparse
memory.  Expectations are those of shared/hardware/real-cards.md 2 and 3.
"""

import base64
import sys

import guestlib
from zdlib import vm

# model: device id, SSDs, firmware, {GB of the card: GB of an SSD}, and the
# capacity of a card that is not told one
CARDS = {
    "cm84": ("1044", 4, "2.25", {300: 75, 600: 150, 1200: 300}, 600),
    "cm88": ("1084", 8, "2.25", {800: 100, 1600: 200, 3200: 400}, 1600),
    "rm84": ("1044", 4, "3.20E", {300: 75, 600: 150, 1200: 300}, 600),
    "rm88": ("1084", 8, "3.20E", {800: 100, 1600: 200, 3200: 400}, 1600),
}
# real-cards.md 3.1
SECTORS = {75: 146533968, 100: 195371568, 150: 293046768, 200: 390721968,
           300: 586072368, 400: 781422768}
ASCII_WORDS = {"serial": (10, 20), "firmware": (23, 27), "model": (27, 47)}
# VPD page 89h carries IDENTIFY DEVICE data from byte 60 on (SAT-3).
VPD_IDENTIFY = 60


def identify(page):
    """The words of IDENTIFY DEVICE in a VPD page 89h, base 64."""
    data = base64.b64decode(page)[VPD_IDENTIFY:]
    return [int.from_bytes(data[2 * n:2 * n + 2], "little")
            for n in range(256)]


def text(words, field):
    """An ASCII field of IDENTIFY: the first character is the high byte."""
    first, last = ASCII_WORDS[field]
    return b"".join(word.to_bytes(2, "big")
                    for word in words[first:last]).decode().strip()


def check_card(report, what, machine, found, expected):
    """Compare the SSDs @found of one card with those it has to have."""
    device, ssds, firmware, sectors, model = expected
    slot = found[0].pci if found else "none"
    ids = machine.run(f"cat /sys/bus/pci/devices/{slot}/{{vendor,device,"
                      f"subsystem_vendor,subsystem_device,revision,class}}",
                      check=False).out.split()
    report.ok(f"{what}: PCI identity", ids == [
        "0x1b85", f"0x{device}", "0x1b85", f"0x{device}", "0x02", "0x010000"],
        ids)
    report.ok(f"{what}: {ssds} SSDs, SCSI target = phy", [
        (member.phy, member.scsi.split(":", 1)[1]) for member in found]
        == [(phy, f"0:{phy}:0") for phy in range(ssds)], *found)
    serials = set()
    for member in found:
        size, depth, wwid, page = machine.run(
            f"cd /sys/block/{member.name}\n"
            "cat size device/queue_depth device/wwid\n"
            "base64 -w 0 device/vpd_pg89").splitlines()
        words = identify(page)
        serials.add(text(words, "serial"))
        for field, is_now, wanted in (
                ("sectors", int(size), sectors),
                ("sectors in IDENTIFY",
                 sum(words[100 + n] << 16 * n for n in range(4)), sectors),
                ("queue depth in use", int(depth), 32),
                ("queue depth in IDENTIFY", words[75] + 1, 32),
                ("model", text(words, "model"), model),
                ("firmware", text(words, "firmware"), firmware),
                ("OCZ's number in the WWN", wwid[:11], "naa.5e83a97")):
            report.ok(f"{what}: SSD {member.phy}: {field}", is_now == wanted,
                      f"{is_now}, expected {wanted}")
    report.ok(f"{what}: every SSD has its own serial number",
              len(serials) == ssds, *serials)


def body(report):
    """Boot a card of each capacity; the first is left at its default."""
    model = sys.argv[1]
    device, ssds, firmware, capacities, default = CARDS[model]
    sold = [default] + [gb for gb in capacities if gb != default]
    devices = []
    for slot, capacity in enumerate(sold):
        told = {} if capacity == default else {"capacity_gb": capacity}
        devices += vm.root_port(f"rp{slot}", slot + 1)
        devices += vm.card(f"zd{slot}", f"rp{slot}", model=model, **told)
    with guestlib.guest(report, devices, model) as machine:
        by_card = {}
        for member in guestlib.members(machine):
            by_card.setdefault(member.pci, []).append(member)
        report.ok(f"{model}: {len(sold)} cards", len(by_card) == len(sold),
                  *by_card)
        for capacity, found in zip(sold, by_card.values()):
            check_card(report, f"{model} {capacity} GB", machine, found, (
                device, ssds, firmware, SECTORS[capacities[capacity]],
                f"OCZ Z-DRIVE R4 {model.upper()}"))


guestlib.run(body)

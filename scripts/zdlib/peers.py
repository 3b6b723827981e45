# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive bench --peers`: the card beside QEMU's other controllers.

One guest has the card with timing=off, an ich9-ahci with an ide-hd and a
megasas-gen2 with a scsi-hd, each on a null block device of the same size.  The
same fio job runs on one disk of each in turns, so that whatever else the host
does meets all of them; a ratio is that of the medians.
"""

import json
import statistics
import sys

from zdlib import build, image, kernel, table, ui, vm

SIZE = 1 << 30
SSDS = 4
ROUNDS = 5
SECONDS = 4
LOADS = ("randread", "randwrite")

CARD, AHCI, MEGASAS = "zdrive-r4", "ich9-ahci", "megasas-gen2"
DRIVERS = {CARD: "mvsas", AHCI: "ahci", MEGASAS: "megaraid_sas"}
# What the card has to reach, as a multiple of each peer.
LEAST = {AHCI: 2.0, MEGASAS: 1.0}

FIND = """
modprobe -a {drivers}
for try in $(seq 100); do
    [ $(ls -d /sys/block/sd* | wc -l) -ge {disks} ] && break
    sleep 0.1
done
for disk in /sys/block/sd*; do
    device=$(readlink -f $disk/device)
    for driver in {drivers}; do
        for link in /sys/bus/pci/drivers/$driver/*:*; do
            case $device in
            $(readlink -f $link)/*) echo $driver ${{disk##*/}} ;;
            esac
        done
    done
    echo none >$disk/queue/scheduler
done
"""
FIO = ("fio --output-format=json --ioengine=libaio --direct=1 --iodepth=32 "
       "--bs=4k --norandommap --randrepeat=0 --time_based --ramp_time=0.5 "
       "--runtime={seconds} --rw={load} --name=peer --filename=/dev/{disk}")


def _null(node, size):
    return ["-blockdev", json.dumps({
        "driver": "null-co", "node-name": node, "size": size,
        "read-zeroes": True})]


def _devices():
    return [
        *_null("card", SSDS * SIZE), *_null("ahci", SIZE),
        *_null("megasas", SIZE),
        *vm.root_port("rp0", 1), *vm.root_port("rp1", 2),
        *vm.card(model="cm84", size=SSDS * SIZE, drive="card", timing="off"),
        *vm.device(AHCI, id="peer0"),
        *vm.device("ide-hd", drive="ahci", bus="peer0.0"),
        *vm.device(MEGASAS, id="peer1", bus="rp1"),
        *vm.device("scsi-hd", drive="megasas", bus="peer1.0")]


def _disks(guest):
    """A disk of each controller."""
    found = {}
    for line in guest.run(FIND.format(
            drivers=" ".join(DRIVERS.values()), disks=SSDS + 2)).splitlines():
        driver, name = line.split()
        found.setdefault(driver, name)
    missing = [driver for driver in DRIVERS.values() if driver not in found]
    if missing:
        ui.die(f"the guest has no disk of {missing[0]}",
               f"its kernel says why in {guest.folder / 'console'}")
    return {name: found[driver] for name, driver in DRIVERS.items()}


def _iops(guest, load, disk):
    out = guest.run(FIO.format(seconds=SECONDS, load=load, disk=disk),
                    timeout=60 + 10 * SECONDS)
    job, = json.loads(out)["jobs"]
    return job["read" if "read" in load else "write"]["iops"]


def _measure(guest):
    """For each load and controller the IOPS of each round."""
    disks = _disks(guest)
    found = {(load, name): [] for load in LOADS for name in DRIVERS}
    with ui.step("Running fio") as step:
        for number in range(ROUNDS):
            for load in LOADS:
                for name, disk in disks.items():
                    step.note(f"round {number + 1}/{ROUNDS}")
                    found[load, name].append(_iops(guest, load, disk))
    return found


def main(kvm, as_json):
    """Measure and print; return 1 if the card is slower than it has to be."""
    build.module()
    image.prepare(kernel.get())
    machine = vm.Vm("peers", _devices(),
                    accelerator=vm.KVM if kvm else vm.TCG)
    with machine:
        with ui.step("Booting a guest with the card and its peers"):
            guest = machine.boot()
        medians = {key: statistics.median(values)
                   for key, values in _measure(guest).items()}
        guest.power_off()
    rows, slow, ratios = [], False, {}
    paint = table.Paint(sys.stdout)
    for load in LOADS:
        card = medians[load, CARD]
        rows.append((load, CARD, f"{card:.0f}", "", "", ""))
        for peer, least in LEAST.items():
            ratio = card / medians[load, peer]
            ratios[f"{load} {peer}"] = ratio
            good = ratio >= least
            slow |= not good
            rows.append((load, peer, f"{medians[load, peer]:.0f}",
                         f"{ratio:.2f}", f"{least:.1f}",
                         paint.good("ok" if good else "MISSED", good)))
    if as_json:
        ui.say(json.dumps({"iops": {f"{load} {name}": value for (load, name),
                                    value in medians.items()},
                           "ratios": ratios}))
    else:
        for line in table.lines(("4K QD32", "controller", "IOPS", "ratio",
                                 "least", ""), rows, paint):
            ui.say(line)
    return 1 if slow else 0

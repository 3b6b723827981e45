# SPDX-License-Identifier: GPL-2.0-or-later
"""From power-on to a login with the root file system on the card.

    linux.py bios | i440fx | uefi | member | member-uefi

The image is made of GRUB, Debian's kernel, an initramfs and ext4.  It fills
the volume of eight SSDs, which the initramfs makes with mdadm, or one SSD of a
card whose ROM shows the members.
"""

import sys

import bootlib
from zdlib import bootimage, console, vm

SSDS = 4


def volume():
    """A card that is the image."""
    return [*bootlib.snapshot("d", bootimage.get(8)),
            *vm.card(bus=None, model="rm88", drive="d")]


def member(size):
    """A card with the image on its first SSD, and nothing on the others."""
    drives = bootlib.snapshot("d0", bootimage.get(0))
    for number in range(1, SSDS):
        drives += bootlib.drive(f"d{number}",
                                bootlib.sparse(f"ssd{number}", size))
    return [*drives, *vm.card(
        bus=None, model="cm84", rom_view="members",
        **{f"drive{number}": f"d{number}" for number in range(SSDS)})]


def body(report):
    """Boot, look at what the guest says, and log in."""
    variant = sys.argv[1]
    on_member = variant.startswith("member")
    devices = (member(bootimage.SIZE_MIB << 20) if on_member else volume())
    place = "pci.0" if variant == "i440fx" else "rp0"
    devices = [word.replace("bus=None", f"bus={place}") for word in devices]
    if place == "rp0":
        devices = [*vm.root_port(), *devices]
    # a panic ends the test
    devices += ["-no-reboot"]
    with console.Machine(bootlib.name(), devices, memory="1G",
                         uefi=variant.endswith("uefi"),
                         machine="pc" if variant == "i440fx" else "q35"
                         ) as guest:
        guest.expect("zdrive boot: loading the kernel", bootlib.MENU)
        report.ok("GRUB starts from the card", True)
        found = guest.expect(r"zdrive boot: root is (\S+) ", bootlib.KERNEL)
        wanted = "/dev/sd" if on_member else "/dev/md0p3"
        report.ok(f"root is on {wanted}", found[1].startswith(wanted),
                  found[1])
        guest.expect("zdrive boot: the large file is right", bootlib.KERNEL)
        report.ok("the large file is right", True)
        guest.expect("zdrive login", bootlib.POST)
        guest.expect("/ # ", bootlib.POST)
        guest.type("poweroff -f\r")
        guest.wait(bootlib.POST)
        report.ok("the login obeys", True)
        if not variant.endswith("uefi"):
            names = guest.text.count("OCZ Z-DRIVE R4 ")
            report.ok("POST has named the SSDs",
                      names >= (SSDS if on_member else 8), names)
        bad = [line for line in guest.text.splitlines()
               if "I/O error" in line or "failed command" in line]
        report.ok("the kernel has no complaint about the SSDs", not bad, *bad)
        report.ok("QEMU has no complaint", not guest.messages, guest.messages)


if __name__ == "__main__":
    bootlib.run(body)

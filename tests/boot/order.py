# SPDX-License-Identifier: GPL-2.0-or-later
"""Two cards boot in the order of their bootindex, among other option ROMs.

    order.py bios | uefi | roms
"""

import sys

import bootlib
from zdlib import apt, bootimage, console, vm

SIZE = 64 << 20
# Prints what follows it, then halts.
CODE = bytes.fromhex("31c08ed8be187cac84c07409b40ebb0700cd10ebf2f4ebfd")


def talker(name):
    """A disk whose boot sector says @name."""
    path = bootlib.sparse(name, SIZE)
    sector = (CODE + f"this is {name}...\r\n".encode()).ljust(510, b"\0")
    with open(path, "r+b") as file:
        file.write(sector + b"\x55\xaa")
    return path


def cards(disks, first):
    """Two cards; the one with number @first has bootindex 0."""
    words = []
    for number, disk in enumerate(disks):
        words += [*disk, *vm.root_port(f"rp{number}", number + 1),
                  *vm.card(f"zd{number}", f"rp{number}", model="cm84",
                           drive=f"d{number}",
                           bootindex=int(number != first))]
    return words


def bios(report):
    """The boot sector of the right card runs."""
    names = ["card-0", "card-1"]
    disks = [bootlib.snapshot(f"d{n}", talker(name))
             for n, name in enumerate(names)]
    for first in range(2):
        with console.Machine(bootlib.name(f"{first}"),
                             cards(disks, first)) as guest:
            found = guest.expect(r"this is (card-\d)", bootlib.POST)[1]
            report.ok(f"bootindex=0 on card {first}",
                      found == names[first], found)


def uefi(report):
    """The firmware names the device path that it starts from."""
    image = bootimage.get(4)
    disks = [bootlib.snapshot(f"d{n}", image) for n in range(2)]
    for first in range(2):
        with console.Machine(bootlib.name(f"{first}"), cards(disks, first),
                             uefi=True) as guest:
            found = guest.expect(r"starting Boot\S+ \"([^\"]*)\" from (\S+)\n",
                                 bootlib.MENU)
            report.ok(f"bootindex=0 on card {first}",
                      f"/Pci(0x{first + 1},0x0)/Pci(0x0,0x0)" in found[2],
                      found[0])
            report.ok("the boot entry has the card's name",
                      "OCZ Z-DRIVE R4 CM84" in found[1], found[1])


def menu(report):
    """The boot menu of SeaBIOS shows the card with its size."""
    devices = [*bootlib.snapshot("d0", talker("card-0")), *vm.root_port(),
               *vm.card(model="rm88", drive="d0"),
               "-boot", "menu=on,splash-time=20000"]
    with console.Machine(bootlib.name("menu"), devices) as guest:
        guest.expect("Press ESC for boot menu", bootlib.POST)
        guest.type("\x1b")
        found = guest.expect(r"^(\d)\. (OCZ Z-DRIVE R4.*)\n",
                             bootlib.POST)
        report.ok("the boot menu shows the card with its size",
                  found[2].strip() == "OCZ Z-DRIVE R4 RM88 67 MB", found[2])
        guest.type(found[1])
        guest.expect("this is card-0", bootlib.POST)
        report.ok("and boots it", True)


def roms(report):
    """VGA, network cards and a second card beside it; then no room left."""
    apt.ensure(["ipxe-qemu"])
    disk = bootlib.snapshot("d0", talker("card-0"))
    for nics in (1, 6):
        devices = [*disk, *vm.root_port(),
                   *vm.card(model="rm88", drive="d0", bootindex=0),
                   "-device", "secondary-vga"]
        for number in range(nics):
            devices += vm.device("e1000e", id=f"n{number}")
        with console.Machine(bootlib.name(f"{nics}"), devices) as guest:
            guest.expect("this is card-0|No bootable device",
                         bootlib.MENU)
            report.ok(f"the card boots beside {nics} network cards",
                      "this is card-0" in guest.text, guest.text)


def main(report):
    """Run what the variant asks for."""
    if sys.argv[1] == "bios":
        bios(report)
        menu(report)
    else:
        {"uefi": uefi, "roms": roms}[sys.argv[1]](report)


if __name__ == "__main__":
    bootlib.run(main)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Two cards boot in the order of their bootindex, among other option ROMs.

    order.py bios | uefi | roms | space | screen
"""

import struct
import sys
import time

import bootlib
from zdlib import apt, bootimage, console, paths, vm

SIZE = 64 << 20
# SeaBIOS has C0000h to E7FFFh for option ROMs, in steps of 2 KiB.
ROM_AREA = 160
TEXT_MEMORY = 0xB8000
TEXT_SIZE = 80 * 25 * 2
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


def filler(number, kib):
    """A device whose option ROM takes @kib of the ROM area, no more."""
    size = kib << 10
    rom = bytearray(size)
    # its entry is a far return; the PCI data structure is that of a testdev
    rom[:4] = bytes((0x55, 0xAA, size // 512, 0xCB))
    struct.pack_into("<H", rom, 0x18, 0x1C)
    struct.pack_into("<4sHHHHB3sHHBBH", rom, 0x1C, b"PCIR", 0x1B36, 5, 0,
                     0x18, 0, b"\0\0\xff", size // 512, 1, 0, 0x80, 0)
    rom[6] = -sum(rom) & 0xFF
    path = bootlib.FOLDER / f"filler{number}.rom"
    path.write_bytes(rom)
    return vm.device("pci-testdev", romfile=path)


def space(report):
    """Just enough of the ROM area is left; then a little too little."""
    needs = -(-paths.ROM.read_bytes()[2] // 4) * 2
    disk = bootlib.snapshot("d0", talker("card-0"))
    for left in (needs, needs - 2):
        used = ROM_AREA - left
        devices = [*filler(0, 64), *filler(1, used - 64), *disk,
                   *vm.root_port(),
                   *vm.card(model="rm88", drive="d0", bootindex=0)]
        with console.Machine(bootlib.name(f"{left}"), devices) as guest:
            guest.expect("this is card-0|No bootable device", bootlib.MENU)
            fits = left == needs
            report.ok(f"{left} KiB left: "
                      f"{'boots' if fits else 'the firmware goes on without'}",
                      ("this is card-0" in guest.text) == fits, guest.text)


def screen(report):
    """The main VGA and a network card, too: all of it is on the screen."""
    devices = [*bootlib.snapshot("d0", talker("card-0")), *vm.root_port(),
               *vm.card(model="rm88", drive="d0", bootindex=0),
               *vm.device("e1000e", id="n0")]
    file = bootlib.FOLDER / "text"
    with console.Machine(bootlib.name("screen"), devices,
                         graphics=True) as guest:
        deadline = time.monotonic() + bootlib.MENU
        text = ""
        while "this is card-0" not in text and time.monotonic() < deadline:
            guest.read_for(0.5)
            guest.qmp.ask("pmemsave", val=TEXT_MEMORY, size=TEXT_SIZE,
                          filename=str(file))
            text = file.read_bytes()[::2].decode("ascii", "replace")
        lines = [text[at:at + 80].strip() for at in range(0, len(text), 80)]
        report.ok("the card boots beside main VGA and network card",
                  "this is card-0" in text, *lines)
        report.ok("its POST is on the screen",
                  any(line.startswith("Volume: RAID-0 of 8 SSDs")
                      for line in lines), *lines)


def main(report):
    """Run what the variant asks for."""
    if sys.argv[1] == "bios":
        bios(report)
        menu(report)
    else:
        {"uefi": uefi, "roms": roms, "space": space,
         "screen": screen}[sys.argv[1]](report)


if __name__ == "__main__":
    bootlib.run(main)

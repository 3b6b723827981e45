# SPDX-License-Identifier: GPL-2.0-or-later
"""The setup utility on a serial console: health, ROM view, secure erase."""

import bootlib
from zdlib import console, vm

SSDS = 4
SIZE = 64 << 20
CHUNK = 64 << 10
FLASH_SIZE = 256 << 10


def machine(what, volume, flash):
    """A card with its data and its flash in files."""
    return console.Machine(bootlib.name(what), [
        *bootlib.drive("d", volume), *bootlib.drive("f", flash),
        *vm.root_port(), *vm.card(model="rm84", drive="d", flash="f")])


def enter(guest):
    """Into the utility."""
    guest.expect("Press Ctrl-O for setup", bootlib.POST)
    guest.type(console.CTRL_O)
    guest.expect("Choice: ", bootlib.POST)


def body(report):
    """Use every page, then look at what is left in the files."""
    flash = bootlib.sparse("flash", FLASH_SIZE)
    volume = bootlib.sparse("volume", SIZE)
    volume.write_bytes(b"\xa5" * SIZE)
    with machine("utility", volume, flash) as guest:
        enter(guest)
        for words in ("OCZ Z-DRIVE R4 RM84", "RM84, version 1.0, 4 SSDs",
                      "volume (RAID-0 of all SSDs)", "firmware 3.20E",
                      "6 Gb/s, healthy, life left 100%"):
            report.ok(f"the first page shows '{words}'",
                      words in guest.text, guest.text)
        guest.type("d")
        guest.expect("Which SSD", bootlib.POST)
        guest.type("2")
        guest.expect("Power on hours", bootlib.POST)
        guest.expect("Any key", bootlib.POST)
        guest.type(" ")
        report.ok("details of an SSD", True)
        guest.expect("Choice: ", bootlib.POST)
        guest.type("v")
        guest.expect("Saved in the card's flash", bootlib.POST)
        guest.expect(r"members \(each SSD is a disk\)", bootlib.POST)
        report.ok("the view is changed", True)
        guest.expect("Choice: ", bootlib.POST)
        guest.type("e")
        guest.expect("Erase which SSD", bootlib.POST)
        guest.type("1")
        guest.expect("to go on:", bootlib.POST)
        guest.type("x")
        guest.expect("Nothing was changed", bootlib.POST)
        report.ok("no erasing without the word",
                  volume.read_bytes() == b"\xa5" * SIZE)
        guest.expect("Choice: ", bootlib.POST)
        guest.type("e1")
        guest.expect("to go on:", bootlib.POST)
        guest.type("erase", 0.05)
        guest.expect("SSD 1 is erased", bootlib.MENU)
        guest.expect("Choice: ", bootlib.POST)
        guest.type("q")
        guest.expect("Booting from", bootlib.POST)
        report.ok("booting goes on", True)
    data = volume.read_bytes()
    erased = {index % SSDS for index in range(SIZE // CHUNK)
              if data[index * CHUNK:(index + 1) * CHUNK] ==
              bytes(CHUNK)}
    kept = {index % SSDS for index in range(SIZE // CHUNK)
            if data[index * CHUNK:(index + 1) * CHUNK] == b"\xa5" * CHUNK}
    report.ok("SSD 1 is empty, the others are as before",
              (erased, kept) == ({1}, {0, 2, 3}), erased, kept)
    with machine("again", volume, flash) as guest:
        guest.expect("Booting from", bootlib.POST)
        report.ok("the view is kept in the flash",
                  "Volume:" not in guest.text, guest.text)
        report.ok("the SSDs are still named",
                  guest.text.count("  SSD ") == SSDS, guest.text)
    block = bytearray(flash.read_bytes())
    block[0x20000] ^= 0xFF
    flash.write_bytes(block)
    with machine("repair", volume, flash) as guest:
        enter(guest)
        guest.type("c")
        guest.expect("to go on:", bootlib.POST)
        guest.type("yes", 0.05)
        guest.expect("Saved", bootlib.POST)
        guest.expect("RM84, version 1.0, 4 SSDs", bootlib.POST)
        report.ok("a new configuration for a card without one", True)
    volume.unlink()


if __name__ == "__main__":
    bootlib.run(body)

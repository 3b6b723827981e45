# SPDX-License-Identifier: GPL-2.0-or-later
"""remote.c, a UEFI application that does what is typed.

    c           connect the card: status, nanoseconds under icount, the last
                sector of each disk
    d           disconnect it
    m           handles, pages of free memory, the card's PCI command register
    r D LBA N   read sectors of disk D: status, first and last one's number
    w D LBA N   write sectors that begin with their numbers
    f           flush the first disk
    u           misuse it: the status of each call
    x           ExitBootServices: for both cores whether they run; status; then
                whether they run and whether a doorbell has an effect

All numbers are hexadecimal; of a status 100h and the error's number.
"""

import subprocess
import sys
from pathlib import Path

import bootlib
from zdlib import console, paths

ROM = paths.ROOT / "images" / "rom"
HERE = Path(__file__).parent

DEVICE_ERROR = 0x107
sys.path.insert(0, str(ROM))


def build():
    """The application, for -kernel."""
    import build as rom     # noqa: it is a script of the ROM
    import pack
    folder = bootlib.FOLDER
    subprocess.run(["gcc", *rom.FLAGS, *rom.UEFI_FLAGS, "-c",
                    HERE / "remote.c", "-o", folder / "remote.o"], check=True)
    subprocess.run(["ld", *rom.LD_FLAGS, "-m", "elf_x86_64", "-pie",
                    "--no-dynamic-linker", "-T", ROM / "uefi/uefi.lds",
                    folder / "remote.o", "-o", folder / "remote.elf"],
                   check=True)
    out = folder / "remote.efi"
    out.write_bytes(pack.pe_file((folder / "remote.elf").read_bytes(),
                                 pack.PE_APPLICATION))
    return out


class Remote:
    """A machine that runs the application."""

    def __init__(self, what, devices, **options):
        self.machine = console.Machine(
            bootlib.name(what), ["-kernel", build(), *devices], uefi=True,
            **options)

    def __enter__(self):
        self.machine.__enter__()
        self.machine.expect("remote: ready", bootlib.MENU)
        return self

    def __exit__(self, *_):
        self.machine.kill()

    def ask(self, words):
        """Have it do @words; the numbers that it answers."""
        self.machine.enter(words)
        found = self.machine.expect(r"^done((?:.|\n)*?) end\n", bootlib.MENU)
        return [int(word, 16) for word in found[1].split()]

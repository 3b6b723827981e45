# SPDX-License-Identifier: GPL-2.0-or-later
"""The option ROM adds less than a second to POST, in virtual time.

A boot sector on a floppy prints the time stamp counter, which counts
nanoseconds of virtual time under icount, with and without the ROM.
"""

import bootlib
from zdlib import console, vm

LIMIT = 1_000_000_000
ICOUNT = ("-accel", "tcg", "-icount", "shift=2,sleep=off")

# Segments and stack; rdtsc, push both halves; eight hex digits of each by
# int 10h; halt with interrupts on, so that the console is flushed.
CODE = bytes.fromhex(
    "31c08ed88ed0bc007c" "0f3166526650" "bdfc7b" "b90800"
    "66c1460004" "8a4600240f3c0a7202042704 30" "b40ebb0700cd10" "e2e5"
    "83ed04" "81fdf87b" "73d9" "fb" "f4ebfd")


def floppy():
    """The floppy that tells the time."""
    path = bootlib.FOLDER / "floppy.img"
    path.write_bytes((CODE.ljust(510, b"\0") + b"\x55\xaa").ljust(
        1440 << 10, b"\0"))
    return path


def measure(report, what, **card):
    """Virtual nanoseconds from power-on to the boot sector."""
    devices = ["-drive", f"if=none,id=f,format=raw,file={floppy()}",
               "-device", "isa-fdc", "-device", "floppy,drive=f",
               "-boot", "order=a", *vm.root_port(),
               *vm.card(model="cm88", size="64M", **card)]
    with console.Machine(bootlib.name(what), devices,
                         accelerator=ICOUNT) as guest:
        found = guest.expect(r"Booting from Floppy...\s+([0-9a-f]{16})",
                             bootlib.MENU)[1]
    report.note(f"{what}: {int(found, 16) / 1e9:.3f} s")
    return int(found, 16)


def body(report):
    """Compare the two."""
    without = measure(report, "without", romfile="")
    added = measure(report, "with") - without
    report.ok("the ROM adds less than 1 s with 8 SSDs", 0 < added < LIMIT,
              f"{added / 1e9:.3f} s")
    report.note(f"{added / 1e9:.3f} s added")


if __name__ == "__main__":
    bootlib.run(body)

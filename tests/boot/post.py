# SPDX-License-Identifier: GPL-2.0-or-later
"""The option ROM adds less than a second to POST, in virtual time.

bootlib.clock() tells when POST has ended, with and without the ROM.
"""

import bootlib
from zdlib import console, vm

LIMIT = 1


def measure(report, what, **card):
    """Virtual seconds from power-on to the boot sector."""
    devices = [*bootlib.clock(), *vm.root_port(),
               *vm.card(model="cm88", size="64M", **card)]
    with console.Machine(bootlib.name(what), devices,
                         accelerator=bootlib.ICOUNT) as guest:
        seconds = bootlib.clock_seconds(guest)
    report.note(f"{what}: {seconds:.3f} s")
    return seconds


def body(report):
    """Compare the two."""
    without = measure(report, "without", romfile="")
    added = measure(report, "with") - without
    report.ok("the ROM adds less than 1 s with 8 SSDs", 0 < added < LIMIT,
              f"{added:.3f} s")
    report.note(f"{added:.3f} s added")


if __name__ == "__main__":
    bootlib.run(body)

# SPDX-License-Identifier: GPL-2.0-or-later
"""GRUB loads 64 MiB from the card at least as fast as from QEMU's AHCI disk.

    speed.py bios | uefi

Same image, same firmware, in turns; the best of each counts, because other
work on the host can only slow a round down.
"""

import sys

import bootlib
from zdlib import bootimage, console, vm

ROUNDS = 3
FILE = "/boot/big"


def rate(kind, devices):
    """MiB/s that GRUB's testspeed reports."""
    image = bootimage.get(8)
    with console.Machine(bootlib.name(kind),
                         [*bootlib.snapshot("d", image), *devices],
                         uefi=sys.argv[1] == "uefi", memory="1G") as guest:
        guest.expect("Debian's kernel", bootlib.MENU)
        guest.read_for(0.5)
        guest.type("c")
        guest.expect("grub>", bootlib.MENU)
        guest.enter(f"testspeed {FILE}")
        size = guest.expect(r"File size: ([\d.]+)MiB", bootlib.KERNEL)[1]
        seconds = guest.expect(r"Elapsed time: ([\d.]+) s", bootlib.KERNEL)[1]
        guest.expect("Speed", bootlib.POST)
    return float(size) / float(seconds)


def body(report):
    """Measure in turns."""
    machines = {
        "ahci": ["-device", "ide-hd,drive=d,bus=ide.0"],
        "card": [*vm.root_port(), *vm.card(model="cm88", drive="d")],
    }
    best = dict.fromkeys(machines, 0)
    for _ in range(ROUNDS):
        for kind, devices in machines.items():
            found = rate(kind, devices)
            report.note(f"{kind}: {found:.2f} MiB/s")
            best[kind] = max(best[kind], found)
    report.ok("the card is at least as fast as an AHCI disk",
              best["card"] >= best["ahci"], best)


if __name__ == "__main__":
    bootlib.run(body)

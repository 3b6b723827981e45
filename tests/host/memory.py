# SPDX-License-Identifier: GPL-2.0-or-later
"""A fresh card of 3.2 TB takes less than 32 MiB of the host's memory.

What counts is what QEMU's process has of its own, with the card and without.
"""

import re
import sys
import tempfile
from pathlib import Path

from zdlib import qemusrc, qmp, tap, vm

MOST_MIB = 32
CARDS = {
    "a card of 3.2 TB": {"model": "cm88", "size": "3200G"},
    "one with timing=off": {"model": "cm88", "size": "3200G",
                            "timing": "off"},
}
PATIENCE = 30


def memory_mib(folder, devices):
    """Anonymous memory of a QEMU with @devices before its guest runs."""
    process, monitor = vm.launch(
        folder, [qemusrc.QEMU, *vm.machine(memory="64M"), "-S",
                 "-mon", "qmp,mode=control", *vm.plugin(), *devices], "qmp")
    try:
        control = qmp.Qmp(monitor)
        control.greet(PATIENCE)
        status = Path(f"/proc/{process.pid}/status").read_text("ascii")
        control.ask("quit")
    finally:
        if process.wait(PATIENCE):
            raise OSError((folder / "messages").read_text("utf-8"))
    return int(re.search(r"^RssAnon:\s+(\d+) kB", status, re.M)[1]) / 1024


def main():
    """Each card beside none."""
    report = tap.Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone = memory_mib(folder, vm.root_port())
        for what, properties in CARDS.items():
            mib = memory_mib(folder, [*vm.root_port(),
                                      *vm.card(**properties)]) - alone
            report.note(f"{what}: {mib:.1f} MiB")
            report.ok(f"{what}: less than {MOST_MIB} MiB", mib < MOST_MIB,
                      mib, alone)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver is removed and loaded again, several times."""

import guestlib
from zdlib import fio, vm

SSDS = 8
TIMES = 3

# The driver allocates one Scsi_Host per card and mvs_free() gives it back once
# per core, and this chip has two: so on every removal, on real cards too.  The
# kernel warns of that once.
DOUBLE_PUT = (r"[^\n]*cut here (?:(?!cut here).)*refcount_t: underflow"
              r"(?:(?!cut here).)* mvs_free\+(?:(?!cut here).)*?"
              r"end trace[^\n]*")


def body(report):
    """The same SSDs are back each time, and work."""
    devices = [*vm.root_port(), *vm.card(model="rm88", size="512M")]
    with guestlib.guest(report, devices, known=DOUBLE_PUT) as machine:
        phys = list(range(SSDS))
        for turn in range(TIMES):
            machine.run("modprobe -r mvsas", timeout=120)
            report.ok(f"removal {turn + 1}: no SSD is left",
                      not guestlib.members(machine))
            machine.run("modprobe mvsas", timeout=120)
            found = guestlib.members(machine)
            report.ok(f"load {turn + 1}: all are back",
                      [member.phy for member in found] == phys, *found)
        jobs = fio.verify(machine, guestlib.names(machine), "4M")
        report.ok("all of them work", [job["error"] for job in jobs]
                  == [0] * SSDS, jobs)


guestlib.run(body)

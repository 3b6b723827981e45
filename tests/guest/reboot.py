# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest reboots while all queues are full."""

import busy
import guestlib
from zdlib import fio, vm

SSDS = 8
SIZE = 512 << 20
FLUSHED = 4 << 20

WRITE_FLUSHED = """
for name in {names}; do
    dd if=/dev/urandom of=/dev/$name bs=64k count=64 oflag=direct conv=fsync
done
"""
SUMS = """
for name in {names}; do
    head -c {size} /dev/$name | sha256sum
done
"""
# Reboots as soon as requests of every SSD are in flight.
REBOOT = f"""
{{fio}} >/dev/null &
{busy.IN_FLIGHT}
reboot -n
"""


def body(report):
    """Flushed data survives, and the card works in the next life."""
    with guestlib.Image("volume", SIZE) as image:
        devices = [*vm.blockdev("volume", image.path), *vm.root_port(),
                   *vm.card(model="cm88", drive="volume")]
        with guestlib.guest(report, devices, reboots=True) as machine:
            names = guestlib.names(machine)
            report.ok("all SSDs are there", len(names) == SSDS, *names)
            machine.run(WRITE_FLUSHED.format(names=" ".join(names)))
            flushed = machine.run(SUMS.format(names=" ".join(names),
                                              size=FLUSHED))
            load = fio.command(names, "--rw=randwrite", "--bs=64k",
                               f"--offset={FLUSHED}", "--time_based",
                               "--runtime=600")
            machine.start(REBOOT.format(fio=load, names=" ".join(names)))
            machine.wait_ready()
            names = guestlib.names(machine)
            report.ok("all SSDs are back", len(names) == SSDS, *names)
            report.ok("what was flushed is there", machine.run(SUMS.format(
                names=" ".join(names), size=FLUSHED)) == flushed)
            jobs = fio.verify(machine, names, "4M")
            report.ok("all of them work", [job["error"] for job in jobs]
                      == [0] * SSDS, jobs)


guestlib.run(body)

# SPDX-License-Identifier: GPL-2.0-or-later
"""smartctl -x of one SSD after the other, each second, at queue depth 32.

    smart-load.py SECONDS

Most of what smartctl asks for is not queued, so each time all queued commands
of that SSD have to end first.  None of them may be lost, and the kernel may
neither have to handle an error nor reset a phy.
"""

import sys

import guestlib
from zdlib import fio, vm

SSDS = 8
# Each second, whatever the last one took; 4 is "no SCT ERC", see smart.py.
ASK = """
names=({names})
for ((turn = 0; SECONDS < {seconds}; turn++)); do
    sleep 1 &
    good=0
    smartctl -x /dev/${{names[turn % {ssds}]}} >/tmp/smart || good=$?
    if [ $good != 4 ] || ! grep -q "^231 SSD_Life_Left" /tmp/smart; then
        cat /tmp/smart
        exit 1
    fi
    wait
done
echo $turn
"""
LOAD = """
touch /run/busy
(while [ -e /run/busy ]; do nice -n 19 {fio} >/run/fio || exit; done
 touch /run/good) </dev/null &
echo $! >/run/pid
"""
STOP = """
rm /run/busy
while [ -e /proc/$(cat /run/pid) ]; do sleep 0.1; done
cat /run/fio
ls /run/good
"""


def trouble(machine):
    """How often each SSD was reset, and what its phy has seen.

    mvsas has no counters of phy events to read.
    """
    stats = [machine.qmp.ask("qom-get", property="stats",
                             path=f"/machine/peripheral/zd0/ssd{ssd}")
             for ssd in range(SSDS)]
    return [{name: of_ssd[name] for name in
             ("resets", "link-losses", "crc-errors", "hung")}
            for of_ssd in stats]


def body(report):
    """Load, ask, look."""
    seconds = int(sys.argv[1])
    devices = [*vm.root_port(), *vm.card(model="rm88", size="512M")]
    with guestlib.guest(report, devices) as machine:
        names = guestlib.names(machine)
        report.ok("all SSDs are there", len(names) == SSDS, *names)
        before = trouble(machine)
        machine.run(LOAD.format(fio=fio.command(
            names, *fio.VERIFY, "--size=4M")))
        asked = machine.run(ASK.format(names=" ".join(names), ssds=SSDS,
                                       seconds=seconds), seconds + 120)
        report.ok(f"smartctl had its answers {asked.strip()} times",
                  int(asked) > 0)
        stopped = machine.run(STOP, timeout=240, check=False)
        report.ok("fio went on all the time and found all right",
                  stopped.status == 0, stopped.out[-2000:], stopped.err)
        after = trouble(machine)
        report.ok("no SSD was reset, no phy had trouble", after == before,
                  before, after)


guestlib.run(body)

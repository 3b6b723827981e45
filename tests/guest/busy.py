# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest whose SSDs are all busy, for tests that disturb them.

What was written at first has to be there after every disturbance, and all
SSDs have to be there and work.
"""

import re

import guestlib
from zdlib import fio

SSDS = 8
PATIENCE = 120
WRITTEN = 1 << 20
RANDOM = """
for name in {names}; do
    dd if=/dev/urandom of=/dev/$name bs=64k count=16 oflag=direct conv=fsync
done
"""
SUMS = """
for name in {names}; do head -c {size} /dev/$name | sha256sum; done
"""
# Linux gives a command 30 s; so that tests of a timeout do not take as long.
IMPATIENT = """
for name in {names}; do echo 3 >/sys/block/$name/device/timeout; done
"""
# Reads and writes until it is told to stop; what goes away under it is not its
# fault.  It leaves the processor to whatever else the test runs.
LOAD = "nice -n 19 {fio} >/tmp/load 2>&1 & echo $! >/tmp/load.pid"
# Before fio has requests in flight it does not hear a signal, either.
IN_FLIGHT = """
for name in {names}; do
    until read -r reads writes </sys/block/$name/inflight &&
          [ $((reads + writes)) -gt 0 ]; do :; done
done
"""
# Each SSD has answered many requests more than it had.
GOES_ON = """
answered() {{ read -r reads x x x writes x </sys/block/$1/stat
              echo $((reads + writes)); }}
for name in {names}; do
    enough=$(($(answered $name) + 100))
    until [ $(answered $name) -gt $enough ]; do sleep 0.1; done
done
"""
STOP = """
kill -INT $(cat /tmp/load.pid) || :
while kill -0 $(cat /tmp/load.pid) 2>/dev/null; do sleep 0.1; done
cat /tmp/load
"""


class Machine:
    """The guest, what is on its SSDs, and their load."""

    def __init__(self, report, guest, ssds=SSDS):
        self.report = report
        self.guest = guest
        self.ssds = ssds
        self.names = self.written = None
        self.seen = 0

    def find(self, what, count=None):
        """Wait for @count SSDs to be there, by default all of them."""
        count = self.ssds if count is None else count
        found = guestlib.wait_members(self.guest, count, PATIENCE)
        self.report.ok(f"{what}: {count} SSDs", len(found) == count, *found)
        if count == self.ssds:
            self.names = [member.name for member in found]
            self.guest.run(IMPATIENT.format(names=" ".join(self.names)))
        return found

    def sums(self):
        """What is on the SSDs."""
        return self.guest.run(SUMS.format(names=" ".join(self.names),
                                          size=WRITTEN), timeout=PATIENCE)

    def start(self):
        """Find the SSDs and write what has to be there in the end."""
        self.find("at first")
        self.guest.run(RANDOM.format(names=" ".join(self.names)))
        self.written = self.sums()

    def back(self, what):
        """All SSDs are there, with their data, and work."""
        self.find(what)
        sums = self.sums()
        self.report.ok(f"{what}: the data is there", sums == self.written,
                       *self.names, self.written, sums)
        self.load()
        self.unload()

    def load(self):
        """Keep all SSDs busy behind what was written."""
        self.guest.run(LOAD.format(fio=fio.command(
            self.names, "--rw=randrw", "--bs=4k", "--time_based",
            "--runtime=600", f"--offset={WRITTEN}", "--size=16M")))
        self.guest.run(IN_FLIGHT.format(names=" ".join(self.names)),
                       timeout=PATIENCE)

    def goes_on(self):
        """Wait until the load has gone on on every SSD."""
        self.guest.run(GOES_ON.format(names=" ".join(self.names)),
                       timeout=PATIENCE)

    def unload(self):
        """End the load; its output."""
        return self.guest.run(STOP, timeout=PATIENCE)

    def log(self):
        """What the kernel has said since the last call."""
        lines = self.guest.run("dmesg").splitlines()
        new = lines[self.seen:]
        self.seen = len(lines)
        return new

    def says(self, what, *words):
        """Check that the kernel has said @words since the last look."""
        log = self.log()
        for word in words:
            self.report.ok(f"{what}: the kernel says {word}",
                           any(re.search(word, line) for line in log), *log)

    def qemu_is_content(self):
        """Check that QEMU itself has said nothing."""
        messages = (self.guest.folder / "messages").read_text()
        self.report.ok("QEMU has no complaint", not messages, messages)

# SPDX-License-Identifier: GPL-2.0-or-later
"""What reaches the host: TRIM frees space, a flush comes after the data.

One card has a plain sparse image.  The other's goes through QEMU's
blklogwrites, which logs every write and flush in the order in which the host
gets them.
"""

import struct

import guestlib
from zdlib import vm

SSDS = 4
MEMBER = 64 << 20
SECTOR = 512
DISCARDED = 32 << 20
# more than the log of any run here takes
LOG_SIZE = 2 * SSDS * MEMBER

FLUSH = 1


def log_entries(path):
    """Entries of a blklogwrites log: (sectors, flags).

    The format is dm-log-writes': a sector with magic, version and number of
    entries, then for each a sector of header, and the data it has.
    """
    with open(path, "rb") as log:
        _, version, count, sector = struct.unpack("<QQQI", log.read(28))
        assert (version, sector) == (1, SECTOR)
        place = SECTOR
        for _ in range(count):
            log.seek(place)
            _, sectors, flags = struct.unpack("<QQQ", log.read(24))
            yield sectors, flags
            place += SECTOR * (1 + sectors)


def check_flush(report, machine, log, name):
    """fsync makes the host flush, after it got the data."""
    machine.run(f"dd if=/dev/urandom of=/dev/{name} bs=64k count=16 "
                "oflag=direct")
    before = list(log_entries(log))
    machine.run(f"dd if=/dev/urandom of=/dev/{name} bs=64k count=16 "
                "oflag=direct conv=fsync")
    new = list(log_entries(log))[len(before):]
    written = sum(sectors for sectors, _ in new)
    report.ok("the host got all data", written * SECTOR == 16 * 64 << 10, new)
    report.ok("and the flush last", [flags for _, flags in new if flags]
              == [FLUSH] and new[-1][1] == FLUSH, new)


def check_trim(report, machine, image, name):
    """Discarded sectors read as zero and take no space on the host."""
    machine.run(f"dd if=/dev/urandom of=/dev/{name} bs=1M count=64 "
                "oflag=direct conv=fsync")
    kept = machine.run(f"tail -c +{DISCARDED + 1} /dev/{name} | sha256sum")
    before = image.allocated()
    machine.run(f"blkdiscard -o 0 -l {DISCARDED} /dev/{name}")
    after = image.allocated()
    report.ok("discarded space is free on the host",
              before - after == DISCARDED, f"{before} bytes before, "
              f"{after} after, {DISCARDED} discarded")
    report.ok("discarded sectors read as zero", machine.run(
        f"cmp -n {DISCARDED} /dev/{name} /dev/zero", check=False).status == 0)
    report.ok("the others are as before", machine.run(
        f"tail -c +{DISCARDED + 1} /dev/{name} | sha256sum") == kept)


def body(report):
    """One boot for both."""
    with guestlib.Image("sparse", SSDS * MEMBER) as sparse, \
         guestlib.Image("logged", SSDS * MEMBER) as logged, \
         guestlib.Image("log", LOG_SIZE) as log:
        devices = [
            *vm.blockdev("sparse", sparse.path, discard="unmap"),
            *vm.blockdev("data", logged.path),
            *vm.blockdev("log", log.path),
            "-blockdev", "driver=blklogwrites,node-name=logged,file=data,"
            "log=log,log-super-update-interval=1",
            *vm.root_port(), *vm.root_port("rp1", 2),
            *vm.card(model="cm84", drive="sparse"),
            *vm.card("zd1", "rp1", model="cm84", drive="logged")]
        with guestlib.guest(report, devices) as machine:
            names = guestlib.names(machine)
            report.ok("all SSDs are there", len(names) == 2 * SSDS, *names)
            check_trim(report, machine, sparse, names[1])
            check_flush(report, machine, log.path, names[SSDS + 1])


guestlib.run(body)

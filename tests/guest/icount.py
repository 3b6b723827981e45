# SPDX-License-Identifier: GPL-2.0-or-later
"""The card in counted time: what a guest measures is the model, each time.

    icount.py same      all runs print the same, whatever the host does
    icount.py speed     fio against the flash model alone: latency of one
                        command, and throughput over queue depth

One instruction is one nanosecond (shift=0): a processor of 1 GIPS.
"""

import contextlib
import subprocess
import sys
import threading

import guestlib
from zdlib import bench, icount, vm

# A ROM that waits for a key takes long where each look counts as 1 ns.
NO_ROM = {"romfile": ""}
FIO = "fio --eta=never --direct=1"

#
# same
#

SIZE = 512 << 20
SAME = f"""
volume
{FIO} --filename=/dev/md0 --size=8m --bs=4k --ioengine=libaio --iodepth=16 \\
    --name=write --rw=write --bs=128k --verify=crc32c --do_verify=1 \\
    --name=random --stonewall --rw=randrw --number_ios=600 --fsync=50 \\
    --name=one --stonewall --rw=randread --iodepth=1 --number_ios=200 \\
    --name=trim --stonewall --rw=randtrim --number_ios=50
"""
HOGS = 3


@contextlib.contextmanager
def busy_host():
    """Keep the host's processors busy meanwhile."""
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(HOGS)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def difference(one, other):
    """The first line in which two consoles differ."""
    lines = zip(one.splitlines(), other.splitlines())
    return next((pair for pair in lines if pair[0] != pair[1]),
                (len(one), len(other)))


def together(works):
    """The results of functions that run at the same time."""
    results = [None] * len(works)

    def call(number):
        results[number] = works[number]()

    threads = [threading.Thread(target=call, args=(number,))
               for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def same(report):
    """Store in memory and in a file, host idle and busy."""
    def run(name, *blockdev, **properties):
        devices = [*blockdev, *vm.root_port(),
                   *vm.card(model="cm84", size=SIZE, **NO_ROM, **properties)]
        return icount.run(f"icount-{name}", devices, SAME)

    with guestlib.Image("volume", SIZE) as image:
        drive = vm.blockdev("volume", image.path)
        first = run("memory")
        # These load the host for each other, too.
        with busy_host():
            others = together([
                lambda: run("memory-busy"),
                lambda: run("file-busy", *drive, drive="volume")])
        report.ok("the job has run", "clat percentiles" in first
                  and "Disk stats" in first, *first.splitlines()[-30:])
        for what, other in zip(("memory", "an image file"), others):
            report.ok(f"all of the console again, {what}, host busy",
                      other == first, *difference(first, other))
        # It has data now; that does not count.
        again = run("file", *drive, drive="volume")
        report.ok("and once more", again == first, *difference(first, again))


#
# speed
#

CARD = "zdrive-r4:cm88"
ONE_SPAN = 16 << 20
SPAN = 128 << 20
ONE_IOS = 500
DELAY_US = 128          # of interrupts, the driver's default

# Guest and driver for one command, in us: system call, block layer, SCSI,
# libata, mvsas, interrupt.  Another kernel has other figures.
GUEST_US = {"write": 20.0, "randread": 17.8}
GUEST_TOLERANCE_US = 1.0


def main():
    """The variant that is asked for."""
    guestlib.run({"same": same}[sys.argv[1]])


main()

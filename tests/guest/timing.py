# SPDX-License-Identifier: GPL-2.0-or-later
"""timing=model in real time: never early, and a host that is late is told of.

Two cards in one guest, one with timing=model and one with timing=off, do the
same.  No command of the first may be faster than the flash model says; the
second is not to wait for anything.
"""

import json
import time

import guestlib
from zdlib import bench, fio, paths, vm

CARD = "zdrive-r4:cm84"
SIZE = 16 << 20
READS = 300
PATIENCE = 60
# So much memory is read under QEMU's big lock, 1 KiB at a time, that nothing
# else happens for some tens of milliseconds; fewer than that are certain.
LOCKED = 768 << 20
LATE_NS = 10 * 1000 * 1000
# As many reads of 512 KiB under way need longer than that, so that some are
# always due while the lock is held, whenever it is taken.
DEPTH = 32

# Without the driver's delay of interrupts, which is not the card's.
SET_UP = """
for file in /sys/class/scsi_host/host*/interrupt_coalescing; do
    [ ! -e $file ] || echo 0 >$file
done
"""


def stats(machine, name):
    """What the card or SSD @name counts."""
    return machine.qmp.ask("qom-get", path=f"/machine/peripheral/{name}",
                           property="stats")


def model_us(load):
    """What the flash model says of a load at queue depth 1, in us."""
    side = bench.measure(paths.BENCH, "--card", CARD, "--rw", load,
                         "--qd", 1, "--plain-host", "--data", "incomp",
                         "--span", SIZE, "--ios", READS)
    return side["mean_us"]


def alone(machine, name, load):
    """fio's latencies in us of one command after the other."""
    out = machine.run(fio.command(
        [name], "--iodepth=1", "--bs=4k", f"--size={SIZE}",
        f"--rw={load}", f"--number_ios={READS}"), timeout=120)
    job, = json.loads(out)["jobs"]
    side = job["write" if load == "write" else "read"]
    return side["lat_ns"]["min"] / 1e3, side["lat_ns"]["mean"] / 1e3


def compare(report, machine, model, off):
    """The same load on an SSD of either card."""
    for name in model, off:
        machine.run(fio.command([name], "--rw=write", "--bs=1m",
                                f"--size={SIZE}"), timeout=120)
    for load in "write", "randread":
        wanted = model_us(load)
        least, mean = alone(machine, model, load)
        report.ok(f"{load}: not faster than the model's {wanted:.1f} us",
                  least >= wanted, least)
        least_off, mean_off = alone(machine, off, load)
        report.note(f"{load}: model {wanted:.1f} us; in the guest at least "
                    f"{least:.1f}, mean {mean:.1f}; timing=off at least "
                    f"{least_off:.1f}, mean {mean_off:.1f}")
        report.ok(f"{load}: timing=off does not take that time",
                  least_off < least - wanted / 2, least_off, least)


def lateness(report, machine, name):
    """QEMU does nothing for a while, with commands under way."""
    before = stats(machine, "zd0/ssd0")
    machine.start(fio.command([name], "--rw=randread", "--bs=512k",
                              f"--iodepth={DEPTH}", f"--size={SIZE}",
                              "--time_based", "--runtime=20"))
    reads = before["flash"]["reads"] + 200
    deadline = time.monotonic() + PATIENCE
    while stats(machine, "zd0/ssd0")["flash"]["reads"] < reads:
        if time.monotonic() > deadline:
            report.ok("fio reads", False, stats(machine, "zd0/ssd0"))
            return
    machine.qmp.ask("pmemsave", timeout=PATIENCE, val=0, size=LOCKED,
                    filename="/dev/null")
    after = stats(machine, "zd0/ssd0")
    report.note(f"late {before['late']} -> {after['late']}, at most "
                f"{after['late-max-ns'] / 1e6:.1f} ms")
    report.ok("late commands are counted", after["late"] > before["late"],
              before["late"], after["late"])
    report.ok("and how late they were",
              after["late-max-ns"] > LATE_NS, after["late-max-ns"])
    machine.finish(timeout=PATIENCE)


def body(report):
    """Both cards."""
    devices = [*vm.root_port("rp0", 1), *vm.root_port("rp1", 2),
               *vm.card("zd0", "rp0", model="cm84"),
               *vm.card("zd1", "rp1", model="cm84", timing="off")]
    with guestlib.guest(report, devices) as machine:
        machine.run(SET_UP)
        first = {}
        for member in guestlib.members(machine):
            first.setdefault(member.pci, member.name)
        model, off = (first[pci] for pci in sorted(first))
        compare(report, machine, model, off)
        lateness(report, machine, model)
        counted = stats(machine, "zd1")
        report.ok("with timing=off nothing is late and nothing is modelled",
                  counted["late"] == 0 and "flash" not in counted, counted)


guestlib.run(body)

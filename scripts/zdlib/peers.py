# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive bench --peers`: the card beside QEMU's other controllers.

One guest has the card with timing=off, an ich9-ahci with an ide-hd and a
megasas-gen2 with a scsi-hd, each on a null block device of the same size.  The
same fio job runs on one disk of each in turns, so that whatever else the host
does meets all of them; a ratio is that of the medians.

An emulated processor is slow, and the drivers differ in what they make it do.
So the guest is booted once more, with one processor whose instructions are
counted: what a driver and the layers above it need for one command does not
depend on the host, and no device can be faster than its driver.  Beside that
stands the time that QEMU, guest and device together, was on a processor of the
host; unlike IOPS it is the same on a host that is busy with other things.
"""

import json
import statistics
import struct
import sys
from pathlib import Path

from zdlib import build, image, kernel, paths, table, ui, vm

SIZE = 1 << 30
SSDS = 4
ROUNDS = 5
SECONDS = 4
# Commands of the two runs whose instructions are subtracted.
FEW, MANY = 1000, 9000
LOADS = ("randread", "randwrite")

CARD, AHCI, MEGASAS = "zdrive-r4", "ich9-ahci", "megasas-gen2"
DRIVERS = {CARD: "mvsas", AHCI: "ahci", MEGASAS: "megaraid_sas"}
# What the card has to reach, as a multiple of each peer.
LEAST = {AHCI: 2.0, MEGASAS: 1.0}
# Of the ratio that the drivers' instructions allow, what has to be reached.
TOLERANCE = 0.9

FIND = """
modprobe -a {drivers}
for try in $(seq 100); do
    [ $(ls -d /sys/block/sd* | wc -l) -ge {disks} ] && break
    sleep 0.1
done
for disk in /sys/block/sd*; do
    device=$(readlink -f $disk/device)
    for driver in {drivers}; do
        for link in /sys/bus/pci/drivers/$driver/*:*; do
            case $device in
            $(readlink -f $link)/*) echo $driver ${{disk##*/}} ;;
            esac
        done
    done
    echo none >$disk/queue/scheduler
done
"""
FIO = ("fio --output-format=json --ioengine=libaio --direct=1 --iodepth=32 "
       "--bs=4k --norandommap --randrepeat=0 --rw={load} --name=peer "
       "--filename=/dev/{disk} ")
TIMED = FIO + f"--time_based --ramp_time=0.5 --runtime={SECONDS}"
COUNTED = FIO + "--number_ios={ios}"


def _null(node, size):
    return ["-blockdev", json.dumps({
        "driver": "null-co", "node-name": node, "size": size,
        "read-zeroes": True})]


def _devices():
    return [
        *_null("card", SSDS * SIZE), *_null("ahci", SIZE),
        *_null("megasas", SIZE),
        *vm.root_port("rp0", 1), *vm.root_port("rp1", 2),
        *vm.card(model="cm84", size=SSDS * SIZE, drive="card", timing="off"),
        *vm.device(AHCI, id="peer0"),
        *vm.device("ide-hd", drive="ahci", bus="peer0.0"),
        *vm.device(MEGASAS, id="peer1", bus="rp1"),
        *vm.device("scsi-hd", drive="megasas", bus="peer1.0")]


def _disks(guest):
    """A disk of each controller."""
    found = {}
    for line in guest.run(FIND.format(
            drivers=" ".join(DRIVERS.values()), disks=SSDS + 2)).splitlines():
        driver, name = line.split()
        found.setdefault(driver, name)
    missing = [driver for driver in DRIVERS.values() if driver not in found]
    if missing:
        ui.die(f"the guest has no disk of {missing[0]}",
               f"its kernel says why in {guest.folder / 'console'}")
    return {name: found[driver] for name, driver in DRIVERS.items()}


def _iops(guest, load, disk):
    out = guest.run(TIMED.format(load=load, disk=disk),
                    timeout=60 + 10 * SECONDS)
    job, = json.loads(out)["jobs"]
    return job["read" if "read" in load else "write"]["iops"]


def _measure(guest):
    """For each load and controller the IOPS of each round."""
    disks = _disks(guest)
    found = {(load, name): [] for load in LOADS for name in DRIVERS}
    with ui.step("Running fio") as step:
        for number in range(ROUNDS):
            for load in LOADS:
                for name, disk in disks.items():
                    step.note(f"round {number + 1}/{ROUNDS}")
                    found[load, name].append(_iops(guest, load, disk))
    return found


def _count(guest, counter):
    """What a command takes with each load and controller: instructions of
    the guest, microseconds of the host."""
    disks = _disks(guest)
    found = {}

    def spent():
        executed, = struct.unpack("=Q", counter.read_bytes())
        threads = Path(f"/proc/{guest.pid}/task").glob("*/schedstat")
        return executed, sum(int(thread.read_text().split()[0])
                             for thread in threads) / 1000

    def executed(load, disk, ios):
        before = spent()
        guest.run(COUNTED.format(load=load, disk=disk, ios=ios), timeout=300)
        return [now - then for now, then in zip(spent(), before)]

    with ui.step("Counting the guest's instructions"):
        # once before, so that all of fio is in the guest's memory
        executed(LOADS[0], disks[CARD], FEW)
        for load in LOADS:
            for name, disk in disks.items():
                many, few = (executed(load, disk, ios)
                             for ios in (MANY, FEW))
                found[load, name] = [(more - less) / (MANY - FEW)
                                     for more, less in zip(many, few)]
    return found


def _boot(name, kvm, *words):
    machine = vm.Vm(name, [*_devices(), *words],
                    accelerator=vm.KVM if kvm else vm.TCG)
    with ui.step("Booting a guest with the card and its peers"):
        return machine.boot()


def main(kvm, as_json):
    """Measure and print; return 1 if the card is slower than it has to be.

    It does not have to be faster than its driver: where the processor is
    emulated, a ratio of that of the instructions will do.
    """
    build.peers()
    image.prepare(kernel.get())
    counter = paths.BUILD / "peers-instructions"
    with _boot("peers", kvm) as guest:
        iops = {key: statistics.median(values)
                for key, values in _measure(guest).items()}
        guest.power_off()
    needs = {}
    if not kvm:
        with _boot("peers-count", kvm, "-smp", "1", "-plugin",
                   f"{paths.INSNS},count={counter}") as guest:
            needs = _count(guest, counter)
            guest.power_off()
    return _report(iops, needs, as_json)


def _report(iops, needs, as_json):
    rows, slow, ratios = [], False, {}
    paint = table.Paint(sys.stdout)
    for load in LOADS:
        def row(name, *more):
            need = needs.get((load, name), ("-", "-"))
            rows.append((load, name, f"{iops[load, name]:.0f}",
                         *(f"{value:,.0f}" if needs else value
                           for value in need), *more))

        row(CARD, "", "", "", "")
        for peer, least in LEAST.items():
            ratio = iops[load, CARD] / iops[load, peer]
            driver = (needs[load, peer][0] / needs[load, CARD][0] if needs
                      else least)
            ratios[f"{load} {peer}"] = ratio
            good = ratio >= min(least, driver * TOLERANCE)
            slow |= not good
            row(peer, f"{ratio:.2f}", f"{driver:.2f}" if needs else "-",
                f"{least:.1f}",
                paint.good("ok" if ratio >= least else "driver" if good else
                           "MISSED", good))
    if as_json:
        ui.say(json.dumps({
            what: {f"{load} {name}": value
                   for (load, name), value in values.items()}
            for what, values in (("iops", iops), ("takes", needs))
        } | {"ratios": ratios}))
    else:
        for line in table.lines(
                ("4K QD32", "controller", "IOPS", "guest instr.", "host us",
                 "ratio", "drivers'", "least", ""), rows, paint):
            ui.say(line)
    return 1 if slow else 0

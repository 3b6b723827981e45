# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine is saved, loaded and moved while fio writes and verifies.

    migration.py snapshot TIMES   savevm and loadvm, SSDs on a qcow2 image
    migration.py memory TIMES     the same, SSDs in memory
    migration.py move TIMES       to another QEMU, through a file and live

Each happens TIMES times at random points of the run (ZDRIVE_SEED makes them
the same again).  Nothing may be lost or done twice: fio reads back all it
wrote, the kernel sees no error, and the image holds what the guest reads.
"""

import contextlib
import json
import os
import random
import sys
import time

import guestlib
from zdlib import fio, vm

SSDS = 4
MEMBER = 32 << 20
WRITTEN = 12 << 20
LONGEST_PAUSE = 2.0
HMP_TIMEOUT = 120
# Seconds of the guest in which fio starts again and again.
PER_TURN = 2.5


def verify_script(names, seconds):
    """fio over and over for so many seconds; the records of all runs."""
    run = fio.command(names, *fio.VERIFY, f"--size={WRITTEN}")
    return (f"end=$((SECONDS + {int(seconds)}))\n"
            f"while {run}; do ((SECONDS < end)) || exit 0; done\n"
            "exit 1\n")


def records(text):
    """The JSON objects that stand one after the other in @text."""
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text):
        record, at = decoder.raw_decode(text, at)
        yield record
        while at < len(text) and text[at].isspace():
            at += 1


def hmp(machine, line):
    """A command of the human monitor, which must have nothing to say."""
    answer = machine.qmp.ask("human-monitor-command", timeout=HMP_TIMEOUT,
                             command_line=line)
    if answer:
        raise vm.Error(f"{line}: {answer}")


def snapshots(machine, pick):
    """Save, go on for a while, go back."""
    hmp(machine, "savevm here")
    time.sleep(pick.random() * LONGEST_PAUSE)
    hmp(machine, "loadvm here")


def moves(machine, pick):
    """To another QEMU."""
    machine.move(live=pick.random() < 0.5)


@contextlib.contextmanager
def on_qcow2():
    """SSDs on an image that keeps snapshots."""
    with guestlib.qcow2("volume", SSDS * MEMBER) as nodes:
        yield [*nodes, *vm.root_port(),
               *vm.card(model="cm84", drive="volume")], None


@contextlib.contextmanager
def in_memory():
    """SSDs in memory; the snapshots are on another disk."""
    with guestlib.qcow2("scratch", 1 << 20) as nodes:
        yield [*nodes, *vm.device("virtio-blk-pci", drive="scratch"),
               *vm.root_port(),
               *vm.card(model="cm84", size=SSDS * MEMBER)], None


@contextlib.contextmanager
def on_raw():
    """SSDs on an image that both QEMUs open."""
    with guestlib.Image("volume", SSDS * MEMBER) as image:
        yield [*vm.blockdev("volume", image.path), *vm.root_port(),
               *vm.card(model="rm84", drive="volume")], image


VARIANTS = {
    "snapshot": (on_qcow2, snapshots),
    "memory": (in_memory, snapshots),
    "move": (on_raw, moves),
}


def body(report):
    """One boot, one long fio run, many interruptions."""
    variant, times = sys.argv[1], int(sys.argv[2])
    storage, interrupt = VARIANTS[variant]
    seed = int(os.environ.get("ZDRIVE_SEED", time.time()))
    pick = random.Random(seed)
    report.note(f"ZDRIVE_SEED={seed}")
    with storage() as (devices, image):
        with guestlib.guest(report, devices, variant) as machine:
            names = guestlib.names(machine)
            report.ok("all SSDs are there", len(names) == SSDS, *names)
            machine.start(verify_script(names, PER_TURN * times))
            for turn in range(times):
                time.sleep(pick.random() * LONGEST_PAUSE)
                interrupt(machine, pick)
                report.ok(f"{variant} {turn + 1} of {times}", True)
            result = machine.finish("fio", 400)
            jobs = [job for record in records(result.out)
                    for job in record["jobs"]]
            bad = [job for job in jobs if job["error"]
                   or job["write"]["io_bytes"] != WRITTEN
                   or job["read"]["io_bytes"] != WRITTEN]
            report.ok(f"{len(jobs)} jobs have verified all they wrote",
                      result.status == 0 and jobs and not bad, *bad, result.err)
            in_guest = guestlib.sums(machine, names)
        if image:
            report.ok("the image holds what the guest reads",
                      image.member_sums(SSDS) == in_guest, *in_guest)


guestlib.run(body)

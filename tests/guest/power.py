# SPDX-License-Identifier: GPL-2.0-or-later
"""Power cuts while Debian's kernel works: what it was told to be durable is.

    power.py ext4|xfs|btrfs|sqlite|raw|fio CYCLES [MODEL]
    power.py broken CYCLES [WORKLOAD [MODEL]]
                                    a writer without fsync is caught, and no
                                    capacitor that is empty helps it
    power.py faults CYCLES          cuts in the middle of other faults
    power.py hand                   off and on, and all SSDs are back
"""

import sys
import types

import guestlib
from zdlib import fio, powerloop, vm

SSDS = 8
CARD = "/machine/peripheral/zd0"
SHOWN = 10
FAULTS = ("ssd2:hang,after=20,times=1", "ssd5:link-drop,after=30",
          "ssd0:crc-error,one-in=20;ssd7:slow,delay=20ms,one-in=5")


def arguments(workload, cycles, **other):
    """As the command line of powerloop has them."""
    values = {"model": "cm88", "workload": workload, "cycles": cycles,
              "first": 1, "seed": 0, "loss": "random", "health": 100,
              "faults": "", "broken": False, **other}
    return types.SimpleNamespace(**values)


def wrong(loop):
    """One line per cycle with violations, not too many."""
    return [f"cycle {cycle.number}, {cycle.cut}: {cycle.violations[:3]}"
            for cycle in loop.violations[:SHOWN]]


def show(report, loop):
    """The table, as comments."""
    report.note(*powerloop.summary(loop, powerloop.table.Paint(sys.stdout)))


def of_loop(report, workload, cycles, model="cm88"):
    """A writer that does it right never loses what is durable."""
    args = arguments(workload, int(cycles), model=model)
    with powerloop.Loop(args, f"power-{workload}-{model}") as loop:
        powerloop.run_loop(loop)
        show(report, loop)
        report.ok(f"{workload}: {cycles} cuts, nothing durable is lost",
                  not loop.violations, *wrong(loop))
        report.ok(f"{workload}: the guest had made something durable",
                  sum(cycle.told for cycle in loop.cycles) > int(cycles))


def of_broken(report, cycles, workload="ext4", model="cm88"):
    """A writer that skips fsync is caught."""
    args = arguments(workload, int(cycles), model=model, health=0, broken=True)
    with powerloop.Loop(args, f"power-broken-{workload}-{model}") as loop:
        while not loop.violations and len(loop.cycles) < int(cycles):
            loop.cycle(len(loop.cycles) + 1)
        show(report, loop)
        report.ok(f"{workload} without fsync: caught by cut "
                  f"{len(loop.cycles)} of at most {cycles}", loop.violations)
        report.note(*wrong(loop))


def of_faults(report, cycles):
    """Other faults just before the cut change nothing."""
    args = arguments("raw", int(cycles))
    with powerloop.Loop(args, "power-faults") as loop:
        for number in range(1, int(cycles) + 1):
            args.faults = FAULTS[number % len(FAULTS)]
            done = loop.cycle(number)
            report.ok(f"{args.faults}, then a cut by "
                      f"{done.report['trigger']}: nothing durable is lost",
                      not done.violations, *wrong(loop))
        show(report, loop)


def of_hand(report):
    """The kernel loses the card, and finds it again.

    The card is idle when it goes: an interrupt that mvsas handles just then
    never ends, with a real card either.  It takes 0xfff, what is left of a
    register that reads as all ones, for an index of a ring of 1024 entries,
    and runs round the ring to find it (mvs_int_rx()).
    """
    devices = [*vm.root_port(), *vm.card(model="cm88", size="512M")]
    with guestlib.guest(report, devices, "hand", errors_wanted=True) as guest:
        pci = guestlib.members(guest)[0].pci
        guest.qmp.ask("qom-set", path=CARD, property="power", value="off")
        report.ok("off: the card reads as all ones", "ffff" in guest.run(
            f"setpci -s {pci} 0.w", check=False).out)
        guest.qmp.ask("qom-set", path=CARD, property="power", value="on")
        guest.run(f"echo 1 >/sys/bus/pci/devices/{pci}/remove",
                  timeout=guestlib.REMOVAL)
        report.ok("removed: no SSD is left", not guestlib.members(guest))
        guest.run("echo 1 >/sys/bus/pci/rescan", timeout=guestlib.REMOVAL)
        found = guestlib.wait_members(guest, SSDS, guestlib.REMOVAL)
        report.ok("found again: all SSDs", len(found) == SSDS, *found)
        jobs = fio.verify(guest, [member.name for member in found], "2M")
        report.ok("all of them work", [job["error"] for job in jobs]
                  == [0] * SSDS, jobs)
        log = guest.run("dmesg")
        report.ok("the kernel has not panicked", "BUG:" not in log and
                  "Oops" not in log, log[-2000:])
        messages = (guest.folder / "messages").read_text()
        report.ok("QEMU has no complaint", not messages, messages)


VARIANTS = {"broken": of_broken, "faults": of_faults, "hand": of_hand}


def body(report):
    """What the arguments say."""
    name, *words = sys.argv[1:]
    if name in VARIANTS:
        VARIANTS[name](report, *words)
    else:
        of_loop(report, name, *words)


guestlib.run(body)

# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive powerloop`: pull the plug again and again, and look.

Each cycle a guest writes, the power of the card is cut at a random point that
the seed decides on, the guest starts again, and what its writer was told to be
durable has to be there, bit by bit.
"""

import argparse
import collections
import contextlib
import json
import random
import sys
import time

from zdlib import build, fsys, powerguest, powerjudge, run, table, ui, vm

WORKLOADS = ("raw", "fio", "ext4", "xfs", "btrfs", "sqlite")
# Those without a file system.
BARE = ("raw", "fio")
MODELS = {"cm88": 8, "rm88": 8, "cm84": 4, "rm84": 4}
LOSSES = ("random", "none", "all", "adversarial")
# Charge with which the capacitors save all (ZD_CAPACITOR_RESERVE).
ALL_SAVED = 80
# Steps after which a writer ends whose cut has not come: then it comes there.
STEPS = 400

DESCRIPTION = """\
Boot a guest with a Z-Drive R4, have it write, cut the power of the card at a
random point, start the guest again and check that all is there that a flush
or fsync had made durable; many times, from one snapshot.  Exit status 1 when
something durable was lost.
"""

EXAMPLES = """\
workloads:
  raw            every SSD by itself, without a file system; FDATASYNC
  fio            so, too, but fio with verify=crc32c; its trigger saves the
                 verify state before the cut; O_DSYNC on every second SSD
  ext4 xfs btrfs files that are replaced and files that are written over, with
                 fsync, on the RAID-0 of all SSDs; fsck after each cycle
  sqlite         transactions of SQLite on ext4 with synchronous=extra, and its
                 own integrity check

examples:
  scripts/zdrive powerloop                        20 cycles of ext4 on a CM88
  scripts/zdrive powerloop --workload sqlite --cycles 100
  scripts/zdrive powerloop --model rm88 --health 0
  scripts/zdrive powerloop --broken               a writer that skips fsync
  scripts/zdrive powerloop --faults 'ssd2:hang,after=40' --workload raw
  scripts/zdrive powerloop --seed 7 --first 12 --cycles 1    cycle 12 alone
"""

# How a cut is set off, and up to which number.
TRIGGERS = (
    ("writes", "", 200),
    ("commands", "", 600),
    ("flushes", "", 300),
    ("programs", "", 12),
    ("time", "ms", 2500),
)
# fio has stopped by then: as long as what it wrote last is not safe by itself.
FIO_TRIGGERS = (
    ("writes", "", 40),
    ("commands", "", 80),
    ("flushes", "", 40),
    ("programs", "", 12),
    ("time", "ms", 200),
)

Cycle = collections.namedtuple(
    "Cycle", "number cut told report at_risk lost unreadable mount violations "
    "seconds")


def add_parser(commands):
    """Add `powerloop` to the subcommands."""
    parser = commands.add_parser(
        "powerloop", help="cut the power in the middle of work, many times",
        description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="cm88", choices=MODELS,
                        help="the card (default cm88)")
    parser.add_argument("--workload", default="ext4", choices=WORKLOADS,
                        help="what writes (default ext4)")
    parser.add_argument("--cycles", type=int, default=20, metavar="N",
                        help="how often (default 20)")
    parser.add_argument("--first", type=int, default=1, metavar="N",
                        help="number of the first cycle (default 1)")
    parser.add_argument("--seed", type=int, default=0,
                        help="of all that happens at random (default 0)")
    parser.add_argument("--loss", default="random", choices=LOSSES,
                        help="what a cut does to data that is not safe")
    parser.add_argument("--health", type=int, default=100,
                        choices=range(101), metavar="0-100",
                        help="charge of the capacitors of an RM card")
    parser.add_argument("--faults", default="", metavar="FAULTS",
                        help="what else goes wrong while the guest writes "
                        "(docs/faults.rst)")
    parser.add_argument("--broken", action="store_true",
                        help="a writer that says durable without fsync; "
                        "fio without O_DSYNC; "
                        "SQLite with its default, synchronous=full")
    parser.set_defaults(main=main)


def choose_cut(chance, triggers=TRIGGERS):
    """When the next cut comes."""
    name, unit, most = chance.choice(triggers)
    ramp = chance.choice(("", "", "", " ramp=1ms"))
    return (f"{name}={chance.randint(1, most)}{unit} then=pause "
            f"seed={chance.getrandbits(32)}{ramp}")


def _failures(lines):
    """What has kept the writer from writing."""
    ends = [json.loads(line.removeprefix("END "))
            for line in lines if line.startswith("END ")]
    return [f"the writer: {end['failed']}" for end in ends if "failed" in end]


def _sum(report, name):
    return sum(ssd[name] for ssd in report["ssds"])


def _judge(args):
    """Who knows what may be there after a cut."""
    bare = args.workload in BARE
    # no page cache is between the writer and the capacitors
    every = (bare and args.model.startswith("rm") and
             args.health >= ALL_SAVED)
    if args.workload == "fio":
        return powerjudge.FioJudge(every)
    return powerjudge.Judge(
        args.workload, MODELS[args.model] if bare else 1, every)


class Loop:
    """One guest, its judge and the cycles that they have had."""

    def __init__(self, args, name="powerloop"):
        self.args = args
        self.cycles = []
        self._judge = _judge(args)
        self._guest = powerguest.Guest(name, args.model, args.health,
                                       args.loss)

    def __enter__(self):
        try:
            self._guest.start(self.args.workload)
        except BaseException:
            self._guest.end()
            raise
        return self

    def __exit__(self, *_):
        self._guest.end()

    def cycle(self, number):
        """Write, cut, start again, judge."""
        start = time.monotonic()
        chance = random.Random(f"{self.args.seed}/{number}")
        fio = self.args.workload == "fio"
        cut = choose_cut(chance, FIO_TRIGGERS if fio else TRIGGERS)
        # some while the file system comes up, most while the writer works;
        # of fio nothing is known before
        early = chance.random() < 0.2 and not fio
        order = {"kind": self.args.workload, "seed": number, "steps": STEPS,
                 "broken": self.args.broken}
        lines, report = self._guest.work(order, cut, early,
                                         self.args.faults)
        told = self._judge.told(lines)
        result = self._guest.check({**order, **self._judge.proof(lines)})
        violations, at_risk, lost, dead = self._judge.verdict(
            number, told, self._judge.written(lines), result.get("found", {}))
        problems = [result["failed"]] if "failed" in result else []
        problems += result.get("problems", [])
        if not self.args.faults:
            problems += _failures(lines)
        done = Cycle(number, cut, sum(told.values()), report, at_risk, lost,
                     dead, result.get("mount", ""), [*violations, *problems],
                     time.monotonic() - start)
        self.cycles.append(done)
        return done

    @property
    def violations(self):
        """The cycles with something wrong."""
        return [cycle for cycle in self.cycles if cycle.violations]


def summary(loop, paint):
    """The lines of the closing table."""
    rows = []
    groups = collections.defaultdict(list)
    for cycle in loop.cycles:
        groups[cycle.report["trigger"]].append(cycle)
    groups = dict(sorted(groups.items()))
    if len(groups) > 1:
        groups["all"] = loop.cycles
    for name, cycles in groups.items():
        reports = [cycle.report for cycle in cycles]
        rows.append((
            name, len(cycles), sum(cycle.told for cycle in cycles),
            *(sum(_sum(report, key) for report in reports)
              for key in ("lost", "lost-acknowledged", "unreadable", "saved")),
            f"{sum(cycle.lost for cycle in cycles)} of "
            f"{sum(cycle.at_risk for cycle in cycles)}",
            paint.good(str(sum(len(cycle.violations) for cycle in cycles)),
                       not any(cycle.violations for cycle in cycles))))
    return table.lines(
        ("cut by", "cycles", "durable steps", "pages lost", "acknowledged",
         "unreadable", "saved", "not durable: lost", "violations"),
        rows, paint)


def _tell(cycle):
    """What is wrong with one cycle."""
    ui.say(f"  cycle {cycle.number}, cut by {cycle.cut}:")
    for violation in cycle.violations[:5]:
        if isinstance(violation, powerjudge.Violation):
            violation = (f"{violation.cell} holds {violation.found}, not "
                         f"one of {violation.wanted[:4]}")
        ui.say(f"    {violation}")
    if len(cycle.violations) > 5:
        ui.say(f"    and {len(cycle.violations) - 5} more")


def run_loop(loop, note=lambda text: None):
    """All cycles that the command line asks for."""
    first = loop.args.first
    for number in range(first, first + loop.args.cycles):
        loop.cycle(number)
        note(f"{number - first + 1}/{loop.args.cycles}, "
             f"{len(loop.violations)} with violations")


def main(args):
    """Run the loop; 1 if something durable was lost."""
    build.module()
    run.prepare()
    paint = table.Paint(sys.stdout)
    start = time.monotonic()
    with fsys.lock(vm.VMS / "powerloop", "a powerloop"), \
         contextlib.ExitStack() as stack:
        with ui.step(f"Booting a guest with a {args.model}, {args.workload}"):
            loop = stack.enter_context(Loop(args))
        boot = time.monotonic()
        with ui.step("Cutting its power") as step:
            run_loop(loop, step.note)
    ui.say()
    for line in summary(loop, paint):
        ui.say(f"  {line}")
    mounts = collections.Counter(cycle.mount for cycle in loop.cycles)
    if any(mounts):
        ui.say()
        ui.say("  file systems: " + ", ".join(
            f"{count} {how}" for how, count in mounts.most_common()))
    ui.say()
    for cycle in loop.violations[:5]:
        _tell(cycle)
    each = (time.monotonic() - boot) / len(loop.cycles)
    ui.say(f"  {paint.good('Lost what was durable', False)}"
           if loop.violations else
           f"  {paint.good('All that was durable is there', True)}")
    ui.say(f"  {len(loop.cycles)} cycles, {each:.1f} s each, "
           f"{time.monotonic() - start:.0f} s in all")
    return 1 if loop.violations else 0

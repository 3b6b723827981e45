# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive bench`: a card under load in virtual time, without a guest.

The work is done by build/zdrive-bench, a C program around the flash model.
This module builds it, hands most options on, runs whole files of published
figures and draws plots.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

from zdlib import build, peers, plots, targets, ui

DESCRIPTION = """\
Put a card under load and print its throughput and latency.  Time is virtual:
no guest, no QEMU, the same seed gives the same result.  Options are named as
fio names them.
"""

EXAMPLES = """\
examples:
  scripts/zdrive bench --card revodrive350 --capacity-gb 480 --rw randwrite
  scripts/zdrive bench --card zdrive-r4:rm84 --rw randrw --rwmixread 70 --bs 8K
  scripts/zdrive bench --rw randwrite --state steady --data incomp --json
  scripts/zdrive bench --bs-mix 4K:28,16K:10,32K:10,64K:52 --rw randrw \\
      --rwmixread 55 --seq-percent 42 --qd-mix 1:59,3:15,8:16,20:10
  scripts/zdrive bench --trace fio.log
  scripts/zdrive bench --targets published.csv
  scripts/zdrive bench --plot build/plots
  scripts/zdrive bench --peers

The card's own size is used when a test touches little of it; a test of all of
it or of a used one runs on SSDs that are scaled down, spare area and all
(--scale 1 prevents that).  "comp" data is stored at 0.22 of its size.
"""

# Options of the C program: name, what stands for its value, help.
VALUES = (
    ("card", "CARD", "card[:model] (zdrive-r4:cm88)"),
    ("capacity-gb", "N", "a capacity that was sold"),
    ("link", "LINK", "PCI Express width and generation: x4, gen1x8"),
    ("rw", "LOAD", "read, write, randread (default), randwrite, rw, randrw"),
    ("rwmixread", "N", "percent of reads of a mixed load"),
    ("bs", "SIZE", "block size (4K)"),
    ("qd", "N", "requests in flight on the whole volume (32)"),
    ("span", "SIZE", "bytes that are touched, or full (8G)"),
    ("data", "DATA", "comp, incomp, zero, a stored fraction, a file (comp)"),
    ("state", "STATE", "fob (fresh), steady or tortured (fob)"),
    ("torture-data", "DATA", "data that makes the state, if another"),
    ("runtime", "SECONDS", "virtual time that is measured (1)"),
    ("ramp", "SECONDS", "virtual time before that (0.1)"),
    ("ios", "N", "stop after so many requests"),
    ("seed", "N", "all randomness (1)"),
    ("bs-mix", "MIX", "sizes and their shares"),
    ("qd-mix", "MIX", "queue depths and their shares"),
    ("seq-percent", "N", "percent of requests that follow the last one"),
    ("flush-every", "N", "FLUSH after so many writes"),
    ("trace", "FILE", "replay a fio iolog or the text of blkparse"),
    ("scale", "X", "size of the SSDs; 1 is real"),
    ("spare", "PERCENT", "spare area, in percent of the user's"),
)
FLAGS = (
    ("trim", "TRIM all of the card once it is in its state"),
    ("secure-erase", "erase it then"),
    ("through", "write cache off"),
    ("trace-fast", "replay as fast as --qd lets it, not at its times"),
    ("plain-host", "a host that takes no time"),
    ("series", "requests of each second, in the JSON"),
    ("stats", "counters of each SSD, in the JSON"),
    ("json", "print JSON instead of a table"),
    ("self", "measure the model itself: commands per second, memory"),
)


def add_parser(commands):
    """Add `bench` to the subcommands."""
    parser = commands.add_parser(
        "bench", help="how fast a card is, without a guest",
        description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value, text in VALUES:
        parser.add_argument(f"--{name}", metavar=value, help=text)
    for name, text in FLAGS:
        parser.add_argument(f"--{name}", action="store_true", help=text)
    parser.add_argument("--targets", metavar="FILE", type=Path,
                        help="run every row of a file of published figures; "
                        "exit 1 if one is missed")
    parser.add_argument("--plot", metavar="DIR", type=Path,
                        help="draw the model's curves as SVG")
    parser.add_argument("--peers", action="store_true",
                        help="in a guest, beside ich9-ahci and megasas-gen2; "
                        "exit 1 if the card is slower than it has to be")
    parser.add_argument("--kvm", action="store_true",
                        help="of --peers: use KVM")
    parser.set_defaults(main=main)


def arguments(args):
    """The options for the C program that @args has."""
    words = []
    for name, _, _ in VALUES:
        value = getattr(args, name.replace("-", "_"))
        if value is not None:
            words += [f"--{name}", value]
    words += [f"--{name}" for name, _ in FLAGS
              if getattr(args, name.replace("-", "_"))]
    return words


def measure(program, *words):
    """One run of @program as a dictionary."""
    done = subprocess.run([str(program), "--json", *map(str, words)],
                          text=True, capture_output=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip() or f"exit {done.returncode}")
    return json.loads(done.stdout)


def main(args):
    """Run the bench, a file of targets, the plots, or the peers."""
    if args.peers:
        return peers.main(args.kvm, args.json)
    for path in (args.targets, args.trace):
        if path and not Path(path).is_file():
            ui.die(f"there is no file {path}", "give the path of one")
    program = build.bench() if not args.json else _quiet_build()

    def run(*words):
        return measure(program, *words)

    if args.targets:
        return targets.main(args.targets, run)
    if args.plot:
        return plots.main(args.plot, run)
    os.execv(program, [str(program), *arguments(args)])
    return None


def _quiet_build():
    """Build without a word on standard output, which is for the JSON."""
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        saved = os.dup(1)
        os.dup2(nothing.fileno(), 1)
        try:
            return build.bench()
        finally:
            os.dup2(saved, 1)
            os.close(saved)

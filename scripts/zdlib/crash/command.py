# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive crash` and `scripts/zdrive journal`."""

import argparse
import contextlib
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path

from zdlib import table, ui
from zdlib.crash import (check, explore, history, images, journal as jn,
                         logwrites, plan, record, volume)

DESCRIPTION = """\
Try the states in which a power cut could have left a card, and check each.
JOURNAL was recorded with the card's property journal=FILE, BASE is the image
as it was when the recording began; without it that was all zeros.  COMMAND
gets an image of the card for {image}; it may change that file.
"""

EXAMPLES = """\
examples:
  scripts/zdrive crash card.journal --image before.img \\
      --check 'e2fsck -fy {image} >&2; [ $? -le 1 ]'
  scripts/zdrive crash card.journal --image before.img \\
      --check './ok {image}' --state 12:lost=7   one state again
  scripts/zdrive crash card.journal --image before.img \\
      --state 12:lost=7 --keep kept              its image, kept/12-lost=7.img
  scripts/zdrive crash card.journal --image before.img --list |
      parallel scripts/zdrive crash card.journal --image before.img \\
      --check "'./ok {image}'" --state {}
  scripts/zdrive crash card.journal --no-check --states 5000   only build them

exit status: 0 no state fails, 1 some do, 2 the exploration itself failed
"""

SHARD = re.compile(r"(\d+)/(\d+)")
SIZE = re.compile(r"(\d+)([KMGT]?)", re.IGNORECASE)
STATES = 1000
PER_CUT = 64
FAILURES = 5
TIMEOUT = 60.0
FAST_FOLDER = "/dev/shm"
SLOW_FOLDER = "/var/tmp"
ERROR = 2


def add_parser(commands):
    """Add `crash` and `journal` to the subcommands."""
    _add_crash(commands)
    _add_journal(commands)


def _number(kind, low):
    """An argparse type: a number of @kind, finite and not below @low."""
    def convert(text):
        value = kind(text)
        if not low <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is not a number from "
                                             f"{low}")
        return value
    convert.__name__ = "number"
    return convert


def _add_crash(commands):
    parser = commands.add_parser(
        "crash", help="check every state that a power cut could leave",
        description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("journal", metavar="JOURNAL", type=Path)
    add("--image", metavar="BASE", nargs="+", default=[], type=Path,
        help="the card's image before the recording, raw or qcow2; or one "
        "of each SSD")
    add("--check", metavar="COMMAND", help="exit status 0: the state is good")
    add("--no-check", action="store_true", help="only build the states")
    add("--state", metavar="ID", action="append",
        help="this state (can be given several times)")
    add("--list", action="store_true",
        help="print the states that would be tried, one a line")
    add("--states", metavar="N", type=_number(int, 0), default=STATES, dest="most",
        help=f"try up to N, 0 for no limit (default {STATES})")
    add("--per-cut", metavar="N", type=_number(int, 1), default=PER_CUT,
        help="try up to N states of one moment; if there are no more, all "
        f"(default {PER_CUT})")
    add("--seed", metavar="N", type=int, default=0,
        help="choose other ones where not all are tried (default 0)")
    add("--shard", metavar="I/N", help="only part I of N, from 1")
    add("--after", metavar="MARK", help="only cuts after this mark")
    add("--unreadable", choices=("skip", "pattern"), default="skip",
        help="states with unreadable pages: leave them out, or fill the page "
        "with a text (default skip)")
    add("--jobs", metavar="N", type=_number(int, 1),
        default=len(os.sched_getaffinity(0)),
        help="processes (default: one per processor)")
    add("--timeout", metavar="SECONDS", type=_number(float, 0.001),
        default=TIMEOUT,
        help=f"a checker that takes longer has failed (default {TIMEOUT:g})")
    add("--failures", metavar="N", type=_number(int, 0), default=FAILURES,
        help=f"reduce and show up to N failures (default {FAILURES})")
    add("--no-minimise", action="store_false", dest="minimise",
        help="do not look for the fewest lost writes")
    add("--keep", metavar="DIR", help="keep the image of every state there")
    add("--work", metavar="DIR", help="place for the working images "
        f"(default {FAST_FOLDER} if they fit, else {SLOW_FOLDER})")
    parser.set_defaults(main=_crash)


def _add_journal(commands):
    parser = commands.add_parser(
        "journal", help="show or convert the journal of a card",
        description="Show the journal that a card has written, or convert it "
        "to and from the format of the kernel's dm-log-writes, which QEMU's "
        "blklogwrites has, too.")
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    show = kinds.add_parser("show", help="print what is in it")
    show.add_argument("journal", metavar="JOURNAL", type=Path)
    show.add_argument("--records", action="store_true",
                      help="every record, not only the sums")
    show.set_defaults(main=_show)
    new = kinds.add_parser(
        "record", help="run a script in a guest and record what it writes",
        description="Boot Debian's kernel with a card that holds a copy of "
        "IMAGE, run the bash script SCRIPT there, record JOURNAL.  `volume` "
        "makes the card /dev/md0 in the guest.")
    new.add_argument("journal", metavar="JOURNAL", type=Path)
    new.add_argument("--image", required=True, type=Path,
                     help="raw image of the card; it stays as it is")
    new.add_argument("--script", required=True, type=Path)
    new.add_argument("--model", default="cm84",
                     help="cm84 (default), cm88, rm84 or rm88")
    new.add_argument("--result", metavar="FILE", type=Path,
                     help="keep the card as it is after the script")
    new.set_defaults(main=record.main)
    out = kinds.add_parser("export", help="to a dm-log-writes log")
    out.add_argument("journal", metavar="JOURNAL", type=Path)
    out.add_argument("log", metavar="LOG", type=Path)
    out.set_defaults(main=lambda args: _status(_export, args))
    back = kinds.add_parser("import", help="from a dm-log-writes log")
    back.add_argument("log", metavar="LOG", type=Path)
    back.add_argument("journal", metavar="JOURNAL", type=Path)
    back.add_argument("--size", required=True, help="bytes of the device that "
                      "was logged, such as 512M")
    back.add_argument("--ssds", type=_number(int, 1), default=1, metavar="N",
                      help="SSDs of the card that it was, or shall have been "
                      "(default 1)")
    back.add_argument("--capacitor", action="store_true",
                      help="its SSDs lose nothing that was acknowledged")
    back.set_defaults(main=lambda args: _status(_import, args))


def _status(function, args):
    """The exit status of @function: an error is not a failing state."""
    try:
        return function(args)
    except ui.Failure as err:
        print(f"zdrive: {err}", file=sys.stderr)
        for line in err.details:
            print(f"    {line}", file=sys.stderr)
    except BrokenPipeError:
        raise
    except OSError as err:
        print(f"zdrive: {err.filename or 'system call failed'}: "
              f"{err.strerror}", file=sys.stderr)
    return ERROR


def _open(path):
    journal = jn.Journal(path)
    if journal.lost_bytes:
        print(f"zdrive: {path} ends with {journal.lost_bytes} bytes that are "
              "no whole record; what is before them is used",
              file=sys.stderr)
    return journal


# crash


def _crash(args):
    return _status(_explore, args)


def _explore(args):
    _check_options(args)
    journal = _open(args.journal)
    args.unreadable = args.unreadable == "pattern"
    found = plan.make(journal, args) if not args.state else None
    if found and found.ended:
        print(f"zdrive: {args.journal}: record {found.ended[0]} says "
              f"'{jn.NAMES[found.ended[1]]}': what the medium held then is "
              "unknown, so only what is before is used", file=sys.stderr)
    names = args.state or found.names
    if args.shard:
        names = _shard(names, args.shard)
    if args.list:
        for name in names:
            ui.say(name)
        return 0
    checker = None
    if not args.no_check and args.check:
        checker = check.Checker(args.check, args.timeout)
    with tempfile.TemporaryDirectory(prefix="zdrive-crash-",
                                     dir=_folder(args, journal)) as folder:
        base = images.raw_base(list(map(str, args.image)), journal.card,
                               folder)

        def make(path):
            return explore.Worker(journal, base, path, checker, args)

        report = Report(args, len(names))
        jobs = max(1, min(args.jobs, len(names)))
        explore.several(jobs, make, names, folder, report.take)
    return report.close(found)


def _check_options(args):
    if not (args.check or args.no_check or args.list or args.keep):
        ui.die("nothing says what a good state is",
               "give --check COMMAND, or --no-check")
    for path in [args.journal, *args.image]:
        if not path.exists():
            ui.die(f"there is no file {path}", "give the path of one")
    for name in args.state or ():
        if not re.fullmatch(r"\d+:\S+", name):
            ui.die(f"{name} is no state", "a state is CUT:RECIPE as --list "
                   "prints it")


def _shard(names, text):
    match = SHARD.fullmatch(text)
    index, count = map(int, match.groups()) if match else (0, 0)
    if not 1 <= index <= count:
        ui.die(f"--shard {text} is no part", "give I/N with I from 1 to N")
    return explore.share(names, index - 1, count)


def _folder(args, journal):
    """Where the working images go: into memory if there is room."""
    if args.work:
        return args.work
    size = volume.Volume(journal.card.ssds, journal.card.sectors).bytes
    stored = sum(path.stat().st_blocks * 512 for path in args.image)
    # all that is written may take space in both images
    needed = min(size, stored + journal.bytes) * 2 * args.jobs
    with contextlib.suppress(OSError):
        if shutil.disk_usage(FAST_FOLDER).free > 2 * needed:
            return FAST_FOLDER
    return SLOW_FOLDER


class Report:
    """What the user sees of an exploration."""

    PERIOD = {True: 0.2, False: 10.0}

    def __init__(self, args, total):
        self._args = args
        self._total = total
        self._start = self._shown = time.monotonic()
        self._live = sys.stderr.isatty()
        self._done = self._bad = self._more = 0
        # of the causes that were found, by any process
        self._names = set()

    def take(self, message):
        """Count a result, or show a failure."""
        if isinstance(message, explore.Result):
            self._done += 1
            self._bad += bool(message.verdict and not message.verdict.good)
            now = time.monotonic()
            if now - self._shown > self.PERIOD[self._live]:
                self._shown = now
                self._progress(end="" if self._live else "\n")
        else:
            self._failure(message)

    def _rate(self):
        return self._done / max(time.monotonic() - self._start, 1e-6)

    def _progress(self, end):
        begin = "\r\033[K" if self._live else ""
        print(f"{begin}{self._done}/{self._total} states, {self._bad} failed, "
              f"{self._rate():.0f}/s", end=end, file=sys.stderr, flush=True)

    def _failure(self, cause):
        if cause.same or cause.name in self._names:
            return
        self._names.add(cause.name)
        if len(self._names) > self._args.failures:
            self._more += 1
            return
        if self._live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        verdict = cause.verdict
        ui.say(f"FAILED {cause.name} ({verdict.reason})" +
               (f", found as {cause.found}" if cause.found != cause.name
                else "") +
               (f", after mark {cause.mark}" if cause.mark else ""))
        for line in [*(cause.lost or ["nothing is lost"]),
                     *verdict.output.splitlines()]:
            ui.say(f"    {line}")
        ui.say(f"    again: {self._again(cause.name)}")

    def _again(self, name):
        args = self._args
        words = ["scripts/zdrive", "crash", str(args.journal)]
        if args.image:
            words += ["--image", *map(str, args.image)]
        return shlex.join([*words, "--check", args.check, "--state", name])

    def close(self, found):
        """The last line; the exit status."""
        if self._live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        cuts = f" of {found.cuts} cuts" if found else ""
        ui.say(f"{self._done} states{cuts}: {self._done - self._bad} "
               f"{'built' if not self._args.check else 'good'}, {self._bad} "
               f"failed ({self._rate():.0f} per second)")
        if self._more:
            ui.say(f"{self._more} more failures are not shown; see "
                   "--failures")
        return 1 if self._bad else 0


# journal


def _show(args):
    return _status(_show_records if args.records else _show_sums, args)


def _show_sums(args):
    journal = _open(args.journal)
    card = journal.card
    ui.say(f"{card.model}: {card.ssds} SSDs of {card.sectors} sectors, "
           f"{'with' if card.capacitor else 'without'} capacitors, "
           f"{len(journal.records)} records")
    counts = [[0, 0, 0, 0] for _ in range(card.ssds)]
    for record in journal.records:
        row = counts[record.ssd]
        if record.type == jn.WRITE:
            row[0] += 1
            row[1] += record.count
        row[2] += record.type == jn.FLUSH
        row[3] += record.type == jn.TRIM
    rows = [(ssd, *row) for ssd, row in enumerate(counts)]
    for line in table.lines(("SSD", "writes", "sectors", "flushes", "trims"),
                            rows, table.Paint(sys.stdout)):
        ui.say(line)
    cuts = sum(1 for _ in history.History(journal).cuts())
    marks = [bytes(record.data).decode("utf-8", "replace")
             for record in journal.records if record.type == jn.MARK]
    ui.say(f"{cuts} cuts; marks: {', '.join(marks) or 'none'}")
    return 0


def _show_records(args):
    for position, record in enumerate(_open(args.journal).records):
        ui.say(f"{position} {jn.NAMES[record.type]}{_detail(record)}")
    return 0


def _detail(record):
    who = f" {record.id} ssd {record.ssd}"
    if record.type == jn.WRITE:
        through = " through" if record.flags & jn.THROUGH else ""
        return f"{who} lba {record.lba} sectors {record.count}{through}"
    if record.type == jn.TRIM:
        return who + "".join(f" lba {lba} sectors {count}"
                             for lba, count in jn.trim_ranges(record))
    if record.type == jn.END:
        return f"{who} {jn.ENDS[min(record.count, jn.ABORTED)]}"
    if record.type == jn.MARK:
        return f" {bytes(record.data).decode('utf-8', 'replace')}"
    return who if record.type == jn.FLUSH else ""


def _may_replace(path, magic, kind):
    """Nothing but an older one: not the image that was named by mistake."""
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(len(magic))
        if head and head != magic:
            ui.die(f"{path} holds something that is no {kind}",
                   "give another name, or remove it")


def _export(args):
    _may_replace(args.log, logwrites.MAGIC.to_bytes(8, "little"), "log")
    logwrites.export(_open(args.journal), args.log)
    return 0


def _import(args):
    match = SIZE.fullmatch(args.size)
    size = int(match[1]) << (10 * " KMGT".index(match[2].upper() or " ")) \
        if match else 0
    if not size or size % (args.ssds * jn.SECTOR) or not 1 <= args.ssds <= 8:
        ui.die(f"--size {args.size} with {args.ssds} SSDs",
               "give whole sectors for each of up to 8 SSDs")
    card = jn.Card("import", args.ssds, size // args.ssds // jn.SECTOR,
                   args.capacitor)
    _may_replace(args.journal, jn.MAGIC, "journal")
    logwrites.import_log(args.log, args.journal, card)
    return 0

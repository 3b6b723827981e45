# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive crash` finds the mistakes that are there, and no others.

The programs of crash-app.py are recorded without a card and explored with the
real command line, with checkers that behave and with some that do not.
"""

import importlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from zdlib import paths, tap

HERE = Path(__file__).parent
ZDRIVE = paths.ROOT / "scripts/zdrive"
APP = HERE / "crash-app.py"
CHECK = f"/usr/bin/python3 -B -S {APP} check {{image}}"
WITHIN = 100
CORRECT = ("correct", "through")

app = importlib.import_module("crash-app")


def zdrive(*words):
    """Run `scripts/zdrive`."""
    return subprocess.run([ZDRIVE, *map(str, words)],
                          text=True, capture_output=True, check=False)


def crash(journal, *words):
    """Run `scripts/zdrive crash`."""
    return zdrive("crash", journal, *words)


def found(report, folder):
    """Each mistake is found within 100 states, in no correct program."""
    for kind in app.KINDS:
        journal = folder / f"{kind}.journal"
        app.write(kind, journal)
        good = kind in CORRECT
        done = crash(journal, "--check", CHECK, "--after", "begin",
                     "--states", 500 if good else WITHIN,
                     "--failures", 1)
        report.ok(f"{kind}: {'no state fails' if good else 'found'}",
                  done.returncode == (0 if good else 1), done.stdout,
                  done.stderr)


def reproduced(report, folder):
    """What is reported fails again, with as little lost as possible."""
    journal = folder / "log-not-flushed.journal"
    done = crash(journal, "--check", CHECK, "--after", "begin", "--states",
                 WITHIN, "--failures", 1)
    match = re.search(r"FAILED (\d+:lost=\d+(\.[\d-]+)?) .*?again: (.*?)\n",
                      done.stdout, re.DOTALL)
    report.ok("one write is lost in what is reported", match, done.stdout)
    if not match:
        return
    again = subprocess.run(match[3], shell=True, cwd=paths.ROOT, text=True,
                           capture_output=True, check=False)
    report.ok("the command that is printed fails again",
              again.returncode == 1 and f"FAILED {match[1]} " in again.stdout,
              again.stdout, again.stderr)
    kept = folder / "kept"
    again = crash(journal, "--state", match[1], "--keep", kept)
    image = kept / f"{match[1].replace(':', '-')}.img"
    report.ok("its image can be kept", again.returncode == 0 and
              image.is_file() and app.check(image), again.stderr)


def shared(report, folder):
    """Shards and a list are all states, none twice; a seed makes others."""
    journal = folder / "no-flush.journal"
    names = crash(journal, "--list").stdout.split()
    shards = [crash(journal, "--list", "--shard", f"{index}/3").stdout.split()
              for index in (1, 2, 3)]
    report.ok("the shards are the list", len(set(names)) == len(names) > 9 and
              sorted(names) == sorted(sum(shards, [])), names[:9])
    report.ok("a list is the same again",
              crash(journal, "--list").stdout.split() == names)
    report.ok("another seed has others",
              crash(journal, "--list", "--seed", 5).stdout.split() != names)
    one = crash(journal, "--check", CHECK, "--jobs", 1, "--no-minimise")
    two = crash(journal, "--check", CHECK, "--jobs", 3, "--no-minimise")
    line = re.compile(r"^\d+ states.*(?= \()", re.MULTILINE)
    report.ok("the number of processes changes nothing",
              line.findall(one.stdout) == line.findall(two.stdout) != [],
              one.stdout, two.stdout)


# What a checker may do to its image.
HOSTILE = {
    "overwrites it": "dd if=/dev/urandom of={image} bs=64k count=8 "
                     "conv=notrunc status=none",
    "cuts it short": "truncate -s 100 {image}",
    "makes it longer": "truncate -s +1M {image}",
    "removes it": "rm {image}",
    "puts another file in its place": "cp {image} {image}.x; mv {image}.x "
                                      "{image}; date >>{image}",
    "makes holes": "fallocate -p -o 0 -l 1M {image}",
}


def restored(report, folder):
    """What a checker did to an image is not in the next one."""
    journal = folder / "correct.journal"
    for what, command in HOSTILE.items():
        log = folder / "sums"
        log.unlink(missing_ok=True)
        done = crash(journal, "--states", 40, "--jobs", 1, "--check",
                     f"echo $ZDRIVE_STATE $(sha256sum <{{image}}) >>{log}; "
                     + command)
        spoiled = log.read_text().splitlines()
        log.unlink()
        crash(journal, "--states", 40, "--jobs", 1, "--check",
              f"echo $ZDRIVE_STATE $(sha256sum <{{image}}) >>{log}; "
              ": {image}")
        report.ok(f"a checker that {what}", done.returncode == 0 and
                  spoiled == log.read_text().splitlines() != [],
                  done.stderr)


def refused(report, folder):
    """What goes wrong is an error of one line, and no failing state."""
    journal = folder / "correct.journal"
    short = folder / "short.img"
    short.write_bytes(bytes(1000))
    other = folder / "other"
    other.write_bytes(b"x" * 1000)
    cases = (
        ("no checker", [journal], "give --check"),
        ("a checker without an image", [journal, "--check", "true"],
         "{image}"),
        ("a checker that does not exist",
         [journal, "--check", "nonexistent-zdrive {image}"],
         "cannot be run"),
        ("no journal", [folder / "none", "--no-check"], "no file"),
        ("another file", [other, "--no-check"], "no journal"),
        ("an image that is too short",
         [journal, "--no-check", "--image", short], "1000 bytes"),
        ("an unknown mark", [journal, "--no-check", "--after", "x"],
         "choose from begin"),
        ("an unknown state", [journal, "--no-check", "--state", "1:bogus"],
         "no recipe"),
        ("an unknown cut", [journal, "--no-check", "--state", "999:all"],
         "999"),
        ("fewer than no states", [journal, "--no-check", "--states", "-1"],
         "a number from 0"),
        ("no time for the checker",
         [journal, "--no-check", "--timeout", "-5"], "a number from"),
        ("a time that is no number",
         [journal, "--no-check", "--timeout", "nan"], "a number from"),
        ("no process", [journal, "--no-check", "--jobs", "0"],
         "a number from 1"),
        ("a wrong part", [journal, "--no-check", "--shard", "4/3"], "I/N"),
    )
    for what, words, text in cases:
        done = crash(*words)
        report.ok(what, done.returncode == 2 and text in done.stderr and
                  done.stderr.startswith("zdrive: "), done.returncode,
                  done.stdout, done.stderr)
    kept = journal.read_bytes()
    for words in (("export", journal, other), ("export", journal, journal),
                  ("import", other, journal, "--size", "1M", "--ssds", "0"),
                  ("import", journal, other, "--size", "1M")):
        done = zdrive("journal", *words)
        report.ok(f"a file that is something else: {words[0]}",
                  done.returncode == 2 and journal.read_bytes() == kept and
                  other.read_bytes() == b"x" * 1000 and
                  done.stderr.startswith("zdrive: ") and
                  done.stderr.count("\n") == 1, done.stdout, done.stderr)
    done = crash(journal, "--states", 3, "--timeout", 0.2, "--no-minimise",
                 "--check", "sleep 30 # {image}")
    report.ok("a checker that does not end has failed",
              done.returncode == 1 and "no end after 0.2 s" in done.stdout,
              done.stdout, done.stderr)


def main():
    """Everything, in a folder that is gone afterwards."""
    report = tap.Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for test in (found, reproduced, shared, restored, refused):
            test(report, folder)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive test`: build all, run Meson's suites, count the results.

Meson runs the tests and shows each as it ends.  The closing line counts the
single checks that the test programs report in TAP, not the programs.
"""

import json
import os
import re

from zdlib import (apt, bootimage, build, fuzzqemu, image, kernel, paths, run,
                   tap, ui, vm)

SUITES = {
    "unit": "single rooms, without a running QEMU",
    "house": "coding style, room borders, licences",
    "host": "this command line, its errors, loading the module, its ROM",
    "qtest": "the card's registers, without a guest",
    "guest": "Debian's kernel on the card",
    "boot-quick": "power-on to a login, by the card's option ROM",
    "boot": "all that the option ROM does; only by name",
    "docs": "the pages, their commands and their tables",
    "fuzz": "a hostile guest by chance, under sanitisers",
    "fuzz-qemu": "QEMU's own generic fuzzer, 20 minutes; only by name",
    "long": "what takes long: faults, resets, fuzz, migration; only by name",
}
NOT_BY_DEFAULT = ("boot", "fuzz-qemu", "long")
# Which suites need what one of Meson's options builds.
NEEDED_BY = {
    "qtest": ("qtest", "fuzz", "long"),
    "fuzz": ("fuzz", "long"),
}
# Suites that run together, and how many of their tests may at once.  A guest
# test keeps a core busy for long and its time-outs have to hold.
GROUPS = (
    (("unit", "house", "host", "qtest", "fuzz"), os.cpu_count()),
    (("guest", "boot-quick", "boot", "docs"), 2),
    (("long",), 2),
    (("fuzz-qemu",), 1),
)

# What only the pages and their examples need.
DOCS_PACKAGES = ("python3-sphinx", "sqlite3")

FAILED = ("FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS")
# How Meson names a test: project:suite+suite / name.
RECORD_SUITES = re.compile(r"[^:]*:(\S+) / ")
RESULT_LINE = re.compile(r"^\s*(\d+)/(\d+) ")


def add_parser(commands):
    """Add `test` to the subcommands."""
    parser = commands.add_parser(
        "test", help="run every test, or the suites that are named",
        description="Build everything, run the tests and close with one "
        "line: N passed, N failed, N skipped.",
        epilog="suites: " + "; ".join(f"{name} ({what})"
                                      for name, what in SUITES.items()))
    parser.add_argument("suites", nargs="*", metavar="SUITE",
                        help=f"one of: {', '.join(SUITES)} (default: all "
                        f"but {', '.join(NOT_BY_DEFAULT)})")
    parser.add_argument("--kernel", metavar="NAME", help="the kernel of "
                        "the guests in guest and long: "
                        f"{', '.join(kernel.SERIES)} (default "
                        f"{kernel.DEFAULT}), or a release")
    parser.set_defaults(main=main)


def main(args):
    """Run the suites in @args.suites, by default those for every day."""
    unknown = [suite for suite in args.suites if suite not in SUITES]
    if unknown:
        ui.die(f"there is no test suite {unknown[0]}",
               f"choose from {', '.join(SUITES)}")
    os.environ[vm.KERNEL] = kernel.named(args.kernel)
    wanted = args.suites or [suite for suite in SUITES
                             if suite not in NOT_BY_DEFAULT]
    if "docs" in wanted:
        apt.ensure(DOCS_PACKAGES)
    build.everything(*(option for option, suites in NEEDED_BY.items()
                       if not set(suites).isdisjoint(wanted)))
    if "fuzz-qemu" in wanted:
        fuzzqemu.program()
    if not {"guest", "docs", "long"}.isdisjoint(wanted):
        run.prepare()
        image.prepare(kernel.get(args.kernel))
    if not {"boot", "boot-quick"}.isdisjoint(wanted):
        bootimage.get(8)
    records = []
    for group, jobs in GROUPS:
        suites = [suite for suite in group if suite in wanted]
        if suites:
            records += _run(suites, jobs)
    return conclude(records, wanted)


def _run(suites, jobs):
    """Run @suites and return Meson's record of each test."""
    base = f"testlog-{'-'.join(suites)}"
    results = paths.BUILD / "meson-logs" / f"{base}.json"
    results.unlink(missing_ok=True)
    cmd = ["meson", "test", "-C", paths.BUILD, "--no-rebuild",
           "--logbase", base, "--num-processes", jobs]
    for suite in suites:
        cmd += ["--suite", suite]
    log = ui.log_file("meson-test")
    with open(log, "w", encoding="utf-8") as out, \
         ui.step(f"Testing {', '.join(suites)}") as step:
        with ui.child(cmd) as process:
            for line in process.stdout:
                out.write(line)
                match = RESULT_LINE.match(line)
                if match:
                    step.note("/".join(match.groups()))
                    step.say(line.rstrip())
        step.good = process.returncode == 0
    lines = results.read_text().splitlines() if results.exists() else []
    records = [json.loads(line) for line in lines]
    if process.returncode and not any(map(_is_bad, records)):
        ui.die(f"meson test failed (exit {process.returncode})", f"see {log}")
    return records


def _is_bad(record):
    return record["result"] in FAILED


def _counts(record):
    """The counts of one test program, its own way of ending included."""
    counts = tap.count(record.get("stdout", ""))
    if _is_bad(record) and not counts.failed:
        return counts._replace(failed=1)
    if not any(counts):
        return tap.Counts(*(int(record["result"] == result)
                            for result in ("OK", "FAIL", "SKIP")))
    return counts


def conclude(records, suites):
    """Print the closing line for Meson's @records; return the exit code.

    A suite of @suites that has run no test is a failure, too.
    """
    counts = [_counts(record) for record in records]
    total = tap.Counts(*map(sum, zip((0, 0, 0), *counts)))
    for record, count in zip(records, counts):
        if count.failed:
            _show_failure(record)
    ran = {suite for record in records
           for suite in RECORD_SUITES.match(record["name"])[1].split("+")}
    idle = [suite for suite in suites if suite not in ran]
    for suite in idle:
        ui.say(f"No test was run in suite {suite}.")
    ui.say(f"{total.passed} passed, {total.failed} failed, "
           f"{total.skipped} skipped")
    return 1 if total.failed or idle or not any(total) else 0


def _show_failure(record):
    """Print what failed in the test of @record and where to read more."""
    log = ui.log_file("test-" + re.sub(r"\W+", "-", record["name"]))
    output = record.get("stdout", "") + record.get("stderr", "")
    log.write_text(output, encoding="utf-8")
    ui.say(f"FAILED {record['name']} ({record['result']}): {log}")
    for line in output.splitlines():
        if line.startswith(("not ok", "Bail out!")):
            ui.say(f"    {line}")

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions of the host per command, from doorbell to completion.

QEMU runs under callgrind, which counts while mv_core_write() is on the stack.
Two runs with different numbers of commands are subtracted, so that the start
of the card does not count.  Each kind of command has an upper bound.

    instructions.py COST-PROGRAM [KIND ...]
"""

import os
import re
import subprocess
import sys
import tempfile

from zdlib import apt, tap

QEMU = "/usr/bin/qemu-system-x86_64"
FEW, MANY = 31, 31 * 33
COLLECTED = re.compile(r"Collected : (\d+)")

# What was measured, and a third: compilers and QEMU's releases differ.
BOUNDS = {
    "non-data": 4700,
    "read-4k": 7500,
    "write-4k": 7500,
    "read-128k": 67000,
}


def collected(program, kind, count, folder):
    """What callgrind has counted for @count commands."""
    log = f"{folder}/{kind}-{count}"
    binary = (f"/usr/bin/valgrind --tool=callgrind --log-file={log} "
              f"--callgrind-out-file={os.environ.get('ZDRIVE_CALLGRIND', '/dev/null')} "
              f"--toggle-collect=mv_core_write {QEMU}")
    subprocess.run([program, kind, str(count)], check=True,
                   env={**os.environ, "QTEST_QEMU_BINARY": binary})
    with open(log, encoding="utf-8") as file:
        return int(COLLECTED.search(file.read())[1])


def main():
    """Report one result per kind of command."""
    program, *kinds = sys.argv[1:]
    apt.ensure(["valgrind"])
    report = tap.Report()
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds or BOUNDS:
            few, many = (collected(program, kind, count, folder)
                         for count in (FEW, MANY))
            each = (many - few) // (MANY - FEW)
            report.ok(f"{kind}: {each} instructions, at most {BOUNDS[kind]}",
                      each <= BOUNDS[kind])
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

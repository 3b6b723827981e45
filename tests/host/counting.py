# SPDX-License-Identifier: GPL-2.0-or-later
"""The closing line of `scripts/zdrive test` counts what really happened."""

import contextlib
import io
import sys
import tempfile
from pathlib import Path

from zdlib import paths, tap, testrun

PASSED = {"name": "p:unit / a", "result": "OK", "stdout": "ok 1 - x\nok 2\n1..2\n"}
FAILED = {"name": "p:unit / b", "result": "FAIL",
          "stdout": "1..3\nok 1 x\nnot ok 2 - y\nok 3 z # SKIP no z\n"}
CRASHED = {"name": "p:unit / c", "result": "ERROR", "stdout": "1..2\nok 1 x\n"}
EXPECTED = {"name": "p:unit / d", "result": "OK",
            "stdout": "not ok 1 - later # TODO\n1..1\n"}
PLAIN = {"name": "p:unit / e", "result": "OK", "stdout": "no TAP at all\n"}
NESTED = {"name": "p:unit / f", "result": "OK",
          "stdout": "# ok 7\n    ok 1 inner\nok 1 outer\n1..1\n"}

CASES = (
    ("a suite without tests", [], "0 passed, 0 failed, 0 skipped", 1),
    ("passes", [PASSED], "2 passed, 0 failed, 0 skipped", 0),
    ("failures and skips", [FAILED], "1 passed, 1 failed, 1 skipped", 1),
    ("a crash half way", [CRASHED], "1 passed, 1 failed, 0 skipped", 1),
    ("an expected failure", [EXPECTED], "1 passed, 0 failed, 0 skipped", 0),
    ("a program without TAP", [PLAIN], "1 passed, 0 failed, 0 skipped", 0),
    ("comments and nesting", [NESTED], "1 passed, 0 failed, 0 skipped", 0),
    ("several programs", [PASSED, FAILED, CRASHED],
     "4 passed, 2 failed, 1 skipped", 1),
)


def main():
    """Report one result per case."""
    report = tap.Report()
    for name, records, line, code in CASES:
        output = io.StringIO()
        with contextlib.redirect_stdout(output), \
             tempfile.TemporaryDirectory() as logs:
            paths.LOGS = Path(logs)
            result = testrun.conclude(records, ["unit"])
        last = output.getvalue().splitlines()[-1]
        report.ok(name, (last, result) == (line, code), last, result)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

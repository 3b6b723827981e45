# SPDX-License-Identifier: GPL-2.0-or-later
"""TAP, the Test Anything Protocol: a writer and a counter.

    report = tap.Report()
    report.ok("the card has 8 SSDs", found == 8, f"found {found}")
    sys.exit(report.end())
"""

import collections
import re
import sys

RESULT = re.compile(r"^(?P<failed>not )?ok\b[^#\n]*"
                    r"(?:#\s*(?P<directive>skip|todo))?",
                    re.IGNORECASE | re.MULTILINE)

Counts = collections.namedtuple("Counts", "passed failed skipped")


class Report:
    """The results of one test program, printed as they come."""

    def __init__(self, out=sys.stdout):
        self._out = out
        self._count = 0
        self._failures = 0

    def ok(self, name, good, *details):
        """Report test @name; @details explain a failure."""
        self._count += 1
        self._failures += not good
        self._print(f"{'ok' if good else 'not ok'} {self._count} - {name}")
        if not good:
            self.note(*details)

    def skip(self, name, reason):
        """Report that test @name could not be run here."""
        self._count += 1
        self._print(f"ok {self._count} - {name} # SKIP {reason}")

    def note(self, *lines):
        """Print @lines as comments."""
        for line in "\n".join(map(str, lines)).splitlines():
            self._print(f"# {line}")

    def end(self):
        """Print the plan; return the exit code of the program."""
        self._print(f"1..{self._count}")
        return 1 if self._failures or not self._count else 0

    def _print(self, line):
        print(line, file=self._out, flush=True)


def count(text):
    """The Counts of the TAP output @text."""
    results = [(bool(match["failed"]),
                (match["directive"] or "").lower())
               for match in RESULT.finditer(text)]
    skipped = sum(directive == "skip" for _, directive in results)
    failed = sum(bad and not directive for bad, directive in results)
    return Counts(len(results) - skipped - failed, failed, skipped)

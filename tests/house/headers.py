# SPDX-License-Identifier: GPL-2.0-or-later
"""Every source file begins with its licence and a word on its purpose."""

import re
import sys

import tree
from zdlib import tap

LICENCE = "SPDX-License-Identifier: GPL-2.0-or-later"
LICENCE_WITHIN = 3
PURPOSE_WITHIN = 12
SHORTEST_PURPOSE = 20

SUFFIXES = {".c", ".h", ".py", ".S", ".sh", ".build"}
# A comment line of C, of a script, or the beginning of a docstring.
COMMENT = re.compile(r'^\s*(?:/\*+|\*|#(?!include|ifndef|define)|"""|//)'
                     r'\s*(.*)')


def has_purpose(lines):
    """Whether the head of a file says more than its licence."""
    comments = (COMMENT.match(line) for line in lines[:PURPOSE_WITHIN])
    return any(len(match[1]) >= SHORTEST_PURPOSE and LICENCE not in match[1]
               and not match[0].startswith("#!")
               for match in comments if match)


def main():
    """Report one result per file."""
    report = tap.Report()
    for file in tree.files():
        if file.suffix not in SUFFIXES and not tree.is_script(file):
            continue
        lines = tree.read(file).splitlines()
        report.ok(f"{file} has its licence",
                  any(LICENCE in line for line in lines[:LICENCE_WITHIN]))
        report.ok(f"{file} says what it is for", has_purpose(lines))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

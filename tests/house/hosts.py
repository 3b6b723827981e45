# SPDX-License-Identifier: GPL-2.0-or-later
"""No file names the host of a package registry.

Where packages come from is the business of the machine: its mirror and its
proxy have to work for everything here.
"""

import re
import sys

import tree
from zdlib import tap

# Written in parts, so that this file passes its own test.
DOMAINS = ("debian" ".org", "debian" ".net", "ubuntu" ".com", "pypi" ".org",
           "pythonhosted" ".org", "npmjs" ".org", "crates" ".io",
           "golang" ".org", "docker" ".io", "ghcr" ".io", "quay" ".io")
HOST = re.compile(r"[\w.-]*\b(?:" + "|".join(map(re.escape, DOMAINS))
                  + r")\b")


def main():
    """Report one result per file."""
    report = tap.Report()
    for file in tree.files():
        found = HOST.findall(tree.read(file))
        report.ok(str(file), not found, *found)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""Sphinx makes the pages without a warning, and no page hides a command.

What it makes stays in build/docs, for reading.
"""

import re
import subprocess
import sys

import pages
from zdlib import paths, tap

LINK = re.compile(r"\]\(([^)#:]+)\)|<img[^>]* src=\"([^\":]+)\"")
FIRST = ("scripts/zdrive demo", "scripts/zdrive test")


def main():
    """Build, then look at the sources."""
    report = tap.Report()
    result = subprocess.run(
        ["/usr/bin/python3", "-m", "sphinx", "-W", "--keep-going", "-n", "-q",
         "-E", "-b", "html", "-d", paths.BUILD / "doctrees", pages.DOCS,
         pages.BUILT], text=True, check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    report.ok("Sphinx has no warning",
              result.returncode == 0 and not result.stdout, result.stdout)
    for page in pages.all_pages():
        hidden = [text for language, text in pages.blocks(page)
                  if language in pages.SHELLS]
        report.ok(f"{page.name} shows commands in console blocks only",
                  not hidden, *hidden)
    shown = [command.text for command in pages.commands(pages.README)]
    for command in FIRST:
        report.ok(f"README.md shows {command}", command in shown, *shown)
    for target in LINK.findall(pages.README.read_text(encoding="utf-8")):
        name = "".join(target)
        report.ok(f"README.md: {name} exists", (paths.ROOT / name).exists())
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

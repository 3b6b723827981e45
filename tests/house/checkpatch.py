# SPDX-License-Identifier: GPL-2.0-or-later
"""Every C file passes checkpatch.pl of the QEMU it is built against."""

import os
import subprocess
import sys
from pathlib import Path

import tree
from zdlib import paths, tap

CHECKPATCH = Path(os.environ["QEMU_SOURCE"], "scripts/checkpatch.pl")


def main():
    """Report one result per file."""
    report = tap.Report()
    for file in tree.c_files():
        result = subprocess.run(
            ["perl", CHECKPATCH, "--no-tree", "--no-summary", "--terse",
             "--strict", "--file", file], cwd=paths.ROOT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        report.ok(str(file), result.returncode == 0 and not result.stdout,
                  result.stdout)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

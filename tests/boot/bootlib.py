# SPDX-License-Identifier: GPL-2.0-or-later
"""What the boot tests share: a test program, and drives of a machine."""

import sys
from pathlib import Path

from zdlib import fsys, tap, ui, vm

NAME = Path(sys.argv[0]).stem
VARIANT = "-".join(sys.argv[1:])
FOLDER = vm.VMS / "-".join(filter(None, (NAME, VARIANT)))

# POST takes a second or two; other tests may keep both cores busy.
POST = 60
MENU = 120
KERNEL = 240


def run(body):
    """Run a test program: body(report), then the plan and the exit code."""
    report = tap.Report()
    fsys.folder(FOLDER)
    try:
        body(report)
    except ui.Failure as err:
        report.ok("the test runs to its end", False, err, *err.details)
    sys.exit(report.end())


def name(what=""):
    """A name for a machine of this test."""
    return "-".join(filter(None, (NAME, VARIANT, what)))


def snapshot(node, file):
    """A raw image as drive @node that stays as it is."""
    return ["-drive", f"if=none,id={node},format=raw,snapshot=on,file={file}"]


def drive(node, file):
    """A raw image as drive @node."""
    return ["-drive", f"if=none,id={node},format=raw,file={file}"]


def sparse(what, size):
    """An empty image of @size bytes in the folder of this test."""
    path = FOLDER / what
    path.unlink(missing_ok=True)
    with open(path, "wb") as file:
        file.truncate(size)
    return path

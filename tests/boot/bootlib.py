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

# Virtual time that does not depend on the host, with processors of 16 and of 4
# MIPS: the slower it is, the less has the host to do while the guest polls.
ICOUNT = ("-accel", "tcg", "-icount", "shift=6,sleep=off")
SLOW_ICOUNT = ("-accel", "tcg", "-icount", "shift=8,sleep=off")
# A boot sector.  Segments and stack; rdtsc, push both halves; eight hex digits
# of each by int 10h; halt with interrupts on, so that the console is flushed.
CLOCK = bytes.fromhex(
    "31c08ed88ed0bc007c" "0f3166526650" "bdfc7b" "b90800"
    "66c1460004" "8a4600240f3c0a7202042704 30" "b40ebb0700cd10" "e2e5"
    "83ed04" "81fdf87b" "73d9" "fb" "f4ebfd")


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


def clock():
    """A floppy that boots after the card's POST and tells the time."""
    path = FOLDER / "clock.img"
    path.write_bytes((CLOCK.ljust(510, b"\0") + b"\x55\xaa").ljust(
        1440 << 10, b"\0"))
    return ["-drive", f"if=none,id=clock,format=raw,file={path}",
            "-device", "isa-fdc", "-device", "floppy,drive=clock",
            "-boot", "order=a"]


def clock_seconds(guest):
    """Virtual time from power-on to clock()'s boot sector under icount."""
    found = guest.expect(r"Booting from Floppy...\s+([0-9a-f]{16})", MENU)
    return int(found[1], 16) / 1e9

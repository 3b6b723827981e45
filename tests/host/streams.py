# SPDX-License-Identifier: GPL-2.0-or-later
"""A migration stream is loaded by the same card only.

QEMU saves a card into a file; then others try to go on from there, each with
one thing changed, or with a stream in which one thing was changed.  A refusal
is one line that names it.
"""

import contextlib
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from zdlib import qmp, tap, vm

TIMEOUT = 60
POLL = 0.05
SAME = {"model": "cm84", "size": "64M", "serial": "ABC"}
# What is given differently, and the words of the refusal.
OTHERS = (
    ("another model", {"model": "rm84"}, "model cm84", "model rm84"),
    ("another number of SSDs", {"model": "cm88"}, "model cm84", "model cm88"),
    ("another size", {"size": "128M"}, "16777216 bytes per SSD",
     "33554432 bytes per SSD"),
    ("a drive instead of memory", {"drive": "disk"}, "data in memory",
     "data in one drive"),
    ("another serial number", {"serial": "XYZ"}, "serial number ABC0",
     "serial number XYZ0"),
    ("another firmware", {"firmware": "9.99"}, "firmware",
     "firmware 9.99"),
)
# The card's section: length of the name, name, instance, version.
SECTION = b"\x130000:00:04.0/zdrive"


@contextlib.contextmanager
def qemu(properties, *words):
    """A QEMU that stands still, with the card: the process and its monitor."""
    ours, theirs = socket.socketpair()
    command = [
        vm.QEMU, "-S", "-M", "q35", "-nodefaults", "-display", "none",
        "-m", "64", *vm.plugin(),
        "-blockdev", "driver=null-co,node-name=disk,size=67108864",
        *vm.card(bus="pcie.0", addr="4", **properties),
        "-chardev", f"socket,id=qmp,fd={theirs.fileno()}",
        "-mon", "chardev=qmp,mode=control", *words]
    with ours, subprocess.Popen(command, pass_fds=[theirs.fileno()],
                                text=True, stderr=subprocess.PIPE) as process:
        theirs.close()
        yield process, qmp.Qmp(ours)


def save(file):
    """Write the stream of the card."""
    with qemu(SAME) as (_, monitor):
        monitor.greet(TIMEOUT)
        monitor.ask("migrate", uri=f"exec:cat >{file}")
        while monitor.ask("query-migrate")["status"] != "completed":
            time.sleep(POLL)
        monitor.ask("quit")


def load(file, properties):
    """Exit code and messages of a QEMU that goes on from @file."""
    with qemu(properties, "-incoming", f"exec:cat {file}") as (process,
                                                               monitor):
        try:
            monitor.greet(TIMEOUT)
            while monitor.ask("query-status")["status"] == "inmigrate":
                time.sleep(POLL)
            monitor.ask("quit")
        except (OSError, qmp.Closed):
            # it has refused
            pass
        return process.wait(TIMEOUT), process.stderr.read()


def changed(data, offset, value):
    """@data with one byte of the card's section header changed."""
    at = data.index(SECTION) + len(SECTION) + offset
    return data[:at] + bytes([value]) + data[at + 1:]


def main():
    """Report one result per stream and card."""
    report = tap.Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stream = folder / "stream"
        save(stream)
        status, err = load(stream, SAME)
        report.ok("the same card goes on", status == 0 and not err, err)
        for what, properties, there, here in OTHERS:
            status, err = load(stream, {**SAME, **properties})
            lines = [line for line in err.splitlines()
                     if "the card in the stream has" in line]
            report.ok(f"{what} is refused",
                      status != 0 and len(lines) == 1 and there in lines[0]
                      and here in lines[0], err)
        data = stream.read_bytes()
        wrong = folder / "wrong"
        wrong.write_bytes(changed(data, 7, 2))
        status, err = load(wrong, SAME)
        report.ok("another version is refused",
                  status != 0 and "version 2" in err and "zdrive" in err, err)
        wrong.write_bytes(data[:data.index(SECTION) + 40])
        status, err = load(wrong, SAME)
        report.ok("a stream that breaks off is refused",
                  status != 0 and "zdrive" in err, err)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

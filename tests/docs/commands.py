# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command that README and docs show works as it is written.

    commands.py README.md | docs

The commands of a page run under bash, in order, in a folder that looks like
the root of the checkout, and print what the page shows below them.  What does
not end by itself is helped:

    qemu-system-x86_64  without a kernel or a monitor is started paused, with
                        all its devices, and quit once it is complete
    scripts/zdrive run  too; those of README boot, and end with `exit`
    scripts/zdrive test is what runs here; its words are parsed

bzImage and initrd.img stand for the reader's own kernel; see own_kernel().
"""

import contextlib
import itertools
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent import futures
from pathlib import Path

import pages
from zdlib import apt, cli, cpio, kernel, paths, qmp, tap, testrun

TIMEOUT = 280
SHOWN_LINES = 40
QEMU = "qemu-system-x86_64"
# QEMU with one of these ends by itself: help, a monitor or a kernel ends it.
ENDS = re.compile(r"\s-kernel\s|\s-monitor\s|\shelp\b|,help\b|--version")
RUN = "scripts/zdrive run"
RUN_ENDS = re.compile(r"\s--(help|print)\b")
PROMPT = b"zdrive:~# "

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()].|\r|\x08")
# What the kernel says on a guest's console, at any moment.
KERNEL = re.compile(r"\[ *\d+\.\d{6}\] .*\n?")
PANIC = b"end Kernel panic"
# A page that shows an error shows a command that fails.
ERROR = re.compile(r"^(?:qemu-system-x86_64|zdrive): ", re.MULTILINE)

# Loads what a kernel with mvsas built in has, waits for the SSDs, ends.
INIT = """\
#!/bin/busybox sh
bb=/bin/busybox
$bb mkdir /proc /sys
$bb mount -t proc none /proc
$bb mount -t sysfs none /sys
while read -r module; do
    $bb insmod "/modules/$module"
done </modules/order
wanted=$($bb grep -hE '0x10[48]4' /sys/bus/pci/devices/*/device |
         $bb head -n 1 | $bb sed 's/0x10\\(.\\)4/\\1/')
while [ "$($bb ls -d /sys/block/sd* | $bb wc -l)" -lt "$wanted" ]; do
    $bb sleep 1
done 2>/dev/null
$bb poweroff -f
"""


def own_kernel(folder):
    """Put a kernel and an initrd with mvsas into @folder."""
    stock = kernel.get()
    (folder / "bzImage").symlink_to(stock.vmlinuz)
    deb, = apt.download(["busybox-static"])
    subprocess.run(["dpkg-deb", "-x", deb, folder / ".busybox"], check=True)
    busybox, = (folder / ".busybox").glob("**/bin/busybox")
    shown = subprocess.run(
        ["/sbin/modprobe", "--show-depends", "-d", stock.root,
         "-S", stock.release, "-a", "mvsas", "sd_mod"],
        text=True, check=True, stdout=subprocess.PIPE).stdout
    files = [Path(line.split()[1])
             for line in dict.fromkeys(shown.splitlines())]
    archive = cpio.Archive()
    archive.add("bin/busybox", busybox.read_bytes(), 0o755)
    for file in files:
        archive.add(f"modules/{file.name}", file.read_bytes())
    archive.add("modules/order",
                "".join(f"{file.name}\n" for file in files).encode())
    archive.add("init", INIT.encode(), 0o755)
    archive.write(folder / "initrd.img")


def plain(output):
    """@output as lines of text, without what moves the cursor."""
    lines = ESCAPES.sub("", output).strip().splitlines()
    return "\n".join(map(str.rstrip, lines))


def looks_like(output, shown):
    """Whether @output is what the page has @shown."""
    pattern = re.escape(shown.strip()).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, output, re.DOTALL) is not None


class Reader:
    """Somebody who types the commands of one page."""

    def __init__(self, folder, boots):
        self.folder = folder
        self.boots = boots
        self._numbers = itertools.count()
        self._running = set()
        for entry in paths.ROOT.iterdir():
            (folder / entry.name).symlink_to(entry)
        own_kernel(folder)

    def type(self, command):
        """Run @command; what is wrong with it, or None."""
        text, end = command.text, None
        if text.startswith("scripts/zdrive test"):
            return self._parse(shlex.split(text))
        if text.startswith(RUN) and not RUN_ENDS.search(text):
            if self.boots:
                end = self._leave_guest
            else:
                text += "" if " -- " in text else " --"
                end = self._quit_machine
        elif QEMU in text and not ENDS.search(text):
            end = self._quit_machine
        code, output = self._run(text, end)
        if end == self._leave_guest:
            output = KERNEL.sub("", output)
        said = "\n".join(output.splitlines()[-SHOWN_LINES:])
        if bool(code) != bool(ERROR.search(command.output)):
            return f"exit {code}, it ends with\n{said}"
        if command.output and not looks_like(output, command.output):
            return f"not\n{command.output}\nbut in the end\n{said}"
        return None

    @staticmethod
    def _parse(words):
        try:
            suites = cli.parser().parse_args(words[1:]).suites
        except SystemExit:
            return "the command line refuses it"
        unknown = set(suites) - set(testrun.SUITES)
        return f"no suite {unknown}" if unknown else None

    def _run(self, text, end):
        """Run @text under bash; its exit code and its output."""
        number = next(self._numbers)
        log = self.folder / f".output{number}"
        with open(log, "wb") as output, \
             socket.socket(socket.AF_UNIX) as monitor:
            monitor.bind(str(self.folder / f".qmp{number}"))
            monitor.listen()
            monitor.settimeout(0.2)
            if end == self._quit_machine:
                text += f" -S -display none -qmp unix:.qmp{number}"
            with subprocess.Popen(
                    ["bash", "-c", text], cwd=self.folder, process_group=0,
                    stdin=subprocess.PIPE if end else subprocess.DEVNULL,
                    stdout=output, stderr=output) as process:
                self._running.add(process.pid)
                code = self._wait(process, end, monitor, log)
                self._running.discard(process.pid)
        return code, plain(log.read_text(errors="replace"))

    @staticmethod
    def _wait(process, end, monitor, log):
        """Help @process to its end; its exit code, or what hinders it."""
        deadline = time.monotonic() + TIMEOUT
        while process.poll() is None:
            if end and end(process, monitor, log):
                end = None
            if PANIC in log.read_bytes() or time.monotonic() > deadline:
                os.killpg(process.pid, signal.SIGKILL)
                return "panic or too late"
            time.sleep(0.1)
        return process.returncode

    @staticmethod
    def _quit_machine(_process, monitor, _log):
        """End QEMU once it has made all devices; whether it has."""
        try:
            connection, _ = monitor.accept()
        except TimeoutError:
            return False
        # A QEMU that refuses its devices hangs up; it has said why.
        with connection, contextlib.suppress(qmp.Closed, ConnectionError):
            machine = qmp.Qmp(connection)
            machine.greet(TIMEOUT)
            machine.ask("quit")
        return True

    @staticmethod
    def _leave_guest(process, _monitor, log):
        """Leave the shell of the guest once it is there."""
        there = PROMPT in log.read_bytes()
        if there:
            process.stdin.write(b"exit\n")
            process.stdin.flush()
        return there

    def kill(self, *_):
        """End everything at once: Meson gives up."""
        for pid in self._running:
            os.killpg(pid, signal.SIGKILL)
        os._exit(1)


def main(name):
    """Report one result per command of the page or folder @name."""
    report = tap.Report()
    wanted = paths.ROOT / name
    for page in pages.all_pages():
        found = pages.commands(page)
        if not found or wanted not in (page, page.parent) or (
                page == pages.README and wanted != page):
            continue
        with tempfile.TemporaryDirectory() as folder:
            boots = page == pages.README
            reader = Reader(Path(folder), boots)
            signal.signal(signal.SIGTERM, reader.kill)
            # Those of README take long, and none needs what another made.
            with futures.ThreadPoolExecutor(2 if boots else 1) as pool:
                problems = pool.map(reader.type, found)
            for command, problem in zip(found, problems):
                report.ok(f"{page.name}: {command.text.splitlines()[0]}"
                          .replace("#", ""), problem is None, problem)
    return report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

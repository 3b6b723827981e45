# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes wrong on a user's machine ends in one clear line.

Every case runs the real command line from a copy of scripts/, in the
situation itself: without network in a network namespace of its own, without
disk space on a small tmpfs, without root as `nobody`.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from zdlib import paths, qemusrc, tap

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
NO_NETWORK = ["unshare", "--net"]
TINY_MIB = 8
PYTHON = "/usr/bin/python3"
DPKG_STATUS = Path("/var/lib/dpkg/status")
INTERRUPTED = 130
POLL = 0.01


class Situation:
    """A checkout and a cache of their own, which a case then spoils."""

    def __init__(self, folder):
        self.folder = folder
        self.checkout = folder / "checkout"
        self.cache = folder / "cache"
        self.wrap = []
        self.env = {"XDG_CACHE_HOME": str(self.cache)}
        self.words = ["setup"]
        shutil.copytree(paths.ROOT / "scripts", self.checkout / "scripts",
                        ignore=shutil.ignore_patterns("__pycache__"))
        self.cache.mkdir()

    @property
    def command(self):
        """The command line that the case runs."""
        return [*self.wrap, self.checkout / "scripts/zdrive", *self.words]

    @property
    def environment(self):
        """Its environment."""
        return {**os.environ, **self.env}

    def start(self):
        """Start the command."""
        return subprocess.Popen(
            self.command, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    def as_nobody(self):
        """Run as a user who owns the checkout and the cache, but no more."""
        if os.geteuid() == 0:
            self.wrap = [*self.wrap, *NOBODY]
            for path in (self.folder, self.checkout, self.cache):
                os.chown(path, 65534, 65534)
        self.env["HOME"] = str(self.folder)

    def tiny_cache(self):
        """Put the cache on a small file system of its own.

        In a chroot the new namespace may share its mounts with the old one,
        so the file system is taken away again here, not left to its end.
        """
        self.wrap = ["unshare", "--mount", "--propagation", "unchanged",
                     "sh", "-c", f"mount -t tmpfs -o size={TINY_MIB}m tmpfs "
                     f'{self.cache} && {{ "$@"; code=$?; '
                     f"umount {self.cache}; exit $code; }}", "sh"]

    def dpkg(self, status):
        """Let dpkg believe that @status is what is installed."""
        folder = self.folder / "dpkg"
        (folder / "info").mkdir(parents=True)
        (folder / "updates").mkdir()
        (folder / "status").write_text(status, encoding="utf-8")
        self.env["DPKG_ADMINDIR"] = str(folder)

    def python(self, code):
        """Run Python @code of zdlib instead of a command."""
        module = self.checkout / "scripts/zdlib/__main__.py"
        module.write_text("import sys\nfrom zdlib import apt, qemusrc, ui\n"
                          f"sys.exit(ui.guard(lambda: {code}))\n",
                          encoding="utf-8")


def unknown_command(situation):
    """A command that does not exist."""
    situation.words = ["dmeo"]


def unknown_suite(situation):
    """A test suite that does not exist."""
    situation.words = ["test", "gest"]


def unknown_kernel(situation):
    """A kernel that Debian does not have."""
    situation.words = ["test", "--kernel", "squeeze", "guest"]


def image_for_run(situation):
    """An image where options of QEMU go."""
    situation.words = ["run", "card.img"]


def drive_is_folder(situation):
    """A folder as the card's image."""
    situation.words = ["run", "--drive", str(situation.folder)]


def drive_is_missing(situation):
    """An image that does not exist, and no size to make it."""
    situation.words = ["run", "--drive", str(situation.folder / "card.img")]


def wrong_size(situation):
    """A size that is no number."""
    situation.words = ["run", "--drive", str(situation.folder / "card.img"),
                       "--size", "big"]


def not_root(situation):
    """Packages are missing and the user may not install them."""
    situation.dpkg("")
    situation.as_nobody()


def no_python(situation):
    """Python is missing and the user may not install it."""
    situation.as_nobody()
    entry = situation.checkout / "scripts/zdrive"
    entry.write_text(entry.read_text(encoding="utf-8").replace(
        PYTHON, "/nonexistent/python3"), encoding="utf-8")


def read_only_cache(situation):
    """The cache folder cannot be written."""
    situation.as_nobody()
    os.chown(situation.cache, os.geteuid(), -1)
    situation.cache.chmod(0o555)


def read_only_checkout(situation):
    """The build folder cannot be made."""
    situation.as_nobody()
    os.chown(situation.checkout, os.geteuid(), -1)
    situation.checkout.chmod(0o555)


def no_network_lists(situation):
    """The network is missing from the beginning."""
    situation.wrap = NO_NETWORK


def no_network_download(situation):
    """The network is lost between the lists and a package."""
    situation.python("ui.say(apt.candidate('hello'))")
    subprocess.run(situation.command, env=situation.environment, check=True,
                   stdout=subprocess.DEVNULL)
    situation.python("apt.download(['hello'])")
    situation.wrap = NO_NETWORK


def no_space(situation):
    """The file system of the cache is too small."""
    situation.tiny_cache()


def no_source_version(situation):
    """The archive has moved on from the installed version."""
    situation.python("apt.source('qemu', '1:7.2+dfsg-0', qemusrc.UPGRADE)")


def no_package(situation):
    """A package that the archive does not have."""
    situation.python("apt.download(['no-such-package-zdrive'])")


def other_qemu(situation):
    """The binary in place is not that of the package."""
    status = DPKG_STATUS.read_text(encoding="utf-8")
    situation.dpkg(re.sub(
        rf"(^Package: {qemusrc.BINARY_PACKAGE}\n(?:.+\n)*?Version: ).*",
        r"\g<1>1:7.2+dfsg-0", status, flags=re.MULTILINE))


# What must be in the line: the problem and the remedy.
CASES = (
    (unknown_command, "invalid choice: 'dmeo'", "scripts/zdrive --help"),
    (unknown_suite, "there is no test suite gest", "choose from unit, "),
    (unknown_kernel, "there is no kernel squeeze", "choose from bookworm, "),
    (image_for_run, "card.img is no option of QEMU",
     "scripts/zdrive run --help"),
    (drive_is_folder, "is a folder", "a file in it"),
    (drive_is_missing, "there is no file", "add --size"),
    (wrong_size, "--size big", "16G"),
    (not_root, "not root", "apt-get install qemu-system-x86 "),
    (no_python, "python3 is missing", "apt-get install python3"),
    (read_only_cache, "cannot use folder", "set XDG_CACHE_HOME"),
    (read_only_checkout, "cannot use folder", "use a checkout"),
    (no_network_lists, "no network", "check the connection"),
    (no_network_download, "no network", "check the connection"),
    (no_space, "no disk space", "free 100 MiB in "),
    (no_source_version, "no source of qemu 1:7.2+dfsg-0, only 1:",
     "apt-get update && apt-get install --only-upgrade qemu-system-x86"),
    (no_package, "package no-such-package-zdrive does not exist",
     "/etc/apt"),
    (other_qemu, "is not the one of Debian's", "--reinstall"),
)


def fails_clearly(report, spoil, problem, remedy):
    """Report whether the case made by @spoil ends in its one line."""
    with tempfile.TemporaryDirectory() as name:
        situation = Situation(Path(name))
        spoil(situation)
        with situation.start() as process:
            output, errors = process.communicate()
    good = (process.returncode in (1, 2) and errors.count("\n") == 1 and
            errors.startswith("zdrive: ") and problem in errors and
            remedy in errors)
    report.ok(spoil.__doc__, good, process.returncode, errors, output)


def interrupted(report):
    """Report whether Ctrl-C ends a set-up in one line, nothing half done."""
    with tempfile.TemporaryDirectory() as name:
        situation = Situation(Path(name))
        with situation.start() as process:
            process.stdout.readline()       # the lists are there
            # and the sources are on their way
            while not any(path.is_file() for path in
                          situation.cache.glob("*/source/partial/*")):
                if process.poll() is not None:
                    break
                time.sleep(POLL)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate()
        cache = situation.cache / paths.CACHE.name
        left = [str(path) for path in cache.glob("qemu-*/*.done")]
    report.ok("an interrupt", process.returncode == INTERRUPTED and not left
              and errors.startswith("zdrive: interrupted") and
              errors.count("\n") == 1,
              process.returncode, errors, output, *left)


def interrupted_early(report):
    """Report whether Ctrl-C before the first line has no traceback either."""
    for delay in (0.05, 0.1, 0.15, 0.2, 0.3, 0.4):
        process = subprocess.Popen(
            [paths.ROOT / "scripts/zdrive", "--help"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        report.ok(f"an interrupt after {delay} s", "Traceback" not in errors,
                  process.returncode, errors)


def helps(report):
    """Report whether --help explains every command."""
    shown = subprocess.run([paths.ROOT / "scripts/zdrive", "--help"],
                           text=True, stdout=subprocess.PIPE, check=True
                           ).stdout
    for command in ("demo", "run", "test", "setup", "build"):
        report.ok(f"--help explains {command}",
                  re.search(rf"^    {command} +\w", shown, re.MULTILINE),
                  shown)


def main():
    """Report one result per case."""
    report = tap.Report()
    helps(report)
    for case in CASES:
        fails_clearly(report, *case)
    interrupted(report)
    interrupted_early(report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of scripts/zdrive and their help."""

import argparse
import sys

from zdlib import (bench, boot, build, demo, fsys, paths, powerloop, qemusrc,
                   run, testrun, ui)
from zdlib.crash import command as crash

EXAMPLES = """\
examples:
  scripts/zdrive demo            boot Debian's own kernel on the card
  scripts/zdrive run             an interactive guest with the card
  scripts/zdrive boot disk.img   boot a disk image as a card
  scripts/zdrive powerloop       pull the plug in mid-work, many times
  scripts/zdrive bench           how fast a card is, without a guest
  scripts/zdrive test            every test
  scripts/zdrive test unit house only the fast ones

Downloads, sources and headers are kept in $XDG_CACHE_HOME/qemu-zdrive (by
default ~/.cache/qemu-zdrive), everything else in build/.  Both may be deleted
at any time.  Every command prepares what it needs, can be interrupted, and
continues where it stopped.  Missing Debian packages are installed, which
needs root; once they are there, an ordinary user will do.
"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all others here."""

    def error(self, message):
        print(f"zdrive: {message}: see {self.prog} --help", file=sys.stderr)
        sys.exit(2)


def _setup(_args):
    qemusrc.headers()
    run.prepare()
    qemu = qemusrc.installed()
    ui.say(f"Ready for QEMU {qemu.version} ({qemu.pkgversion}).")


def _build(_args):
    ui.say(f"Built {build.module()}.")


def _add_setup(commands):
    commands.add_parser(
        "setup", help="install packages, prepare headers and guest",
        description="Install the Debian packages that are missing, fetch "
        "the source package of the installed QEMU and generate its headers, "
        "unpack Debian's kernel and pack the guest's tools."
    ).set_defaults(main=_setup)


def _add_build(commands):
    commands.add_parser(
        "build", help="set up and build build/zdrive.so",
        description="Do what setup does for QEMU, then build "
        "build/zdrive.so."
    ).set_defaults(main=_build)


def parser():
    """The command line, for running it and for the tests of the docs."""
    top = Parser(
        prog="scripts/zdrive",
        description="OCZ Z-Drive R4 cards for the QEMU that Debian ships.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(dest="command", required=True,
                                  metavar="COMMAND")
    for module in (demo, run, boot, powerloop, crash, testrun, bench):
        module.add_parser(commands)
    _add_setup(commands)
    _add_build(commands)
    return top


def _run(args):
    fsys.folder(paths.LOGS)
    return args.main(args)


def main(argv):
    """Run the command in @argv and return its exit code."""
    return ui.guard(_run, parser().parse_args(argv))

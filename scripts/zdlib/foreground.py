# SPDX-License-Identifier: GPL-2.0-or-later
"""What `run` and `boot` share: options, and becoming a QEMU at a terminal."""

import os
import shlex

from zdlib import ui, vm


def add_arguments(parser):
    """The options of a machine in the foreground."""
    parser.add_argument("--kvm", dest="accelerator", action="store_const",
                        const=vm.KVM, default=vm.TCG,
                        help="use KVM instead of emulating the processor")
    parser.add_argument("--print", action="store_true",
                        help="print the QEMU command instead of running it")
    parser.add_argument("qemu", nargs="*", metavar="-- QEMU ARGS",
                        help="further arguments for QEMU")


def check(args):
    """An image without an option would be a disk, but none of the card."""
    if args.qemu and not args.qemu[0].startswith("-"):
        ui.die(f"{args.qemu[0]} is no option of QEMU",
               f"see scripts/zdrive {args.command} --help")


def become(args, command, prepare=lambda: None):
    """Print the @command, or @prepare() and become it."""
    command = list(map(str, command))
    if args.print:
        ui.say(shlex.join(command))
        return
    prepare()
    os.execvp(command[0], command)

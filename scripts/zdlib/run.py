# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive run`: a person at the console of a guest with the card."""

import argparse
import os
import re
from pathlib import Path

from zdlib import apt, build, foreground, image, kernel, ui, vm

DESCRIPTION = """\
Boot Debian's own kernel in Debian's own QEMU with a Z-Drive R4 and give a
root shell on the serial console.  Without --drive the card's data is gone
when the guest ends.
"""

EXAMPLES = """\
examples:
  scripts/zdrive run --model rm84
  scripts/zdrive run --drive card.img --size 16G     keep the data
  scripts/zdrive run --kernel bookworm-backports     a newer kernel of Debian
  scripts/zdrive run --kernel ~/linux/arch/x86/boot/bzImage
                                                     your own kernel
  scripts/zdrive run -- -m 4G -nic user,model=virtio QEMU's own options
  scripts/zdrive run --print                         only show the command

Your own kernel needs these built in to reach the guest's tools: VIRTIO_PCI,
VIRTIO_BLK, SQUASHFS with LZ4, OVERLAY_FS, DEVTMPFS; and SCSI_MVSAS with
BLK_DEV_SD for the card.  Without the first four you get busybox, or bring an
--initrd of your own.
"""

LARGEST_FILE = 2 ** 63 - 1


def add_parser(commands):
    """Add `run` to the subcommands."""
    parser = commands.add_parser(
        "run", help="an interactive guest with the card",
        description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="cm88",
                        help="cm84, cm88 (default), rm84 or rm88")
    parser.add_argument("--size", help="bytes of the whole card, such as 16G "
                        "(default: the real card's capacity)")
    parser.add_argument("--drive", metavar="FILE", type=Path,
                        help="raw image that keeps the card's data; with "
                        "--size it is made if it does not exist")
    parser.add_argument("--kernel", metavar="VERSION|FILE", help="Debian's "
                        f"kernel series ({', '.join(kernel.SERIES)}; default "
                        f"{kernel.DEFAULT}) or release, or a bzImage")
    parser.add_argument("--initrd", metavar="FILE", type=Path,
                        help="initrd for your own kernel (default: ours)")
    parser.add_argument("--append", default="", metavar="WORDS",
                        help="more words for the kernel's command line")
    foreground.add_arguments(parser)
    parser.set_defaults(main=main)


def prepare():
    """Make the guest's images, and see that the host can look into an ext4."""
    apt.ensure(["e2fsprogs"])
    image.prepare(kernel.get())


def main(args):
    """Become QEMU."""
    foreground.check(args)
    size = _check_drive(args)
    build.module()
    foreground.become(args, _command(args), lambda: _make_drive(args, size))


def _own_kernel(name):
    """The path if @name is a file and not one of Debian's versions."""
    if name is None or (name and os.path.sep not in name and
                        not Path(name).exists()):
        return None
    if not Path(name).is_file():
        ui.die(f"there is no kernel {name or repr(name)}",
               "give the path of a bzImage")
    return Path(name)


def _command(args):
    own = _own_kernel(args.kernel)
    stock = kernel.get(None if own else args.kernel)
    images = image.prepare(stock)
    card = {"model": args.model}
    drive = []
    if args.size:
        card["size"] = args.size
    if args.drive:
        card["drive"] = "card"
        drive = vm.blockdev("card", args.drive.absolute(), discard="unmap")
    return [
        vm.QEMU, *vm.machine(accelerator=args.accelerator),
        *vm.plugin(),
        *vm.linux(own or stock.vmlinuz, args.initrd or images.initrd,
                  f"{vm.CONSOLE} {args.append}".strip()),
        *vm.disks(images), "-no-reboot", "-serial", "mon:stdio",
        *drive, *vm.root_port(), *vm.card(**card), *args.qemu]


def _bytes_of(size):
    """What QEMU takes for @size."""
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)([BKMGTPE]?)", size, re.IGNORECASE)
    if not parts:
        ui.die(f"--size {size} is no number of bytes", "give one like 16G")
    size = float(parts[1]) * 1024 ** "BKMGTPE".index(parts[2].upper() or "B")
    # more than that no file can have, and Python cannot say
    return int(min(size, LARGEST_FILE))


def _check_drive(args):
    """What would be wrong with the image; the size of a new one."""
    if args.drive and args.drive.is_dir():
        ui.die(f"{args.drive.absolute()} is a folder", "give the name of a "
               "file in it")
    if args.drive and not args.drive.exists() and not args.size:
        ui.die(f"there is no file {args.drive}", "add --size to make it")
    return None if args.size is None else _bytes_of(args.size)


def _make_drive(args, size):
    if not args.drive or args.drive.exists():
        return
    try:
        with args.drive.open("xb") as file:
            try:
                file.truncate(size)
            except OSError:
                args.drive.unlink()
                raise
    except OSError as error:
        ui.die(f"{args.drive} of {size} bytes cannot be made: "
               f"{error.strerror}", "give another name or another --size")

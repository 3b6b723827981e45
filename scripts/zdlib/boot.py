# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive boot`: a disk image boots as a card, from power-on."""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from zdlib import (bootimage, build, firmware, foreground, fsys, paths,
                   qemusrc, ui, vm)

DESCRIPTION = """\
Boot a disk image as a Z-Drive R4, by the card's own option ROM, with SeaBIOS
or OVMF and a serial console.  The card is the image: RAID-0 of its SSDs, or
with --members the first SSD.
"""

EXAMPLES = """\
examples:
  scripts/zdrive boot disk.img
  scripts/zdrive boot --uefi disk.qcow2
  scripts/zdrive boot                     an image that is made for it
  scripts/zdrive boot --snapshot disk.img the image stays as it is
  scripts/zdrive boot disk.img -- -m 4G -vga std -display gtk
                                          QEMU's own options

Without a screen the firmware uses the serial console: Ctrl-O enters the card's
setup, Esc the boot menu, Ctrl-A X ends.
"""

SECTOR = 512
CHUNK = 64 << 10
OVERLAYS = paths.BUILD / "boot"
ESP_TYPE = 0xEF
ESP_GUID = bootimage.GPT_TYPES["esp"].bytes_le


def add_parser(commands):
    """Add `boot` to the subcommands."""
    parser = commands.add_parser(
        "boot", help="boot a disk image as a card",
        description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", nargs="?", type=Path, help="raw or qcow2 "
                        "image (default: one with Debian's kernel)")
    parser.add_argument("--uefi", action="store_true",
                        help="with OVMF instead of SeaBIOS")
    parser.add_argument("--model", default="cm88",
                        help="cm84, cm88 (default), rm84 or rm88")
    parser.add_argument("--members", action="store_true", help="the image is "
                        "the first SSD, and the ROM shows each SSD")
    parser.add_argument("--snapshot", action="store_true",
                        help="throw away what the guest writes")
    foreground.add_arguments(parser)
    parser.set_defaults(main=main)


def main(args):
    """Become QEMU."""
    ssds = _ssds(args.model)
    foreground.check(args)
    build.module()
    if not args.image:
        args.image = bootimage.get(0 if args.members else ssds)
        args.snapshot = True
    image = _look_at(args.image)
    _need_boot_code(args.image, image["format"], args.uefi)
    foreground.become(args, _command(args, image, ssds))


def _ssds(model):
    if model not in ("cm84", "cm88", "rm84", "rm88"):
        ui.die(f"there is no model {model}", "it is cm84, cm88, rm84 or rm88")
    return int(model[-1])


def _look_at(path):
    if not path.is_file():
        ui.die(f"there is no image {path}", "give the path of a disk image")
    shown = subprocess.run(
        [qemusrc.QEMU_IMG, "info", "--output=json", path], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if shown.returncode:
        ui.die(f"{path} cannot be read", "see what qemu-img info says of it",
               shown.stderr.splitlines())
    return json.loads(shown.stdout)


def _head(path, kind, sectors):
    """The first @sectors of the image, as the guest sees them."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "head")
        subprocess.run(
            [qemusrc.QEMU_IMG, "dd", "-f", kind, "-O", "raw", f"bs={SECTOR}",
             f"count={sectors}", f"if={path}", f"of={out}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return out.read_bytes()


def _need_boot_code(path, kind, uefi):
    """Refuse an image that the firmware would only shrug at."""
    head = _head(path, kind, 34)
    if len(head) < SECTOR or head[510:512] != b"\x55\xaa":
        ui.die(f"{path} is not bootable (no boot sector)",
               "give the image of a whole disk with a system on it")
    types = [head[at] for at in range(0x1C2, 0x1FE, 16)]
    if uefi and ESP_GUID not in head[2 * SECTOR:] and ESP_TYPE not in types:
        ui.die(f"{path} has no EFI system partition",
               "boot it without --uefi")


def _fitting(args, image, ssds):
    """The image as the card needs it: its file and its format."""
    size = image["virtual-size"]
    step = SECTOR if args.members else ssds * CHUNK
    wanted = -(-size // step) * step
    if size == wanted:
        return args.image, image["format"]
    if not args.snapshot:
        ui.die(f"{args.image} has {size} bytes, a {args.model} takes a "
               f"multiple of {step}", f"qemu-img resize -f {image['format']} "
               f"{args.image} {wanted}, or add --snapshot")
    overlay = fsys.folder(OVERLAYS) / f"{args.image.stem}.qcow2"
    ui.run([qemusrc.QEMU_IMG, "create", "-q", "-f", "qcow2", "-b",
            args.image.absolute(), "-F", image["format"], overlay, wanted],
           "boot-overlay")
    return overlay, "qcow2"


def _command(args, image, ssds):
    file, kind = _fitting(args, image, ssds)
    snapshot = ",snapshot=on" if args.snapshot else ""
    drives = ["-drive", f"if=none,id=card,format={kind},discard=unmap,"
              f"file={str(file.absolute()).replace(',', ',,')}{snapshot}"]
    card = {"model": args.model, "bootindex": 0}
    if args.members:
        card |= {"rom_view": "members", "drive0": "card"}
        for number in range(1, ssds):
            card[f"drive{number}"] = f"ssd{number}"
            drives += ["-drive", f"if=none,id=ssd{number},driver=null-co,"
                       f"read-zeroes=on,size={image['virtual-size']}"]
    else:
        card["drive"] = "card"
    folder = fsys.folder(OVERLAYS)
    return [
        vm.QEMU, *vm.machine("q35" if args.uefi else "q35,graphics=off",
                             accelerator=args.accelerator),
        *vm.plugin(), *(firmware.uefi(folder) if args.uefi else []),
        "-serial", "mon:stdio", *drives, *vm.root_port(),
        *vm.card(**card), *args.qemu]

# SPDX-License-Identifier: GPL-2.0-or-later
"""GRUB's view of a card of 3.2 TB agrees with the host's.

    grub.py bios | uefi

Files below and across 2 TiB, plain sectors there and at the end are summed by
GRUB, through int 13h or BlockIo, and by the host in the image.
"""

import hashlib
import os
import random
import sys
import zlib

import bootlib
from zdlib import bootimage, console, ui, vm

SSDS = 8
SSD_SECTORS = 97696368 + 1953504 * (400 - 50)
SECTORS = SSD_SECTORS // 128 * 128 * SSDS
SECTOR = bootimage.SECTOR
# The fourth partition lies across 2 TiB, the fifth at the end.
FAR = (1 << 32) - 8192
FAR_MIB = 16
END = SECTORS - 4096
PROBES = ((4, FAR, 8188), (5, END, 2000))
PROBE_SECTORS = 8
FAR_FILE_BYTES = 4 << 20
HASH = r"((?:[0-9a-f]\n?){64})"


def far_part(folder):
    """An ext4 with one file; the file's SHA-256 too."""
    root = folder / "far"
    root.mkdir(exist_ok=True)
    data = random.Random(2).randbytes(FAR_FILE_BYTES)
    (root / "far").write_bytes(data)
    image = folder / "far.img"
    image.unlink(missing_ok=True)
    with open(image, "wb") as file:
        file.truncate(FAR_MIB << 20)
    ui.run(["/sbin/mke2fs", "-q", "-F", "-t", "ext4", "-L", "far", "-d", root,
            image], "boot-far")
    return image, hashlib.sha256(data).hexdigest()


def make():
    """The image of the whole card, sparse."""
    path = bootlib.sparse("volume.img", SSD_SECTORS * SSDS * SECTOR)
    image, total = far_part(bootlib.FOLDER)
    last = FAR + (FAR_MIB << 20) // SECTOR - 1
    with open(path, "r+b") as file:
        for at, source in ((0, bootimage.get(SSDS)), (FAR * SECTOR, image)):
            bootimage.copy(file, source, at)
        bootimage.write_gpt(file, SECTORS,
                            [*bootimage.PARTITIONS, ("linux", FAR, last),
                             ("linux", END, SECTORS - 64)])
        file.seek((END + 2000) * SECTOR)
        file.write(random.Random(3).randbytes(PROBE_SECTORS * SECTOR))
    return path, total


def sectors_sum(path, first, count):
    """SHA-256 of sectors in the image."""
    with open(path, "rb") as file:
        return hashlib.sha256(os.pread(file.fileno(), count * SECTOR,
                                       first * SECTOR)).hexdigest()


def body(report):
    """Ask GRUB, one command after the other."""
    path, far_sum = make()
    devices = [*bootlib.drive("d", path), *vm.root_port(),
               *vm.card(model="cm88", capacity_gb=3200, drive="d",
                        timing="off")]
    with console.Machine(bootlib.name(), devices,
                         uefi=sys.argv[1] == "uefi") as guest:
        guest.expect("Debian's kernel", bootlib.MENU)
        guest.read_for(0.5)
        guest.type("c")
        guest.expect("grub>", bootlib.MENU)

        def ask(command, pattern):
            guest.enter(command)
            found = guest.expect(pattern, bootlib.KERNEL)[1]
            guest.expect("grub>", bootlib.MENU)
            # the console wraps lines
            return found.replace("\n", "")

        size = ask("ls -l (hd0)", r"Total size\s+(\d+)KiB")
        report.ok("ls knows the size", int(size) == SECTORS // 2, size)
        found = ask("search --label far", r"^ ?(hd0,gpt4)")
        report.ok("search finds the file system past 2 TiB", found)
        found = ask("sha256sum (hd0,gpt4)/far", HASH)
        report.ok("a file past 2 TiB", found == far_sum, found)
        big = (random.Random(1).randbytes(bootimage.BIG_MIB << 20))
        found = ask("crc /boot/big", r"^([0-9a-f]{8}) ")
        report.ok("a file of 64 MiB",
                  found == f"{zlib.crc32(big):08x}", found)
        for number, first, at in PROBES:
            found = ask(f"sha256sum (hd0,gpt{number}){at}+{PROBE_SECTORS}",
                        HASH)
            report.ok(f"sectors from {first + at} on",
                      found == sectors_sum(path, first + at, PROBE_SECTORS),
                      found)
    path.unlink()


if __name__ == "__main__":
    bootlib.run(body)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The volume of the card: md RAID-0 of the SSDs with ext4, over a restart,
and as a plain ext4 image to the host.
"""

import hashlib
import subprocess
import tempfile
from pathlib import Path

import guestlib
from zdlib import vm

SIZE = 512 << 20

# Files of many sizes: Debian's own, and one that spans all chunks of a row.
WRITE = """
volume
mkfs.ext4 -q /dev/md0
mount /dev/md0 /mnt
cp -r /usr/lib/python3.11/json /usr/share/misc /mnt
head -c 20M /dev/urandom >/mnt/large
cd /mnt
find . -type f -print0 | sort -z | xargs -0 sha256sum
cd /
umount /mnt
"""
READ = """
volume
mount -o ro /dev/md0 /mnt
cd /mnt
find . -type f -print0 | sort -z | xargs -0 sha256sum
"""


def on_host(path):
    """The same list as READ makes, from the image."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        subprocess.run(["debugfs", "-R", f"rdump / {folder}", path],
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        files = sorted(file for file in Path(folder).rglob("*")
                       if file.is_file())
        return {f"./{file.relative_to(folder)}":
                hashlib.sha256(file.read_bytes()).hexdigest()
                for file in files}


def parse(text):
    """The output of sha256sum: path to sum."""
    return {path: total for total, path in
            (line.split(maxsplit=1) for line in text.splitlines())}


def body(report):
    """Write in one boot, read in the next, look from the host."""
    with guestlib.Image("volume", SIZE) as image:
        devices = [*vm.blockdev("volume", image.path), *vm.root_port(),
                   *vm.card(model="cm84", drive="volume")]
        with guestlib.guest(report, devices, "write") as machine:
            written = parse(machine.run(WRITE, timeout=180))
        report.ok("files were written", len(written) > 5, written)
        with guestlib.guest(report, devices, "read") as machine:
            read = parse(machine.run(READ, timeout=180))
        report.ok("they are the same after a restart", read == written,
                  written, read)
        checked = subprocess.run(["e2fsck", "-f", "-n", image.path],
                                 text=True, check=False,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        report.ok("to the host the image is a clean ext4",
                  checked.returncode == 0, checked.stdout)
        found = on_host(image.path)
        report.ok("with the same files", found == written, written, found)


guestlib.run(body)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the initramfs format (cpio "newc"), the same bytes every time.

The format is in Documentation/driver-api/early-userspace/buffer-format.rst
of the kernel.
"""

from pathlib import PurePosixPath

FOLDER = 0o040000
FILE = 0o100000
LINK = 0o120000


class Archive:
    """An archive that grows in memory until write()."""

    def __init__(self):
        self._folders = set()
        self._data = bytearray()
        self._inode = 0

    def _align(self, size):
        self._data += bytes(-len(self._data) % size)

    def _entry(self, name, mode, content):
        self._inode += 1
        name = name.encode() + b"\0"
        fields = (self._inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0,
                  len(name), 0)
        self._data += b"070701" + b"".join(b"%08X" % f for f in fields) + name
        self._align(4)
        self._data += content
        self._align(4)

    def _add(self, name, mode, content):
        for path in reversed(PurePosixPath(name).parents):
            if path.name and path not in self._folders:
                self._folders.add(path)
                self._entry(str(path), FOLDER | 0o755, b"")
        self._entry(name, mode, content)

    def add(self, name, content, mode=0o644):
        """Add a file; its folders come along."""
        self._add(name, FILE | mode, content)

    def link(self, name, target):
        """Add a symbolic link."""
        self._add(name, LINK | 0o777, target.encode())

    def write(self, path):
        """End the archive and write it to @path."""
        self._entry("TRAILER!!!", 0, b"")
        self._align(512)
        path.write_bytes(self._data)

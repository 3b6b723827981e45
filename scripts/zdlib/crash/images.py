# SPDX-License-Identifier: GPL-2.0-or-later
"""A state as an image, and the next one, and the next one.

Two sparse files hold the volume.  `settled` has what no later cut can take
away; nobody but this module sees it.  `image` is the same and, on top, what of
the writes at risk survives in the current state; between two states only the
runs that differ are written.

A checker may do to `image` whatever it likes: fsck repairs, mounting replays.
So after it nothing is taken for granted: both are compared, and what differs
is copied back.  (A clone of the file, where the file system can do that, waits
for the disk and takes longer.)
"""

import ctypes
import mmap
import os
import subprocess

from zdlib import ui
from zdlib.crash import states, volume
from zdlib.crash.history import PAGE_SECTORS
from zdlib.crash.journal import PAGE, SECTOR

BLOCK = 256 << 10
ZEROS = bytes(BLOCK)
# Zeros up to this size are written, more are made a hole.
MOST_ZEROS = 64 << 10
PUNCH = 0x03                        # FALLOC_FL_PUNCH_HOLE | _KEEP_SIZE
QCOW2 = b"QFI\xfb"

# What an unreadable page holds in an image, which cannot say "I/O error".
UNREADABLE = b"zdrive: this page is unreadable\n" * (PAGE // 32)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64,
                            ctypes.c_int64]
_libc.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                       ctypes.c_int, ctypes.c_int, ctypes.c_int64]
_libc.mmap.restype = ctypes.c_void_p
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def zero(fd, place, size):
    """Make a part of a file zero, without taking space where possible."""
    if size > MOST_ZEROS and not _libc.fallocate(fd, PUNCH, place, size):
        return
    for start in range(0, size, BLOCK):
        os.pwrite(fd, ZEROS[:min(BLOCK, size - start)], place + start)


def extents(fd, size):
    """The (start, end) of what a sparse file stores."""
    end = 0
    while end < size:
        try:
            start = os.lseek(fd, end, os.SEEK_DATA)
        except OSError:
            return
        end = min(os.lseek(fd, start, os.SEEK_HOLE), size)
        yield start, end


def copy(source, target, start, end):
    """Copy a part of a file to the same place of another."""
    while start < end:
        data = os.pread(source, min(BLOCK, end - start), start)
        if not data:
            return
        os.pwrite(target, data, start)
        start += len(data)


def raw_base(paths, card, folder):
    """The image at @paths as one raw file; made in @folder if it is not.

    Several paths are the SSDs of a card with a drive for each.
    """
    place = volume.Volume(card.ssds, card.sectors)
    paths = [_raw(path, folder) for path in paths]
    wanted = place.member if len(paths) > 1 else place.bytes
    if len(paths) not in (0, 1, card.ssds):
        ui.die(f"{len(paths)} images for {card.ssds} SSDs",
               "give the image of the card, or one of each SSD")
    for path in paths:
        size = os.stat(path).st_size
        if size < wanted:
            ui.die(f"{path} has {size} bytes, the journal is of {wanted}",
                   "give the image as it was when the recording began")
    if len(paths) == 1:
        return paths[0]
    base = os.path.join(folder, "base.img")
    with open(base, "wb") as file:
        file.truncate(place.bytes)
        for ssd, path in enumerate(paths):
            with open(path, "rb") as member:
                _add_member(file.fileno(), member.fileno(), place, ssd)
    return base


def _add_member(target, source, place, ssd):
    for start, end in extents(source, place.member):
        for where, size in place.pieces(ssd, start, end - start):
            os.pwrite(target, os.pread(source, size, start), where)
            start += size


def _raw(path, folder):
    with open(path, "rb") as file:
        if file.read(4) != QCOW2:
            return path
    raw = os.path.join(folder, f"{os.path.basename(path)}.raw")
    done = subprocess.run(["qemu-img", "convert", "-O", "raw", path, raw],
                          text=True, capture_output=True, check=False)
    if done.returncode:
        ui.die(f"{path} cannot be converted", done.stderr.strip())
    return raw


def _map(fd, size):
    """The address at which a file can be read."""
    address = _libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "cannot map an image")
    return address


def _overlay(first, second):
    """Yield (start, end, in first, in second) of two lists of extents."""
    edges = sorted([*((place, 0, change) for pair in first
                      for place, change in zip(pair, (1, -1))),
                    *((place, 1, change) for pair in second
                      for place, change in zip(pair, (1, -1)))])
    inside = [0, 0]
    before = 0
    for place, which, change in edges:
        if place > before and any(inside):
            yield before, place, bool(inside[0]), bool(inside[1])
        inside[which] += change
        before = place


class Images:
    """The two files, in a folder of their own."""

    def __init__(self, folder, base, card):
        self._volume = volume.Volume(card.ssds, card.sectors)
        self.path = os.path.join(folder, "card.img")
        settled = os.path.join(folder, "settled.img")
        self._settled = os.open(settled, os.O_RDWR | os.O_CREAT, 0o600)
        os.truncate(self._settled, self._volume.bytes)
        if base:
            with open(base, "rb") as file:
                for start, end in extents(file.fileno(), self._volume.bytes):
                    copy(file.fileno(), self._settled, start, end)
        self._image = None
        # where the two files are mapped, as long as they are compared
        self._maps = ()
        # what each run that was written holds: (first, last, parts)
        self._shown = {}
        self._renew()

    def close(self):
        """Close the files; they are gone with their folder."""
        self._unmap()
        for file in (self._settled, self._image):
            os.close(file)

    def _unmap(self):
        for address in self._maps:
            _libc.munmap(address, self._volume.bytes)
        self._maps = ()

    def _renew(self):
        """Make the image anew from what is settled."""
        self._unmap()
        if self._image is not None:
            os.close(self._image)
            if os.path.lexists(self.path):
                os.unlink(self.path)
        self._shown = {}
        self._image = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        os.truncate(self._image, self._volume.bytes)
        for start, end in extents(self._settled, self._volume.bytes):
            copy(self._settled, self._image, start, end)
        self._maps = tuple(_map(fd, self._volume.bytes)
                           for fd in (self._settled, self._image))

    # From state to state

    def settle(self, run, part):
        """@part can be lost no more; the image shows nothing but that."""
        for target in (self._settled, self._image):
            self._put_part(target, run.ssd, run.first, run.last, part)

    def show(self, cut, state, changed=None):
        """Make the image that of @state.

        @changed: the commands that fare otherwise than in the state before,
        which was one of the same cut.
        """
        if changed is None:
            runs = cut.runs()
        else:
            runs = (run for command in changed for run in cut.runs_of(command))
        for run in runs:
            now = [(first, last, states.survivors(cut, state, run, first))
                   for first, last in states.pieces(state, run)]
            before = self._shown.get(run)
            if before == now:
                continue
            self._shown[run] = now
            for piece in now:
                if not before or piece not in before:
                    self._put_pages(run.ssd, *piece)

    def forget(self):
        """Let the image be what is settled: the cut is over."""
        for run, pieces in self._shown.items():
            if any(parts != () for _, _, parts in pieces):
                self._put_settled(run.ssd, run.first, run.last)
        self._shown = {}

    def _put_pages(self, ssd, first, last, parts):
        if parts is None:
            for page in range(first, last):
                self._put(self._image, ssd, page * PAGE, UNREADABLE)
            return
        if not parts or parts[0].lba > first * PAGE_SECTORS or \
           parts[0].end < last * PAGE_SECTORS:
            self._put_settled(ssd, first, last)
        for part in parts:
            self._put_part(self._image, ssd, first, last, part)

    def _put_part(self, target, ssd, first, last, part):
        lba = max(part.lba, first * PAGE_SECTORS)
        end = min(part.end, last * PAGE_SECTORS)
        if part.data is None:
            for place, size in self._volume.pieces(ssd, lba * SECTOR,
                                                   (end - lba) * SECTOR):
                zero(target, place, size)
        else:
            self._put(target, ssd, lba * SECTOR,
                      part.data[(lba - part.lba) * SECTOR:
                                (end - part.lba) * SECTOR])

    def _put(self, target, ssd, offset, data):
        done = 0
        for place, size in self._volume.pieces(
                ssd, offset, min(len(data), self._volume.member - offset)):
            os.pwrite(target, data[done:done + size], place)
            done += size

    def _put_settled(self, ssd, first, last):
        offset = first * PAGE
        end = min(last * PAGE, self._volume.member)
        for place, size in self._volume.pieces(ssd, offset, end - offset):
            data = os.pread(self._settled, min(size, BLOCK), place)
            if size <= BLOCK:
                os.pwrite(self._image, data, place)
            else:
                zero(self._image, place, size)
                self._copy_stored(place, place + size)

    def _copy_stored(self, start, end):
        while start < end:
            try:
                start = os.lseek(self._settled, start, os.SEEK_DATA)
            except OSError:
                return
            stop = min(os.lseek(self._settled, start, os.SEEK_HOLE), end)
            copy(self._settled, self._image, start, stop)
            start = stop

    # After a checker

    def restore(self):
        """Whatever was done to the image, make it what is settled."""
        if not self._is_ours():
            self._renew()
            return
        self._shown = {}
        ours, theirs = (list(extents(fd, self._volume.bytes))
                        for fd in (self._settled, self._image))
        for start, end, stored, used in _overlay(ours, theirs):
            if not stored:
                zero(self._image, start, end - start)
            elif not used:
                copy(self._settled, self._image, start, end)
            else:
                self._compare(start, end)

    def _compare(self, start, end):
        good, tried = self._maps
        while start < end:
            size = min(BLOCK, end - start)
            if _libc.memcmp(good + start, tried + start, size):
                os.pwrite(self._image, os.pread(self._settled, size, start),
                          start)
            start += size

    def _is_ours(self):
        """Whether the image is still the same file, and as long."""
        try:
            found = os.stat(self.path, follow_symlinks=False)
        except FileNotFoundError:
            return False
        ours = os.fstat(self._image)
        return (found.st_ino, found.st_dev, found.st_size) == \
            (ours.st_ino, ours.st_dev, self._volume.bytes)

    def keep(self, path):
        """Copy the image to @path, sparse."""
        size = self._volume.bytes
        with open(path, "wb") as file:
            file.truncate(size)
            for start, end in extents(self._image, size):
                copy(self._image, file.fileno(), start, end)

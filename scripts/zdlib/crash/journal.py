# SPDX-License-Identifier: GPL-2.0-or-later
"""The journal of a card, as hw/zdrive/media/journal.c writes it.

docs/crash-explorer.rst has the format.  A journal that ends in the middle of a
record, because QEMU was killed, is read up to its last whole one.
"""

import collections
import mmap
import struct
import zlib

from zdlib import ui

MAGIC = b"ZDJOURNL"
VERSION = 1
HEADER_BYTES = 128
HEADER = struct.Struct("<8sIIIIQII32s")
CAPACITOR = 1

RECORD = struct.Struct("<IIBBBxIQQ")
RANGE = struct.Struct("<QQ")
WRITE, FLUSH, TRIM, END, MARK, LOADED, CUT = range(1, 8)
NAMES = {WRITE: "write", FLUSH: "flush", TRIM: "trim", END: "end",
         MARK: "mark", LOADED: "loaded", CUT: "cut"}
THROUGH = 1
GOOD, ERROR, ABORTED = range(3)
ENDS = ("good", "error", "aborted")

SECTOR = 512
CHUNK = 65536
PAGE = 4096

Card = collections.namedtuple("Card", "model ssds sectors capacitor")
# @data is a view into the file; @count is sectors, ranges, or how it ended.
Record = collections.namedtuple("Record", "type flags ssd count id lba data")


def trim_ranges(record):
    """The (lba, sectors) of a trim."""
    return list(RANGE.iter_unpack(record.data))


class Journal:
    """A journal that is read: its card and its records."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            if size < HEADER_BYTES:
                ui.die(f"{path} is no journal of a card",
                       "record one with journal=FILE")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._view = memoryview(self._map)
        self.card = self._header()
        self.records = []
        self.bytes = HEADER_BYTES
        self._read(size)
        # what follows the last whole record
        self.lost_bytes = size - self.bytes

    def _header(self):
        header = self._view[:HEADER_BYTES]
        (magic, version, _, flags, ssds, sectors, chunk, page,
         model) = HEADER.unpack_from(header)
        if magic != MAGIC:
            ui.die(f"{self.path} is no journal of a card",
                   "record one with journal=FILE")
        if version != VERSION:
            ui.die(f"{self.path} has version {version}, not {VERSION}",
                   "use the scripts/zdrive that belongs to the zdrive.so "
                   "that wrote it")
        crc, = struct.unpack_from("<I", header, HEADER_BYTES - 4)
        if crc != zlib.crc32(header[:-4]) or (chunk, page) != (CHUNK, PAGE) \
           or not ssds or not sectors:
            ui.die(f"the header of {self.path} is damaged",
                   "record it again")
        return Card(model.rstrip(b"\0").decode("ascii", "replace"), ssds,
                    sectors, bool(flags & CAPACITOR))

    def _read(self, size):
        view = self._view
        while self.bytes + RECORD.size <= size:
            length, crc, *fields = RECORD.unpack_from(view, self.bytes)
            end = self.bytes + length
            if length < RECORD.size or end > size or \
               zlib.crc32(view[self.bytes + 8:end]) != crc:
                return
            record = Record(*fields, view[self.bytes + RECORD.size:end])
            if not self._plausible(record):
                return
            self.records.append(record)
            self.bytes = end

    def _plausible(self, record):
        """Whether the rest of the code can rely on @record."""
        kind, size = record.type, len(record.data)
        if kind not in NAMES or record.ssd >= self.card.ssds:
            return False
        if kind == WRITE:
            return size == record.count * SECTOR and record.count and \
                record.lba + record.count <= self.card.sectors
        if kind == TRIM:
            return size == record.count * RANGE.size and \
                all(lba + count <= self.card.sectors
                    for lba, count in trim_ranges(record))
        return True


class Writer:
    """A journal that is written: imports, and tests without a card."""

    def __init__(self, path, card):
        self._file = open(path, "wb")
        header = HEADER.pack(MAGIC, VERSION, HEADER_BYTES,
                             CAPACITOR if card.capacitor else 0, card.ssds,
                             card.sectors, CHUNK, PAGE,
                             card.model.encode("ascii")[:31])
        header = header.ljust(HEADER_BYTES - 4, b"\0")
        self._file.write(header + struct.pack("<I", zlib.crc32(header)))
        self._last_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def _put(self, kind, flags=0, ssd=0, count=0, number=0, lba=0, data=b""):
        record = RECORD.pack(RECORD.size + len(data), 0, kind, flags, ssd,
                             count, number, lba)[8:] + data
        self._file.write(struct.pack("<II", len(record) + 8,
                                     zlib.crc32(record)) + record)

    def _begin(self, *args, **words):
        self._last_id += 1
        self._put(*args, number=self._last_id, **words)
        return self._last_id

    def write(self, ssd, lba, data, through=False):
        """An SSD takes a write; return its number."""
        return self._begin(WRITE, THROUGH if through else 0, ssd,
                           len(data) // SECTOR, lba=lba, data=bytes(data))

    def flush(self, ssd):
        """An SSD takes a flush; return its number."""
        return self._begin(FLUSH, 0, ssd)

    def trim(self, ssd, ranges):
        """An SSD takes a trim of (lba, sectors); return its number."""
        return self._begin(TRIM, 0, ssd, len(ranges), data=b"".join(
            RANGE.pack(*each) for each in ranges))

    def end(self, ssd, number, how=GOOD):
        """Command @number of @ssd ends."""
        self._put(END, 0, ssd, how, number)

    def mark(self, text):
        """Give this moment a name."""
        self._put(MARK, data=text.encode())

    def loaded(self):
        """A snapshot was loaded."""
        self._put(LOADED)

    def cut(self):
        """The power was cut."""
        self._put(CUT)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The log format of the kernel's dm-log-writes and of QEMU's blklogwrites.

One sector with magic, version, number of entries and sector size; then for
each entry a sector with its header, in which the text of a mark follows, and
the data.  A discard has no data.  drivers/md/dm-log-writes.c defines it.
"""

import collections
import struct

from zdlib import ui
from zdlib.crash import journal as jn, volume

MAGIC = 0x6a736677736872
VERSION = 1
SUPER = struct.Struct("<QQQI")
ENTRY = struct.Struct("<QQQQ")
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
FLAGS = {FLUSH: "FLUSH", FUA: "FUA", DISCARD: "DISCARD", MARK: "MARK",
         16: "METADATA"}

# @place and @size in bytes of the device
Entry = collections.namedtuple("Entry", "place size flags data")


def read(path):
    """Yield the entries of the log at @path."""
    with open(path, "rb") as log:
        head = log.read(SUPER.size)
        if len(head) < SUPER.size or \
           SUPER.unpack(head)[:2] != (MAGIC, VERSION):
            ui.die(f"{path} is no log of dm-log-writes or blklogwrites",
                   "give the device or file that it logged to")
        _, _, count, sector = SUPER.unpack(head)
        if sector < jn.SECTOR or sector & (sector - 1):
            ui.die(f"{path} has sectors of {sector} bytes",
                   "give a log that is not damaged")
        log.seek(sector)
        for _ in range(count):
            header = log.read(sector)
            if len(header) < sector:
                ui.die(f"{path} ends before its last entry",
                       "give a log that is complete")
            where, sectors, flags, length = ENTRY.unpack_from(header)
            data = b""
            if flags & MARK:
                data = header[ENTRY.size:ENTRY.size + length]
            elif not flags & DISCARD:
                data = log.read(sectors * sector)
                if len(data) < sectors * sector:
                    ui.die(f"{path} ends before its last entry",
                           "give a log that is complete")
            yield Entry(where * sector, sectors * sector, flags, data)


class Writer:
    """A log that is written."""

    def __init__(self, path):
        self._file = open(path, "wb")
        self._file.seek(jn.SECTOR)
        self._count = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.seek(0)
        self._file.write(SUPER.pack(MAGIC, VERSION, self._count, jn.SECTOR)
                         .ljust(jn.SECTOR, b"\0"))
        self._file.close()

    def put(self, entry):
        """Append @entry."""
        self._count += 1
        inline = b""
        if entry.flags & MARK:
            inline = entry.data[:jn.SECTOR - ENTRY.size - 1]
        length = len(inline) if entry.flags & MARK else 0
        self._file.write((ENTRY.pack(
            entry.place // jn.SECTOR, entry.size // jn.SECTOR, entry.flags,
            length) + inline).ljust(jn.SECTOR, b"\0"))
        if not entry.flags & (MARK | DISCARD):
            self._file.write(entry.data)


# From a journal


def _entries_of(record, place):
    """What one write or trim is in volume order."""
    if record.type == jn.TRIM:
        for lba, sectors in jn.trim_ranges(record):
            for where, size in place.pieces(record.ssd, lba * jn.SECTOR,
                                            sectors * jn.SECTOR):
                yield Entry(where, size, DISCARD, b"")
        return
    done = 0
    flags = FUA if record.flags & jn.THROUGH else 0
    for where, size in place.pieces(record.ssd, record.lba * jn.SECTOR,
                                    len(record.data)):
        yield Entry(where, size, flags, record.data[done:done + size])
        done += size


def export(journal, path):
    """Write @journal as a log, in the order in which dm-log-writes has it.

    A write comes when it is durable: one that was written through when it has
    completed, any other before the first flush that covers it.  What no flush
    covers comes at the end.  So each flush is a state that has to be whole.
    """
    place = volume.Volume(journal.card.ssds, journal.card.sectors)
    running, flushes = {}, {}
    unflushed = [{} for _ in range(journal.card.ssds)]
    with Writer(path) as log:
        def put(record):
            unflushed[record.ssd].pop(record.id, None)
            for entry in _entries_of(record, place):
                log.put(entry)

        for record in journal.records:
            if record.type in (jn.WRITE, jn.TRIM):
                running[record.id] = record
            elif record.type == jn.FLUSH:
                flushes[record.id] = list(unflushed[record.ssd].values())
            elif record.type == jn.MARK:
                log.put(Entry(0, 0, MARK, bytes(record.data)))
            elif record.type == jn.END and record.count == jn.GOOD:
                if record.id in flushes:
                    for each in flushes.pop(record.id):
                        if each.id in unflushed[record.ssd]:
                            put(each)
                    log.put(Entry(0, 0, FLUSH, b""))
                elif record.id in running:
                    ended = running.pop(record.id)
                    unflushed[ended.ssd][ended.id] = ended
                    if ended.type == jn.WRITE and ended.flags & jn.THROUGH:
                        put(ended)
        for rest in unflushed:
            for record in list(rest.values()):
                put(record)


# To a journal


def import_log(path, target, card):
    """Write the log at @path as the journal @target of a @card."""
    place = volume.Volume(card.ssds, card.sectors)
    with jn.Writer(target, card) as out:
        for entry in read(path):
            if entry.flags & MARK:
                out.mark(entry.data.decode("utf-8", "replace"))
                continue
            if entry.place + entry.size > place.bytes:
                ui.die(f"{path} writes to byte {entry.place + entry.size}, "
                       f"the card has {place.bytes}",
                       "give the size of the logged device")
            # a flush that comes with data is done before it
            if entry.flags & FLUSH:
                numbers = [out.flush(ssd) for ssd in range(card.ssds)]
                for ssd, number in enumerate(numbers):
                    out.end(ssd, number)
            if entry.size:
                _import_data(out, entry, place)


def _import_data(out, entry, place):
    done = 0
    begun = []
    for ssd, offset, size in place.members(entry.place, entry.size):
        lba = offset // jn.SECTOR
        if entry.flags & DISCARD:
            number = out.trim(ssd, [(lba, size // jn.SECTOR)])
        else:
            number = out.write(ssd, lba, entry.data[done:done + size],
                               bool(entry.flags & FUA))
        begun.append((ssd, number))
        done += size
    for ssd, number in begun:
        out.end(ssd, number)

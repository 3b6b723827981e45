# SPDX-License-Identifier: GPL-2.0-or-later
"""Journals: a damaged one is read as far as it goes; as a dm-log-writes log
and back it is the same; an image shows of a state what the sectors say.

The expected images are made sector by sector, with chunks of the SSDs dealt
out as mdadm does, by code that shares nothing with what is tested but the
format.
"""

import importlib
import itertools
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from zdlib import tap, ui
from zdlib.crash import history, images, journal as jn, logwrites, states, \
    volume

SECTOR = 512
CHUNK_SECTORS = 128
HISTORIES = 40

oracle = importlib.import_module("crash-oracle")


# What is expected


def places(ssds, sectors):
    """The volume as a list of (SSD, sector), dealt out chunk by chunk."""
    order = []
    row = 0
    while row + CHUNK_SECTORS <= sectors and ssds > 1:
        for ssd in range(ssds):
            order += [(ssd, row + each) for each in range(CHUNK_SECTORS)]
        row += CHUNK_SECTORS
    for ssd in range(ssds):
        order += [(ssd, sector) for sector in range(row, sectors)]
    return order


def replay(path, size):
    """The images at each flush, and at the end, of a dm-log-writes log."""
    image = bytearray(size)
    shown = []
    with open(path, "rb") as log:
        magic, version, count, sector = struct.unpack("<QQQI", log.read(28))
        assert (magic, version) == (0x6a736677736872, 1)
        log.seek(sector)
        for _ in range(count):
            where, sectors, flags, length = struct.unpack(
                "<QQQQ", log.read(sector)[:32])
            if flags & 8:
                assert length < sector
            elif flags & 4:
                image[where * sector:(where + sectors) * sector] = \
                    bytes(sectors * sector)
            else:
                image[where * sector:(where + sectors) * sector] = \
                    log.read(sectors * sector)
            if flags & 1:
                shown.append(bytes(image))
    return [*shown, bytes(image)]


class Sectors:
    """A card as a dictionary of sectors."""

    def __init__(self, card):
        self._order = places(card.ssds, card.sectors)
        self.data = {}

    def put(self, ssd, lba, data):
        """Write @data."""
        for start in range(0, len(data), SECTOR):
            self.data[ssd, lba + start // SECTOR] = \
                bytes(data[start:start + SECTOR])

    def part(self, part, first, last):
        """Write what @part has for the pages from @first to before @last."""
        for sector in range(max(part.lba, first * 8), min(part.end, last * 8)):
            start = (sector - part.lba) * SECTOR
            self.put(part.command.ssd, sector, bytes(SECTOR)
                     if part.data is None else part.data[start:start + SECTOR])

    def volume(self):
        """All of it in volume order."""
        return b"".join(self.data.get(place, bytes(SECTOR))
                        for place in self._order)


# Journals to try


def random_journal(path, chance):
    """Write a journal with data; return its card."""
    card = jn.Card("cm84", chance.choice((1, 3, 4)),
                   chance.choice((300, 301, 1024)), chance.random() < 0.2)
    running = []
    with jn.Writer(path, card) as out:
        for _ in range(chance.randint(1, 40)):
            ssd = chance.randrange(card.ssds)
            first = chance.randrange(card.sectors)
            count = chance.randint(1, min(200, card.sectors - first))
            kind = chance.random()
            if running and kind < 0.45:
                out.end(*running.pop(chance.randrange(len(running))))
            elif kind < 0.8:
                running.append((ssd, out.write(
                    ssd, first, chance.randbytes(count * SECTOR),
                    chance.random() < 0.1)))
            elif kind < 0.85:
                running.append((ssd, out.trim(ssd, [(first, count)])))
            elif kind < 0.97:
                running.append((ssd, out.flush(ssd)))
            else:
                out.mark(f"mark {first}")
        while running and chance.random() < 0.9:
            out.end(*running.pop(0))
    return card


# Tests


def images_show(report, folder):
    """States as images, against sectors that are put down one by one."""
    wrong = []
    count = 0
    for number in range(HISTORIES):
        chance = random.Random(f"images/{number}")
        path = folder / "images.journal"
        card = random_journal(path, chance)
        base = Sectors(card)
        for ssd in range(card.ssds):
            base.put(ssd, 5, chance.randbytes(SECTOR * 70))
        raw = folder / "base.img"
        raw.write_bytes(base.volume())
        work = folder / f"work{number}"
        work.mkdir()
        shown = images.Images(str(work), str(raw), card)

        def settle(run, part):
            base.part(part, run.first, run.last)
            shown.settle(run, part)

        for cut in history.History(jn.Journal(path), settle).cuts():
            before = None
            for state in itertools.islice(states.candidates(
                    cut, number, 12, True), 12):
                changed = None
                if before and chance.random() < 0.5:
                    changed = [command for command in cut.pending
                               if command.id in (before.touched() |
                                                 state.touched())]
                elif before and chance.random() < 0.5:
                    # a checker that writes somewhere
                    with open(shown.path, "r+b") as file:
                        file.seek(chance.randrange(os.path.getsize(raw)))
                        file.write(b"spoiled")
                    os.truncate(shown.path, os.path.getsize(raw))
                    shown.restore()
                shown.show(cut, state, changed)
                before = state
                count += 1
                if Path(shown.path).read_bytes() != expected(
                        base, card, cut, state):
                    wrong.append(f"history {number} state {state.name}")
            shown.forget()
        shown.close()
    report.ok(f"{count} states as images", count and not wrong, *wrong[:5])


def expected(base, card, cut, state):
    """The volume in @state of @cut, on top of what is settled."""
    top = Sectors(card)
    top.data = dict(base.data)
    for run in cut.runs():
        for page in range(run.first, run.last):
            parts = states.survivors(cut, state, run, page)
            if parts is None:
                data = images.UNREADABLE
                data = data[:(min(card.sectors, page * 8 + 8) - page * 8)
                            * SECTOR]
                top.put(run.ssd, page * 8, data)
            for part in parts or ():
                top.part(part, page, page + 1)
    return top.volume()


def truncated(report, folder):
    """A journal that ends anywhere is read up to its last whole record."""
    path = folder / "whole.journal"
    random_journal(path, random.Random("truncated"))
    whole = jn.Journal(path)
    data = path.read_bytes()
    ends = list(itertools.accumulate(
        (jn.RECORD.size + len(record.data) for record in whole.records),
        initial=jn.HEADER_BYTES))
    good = True
    chance = random.Random(2)
    for size in {*ends, *(end + 1 for end in ends[:-1]),
                 *(chance.randrange(jn.HEADER_BYTES, len(data))
                   for _ in range(50))}:
        part = folder / "part.journal"
        part.write_bytes(data[:size])
        read = jn.Journal(part)
        known = max(end for end in ends if end <= size)
        good = good and len(read.records) == ends.index(known) and \
            read.lost_bytes == size - known
    report.ok("a journal that was cut off anywhere", good)
    flipped = bytearray(data)
    flipped[ends[3] + 20] ^= 1
    part.write_bytes(flipped)
    report.ok("a bit that has flipped ends it",
              len(jn.Journal(part).records) == 3)
    for what, at in (("magic", 0), ("version", 8), ("header", 24)):
        flipped = bytearray(data)
        flipped[at] ^= 1
        part.write_bytes(flipped)
        try:
            jn.Journal(part)
            failed = False
        except ui.Failure as err:
            failed = ": " in str(err)
        report.ok(f"a wrong {what} is refused", failed)


def ended(report, folder):
    """What is before a power cut or a loaded state is used, and no more."""
    path = folder / "ended.journal"
    card = jn.Card("cm84", 1, 64, False)
    for what in ("loaded", "cut"):
        with jn.Writer(path, card) as out:
            getattr(out, what)()
            out.end(0, out.write(0, 0, b"1" * 512))
            getattr(out, what)()
            out.end(0, out.write(0, 1, b"2" * 512, True))
        past = history.History(jn.Journal(path))
        pending = [[command.id for command in cut.pending]
                   for cut in past.cuts()]
        report.ok(f"'{what}' ends what is known",
                  pending == [[1]] and past.ended[0] == 3, pending)


def all_at_flushes(path, size):
    """The images that a journal has at the flushes, by its own rules."""
    whole = jn.Journal(path)
    place = volume.Volume(whole.card.ssds, whole.card.sectors)
    image = bytearray(size)
    for record in whole.records:
        if record.type in (jn.WRITE, jn.TRIM):
            extents = [(record.lba, bytes(record.data))] \
                if record.type == jn.WRITE else [
                    (lba, bytes(count * SECTOR))
                    for lba, count in jn.trim_ranges(record)]
            for lba, data in extents:
                done = 0
                for where, length in place.pieces(record.ssd, lba * SECTOR,
                                                  len(data)):
                    image[where:where + length] = data[done:done + length]
                    done += length
    return bytes(image)


def converted(report, folder):
    """To a log and back: the same writes, the same images at each flush."""
    same = whole = True
    for number in range(HISTORIES):
        path, log, back, again = (folder / name for name in (
            "a.journal", "a.log", "b.journal", "b.log"))
        card = random_journal(path, random.Random(f"log/{number}"))
        size = card.ssds * card.sectors * SECTOR
        logwrites.export(jn.Journal(path), log)
        logwrites.import_log(log, back, card)
        logwrites.export(jn.Journal(back), again)
        # a flush of the log is one of every SSD, one after the other
        same = same and set(replay(log, size)) <= set(replay(again, size))
        whole = whole and all_at_flushes(back, size) == replay(log, size)[-1]
    report.ok("export, import, export: no image is missing", same)
    report.ok("an imported journal ends where its log does", whole)


def durable_first(report, folder):
    """A write is in the log before the flush that covers it, no earlier."""
    path, log = folder / "order.journal", folder / "order.log"
    card = jn.Card("cm84", 1, 64, False)
    with jn.Writer(path, card) as out:
        one = out.write(0, 0, b"1" * 512)
        two = out.write(0, 1, b"2" * 512)
        out.end(0, one)
        flush = out.flush(0)
        out.end(0, two)
        out.end(0, flush)
        out.end(0, out.write(0, 2, b"3" * 512, True))
        out.mark("here")
    logwrites.export(jn.Journal(path), log)
    got = [(entry.data[:4], entry.flags) for entry in logwrites.read(log)]
    report.ok("the order is that of dm-log-writes", got == [
        (b"1111", 0), (b"", 1), (b"3333", 2), (b"here", 8), (b"2222", 0)],
        got)


def from_qemu(report, folder):
    """What QEMU's blklogwrites has logged becomes a journal of a card."""
    image, log = folder / "qemu.img", folder / "qemu.log"
    for path, size in ((image, 4 << 20), (log, 16 << 20)):
        with open(path, "wb") as file:
            file.truncate(size)
    chance = random.Random(3)
    words = []
    for number in range(60):
        place = 512 * chance.randrange(4000)
        size = 512 * chance.randint(1, 300)
        words += ["-c", chance.choice((
            f"write -P {number + 1} {place} {size}",
            f"write -f -P {number + 1} {place} {size}",
            f"write -z {place} {size}", f"discard {place} {size}", "flush"))]
    done = subprocess.run(
        ["qemu-io", "--image-opts", "driver=blklogwrites,file.driver=file,"
         f"file.filename={image},log.driver=file,log.filename={log},"
         "file.discard=unmap,log-super-update-interval=1", *words],
        text=True, capture_output=True, check=False)
    report.ok("qemu-io logs", done.returncode == 0, done.stderr)
    shown = replay(log, 4 << 20)
    report.ok("the replayer agrees with QEMU",
              shown[-1] == image.read_bytes())
    for ssds in (1, 4):
        path = folder / f"qemu{ssds}.journal"
        card = jn.Card("import", ssds, (4 << 20) // ssds // SECTOR, False)
        logwrites.import_log(log, path, card)
        work = folder / f"qemu{ssds}"
        work.mkdir()
        images_of = images.Images(str(work), None, card)
        for cut in history.History(jn.Journal(path),
                                   images_of.settle).cuts():
            images_of.show(cut, states.make(cut, "all"))
            last = Path(images_of.path).read_bytes()
            images_of.forget()
        report.ok(f"imported for {ssds} SSDs it ends in the same image",
                  last == image.read_bytes())


def main():
    """Everything, in a folder that is gone afterwards."""
    report = tap.Report()
    with tempfile.TemporaryDirectory() as name:
        for test in (images_show, truncated, ended, converted, durable_first,
                     from_qemu):
            test(report, Path(name))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

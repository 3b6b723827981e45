# SPDX-License-Identifier: GPL-2.0-or-later
"""A small program that keeps a number safe, with or without a mistake, and the
checker that reads what a crash leaves of it.

    crash-app.py write KIND JOURNAL     as if it had run on a card
    crash-app.py check IMAGE            exit 1 if the number is lost

Each change of the number goes to a log, then a commit record says that the
log is valid, then the number itself is changed in place.  The three lie in
different chunks, so on three SSDs.  After a crash the committed log is done
once more; so the number has to be whole wherever the power failed.
"""

import struct
import sys
import zlib

PAGE = 4096
CHUNK = 65536
SECTORS = 1024                  # of each SSD
SSDS = 4
CHANGES = 6
# Where log, commit record and number are: their chunks in the volume.
LOG, COMMIT, NUMBER = 0, 1, 2
VALUE_BYTES = 4 * PAGE          # a number that a page does not hold

KINDS = {
    "correct": "",
    "through": "commits with FUA instead of a flush",
    "no-flush": "never flushes",
    "log-not-flushed": "commits before the log is flushed",
    "other-ssd": "flushes the SSD of the commit record only",
    "flush-too-early": "flushes before the log's write has completed",
    "no-flush-at-end": "uses the log again before the number is flushed",
}


def value(count):
    """The number after @count changes: long, with a checksum."""
    body = struct.pack("<Q", count) * ((VALUE_BYTES - 8) // 8)
    return body + struct.pack("<Q", zlib.crc32(body))


def commit(count):
    """The commit record of change @count."""
    return struct.pack("<QQ", count, zlib.crc32(struct.pack("<Q", count))) \
        .ljust(PAGE, b"\0")


# Writing


class Card:
    """What the program sees of the card: commands, and when they end."""

    def __init__(self, out):
        self._out = out

    def write(self, chunk, data, through=False, wait=True):
        """Write @data to the beginning of @chunk."""
        number = self._out.write(chunk % SSDS, chunk // SSDS, data, through)
        if wait:
            self._out.end(chunk % SSDS, number)
        return chunk % SSDS, number

    def flush(self, *chunks):
        """Flush the SSDs of @chunks, at the same time."""
        running = [(chunk % SSDS, self._out.flush(chunk % SSDS))
                   for chunk in chunks]
        for each in running:
            self._out.end(*each)

    def end(self, running):
        """Wait for what write() has begun."""
        self._out.end(*running)


def change(card, kind, count):
    """Change the number to @count, with the mistake of @kind."""
    early = kind == "flush-too-early"
    running = card.write(LOG, value(count), wait=not early)
    if kind == "other-ssd":
        card.flush(COMMIT)
    elif kind not in ("no-flush", "log-not-flushed"):
        card.flush(LOG)
    if early:
        card.end(running)
    card.write(COMMIT, commit(count), through=kind == "through")
    if kind not in ("no-flush", "through"):
        card.flush(LOG, COMMIT)
    card.write(NUMBER, value(count))
    if kind not in ("no-flush", "no-flush-at-end"):
        card.flush(NUMBER)


def write(kind, path):
    """Record a run of the program of @kind."""
    from zdlib.crash import journal
    info = journal.Card("cm84", SSDS, SECTORS, False)
    with journal.Writer(path, info) as out:
        card = Card(out)
        card.write(LOG, value(0))
        card.write(NUMBER, value(0))
        card.flush(LOG, NUMBER)
        card.write(COMMIT, commit(0))
        card.flush(COMMIT)
        out.mark("begin")
        for count in range(1, CHANGES + 1):
            change(card, kind, count)


# Checking


def read_value(file, chunk):
    """The number in @chunk, or None when it is not whole."""
    file.seek(chunk * CHUNK)
    data = file.read(VALUE_BYTES)
    count, = struct.unpack_from("<Q", data)
    return count if data == value(count) else None


def check(path):
    """What a program does that starts after the crash."""
    with open(path, "rb") as file:
        file.seek(COMMIT * CHUNK)
        count, total = struct.unpack_from("<QQ", file.read(PAGE))
        if total != zlib.crc32(struct.pack("<Q", count)):
            return "no commit record"
        if read_value(file, LOG) == count:
            return None                 # is done once more
        number = read_value(file, NUMBER)
        if number is None or number < count:
            return f"change {count} is committed, the number is {number} " \
                   f"and the log {read_value(file, LOG)}"
    return None


def main(what, *args):
    """Write or check."""
    if what == "write":
        return write(*args)
    problem = check(*args)
    if problem:
        print(problem)
    return problem is not None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

# SPDX-License-Identifier: GPL-2.0-or-later
"""The states that the crash explorer enumerates are those that are legal.

The oracle knows nothing of cuts, runs, or what is settled.  It takes a moment
of a history, every set of writes that an SSD may have carried out by then and
every order that the history allows, lets each page go through its versions,
and takes those from the last durable one on.  For each of many random
histories the union of that over all moments has to be what is enumerated.

    crash-oracle.py [HISTORIES [SEED]]
"""

import collections
import itertools
import random
import sys

from zdlib import tap
from zdlib.crash import history, journal as jn, states

HISTORIES = 20000
PAGE_SECTORS = 8
PAGES = 2
# The enumeration is exhaustive up to this; no history here has more.
LIMIT = 1 << 14

Write = collections.namedtuple("Write", "id ssd first last accepted")


class Fake:
    """A journal in memory."""

    def __init__(self, ssds, capacitor):
        self.card = jn.Card("fake", ssds, PAGES * PAGE_SECTORS, capacitor)
        self.records = []

    def put(self, kind, number=0, ssd=0, lba=0, count=0, flags=0, data=b""):
        """Append a record."""
        self.records.append(jn.Record(kind, flags, ssd, count, number, lba,
                                      data))


def random_history(chance):
    """A history of a few commands on one or two SSDs."""
    journal = Fake(chance.choice((1, 1, 2)), chance.random() < 0.2)
    number = 0
    running = []
    for _ in range(chance.randint(2, 12)):
        if running and chance.random() < 0.55:
            which, ssd = running.pop(chance.randrange(len(running)))
            how = chance.choices((jn.GOOD, jn.ERROR, jn.ABORTED),
                                 (90, 5, 5))[0]
            journal.put(jn.END, which, ssd, count=how)
            continue
        number += 1
        ssd = chance.randrange(journal.card.ssds)
        running.append((number, ssd))
        if chance.random() < 0.3:
            journal.put(jn.FLUSH, number, ssd)
            continue
        if chance.random() < 0.5:
            first = PAGE_SECTORS * chance.randrange(PAGES)
            last = PAGE_SECTORS * chance.randint(first // PAGE_SECTORS + 1,
                                                 PAGES)
        else:
            first = chance.randrange(PAGES * PAGE_SECTORS)
            last = chance.randint(first + 1, PAGES * PAGE_SECTORS)
        if chance.random() < 0.2:
            journal.put(jn.TRIM, number, ssd, count=1,
                        data=jn.RANGE.pack(first, last - first))
        else:
            journal.put(jn.WRITE, number, ssd, first, last - first,
                        jn.THROUGH if chance.random() < 0.25 else 0)
    return journal


# The oracle


def page_contents(writes, ended, durable, page):
    """All that @page of one SSD may hold, sector by sector.

    @writes were accepted, @ended maps those that have completed to when, of
    them @durable are.
    """
    here = [write for write in writes
            if write.first < (page + 1) * PAGE_SECTORS and
            write.last > page * PAGE_SECTORS]
    sure = [write for write in here if write.id in ended]
    unsure = [write for write in here if write.id not in ended]
    found = set()
    for count in range(len(unsure) + 1):
        for done in itertools.combinations(unsure, count):
            _follow(frozenset(), [*sure, *done], ended,
                    {write.id for write in sure if write.id in durable},
                    page, found)
    return found


def _follow(have, left, ended, durable, page, found):
    """Let the page take on @left in every possible order, after @have."""
    if durable <= {write.id for write in have}:
        # no order but the sectors' own: the one accepted last wins
        sectors = [0] * PAGE_SECTORS
        for write in sorted(have, key=lambda write: write.accepted):
            for sector in range(PAGE_SECTORS):
                if write.first <= page * PAGE_SECTORS + sector < write.last:
                    sectors[sector] = write.id
        found.add(tuple(sectors))
    for write in left:
        # nothing that had completed before may still be to come
        if not any(other.id in ended and ended[other.id] < write.accepted
                   for other in left if other is not write):
            _follow(have | {write}, [other for other in left
                                     if other is not write],
                    ended, durable, page, found)


def legal(journal):
    """All states of the card, as tuples of the pages of all SSDs."""
    writes = [[] for _ in range(journal.card.ssds)]
    ended, durable, flushes, by_id = {}, set(), {}, {}
    found = set()

    def look():
        pages = [page_contents(writes[ssd], ended, durable, page)
                 for ssd in range(journal.card.ssds) for page in range(PAGES)]
        found.update(itertools.product(*pages))

    look()
    for when, record in enumerate(journal.records):
        if record.type in (jn.WRITE, jn.TRIM):
            first, count = ((record.lba, record.count)
                            if record.type == jn.WRITE
                            else jn.trim_ranges(record)[0])
            write = Write(record.id, record.ssd, first, first + count, when)
            writes[record.ssd].append(write)
            by_id[record.id] = record
        elif record.type == jn.FLUSH:
            flushes[record.id] = {write.id for write in writes[record.ssd]
                                  if write.id in ended}
        elif record.count == jn.GOOD:
            if record.id in flushes:
                durable |= flushes[record.id]
            else:
                ended[record.id] = when
                if journal.card.capacitor or \
                   by_id[record.id].flags & jn.THROUGH:
                    durable.add(record.id)
        look()
    return found


# What is tested


class Medium:
    """Takes what is settled, and shows a state on top of it."""

    def __init__(self, journal):
        self._ssds = journal.card.ssds
        self._settled = [[0] * PAGES * PAGE_SECTORS
                         for _ in range(self._ssds)]

    @staticmethod
    def _put(sectors, first, last, part):
        for sector in range(max(part.lba, first * PAGE_SECTORS),
                            min(part.end, last * PAGE_SECTORS)):
            sectors[sector] = part.command.id

    def settle(self, run, part):
        """No cut takes @part away any more."""
        self._put(self._settled[run.ssd], run.first, run.last, part)

    def show(self, cut, state):
        """The state as a tuple of pages."""
        shown = [list(sectors) for sectors in self._settled]
        for run in cut.runs():
            for first, last in states.pieces(state, run):
                for part in states.survivors(cut, state, run, first):
                    self._put(shown[run.ssd], first, last, part)
        return tuple(tuple(shown[ssd][page * PAGE_SECTORS:
                                      (page + 1) * PAGE_SECTORS])
                     for ssd in range(self._ssds) for page in range(PAGES))


def enumerated(journal):
    """The states that the explorer finds, from their names alone."""
    medium = Medium(journal)
    found = set()
    for cut in history.History(journal, medium.settle).cuts():
        for state in states.candidates(cut, 0, LIMIT, False):
            recipe = state.name.partition(":")[2]
            found.add(medium.show(cut, states.make(cut, recipe)))
    return found


def sampled(journal, seed):
    """A few states that were chosen by chance, and not all."""
    medium = Medium(journal)
    found = set()
    for cut in history.History(journal, medium.settle).cuts():
        for kind in ("all", "none", "last", f"random-{seed}-0",
                     f"torn-{seed}-0", f"torn-{seed}-1"):
            found.add(medium.show(cut, states.make(cut, kind)))
    return found


def explain(journal):
    """The records of a history, one a line."""
    return [f"{when} {jn.NAMES[record.type]} {record.id} ssd {record.ssd} "
            f"lba {record.lba} count {record.count} flags {record.flags}"
            for when, record in enumerate(journal.records)]


def main(histories=HISTORIES, seed=1):
    """Compare both over many histories; report the first that differs."""
    report = tap.Report()
    wrong = None
    count = 0
    for number in range(histories):
        journal = random_history(random.Random(f"{seed}/{number}"))
        right = legal(journal)
        mine = enumerated(journal)
        some = sampled(journal, number)
        count += len(right)
        if mine != right or not some <= right:
            wrong = (number, journal, mine - right, right - mine,
                     some - right)
            break
    report.ok(f"{histories} histories with {count} states agree",
              wrong is None, *([f"history {wrong[0]}", *explain(wrong[1]),
                                f"not legal: {wrong[2]}",
                                f"missing: {wrong[3]}",
                                f"not legal, by chance: {wrong[4]}"]
                               if wrong else []))
    return report.end()


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Which writes are durable when, and the moments to cut the power at.

Each SSD by itself follows these rules, in units of its 4 KiB pages:

* Without capacitors a write or trim is durable once a flush has completed that
  was issued after the write had; a write through the cache is when it has
  completed.  With capacitors everything is as soon as it has completed.
* A page is written as a whole: what makes one version of it durable also keeps
  what was in that version from before.
* Everything else may be lost, whatever was acknowledged, page by page; a page
  then holds any of its versions since the last durable one.
* Of two writes to the same sectors the one that was accepted later wins, if
  both survive.  A write that failed or was aborted may be there or not.

What was durable can only become more with time.  So of all moments between
two writes only the last one before something becomes durable counts: each
state of an earlier moment is also one of that.  These moments are the cuts.
"""

import bisect

from zdlib.crash import journal as jn

PAGE_SECTORS = jn.PAGE // jn.SECTOR


class Command:
    """A write or a trim that an SSD has accepted."""

    def __init__(self, record, accepted):
        self.id = record.id
        self.ssd = record.ssd
        self.through = bool(record.flags & jn.THROUGH)
        self.trim = record.type == jn.TRIM
        self.accepted = accepted
        self.completed = None
        self.durable = False
        self.parts = []
        self.pages = 0
        extents = ([(*each, None) for each in jn.trim_ranges(record)]
                   if self.trim else [(record.lba, record.count, record.data)])
        for lba, sectors, data in extents:
            if sectors:
                part = Part(self, lba, sectors, data, self.pages)
                self.parts.append(part)
                self.pages += part.last - part.first

    def before(self, other):
        """Whether this had completed when @other was accepted."""
        return self.completed is not None and self.completed < other.accepted


class Part:
    """One range of sectors that a command writes; @data None: zeros."""

    __slots__ = ("command", "lba", "end", "data", "first", "last", "base")

    def __init__(self, command, lba, sectors, data, base):
        self.command = command
        self.lba = lba
        self.end = lba + sectors
        self.data = data
        self.first = lba // PAGE_SECTORS
        self.last = -(-self.end // PAGE_SECTORS)
        # number of its first page among all pages of the command
        self.base = base


class Run:
    """Neighbouring pages of an SSD that the same unsettled writes touch."""

    __slots__ = ("ssd", "first", "last", "parts")

    def __init__(self, ssd, first, last, parts):
        self.ssd = ssd
        self.first = first
        self.last = last
        # in the order in which they were accepted
        self.parts = parts


class RunMap:
    """The runs of one SSD, sorted, without overlap."""

    def __init__(self, ssd, sectors):
        self.ssd = ssd
        self.sectors = sectors
        self._starts = []
        self.runs = []

    def _split(self, page):
        index = bisect.bisect_right(self._starts, page) - 1
        if index < 0:
            return
        run = self.runs[index]
        if run.first < page < run.last:
            self._insert(index + 1, Run(self.ssd, page, run.last,
                                        list(run.parts)))
            run.last = page

    def _insert(self, index, run):
        self._starts.insert(index, run.first)
        self.runs.insert(index, run)

    def covering(self, part):
        """The runs that @part touches, made to fit where it has edges."""
        return self.runs[bisect.bisect_left(self._starts, part.first):
                         bisect.bisect_left(self._starts, part.last)]

    def add(self, part):
        """@part is accepted."""
        # a page at its edge that it covers in part is a run of its own
        edges = {part.first, part.last}
        if part.lba % PAGE_SECTORS:
            edges.add(part.first + 1)
        if part.end % PAGE_SECTORS:
            edges.add(part.last - 1)
        edges = sorted(edges)
        for page in edges:
            self._split(page)
        for first, last in zip(edges, edges[1:]):
            self._add_between(part, first, last)

    def _add_between(self, part, first, last):
        index = bisect.bisect_left(self._starts, first)
        while first < last:
            if index == len(self.runs) or self.runs[index].first > first:
                end = last
                if index < len(self.runs):
                    end = min(last, self.runs[index].first)
                self._insert(index, Run(self.ssd, first, end, []))
            self.runs[index].parts.append(part)
            first = self.runs[index].last
            index += 1

    def remove(self, run):
        """Nothing in @run is unsettled any more."""
        index = bisect.bisect_left(self._starts, run.first)
        del self._starts[index], self.runs[index]

    def covers(self, part, run):
        """Whether @part leaves nothing of the pages of @run."""
        return part.lba <= run.first * PAGE_SECTORS and \
            part.end >= min(run.last * PAGE_SECTORS, self.sectors)


class Cut:
    """A moment at which the power may fail, with what is at risk then."""

    def __init__(self, number, position, pending, mark, past):
        self.number = number
        self.position = position        # before this record
        # commands that are not durable, in the order of their acceptance
        self.pending = pending
        self.mark = mark                # the last one before it, or None
        self._past = past

    def runs(self):
        """All runs with something at risk, SSD by SSD."""
        for pages in self._past.maps:
            yield from pages.runs

    def runs_of(self, command):
        """The runs that @command touches and that are still unsettled."""
        pages = self._past.maps[command.ssd]
        for part in command.parts:
            for run in pages.covering(part):
                if part in run.parts:
                    yield run

    def covers(self, part, run):
        """Whether @part replaces all of the pages of @run."""
        return self._past.maps[run.ssd].covers(part, run)

    def floor(self, run):
        """The parts of @run that no cut can take away."""
        return floor(run)


def floor(run):
    """What is durable in @run, by itself or in the page of a later write."""
    kept = [part for part in run.parts if part.command.durable]
    if kept:
        # the version that is durable holds what had completed before
        for part in reversed(run.parts):
            if part not in kept and any(
                    part.command.before(other.command) for other in kept):
                kept.append(part)
    return kept


class History:
    """Goes through a journal from cut to cut.

    @settle(run, part) is called for what no later cut can take away, in the
    order in which it has to be applied.
    """

    def __init__(self, journal, settle=lambda run, part: None):
        self._journal = journal
        self._settle = settle
        card = journal.card
        self.maps = [RunMap(ssd, card.sectors) for ssd in range(card.ssds)]
        self._capacitor = card.capacitor
        self._running = {}
        self._flushes = {}
        self._unflushed = [{} for _ in range(card.ssds)]
        self._pending = {}
        # something was accepted since the last cut, or ever
        self._new = self._any = False
        self._mark = None
        # why the journal is of no use from some record on
        self.ended = None

    def cuts(self):
        """Yield each Cut; it is valid until the next one."""
        number = 0
        for position, record in enumerate(self._journal.records):
            if record.type in (jn.LOADED, jn.CUT):
                if self._any:
                    self.ended = (position, record.type)
                    break
                continue
            durable = self._durable_by(record)
            if durable and self._new:
                yield self._cut(number, position)
                number += 1
            self._apply(position, record)
            for command in durable:
                self._make_durable(command)
        else:
            position = len(self._journal.records)
        if self._new or not number:
            yield self._cut(number, position)

    def _cut(self, number, position):
        self._new = False
        return Cut(number, position, list(self._pending.values()), self._mark,
                   self)

    def _durable_by(self, record):
        """The commands that @record makes durable."""
        if record.type != jn.END or record.count != jn.GOOD:
            return ()
        if record.id in self._flushes:
            return [command for command in self._flushes[record.id]
                    if not command.durable]
        command = self._running.get(record.id)
        if command and (command.through or self._capacitor):
            return [command]
        return ()

    def _apply(self, position, record):
        kind = record.type
        if kind in (jn.WRITE, jn.TRIM):
            command = Command(record, position)
            self._running[record.id] = self._pending[record.id] = command
            for part in command.parts:
                self.maps[record.ssd].add(part)
            self._new = self._any = True
        elif kind == jn.FLUSH:
            self._flushes[record.id] = list(
                self._unflushed[record.ssd].values())
        elif kind == jn.MARK:
            self._mark = bytes(record.data).decode("utf-8", "replace")
        elif kind == jn.END:
            self._flushes.pop(record.id, None)
            command = self._running.pop(record.id, None)
            if command and record.count == jn.GOOD:
                command.completed = position
                self._unflushed[record.ssd][command.id] = command

    def _make_durable(self, command):
        command.durable = True
        self._unflushed[command.ssd].pop(command.id, None)
        del self._pending[command.id]
        pages = self.maps[command.ssd]
        for part in command.parts:
            for run in pages.covering(part):
                self._settle_run(pages, run)

    def _settle_run(self, pages, run):
        parts = run.parts
        for index in range(len(parts) - 1, 0, -1):
            if parts[index].command.durable and \
               pages.covers(parts[index], run):
                del parts[:index]
                break
        kept = floor(run)
        while parts and parts[0] in kept:
            self._settle(run, parts.pop(0))
        if not parts:
            pages.remove(run)

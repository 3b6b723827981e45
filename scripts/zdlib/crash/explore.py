# SPDX-License-Identifier: GPL-2.0-or-later
"""Try the states of a plan: build each, check it, reduce what fails.

Each process walks through the journal by itself, with images of its own, and
tries its share of the states.  What it finds it sends to the one that reports.
"""

import collections
import multiprocessing
import os
import queue
import signal

from zdlib import ui
from zdlib.crash import history, images, minimise, states, volume
from zdlib.crash.journal import PAGE, SECTOR

# Checks that may be spent on one failing state.
BUDGET = 200
# How long to wait for a message before looking for who sends it.
PATIENCE = 2.0

Result = collections.namedtuple("Result", "name verdict")
# @lost describes the writes, @same: of a cause that was reported before
Cause = collections.namedtuple("Cause", "name found verdict lost mark same")
Failed = collections.namedtuple("Failed", "message details")


class Worker:
    """Tries states one after the other."""

    def __init__(self, journal, base, folder, checker, options):
        self._journal = journal
        self._images = images.Images(folder, base, journal.card)
        self._checker = checker
        self._options = options
        self._volume = volume.Volume(journal.card.ssds, journal.card.sectors)
        self._last = None
        # of the current cut: what is lost in the causes that are known
        self._causes = []
        self._reduced = 0

    def run(self, names, report):
        """Try the states @names, in the order of their cuts."""
        wanted = collections.defaultdict(list)
        for name in names:
            number, _, recipe = name.partition(":")
            wanted[int(number)].append((name, recipe))
        last = max(wanted, default=-1)
        past = history.History(self._journal, self._images.settle)
        for cut in past.cuts():
            self._causes = []
            for name, recipe in wanted.pop(cut.number, ()):
                self._try(cut, _make(cut, name, recipe), name, report)
            self._images.forget()
            self._last = None
            if cut.number >= last:
                break
        self._images.close()
        if wanted:
            ui.die(f"{min(wanted)} is no cut of this journal",
                   f"the last one is {cut.number}")

    def _try(self, cut, state, name, report):
        verdict = self._check(cut, state)
        if self._options.keep:
            self._keep(cut, state, name)
        report(Result(name, verdict))
        if verdict and not verdict.good:
            report(self._cause(cut, state, name, verdict))

    def _show(self, cut, state):
        changed = None
        if self._last:
            commands = {command.id: command for command in cut.pending}
            changed = [commands[number] for number in
                       (self._last.lost ^ state.lost) |
                       self._last.torn.keys() | self._last.bad.keys() |
                       state.torn.keys() | state.bad.keys()]
        self._images.show(cut, state, changed)
        self._last = state

    def _check(self, cut, state):
        self._show(cut, state)
        if not self._checker:
            return None
        verdict = self._checker.run(self._images.path, state.name,
                                    self._bad_places(cut, state))
        self._images.restore()
        self._last = None
        return verdict

    def _bad_places(self, cut, state):
        """Where the unreadable pages are, as OFFSET+BYTES of the volume."""
        found = []
        for command in cut.pending:
            for part in command.parts:
                for first, last in states.pages_of(
                        part, state.bad.get(command.id, ())):
                    found += self._volume.pieces(
                        command.ssd, first * PAGE, (last - first) * PAGE)
        return " ".join(f"{place}+{size}" for place, size in found)

    def _keep(self, cut, state, name):
        self._show(cut, state)
        os.makedirs(self._options.keep, exist_ok=True)
        self._images.keep(os.path.join(self._options.keep,
                                       f"{name.replace(':', '-')}.img"))

    # What fails

    def _cause(self, cut, state, name, verdict):
        lost = set(minimise.items(state))
        same = any(known <= lost for known in self._causes)
        small = state
        if not same and self._options.minimise and \
                self._reduced < self._options.failures:
            self._reduced += 1
            small = minimise.smallest(
                cut, state,
                lambda other: not self._check(cut, other).good, BUDGET)
            self._causes.append(set(minimise.items(small)))
        return Cause(small.name, name, verdict, self._describe(cut, small),
                     cut.mark, same)

    def _describe(self, cut, state):
        lines = []
        for command in cut.pending:
            word = ("lost" if command.id in state.lost else
                    "torn" if command.id in state.torn else
                    "unreadable" if command.id in state.bad else None)
            if word:
                lines.append(f"{word}: {describe(command, self._volume)}")
        return lines


def _make(cut, name, recipe):
    try:
        return states.make(cut, recipe)
    except ValueError as err:
        return ui.die(f"{name} is no state of this journal", str(err))


def describe(command, place):
    """One line on a write or a trim."""
    kind = "trim" if command.trim else "write"
    parts = ", ".join(f"sectors {part.lba} to {part.end - 1}"
                      for part in command.parts[:3])
    where = next(place.pieces(command.ssd, command.parts[0].lba * SECTOR,
                              SECTOR))[0] if command.parts else 0
    return (f"{kind} {command.id}, SSD {command.ssd}, {parts} (byte {where} "
            "of the card)")


def share(names, index, count):
    """Part @index (from 0) of @count parts of @names.

    Neighbours go to different parts, so that all take about as long.
    """
    return names[index::count]


def _next(results, processes):
    """The next message, unless a process was killed."""
    while True:
        try:
            return results.get(timeout=PATIENCE)
        except queue.Empty:
            for process in processes:
                if process.exitcode:
                    ui.die("a process of the exploration has ended "
                           f"(status {process.exitcode})",
                           "give it memory, or fewer --jobs, or --work DIR")


def several(jobs, make, names, folder, report):
    """Let @jobs processes try @names; @report(message) runs in this one."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()

    def work(index, path):
        # the parent ends this, and cleans up
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            make(path).run(share(names, index, jobs), results.put)
            results.put(None)
        except ui.Failure as err:
            results.put(Failed(str(err), err.details))
        except OSError as err:
            results.put(Failed(f"{err.filename or folder}: {err.strerror}",
                               ()))

    processes = []
    for index in range(jobs):
        path = os.path.join(folder, str(index))
        os.mkdir(path)
        processes.append(context.Process(target=work, args=(index, path),
                                         daemon=True))
    try:
        for process in processes:
            process.start()
        running = jobs
        while running:
            message = _next(results, processes)
            if message is None:
                running -= 1
            elif isinstance(message, Failed):
                raise ui.Failure(message.message, message.details)
            else:
                report(message)
        for process in processes:
            process.join()
    finally:
        for process in processes:
            if process.pid and process.is_alive():
                process.terminate()
                process.join()

# SPDX-License-Identifier: GPL-2.0-or-later
"""What may stand in a cell after a power cut, and whether it does.

The judge replays the plan of images/guest/power.  A cell holds one of its
versions: the last one that was durable, or one that came after it.  The guest
tells which steps were made durable; it cannot have gone further than to the
next step that would have had to tell.

What fio has written is verified by fio itself, as far as its verify state says
that it had come; there the judge only tells what must not be lost from what may
be.
"""

import base64
import collections
import importlib.machinery
import importlib.util
import json

from zdlib import image

UNREADABLE = "unreadable"

# One cell that holds what it must not.
Violation = collections.namedtuple("Violation", "cell found wanted")


def guest_program():
    """images/guest/power, for its plans."""
    loader = importlib.machinery.SourceFileLoader(
        "zdrive_guest_power", str(image.GUEST / "power"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _last(lines, marks):
    """The last step of each stream that the guest has told of."""
    steps = {}
    for line in lines:
        mark, *numbers = line.split()
        if mark in marks:
            stream, step = map(int, numbers)
            steps[stream] = step
    return steps


class Judge:
    """What is known of all cells of a workload, over all cycles.

    With @every each step is durable once it has ended, not only those that
    end with a flush: the SSDs have capacitors.
    """

    def __init__(self, kind, streams, every=False):
        self.kind = kind
        self.streams = streams
        self.every = every
        self._power = guest_program()
        self._base = {}         # cell: what it held after the last cut

    def told(self, lines):
        """The last durable step of each stream, by what the guest has said."""
        return _last(lines, "SW" if self.every else "S")

    @staticmethod
    def written(lines):
        """The last one that has ended."""
        return _last(lines, "SW")

    @staticmethod
    def proof(_lines):
        """What the guest has to know for its check, too."""
        return {}

    def _replay(self, seed, stream, told):
        """The versions of each cell that the steps of a stream have made,
        and how many of the first of them are out of date.
        """
        versions = collections.defaultdict(list)
        safe = collections.Counter()
        for number, step in enumerate(
                self._power.plan(self.kind, seed, stream), 1):
            for cell in step.cells:
                versions[cell].append([seed, number])
            if not (step.sync or self.every):
                continue
            if number > told:
                return versions, safe
            for cell in step.covers if step.sync else step.cells:
                safe[cell] = len(versions.get(cell, ()))

    def verdict(self, seed, told, written, found):
        """Judge @found (cell: what is there) after the cut of cycle @seed.

        @told has the last durable step of each stream, @written the last one
        that has ended.  Returns violations, the number of cells whose last
        version was written and not durable, of those that have lost it, and
        of those that cannot be read.
        """
        violations = []
        at_risk = lost = unreadable = 0
        known = {}
        for stream in range(self.streams):
            versions, safe = self._replay(seed, stream, told.get(stream, 0))
            ended = [seed, written.get(stream, 0)]
            known.update((cell, (chain, safe[cell], ended))
                         for cell, chain in versions.items())
        for cell, there in found.items():
            chain, durable, ended = known.get(cell, ((), 0, None))
            legal = [self._base.get(cell, 0), *chain][durable:]
            last = max((one for one in legal[1:] if one <= ended),
                       default=None)
            at_risk += last is not None
            if there == UNREADABLE:
                unreadable += 1
                good = len(legal) > 1 or there in legal
            else:
                good = there in legal
            if not good:
                violations.append(Violation(cell, there, legal))
            elif last is not None and there in legal:
                lost += legal.index(there) < legal.index(last)
            self._base[cell] = there
        return violations, at_risk, lost, unreadable


class FioJudge:
    """What must be of the writes of fio: all that have ended on the SSDs that
    it writes with O_DSYNC; with @every on the others as well.
    """

    def __init__(self, every=False):
        self.every = every
        self._power = guest_program()

    @staticmethod
    def proof(lines):
        """fio's verify states, if it had come to save them."""
        states = [json.loads(line.removeprefix("FIO "))
                  for line in lines if line.startswith("FIO ")]
        return {"states": states[0] if states else []}

    def written(self, lines):
        """How many writes have ended on each SSD."""
        states = map(base64.b64decode, self.proof(lines)["states"])
        return dict(enumerate(map(self._power.fio_completed, states)))

    def _durable(self, stream):
        return self.every or self._power.fio_synced(stream)

    def told(self, lines):
        """How many of them are durable."""
        return {stream: number
                for stream, number in self.written(lines).items()
                if self._durable(stream)}

    def verdict(self, _seed, _told, written, found):
        """As that of Judge; @found is fio's by SSD, and a write is a cell."""
        violations = []
        at_risk = lost = unreadable = 0
        for stream, number in written.items():
            fio = found.get(str(stream), {"checked": 0, "wrong": 0,
                                          "unreadable": 0, "first": None})
            unreadable += fio["unreadable"]
            what = f"ssd{stream}: {fio['wrong']} of {fio['checked']} writes"
            if fio["checked"] < number:
                violations.append(f"{what} that fio has looked at are wrong, "
                                  f"but {number} had ended")
            elif not self._durable(stream):
                at_risk += fio["checked"]
                lost += fio["wrong"]
            elif fio["wrong"]:
                violations.append(f"{what} are lost, the first at byte "
                                  f"{fio['first']}")
        return violations, at_risk, lost, unreadable

# SPDX-License-Identifier: GPL-2.0-or-later
"""What may stand in a cell after a power cut, and whether it does.

The judge replays the plan of images/guest/power.  A cell holds one of its
versions: the last one that was durable, or one that came after it.  The guest
tells which steps were made durable; it cannot have gone further than to the
next step that would have had to tell.
"""

import collections
import importlib.machinery
import importlib.util

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

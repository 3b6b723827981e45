# SPDX-License-Identifier: GPL-2.0-or-later
"""Which states of a journal are tried: a list of names.

The names depend on the journal and the options alone, so that many machines
can share the work without talking to each other.
"""

import collections

from zdlib import ui
from zdlib.crash import history, journal as jn, states

# Less than this of one cut says too little about it.
FEWEST_PER_CUT = 4

Plan = collections.namedtuple("Plan", "names cuts ended")


def make(journal, options):
    """The Plan for @journal.

    @options has most (states, 0: no limit), per_cut, seed, unreadable and
    after (a mark, or None).
    """
    start = _position_of(journal, options.after)
    past = history.History(journal)
    unreadable = options.unreadable and not journal.card.capacitor
    found = []
    cuts = 0
    for cut in past.cuts():
        if cut.position >= start:
            cuts += 1
            found.append([state.name for state in states.candidates(
                cut, options.seed, options.per_cut, unreadable)])
    return Plan(_limited(found, options.most), cuts, past.ended)


def _limited(found, most):
    """Up to @most names of the lists @found, the first ones of each first."""
    total = sum(map(len, found))
    if most and total > most:
        if len(found) * FEWEST_PER_CUT > most:
            # of neighbouring cuts the one that leaves most to chance
            count = max(most // FEWEST_PER_CUT, 1)
            edges = [index * len(found) // count for index in range(count + 1)]
            found = [max(found[start:end], key=len)
                     for start, end in zip(edges, edges[1:])]
        share = _share([len(names) for names in found], most)
        left = most - sum(min(len(names), share) for names in found)
        for index, names in enumerate(found):
            more = left > 0 and len(names) > share
            left -= more
            found[index] = names[:share + more]
    return [name for names in found for name in names]


def _share(lengths, most):
    """The largest number such that so many of each are not over @most."""
    share = 0
    while sum(min(length, share + 1) for length in lengths) <= most and \
            share < max(lengths):
        share += 1
    return share


def _position_of(journal, mark):
    if mark is None:
        return 0
    marks = []
    for position, record in enumerate(journal.records):
        if record.type == jn.MARK:
            marks.append(bytes(record.data).decode("utf-8", "replace"))
            if marks[-1] == mark:
                return position
    ui.die(f"there is no mark {mark} in {journal.path}",
           f"choose from {', '.join(dict.fromkeys(marks))}" if marks else
           "set one with qom-set CARD mark NAME")
    return None

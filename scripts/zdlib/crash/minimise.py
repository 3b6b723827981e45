# SPDX-License-Identifier: GPL-2.0-or-later
"""The fewest lost writes with which a state still fails.

Delta debugging (Zeller, Hildebrandt 2002): take away halves, quarters and so
on of what is lost as long as the rest fails.  In the end nothing can be taken
away by itself.
"""

from zdlib.crash import states


def items(state):
    """What is lost in @state, one entry for each write."""
    return ([("lost", number, None) for number in sorted(state.lost)] +
            [("torn", *each) for each in sorted(state.torn.items())] +
            [("bad", *each) for each in sorted(state.bad.items())])


def build(cut, some):
    """The state in which what @some says is lost."""
    pages = {"torn": {}, "bad": {}}
    for kind, number, intervals in some:
        if kind != "lost":
            pages[kind][number] = intervals
    return states.State(
        cut, [number for kind, number, _ in some if kind == "lost"],
        pages["torn"], pages["bad"], alias=None if some else "all")


def smallest(cut, state, fails, budget):
    """The smallest failing state below @state that @budget checks find.

    @fails(state) says whether a state fails; @state does.
    """
    some = items(state)
    left = [budget]

    def still(rest):
        left[0] -= 1
        return left[0] >= 0 and fails(build(cut, rest))

    if some and still([]):
        return build(cut, [])
    count = 2
    while len(some) > 1:
        step = -(-len(some) // count)
        groups = [some[start:start + step]
                  for start in range(0, len(some), step)]
        rests = [[item for item in some if item not in group]
                 for group in groups]
        found = next((group for group in groups if still(group)), None)
        if found:
            some, count = found, 2
            continue
        found = next((rest for rest in rests
                      if len(groups) > 2 and still(rest)), None)
        if found:
            some, count = found, max(count - 1, 2)
        elif count >= len(some):
            break
        else:
            count = min(2 * count, len(some))
    return build(cut, some)

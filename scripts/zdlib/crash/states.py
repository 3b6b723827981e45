# SPDX-License-Identifier: GPL-2.0-or-later
"""What a power cut may leave, each such state with a name.

A name is CUT:RECIPE, for example 17:none.  The recipe says which of the writes
that are at risk at that cut are lost; NUMBER is that of a write, as `scripts/
zdrive journal show` prints it, N counts in the order of acceptance.

    all               nothing is lost
    none              everything is
    last              all but the last one
    first-N           all but the first N
    without-NUMBER    that one
    only-NUMBER       all but that one
    tail-SSD-N        the last N of an SSD: the end of its map's journal
    ssd-SSD           all but those of an SSD
    random-SEED-N     some
    torn-SEED-N       some, and some pages of others
    lost=LIST         the list: 3,7-9 are writes, 15.2 page 2 (from 0) of
                      write 15, 15.2-4 several; 15.2! is unreadable
"""

import functools
import itertools
import math
import random
import re

# A state with more torn writes than this finds no more errors than another.
MOST_TORN = 3
LONGEST_LIST = 60
# A write of more pages loses an end or a beginning, not any pages.
MOST_MASKED = 64
MOST_ROUNDS = 4096

ITEM = re.compile(r"(\d+)(?:-(\d+)|\.(\d+)(?:-(\d+))?(!)?)?")


class State:
    """Which writes are lost: whole ones, pages of some, unreadable pages.

    Pages are intervals [first, last) in the numbering of a command's pages.
    """

    def __init__(self, cut, lost=(), torn=None, bad=None, alias=None):
        self.cut = cut.number
        self.lost = frozenset(lost)
        self.torn = {number: pages for number, pages in (torn or {}).items()
                     if number not in self.lost}
        self.bad = bad or {}
        self._alias = alias

    @property
    def key(self):
        """Equal for states that are spelled the same."""
        return (self.cut, self.lost, _frozen(self.torn), _frozen(self.bad))

    @functools.cached_property
    def name(self):
        """CUT:RECIPE, the recipe as a list if that is short."""
        recipe = self._alias
        if recipe not in ("all", "none"):
            listed = f"lost={','.join(self._items())}"
            if not recipe or len(listed) <= LONGEST_LIST:
                recipe = listed if listed != "lost=" else "all"
        return f"{self.cut}:{recipe}"

    def _items(self):
        for first, last in _ranges(sorted(self.lost)):
            yield f"{first}" if first == last else f"{first}-{last}"
        for pages, sign in ((self.torn, ""), (self.bad, "!")):
            for number, intervals in sorted(pages.items()):
                for first, last in intervals:
                    end = f"-{last - 1}" if last - first > 1 else ""
                    yield f"{number}.{first}{end}{sign}"

    def touched(self):
        """The commands that fare otherwise than in `all`."""
        return self.lost | self.torn.keys() | self.bad.keys()


def _frozen(pages):
    return frozenset((number, tuple(intervals))
                     for number, intervals in pages.items())


def _ranges(numbers):
    for _, group in itertools.groupby(
            enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in group]
        yield members[0], members[-1]


def pages_of(part, intervals):
    """@intervals of a command's pages as pages of the SSD, inside @part."""
    shift = part.first - part.base
    for first, last in intervals:
        first = max(first + shift, part.first)
        last = min(last + shift, part.last)
        if first < last:
            yield first, last


# What becomes of a run


def pieces(state, run):
    """The (first, last) into which @state tears @run."""
    edges = {run.first, run.last}
    for part in run.parts:
        for pages in (state.torn, state.bad):
            for interval in pages_of(part, pages.get(part.command.id, ())):
                edges.update(page for page in interval
                             if run.first < page < run.last)
    ordered = sorted(edges)
    return zip(ordered, ordered[1:])


def _is_in(page, part, intervals):
    return any(first <= page < last
               for first, last in pages_of(part, intervals))


def survivors(cut, state, run, page):
    """The parts that make up @page of @run, oldest first.

    None when it is unreadable.
    """
    def lost(part):
        number = part.command.id
        return number in state.lost or number in state.torn and _is_in(
            page, part, state.torn[number])

    if state.bad and any(part.command.id in state.bad and _is_in(
            page, part, state.bad[part.command.id]) for part in run.parts):
        return None
    return kept_parts(cut, run, lost)


def kept_parts(cut, run, lost):
    """The parts of @run that remain when those that are @lost(part) go.

    A durable one never goes.  One that replaces only some sectors of its page
    goes with any that was in that page before it.
    """
    safe = cut.floor(run)
    kept, gone = [], []
    for part in run.parts:
        whole = cut.covers(part, run)
        if part in safe:
            pass
        elif lost(part) or not whole and any(
                other.command.before(part.command) for other in gone):
            gone.append(part)
            continue
        if whole:
            kept, gone = [], []
        kept.append(part)
    return tuple(kept)


# Recipes


def make(cut, recipe):
    """The state that @recipe means at @cut; ValueError if it has none."""
    if recipe.startswith("lost="):
        return _from_list(cut, recipe.removeprefix("lost="))
    word, *values = recipe.split("-")
    maker = _MAKERS.get(word)
    if not maker:
        raise ValueError(f"{recipe} is no recipe")
    try:
        lost, torn = maker(cut, *map(int, values))
    except TypeError:
        raise ValueError(f"{recipe} has too few or too many numbers") from None
    return State(cut, lost, torn, alias=recipe)


def _without(numbers, some):
    some = set(some)
    return [number for number in numbers if number not in some]


def _numbers(cut):
    return [command.id for command in cut.pending]


def _of_ssd(cut, ssd):
    return [command.id for command in cut.pending if command.ssd == ssd]


def _chance(cut, word, seed, number):
    # a string, so that it is the same with every version of Python
    return random.Random(f"{seed}/{cut.number}/{word}/{number}")


def _random(cut, seed, number):
    chance = _chance(cut, "random", seed, number)
    share = chance.choice((0.1, 0.5, 0.9))
    return [command.id for command in cut.pending
            if chance.random() < share], {}


def _torn(cut, seed, number):
    chance = _chance(cut, "torn", seed, number)
    share = chance.choice((0, 0.1, 0.5, 0.9))
    lost = {command.id for command in cut.pending
            if chance.random() < share}
    wide = [command for command in cut.pending if command.pages > 1]
    torn = {}
    for _ in range(chance.randint(1, MOST_TORN)):
        if wide:
            command = chance.choice(wide)
            lost.discard(command.id)
            torn[command.id] = _tear(command.pages, chance)
    return lost, torn


def _tear(pages, chance):
    """Intervals of lost pages: an end, a beginning, or any pages."""
    kind = chance.randrange(3)
    if kind < 2 or pages > MOST_MASKED:
        edge = chance.randint(1, pages - 1)
        return ((edge, pages),) if kind else ((0, edge),)
    mask = chance.randrange(1, (1 << pages) - 1)
    return _intervals(page for page in range(pages) if mask >> page & 1)


def _intervals(pages):
    return tuple((first, last + 1) for first, last in _ranges(sorted(pages)))


# Each gives what is lost, and which pages of others.
_MAKERS = {
    "all": lambda cut: ((), {}),
    "none": lambda cut: (_numbers(cut), {}),
    "last": lambda cut: (_numbers(cut)[:-1], {}),
    "first": lambda cut, count: (_numbers(cut)[count:], {}),
    "without": lambda cut, number: ([number], {}),
    "only": lambda cut, number: (_without(_numbers(cut), [number]), {}),
    "tail": lambda cut, ssd, count: (_of_ssd(cut, ssd)[-count:], {}),
    "ssd": lambda cut, ssd: (_without(_numbers(cut), _of_ssd(cut, ssd)), {}),
    "random": _random,
    "torn": _torn,
}


def _from_list(cut, text):
    lost, torn, bad = set(), {}, {}
    commands = {command.id: command for command in cut.pending}
    for item in filter(None, text.split(",")):
        match = ITEM.fullmatch(item)
        if not match:
            raise ValueError(f"{item} is neither a write nor a page of one")
        number, last, first, end, sign = match.groups()
        number, last = int(number), int(last or number)
        some = [each for each in commands if number <= each <= last]
        if not some or first and int(end or first) >= commands[number].pages:
            raise ValueError(f"{item} is not at risk at that cut")
        if first is None:
            lost.update(some)
        else:
            pages = bad if sign else torn
            pages.setdefault(number, []).append(
                (int(first), int(end or first) + 1))
    return State(cut, lost, _sorted(torn), _sorted(bad))


def _sorted(pages):
    return {number: tuple(sorted(intervals))
            for number, intervals in pages.items()}


# Which of them


def candidates(cut, seed, limit, unreadable):
    """States of @cut, none twice, the most telling first, up to @limit.

    All that there are if these are no more.
    """
    # one state is enough where nothing is at risk
    if not cut.pending:
        yield State(cut, alias="all")
        return
    every = everything(cut, limit, unreadable)
    source = every if every is not None else _sampled(cut, seed, unreadable)
    seen = set()
    for state in source:
        if state.key not in seen:
            seen.add(state.key)
            yield state
        if len(seen) >= limit:
            return


def _sampled(cut, seed, unreadable):
    numbers = [command.id for command in cut.pending]
    ssds = sorted({command.ssd for command in cut.pending})
    yield make(cut, "none")
    yield make(cut, "all")
    yield make(cut, "last")
    kinds = [
        [f"first-{count}" for count in _spread(range(1, len(numbers)))],
        [f"without-{number}" for number in _spread(numbers)],
        [f"ssd-{ssd}" for ssd in ssds if len(ssds) > 1],
        [f"only-{number}" for number in _spread(numbers)],
        [f"tail-{ssd}-{1 << power}"
         for power in range(len(_of_ssd(cut, ssds[0])).bit_length() + 1)
         for ssd in ssds],
    ]
    tries = (f"{kind}-{seed}-{number}" for number in itertools.count()
             for kind in ("torn", "random"))
    lists = [iter(kind) for kind in kinds]
    # round by round one of each kind; chance alone would never end
    for _ in range(MOST_ROUNDS):
        for each in lists:
            recipe = next(each, None)
            if recipe:
                yield make(cut, recipe)
        state = make(cut, next(tries))
        if unreadable and state.lost:
            yield _with_bad(cut, state)
        yield state


def _spread(items):
    """@items, the first ones of the result far apart; some come twice."""
    items = list(items)
    step = 1 << len(items).bit_length()
    while step > 1:
        yield from items[step // 2::step]
        step //= 2
    yield from items


def _with_bad(cut, state):
    """@state, but a page of one lost write was being programmed."""
    chance = random.Random(f"{state.name}")
    number = chance.choice(sorted(state.lost))
    command = next(each for each in cut.pending if each.id == number)
    page = chance.randrange(command.pages)
    return State(cut, state.lost, state.torn,
                 {number: ((page, page + 1),)})


def everything(cut, limit, unreadable):
    """All states of @cut that differ; None if there are more than @limit."""
    choices = []
    product = 1
    for run in cut.runs():
        options = _options(cut, run, limit)
        if options is None:
            return None
        if len(options) == 1:
            continue
        if unreadable:
            # nothing lost comes first, everything last
            options.insert(1, None)
        for page in range(run.first, run.last):
            product *= len(options)
            if product > limit:
                return None
            choices.append([(run, page, option) for option in options])
    return _product(cut, choices, math.prod(map(len, choices)))


def _options(cut, run, limit):
    """What may become of a page of @run: the parts that are lost, for each.

    None if that is more than @limit.
    """
    safe = cut.floor(run)
    # part by part: what is kept and gone so far, and all that is lost for it
    ways = {((), ()): ()}
    for part in run.parts:
        whole = cut.covers(part, run)
        after = {}
        for (kept, gone), lost in ways.items():
            if part not in safe:
                after.setdefault((kept, (*gone, part)), (*lost, part))
            if whole:
                after.setdefault(((part,), ()), lost)
            elif part in safe or not any(
                    other.command.before(part.command) for other in gone):
                after.setdefault(((*kept, part), gone), lost)
        if len(after) > limit:
            return None
        ways = after
    options = {}
    for (kept, _), lost in ways.items():
        options[kept] = min(options.get(kept, lost), lost, key=len)
    return sorted(options.values(), key=len)


def _product(cut, choices, count):
    """All combinations: nothing lost, everything lost, then the others."""
    order = sorted(range(count), key=lambda number: (
        number not in (0, count - 1), number.bit_count(), number))
    for number in order:
        lost_pages, bad = {}, {}
        for options in choices:
            number, pick = divmod(number, len(options))
            run, page, parts = options[pick]
            if parts is None:
                safe = cut.floor(run)
                _add_page(bad, next(part for part in reversed(run.parts)
                                    if part not in safe), page)
            for part in parts or ():
                _add_page(lost_pages, part, page)
        yield _from_pages(cut, lost_pages, bad)


def _add_page(pages, part, page):
    pages.setdefault(part.command.id, set()).add(
        page - part.first + part.base)


def _from_pages(cut, lost_pages, bad):
    at_risk = _pages_at_risk(cut)
    lost, torn = [], {}
    for number, pages in lost_pages.items():
        if pages == at_risk[number]:
            lost.append(number)
        else:
            torn[number] = _intervals(pages)
    return State(cut, lost, torn, {number: _intervals(pages)
                                   for number, pages in bad.items()})


def _pages_at_risk(cut):
    found = {command.id: set() for command in cut.pending}
    for run in cut.runs():
        safe = cut.floor(run)
        for part in run.parts:
            if part not in safe:
                found[part.command.id].update(
                    page - part.first + part.base
                    for page in range(run.first, run.last))
    return found

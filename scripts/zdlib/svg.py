# SPDX-License-Identifier: GPL-2.0-or-later
"""Line charts as SVG, with nothing but the standard library."""

import dataclasses
import math
from html import escape

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 80, 200, 46, 56
COLOURS = ("#1f6fb4", "#d9601a", "#2b8a3e", "#9b2fae", "#7a5c2e", "#c2255c",
           "#0b8793", "#555555")
PIECES = 5


@dataclasses.dataclass(frozen=True)
class Axis:
    """One axis: its title, and whether it is logarithmic."""
    title: str
    log: bool = False
    zero: bool = True


def number(value):
    """@value in few characters: 1.5, 200, 64K, 2M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "K")):
        if abs(value) >= limit:
            scaled = value / (1e3 if unit == "K" else limit)
            return f"{scaled:.3g}{unit}"
    return f"{value:.4g}"


class Scale:
    """Values to positions, and the ticks between."""

    def __init__(self, axis, values, begin, end):
        low, high = min(values), max(values)
        self._log = axis.log
        self._begin, self._end = begin, end
        if axis.log:
            self._low = math.log2(low)
            self._high = max(math.log2(high), self._low + 1e-9)
            steps = range(math.floor(self._low), math.ceil(self._high) + 1)
            stride = max(1, math.ceil(len(steps) / 12))
            self.ticks = [2.0 ** step for step in steps[::stride]
                          if self._low - 1e-9 <= step <= self._high + 1e-9]
            return
        low = 0 if axis.zero else low
        step = 10 ** math.floor(math.log10(max(high - low, 1e-9) / PIECES))
        for factor in (1, 2, 5, 10):
            if (high - low) / (step * factor) <= PIECES + 1:
                step *= factor
                break
        self._low = math.floor(low / step) * step
        self._high = max(math.ceil(high / step) * step, self._low + step)
        count = round((self._high - self._low) / step)
        self.ticks = [self._low + step * i for i in range(count + 1)]

    def __call__(self, value):
        value = math.log2(value) if self._log else value
        share = (value - self._low) / (self._high - self._low)
        return self._begin + share * (self._end - self._begin)


def chart(title, x_axis, y_axis, series, dots=()):
    """The text of a chart; @series maps a name to a list of (x, y).

    Series that are named in @dots are drawn as points only.
    """
    points = [point for line in series.values() for point in line]
    x = Scale(x_axis, [point[0] for point in points], LEFT, WIDTH - RIGHT)
    y = Scale(y_axis, [point[1] for point in points], HEIGHT - BOTTOM, TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
           f'height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="24" font-size="15" font-weight="bold">'
           f'{escape(title)}</text>']
    for tick in x.ticks:
        out.append(f'<path d="M{x(tick):.1f} {TOP}V{HEIGHT - BOTTOM}" '
                   'stroke="#e4e4e4"/>'
                   f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" '
                   f'text-anchor="middle">{number(tick)}</text>')
    for tick in y.ticks:
        out.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" '
                   'stroke="#e4e4e4"/>'
                   f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" '
                   f'text-anchor="end">{number(tick)}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 14}" '
               f'text-anchor="middle">{escape(x_axis.title)}</text>')
    out.append(f'<text transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2}) '
               f'rotate(-90)" text-anchor="middle">{escape(y_axis.title)}'
               '</text>')
    for index, (name, line) in enumerate(series.items()):
        colour = COLOURS[index % len(COLOURS)]
        places = [(x(px), y(py)) for px, py in line]
        if name not in dots:
            path = "L".join(f"{px:.1f} {py:.1f}" for px, py in places)
            out.append(f'<path d="M{path}" fill="none" stroke="{colour}" '
                       'stroke-width="2"/>')
        if name in dots or len(places) <= 40:
            out += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" '
                    f'fill="{colour}"/>' for px, py in places]
        row = TOP + 14 + 20 * index
        out.append(f'<rect x="{WIDTH - RIGHT + 16}" y="{row - 9}" width="12" '
                   f'height="12" fill="{colour}"/>'
                   f'<text x="{WIDTH - RIGHT + 34}" y="{row + 2}">'
                   f'{escape(name)}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"

# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables and colours that fit the terminal they are printed on."""

import re

ESCAPE = re.compile(r"\033\[[0-9;]*m")


class Paint:
    """Colours and line drawing, as far as @stream can show them."""

    def __init__(self, stream):
        self._colours = stream.isatty()
        unicode = (stream.encoding or "").lower().startswith("utf")
        self.line = "─" if unicode else "-"

    def _colour(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self._colours else text

    def bold(self, text):
        """A heading."""
        return self._colour(1, text)

    def good(self, text, good):
        """A verdict, green or red."""
        return self._colour(32 if good else 31, text)


def size(count):
    """@count bytes in the largest unit that leaves a whole number."""
    unit = 0
    while count and count % 1024 == 0 and unit < 3:
        count //= 1024
        unit += 1
    return f"{count} {('B', 'KiB', 'MiB', 'GiB')[unit]}"


def _width(cell):
    return len(ESCAPE.sub("", cell))


def lines(header, rows, paint):
    """The lines of a table."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(header, *cells)]

    def line(row):
        return "  ".join(cell + " " * (width - _width(cell))
                         for cell, width in zip(row, widths)).rstrip()

    return [line(header), paint.line * (sum(widths) + 2 * len(widths) - 2),
            *map(line, cells)]

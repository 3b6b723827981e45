#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a command in a terminal and print what it shows as an SVG picture.

    docs/terminal.py COMMAND... >picture.svg

docs/demo.svg is what this makes of `scripts/zdrive demo`.
"""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from html import escape

COLUMNS, ROWS = 120, 60
FONT_SIZE, LINE_HEIGHT, MARGIN = 14, 19, 18
CHAR_WIDTH = FONT_SIZE * 0.602
BACKGROUND, FOREGROUND, PROMPT = "#15181e", "#d5d8de", "#7aa2f7"
STYLES = {"1": 'font-weight="bold" fill="#ffffff"', "31": 'fill="#f7768e"',
          "32": 'fill="#9ece6a"'}

SEQUENCE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


def record(command):
    """Run @command on a terminal of its own; what it has written there."""
    pid, terminal = pty.fork()
    if not pid:
        os.environ.update(LANG="C.UTF-8", TERM="xterm-256color")
        fcntl.ioctl(0, termios.TIOCSWINSZ,
                    struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execvp(command[0], command)
    data = b""
    while True:
        try:
            block = os.read(terminal, 65536)
        except OSError:         # the other end is closed
            break
        if not block:
            break
        data += block
    if os.waitpid(pid, 0)[1]:
        sys.exit(f"{' '.join(command)} failed:\n{data.decode()}")
    return data.decode()


def final(line):
    """What is left of @line once everything that overwrites it has."""
    return line.rstrip("\r").rpartition("\r")[2]


def runs(line):
    """The (style, text) parts of @line."""
    style, place = "", 0
    for match in SEQUENCE.finditer(line):
        if match.start() > place:
            yield style, line[place:match.start()]
        if match[2] == "m":
            style = STYLES.get(match[1], "")
        place = match.end()
    if place < len(line):
        yield style, line[place:]


def draw(command, text):
    """The picture: a prompt with @command and below it @text."""
    lines = [[(f'fill="{PROMPT}"', "$ "), ("", " ".join(command))]]
    lines += [list(runs(final(line))) for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    longest = max(sum(len(part) for _, part in line) for line in lines)
    width = MARGIN * 2 + longest * CHAR_WIDTH
    height = MARGIN * 2 + len(lines) * LINE_HEIGHT
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
           f'height="{height}" viewBox="0 0 {width:.0f} {height}">')
    yield f'<title>{escape(" ".join(command))}</title>'
    yield (f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>')
    yield ("<g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, "
           f'Consolas, monospace" font-size="{FONT_SIZE}" '
           f'fill="{FOREGROUND}" xml:space="preserve">')
    for number, line in enumerate(lines):
        column, y = 0, MARGIN + (number + 0.75) * LINE_HEIGHT
        for style, part in line:
            shown = part.strip(" ")
            start = column + len(part) - len(part.lstrip(" "))
            column += len(part)
            if shown:
                yield (f'<text x="{MARGIN + start * CHAR_WIDTH:.1f}" '
                       f'y="{y:.1f}" '
                       f'textLength="{len(shown) * CHAR_WIDTH:.1f}" {style}>'
                       f'{escape(shown)}</text>')
    yield "</g>\n</svg>"


def main(command):
    """Print the picture of @command."""
    if not command:
        sys.exit(__doc__)
    print("\n".join(draw(command, record(command))))


if __name__ == "__main__":
    main(sys.argv[1:])

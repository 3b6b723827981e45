# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages of the documentation, and the console blocks in them.

A console block holds commands after `$ `, each as a reader types it in the
root of the checkout, and below a command what it prints; `...` in that stands
for any text.  Blocks in another language are fragments that nobody runs.
"""

import dataclasses
import re
import textwrap

from zdlib import paths

README = paths.ROOT / "README.md"
DOCS = paths.ROOT / "docs"
BUILT = paths.BUILD / "docs"

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"^( *)\.\. code-block:: (\w+)\n\n"
                       r"((?:\1 +\S.*\n|\n)+)", re.MULTILINE)
# How else a page might show a command, without anybody running it.
SHELLS = {"", "sh", "shell", "bash", "session"}


@dataclasses.dataclass
class Command:
    """One command and the output that the page shows below it."""
    text: str
    output: str = ""


def all_pages():
    """The files of all pages, README first."""
    return [README, *sorted(DOCS.glob("*.rst"))]


def blocks(page):
    """The (language, text) of every block of @page."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        return FENCE.findall(text)
    return [(language, textwrap.dedent(body))
            for _, language, body in DIRECTIVE.findall(text)]


def commands(page):
    """The commands of @page, in order."""
    found = []
    for language, text in blocks(page):
        if language != "console":
            continue
        for line in text.strip().splitlines():
            if line.startswith("$ "):
                found.append(Command(line[2:]))
            elif found and found[-1].text.endswith("\\"):
                found[-1].text += f"\n{line}"
            else:
                found[-1].output += f"{line}\n"
    return found

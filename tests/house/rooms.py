# SPDX-License-Identifier: GPL-2.0-or-later
"""A room includes only what the plan of the house allows.

Data flows down from card to flash and store.  The table below is the plan;
what it does not name is an error, and so is a header between rooms that
belongs to none.
"""

import dataclasses
import re
import sys
from pathlib import Path

import tree
from zdlib import paths, tap

HOUSE = Path("hw/zdrive")
BETWEEN = Path("include/hw/zdrive")


@dataclasses.dataclass(frozen=True)
class Room:
    """What the files of one room may include besides their own headers."""
    rooms: tuple = ()
    qemu: bool = True


PLAN = {
    "plugin": Room(("card",)),
    "card": Room(("bridge", "disk", "media", "store", "catalog", "vca",
                  "flash")),
    "bridge": Room(("disk",)),
    "disk": Room(("media", "vca", "catalog")),
    "media": Room(("flash", "store")),
    "store": Room(),
    "catalog": Room(("flash",), qemu=False),
    "vca": Room(qemu=False),
    "flash": Room(qemu=False),
}

# Whose the headers between the rooms are.  The request travels through all
# rooms that know QEMU, as do the versions and trace points of the house.
OWNERS = {
    "catalog.h": "catalog",
    "fault.h": "disk",
    "flash.h": "flash",
    "link.h": "disk",
    "media.h": "media",
    "request.h": "qemu",
    "ssd.h": "disk",
    "store.h": "store",
    "text.h": "disk",
    "vca.h": "vca",
}
COMMON = {HOUSE / "compat.h": "qemu", HOUSE / "trace.h": "qemu"}

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)
# C11 and GLib: all that a room without QEMU needs.
PLAIN = re.compile(r"(assert|errno|float|inttypes|limits|math|stdalign|"
                   r"stdarg|stdbool|stddef|stdint|stdio|stdlib|string)\.h|"
                   r"glib\.h")


def room_of(file):
    """The room that @file, a path in the tree, belongs to."""
    if file in COMMON:
        return COMMON[file]
    if file.is_relative_to(BETWEEN):
        return OWNERS.get(file.name)
    below = file.relative_to(HOUSE).parts
    return below[0] if len(below) > 1 else "plugin"


def resolve(file, name):
    """The file of the house that @name means in @file, if any."""
    for folder in (paths.ROOT / file.parent, paths.ROOT / "include",
                   paths.ROOT, paths.ROOT / HOUSE):
        found = (folder / name).resolve()
        if found.is_file() and found.is_relative_to(paths.ROOT):
            return found.relative_to(paths.ROOT)
    return None


def complaint(file, quote, name):
    """Why @file may not include @name, or None."""
    owner = room_of(file)
    room = PLAN.get(owner, Room())
    target = resolve(file, name) if quote == '"' else None
    if target is None:
        if room.qemu or (quote == "<" and PLAIN.fullmatch(name)):
            return None
        return f"{owner}/ includes {name}, which is not C11 or GLib"
    other = room_of(target)
    allowed = {owner, *room.rooms} | ({"qemu"} if room.qemu else set())
    if other in allowed or owner == "qemu":
        return None
    return f"{owner}/ may not include {target} of {other}"


def main():
    """Report one result per C file of the house."""
    report = tap.Report()
    for file in tree.c_files():
        if not file.is_relative_to(HOUSE) and not file.is_relative_to(BETWEEN):
            continue
        owner = room_of(file)
        if owner not in PLAN and owner != "qemu":
            report.ok(str(file), False, "belongs to no room of the plan")
            continue
        complaints = [complaint(file, *include)
                      for include in INCLUDE.findall(tree.read(file))]
        report.ok(str(file), not any(complaints),
                  *filter(None, complaints))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

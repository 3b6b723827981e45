# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the pages are what the sources and the module say.

Rows are compared as sets of the columns that both sides have, so each
difference is named.
"""

import functools
import os
import re
import subprocess
import sys

import pages
from zdlib import paths, qemusrc, tap

HOUSE = paths.ROOT / "hw/zdrive"
PROTOCOLS = {"NON_DATA": "no data"}


def read(path):
    """The text of a file of the checkout."""
    return (paths.ROOT / path).read_text(encoding="utf-8")


def table(page, label):
    """The rows below @label of @page, as tuples of their columns' text."""
    lines = read(page).split(f".. _{label}:\n")[1].splitlines()
    bars = [number for number, line in enumerate(lines)
            if re.fullmatch(r"=+(  +=+)+", line)][:3]
    columns = [match.span() for match in re.finditer("=+", lines[bars[0]])]
    columns[-1] = (columns[-1][0], None)
    return [tuple(line[start:end].replace("``", "").strip()
                  for start, end in columns)
            for line in lines[bars[1] + 1:bars[2]] if line[:1] == "`"]


def defines(path):
    """The numbers that @path defines."""
    return {name: int(value, 0) for name, value in re.findall(
        r"#define (\w+)\s+(0x[0-9A-Fa-f]+|\d+)\b", read(path))}


def registers():
    """Offset, name and whether all bits are read-only, from core.c."""
    offsets = defines("hw/zdrive/bridge/mv94xx/regs.h")
    return {(f"0x{offsets[macro]:03X}", name) for macro, name in re.findall(
        r'R\((\w+)\)\s*= \{ "(\w+)"',
        read("hw/zdrive/bridge/mv94xx/core.c"))}


def symbols():
    """The names of mvsas that stand beside what regs.h defines."""
    return {name.removeprefix("MVS_") for comment in re.findall(
        r"^#define MV_.*?/\* (.*)", read("hw/zdrive/bridge/mv94xx/regs.h"),
        re.MULTILINE) for name in re.findall(
            r"\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]|disable_phy)\b", comment)
        if not re.match(r"MV_|SIG3$", name)}


def documented_symbols():
    """All names of such a kind in the reference."""
    return {name.removeprefix("MVS_") for name in
            re.findall(r"\b\w+\b", read("docs/bridge.rst"))}


def messages():
    """What is said of a driver's mistakes, # for numbers, ... for words."""
    found = set()
    for file in sorted(HOUSE.rglob("*.c")):
        text = file.read_text(encoding="utf-8")
        for call in re.findall(r'^ +mv_guest_error\([^"]*(".*?)\);$', text,
                               re.MULTILINE | re.DOTALL):
            words = "".join(re.findall(r'"([^"]*)"', call))
            found.add(re.sub(r"%[0-9]*[a-z]*(?<=[a-z%])",
                             lambda form: "..." if form[0] == "%s" else "#",
                             words))
    found |= set(re.findall(r'\[ZD_ATA_BAD_\w+\] = "([^"]+)"',
                            read("hw/zdrive/disk/ata/commands.c")))
    return found


def documented_messages():
    """The terms of the driver's guide."""
    text = read("docs/driver-guide.rst").split(".. _guest-errors:")[1]
    return set(re.findall(r"^``(.+)``$", text.split("\nTests without")[0],
                          re.MULTILINE))


def instructions():
    """Kind and bound of each command whose instructions are counted."""
    return {(kind, f"{int(bound):,}") for kind, bound in re.findall(
        r'^    "([\w-]+)": (\d+),$', read("tests/qtest/instructions.py"),
        re.MULTILINE)}


def ata_commands():
    """Code, name and protocol of each command."""
    return {(f"{code.upper()}h", name, PROTOCOLS.get(
        protocol, protocol.replace("_", " ").lower())) for
        code, name, protocol in re.findall(
            r'\[0x(\w\w)\] = \{ "([^"]+)",\s*ZD_ATA_(\w+)',
            read("hw/zdrive/disk/ata/commands.c"))}


@functools.cache
def profile_rows(profile):
    """The C of an SSD profile as the compiler sees its tables."""
    glib = subprocess.run(["pkg-config", "--cflags", "glib-2.0"], text=True,
                          check=True, stdout=subprocess.PIPE).stdout.split()
    return subprocess.run(
        ["cc", "-E", "-P", *glib, "-Iinclude", "-iquote", ".",
         f"hw/zdrive/catalog/{profile}.c"], text=True, check=True,
        cwd=paths.ROOT, stdout=subprocess.PIPE).stdout


def attributes(profile):
    """Id, flags, value and threshold of each SMART attribute."""
    found = set()
    for number, flags, value, limit in re.findall(
            r"\{ (\d+), ([^,]+), (\d+), \d+, (\d+), \w+, ZD_SMART",
            profile_rows(profile)):
        letters = re.findall(r"ZD_SMART_(\w)\b", flags)
        found.add((number, "".join(letter if letter in letters else "-"
                                   for letter in "POSRCK"), value, limit))
    return found


def logs():
    """Address and way of reading of each log, the directory too."""
    ways = {(True, True): "both", (True, False): "EXT",
            (False, True): "SMART"}
    return {("00h", "both")} | {
        (f"{address.upper()}h", ways[ext != "0", smart != "0"])
        for address, ext, smart in re.findall(
            r"\{ 0x(\w\w), (\d+), (\d+) \}", profile_rows("sf2282"))}


def documented_logs():
    """The same from the page, a range of addresses spelled out."""
    found = set()
    for addresses, way, _ in table("docs/ssd.rst", "logs"):
        first, _, last = addresses.replace("h", "").partition("-")
        found |= {(f"{address:02X}h", way) for address in
                  range(int(first, 16), int(last or first, 16) + 1)}
    return found


def products():
    """Model, title, SSDs, capacities, id and firmware of each card.

    Only of cards that QEMU offers; the bench knows more.
    """
    text = read("hw/zdrive/catalog/catalog.c")
    sold = {name: re.findall(r"\{ (\d+), \d+ \}", rows) for name, rows in
            re.findall(r"ZdCapacity (\w+)\[\] = \{(.*?)\};", text, re.DOTALL)}
    found = set()
    for row in re.findall(r"    \{\n(        \.model.*?)\n    \},", text,
                          re.DOTALL):
        field = dict(re.findall(r'\.(\w+) = "?([^",]+)', row))
        if field["type"] != "zdrive-r4":
            continue
        capacities = ", ".join(
            f"**{gb}**" if gb == field["default_gb"] else gb
            for gb in sold[field["capacities"]])
        found.add((field["model"], field["title"], field["ssds"], capacities,
                   f"{field['vendor_id'][2:]}:{field['device_id'][2:]}",
                   field["firmware"]))
    return found


def readme_cards():
    """The same from README.md."""
    return {tuple(cell.strip(" `") for cell in row.strip("|").split("|"))
            for row in re.findall(r"^\| `\w+`.*\|$", read("README.md"),
                                  re.MULTILINE)}


def properties():
    """What the module itself lists, without what every PCI device has."""
    shown = subprocess.run(
        [qemusrc.QEMU, "-device", "zdrive-r4,help"], text=True, check=True,
        env={**os.environ, "LD_PRELOAD": os.environ["ZDRIVE_SO"]},
        stdout=subprocess.PIPE).stdout
    listed = set(re.findall(r"^  ([\w-]+)=", shown, re.MULTILINE))
    ours = set(re.findall(r'DEFINE_PROP_\w+\("([\w-]+)"|'
                          r'class_property_add_str\(klass, "([\w-]+)"|'
                          r'class_property_add\(klass, "([\w-]+)", "uint8"',
                          read("hw/zdrive/card/card.c") +
                          read("hw/zdrive/card/faults.c") +
                          read("hw/zdrive/card/power-object.c")))
    ours = {name for names in ours for name in names if name}
    return listed & ours


def documented_properties():
    """The names in the user guide's table, drive0 to drive7 spelled out."""
    text = read("docs/user-guide.rst").split("\nProperties\n")[1]
    names = set(re.findall(r"^``([\w-]+)``", text.split("\nThe rest")[0],
                           re.MULTILINE))
    return names | {f"drive{number}" for number in range(8)}


def main():
    """Compare each table with its source."""
    report = tap.Report()

    def same(what, shown, real):
        report.ok(f"{what}: nothing is missing", real and real <= shown,
                  *sorted(real - shown))
        report.ok(f"{what}: nothing is invented", shown <= real,
                  *sorted(shown - real))

    same("cards", readme_cards(), products())
    same("properties", documented_properties(), properties())
    same("registers", {row[:2] for row in
                       table("docs/bridge.rst", "core-registers")},
         registers())
    report.ok("bits: nothing is missing", symbols() <= documented_symbols(),
              *sorted(symbols() - documented_symbols()))
    same("messages", documented_messages(), messages())
    same("instructions", {(kind, bound) for kind, _, bound, _ in
                          table("docs/speed.rst", "instructions")},
         instructions())
    same("ATA commands", {row[:3] for row in
                          table("docs/ssd.rst", "ata-commands")},
         {(code, name, protocol.replace("pio", "PIO").replace("fpdma", "FPDMA")
           .replace("dma", "DMA")) for code, name, protocol in ata_commands()})
    same("SMART attributes", {row[:4] for row in
                              table("docs/ssd.rst", "smart-attributes")},
         attributes("sf2282") | attributes("sf2582"))
    same("logs", documented_logs(), logs())
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

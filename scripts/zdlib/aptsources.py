# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian archives this system uses, read from its own apt sources.

Both formats are understood, one-line `.list` and deb822 `.sources`.  The
result is written as deb822, with source packages enabled and with the suite
names changed to those of another release if one is asked for.
"""

import dataclasses
import re
from pathlib import Path

from zdlib import ui

ETC = Path("/etc/apt")
OS_RELEASE = Path("/etc/os-release")

# What may follow the code name of a release in the name of a suite.
POCKETS = ("", "-updates", "-security", "/updates", "-backports")
# A rolling suite has no pockets.
ROLLING = ("sid", "unstable", "testing")
# Fields that are set by render() or have no meaning outside of their file.
OWN_FIELDS = ("types", "suites", "components", "enabled", "uris", "targets",
              "languages", "architectures")

ONE_LINE = re.compile(r"deb\s+(?:\[(?P<options>[^]]*)\]\s+)?"
                      r"(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>.+)")
OPTION_NAMES = {"signed-by": "Signed-By", "trusted": "Trusted",
                "check-valid-until": "Check-Valid-Until",
                "check-date": "Check-Date",
                "allow-insecure": "Allow-Insecure"}


@dataclasses.dataclass(frozen=True)
class Source:
    """One archive and suite, with the options it was declared with."""
    uri: str
    suite: str
    options: tuple  # of (field, value)


def _parse_list(text):
    for line in text.splitlines():
        match = ONE_LINE.match(line.partition("#")[0].strip())
        if not match or "main" not in match["components"].split():
            continue
        options = []
        for option in (match["options"] or "").split():
            name, _, value = option.partition("=")
            if name in OPTION_NAMES:
                options.append((OPTION_NAMES[name], value))
        yield Source(match["uri"], match["suite"], tuple(options))


def _stanza(text):
    """The fields of a deb822 stanza; continuation lines are kept."""
    fields = {}
    name = None
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if line[:1].isspace() and name:
            fields[name] += "\n" + line
        elif ":" in line:
            name, _, value = line.partition(":")
            fields[name] = value.strip()
    return fields


def _parse_sources(text):
    for block in re.split(r"\n\s*\n", text):
        fields = _stanza(block)
        lower = {name.lower(): value.split()
                 for name, value in fields.items()}
        if ("deb" not in lower.get("types", ()) or
                "main" not in lower.get("components", ()) or
                lower.get("enabled") == ["no"]):
            continue
        options = tuple((name, value) for name, value in fields.items()
                        if name.lower() not in OWN_FIELDS)
        for uri in lower["uris"]:
            for suite in lower["suites"]:
                yield Source(uri, suite, options)


PARSERS = {".list": _parse_list, ".sources": _parse_sources}


def codename():
    """The code name of the running release, such as bookworm."""
    match = re.search(r"^VERSION_CODENAME=(\w+)", OS_RELEASE.read_text(),
                      re.MULTILINE) if OS_RELEASE.exists() else None
    if not match:
        ui.die("this is not a Debian release", "use Debian 12 (bookworm)")
    return match[1]


def system():
    """The sources of the running Debian release; third parties left out."""
    files = [ETC / "sources.list", *sorted(ETC.glob("sources.list.d/*"))]
    wanted = {codename() + pocket for pocket in POCKETS}
    found = dict.fromkeys(
        source for file in files
        if file.suffix in PARSERS and file.is_file()
        for source in PARSERS[file.suffix](file.read_text())
        if source.suite in wanted)
    if not found:
        ui.die(f"no Debian archive for {codename()} in {ETC}",
               "add one to its sources.list")
    return list(found)


def derive(sources, suite):
    """@sources, changed so that they offer @suite of the same archive."""
    base = codename()
    backports = suite.removesuffix("-backports")
    derived = []
    for source in sources:
        pocket = source.suite.removeprefix(base)
        if backports != suite:
            derived.append(source)
            names = [suite] if not pocket else []
        elif suite in ROLLING:
            names = [suite] if not pocket else []
        else:
            names = [suite + pocket] if pocket != "-backports" else []
        derived += [dataclasses.replace(source, suite=name)
                    for name in names]
    return list(dict.fromkeys(derived))


def render(sources):
    """@sources as the text of a deb822 file."""
    stanzas = []
    for source in sources:
        fields = [("Types", "deb deb-src"), ("URIs", source.uri),
                  ("Suites", source.suite), ("Components", "main"),
                  ("Targets", "Packages Sources"), *source.options]
        stanzas.append("".join(f"{name}: {value}\n"
                               for name, value in fields))
    return "\n".join(stanzas)

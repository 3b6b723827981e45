# SPDX-License-Identifier: GPL-2.0-or-later
"""A stock QEMU loads the module in every way there is, and only its own.

The arguments are zdrive.so and two modules that are wrong on purpose: one was
built for another version of QEMU, one with another size of a structure.
"""

import json
import os
import re
import subprocess
import sys

from zdlib import qemusrc, tap

TYPE = "zdrive-r4"
MACHINE = ["-M", "q35", "-display", "none", "-S"]
DEVICE = ["-device", f"{TYPE},model=cm84"]
SANDBOX = ["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,"
           "resourcecontrol=deny"]
REFUSED = 1

VERSION_LINE = r"zdrive\.so was built for QEMU 7\.2\.0 \(.*\), this is "
SIZE_LINE = r"zdrive\.so was built with other headers than this QEMU: "


def qemu(*words, preload="", monitor=()):
    """Run QEMU with the commands @monitor for QMP; return how it ended."""
    commands = [{"execute": "qmp_capabilities"}, *monitor,
                {"execute": "quit"}]
    return subprocess.run(
        [qemusrc.QEMU, *words, "-qmp", "stdio"], check=False,
        input="".join(map(json.dumps, commands)), text=True,
        env={**os.environ, **({"LD_PRELOAD": preload} if preload else {})},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def answers(ended):
    """The answers of QMP to the commands of qemu()."""
    lines = map(json.loads, ended.stdout.splitlines())
    return [line["return"] for line in lines if "return" in line][1:]


def loads(report, module):
    """Report whether the right module makes the type known."""
    for name, words, preload in (
            ("-plugin", ["-plugin", module], ""),
            ("-plugin in a sandbox", ["-plugin", module, *SANDBOX], ""),
            ("LD_PRELOAD", [], module),
            ("LD_PRELOAD and -plugin", ["-plugin", module], module)):
        ended = qemu(*MACHINE, *words, *DEVICE, preload=preload)
        report.ok(f"{name} makes the card known",
                  ended.returncode == 0 and not ended.stderr, ended.stderr)


def refuses(report, name, module, line, ways):
    """Report whether a wrong @module is refused with @line."""
    for way in ways:
        words, preload = ((["-plugin", module], "") if way == "-plugin"
                          else ([], module))
        ended = qemu(*MACHINE, *words, *DEVICE, preload=preload)
        good = (ended.returncode == REFUSED and
                len(re.findall(line, ended.stderr)) == 1)
        report.ok(f"{way} refuses a module for {name}", good,
                  ended.returncode, ended.stderr)


def helps(report, module):
    """Report whether every property of the card explains itself."""
    listing = {"execute": "device-list-properties",
               "arguments": {"typename": TYPE}}
    ended = qemu("-M", "none", "-display", "none", "-plugin", module,
                 monitor=[listing])
    properties = {entry["name"]: entry.get("description", "")
                  for entry in answers(ended)[0]}
    inherited = _pci_properties()
    own = {name: text for name, text in properties.items()
           if name not in inherited}
    for name, text in sorted(own.items()):
        report.ok(f"QMP describes property {name}", text)
    ended = qemu("-device", f"{TYPE},help", preload=module)
    shown = [name for name in own if f" {name}=" in ended.stdout]
    report.ok("-device help shows them with LD_PRELOAD",
              own and len(shown) == len(own), ended.stdout, ended.stderr)


def _pci_properties():
    """The properties that every PCI device of QEMU has."""
    listing = {"execute": "device-list-properties",
               "arguments": {"typename": "edu"}}
    ended = qemu("-M", "none", "-display", "none", monitor=[listing])
    return {entry["name"] for entry in answers(ended)[0]}


def main(module, wrong_version, wrong_size):
    """Report one result per way of loading."""
    report = tap.Report()
    loads(report, module)
    refuses(report, "another version", wrong_version, VERSION_LINE,
            ("-plugin", "LD_PRELOAD"))
    refuses(report, "another size", wrong_size, SIZE_LINE, ("-plugin",))
    helps(report, module)
    return report.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

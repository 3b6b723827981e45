# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command that README and docs show is one that works.

Commands are taken from the shell and console blocks of all pages.  Those of
QEMU start the machine, paused, with all its devices, and quit it; those of
this project are parsed by the command line itself (the suites run them);
other tools run in an empty folder, in the order in which a page shows them.
"""

import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tree
from zdlib import cli, kernel, paths, qmp, tap

PAGES = (".md", ".rst")
FIRST_COMMANDS = ("scripts/zdrive demo", "scripts/zdrive test")
QEMU_TIMEOUT = 60

FENCE = re.compile(r"^```(?:sh|shell|bash|console)\n(.*?)^```",
                   re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"^\.\. code-block:: (?:sh|shell|bash|console)\n"
                       r"(?: +:.*\n)*\n((?:(?: +.*)?\n)+)", re.MULTILINE)
ASSIGNMENT = re.compile(r"\w+=\S*")


def commands(text):
    """The commands of the shell blocks in the page @text."""
    for block in FENCE.findall(text) + DIRECTIVE.findall(text):
        lines = block.replace("\\\n", " ").splitlines()
        prompts = any(line.lstrip().startswith("$ ") for line in lines)
        for line in map(str.strip, lines):
            if prompts and line.startswith("$ "):
                yield line[2:].strip()
            elif not prompts and line and not line.startswith("#"):
                yield line


def _prefixed(words):
    """Split leading assignments and `env` from @words."""
    environment = {}
    while words and (words[0] == "env" or ASSIGNMENT.fullmatch(words[0])):
        word = words.pop(0)
        if word != "env":
            name, _, value = word.partition("=")
            environment[name] = value
    return environment, words


def parse_only(words, _environment, _scratch):
    """Let the project's own command line judge @words."""
    try:
        cli.parser().parse_args(words[1:])
    except SystemExit as end:
        return None if not end.code else "the command line refuses it"
    return None


def _stand_in(words, scratch):
    """Give the reader's own kernel and initrd, if named, a stand-in."""
    for option, name in zip(words, words[1:]):
        if option in ("-kernel", "-initrd") and not (scratch / name).exists():
            (scratch / name).symlink_to(kernel.get().vmlinuz)


def start_qemu(words, environment, scratch):
    """Start the machine, paused, and quit it once it is complete."""
    _stand_in(words, scratch)
    path = scratch / "monitor"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener, \
         tempfile.TemporaryFile("w+") as output:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(0.2)
        with subprocess.Popen(
                [*words, "-S", "-display", "none", "-qmp", f"unix:{path}"],
                cwd=scratch, env={**os.environ, **environment},
                stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT) as process:
            try:
                _quit(listener, process)
                code = process.wait(QEMU_TIMEOUT)
            finally:
                process.kill()
        output.seek(0)
        return f"exit {code}: {output.read()}" if code else None


def _quit(listener, process):
    deadline = time.monotonic() + QEMU_TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            continue
        with connection:
            monitor = qmp.Qmp(connection)
            monitor.greet(QEMU_TIMEOUT)
            monitor.ask("quit")
        return


def execute(words, environment, scratch):
    """Run a tool of the host in the scratch folder."""
    result = subprocess.run(words, cwd=scratch, check=False, text=True,
                            env={**os.environ, **environment},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    return (f"exit {result.returncode}: {result.stdout}"
            if result.returncode else None)


def leave(_words, _environment, _scratch):
    """Getting the checkout: what runs here has done that already."""


RUNNERS = {
    "cd": leave,
    "git": leave,
    "qemu-img": execute,
    "qemu-system-x86_64": start_qemu,
    "scripts/zdrive": parse_only,
    "truncate": execute,
}


def check(command, scratch):
    """What is wrong with @command, or None."""
    environment, words = _prefixed(shlex.split(command, comments=True))
    runner = RUNNERS.get(words[0].removeprefix("./"))
    if not runner:
        return f"this test does not know how to run {words[0]}"
    return runner(words, environment, scratch)


def main():
    """Report one result per command."""
    report = tap.Report()
    shown = set()
    for page in tree.files():
        if page.suffix not in PAGES:
            continue
        with tempfile.TemporaryDirectory() as name:
            scratch = Path(name)
            (scratch / "build").symlink_to(paths.BUILD)
            (scratch / "zdrive.so").symlink_to(os.environ["ZDRIVE_SO"])
            for command in commands(tree.read(page)):
                shown.add((str(page), command))
                problem = check(command, scratch)
                report.ok(f"{page}: {command.replace('#', '')}",
                          problem is None, problem)
    for command in FIRST_COMMANDS:
        report.ok(f"README.md shows {command}",
                  ("README.md", command) in shown)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

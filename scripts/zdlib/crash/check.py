# SPDX-License-Identifier: GPL-2.0-or-later
"""The user's checker: a shell command that looks at one image."""

import collections
import os
import shlex
import signal
import subprocess

from zdlib import ui

PLACE = "{image}"
TAIL_LINES = 3
# What a shell says of a command that it cannot run.
NOT_RUN = (126, 127)

Verdict = collections.namedtuple("Verdict", "good reason output")


class Checker:
    """Runs @command, with the image's path for {image}."""

    def __init__(self, command, timeout):
        if PLACE not in command:
            ui.die("--check does not say which file to check",
                   f"write {PLACE} where its name belongs")
        self._command = command
        self._timeout = timeout

    def run(self, image, name, unreadable):
        """The Verdict on @image, which shows state @name.

        It may do to the file what it likes.
        """
        command = self._command.replace(PLACE, shlex.quote(image))
        env = {**os.environ, "ZDRIVE_IMAGE": image, "ZDRIVE_STATE": name,
               "ZDRIVE_UNREADABLE": unreadable}
        with subprocess.Popen(["/bin/sh", "-c", command], env=env,
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT,
                              start_new_session=True) as process:
            try:
                output, _ = process.communicate(timeout=self._timeout)
                reason = f"exit {process.returncode}"
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
                reason = f"no end after {self._timeout:g} s"
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        text = output.decode("utf-8", "replace").strip()
        if process.returncode in NOT_RUN:
            ui.die(f"the checker cannot be run ({reason})",
                   "correct --check", text.splitlines()[-TAIL_LINES:])
        return Verdict(process.returncode == 0, reason,
                       "\n".join(text.splitlines()[-TAIL_LINES:]))

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the user sees: steps with their time, errors in one line, logs.

A step is shown while it runs (one updating line on a terminal, a plain line
now and then elsewhere) and once more with its time when it is done.  Errors
are raised by die() and become `zdrive: <what>: <remedy>` in guard().
"""

import collections
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from zdlib import paths

TTY_PERIOD = 0.2
PLAIN_PERIOD = 10.0
TAIL_LINES = 8
INTERRUPTED = 130
# What a child may take to end when it is told to.
GRACE_PERIOD = 10.0

NINJA_PROGRESS = re.compile(r"^\[(\d+)/(\d+)\] ")


class Failure(Exception):
    """An error that is already worded for the user."""

    def __init__(self, message, details=()):
        super().__init__(message)
        self.details = tuple(details)


def die(what, remedy=None, details=()):
    """End the command with the line `zdrive: <what>: <remedy>`."""
    raise Failure(f"{what}: {remedy}" if remedy else what, details)


def say(text=""):
    """Print one plain line of output."""
    print(text, flush=True)


def guard(function, *args):
    """Run @function and turn every way it can end into an exit code."""
    def terminated(_signum, _frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, terminated)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return function(*args) or 0
    except Failure as err:
        print(f"zdrive: {err}", file=sys.stderr)
        for line in err.details:
            print(f"    {line}", file=sys.stderr)
    except KeyboardInterrupt:
        print("zdrive: interrupted: the same command continues from here",
              file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as err:
        print(f"zdrive: {err.filename or 'system call failed'}: "
              f"{err.strerror}", file=sys.stderr)
    return 1


class Step:
    """One line of progress, kept up to date by a thread of its own."""

    def __init__(self, name):
        self.name = name
        self.good = True
        self._note = ""
        self._start = time.monotonic()
        self._live = sys.stdout.isatty()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def note(self, text):
        """Show @text beside the name, for example '12/80'."""
        self._note = text

    def say(self, line):
        """Print @line above the step."""
        say(f"\r\033[K{line}" if self._live else line)

    def elapsed(self):
        """Seconds since the step began."""
        return time.monotonic() - self._start

    def _line(self, mark, seconds):
        note = f" {self._note}" if self._note and mark == ".." else ""
        return f"  {mark}  {self.name}{note} ({seconds})"

    def _watch(self):
        period = TTY_PERIOD if self._live else PLAIN_PERIOD
        while not self._done.wait(period):
            line = self._line("..", f"{self.elapsed():.0f} s")
            if self._live:
                width = shutil.get_terminal_size().columns - 1
                print(f"\r\033[K{line[:width]}", end="", flush=True)
            else:
                say(line)

    def begin(self):
        """Start to show the step."""
        self._thread.start()

    def end(self):
        """Show the outcome and the time it took."""
        self._done.set()
        self._thread.join()
        if self._live:
            print("\r\033[K", end="")
        say(self._line("ok" if self.good else "--",
                       f"{self.elapsed():.1f} s"))


_steps = []


@contextlib.contextmanager
def step(name):
    """Show @name as running while the block runs."""
    current = Step(name)
    _steps.append(current)
    current.begin()
    try:
        yield current
    except BaseException:
        current.good = False
        raise
    finally:
        _steps.remove(current)
        current.end()


def _follow(process, log):
    """Copy the output of @process to @log; return its last lines."""
    tail = collections.deque(maxlen=TAIL_LINES)
    for line in process.stdout:
        log.write(line)
        tail.append(line.rstrip())
        progress = NINJA_PROGRESS.match(line)
        if progress and _steps:
            _steps[-1].note("/".join(progress.groups()))
    return list(tail)


@contextlib.contextmanager
def child(cmd, **popen):
    """Yield @cmd as a process with its output as text in a pipe.

    It is a process group of its own, so that whatever ends this command
    also ends all that @cmd has started.
    """
    with subprocess.Popen([str(word) for word in cmd], process_group=0,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          errors="replace", **popen) as process:
        try:
            yield process
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(GRACE_PERIOD)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            raise


def attempt(cmd, log, **popen):
    """Run @cmd with its output in build/logs/@log.log.

    Return its exit code and the last lines of the output.
    """
    file = log_file(log)
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w", encoding="utf-8") as out:
        out.write(f"+ {' '.join(map(str, cmd))}\n")
        with child(cmd, **popen) as process:
            tail = _follow(process, out)
        return process.returncode, tail


def run(cmd, log, **popen):
    """Run @cmd with its output in build/logs/@log.log; die if it fails."""
    code, tail = attempt(cmd, log, **popen)
    if code:
        die(f"{os.path.basename(str(cmd[0]))} failed (exit {code})",
            f"see {log_file(log)}", tail)


def log_file(log):
    """The path of the log called @log."""
    return paths.LOGS / f"{log}.log"

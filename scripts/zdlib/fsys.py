# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders that can be trusted: writable, large enough, locked, complete.

A result appears under its final name only when it is complete, so that an
interrupted command leaves nothing half done behind.  Locks make two commands
at the same time safe.
"""

import contextlib
import fcntl
import os
import shutil

from zdlib import paths, ui


def folder(path):
    """Create @path with its parents, or say in one line why that fails."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        reason = None if os.access(path, os.W_OK) else "not writable"
    except OSError as err:
        reason = err.strerror
    if reason:
        ui.die(f"cannot use folder {path} ({reason})",
               "set XDG_CACHE_HOME to a folder that is writable"
               if path.is_relative_to(paths.CACHE)
               else "use a checkout that is writable")
    return path


def need_space(path, mib, what):
    """Refuse a step that the file system of @path cannot hold."""
    free = shutil.disk_usage(folder(path)).free >> 20
    if free < mib:
        ui.die(f"no disk space for {what}",
               f"free {mib} MiB in {path} (now {free} MiB)")


@contextlib.contextmanager
def lock(directory, what):
    """Hold the lock of @directory; wait if another zdrive is doing @what."""
    with open(folder(directory) / ".lock", "w", encoding="ascii") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with ui.step(f"Waiting for another zdrive ({what})"):
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def fresh(path):
    """Yield an empty folder that becomes @path only if the block succeeds."""
    partial = path.with_name(path.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    folder(partial)
    yield partial
    shutil.rmtree(path, ignore_errors=True)
    partial.rename(path)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders of the cache that are filled once and then kept."""

import hashlib

from zdlib import fsys


def once(path, what, fill):
    """Return folder @path; where it does not exist yet, fill(folder) makes it.

    It appears under its name when it is complete.  @what is for a second
    zdrive that has to wait for this one.
    """
    if not path.exists():
        with fsys.lock(path.parent, what):
            if not path.exists():
                with fsys.fresh(path) as partial:
                    fill(partial)
    return path


def digest(*inputs):
    """A short name for what is made from these byte strings."""
    total = hashlib.sha256()
    for data in inputs:
        total.update(b"%d:" % len(data))
        total.update(data)
    return total.hexdigest()[:16]

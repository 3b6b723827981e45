# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of the checkout that the rules of the house apply to."""

import os
import stat

from zdlib import paths

LEFT_OUT = {".git", "build", "__pycache__"}


def files():
    """Every file of the tree, as paths relative to it."""
    for folder, subfolders, names in os.walk(paths.ROOT):
        subfolders[:] = sorted(set(subfolders) - LEFT_OUT)
        for name in sorted(names):
            file = paths.ROOT / folder / name
            if not file.is_symlink():
                yield file.relative_to(paths.ROOT)


def c_files():
    """The C sources and headers."""
    return [file for file in files() if file.suffix in (".c", ".h")]


def is_script(file):
    """Whether @file is run by name, which needs no suffix."""
    mode = (paths.ROOT / file).stat().st_mode
    return bool(mode & stat.S_IXUSR)


def read(file):
    """The text of @file, with whatever is no UTF-8 replaced."""
    return (paths.ROOT / file).read_text(encoding="utf-8", errors="replace")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things live: the checkout, its build folder and the user's cache.

The build folder belongs to one checkout.  The cache holds what every clone
can share (packages, sources, generated headers); it may be deleted at any
time.
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LOGS = BUILD / "logs"
MODULE = BUILD / "zdrive.so"
BENCH = BUILD / "zdrive-bench"
INSNS = BUILD / "zdrive-insns.so"
ROM = BUILD / "zdrive-r4.rom"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache",
             "qemu-zdrive")

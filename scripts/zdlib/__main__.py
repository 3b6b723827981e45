# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry of `python3 -m zdlib`, which is what scripts/zdrive runs."""

import sys

from zdlib import cli

sys.exit(cli.main(sys.argv[1:]))

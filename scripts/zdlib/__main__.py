# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry of `python3 -m zdlib`, which is what scripts/zdrive runs."""

import os
import signal
import sys

# scripts/zdrive has held interrupts off while Python started; until ui.guard()
# says it better, one ends this without a traceback
if (os.environ.pop("ZDRIVE_INTERRUPTS", None)
        or signal.getsignal(signal.SIGINT) is signal.default_int_handler):
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from zdlib import cli  # pylint: disable=wrong-import-position

sys.exit(cli.main(sys.argv[1:]))

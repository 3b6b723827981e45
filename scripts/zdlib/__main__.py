# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry of `python3 -m zdlib`, which is what scripts/zdrive runs."""

import signal
import sys

# until ui.guard() says it better, an interrupt ends this without a traceback
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from zdlib import cli  # pylint: disable=wrong-import-position

sys.exit(cli.main(sys.argv[1:]))

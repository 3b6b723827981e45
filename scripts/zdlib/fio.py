# SPDX-License-Identifier: GPL-2.0-or-later
"""fio in the guest: every SSD at once, at full queue depth, verified."""

import json
import shlex

OPTIONS = ("--output-format=json", "--ioengine=libaio", "--direct=1",
           "--iodepth=32")
VERIFY = ("--rw=randwrite", "--bsrange=4k-1m", "--verify=crc32c",
          "--verify_fatal=1")


def command(names, *options):
    """A shell command that runs one job per device of @names."""
    words = ["fio", *OPTIONS, *options]
    for name in names:
        words += [f"--name={name}", f"--filename=/dev/{name}"]
    return shlex.join(words)


def verify(guest, names, size, timeout=240):
    """Write @size to each device in random order and read it back.

    Returns fio's record of each job; a wrong byte makes fio, and so this,
    fail.
    """
    out = guest.run(command(names, *VERIFY, f"--size={size}"), timeout)
    return json.loads(out)["jobs"]

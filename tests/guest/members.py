# SPDX-License-Identifier: GPL-2.0-or-later
"""drive0 to drive3: every SSD has a file of its own, its data from byte 0."""

import contextlib
import hashlib

import guestlib
from zdlib import fio, vm

SSDS = 4
MEMBER = 24 << 20


def body(report):
    """Write to every SSD and compare each with its file."""
    with contextlib.ExitStack() as stack:
        images = [stack.enter_context(guestlib.Image(f"member{n}", MEMBER))
                  for n in range(SSDS)]
        devices = vm.root_port()
        drives = {}
        for number, image in enumerate(images):
            devices += vm.blockdev(f"member{number}", image.path)
            drives[f"drive{number}"] = f"member{number}"
        devices += vm.card(model="rm84", **drives)
        with guestlib.guest(report, devices) as machine:
            names = guestlib.names(machine)
            report.ok("all SSDs are there", len(names) == SSDS, *names)
            fio.verify(machine, names, MEMBER)
            in_guest = guestlib.sums(machine, names)
        report.ok("the SSDs differ from each other",
                  len(set(in_guest)) == SSDS, *in_guest)
        for phy, (image, total) in enumerate(zip(images, in_guest)):
            on_host = hashlib.sha256(image.path.read_bytes()).hexdigest()
            report.ok(f"SSD {phy} is its file", on_host == total, on_host,
                      total)


guestlib.run(body)

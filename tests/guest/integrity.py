# SPDX-License-Identifier: GPL-2.0-or-later
"""Random writes of 4 KiB to 1 MiB at queue depth 32 on all SSDs at once.

fio verifies in the guest, and the host verifies again: what the guest reads
from each SSD has to be, byte for byte, what stands in the image at the places
where the volume order puts that SSD's chunks.
"""

import guestlib
from zdlib import fio, vm

SSDS = 8
MEMBER = 48 << 20
WRITTEN = 32 << 20


def body(report):
    """Write, verify in the guest, verify on the host."""
    with guestlib.Image("volume", SSDS * MEMBER) as image:
        devices = [*vm.blockdev("volume", image.path), *vm.root_port(),
                   *vm.card(model="cm88", drive="volume")]
        with guestlib.guest(report, devices) as machine:
            names = guestlib.names(machine)
            report.ok("all SSDs are there", len(names) == SSDS, *names)
            for name, job in zip(names, fio.verify(machine, names, WRITTEN)):
                report.ok(f"{name}: all written, all read back, all right",
                          job["error"] == 0
                          and job["write"]["io_bytes"] == WRITTEN
                          and job["read"]["io_bytes"] == WRITTEN, job)
            in_guest = guestlib.sums(machine, names)
        report.ok("the SSDs differ from each other",
                  len(set(in_guest)) == SSDS, *in_guest)
        on_host = image.member_sums(SSDS)
        for phy, name in enumerate(names):
            report.ok(f"SSD {phy} ({name}) is in the image, chunk by chunk",
                      on_host[phy] == in_guest[phy], on_host[phy],
                      in_guest[phy])


guestlib.run(body)

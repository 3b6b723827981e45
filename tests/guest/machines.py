# SPDX-License-Identifier: GPL-2.0-or-later
"""The card where a user may plug it in: the argument names the machine.

Everywhere the SSDs have to be there in phy order and hold what fio writes.
"""

import sys

import guestlib
from zdlib import fio, vm

SIZE = "512M"
WRITTEN = 8 << 20

# Reads an SSD into a buffer and tells where in memory that buffer is.
HIGH_BUFFER = r"""
import ctypes, mmap, os, struct, sys

PAGE, SIZE = 4096, 8 << 20
buffer = mmap.mmap(-1, SIZE)
disk = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
assert os.preadv(disk, [buffer], 0) == SIZE
with open(sys.argv[1], "rb") as cached:
    assert cached.read(SIZE) == buffer[:]

start = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
with open("/proc/self/pagemap", "rb") as pagemap:
    pagemap.seek(start // PAGE * 8)
    entries = struct.iter_unpack("<Q", pagemap.read(SIZE // PAGE * 8))
    frames = [entry & (1 << 55) - 1 for (entry,) in entries]
print(sum(frame * PAGE >= 1 << 32 for frame in frames), len(frames))
"""


def switch():
    """A PCIe switch below a root port; the card is behind port 2 of it."""
    return [*vm.root_port(),
            *vm.device("x3130-upstream", id="up", bus="rp0"),
            *vm.device("xio3130-downstream", id="down0", bus="up",
                       chassis=2, slot=0),
            *vm.device("xio3130-downstream", id="down1", bus="up",
                       chassis=2, slot=1),
            *vm.card(bus="down1", model="cm88", size=SIZE)]


MACHINES = {
    # name: SSDs, QEMU arguments, options of the VM
    "i440fx": (8, vm.card(bus="pci.0", model="cm88", size=SIZE),
               {"kind": "pc"}),
    "switch": (8, switch(), {}),
    "high-memory": (8, [*vm.root_port(),
                        *vm.card(model="cm88", size=SIZE)],
                    {"memory": "6G"}),
    "two-cards": (12, [*vm.root_port(), *vm.root_port("rp1", 2),
                       *vm.card(model="cm88", size=SIZE),
                       *vm.card("zd1", "rp1", model="rm84", size=SIZE)], {}),
}


def check_high_memory(report, machine, name):
    """Make an SSD write to memory above 4 GiB."""
    machine.run(f"cat >/run/high.py <<'END'\n{HIGH_BUFFER}\nEND\n")
    high, pages = map(int, machine.run(
        f"python3 /run/high.py /dev/{name}").split())
    report.ok("the buffer of a read is above 4 GiB", high == pages,
              f"{high} of {pages} pages")


def body(report):
    """Boot the machine and use every SSD."""
    what = sys.argv[1]
    ssds, devices, options = MACHINES[what]
    with guestlib.guest(report, devices, what, **options) as machine:
        names = guestlib.names(machine)
        report.ok(f"{what}: {ssds} SSDs", len(names) == ssds, *names)
        for name, job in zip(names, fio.verify(machine, names, WRITTEN)):
            report.ok(f"{what}: {name} holds what was written",
                      job["error"] == 0
                      and job["write"]["io_bytes"] == WRITTEN
                      and job["read"]["io_bytes"] == WRITTEN, job)
        if what == "high-memory":
            check_high_memory(report, machine, names[0])


guestlib.run(body)

# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel starts another one while the card is in use.

mvsas does not stop the card then, so the second kernel finds it with rings in
the memory of the first and commands that end there.  It has to find all SSDs
and what was flushed.
"""

import busy
import guestlib
from zdlib import image, vm

# Linux takes bus mastering from each card then, and goes on to use this one.
NO_MASTER = r"bus master|not? memory$|the ring has stopped"

LOAD_KERNEL = """
for disk in /sys/block/vd*; do
    case $(cat $disk/serial) in
    vmlinuz|initrd) cat /dev/${disk##*/} >/tmp/$(cat $disk/serial) ;;
    esac
done
kexec -s -l /tmp/vmlinuz --initrd=/tmp/initrd --reuse-cmdline
rm /tmp/vmlinuz /tmp/initrd
"""


def files():
    """The kernel and its initrd, on disks of their own."""
    stock = vm.stock()
    for serial, file in (("vmlinuz", stock.vmlinuz),
                         ("initrd", image.prepare(stock).initrd)):
        yield from vm.blockdev(serial, file, read_only=True)
        yield from vm.device("virtio-blk-pci", drive=serial, serial=serial)


def body(report):
    """A guest that goes through the firmware instead ends QEMU here."""
    with guestlib.Image("volume", 512 << 20) as volume:
        devices = [*files(), *vm.blockdev("volume", volume.path),
                   *vm.root_port(), *vm.card(model="cm88", drive="volume")]
        with guestlib.guest(report, devices, mistakes=NO_MASTER) as guest:
            machine = busy.Machine(report, guest)
            machine.start()
            guest.run(LOAD_KERNEL, timeout=busy.PATIENCE)
            machine.load()
            guest.start("kexec -e")
            guest.wait_ready()
            machine.back("the second kernel")


guestlib.run(body)

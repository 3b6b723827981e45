# SPDX-License-Identifier: GPL-2.0-or-later
"""The card is taken out of its slot under load, and put in again.

    hotplug.py acpi | native TIMES

By ACPI, as q35 does it by itself, or by the slot's own hot-plug controller.
In both the guest is asked to let the card go and finds the new one by itself.
"""

import sys

import busy
import guestlib
from zdlib import vm

VARIANTS = {
    "acpi": [],
    "native": ["-global",
               "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"],
}


def body(report):
    """Out, in, look."""
    variant, times = sys.argv[1], int(sys.argv[2])
    with guestlib.Image(variant, 512 << 20) as image:
        devices = [*VARIANTS[variant], *vm.blockdev("volume", image.path),
                   *vm.root_port(), *vm.card(model="cm88", drive="volume")]
        with guestlib.guest(report, devices, variant, errors_wanted=True,
                            accelerator=vm.IN_TURNS) as guest:
            machine = busy.Machine(report, guest)
            machine.start()
            for turn in range(1, times + 1):
                machine.load()
                guest.qmp.ask("device_del", id="zd0")
                guest.qmp.event("DEVICE_DELETED", busy.PATIENCE)
                machine.find(f"turn {turn}, out", 0)
                machine.unload()
                guest.qmp.ask("device_add", driver="zdrive-r4", id="zd0",
                              bus="rp0", model="cm88", drive="volume")
                machine.back(f"turn {turn}, in")
            machine.qemu_is_content()


guestlib.run(body)

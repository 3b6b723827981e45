# SPDX-License-Identifier: GPL-2.0-or-later
"""The card reports PCI Express errors of every severity, under load.

What can be corrected is only latched; of what cannot the kernel's AER driver
speaks.  mvsas has no part in recovery, so it goes on after an error that is
not fatal; after a fatal one the kernel resets the slot under the driver, and
the card is as new when it is removed and found again.
"""

import busy
import guestlib
from zdlib import vm

# QEMU's name: lspci's
CORRECTABLE = {
    "RCVR": "RxErr", "BAD_TLP": "BadTLP", "BAD_DLLP": "BadDLLP",
    "REP_ROLL": "Rollover", "REP_TIMER": "Timeout",
    "ADV_NONFATAL": "AdvNonFatalErr",
}
# QEMU's name: the kernel's
NOT_FATAL = {
    "POISON_TLP": "TLP", "COMP_TIME": "CmpltTO", "UNSUP": "UnsupReq",
}
FATAL = "MALF_TLP"
# With hot-plug by ACPI, QEMU 7.2 does not show in the slot that its link is up,
# and the kernel waits for that in vain when it has reset the slot.
NATIVE = ("-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off")
STATUS = "lspci -vv -s {} | grep CESta"
# The kernel handles an error in a thread of its own.
TOLD = """
until dmesg | tail -n +{seen} | grep -q "device recovery failed"; do
    sleep 1
done
"""


def inject(machine, error):
    """Let the card report @error."""
    answer = machine.guest.qmp.ask(
        "human-monitor-command",
        command_line=f"pcie_aer_inject_error zd0 {error}")
    machine.report.ok(f"{error}: QEMU takes it", answer.startswith("OK"),
                      answer)


def meet(machine, error, *words):
    """Inject @error and wait for what the kernel makes of it."""
    machine.log()
    inject(machine, error)
    machine.guest.run(TOLD.format(seen=machine.seen + 1),
                      timeout=busy.PATIENCE)
    machine.says(error, *words)


def body(report):
    """One after the other, the fatal one in the end.

    Of that one the kernel cannot say which it is, as the link may be bad.
    """
    with guestlib.Image("volume", 512 << 20) as image:
        devices = [*NATIVE, *vm.blockdev("volume", image.path),
                   *vm.root_port(), *vm.card(model="cm88", drive="volume")]
        with guestlib.guest(report, devices, errors_wanted=True,
                            accelerator=vm.IN_TURNS) as guest:
            machine = busy.Machine(report, guest)
            machine.start()
            pci = guestlib.members(guest)[0].pci
            for error in CORRECTABLE:
                inject(machine, error)
            status = guest.run(STATUS.format(pci))
            for error, name in CORRECTABLE.items():
                report.ok(f"{error}: the card has latched it",
                          f"{name}+" in status, status)
            machine.load()
            for error, name in NOT_FATAL.items():
                meet(machine, error, r"AER: .*\(Non-Fatal\)",
                     rf"\[ *\d+\] {name}\b")
            out = machine.unload()
            report.ok("no program gets an error", out.count('"error" : 0')
                      == busy.SSDS, out[-2000:])
            machine.load()
            meet(machine, FATAL, r"AER: .*\(Fatal\)",
                 r"Root Port link has been reset \(0\)")
            guest.run(f"echo 1 >/sys/bus/pci/devices/{pci}/remove",
                      timeout=guestlib.REMOVAL)
            machine.find(f"{FATAL}: removed", 0)
            machine.unload()
            guest.run("echo 1 >/sys/bus/pci/rescan", timeout=busy.PATIENCE)
            machine.back(FATAL)
            machine.qemu_is_content()


guestlib.run(body)

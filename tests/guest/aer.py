# SPDX-License-Identifier: GPL-2.0-or-later
"""The card reports each PCI Express error that QEMU can inject, under load.

What can be corrected is only latched; of what cannot the kernel's AER driver
speaks.  mvsas has no part in recovery, so it goes on after an error that is
not fatal; after a fatal one the kernel resets the slot under the driver, and
the card is as new when it is removed and found again.
"""

import re

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
    "POISON_TLP": "TLP", "COMP_TIME": "CmpltTO", "COMP_ABORT": "CmpltAbrt",
    "UNX_COMP": "UnxCmplt", "ECRC": "ECRC", "UNSUP": "UnsupReq",
}
FATAL = {
    "DLP": "DLP", "FCP": "FCP", "RX_OVER": "RxOF", "MALF_TLP": "MalfTLP",
}
STATUS = "lspci -vv -s {} | grep CESta"
# The kernel handles an error in a thread of its own.
TOLD = """
until dmesg | tail -n +{seen} | grep -q "device recovery failed"; do
    sleep 0.2
done
"""


def inject(machine, error):
    """Let the card report @error."""
    answer = machine.guest.qmp.ask(
        "human-monitor-command",
        command_line=f"pcie_aer_inject_error zd0 {error}")
    machine.report.ok(f"{error}: QEMU takes it", answer.startswith("OK"),
                      answer)


def meet(machine, error, severity, name):
    """Inject @error and wait for what the kernel makes of it."""
    machine.log()
    inject(machine, error)
    machine.guest.run(TOLD.format(seen=machine.seen + 1),
                      timeout=busy.PATIENCE)
    log = machine.log()
    for words in (rf"AER: .*{severity}", rf"\[ *\d+\] {name}\b"):
        machine.report.ok(f"{error}: the kernel says {words}", any(
            re.search(words, line) for line in log), *log)


def body(report):
    """One after the other, the fatal ones in the end."""
    with guestlib.Image("volume", 512 << 20) as image:
        devices = [*vm.blockdev("volume", image.path), *vm.root_port(),
                   *vm.card(model="cm88", drive="volume")]
        with guestlib.guest(report, devices, errors_wanted=True) as guest:
            machine = busy.Machine(report, guest)
            machine.start()
            pci = guestlib.members(guest)[0].pci
            machine.load()
            for error in CORRECTABLE:
                inject(machine, error)
            status = guest.run(STATUS.format(pci))
            for error, name in CORRECTABLE.items():
                report.ok(f"{error}: the card has latched it",
                          f"{name}+" in status, status)
            for error, name in NOT_FATAL.items():
                meet(machine, error, "Non-Fatal", name)
            out = machine.unload()
            report.ok("no program gets an error", out.count('"error" : 0')
                      == busy.SSDS, out[-2000:])
            machine.back("after errors that are not fatal")
            for error, name in FATAL.items():
                machine.load()
                meet(machine, error, "Fatal", name)
                guest.run(f"echo 1 >/sys/bus/pci/devices/{pci}/remove",
                          timeout=busy.PATIENCE)
                machine.find(f"{error}: removed", 0)
                machine.unload()
                guest.run("echo 1 >/sys/bus/pci/rescan",
                          timeout=busy.PATIENCE)
                machine.back(error)
            machine.qemu_is_content()


guestlib.run(body)

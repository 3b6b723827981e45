# SPDX-License-Identifier: GPL-2.0-or-later
"""Resets of every kind while all SSDs are busy.

    resets.py phys | pci | sleep | reload

Phys are reset, disabled and slowed down by sysfs; the card is taken from the
kernel; the machine sleeps (S3); the driver is unbound and bound again twenty
times.  No data is lost, and after each of them all SSDs are there and work.
"""

import sys
import time

import busy
import guestlib
from busy import PATIENCE, SSDS
from zdlib import vm

TIMES = 20
PHY = 2
WOKEN = "ACPI: PM: Waking up from system sleep state S3"
# A file system on the volume, with a file that is still written to.
SUMS = "cd /mnt; find . -name '*.py' | sort | xargs sha256sum"
FILES = f"""
volume
mkfs.ext4 -q /dev/md0
mount /dev/md0 /mnt
cp -r /usr/lib/python3.11/json /usr/lib/python3.11/email /mnt
sync
(while :; do date; done) >/mnt/growing 2>/dev/null </dev/null &
{SUMS}
"""
SAME_FILES = f"""
volume
fsck.ext4 -y /dev/md0 >/dev/null 2>&1 || [ $? = 1 ]
mount /dev/md0 /mnt
{SUMS}
"""


def phy(number, attribute, value):
    """Write an attribute of a phy."""
    return f"echo '{value}' >/sys/class/sas_phy/phy-0:{number}/{attribute}"


def of_phys(machine):
    """Link reset, hard reset, speed limit, off and on."""
    report = machine.report
    for attribute in ("link_reset", "hard_reset"):
        machine.load()
        machine.guest.run(phy(PHY, attribute, 1), timeout=PATIENCE)
        machine.goes_on()
        out = machine.unload()
        report.ok(f"{attribute}: no program gets an error",
                  out.count('"error" : 0') == SSDS, out[-2000:])
        machine.back(attribute)
    for rate, most in (("3.0 Gbit", "3.0 Gbps"), ("6.0 Gbit", "6.0 Gbps")):
        machine.guest.run(phy(PHY, "maximum_linkrate", rate))
        machine.guest.run(phy(PHY, "enable", 0))
        machine.find(f"{rate} at most: off", SSDS - 1)
        machine.guest.run(phy(PHY, "enable", 1))
        machine.back(f"{rate} at most")
        current = machine.guest.run(
            f"cat /sys/class/sas_phy/phy-0:{PHY}/negotiated_linkrate")
        report.ok(f"{rate} at most: the phy says so", current.strip() == rate,
                  current)
        name = machine.names[PHY]
        info = machine.guest.run(f"smartctl -i /dev/{name}", check=False).out
        report.ok(f"{rate} at most: the SSD says so",
                  "current: {}".format(most.replace("Gbps", "Gb/s")) in info,
                  info)
    machine.load()
    machine.guest.run(phy(PHY, "enable", 0), timeout=PATIENCE)
    machine.find("disabled under load", SSDS - 1)
    out = machine.unload()
    report.ok("disabled under load: only its program gets an error",
              out.count('"error" : 0') == SSDS - 1, out[-2000:])
    machine.guest.run(phy(PHY, "enable", 1), timeout=PATIENCE)
    machine.back("enabled")


def of_pci(machine):
    """Removed under load, found again."""
    pci = guestlib.members(machine.guest)[0].pci
    machine.load()
    machine.guest.run(f"echo 1 >/sys/bus/pci/devices/{pci}/remove",
                      timeout=PATIENCE)
    machine.find("removed under load", 0)
    machine.unload()
    machine.guest.run("echo 1 >/sys/bus/pci/rescan", timeout=PATIENCE)
    machine.back("found again")


def sleep(machine, what):
    """S3, and what has become of it after the next boot.

    mvsas knows nothing of it (no suspend, no resume) and finds a card that has
    been reset, so its disks time out from then on, for which the kernel may
    wait before anything else goes on.  The next boot has them all.
    """
    guest = machine.guest
    woken = guest.console.count(WOKEN)
    guest.start("echo mem >/sys/power/state")
    guest.qmp.event("SUSPEND", PATIENCE)
    guest.qmp.ask("system_wakeup")
    deadline = time.monotonic() + PATIENCE
    while (guest.console.count(WOKEN) == woken and
           time.monotonic() < deadline):
        time.sleep(vm.POLL)
    machine.report.ok(f"{what}: the machine has slept",
                      guest.console.count(WOKEN) > woken)
    guest.qmp.ask("system_reset")
    guest.wait_ready()
    machine.find(f"{what}: after the next boot")


def of_sleep(machine):
    """S3 with idle disks, and with a file system that is in use."""
    sleep(machine, "idle")
    machine.back("idle")
    files = machine.guest.run(FILES, timeout=PATIENCE)
    sleep(machine, "mounted")
    machine.report.ok("mounted: all files are there", machine.guest.run(
        SAME_FILES, timeout=PATIENCE) == files)


def of_reload(machine):
    """Unbind under load, bind, unload and load."""
    pci = guestlib.members(machine.guest)[0].pci
    driver = "/sys/bus/pci/drivers/mvsas"
    for turn in range(1, TIMES + 1):
        machine.load()
        machine.guest.run(f"echo {pci} >{driver}/unbind", timeout=PATIENCE)
        machine.find(f"turn {turn}, unbound", 0)
        machine.unload()
        machine.guest.run("modprobe -r mvsas; modprobe mvsas",
                          timeout=PATIENCE)
        machine.find(f"turn {turn}, loaded")
    machine.back("after all turns")


# Those that change the memory map under processors that are busy.
TURNS = {"pci": {"accelerator": vm.IN_TURNS}}
VARIANTS = {"phys": of_phys, "pci": of_pci, "sleep": of_sleep,
            "reload": of_reload}


def body(report):
    """Boot, and do what the variant says."""
    variant = sys.argv[1]
    with guestlib.Image(variant, 512 << 20) as image:
        devices = [*vm.blockdev("volume", image.path), *vm.root_port(),
                   *vm.card(model="cm88", drive="volume")]
        with guestlib.guest(report, devices, variant, errors_wanted=True,
                            reboots=variant == "sleep",
                            **TURNS.get(variant, {})) as guest:
            machine = busy.Machine(report, guest)
            machine.start()
            VARIANTS[variant](machine)
            machine.qemu_is_content()


guestlib.run(body)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Resets of every kind while all SSDs are busy.

    resets.py phys | pci | sleep | reload

Phys are reset, disabled and slowed down by sysfs; the card is taken from the
kernel, from its slot, and hears of bus errors; the machine sleeps (S3); the
driver is unbound and bound again twenty times.  No data is lost, and after
each of them all SSDs are there and work.
"""

import re
import sys

import guestlib
from zdlib import fio, vm

SSDS = 8
SIZE = "512M"
TIMES = 20
PATIENCE = 120
PHY = 2
WRITTEN = 1 << 20
RANDOM = """
for name in {names}; do
    dd if=/dev/urandom of=/dev/$name bs=64k count=16 oflag=direct conv=fsync
done
"""
SUMS = """
for name in {names}; do head -c {size} /dev/$name | sha256sum; done
"""
IMPATIENT = """
for name in {names}; do echo 3 >/sys/block/$name/device/timeout; done
"""
# Reads until it is told to stop; what goes away under it is not its fault.
LOAD = "{fio} >/tmp/load 2>&1 & echo $! >/tmp/load.pid"
STOP = """
kill -INT $(cat /tmp/load.pid) || :
while kill -0 $(cat /tmp/load.pid) 2>/dev/null; do sleep 0.1; done
cat /tmp/load
"""


class Machine:
    """The guest, what is on its SSDs, and their load."""

    def __init__(self, report, guest):
        self.report = report
        self.guest = guest
        self.names = self.written = None
        self.seen = 0

    def find(self, what, count=SSDS):
        """Wait for @count SSDs to be there."""
        found = guestlib.wait_members(self.guest, count, PATIENCE)
        self.report.ok(f"{what}: {count} SSDs", len(found) == count, *found)
        if count == SSDS:
            self.names = [member.name for member in found]
            self.guest.run(IMPATIENT.format(names=" ".join(self.names)))
        return found

    def sums(self):
        """What is on the SSDs."""
        return self.guest.run(SUMS.format(names=" ".join(self.names),
                                          size=WRITTEN), timeout=PATIENCE)

    def start(self):
        """Find the SSDs and write what has to be there in the end."""
        self.find("at first")
        self.guest.run(RANDOM.format(names=" ".join(self.names)))
        self.written = self.sums()

    def back(self, what):
        """All SSDs are there, with their data, and work."""
        self.find(what)
        self.report.ok(f"{what}: the data is there",
                       self.sums() == self.written)
        self.load()
        self.unload()

    def load(self):
        """Keep all SSDs busy behind what was written."""
        self.guest.run(LOAD.format(fio=fio.command(
            self.names, "--rw=randrw", "--bs=4k", "--time_based",
            "--runtime=600", f"--offset={WRITTEN}", "--size=16M")))
        self.guest.run("sleep 1")

    def unload(self):
        """End the load; its output."""
        return self.guest.run(STOP, timeout=PATIENCE)

    def log(self):
        """What the kernel has said since the last call."""
        lines = self.guest.run("dmesg").splitlines()
        new = lines[self.seen:]
        self.seen = len(lines)
        return new

    def says(self, what, *words):
        """Check that the kernel has said @words since the last look."""
        log = self.log()
        for word in words:
            self.report.ok(f"{what}: the kernel says {word}",
                           any(re.search(word, line) for line in log), *log)


def phy(number, attribute, value):
    """Write an attribute of a phy."""
    return f"echo '{value}' >/sys/class/sas_phy/phy-0:{number}/{attribute}"


def of_phys(machine):
    """Link reset, hard reset, speed limit, off and on."""
    report = machine.report
    for attribute in ("link_reset", "hard_reset"):
        machine.load()
        machine.guest.run(phy(PHY, attribute, 1), timeout=PATIENCE)
        machine.guest.run("sleep 8")
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


def inject(machine, error):
    """Let the card report a PCI Express error."""
    return machine.guest.qmp.ask("human-monitor-command", command_line=
                                 f"pcie_aer_inject_error zd0 {error}")


def of_pci(machine):
    """Bus errors, remove and rescan, out of the slot and in again."""
    pci = guestlib.members(machine.guest)[0].pci
    machine.load()
    machine.log()
    # QEMU 7.2 latches a correctable error, but has no message for it
    inject(machine, "BAD_TLP")
    status = machine.guest.run(f"lspci -vv -s {pci} | grep CESta")
    machine.report.ok("a correctable error is in the card's status",
                      "BadTLP+" in status, status)
    inject(machine, "COMP_TIME")
    machine.guest.run("sleep 2")
    machine.says("uncorrectable error", "AER: .*Non-Fatal",
                 r"\[14\] CmpltTO")
    out = machine.unload()
    machine.report.ok("bus errors: no program gets an error",
                      out.count('"error" : 0') == SSDS, out[-2000:])
    machine.back("bus errors")

    machine.load()
    machine.guest.run(f"echo 1 >/sys/bus/pci/devices/{pci}/remove",
                      timeout=PATIENCE)
    machine.find("removed under load", 0)
    machine.unload()
    machine.guest.run("echo 1 >/sys/bus/pci/rescan", timeout=PATIENCE)
    machine.back("found again")

    machine.load()
    machine.guest.qmp.ask("device_del", id="zd0")
    machine.guest.qmp.event("DEVICE_DELETED", PATIENCE)
    machine.find("unplugged under load", 0)
    machine.unload()
    machine.guest.qmp.ask("device_add", driver="zdrive-r4", id="zd0",
                          bus="rp0", model="cm88", drive="volume")
    machine.guest.run("echo 1 >/sys/bus/pci/rescan", timeout=PATIENCE)
    machine.back("plugged in")


def of_sleep(machine):
    """S3 and back.

    mvsas knows nothing of it (no suspend, no resume) and finds a card that has
    been reset, so its disks time out from then on.  The next boot has them all.
    """
    machine.guest.start("echo mem >/sys/power/state")
    machine.guest.qmp.event("SUSPEND", PATIENCE)
    machine.guest.qmp.ask("system_wakeup")
    machine.guest.finish("S3", PATIENCE)
    machine.report.ok("the machine has slept",
                      "ACPI: PM: Waking up from system sleep state S3"
                      in machine.guest.run("dmesg"))
    machine.guest.start("echo b >/proc/sysrq-trigger")
    machine.guest.wait_ready()
    machine.back("after the next boot")


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


VARIANTS = {"phys": of_phys, "pci": of_pci, "sleep": of_sleep,
            "reload": of_reload}


def body(report):
    """Boot, and do what the variant says."""
    variant = sys.argv[1]
    with guestlib.Image(variant, 512 << 20) as image:
        devices = [*vm.blockdev("volume", image.path), *vm.root_port(),
                   *vm.card(model="cm88", drive="volume")]
        with guestlib.guest(report, devices, variant, errors_wanted=True,
                            reboots=variant == "sleep") as guest:
            machine = Machine(report, guest)
            machine.start()
            VARIANTS[variant](machine)
            messages = (guest.folder / "messages").read_text()
            report.ok("QEMU has no complaint", not messages, messages)


guestlib.run(body)

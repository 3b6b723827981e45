# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest tests share: a booted VM whose kernel must not complain, the
SSDs in it, and the image of a whole volume with its members.
"""

import collections
import contextlib
import hashlib
import re
import subprocess
import sys
import time
from pathlib import Path

from zdlib import tap, ui, vm

NAME = Path(sys.argv[0]).stem
CHUNK = 64 << 10
# Of a card that was reset or without power under its driver no disk may answer
# any more, and a removal waits for each in turn: two minutes until the kernel
# has given it up.
REMOVAL = 1200
# What QEMU logs of a guest's errors, in the folder of the VM.
MISTAKES = "guest-errors"

# What libata, libsas, mvsas, sd and md say when something is not right.
COMPLAINT = re.compile(
    r"No sig fis|failed command|timed? ?out|timing out|\breset|exception|"
    r"I/O error|Medium Error|\bEmask\b|\bmvsas\b.*(fail|error)|BUG:|"
    r"WARNING:|Call Trace|hung|blocked for more|nobody cared|\bDMAR?\b.*fault",
    re.IGNORECASE)
# These speak of time-outs and resets on every healthy boot.
HARMLESS = re.compile(r"watchdog|PM-Timer|ACPI|x86/|\bclocksource\b")

Member = collections.namedtuple("Member", "pci scsi phy name")


def run(body):
    """Run a test program: body(report), then the plan and the exit code."""
    report = tap.Report()
    try:
        body(report)
    except ui.Failure as err:
        report.ok("the test runs to its end", False, err, *err.details)
    sys.exit(report.end())


@contextlib.contextmanager
def guest(report, devices, variant="", errors_wanted=False, known=None,
          mistakes=None, **options):
    """A booted VM, powered off when the test is done with it.

    By then nobody may have complained; a test that makes errors says so with
    @errors_wanted, and one that meets a fault of the stock kernel gives a
    pattern for what is @known to be printed then, or for what the card may
    say of @mistakes of that kernel.
    """
    name = f"{NAME}-{variant}" if variant else NAME
    told = ["-d", "guest_errors", "-D", vm.VMS / name / MISTAKES]
    with vm.Vm(name, [*devices, *told], **options).boot() as machine:
        yield machine
        if not errors_wanted:
            no_complaints(report, machine, known, mistakes)
        machine.power_off()


def no_complaints(report, machine, known=None, mistakes=None):
    """Check what the guest's kernel and QEMU have said so far."""
    log = machine.run("dmesg")
    if known:
        log = re.sub(known, "", log, count=1, flags=re.DOTALL)
    bad = [line for line in log.splitlines()
           if COMPLAINT.search(line) and not HARMLESS.search(line)]
    report.ok("the kernel has no complaint", log and not bad, *bad)
    messages = (machine.folder / "messages").read_text()
    report.ok("QEMU has no complaint", not messages, messages)
    said = (machine.folder / MISTAKES).read_text(errors="replace")
    wrong = [line for line in said.splitlines()
             if line.startswith("zdrive ") and
             not (mistakes and re.search(mistakes, line))]
    report.ok("the card finds no mistake in its driver", not wrong, *wrong)


def members(machine):
    """All SSDs, by card and phy."""
    return _members(machine.run("members"))


def _members(text):
    return [Member(pci, scsi, int(phy), name) for pci, scsi, phy, name in
            map(str.split, text.splitlines())]


def wait_members(machine, count, patience):
    """The SSDs as soon as there are @count of them, else after @patience.

    While one comes or goes, the list of them cannot be had.
    """
    deadline = time.monotonic() + patience
    while True:
        result = machine.run("members", check=False)
        found = [] if result.status else _members(result.out)
        if len(found) == count and not result.status or \
           time.monotonic() > deadline:
            return found
        time.sleep(0.5)


def names(machine):
    """The device names of all SSDs, by card and phy."""
    return [member.name for member in members(machine)]


def sums(machine, devices):
    """SHA-256 of each whole device, read from the SSD and not from memory."""
    out = machine.run(
        "echo 3 >/proc/sys/vm/drop_caches\n"
        f"printf '/dev/%s\\n' {' '.join(devices)} | xargs -n 1 -P 2 sha256sum",
        timeout=240)
    found = {path.removeprefix("/dev/"): total
             for total, path in map(str.split, out.splitlines())}
    return [found[device] for device in devices]


@contextlib.contextmanager
def qcow2(name, size):
    """The block node @name, an image that keeps snapshots; gone after it."""
    vm.VMS.mkdir(parents=True, exist_ok=True)
    path = vm.VMS / f"{NAME}-{name}.qcow2"
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", path,
                    str(size)], check=True)
    try:
        yield vm.blockdev(name, path, driver="qcow2")
    finally:
        path.unlink()


class Image:
    """A sparse raw file in the folder of this test, gone after it."""

    def __init__(self, name, size):
        self.path = vm.VMS / f"{NAME}-{name}.img"
        self.size = size

    def __enter__(self):
        vm.VMS.mkdir(parents=True, exist_ok=True)
        with open(self.path, "wb") as file:
            file.truncate(self.size)
        return self

    def __exit__(self, *_):
        self.path.unlink()

    def member_sums(self, ssds):
        """SHA-256 of each member when this is the volume of @ssds SSDs.

        In volume order, chunk c of member m stands at chunk c * ssds + m.
        """
        totals = [hashlib.sha256() for _ in range(ssds)]
        with open(self.path, "rb") as file:
            for index in range(self.size // CHUNK):
                totals[index % ssds].update(file.read(CHUNK))
        return [total.hexdigest() for total in totals]

    def allocated(self):
        """How many bytes of it the host's file system really stores."""
        return self.path.stat().st_blocks * 512

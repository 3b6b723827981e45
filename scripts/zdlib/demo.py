# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive demo`: the card at work, from nothing, in one command.

Debian's kernel finds the card, looks at its SSDs, writes and verifies each,
and makes the RAID-0 with a file system that the card's BIOS would show.  The
VM is switched off and on, the files are compared, and the host finds the same
bytes in the image file.  Every figure shown is read from the guest, QEMU or
the image in this very run, and compared with what it has to be.
"""

import hashlib
import json
import re
import subprocess
import sys
import time

from zdlib import build, fio, fsys, kernel, paths, run, table, ui, vm

MODEL = "cm88"
SSDS = 8
SIZE = 4 << 30
IMAGE = paths.BUILD / "demo" / "demo.img"

PCI_ID = "1b85:1084"
LINK = "Speed 5GT/s, Width x8"
SSD_MODEL = "OCZ Z-DRIVE R4 CM88"
FIRMWARE = "2.25"

FIO_MIB = 16
FILES_MIB = 16
FILES = ("alpha", "beta", "gamma")

WRITE = f"""
volume
mkfs.ext4 -q /dev/md0
mount /dev/md0 /mnt
cd /mnt
for name in {' '.join(FILES)}; do
    head -c {FILES_MIB}M /dev/urandom >$name
done
sha256sum {' '.join(FILES)}
cd /
umount /mnt
"""
READ = f"""
volume
mount -o ro /dev/md0 /mnt
cd /mnt
sha256sum {' '.join(FILES)}
cd /
umount /mnt
"""


def add_parser(commands):
    """Add `demo` to the subcommands."""
    commands.add_parser(
        "demo", help="boot Debian's own kernel on the card, show it working",
        description="Set up, build, boot Debian's stock kernel in stock QEMU "
        "on a Z-Drive R4 CM88 with 8 SSDs, and check what the guest and the "
        "host see. Ends with an error if anything differs."
    ).set_defaults(main=main)


class Findings:
    """What differs from what it has to be."""

    def __init__(self):
        self.differences = []

    def check(self, what, found, wanted):
        """Note whether @found is @wanted, and return @found."""
        if found != wanted:
            self.differences.append(f"{what}: {found}, expected {wanted}")
        return found


def main(_args):
    """Run the demo; the exit code tells whether all was as it has to be."""
    start = time.monotonic()
    with fsys.lock(IMAGE.parent, "a demo"):
        return _demo(start)


def _demo(start):
    build.module()
    run.prepare()
    stock = kernel.get()
    IMAGE.unlink(missing_ok=True)
    with open(IMAGE, "wb") as file:
        file.truncate(SIZE)
    findings = Findings()
    with _boot("Booting Debian's kernel on the card") as guest:
        card = _look_at_card(guest, findings)
        ssds = _look_at_ssds(guest, findings)
        _verify(guest, ssds, findings)
        with ui.step("Making a RAID-0 with ext4 and writing files"):
            written = _sums(guest.run(WRITE, timeout=180))
        with ui.step("Powering off"):
            guest.power_off()
    with _boot("Booting again") as guest:
        with ui.step("Reading the files"):
            read = _sums(guest.run(READ, timeout=180))
        findings.check("files after the restart", read, written)
        guest.power_off()
    with ui.step("Looking for the files in the image on the host"):
        on_host = {name: _sum_on_host(name) for name in FILES}
    findings.check("files in the image", on_host, written)
    _summarise(stock, card, ssds, (written, read, on_host), findings,
               time.monotonic() - start)
    return 1 if findings.differences else 0


def _boot(step):
    guest = vm.Vm("demo", [
        *vm.blockdev("volume", IMAGE), *vm.root_port(),
        *vm.card(model=MODEL, size=SIZE, drive="volume")])
    with ui.step(step):
        return guest.boot()


def _field(pattern, text):
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else "not found"


def _look_at_card(guest, findings):
    """PCI identity, link and driver, as lspci shows them."""
    with ui.step("Looking at the card with lspci"):
        text = guest.run("lspci -nn -k -vv -d 1b85:")
    found = {
        "name": _field(r"^(\S.*)", text),
        "id": _field(r"\[(\w{4}:\w{4})\]", text),
        "link": _field(r"LnkSta:\s+(.*)", text),
        "driver": _field(r"Kernel driver in use: (\S+)", text),
    }
    findings.check("PCI id", found["id"], PCI_ID)
    findings.check("PCI Express link", found["link"], LINK)
    findings.check("driver", found["driver"], "mvsas")
    return found


def _look_at_ssds(guest, findings):
    """One row per SSD in phy order: identity, size and health."""
    rows = []
    with ui.step("Asking every SSD with smartctl") as step:
        members = guest.run("members").splitlines()
        if len(members) != SSDS:
            ui.die(f"the guest has found {len(members)} SSDs, not {SSDS}",
                   f"its kernel says in {guest.folder / 'console'}",
                   guest.run("dmesg | grep -E 'mvsas|sas|ata'",
                             check=False).out.splitlines())
        for line in members:
            _, _, phy, name = line.split()
            step.note(name)
            # The status has a bit for each kind of trouble.
            asked = guest.run(f"smartctl -j -i -H /dev/{name}", check=False)
            said = json.loads(asked.out)
            what = f"SSD {phy}"
            findings.check(f"{what} smartctl status", asked.status, 0)
            findings.check(f"{what} model", said["model_name"], SSD_MODEL)
            findings.check(f"{what} firmware", said["firmware_version"],
                           FIRMWARE)
            findings.check(f"{what} bytes", said["user_capacity"]["bytes"],
                           SIZE // SSDS)
            rows.append({
                "phy": int(phy), "name": name, "model": said["model_name"],
                "firmware": said["firmware_version"],
                "serial": said["serial_number"],
                "bytes": said["user_capacity"]["bytes"],
                "healthy": said["smart_status"]["passed"]})
    findings.check("phys", [row["phy"] for row in rows], list(range(SSDS)))
    findings.check("different serial numbers",
                   len({row["serial"] for row in rows}), SSDS)
    return rows


def _verify(guest, ssds, findings):
    """Write every SSD with fio, all at once, and let it verify the data."""
    with ui.step(f"Writing and verifying {len(ssds)} x {FIO_MIB} MiB at once"):
        jobs = fio.verify(guest, [row["name"] for row in ssds],
                          f"{FIO_MIB}M")
    for row, job in zip(ssds, jobs):
        what = f"SSD {row['phy']} fio"
        findings.check(f"{what} error", job["error"], 0)
        findings.check(f"{what} bytes written", job["write"]["io_bytes"],
                       FIO_MIB << 20)
        row["verified"] = findings.check(
            f"{what} bytes read back", job["read"]["io_bytes"], FIO_MIB << 20)


def _sums(text):
    """What sha256sum has printed: the sum of each file."""
    return {name: total for total, name in map(str.split, text.splitlines())}


def _sum_on_host(name):
    """The sum of a file in the image, which is an ext4 to the host."""
    data = subprocess.run(["debugfs", "-R", f"cat /{name}", IMAGE],
                          check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    return hashlib.sha256(data).hexdigest()


def _summarise(stock, card, ssds, sums, findings, seconds):
    paint = table.Paint(sys.stdout)
    version = subprocess.run([vm.QEMU, "--version"], text=True, check=True,
                             stdout=subprocess.PIPE).stdout.splitlines()[0]
    ui.say()
    ui.say(paint.bold("OCZ Z-Drive R4 CM88 in the QEMU that Debian ships"))
    ui.say()
    ui.say(f"  QEMU    {version}")
    ui.say(f"  kernel  {stock.release}, driver {card['driver']}")
    ui.say(f"  card    {card['name']}")
    ui.say(f"  link    {card['link']}")
    ui.say()
    rows = [(row["phy"], row["name"], row["model"], row["firmware"],
             row["serial"], table.size(row["bytes"]),
             paint.good("PASSED", row["healthy"]),
             table.size(row["verified"])) for row in ssds]
    for line in table.lines(("SSD", "disk", "model", "firmware", "serial",
                             "size", "SMART", "verified"), rows, paint):
        ui.say(f"  {line}")
    ui.say()
    ui.say(f"  RAID-0 of the {len(ssds)} SSDs, 64 KiB chunks, ext4, files of "
           f"{FILES_MIB} MiB and their SHA-256:")
    ui.say()
    rows = [(name, *(one.get(name, "missing")[:16] for one in sums))
            for name in FILES]
    for line in table.lines(("file", "written", "after restart",
                             f"on the host ({IMAGE.name})"), rows, paint):
        ui.say(f"  {line}")
    ui.say()
    ui.say(f"  The image stays in {IMAGE}; debugfs, fuse2fs and losetup open "
           "it.")
    ui.say()
    for line in findings.differences:
        ui.say(f"  {paint.good('different', False)}  {line}")
    if not findings.differences:
        ui.say(f"  {paint.good('All as it has to be', True)}, in "
               f"{seconds:.0f} s. Next: scripts/zdrive run")

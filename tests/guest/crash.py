# SPDX-License-Identifier: GPL-2.0-or-later
"""A card's journal of Debian's kernel with ext4, SQLite and dm-log-writes.

The last state of it is the card's image, byte for byte; no state of a program
that is safe fails, within a hundred one of a program that is not; and what the
kernel itself has logged of an SSD is what the journal says.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import guestlib
from zdlib import paths, vm
from zdlib.crash import history, images, journal as jn, logwrites, states

SIZE = 64 << 20
SSDS = 4
EXAMPLES = paths.ROOT / "docs/crash-explorer"
STATES = 100

# The kernel logs what it does to SSD 0; the log is on SSD 1.
LOGGED = """
set -- $(members | while read -r _ _ _ name; do echo "/dev/$name"; done)
modprobe dm-log-writes
dmsetup create logged --table \
    "0 $(blockdev --getsz $1) log-writes $1 $2"
dmsetup mknodes
mkfs.ext4 -q -E nodiscard /dev/mapper/logged
mount /dev/mapper/logged /mnt
cp -r /usr/share/misc /mnt
sync
umount /mnt
dmsetup remove logged
"""


def example(name):
    """A script of the documentation."""
    return (EXAMPLES / name).read_text(encoding="utf-8")


def explore(journal, image, *words):
    """Run `scripts/zdrive crash`."""
    return subprocess.run(
        [paths.ROOT / "scripts/zdrive", "crash", journal, "--image", image,
         "--states", str(STATES), *words], text=True, capture_output=True,
        check=False)


def last_state(path, base):
    """The card with all that was accepted, as bytes."""
    journal = jn.Journal(path)
    with tempfile.TemporaryDirectory() as folder:
        shown = images.Images(folder, base, journal.card)
        for cut in history.History(journal, shown.settle).cuts():
            shown.show(cut, states.make(cut, "all"))
            last = Path(shown.path).read_bytes()
            shown.forget()
        shown.close()
    return last


def check_programs(report, folder, image):
    """ext4 and SQLite, with and without a rollback journal."""
    before, journal = folder / "before.img", folder / "card.journal"
    shutil.copyfile(image.path, before)
    devices = [*vm.blockdev("volume", image.path), *vm.root_port(),
               *vm.card(model="cm84", drive="volume", journal=journal)]
    memory = example("sqlite.sh").replace("bank DELETE", "late MEMORY") \
        .replace("volume\n", "")
    with guestlib.guest(report, devices, "programs") as machine:
        machine.run(example("ext4.sh"), timeout=120)
        machine.run(example("sqlite.sh").replace("volume\n", ""), timeout=120)
        machine.qmp.ask("qom-set", path="/machine/peripheral/zd0",
                        property="mark", value="memory")
        machine.run(memory, timeout=120)
    report.ok("the last state is the card's image",
              last_state(journal, before) == image.path.read_bytes())
    for what, check in (("a file that is replaced", "ext4-check.sh"),
                        ("SQLite", "sqlite-check.sh")):
        done = explore(journal, before, "--check",
                       f"{EXAMPLES / check} {{image}}")
        report.ok(f"{what}: no state fails", done.returncode == 0,
                  done.stdout, done.stderr)
    check = folder / "late-check.sh"
    check.write_text(example("sqlite-check.sh").replace("/bank", "/late"))
    done = explore(journal, before, "--after", "memory", "--failures", "1",
                   "--check", f"sh {check} {{image}}")
    report.ok("SQLite with its journal in memory is found",
              done.returncode == 1, done.stdout, done.stderr)


def check_kernel_log(report, folder):
    """What dm-log-writes has logged of SSD 0 against the card's journal."""
    journal = folder / "logged.journal"
    with guestlib.Image("members", SIZE) as image:
        devices = [*vm.blockdev("volume", image.path), *vm.root_port(),
                   *vm.card(model="cm84", drive="volume", journal=journal)]
        with guestlib.guest(report, devices, "log") as machine:
            machine.run(LOGGED, timeout=180)
        data = image.path.read_bytes()
    chunks = [data[start:start + guestlib.CHUNK]
              for start in range(0, SIZE, guestlib.CHUNK)]
    log = folder / "kernel.log"
    log.write_bytes(b"".join(chunks[1::SSDS]))
    card = jn.Card("import", 1, SIZE // SSDS // jn.SECTOR, False)
    logwrites.import_log(log, folder / "kernel.journal", card)
    writes = [record for record in jn.Journal(folder / "kernel.journal")
              .records if record.type == jn.WRITE]
    report.ok("the kernel has logged writes", len(writes) > 10, len(writes))
    report.ok("in the end SSD 0 holds what they say",
              last_state(folder / "kernel.journal", None)
              == b"".join(chunks[::SSDS]))
    mine = {(record.lba + each, bytes(record.data[each * 512:][:512]))
            for record in jn.Journal(journal).records
            if record.type == jn.WRITE and record.ssd == 0
            for each in range(record.count)}
    theirs = {(record.lba + each, bytes(record.data[each * 512:][:512]))
              for record in writes for each in range(record.count)}
    report.ok("the card's journal has the same writes of SSD 0",
              theirs == mine, len(theirs - mine), len(mine - theirs))


def body(report):
    """One boot for each."""
    with tempfile.TemporaryDirectory() as name, \
         guestlib.Image("volume", SIZE) as image:
        subprocess.run(["mkfs.ext4", "-q", "-F", image.path], check=True)
        check_programs(report, Path(name), image)
        check_kernel_log(report, Path(name))


guestlib.run(body)

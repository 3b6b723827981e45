# SPDX-License-Identifier: GPL-2.0-or-later
"""The host cannot read or write one place of one SSD.

The guest gets an I/O error there, at once and only there; all others go on,
and when the host's trouble is over the SSD is as good as before.
"""

import json

import guestlib
from zdlib import fio, vm

SSDS = 4
MEMBER = 32 << 20
SICK = 2
SECTOR = 512
EIO = 5
# sectors of the sick SSD's file that cannot be read, and not be written
UNREADABLE = 8192
UNWRITABLE = 16384
# An error has to come long before the kernel would give up waiting (30 s).
PROMPT = 20


def sick_drive(node, file):
    """Like vm.blockdev(), with two bad sectors that node @node-bad adds."""
    rules = [{"event": "none", "errno": EIO, "iotype": kind,
              "sector": sector} for kind, sector in
             (("read", UNREADABLE), ("write", UNWRITABLE))]
    return [
        "-blockdev", json.dumps({"driver": "file", "filename": str(file),
                                 "node-name": f"{node}-file"}),
        "-blockdev", json.dumps({"driver": "blkdebug", "image": f"{node}-file",
                                 "inject-error": rules,
                                 "node-name": f"{node}-bad"}),
        "-blockdev", json.dumps({"driver": "raw", "file": f"{node}-bad",
                                 "node-name": node})]


def transfer(machine, name, verb, sector):
    """Whether dd can read or write one page at @sector."""
    side = {"read": f"if=/dev/{name} of=/dev/null iflag=direct skip",
            "write": f"if=/dev/zero of=/dev/{name} oflag=direct seek"}[verb]
    return machine.run(f"dd bs=4k count=1 {side}={sector * SECTOR // 4096}",
                       timeout=PROMPT, check=False).status == 0


def body(report):
    """Fail, let the others work, heal."""
    with guestlib.Image("member", MEMBER) as image:
        devices = vm.root_port()
        drives = {}
        for number in range(SSDS):
            node = f"member{number}"
            drives[f"drive{number}"] = node
            devices += sick_drive(node, image.path) if number == SICK else [
                "-blockdev", f"null-co,node-name={node},size={MEMBER},"
                "read-zeroes=on"]
        devices += vm.card(model="cm84", **drives)
        with guestlib.guest(report, devices, errors_wanted=True) as machine:
            names = guestlib.names(machine)
            sick = names[SICK]
            for verb, sector in (("read", UNREADABLE), ("write", UNWRITABLE)):
                report.ok(f"{verb} of a good sector works",
                          transfer(machine, sick, verb, 0))
                report.ok(f"{verb} of the bad sector is an error",
                          not transfer(machine, sick, verb, sector))
                for name in names:
                    report.ok(f"{name} works after it",
                              transfer(machine, name, verb, 0))
            report.ok("all SSDs are still there",
                      guestlib.names(machine) == names)
            machine.qmp.ask("blockdev-reopen", options=[
                {"driver": "raw", "node-name": f"member{SICK}",
                 "file": f"member{SICK}-file"}])
            for verb, sector in (("read", UNREADABLE), ("write", UNWRITABLE)):
                report.ok(f"{verb} of the sector works again",
                          transfer(machine, sick, verb, sector))
            job, = fio.verify(machine, [sick], "16M")
            report.ok("the SSD is as good as before", job["error"] == 0, job)


guestlib.run(body)

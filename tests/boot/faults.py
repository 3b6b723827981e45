# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever is wrong with its SSDs, POST ends in time and says which and why.

    faults.py bios | uefi | shell

Times are virtual: the time stamp counter counts nanoseconds of it under icount.
"shell" starts the firmware as users do and measures none.
"""

import sys

import bootlib
import remote
from zdlib import console, vm

SSDS = 4
SIZE = "64M"
# At most this long may the ROM take, whatever is wrong (issue: 10 s).
LONGEST = 10
INCOMPLETE = "the volume is incomplete and not shown"
BUSY = "stays busy: a link, but no signature"
PANIC = "is in panic mode: its controller has lost its state"
SILENT = "does not answer"


def each(*faults):
    """These faults on every SSD."""
    return ";".join(f"ssd{n}:{fault}" for n in range(SSDS) for fault in faults)


# Faults, and what has to be said, first of it what hides the volume.
CASES = {
    "good": ("", []),
    "hung": ("ssd2:hang", [f"SSD 2 {SILENT}", INCOMPLETE]),
    "hung once": ("ssd2:hang times=1", []),
    "IDENTIFY hangs": ("ssd1:hang opcode=0xec",
                       [f"SSD 1 {SILENT}", INCOMPLETE]),
    "IDENTIFY fails": ("ssd1:crc-error opcode=0xec",
                       ["SSD 1 refuses IDENTIFY DEVICE", INCOMPLETE]),
    "no capacity": ("ssd3:panic form=no-capacity",
                    [f"SSD 3 {PANIC}", INCOMPLETE]),
    "diagnostic": ("ssd0:panic form=diagnostic",
                   [f"SSD 0 {PANIC}", INCOMPLETE]),
    "busy": ("ssd1:panic form=busy", [f"SSD 1 {BUSY}", INCOMPLETE]),
    "missing": ("ssd2:missing", ["SSD 2 missing: no link", INCOMPLETE]),
    "late": ("ssd2:signature-late delay=2s", []),
    "too late": ("ssd2:signature-late delay=20s",
                 [f"SSD 2 {BUSY}", INCOMPLETE]),
    "absent": ("ssd0:signature-absent", [f"SSD 0 {BUSY}", INCOMPLETE]),
    "two": ("ssd0:hang;ssd3:panic form=diagnostic",
            [f"SSD 0 {SILENT}", f"SSD 3 {PANIC}", INCOMPLETE]),
    "flash and late": ("card:spi-corrupt field=signature;"
                       "ssd2:signature-late delay=2s",
                       ["has no valid signature: using all SSDs"]),
    "flash and busy": ("card:spi-corrupt field=checksum;"
                       "ssd2:signature-absent",
                       [f"SSD 2 {BUSY}", "has a wrong checksum", INCOMPLETE]),
    "number": ("card:spi-corrupt field=drive-count",
               ["incomplete and not shown"]),
    "serial": ("card:spi-corrupt field=serial", []),
    "all hung": (each("hang"),
                 [f"SSD {n} {SILENT}" for n in range(SSDS)]),
    "all absent": (each("signature-absent"),
                   [f"SSD {n} {BUSY}" for n in range(SSDS)]),
    "all missing": (each("missing"), ["SSD 0 missing: no link"]),
    # as slow as can be at every step
    "worst": (each("signature-late delay=2900ms") + ";ssd0:link-drop;"
              "ssd1:hang opcode=0xec;ssd2:hang opcode=0xec;"
              "ssd3:hang opcode=0xec",
              [f"SSD {n} {SILENT}" for n in range(SSDS)]),
    "worst IDENTIFY": (each("signature-late delay=2900ms",
                            "slow opcode=0xe5 delay=1900ms",
                            "hang opcode=0xec"),
                       [f"SSD {n} {SILENT}" for n in range(SSDS)]),
}
# The ROM finds nothing wrong, and then no read of the first SSD has an end.
READS_HANG = "ssd0:hang opcode=0x25"


def post(name, **card):
    """What the console says up to the floppy, and when that was."""
    devices = [*bootlib.clock(), *vm.root_port(),
               *vm.card(model="cm84", size=SIZE, **card)]
    with console.Machine(bootlib.name(name.replace(" ", "-")), devices,
                         accelerator=bootlib.SLOW_ICOUNT) as guest:
        seconds = bootlib.clock_seconds(guest)
        return guest.text, seconds


def prompt(name, faults, words, **options):
    """What the console says up to the @words of a firmware's prompt."""
    devices = [*vm.root_port(), *vm.card(model="cm84", size=SIZE,
                                         faults=faults)]
    with console.Machine(bootlib.name(name.replace(" ", "-")), devices,
                         **options) as guest:
        guest.expect(words, bootlib.MENU)
        return guest.text


def judge(report, name, text, shown, seconds):
    """Report what @text says of case @name, and the time it took."""
    says = CASES[name][1]
    for words in says:
        report.ok(f"{name}: {words}", words in text, text)
    hidden = bool(says) and "using all" not in says[0]
    report.ok(f"{name}: {'no ' if hidden else ''}volume", shown != hidden,
              text)
    report.ok(f"{name}: no more than {LONGEST} s", 0 < seconds < LONGEST,
              f"{seconds:.3f} s")
    report.note(f"{name}: {seconds:.3f} s")


def bios(report):
    """A cold start for each case."""
    begin = post("nothing", romfile="")[1]
    for name, (faults, _) in CASES.items():
        text, end = post(name, **({"faults": faults} if faults else {}))
        judge(report, name, text, "Volume: RAID-0 of 4 SSDs" in text,
              end - begin)


    # POST is over then: the firmware finds nothing to boot
    text = prompt("reads", READS_HANG, "No bootable device")
    report.ok("reads hang: the firmware goes on",
              "Volume: RAID-0 of 4 SSDs" in text, text)


def uefi(report):
    """A new start of the driver for each case."""
    devices = [*vm.root_port(), *vm.card(model="cm84", size=SIZE)]
    with remote.Remote("driver", devices,
                       accelerator=bootlib.ICOUNT) as guest:
        for name, (faults, _) in CASES.items():
            guest.ask("d")
            guest.machine.qmp.ask("qom-set", path="/machine/peripheral/zd0",
                                  property="faults", value=faults)
            text = len(guest.machine.text)
            status, ns, *disks = guest.ask("c")
            text = guest.machine.text[text:].replace("\n", "")
            report.ok(f"{name}: the driver starts", not status, status)
            judge(report, name, text, bool(disks), ns / 1e9)


def shell(report):
    """The firmware as it is reaches its prompt with the worst of them."""
    for name in ("worst", "all hung", "no capacity"):
        faults, says = CASES[name]
        text = prompt(name, faults, "Shell> ", uefi=True).replace("\n", "")
        for words in says:
            report.ok(f"{name}: {words}", words in text, text)
    text = prompt("reads", READS_HANG, "Shell> ", uefi=True)
    report.ok("reads hang: the firmware goes on", "Z-Drive:" not in text, text)


def body(report):
    """Run what the variant asks for."""
    {"bios": bios, "uefi": uefi, "shell": shell}[sys.argv[1]](report)


if __name__ == "__main__":
    bootlib.run(body)

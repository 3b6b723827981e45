# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever is wrong with its SSDs, POST ends in time and says which and why.

A floppy behind the card prints the time stamp counter, which counts virtual
time under icount; so the limit is not one of the host.
"""

import bootlib
from zdlib import console, vm

SSDS = 4
# At most this long may the ROM take, whatever is wrong (issue: 10 s).
LONGEST = 10
INCOMPLETE = "the volume is incomplete and not shown"
BUSY = "stays busy: a link, but no signature"
PANIC = "is in panic mode: its controller has lost its state"
SILENT = "does not answer"


def each(*faults):
    """These faults on every SSD."""
    return ";".join(f"ssd{n}:{fault}" for n in range(SSDS) for fault in faults)


# Faults, and what has to be said; nothing of it: the volume is shown.
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
                       ["has no valid signature"]),
    "flash and busy": ("card:spi-corrupt field=checksum;"
                       "ssd2:signature-absent",
                       ["has a wrong checksum", f"SSD 2 {BUSY}", INCOMPLETE]),
    "number": ("card:spi-corrupt field=drive-count", [INCOMPLETE]),
    "serial": ("card:spi-corrupt field=serial", []),
    "all hung": (each("hang"),
                 [f"SSD {n} {SILENT}" for n in range(SSDS)]),
    "all absent": (each("signature-absent"),
                   [f"SSD {n} {BUSY}" for n in range(SSDS)]),
    "all missing": (each("missing"), ["Nothing to boot from"]),
    # as slow as can be at every step
    "worst": (each("signature-late delay=2900ms", "hang",
                   "signature-absent after=1"),
              [f"SSD {n} {SILENT}" for n in range(SSDS)]),
    "worst IDENTIFY": (each("signature-late delay=2900ms",
                            "slow opcode=0xe5 delay=1900ms",
                            "hang opcode=0xec"),
                       [f"SSD {n} {SILENT}" for n in range(SSDS)]),
}


def post(name, **card):
    """What the console says up to the floppy, and when that was."""
    devices = [*bootlib.clock(), *vm.root_port(),
               *vm.card(model="cm84", size="64M", **card)]
    with console.Machine(bootlib.name(name.replace(" ", "-")), devices,
                         accelerator=bootlib.SLOW_ICOUNT) as guest:
        seconds = bootlib.clock_seconds(guest)
        return guest.text, seconds


def body(report):
    """Start a machine for each case."""
    begin = post("nothing", romfile="")[1]
    for name, (faults, says) in CASES.items():
        text, end = post(name, **({"faults": faults} if faults else {}))
        for words in says:
            report.ok(f"{name}: {words}", words in text, text)
        report.ok(f"{name}: {'no ' if INCOMPLETE in says else ''}volume",
                  ("Volume: RAID-0 of 4 SSDs" in text) ==
                  (not says or says == CASES["flash and late"][1]), text)
        report.ok(f"{name}: POST takes no more than {LONGEST} s longer",
                  0 < end - begin < LONGEST, f"{end - begin:.3f} s")
        report.note(f"{name}: {end - begin:.3f} s")


if __name__ == "__main__":
    bootlib.run(body)

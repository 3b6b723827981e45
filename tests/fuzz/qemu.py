# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's own generic fuzzer, for a while, against the card.

    qemu.py SECONDS

The fuzzer knows nothing of the card.  So it begins with programs that start a
core as mvsas does and then send each ATA command, in its own language: what
the card reads from memory are patterns that take turns, one each for the
descriptor, the header, the FIS and the PRD.  What it finds interesting is kept
in build/fuzz-qemu/corpus, what breaks the card in build/fuzz-qemu/broken.
"""

import os
import re
import shutil
import struct
import subprocess
import sys

from zdlib import fsys, fuzzqemu, paths, tap

CORPUS = fuzzqemu.FOLDER / "corpus"
BROKEN = fuzzqemu.FOLDER / "broken"
LOG = fuzzqemu.FOLDER / "log"
# Memory up to where q35 has its hole, so that most addresses are memory.
MACHINE = ("-machine q35 -nodefaults -m 2816M -L /usr/share/seabios "
           "-device zdrive-r4,id=zd,timing=off,size=64M,romfile=")
# What one operation may take, in microseconds; less than a second.
PATIENCE = 900000
COMPLAINT = re.compile(r"ERROR: \w*Sanitizer|runtime error:|"
                       r"ERROR: libFuzzer|Assertion")
# What it may take to end after its time.
GRACE = 120

SEPARATOR = b"FUZZ"
OP_READ, OP_WRITE, OP_PATTERN, OP_CLEAR, OP_CLOCK = 2, 3, 7, 8, 9
LONG = 2
BAR2 = 1
CORE = 0x20000

# Registers of a core, and what mvsas writes; addresses are memory.
START = (
    (0x100, 0x20), (0x108, 0x100000), (0x110, 0x200000), (0x120, 0x800),
    (0x124, 0x300000), (0x134, 0x400), (0x138, 0x400000),
    (0x184, 0x00c00105), (0x120, 0x10800), (0x134, 0x10400), (0x104, 0x59),
    (0x118, 0xffffffff), (0x154, 0x0e00fffb),
)
DOORBELL, INT_STAT = 0x12C, 0x150


def write(offset, value):
    """One write to a register of core 0."""
    return bytes([OP_WRITE]) + struct.pack("<BBxxIQ", LONG, BAR2,
                                           CORE + offset, value)


def read(offset):
    """One read of a register of core 0."""
    return bytes([OP_READ]) + struct.pack("<BBxxI", LONG, BAR2, CORE + offset)


def pattern(data):
    """A pattern for the card's next read of memory."""
    return bytes([OP_PATTERN, 0, 0]) + data


def program(opcode, count, length):
    """A program that sends a command three times."""
    descriptor = struct.pack("<I", 3 << 29 | 1 << 12)
    queued = 0x40 if opcode in (0x60, 0x61) else 0
    header = struct.pack("<IIIIQQQQ16x", 1 << 16 | queued, 5, 0, length,
                         0x500000, 0, 0x600000, 0x700000)
    features = (count, 0) if queued else (0, count)
    fis = struct.pack("<BBBBIIBBH4x", 0x27, 0x80, opcode, features[0],
                      0x40000008, 0, features[1], 0, 0)
    prd = struct.pack("<QI", 0x800000, length)
    words = [write(offset, value) for offset, value in START]
    for index in range(3):
        words += [bytes([OP_CLEAR]), *map(pattern, (descriptor, header, fis,
                                                    prd)),
                  write(DOORBELL, index), bytes([OP_CLOCK]), read(INT_STAT),
                  write(INT_STAT, 1)]
    return SEPARATOR.join(words)


def opcodes():
    """The ATA commands that the SSD knows, and one that it does not."""
    text = (paths.ROOT / "hw/zdrive/disk/ata/commands.c").read_text()
    return [int(code, 16) for code in
            re.findall(r"\[0x(\w\w)\] = \{ \"", text)] + [0xFF]


def sow():
    """Write the programs that the fuzzer begins with."""
    fsys.folder(CORPUS)
    for opcode in opcodes():
        for count, length in ((1, 512), (8, 4096), (0, 512)):
            (CORPUS / f"seed-{opcode:02x}-{count}").write_bytes(
                program(opcode, count, length))


def main():
    """Report whether the fuzzer has run and found nothing."""
    report = tap.Report()
    seconds = int(sys.argv[1])
    shutil.rmtree(BROKEN, ignore_errors=True)
    fsys.folder(BROKEN)
    sow()
    with open(LOG, "w", encoding="utf-8") as log:
        done = subprocess.run(
            [fuzzqemu.BUILD / fuzzqemu.PROGRAM, "--fuzz-target=generic-fuzz",
             f"-max_total_time={seconds}", f"-artifact_prefix={BROKEN}/",
             "-timeout=60", "-rss_limit_mb=8192", "-max_len=8192",
             "-print_final_stats=1", CORPUS],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False,
            timeout=seconds + GRACE, cwd=fuzzqemu.BUILD,
            env={**os.environ, "QEMU_FUZZ_ARGS": MACHINE,
                 "QEMU_FUZZ_OBJECTS": "zdrive*",
                 "QEMU_FUZZ_TIMEOUT": str(PATIENCE),
                 "ASAN_OPTIONS": "detect_leaks=0",
                 "UBSAN_OPTIONS": "print_stacktrace=1"})
    said = LOG.read_text(errors="replace")
    broken = sorted(path.name for path in BROKEN.iterdir())
    runs = re.search(r"number_of_executed_units: (\d+)", said)
    report.ok("the fuzzer has run to its end", done.returncode == 0 and runs,
              done.returncode, *said.splitlines()[-20:])
    report.ok(f"{runs[1] if runs else 'no'} programs have broken nothing",
              not broken and not COMPLAINT.search(said), *broken,
              *COMPLAINT.findall(said)[:5], f"see {LOG}")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

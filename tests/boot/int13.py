# SPDX-License-Identifier: GPL-2.0-or-later
"""Every function of int 13h and its errors, called by a real-mode program.

    int13.py pc | q35

int13.c runs from a floppy and reports in TAP; what it has written is looked up
in the card's image on the host.
"""

import struct
import subprocess
import sys
from pathlib import Path

import bootlib
from zdlib import console, vm

HERE = Path(__file__).parent
SECTOR = 512
SIZE = 64 << 20
CHUNK = 128
ROW = 50 * CHUNK
# Chunks 400 to 405 of the volume, see int13.c.
FAULTS = (f"ssd0:read-error lba={ROW + 10}",
          f"ssd1:write-fault lba={ROW + 10}",
          f"ssd2:crc-error times=2 lba={ROW}-{ROW + CHUNK - 1}",
          f"ssd3:crc-error lba={ROW}-{ROW + CHUNK - 1}",
          f"ssd5:hang times=1 lba={ROW}-{ROW + CHUNK - 1}")
FLAGS = ("-m16", "-march=i386", "-std=gnu11", "-ffreestanding", "-Os",
         "-fno-pie", "-mregparm=3", "-fno-stack-protector",
         "-fno-asynchronous-unwind-tables", "-fcf-protection=none",
         "-fno-jump-tables", "-fno-strict-aliasing", "-mno-mmx", "-mno-sse",
         "-Wall", "-Wextra", "-Wno-main")


def build():
    """The floppy with the program."""
    folder = bootlib.FOLDER
    for file in ("int13.S", "int13.c"):
        subprocess.run(["gcc", *FLAGS, "-c", HERE / file, "-o",
                        folder / f"{file}.o"], check=True)
    subprocess.run(["ld", "-m", "elf_i386", "-z", "noexecstack",
                    "--no-warn-rwx-segments", "-T", HERE / "int13.lds",
                    folder / "int13.S.o", folder / "int13.c.o", "-o",
                    folder / "int13.elf"], check=True)
    subprocess.run(["objcopy", "-O", "binary", folder / "int13.elf",
                    folder / "int13.bin"], check=True)
    floppy = folder / "floppy.img"
    floppy.write_bytes(
        (folder / "int13.bin").read_bytes().ljust(1440 << 10, b"\0"))
    return floppy


def numbered():
    """A volume whose sectors begin with their numbers."""
    path = bootlib.FOLDER / "volume.img"
    with open(path, "wb") as file:
        for lba in range(SIZE // SECTOR):
            file.write(struct.pack("<Q", lba).ljust(SECTOR, b"\xa5"))
    return path


def check_image(report, path):
    """Whether the sectors that were written are those, and no others."""
    wanted = {CHUNK * 9 - 50 + i: 0x10000 + i for i in range(100)}
    wanted |= {4000: 0x20000, 3 * 63 + 1: 0x30000}
    data = path.read_bytes()
    found = {lba: struct.unpack_from("<I", data, lba * SECTOR)[0]
             for lba in range(SIZE // SECTOR)
             if struct.unpack_from("<Q", data, lba * SECTOR)[0] != lba}
    # written once more with verification, by what the buffer held
    found.pop(4100, None)
    report.ok("the image has what was written, where it belongs",
              found == wanted, found)


def body(report):
    """Boot the floppy and count what it says."""
    machine = sys.argv[1]
    volume = numbered()
    devices = [
        *bootlib.drive("d", volume),
        "-drive", f"if=none,id=f,format=raw,file={build()}",
        *(["-device", "isa-fdc,id=fdc"] if machine == "q35" else []),
        "-device", "floppy,drive=f",
        *vm.device("zdrive-r4", model="cm88", drive="d", timing="off",
                    faults=";".join(FAULTS),
                   bus="pcie.0" if machine == "q35" else "pci.0"),
        "-boot", "order=a"]
    with console.Machine(bootlib.name(), devices, machine=machine,
                         accelerator=bootlib.ICOUNT) as guest:
        guest.expect("int13: begin", bootlib.POST)
        guest.expect("int13: end", bootlib.POST)
        text = guest.text[guest.text.index("int13: begin"):]
    lines = [line for line in text.splitlines()
             if line.startswith(("ok ", "not ok "))]
    for line in lines:
        report.ok(line.partition(" - ")[2], line.startswith("ok"), line)
    report.ok("the program has run to its end",
              f"1..{len(lines)}" in text.splitlines(), text[-200:])
    check_image(report, volume)
    volume.unlink()


if __name__ == "__main__":
    bootlib.run(body)

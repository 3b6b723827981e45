# SPDX-License-Identifier: GPL-2.0-or-later
"""The ROM file: headers, chain and checksums of both images, the same bytes
every time; and what the card makes of it.
"""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from zdlib import paths, tap, vm

BLOCK = 512
LIMIT = 64 << 10
LAST = 0x80


def images(rom):
    """Offset, PCI data structure and length of each image."""
    at = 0
    while at < len(rom):
        pcir = at + struct.unpack_from("<H", rom, at + 0x18)[0]
        length = struct.unpack_from("<H", rom, pcir + 0x10)[0] * BLOCK
        yield at, pcir, length
        if rom[pcir + 0x15] & LAST:
            return
        at += length


def check_bios(report, rom, at, pcir, length):
    """What a BIOS looks at."""
    size = rom[at + 2] * BLOCK
    report.ok("BIOS: size in the header", size == length, size)
    report.ok("BIOS: checksum", sum(rom[at:at + size]) & 0xFF == 0)
    listed = pcir + struct.unpack_from("<H", rom, pcir + 8)[0]
    devices = set()
    while value := struct.unpack_from("<H", rom, listed)[0]:
        devices.add(value)
        listed += 2
    report.ok("BIOS: device list", devices == {0x1044, 0x1084}, devices)
    pnp = at + struct.unpack_from("<H", rom, at + 0x1A)[0]
    report.ok("BIOS: Plug and Play header", rom[pnp:pnp + 4] == b"$PnP")
    report.ok("BIOS: its checksum",
              sum(rom[pnp:pnp + 16 * rom[pnp + 5]]) & 0xFF == 0)
    report.ok("BIOS: boot connection vector, no bootstrap entry",
              struct.unpack_from("<H", rom, pnp + 0x16)[0] != 0 and
              struct.unpack_from("<H", rom, pnp + 0x1A)[0] == 0)


def check_uefi(report, rom, at, length):
    """What UEFI firmware looks at."""
    blocks, signature, subsystem, machine, compression = struct.unpack_from(
        "<HIHHH", rom, at + 2)
    report.ok("UEFI: size in the header", blocks * BLOCK == length, blocks)
    report.ok("UEFI: signature", signature == 0x0EF1, signature)
    report.ok("UEFI: a boot service driver for x86-64",
              (subsystem, machine, compression) == (0x0B, 0x8664, 0))
    start = at + struct.unpack_from("<H", rom, at + 0x16)[0]
    pe = start + struct.unpack_from("<I", rom, start + 0x3C)[0]
    report.ok("UEFI: a PE file", rom[start:start + 2] == b"MZ" and
              rom[pe:pe + 4] == b"PE\0\0")
    report.ok("UEFI: no time stamp in it",
              struct.unpack_from("<I", rom, pe + 8)[0] == 0)
    report.ok("UEFI: within the image", start < at + length)


def rebuilt():
    """The ROM, built once more in another folder."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "a.rom")
        subprocess.run(
            ["/usr/bin/python3", "-B", paths.ROOT / "images/rom/build.py",
             out, Path(folder, "a.d"), Path(folder, "objects")], check=True)
        return out.read_bytes()


def main():
    """Walk through the file."""
    report = tap.Report()
    rom = paths.ROM.read_bytes()
    report.ok("not more than 64 KiB", len(rom) <= LIMIT, len(rom))
    found = list(images(rom))
    kinds = [rom[pcir + 0x14] for _, pcir, _ in found]
    report.ok("one BIOS and one UEFI image", kinds == [0, 3], kinds)
    report.ok("the images fill the file",
              sum(length for _, _, length in found) == len(rom))
    for at, pcir, length in found:
        report.ok("image begins with 55 AA", rom[at:at + 2] == b"\x55\xaa")
        report.ok("PCIR, aligned, of PCI Firmware 3.0",
                  rom[pcir:pcir + 4] == b"PCIR" and pcir % 4 == 0 and
                  struct.unpack_from("<HB", rom, pcir + 0x0A) == (0x1C, 3))
        report.ok("class of a SCSI controller",
                  rom[pcir + 0x0D:pcir + 0x10] == b"\0\0\1")
        report.ok("only the last image is marked as such",
                  bool(rom[pcir + 0x15] & LAST) == (at == found[-1][0]))
        report.ok("vendor and device",
                  struct.unpack_from("<HH", rom, pcir + 4) ==
                  (0x1B85, 0x1084))
        if rom[pcir + 0x14] == 0:
            check_bios(report, rom, at, pcir, length)
        else:
            check_uefi(report, rom, at, length)
    report.ok("built again, the same bytes", rebuilt() == rom)
    # the BAR and its absence, as the monitor lists them
    for properties, wanted in (("model=cm84", True), ("rombar=0", False),
                               ("romfile=", False)):
        shown = subprocess.run(
            [vm.QEMU, *vm.machine(), *vm.plugin(), "-S", "-monitor", "stdio",
             "-device", f"zdrive-r4,{properties}"], text=True, check=True,
            input="info pci\nquit\n", stdout=subprocess.PIPE).stdout
        report.ok(f"ROM BAR with {properties}",
                  ("BAR6:" in shown) == wanted, shown)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

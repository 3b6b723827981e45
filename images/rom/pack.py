# SPDX-License-Identifier: GPL-2.0-or-later
"""Packs the BIOS image and the UEFI driver into one expansion ROM.

    pack.py OUT BIOS.bin [DRIVER.elf]

Fills the lengths, checksums and the last-image marks of PCI Firmware 3.0 and
UEFI 2.9, 14.4.2.  The bytes depend on the inputs alone.
"""

import collections
import struct
import sys
from pathlib import Path

BLOCK = 512
LIMIT = 64 << 10
PCIR_POINTER = 0x18
PNP_POINTER = 0x1A
# Where QEMU keeps the sum right when it puts another device id in place.
CHECKSUM = 6
LAST_IMAGE = 0x80

EFI_SIGNATURE = 0x0EF1
EFI_CODE = 3
PCI_CLASS = b"\x00\x00\x01"
VENDOR = 0x1B85
DEVICES = (0x1084, 0x1044)


PE_PAGE = 0x1000
PE_HEADERS = 0x200
PE_MACHINE = 0x8664
PE_OPTIONAL = 0x70 + 16 * 8
PE_FLAGS = 0x0022           # executable, large addresses
PE_APPLICATION = 0x0A
PE_SUBSYSTEM = 0x0B         # boot service driver
PE_SECTIONS = {             # code, read, execute; data, read, write
    ".text": 0x60000020,
    ".data": 0xC0000040,
}
# Fields of ELF headers: Elf64_Ehdr and Elf64_Shdr.
ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
ELF_SECTION = struct.Struct("<IIQQQQIIQQ")
ELF_RELOCATIONS = (4, 9)
ELF_NOBITS = 8

Section = collections.namedtuple("Section", "name flags address data")


def _align(size, to):
    return -(-size // to) * to


def _pad(data):
    return data + bytes(-len(data) % BLOCK)


def _elf_sections(elf):
    """What of @elf goes into memory, and where it starts."""
    header = ELF_HEADER.unpack_from(elf)
    entry, table, count, names = (header[4], header[6], header[12],
                                  header[13])
    rows = [ELF_SECTION.unpack_from(elf, table + i * ELF_SECTION.size)
            for i in range(count)]
    found = []
    for row in rows:
        start = rows[names][4] + row[0]
        name = elf[start:elf.index(0, start)].decode()
        if row[1] in ELF_RELOCATIONS:
            sys.exit(f"pack.py: the driver needs relocation ({name})")
        if name in PE_SECTIONS:
            data = (bytes(row[5]) if row[1] == ELF_NOBITS
                    else elf[row[4]:row[4] + row[5]])
            found.append(Section(name.encode(), PE_SECTIONS[name], row[3],
                                 data))
    return found, entry


def _negated_sum(data):
    return -sum(data) & 0xFF


def _pcir(image):
    return struct.unpack_from("<H", image, PCIR_POINTER)[0]


def _pnp_checksums(image):
    at = struct.unpack_from("<H", image, PNP_POINTER)[0]
    while image[at:at + 4] == b"$PnP":
        size = 16 * image[at + 5]
        image[at + 9] = 0
        image[at + 9] = _negated_sum(image[at:at + size])
        at += size


def bios_image(code):
    """The BIOS image with its lengths; checksum by finish()."""
    image = bytearray(_pad(code))
    if len(image) // BLOCK > 0xFF:
        sys.exit(f"pack.py: a BIOS image of {len(image)} bytes is too large")
    image[2] = len(image) // BLOCK
    struct.pack_into("<H", image, _pcir(image) + 0x10, len(image) // BLOCK)
    _pnp_checksums(image)
    return image


def pe_file(elf, subsystem=PE_SUBSYSTEM):
    """A PE file from the driver's @elf, see uefi.lds.

    Sections keep their addresses.  Nothing needs relocation: there is an
    empty table to say so, since a file without one would be taken as fixed.
    """
    sections, entry = _elf_sections(elf)
    headers = bytearray(PE_HEADERS)
    size = _align(sections[-1].address + len(sections[-1].data), PE_PAGE)
    struct.pack_into("<2s58xI", headers, 0, b"MZ", 0x40)
    struct.pack_into("<4sHHIIIHH", headers, 0x40, b"PE\0\0", PE_MACHINE,
                     len(sections), 0, 0, 0, PE_OPTIONAL, PE_FLAGS)
    struct.pack_into(
        "<HBBIIIII QIIHHHHHHIIIIHHQQQQII", headers, 0x58, 0x20B, 0, 0,
        _align(len(sections[0].data), BLOCK), 0, 0, entry,
        sections[0].address, 0, PE_PAGE, BLOCK, 0, 0, 0, 0, 0, 0, 0,
        size, PE_HEADERS, 0, subsystem, 0, 0, 0, 0, 0, 0, 16)
    data = b""
    for number, section in enumerate(sections):
        content = _pad(section.data.rstrip(b"\0"))
        struct.pack_into(
            "<8sIIIIIIHHI", headers, 0x58 + PE_OPTIONAL + 40 * number,
            section.name, len(section.data), section.address, len(content),
            PE_HEADERS + len(data) if content else 0, 0, 0, 0, 0,
            section.flags)
        data += content
    return bytes(headers) + data


def efi_image(driver):
    """A UEFI image around the PE file @driver."""
    pcir_at = 0x1C
    ids = struct.pack(f"<{len(DEVICES) + 1}H", *sorted(DEVICES), 0)
    pcir_size = 0x1C
    start = _align(pcir_at + pcir_size + len(ids), 16)
    blocks = _align(start + len(driver), BLOCK) // BLOCK
    header = struct.pack("<HHIHHH8sHH", 0xAA55, blocks, EFI_SIGNATURE,
                         PE_SUBSYSTEM, PE_MACHINE, 0, b"", start, pcir_at)
    pcir = struct.pack("<4sHHHHB3sHHBBHHH", b"PCIR", VENDOR, DEVICES[0],
                       pcir_size, pcir_size, 3, PCI_CLASS, blocks, 0x0100,
                       EFI_CODE, 0, 0, 0, 0)
    head = header.ljust(pcir_at, b"\0") + pcir + ids
    return bytearray(_pad(head.ljust(start, b"\0") + driver))


def finish(images):
    """Mark the last image and sum up the BIOS ones."""
    for image in images:
        image[_pcir(image) + 0x15] = LAST_IMAGE if image is images[-1] else 0
        if image[_pcir(image) + 0x14] != EFI_CODE:
            image[CHECKSUM] = 0
            image[CHECKSUM] = _negated_sum(image)
    return b"".join(map(bytes, images))


def main(out, bios, driver=None):
    """Write the ROM @out."""
    images = [bios_image(Path(bios).read_bytes())]
    if driver:
        images.append(efi_image(pe_file(Path(driver).read_bytes())))
    rom = finish(images)
    if len(rom) > LIMIT:
        sys.exit(f"pack.py: the ROM has {len(rom)} bytes, the card {LIMIT}")
    Path(out).write_bytes(rom)


if __name__ == "__main__":
    main(*sys.argv[1:])

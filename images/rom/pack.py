# SPDX-License-Identifier: GPL-2.0-or-later
"""Packs the BIOS image and the UEFI driver into one expansion ROM.

    pack.py OUT BIOS.bin [DRIVER.efi]

Fills the lengths, checksums and the last-image marks of PCI Firmware 3.0 and
UEFI 2.9, 14.4.2.  The bytes depend on the inputs alone.
"""

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


def _pad(data):
    return data + bytes(-len(data) % BLOCK)


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


def efi_image(driver):
    """A UEFI image around the PE file @driver."""
    pe, = struct.unpack_from("<I", driver, 0x3C)
    machine, = struct.unpack_from("<H", driver, pe + 4)
    subsystem, = struct.unpack_from("<H", driver, pe + 0x5C)
    pcir_at = 0x1C
    ids = struct.pack(f"<{len(DEVICES) + 1}H", *sorted(DEVICES), 0)
    pcir_size = 0x1C
    start = -(-(pcir_at + pcir_size + len(ids)) // 16) * 16
    blocks = -(-(start + len(driver)) // BLOCK)
    header = struct.pack("<HHIHHH8sHH", 0xAA55, blocks, EFI_SIGNATURE,
                         subsystem, machine, 0, b"", start, pcir_at)
    pcir = struct.pack("<4sHHHHB3sHHBBHHH", b"PCIR", VENDOR, DEVICES[0],
                       pcir_size, pcir_size, 3, PCI_CLASS, blocks, 0x0100,
                       EFI_CODE, 0, 0, 0, 0)
    head = (header + pcir + ids).ljust(start, b"\0")
    return bytearray(_pad(head + driver))


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
        images.append(efi_image(Path(driver).read_bytes()))
    rom = finish(images)
    if len(rom) > LIMIT:
        sys.exit(f"pack.py: the ROM has {len(rom)} bytes, the card {LIMIT}")
    Path(out).write_bytes(rom)


if __name__ == "__main__":
    main(*sys.argv[1:])

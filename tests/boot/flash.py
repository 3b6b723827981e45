# SPDX-License-Identifier: GPL-2.0-or-later
"""What is wrong with the card is said in words, and firmware goes on.

    flash.py bios | uefi

Each case has its own contents of the SPI flash: erased, wrong, naming an SSD
that is not there.
"""

import struct
import sys
import time

import bootlib
from zdlib import console, vm

CONFIG = 0x20000
CONFIG_LEN = 0xB8
SIZE = 256 << 10
SSDS = 4
# At most this long may the ROM take, whatever is wrong (issue: 10 s).
LONGEST = 10

PROMPT = {"bios": "No bootable device", "uefi": "Shell> "}


def config(ssds=SSDS, ports=(1 << SSDS) - 1, errors=0xFFFFFFFF):
    """A configuration block as the factory writes it."""
    block = bytearray(CONFIG_LEN)
    block[:4] = b"OCZ "
    block[4] = 1
    block[8:12] = b"CM84"
    block[0x0C:0x0F] = bytes((1, ssds, ports))
    struct.pack_into("<I", block, 0xB0, errors)
    total = sum(struct.unpack(f"<{CONFIG_LEN // 4}I", block))
    struct.pack_into("<I", block, 0xB4, -total & 0xFFFFFFFF)
    return block


def corrupt():
    """One bit that the checksum does not know of."""
    block = config()
    block[0x30] ^= 1
    return block


CASES = {
    "erased": (b"", ["no valid signature"]),
    "corrupt": (corrupt(), ["wrong checksum"]),
    "missing": (config(5, 0x1F), ["SSD 4 missing: no link",
                                  "volume is incomplete"]),
    "count": (config(3), ["volume is incomplete"]),
    "errors": (config(errors=0xFFFFFFFE), ["reports error 00000001"]),
    "good": (config(), []),
}
BIOS_ONLY = {"errors"}


def flash(name, block):
    """The file of a flash with @block as configuration."""
    path = bootlib.FOLDER / f"{name}.flash"
    data = bytearray(b"\xff" * SIZE)
    data[CONFIG:CONFIG + len(block)] = block
    path.write_bytes(data)
    return path


def body(report):
    """Start a machine for each case."""
    firmware = sys.argv[1]
    start = {}
    for name, (block, says) in CASES.items():
        if firmware == "uefi" and name in BIOS_ONLY:
            continue
        devices = [*bootlib.drive("f", flash(name, block)), *vm.root_port(),
                   *vm.card(model="cm84", size="64M", flash="f")]
        with console.Machine(bootlib.name(name), devices,
                             uefi=firmware == "uefi") as guest:
            begin = time.monotonic()
            guest.expect(PROMPT[firmware], bootlib.MENU)
            start[name] = time.monotonic() - begin
            for words in says:
                report.ok(f"{name}: {words}", words in
                          guest.text.replace("\n", ""), guest.text)
            if not says:
                report.ok(f"{name}: no complaint",
                          "Z-Drive:" not in guest.text and
                          "SPI flash" not in guest.text, guest.text)
            report.ok(f"{name}: firmware reaches its prompt", True)
    report.note(*(f"{name}: {seconds:.1f} s to the prompt"
                  for name, seconds in start.items()))


if __name__ == "__main__":
    bootlib.run(body)

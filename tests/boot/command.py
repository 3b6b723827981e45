# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/zdrive boot` and what the card says of ROM files: one clear line.

    command.py errors | bios | uefi
"""

import os
import subprocess
import sys
import time

import bootlib
from zdlib import bootimage, paths, vm

ZDRIVE = paths.ROOT / "scripts" / "zdrive"


def zdrive(*words):
    """Run the command; status and output."""
    result = subprocess.run([ZDRIVE, "boot", *words], text=True, check=False,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    lines = [line for line in result.stdout.splitlines()
             if not line.startswith("  ")]
    return result.returncode, lines


def refused(report, what, words, *says):
    """One line that says what is wrong."""
    code, lines = zdrive(*map(str, words))
    report.ok(what, code == 1 and len(lines) == 1 and
              all(word in lines[0] for word in says), code, *lines)


def card_refused(report, what, properties, *says):
    """QEMU ends with one line about the option ROM."""
    result = subprocess.run(
        [vm.QEMU, *vm.machine(), *vm.plugin(), "-S", "-device",
         f"zdrive-r4,{properties}"], text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=60)
    lines = result.stdout.splitlines()
    report.ok(what, result.returncode == 1 and len(lines) == 1 and
              all(word in lines[0] for word in says), *lines)


def errors(report):
    """Everything that cannot boot."""
    blank = bootlib.sparse("blank.img", 64 << 20)
    tiny = bootlib.sparse("tiny.img", 100)
    odd = bootlib.sparse("odd.img", (64 << 20) + 512)
    mbr = bootlib.sparse("mbr.img", 64 << 20)
    for path in (odd, mbr):
        with open(path, "r+b") as file:
            file.seek(510)
            file.write(b"\x55\xaa")
    refused(report, "no image", ["nowhere.img"], "nowhere.img")
    refused(report, "not bootable", [blank], "not bootable")
    refused(report, "too short", [tiny], "not bootable")
    refused(report, "length that does not fit", [odd], "qemu-img resize",
            "--snapshot")
    refused(report, "no EFI system partition", ["--uefi", mbr],
            "EFI system partition")
    refused(report, "unknown model", ["--model", "zm99", mbr], "zm99")
    report.ok("--snapshot makes the length fit",
              zdrive("--print", "--snapshot", odd)[0] == 0)

    bad = bootlib.FOLDER / "bad.rom"
    bad.write_bytes(b"not a ROM".ljust(1024, b"."))
    other = bootlib.FOLDER / "other.rom"
    other.write_bytes(paths.ROM.read_bytes())
    empty = bootlib.sparse("empty.rom", 0)
    large = bootlib.sparse("large.rom", 128 << 10)
    with open(large, "r+b") as file:
        file.write(paths.ROM.read_bytes())
    card_refused(report, "ROM without signature", f"romfile={bad}", "55 AA")
    card_refused(report, "ROM of another card",
                 f"model=cm84,romfile={other}", "1b85:1044")
    card_refused(report, "empty ROM", f"romfile={empty}", "empty")
    card_refused(report, "large ROM", f"romfile={large}", "too large")
    card_refused(report, "missing ROM", "romfile=nowhere.rom", "nowhere.rom")
    card_refused(report, "unknown view", "rom-view=disks", "volume members")


def boots(report):
    """The image that is made for it boots to a login; Ctrl-A X ends."""
    words = ["--uefi"] if sys.argv[1] == "uefi" else []
    with subprocess.Popen([ZDRIVE, "boot", *words, "--model", "rm84"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        os.set_blocking(process.stdout.fileno(), False)
        text, deadline = b"", time.monotonic() + bootlib.KERNEL
        while b"zdrive login" not in text and time.monotonic() < deadline:
            text += process.stdout.read() or b""
            time.sleep(0.1)
        report.ok("a login", b"zdrive login" in text, text[-500:])
        process.stdin.write(b"\x01x")
        process.stdin.flush()
        report.ok("Ctrl-A X ends", process.wait(bootlib.POST) == 0)


def body(report):
    """Run what the variant asks for."""
    bootimage.get(4)
    (errors if sys.argv[1] == "errors" else boots)(report)


if __name__ == "__main__":
    bootlib.run(body)

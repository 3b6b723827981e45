# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles the option ROM: gcc, ld and objcopy for both parts, then pack.py.

    build.py OUT DEPFILE FOLDER_FOR_OBJECTS [--no-uefi]

The result depends on sources and compiler alone: nothing of it knows paths or
the time.
"""

import subprocess
import sys
from pathlib import Path

import pack

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

COMMON = ("hba", "unit", "flash", "ssd", "words")
BIOS = ("resident", "int13", "console", "init", "post", "setup",
        "health", "erase")
BIOS_ASM = ("head", "entry")
UEFI = ("guids", "text", "clock", "card", "disk", "driver", "names")

FLAGS = (
    "-std=gnu11", "-Os", "-ffreestanding", "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables", "-fcf-protection=none",
    "-fno-strict-aliasing", "-fno-common", "-fno-jump-tables",
    "-fno-delete-null-pointer-checks", "-Wall", "-Wextra", "-Werror",
    f"-I{HERE / 'common'}", f"-I{ROOT}",
)
# Real mode on any 386; arguments in registers for short code.
BIOS_FLAGS = (
    "-m16", "-march=i386", "-mno-mmx", "-mno-sse", "-fno-pie",
    "-mregparm=3", "-fomit-frame-pointer", f"-I{HERE / 'bios'}",
)
# The image may be loaded anywhere, and interrupts use its stack.
UEFI_FLAGS = (
    "-m64", "-fpie", "-fvisibility=hidden", "-fshort-wchar",
    "-mno-red-zone", "-mgeneral-regs-only", "-maccumulate-outgoing-args",
    "-DGNU_EFI_USE_MS_ABI", f"-I{HERE / 'uefi'}",
    "-isystem", "/usr/include/efi", "-isystem", "/usr/include/efi/x86_64",
)
LD_FLAGS = ("--build-id=none", "-z", "noexecstack", "--no-warn-rwx-segments")


def run(*words):
    """Run a tool or end with its status; it has said why."""
    result = subprocess.run([str(word) for word in words], check=False)
    if result.returncode:
        sys.exit(result.returncode)


class Part:
    """One of the two programs in the ROM."""

    def __init__(self, name, flags, folder):
        self.folder = folder / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self._name = name
        self._flags = flags
        self._objects = []

    def compile(self, folder, names, suffix=".c"):
        """Compile sources of @folder."""
        for name in names:
            out = self.folder / f"{name}.o"
            run("gcc", *FLAGS, *self._flags, "-MMD", "-c",
                HERE / folder / f"{name}{suffix}", "-o", out)
            self._objects.append(out)

    def link(self, script, *flags):
        """Link all objects by linker @script."""
        elf = self.folder / f"{self._name}.elf"
        run("ld", *LD_FLAGS, *flags, "-T", HERE / self._name / script,
            *self._objects, "-o", elf)
        return elf

    def depends(self):
        """The files that went into the objects."""
        files = {HERE / self._name / f"{self._name}.lds"}
        for item in self._objects:
            text = item.with_suffix(".d").read_text(encoding="utf-8")
            files.update(map(Path, text.partition(":")[2]
                             .replace("\\\n", " ").split()))
        return files


def main(out, depfile, folder, *options):
    """Build the ROM @out."""
    bios = Part("bios", BIOS_FLAGS, Path(folder))
    bios.compile("bios", BIOS_ASM, ".S")
    bios.compile("common", COMMON)
    bios.compile("bios", BIOS)
    code = bios.folder / "bios.bin"
    run("objcopy", "-O", "binary", bios.link("bios.lds", "-m", "elf_i386"),
        code)
    parts, images = [bios], [code]
    if "--no-uefi" not in options:
        uefi = Part("uefi", UEFI_FLAGS, Path(folder))
        uefi.compile("common", COMMON)
        uefi.compile("uefi", UEFI)
        parts.append(uefi)
        images.append(uefi.link("uefi.lds", "-m", "elf_x86_64", "-pie",
                                "--no-dynamic-linker"))
    pack.main(out, *images)
    files = sorted(str(file) for part in parts for file in part.depends())
    Path(depfile).write_text(f"{out}: {' '.join(files)}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

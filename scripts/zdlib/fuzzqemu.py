# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's own generic fuzzer with the card in it.

That fuzzer is a QEMU of its own: the sources of Debian's QEMU, hw/zdrive among
them, compiled by clang with libFuzzer and the address sanitiser.  The tree is
made of links into the unpacked source package, so that nothing of that is
changed; it has the fewest devices with which there is a q35.
"""

import os
import shutil
from pathlib import Path

from zdlib import apt, fsys, paths, qemusrc, ui

PACKAGES = ("clang", "libclang-rt-dev", "llvm", "seabios")
FOLDER = paths.BUILD / "fuzz-qemu"
TREE = FOLDER / "src"
BUILD = FOLDER / "build"
PROGRAM = "qemu-fuzz-x86_64"
EXTRAS = paths.ROOT / "tests" / "fuzz" / "qemu"
NEED_MIB = 1500

CONFIGURE = (
    "--cc=clang", "--cxx=clang++", "--host-cc=clang",
    "--enable-fuzzing", "--enable-sanitizers",
    "--target-list=x86_64-softmmu", "--without-default-features",
    "--without-default-devices", "--with-devices-x86_64=zdrive",
    "--enable-tcg", "--enable-fdt=system", "--disable-docs",
    "--disable-werror", "--disable-tools",
)


def _put(path, text):
    """Write @path unless it has that @text; never through a link."""
    if path.is_symlink() or not path.exists() or path.read_text() != text:
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _patch(source, name, old, new):
    """File @name of the tree: as in @source, with @new for @old."""
    text = (source / name).read_text(encoding="utf-8")
    if old not in text:
        ui.die(f"QEMU's {name} is not as expected",
               "this QEMU cannot be built with the card in it")
    _put(TREE / name, text.replace(old, new, 1))


def _sources(top):
    """The files of the checkout below @top that QEMU has to compile."""
    for file in sorted((paths.ROOT / top).rglob("*")):
        if file.is_file() and file.suffix in (".c", ".h", ".inc") or \
           file.name == "trace-events":
            yield file.relative_to(paths.ROOT), file


def _tree(source):
    """Bring the tree in line with @source and the checkout."""
    if not (TREE / "configure").exists():
        shutil.rmtree(TREE, ignore_errors=True)
        ui.run(["cp", "-as", f"{source}/.", fsys.folder(TREE)], "fuzz-tree")
    for top in ("hw/zdrive", "include/hw/zdrive"):
        for name, file in _sources(top):
            if file.name not in ("plugin.c", "trace.h"):
                _put(TREE / name, file.read_text(encoding="utf-8"))
    trace = '#include "trace/trace-hw_zdrive.h"\n'
    for folder in (paths.ROOT / "hw/zdrive").rglob("*"):
        if folder.is_dir():
            _put(TREE / folder.relative_to(paths.ROOT) / "trace.h", trace)
    rooms = (paths.ROOT / "hw/zdrive/meson.build").read_text(encoding="utf-8")
    # what belongs to the module alone
    rooms = "\n".join(line for line in rooms.splitlines()
                      if not line.startswith(("plugin_files", "trace_events")))
    _put(TREE / "hw/zdrive/meson.build",
         rooms + (EXTRAS / "meson.build.in").read_text(encoding="utf-8"))
    for name, target in (("types.c", "hw/zdrive/types.c"),
                         ("Kconfig", "hw/zdrive/Kconfig"),
                         ("zdrive.mak",
                          "configs/devices/x86_64-softmmu/zdrive.mak")):
        _put(TREE / target, (EXTRAS / name).read_text(encoding="utf-8"))
    _patch(source, "hw/Kconfig", "source watchdog/Kconfig\n",
           "source watchdog/Kconfig\nsource zdrive/Kconfig\n")
    _patch(source, "hw/meson.build", "subdir('xenpv')\n",
           "subdir('xenpv')\nsubdir('zdrive')\n")
    _patch(source, "meson.build", "    'hw/core',\n",
           "    'hw/core',\n    'hw/zdrive',\n")


def program():
    """Build the fuzzer and return its path."""
    apt.ensure(PACKAGES)
    qemu = qemusrc.headers()
    with fsys.lock(FOLDER, "the fuzzer"):
        fsys.need_space(FOLDER, NEED_MIB, "QEMU with its fuzzer")
        _tree(Path(os.path.realpath(qemu.source)))
        fsys.folder(BUILD)
        if not (BUILD / "build.ninja").exists():
            with ui.step("Configuring QEMU for its fuzzer"):
                ui.run([TREE / "configure", *CONFIGURE], "fuzz-configure",
                       cwd=BUILD)
        with ui.step("Building QEMU with its fuzzer"):
            ui.run(["nice", "-n", "19", "ninja", "-C", BUILD, PROGRAM],
                   "fuzz-ninja")
    return BUILD / PROGRAM

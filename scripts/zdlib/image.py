# SPDX-License-Identifier: GPL-2.0-or-later
"""What a test guest boots from, made of Debian's own packages.

Three files, each kept in the cache and made anew when its inputs change:

    tools    a read-only root with fio, smartmontools, mdadm, pciutils and
             all that these need; a disk, so a guest loads only what it runs
    modules  all modules of one stock kernel; a disk too
    initrd   busybox, the modules that reach those two disks, and our own
             images/guest: the start-up, the agent that vm.py talks to and
             what runs the job that icount.py has

Packages are unpacked without running their maintainer scripts, so it takes
neither root rights nor a chroot; what these scripts would have left behind
comes from finish().
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from zdlib import apt, cpio, fsys, kept, paths, ui

PACKAGES = (
    "bash", "btrfs-progs", "coreutils", "dash", "diffutils", "e2fsprogs",
    "findutils", "fio", "grep", "gzip", "hdparm", "hostname", "kexec-tools",
    "kmod", "less", "lsscsi", "mawk", "mdadm", "mount", "ncurses-base",
    "pciutils", "procps", "python3", "sed", "sg3-utils", "smartmontools",
    "tar", "util-linux", "xfsprogs",
)
# The top-level names that point into /usr on a merged system.
MERGED = ("bin", "sbin", "lib", "lib64")
# Never read in a guest, and a third of the size.
LEFT_OUT = ("doc", "info", "locale", "man")
# What the initrd needs to mount the disks, and for vm.py to open the agent's
# port; icount.py has the disks as persistent memory.
BOOT_MODULES = {
    "virtio": ("virtio_pci", "virtio_blk", "virtio_console", "squashfs",
               "overlay"),
    "pmem": ("nfit", "nd_pmem", "squashfs", "overlay"),
}
# A memory module of QEMU has to be a multiple of that.
DISK_ALIGN = 2 << 20

IMAGES = paths.CACHE / "image"
GUEST = paths.ROOT / "images" / "guest"
TOOLS_MIB = 800


@dataclass(frozen=True)
class Images:
    """The files that a guest boots from."""
    initrd: Path
    disks: dict         # serial number of the virtio disk: its file


def _pack(folder, image):
    apt.ensure(["squashfs-tools"])
    ui.run(["mksquashfs", folder, image, "-comp", "lz4", "-all-root",
            "-no-progress"], f"squashfs-{image.stem}")
    os.truncate(image, -(-image.stat().st_size // DISK_ALIGN) * DISK_ALIGN)


def merge_usr(root):
    """Move /bin, /lib and so on to where a merged system has them."""
    for name in MERGED:
        if (root / name).is_dir():
            ui.run(["cp", "-al", f"{root / name}/.", root / "usr" / name],
                   "image-merge")
            shutil.rmtree(root / name)
        (root / name).symlink_to(f"usr/{name}")


def finish(root):
    """What the packages' scripts do, as far as a guest needs it."""
    for name in ("dev", "mnt", "proc", "root", "run", "sys", "tmp"):
        (root / name).mkdir(exist_ok=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
    (root / "etc/group").write_text("root:x:0:\ndisk:x:6:\n")
    (root / "etc/mtab").symlink_to("../proc/self/mounts")
    (root / "etc/ld.so.conf").write_text("include /etc/ld.so.conf.d/*.conf\n")
    (root / "usr/bin/awk").symlink_to("mawk")
    ui.run(["/sbin/ldconfig", "-r", root], "image-ldconfig")


def _make_tools(folder):
    packages = apt.closure(PACKAGES)
    fsys.need_space(folder, TOOLS_MIB, "the guest's tools")
    root = folder / "root"
    root.mkdir()
    with ui.step("Packing the guest's tools"):
        for deb in packages:
            ui.run(["dpkg-deb", "-x", deb, root], "image-unpack")
        for name in LEFT_OUT:
            shutil.rmtree(root / "usr/share" / name)
        merge_usr(root)
        finish(root)
        _pack(root, folder / "tools.squashfs")
        shutil.rmtree(root)


def _make_modules(kernel, folder):
    with ui.step(f"Packing the modules of kernel {kernel.release}"):
        _pack(kernel.modules.parent, folder / "modules.squashfs")


def load_order(kernel, names):
    """The files of modules @names and of all that these need, as paths
    below the module folder and in an order in which insmod takes them.

    What is built into the kernel has no file.
    """
    needs = {}
    for line in (kernel.modules / "modules.dep").read_text().splitlines():
        path, _, others = line.partition(":")
        needs[path] = others.split()
    files = {Path(path).name.split(".")[0].replace("-", "_"): path
             for path in needs}
    order = {}
    for path in (files[name] for name in names if name in files):
        # modules.dep names the deepest need last.
        order.update(dict.fromkeys([*reversed(needs[path]), path]))
    return list(order)


def _guest_files():
    return sorted(GUEST.iterdir())


def _make_initrd(kernel, folder):
    deb, = apt.download(["busybox-static"])
    root = folder / "root"
    ui.run(["dpkg-deb", "-x", deb, root], "image-unpack")
    busybox, = root.glob("**/bin/busybox")
    archive = cpio.Archive()
    archive.add("bin/busybox", busybox.read_bytes(), 0o755)
    shutil.rmtree(root)
    orders = {kind: load_order(kernel, names)
              for kind, names in BOOT_MODULES.items()}
    for path in sorted({path for order in orders.values() for path in order}):
        archive.add(f"modules/{Path(path).name}",
                    (kernel.modules / path).read_bytes())
    for kind, order in orders.items():
        archive.add(f"modules/{kind}",
                    "".join(f"{Path(path).name}\n" for path in order)
                    .encode())
    for file in _guest_files():
        archive.add(f"guest/{file.name}", file.read_bytes(), 0o755)
    archive.link("init", "guest/init")
    archive.write(folder / "initrd.cpio")


def prepare(kernel):
    """Make what a guest with @kernel needs and is not in the cache."""
    recipe = Path(__file__).read_bytes()
    guest = (file.name.encode() + file.read_bytes()
             for file in _guest_files())
    tools = kept.once(
        IMAGES / f"tools-{kept.digest(recipe)}",
        "guest image", _make_tools)
    modules = kept.once(
        IMAGES / f"modules-{kernel.release}-{DISK_ALIGN >> 20}m",
        "guest image",
        lambda folder: _make_modules(kernel, folder))
    initrd = kept.once(
        IMAGES / f"initrd-{kernel.release}-{kept.digest(recipe, *guest)}",
        "guest image", lambda folder: _make_initrd(kernel, folder))
    return Images(initrd / "initrd.cpio",
                  {"tools": tools / "tools.squashfs",
                   "modules": modules / "modules.squashfs"})

# SPDX-License-Identifier: GPL-2.0-or-later
"""Disk images that boot from a card, made without root rights.

Everything comes from Debian's packages: GRUB for BIOS and for UEFI in one
image, the stock kernel, an initramfs that Debian's initramfs-tools makes, and a
small root file system.

    partition 1  BIOS boot: GRUB's core image
    partition 2  EFI system: GRUB as an application
    partition 3  ext4: /boot and the root file system
"""

import hashlib
import os
import random
import shutil
import stat
import struct
import uuid
import zlib
from pathlib import Path

from zdlib import apt, fsys, image, kept, kernel, paths, ui

SECTOR = 512
MIB = 1 << 20
PACKAGES = ("dosfstools", "e2fsprogs", "grub-common", "grub-efi-amd64-bin",
            "grub-pc-bin", "mtools")
SOURCES = paths.ROOT / "images" / "boot"
KEPT = paths.CACHE / "boot"
INITRAMFS = paths.CACHE / "initramfs"
LABEL = "zdriveroot"
BIG_MIB = 64
SIZE_MIB = 256
INITRAMFS_MIB = 600
ESP_MIB = 33
BIOS_MIB = 1

# bash: for ldd, by which hooks find the libraries of a program.
INITRAMFS_PACKAGES = (
    "bash", "busybox", "coreutils", "cpio", "dash", "debianutils", "dpkg",
    "findutils", "grep", "gzip", "initramfs-tools", "klibc-utils", "kmod", "libc-bin",
    "mawk", "mdadm", "mount", "sed", "udev", "util-linux")
# Drivers on the way to the root file system.
MODULES = ("mvsas", "sd_mod", "raid0", "crc32c_generic", "ext4")
INITRAMFS_SETTINGS = {
    "modules": "MODULES=list\n",
    "compress": "COMPRESS=gzip\n",
}
# What the owner of a card adds to /etc/initramfs-tools.
INITRAMFS_FILES = {
    "initramfs-hook": "hooks/zdrive",
    "initramfs-local-top": "scripts/local-top/zdrive",
}
INITRAMFS_ENVIRONMENT = "PATH=/usr/sbin:/usr/bin:/sbin:/bin SOURCE_DATE_EPOCH=1"
GRUB_MODULES = (
    "part_gpt", "part_msdos", "ext2", "fat", "search", "search_label",
    "serial", "terminal", "echo", "ls", "linux", "normal", "configfile",
    "hashsum", "gcry_sha256", "gcry_crc", "minicmd", "test", "read", "cat", "cmp",
    "hexdump", "loopback", "testspeed", "time", "date", "sleep", "reboot", "halt", "gzio")
GRUB_EARLY = f"""\
search.fs_label {LABEL} root
set prefix=($root)/boot/grub
"""

GPT_TYPES = {
    "bios": uuid.UUID("21686148-6449-6e6f-744e-656564454649"),
    "esp": uuid.UUID("c12a7328-f81f-11d2-ba4b-00a0c93ec93b"),
    "linux": uuid.UUID("0fc63daf-8483-4772-8e79-3d69d8477de4"),
}
# Type, first and last sector of each partition.
PARTITIONS = tuple(
    (kind, first * MIB // SECTOR, last * MIB // SECTOR - 1)
    for kind, first, last in (
        ("bios", 1, 1 + BIOS_MIB),
        ("esp", 1 + BIOS_MIB, 1 + BIOS_MIB + ESP_MIB),
        ("linux", 1 + BIOS_MIB + ESP_MIB, SIZE_MIB - 1)))
GPT_ENTRIES = 128
GPT_SECTORS = 1 + GPT_ENTRIES * 128 // SECTOR
# GRUB's boot.img: where it keeps the sector of the core image, and the jump
# that has it use the BIOS' boot drive.
BOOT_CORE_SECTOR = 0x5C
BOOT_DRIVE_CHECK = 0x66
BOOT_CODE = 440
# The block list at the end of the core image's first sector.
CORE_LIST = 500
CORE_SEGMENT = 0x820


def _guid(number):
    """GUIDs that are the same every time."""
    return uuid.UUID(int=0x7A647269_7665_4000_8000_000000000000 + number)


def _gpt_header(own, other, first_entry, entries, sectors):
    header = bytearray(struct.pack(
        "<8sIIIIQQQQ16sQIII", b"EFI PART", 0x10000, 92, 0, 0, own, other,
        1 + GPT_SECTORS, sectors - GPT_SECTORS - 1, _guid(0).bytes_le,
        first_entry, GPT_ENTRIES, 128, zlib.crc32(entries)))
    struct.pack_into("<I", header, 16, zlib.crc32(header))
    return bytes(header).ljust(SECTOR, b"\0")


def write_gpt(file, sectors, partitions):
    """Write protective MBR and both partition tables; boot code stays.

    @partitions: type name, first and last sector of each.
    """
    entries = b"".join(
        struct.pack("<16s16sQQQ72s", GPT_TYPES[kind].bytes_le,
                    _guid(number + 1).bytes_le, first, last, 0,
                    kind.encode("utf-16le"))
        for number, (kind, first, last) in enumerate(partitions))
    entries = entries.ljust(GPT_ENTRIES * 128, b"\0")
    mbr = bytearray(SECTOR)
    struct.pack_into("<B3sB3sII", mbr, 446, 0, b"\0\2\0", 0xEE,
                     b"\xff\xff\xff", 1, min(sectors - 1, 0xFFFFFFFF))
    mbr[510:] = b"\x55\xaa"
    file.seek(BOOT_CODE)
    file.write(mbr[BOOT_CODE:] + _gpt_header(1, sectors - 1, 2, entries, sectors) +
               entries)
    file.seek((sectors - GPT_SECTORS) * SECTOR)
    file.write(entries + _gpt_header(sectors - 1, 1, sectors - GPT_SECTORS,
                                     entries, sectors))


def _install_grub(file, core, first):
    """What grub-bios-setup does: boot code and @core from sector @first."""
    core = bytearray(core + bytes(-len(core) % SECTOR))
    boot = bytearray(
        Path("/usr/lib/grub/i386-pc/boot.img").read_bytes()[:BOOT_CODE])
    struct.pack_into("<Q", boot, BOOT_CORE_SECTOR, first)
    boot[BOOT_DRIVE_CHECK:BOOT_DRIVE_CHECK + 2] = b"\x90\x90"
    struct.pack_into("<QHH", core, CORE_LIST, first + 1,
                     len(core) // SECTOR - 1, CORE_SEGMENT)
    file.seek(0)
    file.write(boot)
    file.seek(first * SECTOR)
    file.write(core)


def _unpack(names, folder):
    for deb in apt.download(names):
        ui.run(["dpkg-deb", "-x", deb, folder], "boot-unpack")


def _busybox(folder):
    _unpack(["busybox-static"], folder)
    found, = folder.glob("**/bin/busybox")
    return found.read_bytes()


def _mkinitramfs_root(folder, stock):
    """Debian's initramfs-tools below @folder, ready for a chroot."""
    for deb in apt.closure(INITRAMFS_PACKAGES):
        ui.run(["dpkg-deb", "-x", deb, folder], "boot-unpack")
    image.merge_usr(folder)
    image.finish(folder)
    for name in ("boot", "var/tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    config = f"boot/config-{stock.release}"
    shutil.copyfile(stock.root / config, folder / config)
    ui.run(["cp", "-a", stock.modules.parent, folder / "usr/lib"],
           "boot-modules")
    settings = folder / "etc/initramfs-tools"
    for file, value in INITRAMFS_SETTINGS.items():
        (settings / "conf.d" / file).write_text(value)
    (settings / "modules").write_text(
        "".join(f"{name}\n" for name in MODULES))
    for name, to in INITRAMFS_FILES.items():
        (settings / to).write_bytes((SOURCES / name).read_bytes())
        (settings / to).chmod(0o755)


def _make_initrd(stock, folder):
    """The initramfs as update-initramfs makes it on a Debian system.

    Root needs nothing but chroot for it, which also works where namespaces
    are not to be had (in a container, in another chroot); anybody else is
    root in namespaces of his own.
    """
    fsys.need_space(folder, INITRAMFS_MIB, "an initramfs")
    root = folder / "root"
    root.mkdir()
    _mkinitramfs_root(root, stock)
    script = (f"exec chroot '{root}' /usr/bin/env -i {INITRAMFS_ENVIRONMENT} "
              f"mkinitramfs -o /tmp/initrd {stock.release}")
    words = ["sh", "-c", script]
    if os.geteuid() == 0:
        os.mknod(root / "dev/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    else:
        words = ["unshare", "--map-root-user", "--mount", "--pid", "--fork",
                 "--kill-child", "sh", "-c",
                 f"mount -t proc proc '{root}/proc' && "
                 f"mount --rbind /dev '{root}/dev' && {script}"]
    ui.run(words, "boot-initramfs")
    (root / "tmp/initrd").rename(folder / "initrd")
    ui.run(["rm", "-rf", root], "boot-clean")


def _initrd(stock):
    """That initramfs; all images have the same."""
    name = kept.digest(*_recipe())
    path = kept.once(INITRAMFS / f"{stock.release}-{name}", "initramfs",
                     lambda folder: _make_initrd(stock, folder))
    return (path / "initrd").read_bytes()


def _fill_root(root, stock, busybox, words):
    for name in ("bin", "boot/grub", "dev", "etc", "proc", "root", "sbin",
                 "sys", "tmp"):
        (root / name).mkdir(parents=True)
    (root / "bin/busybox").write_bytes(busybox)
    (root / "bin/busybox").chmod(0o755)
    for name in ("cat", "cttyhack", "date", "echo", "getty", "grep", "ls",
                 "mount", "poweroff", "ps", "reboot", "sed", "setsid", "sh",
                 "sha256sum", "sync", "uname"):
        (root / "bin" / name).symlink_to("busybox")
    for name, to in (("rc", "sbin/init"), ("login-root", "bin/login-root")):
        (root / to).write_bytes((SOURCES / name).read_bytes())
        (root / to).chmod(0o755)
    (root / "boot/vmlinuz").write_bytes(stock.vmlinuz.read_bytes())
    (root / "boot/initrd").write_bytes(_initrd(stock))
    (root / "boot/grub/grub.cfg").write_text(
        f'set words="root=LABEL={LABEL} {words}"\n' +
        (SOURCES / "grub.cfg").read_text())
    big = random.Random(1).randbytes(BIG_MIB * MIB)
    (root / "boot/big").write_bytes(big)
    (root / "boot/big.sha256").write_text(
        f"{hashlib.sha256(big).hexdigest()}  /boot/big\n")


def _grub_image(target, modules, folder):
    early = folder / "early.cfg"
    early.write_text(GRUB_EARLY)
    out = folder / f"grub-{target}"
    ui.run(["grub-mkimage", "-O", target, "-o", out, "-c", early,
            "-p", "/boot/grub", *GRUB_MODULES, *modules], "boot-grub")
    return out


def _make_esp(folder, mib):
    esp = folder / "esp"
    with open(esp, "wb") as file:
        file.truncate(mib * MIB)
    ui.run(["/sbin/mkfs.vfat", "-i", "7a647276", "-n", "ZDRIVE", esp],
           "boot-esp")
    grub = _grub_image("x86_64-efi", ["efifwsetup"], folder)
    ui.run(["mmd", "-i", esp, "::/EFI", "::/EFI/BOOT"], "boot-esp")
    ui.run(["mcopy", "-i", esp, grub, "::/EFI/BOOT/BOOTX64.EFI"], "boot-esp")
    return esp


def _make_root(folder, root, mib):
    out = folder / "root.img"
    out.unlink(missing_ok=True)
    with open(out, "wb") as file:
        file.truncate(mib * MIB)
    ui.run(["/sbin/mke2fs", "-q", "-F", "-t", "ext4", "-L", LABEL,
            "-U", str(_guid(9)), "-E", "hash_seed=" + str(_guid(8)),
            "-d", root, out], "boot-root")
    return out


def copy(file, source, at):
    """Copy @source into @file from byte @at on; zeros stay holes."""
    with open(source, "rb") as data:
        file.seek(at)
        while block := data.read(MIB):
            if block.count(0) < len(block):
                file.write(block)
            else:
                file.seek(len(block), 1)


def _make(stock, words, folder):
    apt.ensure(PACKAGES)
    fsys.need_space(folder, 4 * SIZE_MIB, "a boot image")
    root = folder / "root"
    _fill_root(root, stock, _busybox(folder / "busybox"), words)
    sectors = SIZE_MIB * MIB // SECTOR
    bounds = [first * SECTOR for _, first, _ in PARTITIONS]
    core = _grub_image("i386-pc", ["biosdisk"], folder).read_bytes()
    with open(folder / "disk.img", "wb") as file:
        file.truncate(SIZE_MIB * MIB)
        write_gpt(file, sectors, PARTITIONS)
        _install_grub(file, core, bounds[0] // SECTOR)
        copy(file, _make_esp(folder, ESP_MIB), bounds[1])
        copy(file, _make_root(folder, root,
                               SIZE_MIB - 1 - bounds[2] // MIB), bounds[2])
    for name in ("busybox", "root"):
        ui.run(["rm", "-rf", folder / name], "boot-clean")
    for name in ("esp", "root.img", "early.cfg", "grub-i386-pc",
                 "grub-x86_64-efi"):
        (folder / name).unlink()


def _recipe():
    return [Path(__file__).read_bytes(),
            *(file.read_bytes() for file in sorted(SOURCES.iterdir()))]


def get(ssds):
    """The image for the volume of @ssds SSDs, or with 0 for one SSD.

    It is shared by all: boot a copy, or with snapshot=on.
    """
    stock = kernel.get()
    words = f"zdrive.volume={ssds}" if ssds else ""
    name = f"{stock.release}-{ssds}-{kept.digest(words.encode(), *_recipe())}"

    def fill(folder):
        with ui.step("Making a boot image"):
            _make(stock, words, folder)

    return kept.once(KEPT / name, "boot image", fill) / "disk.img"

# SPDX-License-Identifier: GPL-2.0-or-later
"""The headers of exactly the QEMU that is installed.

zdrive.so is compiled against Debian's own source package of the installed
qemu-system-x86, configured with the switches that decide the layout of its
structures.  QEMU itself is never built; the test libraries and the qtest
accelerator are, but only when tests ask for them.

All of it lives in the cache, one folder per version, and is made once.
"""

import dataclasses
import functools
import re
import subprocess
from pathlib import Path

from zdlib import apt, fsys, paths, ui

BINARY_PACKAGE = "qemu-system-x86"
SOURCE_PACKAGE = "qemu"
QEMU = Path("/usr/bin/qemu-system-x86_64")
QEMU_IMG = Path("/usr/bin/qemu-img")

PACKAGES = (
    BINARY_PACKAGE, "qemu-utils",
    "dpkg-dev", "gcc", "gnu-efi", "libc6-dev", "meson", "ninja-build", "pkg-config",
    "python3",
    "libaio-dev", "libfdt-dev", "libglib2.0-dev", "libpixman-1-dev",
    "liburing-dev",
)

# Linux AIO, io_uring, plugins and modules change the layout of structures,
# so they have to be as in Debian's build; what else is off is only unused.
CONFIGURE = (
    "--target-list=x86_64-softmmu", "--without-default-features",
    "--enable-tcg", "--enable-modules", "--enable-plugins",
    "--enable-fdt=system", "--enable-linux-aio", "--enable-linux-io-uring",
    "--disable-docs", "--disable-werror",
)

HEADER = re.compile(r"^((?:qapi/\S+|config-poison|trace/\S+)\.h): ",
                    re.MULTILINE)
QTEST_TARGETS = (
    "libqemuutil.a", "libqom.fa", "libevent-loop-base.a",
    "tests/qtest/libqos/libqos.fa", "accel-qtest-x86_64.so",
)

HEADERS_MIB = 100
QTEST_MIB = 150
UPGRADE = (f"run as root: apt-get update && "
           f"apt-get install --only-upgrade {BINARY_PACKAGE}")


@dataclasses.dataclass(frozen=True)
class Qemu:
    """One version of Debian's QEMU, prepared for building against it."""
    version: str         # as qmp_query_version() reports it: 7.2.22
    binary_package: str  # 1:7.2+dfsg-7+deb12u18+b3
    source_package: str  # 1:7.2+dfsg-7+deb12u18

    @property
    def pkgversion(self):
        """The package string that QEMU has compiled in."""
        return f"Debian {self.binary_package}"

    @property
    def folder(self):
        """Where everything made for this version is kept."""
        return paths.CACHE / f"qemu-{self.binary_package.rpartition(':')[2]}"

    @property
    def build(self):
        """The configured build folder."""
        return self.folder / "build"

    @property
    def source(self):
        """The unpacked source package; a link in the version's folder."""
        return self.folder / "src"

    def done(self, stage):
        """Whether @stage, 'headers' or 'qtest', is complete."""
        return (self.folder / f"{stage}.done").exists()

    def finish(self, stage):
        """Record that @stage is complete."""
        (self.folder / f"{stage}.done").touch()


@functools.cache
def installed():
    """The QEMU that is installed on this host."""
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version} ${source:Version}",
         BINARY_PACKAGE], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, check=False).stdout.split()
    answer = subprocess.run([QEMU, "--version"], text=True,
                            stdout=subprocess.PIPE, check=True).stdout
    match = re.search(r"version (\S+) \(Debian (\S+)\)", answer)
    if not match or match[2] != shown[0]:
        ui.die(f"{QEMU} is not the one of Debian's {BINARY_PACKAGE}",
               f"run as root: apt-get install --reinstall {BINARY_PACKAGE}")
    return Qemu(match[1], *shown)


def _ninja(qemu, step, log, targets):
    with ui.step(step):
        ui.run(["ninja", "-C", qemu.build, *targets], log)


def _configure(qemu):
    if (qemu.build / "build.ninja").exists():
        return
    # Meson records absolute paths, so this cannot be made under another
    # name and moved; build.ninja is what it writes last.
    fsys.folder(qemu.build)
    with ui.step(f"Configuring QEMU {qemu.version} for its headers"):
        ui.run([qemu.source / "configure", *CONFIGURE,
                f"--with-pkgversion={qemu.pkgversion}"], "qemu-configure",
               cwd=qemu.build)


def _generated_headers(qemu):
    shown = subprocess.run(["ninja", "-C", qemu.build, "-t", "targets",
                            "all"], text=True, stdout=subprocess.PIPE,
                           check=True).stdout
    return HEADER.findall(shown)


def headers():
    """The installed QEMU with its headers ready for use."""
    apt.ensure(PACKAGES)
    qemu = installed()
    if qemu.done("headers"):
        return qemu
    with fsys.lock(qemu.folder, "QEMU's headers"):
        if not qemu.done("headers"):
            tree = apt.source(SOURCE_PACKAGE, qemu.source_package, UPGRADE)
            qemu.source.unlink(missing_ok=True)
            qemu.source.symlink_to(tree)
            fsys.need_space(qemu.folder, HEADERS_MIB, "QEMU's headers")
            _configure(qemu)
            _ninja(qemu, "Generating QEMU's headers", "qemu-headers",
                   _generated_headers(qemu))
            qemu.finish("headers")
    return qemu


def qtest():
    """The installed QEMU with its test libraries and accelerator ready."""
    qemu = headers()
    if qemu.done("qtest"):
        return qemu
    with fsys.lock(qemu.folder, "QEMU's test libraries"):
        if not qemu.done("qtest"):
            fsys.need_space(qemu.folder, QTEST_MIB, "QEMU's test libraries")
            _ninja(qemu, "Building QEMU's test libraries", "qemu-qtest",
                   QTEST_TARGETS)
            qemu.finish("qtest")
    return qemu

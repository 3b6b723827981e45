# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's stock kernels, unpacked in the cache and never installed.

The kernel is the one that a Debian user runs: the package is taken from the
archive as it is.  Only its module index is added, which is what the package's
maintainer script would do at installation.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from zdlib import apt, fsys, kept, paths, ui

# The series that a user can name, and the suite that carries each.  None is
# the running Debian with its security updates.
SERIES = {
    "6.1": None,
    "6.12": "bookworm-backports",
}
DEFAULT = "6.1"
META = "linux-image-amd64"
PACKAGE = "linux-image-"

KERNELS = paths.CACHE / "kernel"
UNPACKED_MIB = 800


@dataclass(frozen=True)
class Kernel:
    """One unpacked kernel package."""
    release: str        # what `uname -r` says
    root: Path          # boot/ and lib/modules/ are below it

    @property
    def vmlinuz(self):
        """The bootable image."""
        return self.root / "boot" / f"vmlinuz-{self.release}"

    @property
    def modules(self):
        """The folder of its modules, indexed by depmod."""
        return self.root / "lib" / "modules" / self.release


def _note_release(series, folder):
    """Note which release the meta package of @series stands for today."""
    meta, = apt.download([META], SERIES[series])
    depends = subprocess.run(["dpkg-deb", "-f", meta, "Depends"], check=True,
                             text=True, stdout=subprocess.PIPE).stdout
    release = depends.split()[0].removeprefix(PACKAGE)
    (folder / "release").write_text(release)


def _unpack(release, suite, folder):
    apt.ensure(["kmod"])
    deb, = apt.download([PACKAGE + release], suite)
    fsys.need_space(folder, UNPACKED_MIB, "a kernel package")
    with ui.step(f"Unpacking Debian's kernel {release}"):
        ui.run(["dpkg-deb", "-x", deb, folder], "kernel-unpack")
        if not (folder / "lib").exists():
            (folder / "lib").symlink_to("usr/lib")
        ui.run(["depmod", "-b", folder, release], "kernel-depmod")


def get(version=None):
    """The stock kernel of a series ("6.1") or release ("6.1.0-57-amd64").

    A series stays at the release that was current when it was first asked
    for, so that results are comparable.
    """
    version = version or DEFAULT
    release = version
    if version in SERIES:
        series = kept.once(KERNELS / version, "kernel version",
                           lambda folder: _note_release(version, folder))
        release = (series / "release").read_text()
    root = kept.once(KERNELS / release, "kernel package", lambda folder:
                     _unpack(release, SERIES.get(version), folder))
    return Kernel(release, root)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's stock kernels, unpacked in the cache and never installed.

The kernel is the one that a Debian user runs: the package is taken from the
archive as it is.  Only its module index is added, which is what the package's
maintainer script would do at installation.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from zdlib import apt, fsys, kept, paths, ui

# The kernels that a user can name: the suite that carries each, and the
# package that stands for the newest one there.  No suite is the running Debian
# with its security updates.
SERIES = {
    "bookworm": (None, "linux-image-amd64"),
    "bookworm-rt": (None, "linux-image-rt-amd64"),
    "bookworm-backports": ("bookworm-backports", "linux-image-amd64"),
    "bookworm-backports-rt": ("bookworm-backports", "linux-image-rt-amd64"),
    "sid": ("sid", "linux-image-amd64"),
    "sid-rt": ("sid", "linux-image-rt-amd64"),
}
# The same by version.
ALIASES = {"6.1": "bookworm", "6.12": "bookworm-backports"}
DEFAULT = "bookworm"
PACKAGE = "linux-image-"
RELEASE = re.compile(r"\d+\.\d+\S*-amd64$")

KERNELS = paths.CACHE / "kernel"
UNPACKED_MIB = 800


@dataclass(frozen=True)
class Kernel:
    """One unpacked kernel package."""
    release: str        # what `uname -r` says
    root: Path          # boot/ and lib/modules/ are below it

    @property
    def vmlinuz(self):
        """The bootable image; newer packages have it beside the modules."""
        image = self.root / "boot" / f"vmlinuz-{self.release}"
        return image if image.exists() else self.modules / "vmlinuz"

    @property
    def modules(self):
        """The folder of its modules, indexed by depmod."""
        return self.root / "lib" / "modules" / self.release

    @property
    def version(self):
        """Major and minor number, to compare."""
        return tuple(map(int, re.match(r"(\d+)\.(\d+)",
                                       self.release).groups()))


def _depends(deb):
    """The names of the packages that @deb depends on."""
    text = subprocess.run(["dpkg-deb", "-f", deb, "Depends"], check=True,
                          text=True, stdout=subprocess.PIPE).stdout
    return re.findall(r"(?:^|[,|])\s*([^\s,|]+)", text)


def _note_release(series, folder):
    """Note which release the package of @series stands for today."""
    suite, name = SERIES[series]
    meta, = apt.download([name], suite)
    release, = (other.removeprefix(PACKAGE) for other in _depends(meta)
                if other.startswith(PACKAGE))
    (folder / "release").write_text(release)


def _packages(release, suite):
    """The files of the kernel package and of its parts.

    In sid image, modules and configuration are packages of their own.
    """
    image, = apt.download([PACKAGE + release], suite)
    parts = [name for name in _depends(image) if name.endswith(release)]
    return [image, *(apt.download(parts, suite) if parts else [])]


def _unpack(release, suite, folder):
    apt.ensure(["kmod"])
    debs = _packages(release, suite)
    fsys.need_space(folder, UNPACKED_MIB, "a kernel package")
    with ui.step(f"Unpacking Debian's kernel {release}"):
        for deb in debs:
            ui.run(["dpkg-deb", "-x", deb, folder], "kernel-unpack")
        if not (folder / "lib").exists():
            (folder / "lib").symlink_to("usr/lib")
        ui.run(["depmod", "-b", folder, release], "kernel-depmod")


def named(version):
    """The series or release that the user means by @version, or the default.
    """
    version = ALIASES.get(version, version) or DEFAULT
    if version not in SERIES and not RELEASE.match(version):
        ui.die(f"there is no kernel {version}",
               f"choose from {', '.join(SERIES)}, or name a release such as "
               "6.1.0-57-amd64")
    return version


def get(version=None):
    """The stock kernel of a series ("bookworm") or release.

    A series stays at the release that was current when it was first asked
    for, so that results are comparable.
    """
    version = named(version)
    release, suite = version, None
    if version in SERIES:
        suite, _ = SERIES[version]
        series = kept.once(KERNELS / version, "kernel version",
                           lambda folder: _note_release(version, folder))
        release = (series / "release").read_text()
    root = kept.once(KERNELS / release, "kernel package", lambda folder:
                     _unpack(release, suite, folder))
    return Kernel(release, root)

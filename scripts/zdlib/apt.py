# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages: installed on the host, or fetched into the cache.

Only ensure() changes the system.  Everything else works as an ordinary user,
and what it fetches depends on the archive alone.

    ensure(names)                 install what is missing on the host
    candidate(name, suite)        the version that would be fetched
    download(names, suite)        .deb files of just these packages
    closure(names, suite)         ... and of all they depend on
    source(name, version)         an unpacked source package
"""

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

from zdlib import aptlog, archive, fsys, paths, ui

DEBS = paths.CACHE / "debs"
SOURCES = paths.CACHE / "source"
SYSTEM_LISTS = Path("/var/lib/apt/lists")

# A download whose lists turn out to be old is tried again with new ones.
ATTEMPTS = 2
# An unpacked source package needs about this many times its download.
UNPACK_FACTOR = 14
# Up to this many packages a step names them.
NAMED_PACKAGES = 3


#
# The host
#

def missing(names):
    """Those of @names that are not installed on the host."""
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package}\n",
         *names], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, check=False).stdout
    installed = {line.split()[1] for line in shown.splitlines()
                 if line.startswith("ii ")}
    return [name for name in names if name not in installed]


def ensure(names):
    """Install those of @names that are missing on the host."""
    absent = missing(names)
    if not absent:
        return
    if os.geteuid() != 0:
        ui.die(f"not root, and {len(absent)} Debian packages are missing",
               f"run as root: apt-get install {' '.join(absent)}")
    log = "apt-install"
    have_lists = any(SYSTEM_LISTS.glob("*_Packages*"))
    if have_lists and (_install(absent, log) or not aptlog.stale(log)):
        updated = True
    else:
        # Lists of a third party may fail; what counts is the installation.
        updated = aptlog.refresh("system", ["apt-get"])
        _install(absent, log)
    if missing(absent):
        aptlog.explain("installing Debian packages",
                       log if updated else aptlog.UPDATE_LOG)


def _install(names, log):
    """Whether apt-get could install @names."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # An installation that was interrupted has to be completed first.
    ui.attempt(["dpkg", "--configure", "-a"], "dpkg-configure",
               env=environment)
    what = (", ".join(names) if len(names) <= NAMED_PACKAGES
            else f"{len(names)} Debian packages")
    with ui.step(f"Installing {what}"):
        code, _ = ui.attempt(
            ["apt-get", "-y", "--no-install-recommends",
             "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0",
             "-o", "Dpkg::Options::=--force-confold", "install", *names],
            log, env=environment)
    return code == 0


#
# The archive
#

def candidate(name, suite=None):
    """The version of package @name that download() would bring."""
    items = archive.of(suite).items(name, "download", name)
    return unquote(items[0].file.split("_")[1])


def _download(what, choose, suite):
    """The .deb files of what @choose() names, by new lists if need be."""
    origin = archive.of(suite)
    with fsys.lock(DEBS, "downloads"):
        for attempt in range(ATTEMPTS):
            if attempt:
                origin.refresh()
            requests = choose()
            items = origin.items(what, "download", *requests)
            if origin.fetch(what, items, DEBS, "download", *requests):
                return [DEBS / item.file for item in items]
            if not aptlog.stale(archive.DOWNLOAD_LOG):
                break
        aptlog.explain(f"downloading {what}", archive.DOWNLOAD_LOG)


def download(names, suite=None):
    """The .deb files of exactly the packages @names."""
    what = names[0] if len(names) == 1 else f"{len(names)} packages"
    return _download(what, lambda: names, suite)


def closure(names, suite=None):
    """The .deb files of @names and all that these depend on.

    This is what a root folder without any package needs: recommended
    packages are left out, nothing is assumed to be there.
    """
    def choose():
        text = archive.of(suite).ask(names[0], "--simulate", "install", *names)
        return [f"{name}={version}" for name, version in
                re.findall(r"^Inst (\S+) \((\S+) ", text, re.MULTILINE)]

    return _download(f"{names[0]} and what it needs", choose, suite)


def source_versions(name):
    """The versions of source package @name that the archive has."""
    shown = subprocess.run(
        ["apt-cache", *archive.of().options, "showsrc", "--only-source", name],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        check=False).stdout
    return re.findall(r"^Version: (\S+)", shown, re.MULTILINE)


def source(name, version, remedy="choose one of these"):
    """The unpacked source package @name at exactly @version.

    @remedy tells the user what to do if the archive does not have it.
    """
    tree = SOURCES / f"{name}_{version.rpartition(':')[2]}"
    with fsys.lock(SOURCES, "source packages"):
        if not tree.exists():
            _fetch_source(name, version, remedy, tree)
    return tree


def _fetch_source(name, version, remedy, tree):
    origin = archive.of()
    if version not in source_versions(name):
        origin.refresh()
        offered = source_versions(name)
        if version not in offered:
            ui.die(f"the archive has no source of {name} {version}, only "
                   f"{', '.join(offered) or 'none at all'}", remedy)
    what = f"the source of {name} {version}"
    words = ["--only-source", "--download-only", "source",
             f"{name}={version}"]
    items = origin.items(what, *words)
    size = sum(item.size for item in items) >> 20
    fsys.need_space(SOURCES, (UNPACK_FACTOR + 1) * size, what)
    if not origin.fetch(what, items, SOURCES, *words):
        aptlog.explain(f"downloading {what}", archive.DOWNLOAD_LOG)
    description = next(item.file for item in items
                       if item.file.endswith(".dsc"))
    # dpkg-source insists on making the folder itself.
    with fsys.fresh(tree) as parent, ui.step(f"Unpacking {what}"):
        parent.rmdir()
        ui.run(["dpkg-source", "--no-check", "-x", SOURCES / description,
                parent], "dpkg-source")

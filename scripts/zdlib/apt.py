# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages: installed on the host, or fetched into the cache.

Only ensure() changes the system.  Everything else works as an ordinary user
with a private apt configuration in the cache that is derived from the
system's own sources and pretends that no package is installed, so that what
is fetched depends on the archive alone.

    ensure(names)                 install what is missing on the host
    candidate(name, suite)        the version that would be fetched
    download(names, suite)        .deb files of just these packages
    closure(names, suite)         ... and of all they depend on
    source(name, version)         an unpacked source package
"""

import dataclasses
import functools
import hashlib
import os
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

from zdlib import aptsources, fsys, paths, ui

APT = paths.CACHE / "apt"
DEBS = paths.CACHE / "debs"
SOURCES = paths.CACHE / "source"
SYSTEM_LISTS = Path("/var/lib/apt/lists")

UPDATE_LOG = "apt-update"

# An unpacked source package needs about this many times its download.
UNPACK_FACTOR = 14
# Up to this many packages a step names them.
NAMED_PACKAGES = 3
# Package lists, and the slack that any download needs.
LISTS_MIB = 100

CONFIGURATION = """\
#clear APT::Architectures;
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
APT::Architectures {{ "{architecture}"; }};
APT::Default-Release "{release}";
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State "{base}";
Dir::State::lists "{base}/lists";
Dir::State::status "{base}/status";
Dir::Cache "{base}/cache";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{base}/sources.d";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
"""

# How apt words a failure; the error and the remedy the user gets to see.
CAUSES = (
    (r"No space left on device|don't have enough free space",
     "no disk space", "free some and run the same command again"),
    (r"[Cc]ould not resolve|Temporary failure resolving|[Cc]ould not connect|"
     r"[Uu]nable to connect|Network is unreachable|Connection (failed|refused|"
     r"timed out)|Cannot initiate the connection",
     "no network",
     "check the connection and any proxy, then run the same command again"),
    (r"Could not get lock|Unable to acquire the dpkg frontend lock",
     "another package manager is running", "wait until it is done"),
    (r"dpkg was interrupted",
     "dpkg was interrupted", "run as root: dpkg --configure -a"),
    (r"Unable to locate package (?P<what>\S+)|"
     r"Package '?(?P<name>[^\s']+)'? has no installation candidate",
     "package {what} does not exist in the archive",
     "check the sources in /etc/apt"),
    (r"Failed to fetch|Unable to fetch|Hash Sum mismatch|404  Not Found",
     "a download failed", "run the same command again"),
)
# Lists older than the archive show up as these.
STALE = re.compile(r"Unable to locate package|has no installation candidate|"
                   r"404  Not Found|Failed to fetch|Unable to fetch|"
                   r"Can not find version|Version '.*' for '.*' was not found|"
                   r"Unable to find a source package")


@dataclasses.dataclass(frozen=True)
class Item:
    """One file of the archive, as `--print-uris` announces it."""
    file: str
    size: int
    algorithm: str
    digest: str

    def complete(self, path):
        """Whether @path holds this very file."""
        if not path.is_file() or path.stat().st_size != self.size:
            return False
        with open(path, "rb") as handle:
            return hashlib.file_digest(
                handle, self.algorithm).hexdigest() == self.digest


ITEM = re.compile(r"^'[^']*' (?P<file>\S+) (?P<size>\d+) "
                  r"(?P<algorithm>\w+):(?P<digest>[0-9a-f]+)$", re.MULTILINE)


def _explain(what, log):
    """Die with the cause that the output in @log reveals."""
    text = ui.log_file(log).read_text(encoding="utf-8")
    for pattern, cause, remedy in CAUSES:
        match = re.search(pattern, text)
        if match:
            name = next(filter(None, match.groupdict().values()), "")
            ui.die(f"{what}: {cause.format(what=name)}", remedy)
    errors = re.findall(r"^E: (.*)", text, re.MULTILINE)
    ui.die(f"{what}: {errors[-1] if errors else 'apt failed'}",
           f"see {ui.log_file(log)}")


def _refresh(what, cmd):
    """Fetch package lists; return whether all of them could be had."""
    with ui.step(f"Fetching package lists ({what})"):
        code, _ = ui.attempt(
            [*cmd, "-o", "APT::Update::Error-Mode=any", "update"], UPDATE_LOG)
    return code == 0


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
    if have_lists and (_install(absent, log) or not _stale(log)):
        updated = True
    else:
        # Lists of a third party may fail; what counts is the installation.
        updated = _refresh("system", ["apt-get"])
        _install(absent, log)
    if missing(absent):
        _explain("installing Debian packages", log if updated else UPDATE_LOG)


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


def _stale(log):
    """Whether fresh package lists could cure the failure in @log."""
    return bool(STALE.search(ui.log_file(log).read_text(encoding="utf-8")))


#
# The private configuration
#

@functools.cache
def _architecture():
    return subprocess.run(["dpkg", "--print-architecture"], text=True,
                          stdout=subprocess.PIPE, check=True).stdout.strip()


class Archive:
    """The archive of one suite, seen through a private configuration."""

    def __init__(self, suite):
        self.suite = suite or aptsources.codename()
        self._base = APT / self.suite
        self._file = self._base / "apt.conf"
        self._configure()

    def _configure(self):
        sources = aptsources.system()
        if self.suite != aptsources.codename():
            sources = aptsources.derive(sources, self.suite)
        wanted = {
            self._base / "sources.d" / "debian.sources":
                aptsources.render(sources),
            self._base / "status": "",
            self._file: CONFIGURATION.format(
                architecture=_architecture(), base=self._base,
                release=self.suite if "-backports" in self.suite else ""),
        }
        for name in ("sources.d", "lists/partial", "cache/archives/partial"):
            fsys.folder(self._base / name)
        for path, text in wanted.items():
            if not path.exists() or path.read_text() != text:
                path.write_text(text)

    @property
    def options(self):
        """The options that select this archive's configuration."""
        return ["-c", self._file]

    def refresh(self):
        """Fetch the package lists."""
        fsys.need_space(self._base, LISTS_MIB, "package lists")
        if not _refresh(self.suite, self._apt_get()):
            _explain("package lists", UPDATE_LOG)

    def ask(self, what, *words):
        """The output of apt-get @words; fetches the lists when needed."""
        log = f"apt-{self.suite}"
        with fsys.lock(self._base, "package lists"):
            current = any((self._base / "lists").glob("*_Packages*"))
            if not current:
                self.refresh()
            code, _ = ui.attempt(self._apt_get(*words), log)
            if code and current and _stale(log):
                self.refresh()
                code, _ = ui.attempt(self._apt_get(*words), log)
            if code:
                _explain(what, log)
            return ui.log_file(log).read_text(encoding="utf-8")

    def items(self, what, *words):
        """The files that apt-get @words would fetch."""
        text = self.ask(what, "--print-uris", *words)
        return [Item(match["file"], int(match["size"]),
                     match["algorithm"].lower(), match["digest"])
                for match in ITEM.finditer(text)]

    def fetch(self, what, items, folder, *words):
        """Bring @items into @folder; apt-get @words is what fetches them.

        Every file is checked against its digest, so that what an
        interrupted run left behind is either good or fetched again.
        """
        partial = fsys.folder(folder / "partial")
        absent = _adopt(items, partial, folder)
        if not absent:
            return
        size = sum(item.size for item in absent) / (1 << 20)
        fsys.need_space(folder, int(size) + LISTS_MIB, what)
        log = "apt-download"
        with ui.step(f"Downloading {what} ({size:.1f} MB)"):
            ui.attempt(self._apt_get(*words), log, cwd=partial)
        if _adopt(absent, partial, folder):
            _explain(f"downloading {what}", log)

    def _apt_get(self, *words):
        return ["apt-get", *self.options, "-qq", "-y",
                "--no-install-recommends", *words]


def _adopt(items, partial, folder):
    """Move complete files to @folder; return the items still missing."""
    absent = []
    for item in items:
        if (folder / item.file).exists():
            continue
        if item.complete(partial / item.file):
            (partial / item.file).rename(folder / item.file)
        else:
            absent.append(item)
    return absent


@functools.cache
def archive(suite=None):
    """The archive of @suite, by default the running release."""
    return Archive(suite)


#
# What the other modules use
#

def candidate(name, suite=None):
    """The version of package @name that download() would bring."""
    items = archive(suite).items(name, "download", name)
    return unquote(items[0].file.split("_")[1])


def _download(what, requests, suite):
    origin = archive(suite)
    with fsys.lock(DEBS, "downloads"):
        items = origin.items(what, "download", *requests)
        origin.fetch(what, items, DEBS, "download", *requests)
    return [DEBS / item.file for item in items]


def download(names, suite=None):
    """The .deb files of exactly the packages @names."""
    what = names[0] if len(names) == 1 else f"{len(names)} packages"
    return _download(what, names, suite)


def closure(names, suite=None):
    """The .deb files of @names and all that these depend on.

    This is what a root folder without any package needs: recommended
    packages are left out, nothing is assumed to be there.
    """
    text = archive(suite).ask(names[0], "--simulate", "install", *names)
    chosen = re.findall(r"^Inst (\S+) \((\S+) ", text, re.MULTILINE)
    return _download(f"{names[0]} and what it needs",
                     [f"{name}={version}" for name, version in chosen],
                     suite)


def source_versions(name):
    """The versions of source package @name that the archive has."""
    shown = subprocess.run(
        ["apt-cache", *archive().options, "showsrc", "--only-source", name],
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
    origin = archive()
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
    origin.fetch(what, items, SOURCES, *words)
    description = next(item.file for item in items
                       if item.file.endswith(".dsc"))
    # dpkg-source insists on making the folder itself.
    with fsys.fresh(tree) as parent, ui.step(f"Unpacking {what}"):
        parent.rmdir()
        ui.run(["dpkg-source", "--no-check", "-x", SOURCES / description,
                parent], "dpkg-source")

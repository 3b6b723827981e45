# SPDX-License-Identifier: GPL-2.0-or-later
"""A Debian archive, seen through a private apt configuration in the cache.

The configuration is derived from the system's own sources and pretends that
no package is installed.  It works as an ordinary user and leaves the system's
package lists alone.
"""

import dataclasses
import functools
import hashlib
import re
import subprocess

from zdlib import aptlog, aptsources, fsys, paths, ui

APT = paths.CACHE / "apt"
DOWNLOAD_LOG = "apt-download"

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
        if not aptlog.refresh(self.suite, self._apt_get()):
            aptlog.explain("package lists", aptlog.UPDATE_LOG)

    def ask(self, what, *words):
        """The output of apt-get @words; fetches the lists when needed."""
        log = f"apt-{self.suite}"
        with fsys.lock(self._base, "package lists"):
            current = any((self._base / "lists").glob("*_Packages*"))
            if not current:
                self.refresh()
            code, _ = ui.attempt(self._apt_get(*words), log)
            if code and current and aptlog.stale(log):
                self.refresh()
                code, _ = ui.attempt(self._apt_get(*words), log)
            if code:
                aptlog.explain(what, log)
            return ui.log_file(log).read_text(encoding="utf-8")

    def items(self, what, *words):
        """The files that apt-get @words would fetch."""
        text = self.ask(what, "--print-uris", *words)
        return [Item(match["file"], int(match["size"]),
                     match["algorithm"].lower(), match["digest"])
                for match in ITEM.finditer(text)]

    def fetch(self, what, items, folder, *words):
        """Bring @items into @folder; apt-get @words is what fetches them.

        Return whether they are all there; DOWNLOAD_LOG tells why not.  Every
        file is checked against its digest, so that what an interrupted run
        left behind is either good or fetched again.
        """
        partial = fsys.folder(folder / "partial")
        absent = _adopt(items, partial, folder)
        if not absent:
            return True
        size = sum(item.size for item in absent) / (1 << 20)
        fsys.need_space(folder, int(size) + LISTS_MIB, what)
        with ui.step(f"Downloading {what} ({size:.1f} MB)"):
            ui.attempt(self._apt_get(*words), DOWNLOAD_LOG, cwd=partial)
        return not _adopt(absent, partial, folder)

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
def of(suite=None):
    """The archive of @suite, by default the running release."""
    return Archive(suite)

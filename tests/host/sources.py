# SPDX-License-Identifier: GPL-2.0-or-later
"""Both formats of apt sources are understood, third parties left out."""

import sys
import tempfile
from pathlib import Path

from zdlib import aptsources, tap

MIRROR = "http://mirror.example/debian"
SECURITY = "http://mirror.example/debian-security"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

ONE_LINE = f"""\
# deb {MIRROR} bookworm main
deb [signed-by={KEYRING} arch=amd64] {MIRROR} bookworm main contrib
deb-src {MIRROR} bookworm main
deb {MIRROR} bookworm-updates main # a remark
deb {SECURITY} bookworm-security main
deb http://third.example/apt bookworm stable
deb http://third.example/apt cloud-bookworm main
"""
DEB822 = f"""\
Types: deb
# URIs: http://remark.example/
URIs: {MIRROR}
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Types: deb
URIs: {SECURITY}
Suites: bookworm-security
Components: main
Enabled: yes

Types: deb
URIs: http://disabled.example/
Suites: bookworm
Components: main
Enabled: no
"""
BOOKWORM = [(MIRROR, "bookworm"), (MIRROR, "bookworm-updates"),
            (SECURITY, "bookworm-security")]
DERIVED = {
    "trixie": [(MIRROR, "trixie"), (MIRROR, "trixie-updates"),
               (SECURITY, "trixie-security")],
    "sid": [(MIRROR, "sid")],
    "bookworm-backports": [(MIRROR, "bookworm"),
                           (MIRROR, "bookworm-backports"),
                           *BOOKWORM[1:]],
}


def read(file, text):
    """What aptsources makes of an /etc/apt that has @text in @file."""
    with tempfile.TemporaryDirectory() as name:
        etc = Path(name)
        (etc / file).parent.mkdir(exist_ok=True)
        (etc / file).write_text(text, encoding="utf-8")
        aptsources.ETC = etc
        return aptsources.system()


def pairs(sources):
    """Archive and suite of each of @sources."""
    return [(source.uri, source.suite) for source in sources]


def main():
    """Report the results for both formats and for other suites."""
    aptsources.codename = lambda: "bookworm"
    report = tap.Report()
    one_line = read("sources.list", ONE_LINE)
    report.ok("one-line format", pairs(one_line) == BOOKWORM,
              pairs(one_line))
    deb822 = read("sources.list.d/debian.sources", DEB822)
    report.ok("deb822 format", pairs(deb822) == BOOKWORM, pairs(deb822))

    text = aptsources.render(one_line)
    report.ok("the keyring of a line is kept",
              f"Signed-By: {KEYRING}\n" in text, text)
    text = aptsources.render(deb822)
    report.ok("a key within the file is kept",
              "Signed-By: \n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n"
              in text, text)
    report.ok("sources of packages are added",
              text.count("Types: deb deb-src\n") == len(BOOKWORM), text)

    for suite, wanted in DERIVED.items():
        found = pairs(aptsources.derive(deb822, suite))
        report.ok(f"{suite} is derived", found == wanted, found)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

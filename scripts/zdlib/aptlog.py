# SPDX-License-Identifier: GPL-2.0-or-later
"""What apt said: the cause of a failure, and whether new lists would help."""

import re

from zdlib import ui

UPDATE_LOG = "apt-update"

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
# Lists older than the archive show up as these.  Without a network some do,
# too; fetching the lists then says so.
STALE = re.compile(r"Unable to locate package|has no installation candidate|"
                   r"404  Not Found|Failed to fetch|Unable to fetch|"
                   r"Can not find version|Version '.*' for '.*' was not found|"
                   r"Unable to find a source package")


def explain(what, log):
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


def stale(log):
    """Whether fresh package lists could cure the failure in @log."""
    return bool(STALE.search(ui.log_file(log).read_text(encoding="utf-8")))


def refresh(what, cmd):
    """Fetch package lists; return whether all of them could be had."""
    with ui.step(f"Fetching package lists ({what})"):
        code, _ = ui.attempt(
            [*cmd, "-o", "APT::Update::Error-Mode=any", "update"], UPDATE_LOG)
    return code == 0

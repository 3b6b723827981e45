# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's firmware for a guest: SeaBIOS, which QEMU brings, and OVMF."""

import shutil
from pathlib import Path

from zdlib import apt, ui

PACKAGE = "ovmf"
CODE = Path("/usr/share/OVMF/OVMF_CODE_4M.fd")
VARIABLES = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")


def uefi(folder):
    """QEMU arguments for OVMF with fresh variables in @folder."""
    apt.ensure([PACKAGE])
    for file in (CODE, VARIABLES):
        if not file.exists():
            ui.die(f"OVMF is not complete ({file} is missing)", "run as "
                   f"root: apt-get install --reinstall {PACKAGE}")
    variables = folder / "OVMF_VARS.fd"
    shutil.copyfile(VARIABLES, variables)
    return ["-drive", f"if=pflash,format=raw,readonly=on,file={CODE}",
            "-drive", f"if=pflash,format=raw,file={variables}"]

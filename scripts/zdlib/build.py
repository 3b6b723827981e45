# SPDX-License-Identifier: GPL-2.0-or-later
"""Meson for zdrive.so and its tests, in the build folder of the checkout."""

import json
import os

from zdlib import fsys, paths, qemusrc, ui

BUILD_MIB = 100
OPTIONS_STAMP = paths.BUILD / "zdrive-options.json"
COMPILE_COMMANDS = "compile_commands.json"


def _stamped():
    try:
        return json.loads(OPTIONS_STAMP.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


def _options(qemu, qtest):
    """Meson's options; tests that were enabled once stay if they can."""
    before = _stamped()
    qtest = qtest or (before.get("qtest") == "true" and qemu.done("qtest"))
    return {
        "qemu_source": str(qemu.source),
        "qemu_build": str(qemu.build),
        "qemu_version": qemu.version,
        "qemu_package": qemu.pkgversion,
        "qtest": str(bool(qtest)).lower(),
        "werror": str(bool(os.environ.get("CI"))).lower(),
    }


def _setup(options):
    configured = (paths.BUILD / "build.ninja").exists()
    if configured and _stamped() == options:
        return
    # Meson keeps options of an earlier set-up, so all are given each time.
    OPTIONS_STAMP.unlink(missing_ok=True)
    with ui.step("Configuring the build"):
        ui.run(["meson", "setup", *(["--reconfigure"] if configured else []),
                *(f"-D{name}={value}" for name, value in options.items()),
                paths.BUILD, paths.ROOT], "meson-setup")
    OPTIONS_STAMP.write_text(json.dumps(options), encoding="utf-8")
    link = paths.ROOT / COMPILE_COMMANDS
    link.unlink(missing_ok=True)
    link.symlink_to((paths.BUILD / COMPILE_COMMANDS)
                    .relative_to(paths.ROOT))


def _compile(qemu, qtest, targets, step):
    with fsys.lock(paths.BUILD, "the build"):
        fsys.need_space(paths.BUILD, BUILD_MIB, "the build")
        _setup(_options(qemu, qtest))
        with ui.step(step):
            ui.run(["ninja", "-C", paths.BUILD, *targets], "ninja")


def module():
    """Build zdrive.so and return its path."""
    _compile(qemusrc.headers(), False, [paths.MODULE.name],
             f"Building {paths.MODULE.name}")
    return paths.MODULE


def bench():
    """Build the bench of the flash model and return its path."""
    _compile(qemusrc.headers(), False, [paths.BENCH.name],
             f"Building {paths.BENCH.name}")
    return paths.BENCH


def everything(qtest):
    """Build zdrive.so and all tests, with @qtest those of registers too."""
    qemu = qemusrc.qtest() if qtest else qemusrc.headers()
    _compile(qemu, qtest, [], f"Building {paths.MODULE.name} and its tests")

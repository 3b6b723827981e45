# SPDX-License-Identifier: GPL-2.0-or-later
"""Meson for zdrive.so and its tests, in the build folder of the checkout."""

import json
import os
import shutil

from zdlib import fsys, paths, qemusrc, ui

BUILD_MIB = 100
# Meson's options for tests that need QEMU's test libraries.
TEST_OPTIONS = ("qtest", "fuzz")
OPTIONS_STAMP = paths.BUILD / "zdrive-options.json"
COMPILE_COMMANDS = "compile_commands.json"


def _stamped():
    try:
        return json.loads(OPTIONS_STAMP.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


def _options(qemu, wanted):
    """Meson's options; tests that were enabled once stay if they can."""
    before = _stamped()
    tests = {option: option in wanted or (before.get(option) == "true" and
                                          qemu.done("qtest"))
             for option in TEST_OPTIONS}
    return {
        "qemu_source": str(qemu.source),
        "qemu_build": str(qemu.build),
        "qemu_version": qemu.version,
        "qemu_package": qemu.pkgversion,
        **{option: str(on).lower() for option, on in tests.items()},
        "werror": str(bool(os.environ.get("CI"))).lower(),
    }


def _setup(options):
    stamp = {**options, "root": str(paths.ROOT)}
    before = _stamped()
    if before.get("root") != stamp["root"]:
        # Meson cannot follow a checkout that was moved.
        shutil.rmtree(paths.BUILD / "meson-private", ignore_errors=True)
        (paths.BUILD / "build.ninja").unlink(missing_ok=True)
    configured = (paths.BUILD / "build.ninja").exists()
    if configured and before == stamp:
        return
    # Meson keeps options of an earlier set-up, so all are given each time.
    with ui.step("Configuring the build"):
        ui.run(["meson", "setup", *(["--reconfigure"] if configured else []),
                *(f"-D{name}={value}" for name, value in options.items()),
                paths.BUILD, paths.ROOT], "meson-setup")
    OPTIONS_STAMP.write_text(json.dumps(stamp), encoding="utf-8")
    link = paths.ROOT / COMPILE_COMMANDS
    link.unlink(missing_ok=True)
    link.symlink_to((paths.BUILD / COMPILE_COMMANDS)
                    .relative_to(paths.ROOT))


def _compile(qemu, wanted, targets, step):
    with fsys.lock(paths.BUILD, "the build"):
        fsys.need_space(paths.BUILD, BUILD_MIB, "the build")
        _setup(_options(qemu, wanted))
        with ui.step(step):
            ui.run(["ninja", "-C", paths.BUILD, *targets], "ninja")


def module():
    """Build zdrive.so and return its path."""
    _compile(qemusrc.headers(), (), [paths.MODULE.name, paths.ROM.name],
             f"Building {paths.MODULE.name}")
    return paths.MODULE


def bench():
    """Build the bench of the flash model and return its path."""
    _compile(qemusrc.headers(), (), [paths.BENCH.name],
             f"Building {paths.BENCH.name}")
    return paths.BENCH


def peers():
    """Build zdrive.so and what counts a guest's instructions."""
    _compile(qemusrc.headers(), (), [paths.MODULE.name, paths.ROM.name,
                                     paths.INSNS.name],
             f"Building {paths.MODULE.name}")


def everything(*wanted):
    """Build zdrive.so and all tests, those of TEST_OPTIONS if @wanted."""
    qemu = qemusrc.qtest() if wanted else qemusrc.headers()
    _compile(qemu, wanted, [], f"Building {paths.MODULE.name} and its tests")

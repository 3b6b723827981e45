# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's libvirtd boots the domains of images/libvirt from the card.

    libvirt.py bios | uefi

In session mode, as libvirt runs for an ordinary user: root becomes nobody for
it.  The console is a file instead of a pty, which is all that differs.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import bootlib
from zdlib import apt, bootimage, paths, vm

PACKAGES = ("libvirt-clients", "libvirt-daemon",
            "libvirt-daemon-driver-qemu", "ovmf")
CONFIGURATION = 'stdio_handler = "file"\nsecurity_driver = "none"\n'
START = 30
ESCAPES = re.compile(r"\x1b\[[0-9;?=]*[A-Za-z]|\r")
AS_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")


class Session:
    """A libvirtd of its own below @home."""

    def __init__(self, home):
        self.home = home
        self._environment = {
            "PATH": os.environ["PATH"], "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home / "run")}
        self._as_user = AS_NOBODY if os.geteuid() == 0 else ()
        self._daemon = None

    def __enter__(self):
        config = self.home / ".config/libvirt"
        config.mkdir(parents=True)
        (self.home / "run").mkdir()
        (config / "qemu.conf").write_text(CONFIGURATION)
        if self._as_user:
            subprocess.run(["chown", "-R", "nobody:nogroup", self.home],
                           check=True)
        with open(self.home / "libvirtd.log", "wb") as log:
            self._daemon = subprocess.Popen(
                [*self._as_user, "/usr/sbin/libvirtd"],
                env=self._environment, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, cwd="/")
        deadline = time.monotonic() + START
        while self.virsh("uri").returncode:
            if time.monotonic() > deadline or self._daemon.poll() is not None:
                raise vm.Error("libvirtd does not start", (
                    self.home / "libvirtd.log").read_text().splitlines())
            time.sleep(0.5)
        return self

    def __exit__(self, *_):
        self._daemon.terminate()
        self._daemon.wait()

    def virsh(self, *words):
        """Run virsh; what it says on either channel is in stdout."""
        return subprocess.run(
            [*self._as_user, "virsh", "-q", "-c", "qemu:///session", *words],
            env=self._environment, text=True, check=False, cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)


def domain(name, folder):
    """The domain's XML with its paths filled in, ready for libvirt."""
    text = (paths.ROOT / "images/libvirt" / f"{name}.xml").read_text()
    for word, file in (("zdrive.so", paths.MODULE),
                       ("zdrive-r4.rom", paths.ROM),
                       ("disk.img", bootimage.get(8))):
        shutil.copyfile(file, folder / word)
        (folder / word).chmod(0o666)
    console = folder / "run/console"
    text = text.replace("ZDRIVE_SO", str(folder / "zdrive.so"))
    text = text.replace("'if=none,id=zdrive,format=raw,file=DISK_IMAGE'",
                        "'if=none,id=zdrive,format=raw,"
                        f"file={folder / 'disk.img'}'")
    text = text.replace("<serial type='pty'>",
                        f"<serial type='file'><source path='{console}'/>")
    file = folder / "domain.xml"
    file.write_text(text[text.index("<domain"):])
    file.chmod(0o644)
    return file, console


def wait_for(console, words, timeout):
    """Whether @words come up on the console."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        text = (ESCAPES.sub("", console.read_text(errors="replace"))
                if console.exists() else "")
        if words in text:
            return True
        time.sleep(0.5)
    return False


def body(report):
    """Define, start, look, destroy."""
    apt.ensure(PACKAGES)
    firmware = sys.argv[1]
    name = f"zdrive-{firmware}"
    # short, because the names of sockets are
    folder = Path(f"/tmp/zdrive-libvirt-{firmware}-{os.getpid()}")
    folder.mkdir(mode=0o755)
    try:
        with Session(folder / "home") as session:
            session_folder = folder / "home"
            file, console = domain(firmware, session_folder)
            result = session.virsh("define", str(file))
            report.ok("define", result.returncode == 0, result.stdout)
            result = session.virsh("start", name)
            report.ok("start", result.returncode == 0, result.stdout)
            report.ok("root is on the card", wait_for(
                console, "zdrive boot: root is /dev/md0p3", bootlib.KERNEL),
                      console.read_text(errors="replace")[-2000:]
                      if console.exists() else "no console")
            result = session.virsh(
                "qemu-monitor-command", name, json.dumps({
                    "execute": "qom-get", "arguments": {
                        "path": "/machine/peripheral/ua-zd0",
                        "property": "model"}}))
            report.ok("qemu-monitor-command",
                      json.loads(result.stdout)["return"] == "cm88",
                      result.stdout)
            result = session.virsh("destroy", name)
            report.ok("destroy", result.returncode == 0, result.stdout)
            result = session.virsh("undefine", name, *(
                ["--nvram"] if firmware == "uefi" else []))
            report.ok("undefine", result.returncode == 0, result.stdout)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    bootlib.run(body)

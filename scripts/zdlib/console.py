# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine whose serial console is read and typed at, from power-on.

    with console.Machine("name", [*vm.card(drive="disk0")]) as machine:
        machine.expect("Press Ctrl-O", timeout=20)
        machine.type(console.CTRL_O)

Firmware without graphics sends its screen there, so that POST, boot loader and
kernel are one text.  QMP is at machine.qmp.
"""

import re
import subprocess
import time

from zdlib import firmware, fsys, qmp, vm

CTRL_O = "\x0f"
ESCAPES = re.compile(rb"\x1b\[[0-9;?=]*[A-Za-z]|\x1b[()c78].?|\r|\x00")
PARTIAL = re.compile(rb"\x1b[\[(]?[0-9;?=]*$")
TAIL = 30
QMP_TIMEOUT = 30


class Machine:
    """One QEMU process; @devices bring the card in.

    @graphics gives the machine a VGA, which then has the screen.
    """

    def __init__(self, name, devices, uefi=False, machine="q35",
                 graphics=False, memory="512M", smp=1, accelerator=vm.TCG):
        self.folder = fsys.folder(vm.VMS / name)
        kind = machine if graphics or uefi else f"{machine},graphics=off"
        self._command = [
            vm.QEMU, *vm.machine(kind, memory, accelerator), "-smp", str(smp),
            *vm.plugin(), *(firmware.uefi(self.folder) if uefi else []),
            "-serial", "chardev:console", "-mon", "chardev=qmp,mode=control",
            *(["-device", "VGA"] if graphics else []), *devices]
        self.text = ""
        self._seen = 0
        self._raw = b""
        self._console = self._process = self.qmp = None

    def __enter__(self):
        (self.folder / "messages").unlink(missing_ok=True)
        self._process, self._console, monitor = vm.launch(
            self.folder, self._command, "console", "qmp")
        self.qmp = qmp.Qmp(monitor)
        try:
            self.qmp.greet(QMP_TIMEOUT)
        except (OSError, qmp.Closed):
            self.kill()
            raise vm.Error(f"{vm.QEMU} does not start",
                           self.messages.splitlines()) from None
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """End QEMU at once and keep what the console has shown."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
        (self.folder / "console").write_text(self.text)

    @property
    def messages(self):
        """What QEMU itself has said."""
        return (self.folder / "messages").read_text(errors="replace")

    def type(self, keys, pause=0.0):
        """Type @keys, with a @pause after each."""
        for key in keys if pause else [keys]:
            self._console.sendall(key.encode())
            time.sleep(pause)

    def enter(self, line, timeout=30):
        """Type @line and return, each key when the one before is echoed.

        Serial consoles of firmware have room for a few keys only.
        """
        for key in line:
            self.type(key)
            self.expect(re.escape(key), timeout)
        self.type("\r")

    def expect(self, pattern, timeout):
        """Wait for @pattern in what was not matched yet; the match."""
        deadline = time.monotonic() + timeout
        while True:
            match = re.compile(pattern, re.MULTILINE).search(
                self.text, self._seen)
            if match:
                self._seen = match.end()
                return match
            if not self._read(deadline):
                raise vm.Error(f"no '{pattern}' on the console of "
                               f"{self.folder.name}",
                               self.text.splitlines()[-TAIL:] +
                               self.messages.splitlines())

    def read_for(self, seconds):
        """Read the console for @seconds."""
        deadline = time.monotonic() + seconds
        while self._read(deadline):
            pass

    def wait(self, timeout):
        """Wait until the guest has powered off; read what it still says."""
        deadline = time.monotonic() + timeout
        while self._read(deadline):
            pass
        try:
            status = self._process.wait(max(deadline - time.monotonic(), 1))
        except subprocess.TimeoutExpired:
            raise vm.Error("the guest does not power off",
                           self.text.splitlines()[-TAIL:]) from None
        self._process = None
        if status:
            raise vm.Error(f"QEMU ended with status {status}",
                           self.messages.splitlines())

    def _read(self, deadline):
        """Whether something came in before @deadline."""
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        self._console.settimeout(left)
        try:
            block = self._console.recv(65536)
        except (TimeoutError, ConnectionResetError):
            return False
        self._raw += block
        # an escape sequence may come in two parts
        rest = PARTIAL.search(self._raw)
        whole = rest.start() if rest else len(self._raw)
        self.text += ESCAPES.sub(b"", self._raw[:whole]).decode(
            "ascii", "replace")
        self._raw = self._raw[whole:]
        return bool(block)

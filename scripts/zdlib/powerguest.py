# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest of `scripts/zdrive powerloop`: boots once, then begins each part
of each cycle from one snapshot.

The snapshot has a kernel that has found the SSDs, a file system that is not
mounted, and images/guest/power that waits for an order.  The image of the
card is not in it, so what the last cut has left is what the next restart
finds.  What of that is not in the image, sectors that cannot be read, is
carried over by the property `unreadable` of each SSD.
"""

import json
import select
import time

from zdlib import fsys, ui, vm

SIZE = 512 << 20
CARD = "/machine/peripheral/zd0"
PATIENCE = 240
START = """
power </dev/null >/run/power.log 2>&1 3>&- &
for name in {names}; do echo 2 >/sys/block/$name/device/timeout; done
"""


class Guest:
    """A guest at the snapshot, and what happens to it from there."""

    def __init__(self, name, model, health, loss):
        folder = fsys.folder(vm.VMS / name)
        self.image = folder / "card.img"
        self.state = folder / "state.qcow2"
        self.machine = vm.Vm(name, [
            *vm.blockdev("volume", self.image, discard="unmap"),
            *vm.blockdev("state", self.state, driver="qcow2"),
            *vm.root_port(),
            *vm.card(model=model, drive="volume", supercap_health=health,
                     power_loss=loss)], ports=("power",), memory="512M")
        self.devices = []
        self._unreadable = []
        self._data = b""

    def end(self):
        """End QEMU and leave only what it has said."""
        self.machine.kill()
        for file in (self.image, self.state):
            file.unlink(missing_ok=True)

    def start(self, kind):
        """Boot, prepare workload @kind and take the snapshot."""
        self.image.unlink(missing_ok=True)
        with open(self.image, "wb") as file:
            file.truncate(SIZE)
        ui.run(["qemu-img", "create", "-f", "qcow2", self.state, "8G"],
               "powerloop-state")
        self.machine.boot()
        names = self.machine.run("members | cut -d' ' -f4").split()
        self.machine.run(START.format(names=" ".join(names)))
        while self._line(PATIENCE) != "READY":
            pass
        result = self.order({"do": "prepare", "kind": kind})
        if "failed" in result:
            raise self.machine.error(f"no workload: {result['failed']}")
        self.devices = result["devices"]
        self.machine.run("sync; echo 3 >/proc/sys/vm/drop_caches")
        self.machine.qmp.ask("stop")
        self.machine.qmp.forget("STOP")
        self.machine.save("state")

    def get(self, path, name):
        """A property of the card or of an SSD."""
        return self.machine.qmp.ask("qom-get", path=CARD + path,
                                    property=name)

    def set(self, path, name, value):
        """Set one."""
        self.machine.qmp.ask("qom-set", path=CARD + path, property=name,
                             value=value)

    def work(self, order, cut, early, faults):
        """Write until the cut; the lines that the guest has said, and the
        report of the cut.  It is armed @early, or when the guest has done its
        first step.
        """
        self.machine.load("state")
        self._set_unreadable()
        self.set("", "faults", faults)
        if early:
            self.set("", "power-cut", cut)
        self._send({"do": "work", "devices": self.devices, **order})
        self.machine.qmp.ask("cont")
        deadline = time.monotonic() + PATIENCE
        while not early and b"\n" not in self._data:
            self._wait(deadline)
        if not early:
            self.set("", "power-cut", cut)
        lines = self._until_cut(deadline)
        self._get_unreadable()
        return lines, self.get("", "last-cut")

    def _get_unreadable(self):
        self._unreadable = [self.get(f"/ssd{number}", "unreadable")
                            for number in range(len(self.devices))]

    def _set_unreadable(self):
        for number, ranges in enumerate(self._unreadable):
            self.set(f"/ssd{number}", "unreadable", ranges)

    def check(self, order):
        """Start again and look; what the guest says is there."""
        self.machine.load("state")
        self._set_unreadable()
        self.machine.qmp.ask("cont")
        result = self.order({
            "do": "check", "devices": self.devices, **order,
            "unreadable": [[[int(end) for end in one.split("-")]
                            for one in ranges.split(",") if one]
                           for ranges in self._unreadable]})
        self._get_unreadable()
        self.machine.qmp.ask("stop")
        self.machine.qmp.forget("STOP")
        return result

    def order(self, order):
        """Have the guest do something; its result."""
        self._send(order)
        while not (line := self._line(PATIENCE)).startswith("END "):
            pass
        return json.loads(line.removeprefix("END "))

    def _send(self, order):
        self._data = b""
        self.machine.ports["power"].sendall(json.dumps(order).encode() +
                                            b"\n")

    def _wait(self, deadline):
        """Until something has come from the guest or from QEMU."""
        port, monitor = self.machine.ports["power"], self.machine.qmp
        ready, _, _ = select.select([port, monitor], [], [],
                                    max(deadline - time.monotonic(), 0))
        if port in ready:
            self._data += port.recv(1 << 16)
        monitor.poll()
        if not ready:
            raise self.machine.error("no power cut comes")

    def _drain(self):
        """All that the guest had said by now."""
        port = self.machine.ports["power"]
        while select.select([port], [], [], 0)[0]:
            self._data += port.recv(1 << 16)

    def _line(self, timeout):
        deadline = time.monotonic() + timeout
        port = self.machine.ports["power"]
        while b"\n" not in self._data:
            port.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                block = port.recv(1 << 16)
            except TimeoutError:
                block = b""
            if not block:
                raise self.machine.error("no answer from the guest's writer")
            self._data += block
        line, _, self._data = self._data.partition(b"\n")
        return line.decode()

    def _until_cut(self, deadline):
        """The lines up to the cut; one that does not come is made here."""
        while not self.machine.qmp.take("STOP"):
            if b"END " in self._data:
                self.machine.qmp.ask("stop")
                self.set("", "power", "off")
            else:
                self._wait(deadline)
        self._drain()
        lines = self._data.decode().splitlines()
        self._data = b""
        return lines

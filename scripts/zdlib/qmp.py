# SPDX-License-Identifier: GPL-2.0-or-later
"""A QMP client as small as the tests need: commands, answers, events."""

import json
import select
import time

from zdlib import ui

# What the rest of a line may take that has begun to come.
READ = 30


class Closed(ui.Failure):
    """QEMU has closed the connection, usually because it is gone."""


class Refused(ui.Failure):
    """QEMU has answered a command with an error."""


class Qmp:
    """The monitor at the other end of @socket."""

    def __init__(self, socket):
        self._socket = socket
        self._data = b""
        self._events = []

    def greet(self, timeout):
        """Wait for QEMU and leave capabilities negotiation."""
        self._receive(time.monotonic() + timeout)
        self.ask("qmp_capabilities")

    def _receive(self, deadline):
        while b"\n" not in self._data:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
            block = self._socket.recv(65536)
            if not block:
                raise Closed("QEMU has closed its monitor")
            self._data += block
        line, _, self._data = self._data.partition(b"\n")
        return json.loads(line)

    def ask(self, command, timeout=30, **arguments):
        """Run @command (a '_' in a name of @arguments stands for '-')."""
        request = {"execute": command, "arguments": {
            name.replace("_", "-"): value
            for name, value in arguments.items()}}
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        deadline = time.monotonic() + timeout
        while True:
            answer = self._receive(deadline)
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise Refused(f"{command}: {answer['error']['desc']}")
            self._events.append(answer)

    def fileno(self):
        """For select(): something has come that was not read yet."""
        return self._socket.fileno()

    def forget(self, name):
        """Events @name that have come are of no interest."""
        self._events = [event for event in self._events
                        if event["event"] != name]

    def poll(self):
        """Read what has come."""
        while self._data or select.select([self._socket], [], [], 0)[0]:
            self._events.append(self._receive(time.monotonic() + READ))

    def take(self, name):
        """Whether event @name has come; it is taken then."""
        self.poll()
        came = [event for event in self._events if event["event"] == name]
        self.forget(name)
        return bool(came)

    def event(self, name, timeout):
        """Wait for event @name, which may have come already."""
        deadline = time.monotonic() + timeout
        while True:
            for event in self._events:
                if event["event"] == name:
                    self._events.remove(event)
                    return event.get("data", {})
            self._events.append(self._receive(deadline))

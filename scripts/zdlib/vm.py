# SPDX-License-Identifier: GPL-2.0-or-later
"""Stock QEMU with the card, running a stock kernel, under control.

    machine = vm.Vm("name", [*vm.root_port(), *vm.card(model="cm84")])
    with machine.boot() as guest:
        print(guest.run("lsblk"))

run() executes shell scripts in the guest through an agent on a virtio-serial
port (images/guest/agent), and qmp talks to QEMU.  Nothing depends on what the
console prints; it is kept for the message when something goes wrong.
"""

import json
import os
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass

from zdlib import fsys, image, kernel, paths, qmp, ui

QEMU = "qemu-system-x86_64"
VMS = paths.BUILD / "vm"
# Who starts the test programs names the kernel of their guests here.
KERNEL = "ZDRIVE_KERNEL"

# Tests run the same everywhere, so they do not use KVM even where it is.
# Without 5-level page tables an emulated page walk is shorter.  Where ERMS is
# on offer the kernel clears and copies pages by byte, which TCG does one at a
# time, and each at great cost where translated code was before a reboot.
TCG = ("-accel", "tcg", "-cpu", "max,la57=off,erms=off")
KVM = ("-accel", "kvm", "-cpu", "host")
# With a thread for each processor QEMU 7.2 has two races that processors which
# take turns do not meet.
# It keeps what it has translated of code that another processor has changed
# meanwhile (tb_link_page() does not look again).  A kernel that patches itself
# while all its processors run then meets a breakpoint that it has taken out long
# ago: "Oops: int3", once in some fifty boots.  6.1 has never met it.
# And a processor that is just about to access a device while another one takes a
# card away looks for it in the memory map without that card, by its number in
# the one before (tcg_commit(), iotlb_to_section()), which may be beyond the end:
# QEMU crashes.  So tests that do that take this one, too.
PATCHES_ITSELF = (6, 2)
IN_TURNS = ("-accel", "tcg,thread=single", *TCG[2:])

# A host that is busy at the wrong moment makes the kernel's test of the timer
# interrupt fail; on KVM it leaves that test out by itself.
CONSOLE = "console=ttyS0 no_timer_check panic=-1"

# Under TCG a boot with one card takes about 20 s on an idle machine.
BOOT_TIMEOUT = 180
EXIT_TIMEOUT = 30
MOVE_TIMEOUT = 120
POLL = 0.05
CONSOLE_LINES = 25
BLOCK = 1 << 16


class Error(ui.Failure):
    """The guest or QEMU did not do what it should."""


@dataclass(frozen=True)
class Result:
    """What a script in the guest left."""
    status: int
    out: str
    err: str


#
# Pieces of a QEMU command line
#

def stock():
    """The kernel that this run of the tests is for."""
    return kernel.get(os.environ.get(KERNEL))


def machine(kind="q35", memory="1G", accelerator=TCG, cpus=2):
    """A machine with nothing on it."""
    return ["-nodefaults", "-no-user-config", "-display", "none",
            *accelerator, "-machine", kind, "-smp", str(cpus), "-m", memory]


def accelerator_for(stock_kernel):
    """How a guest with this kernel runs in tests."""
    return IN_TURNS if stock_kernel.version >= PATCHES_ITSELF else TCG


def linux(vmlinuz, initrd, append):
    """Boot a kernel from host files."""
    return ["-kernel", str(vmlinuz), "-initrd", str(initrd),
            "-append", append]


def disks(images):
    """The disks that the guest's tools and modules are on."""
    words = []
    for serial, file in images.disks.items():
        words += blockdev(serial, file, read_only=True)
        words += device("virtio-blk-pci", drive=serial, serial=serial)
    return words


def device(driver, **properties):
    """A device; a '_' in a property's name stands for '-'."""
    return ["-device", ",".join([driver, *(
        f"{name.replace('_', '-')}={value}"
        for name, value in properties.items())])]


def plugin():
    """Add our device types to QEMU."""
    return ["-plugin", str(paths.MODULE)]


def blockdev(node, file, driver="raw", **options):
    """An image file as block node @node."""
    options = {name.replace("_", "-"): value
               for name, value in options.items()}
    return ["-blockdev", json.dumps({
        "driver": driver, "node-name": node, **options,
        "file": {"driver": "file", "filename": str(file), **options}})]


def root_port(name="rp0", slot=1, **properties):
    """A PCI Express slot of q35."""
    return device("pcie-root-port", id=name, bus="pcie.0", chassis=slot,
                  slot=slot, **properties)


def card(name="zd0", bus="rp0", **properties):
    """The card itself; @properties as on QEMU's command line."""
    return device("zdrive-r4", id=name, bus=bus, **properties)


def launch(folder, command, *channels):
    """Start QEMU with a chardev for each of @channels.

    Its arguments and messages are kept in @folder.  Returns the process and
    our end of each channel, a socket.
    """
    command = list(map(str, command))
    pairs = {name: socket.socketpair() for name in channels}
    ends = [theirs for _, theirs in pairs.values()]
    for name, end in zip(pairs, ends):
        command += ["-chardev", f"socket,id={name},fd={end.fileno()}"]
    (folder / "command").write_text(subprocess.list2cmdline(command))
    with open(folder / "messages", "ab") as messages:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=messages,
            stderr=messages, pass_fds=[end.fileno() for end in ends])
    for end in ends:
        end.close()
    return process, *(ours for ours, _ in pairs.values())


def snapshot(monitor, what, node):
    """Have the machine at @monitor save or load its state in the qcow2 @node;
    of the disks only that one is part of it.
    """
    monitor.ask(f"snapshot-{what}", job_id=what, tag="zdrive", vmstate=node,
                devices=[node])
    while True:
        monitor.event("JOB_STATUS_CHANGE", MOVE_TIMEOUT)
        job, = monitor.ask("query-jobs")
        if job["status"] == "concluded":
            break
    monitor.ask("job-dismiss", id=what)
    monitor.forget("JOB_STATUS_CHANGE")
    if "error" in job:
        raise Error(f"snapshot-{what}: {job['error']}")


#
# The machine under control
#

class Vm:
    """One QEMU process and the guest in it.

    @name names the folder below build/vm that keeps console and messages.
    @devices are QEMU arguments that bring the card in.  Where @reboots is
    not set, a guest that reboots (a panic does) ends QEMU.  Each name of
    @ports is one more virtio-serial port, zdrive.NAME, with a socket here.
    """

    def __init__(self, name, devices, reboots=False,
                 append="", ports=(), **machine_options):
        self.folder = VMS / name
        self.kernel = stock()
        images = image.prepare(self.kernel)
        append = f"{CONSOLE} zdrive.guest=agent {append}"
        machine_options = {"accelerator": accelerator_for(self.kernel),
                           **machine_options}
        self._command = [
            QEMU, *machine(**machine_options), *plugin(),
            *linux(self.kernel.vmlinuz, images.initrd, append), *disks(images),
            *([] if reboots else ["-no-reboot"]),
            "-chardev",
            f"file,id=console,path={self.folder}/console,append=on",
            "-serial", "chardev:console",
            *device("virtio-serial-pci"),
            *device("virtserialport", chardev="agent", name="zdrive.agent"),
            *(word for port in ports for word in device(
                "virtserialport", chardev=port, name=f"zdrive.{port}")),
            "-mon", "chardev=qmp,mode=control", *devices]
        self._agent = self._process = self.qmp = None
        self.ports = dict.fromkeys(ports)
        self._early = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def boot(self):
        """Start QEMU and wait until the guest is ready."""
        fsys.folder(self.folder)
        for name in ("console", "messages"):
            (self.folder / name).unlink(missing_ok=True)
        try:
            self._launch()
            self.wait_ready()
        except BaseException as err:
            self.kill()
            if isinstance(err, (OSError, qmp.Closed)):
                raise self.error(f"{QEMU} does not start") from None
            raise
        return self

    def _launch(self, *words):
        """Start QEMU; @words are further arguments."""
        self._process, self._agent, monitor, *ends = launch(
            self.folder, [*self._command, *words], "agent", "qmp",
            *self.ports)
        self.ports = dict(zip(self.ports, ends))
        self.qmp = qmp.Qmp(monitor)
        self.qmp.greet(EXIT_TIMEOUT)

    def move(self, live):
        """Go on in another QEMU, which takes over from this one.

        With @live both are there at the same time; otherwise a file in the
        VM's folder holds the machine meanwhile.  The machine stands still:
        before QEMU 9.0 a guest that runs under TCG while its memory is sent
        loses what it writes (cpu_physical_memory_sync_dirty_bitmap()).
        """
        source, monitor, agent = self._process, self.qmp, self._agent
        file = self.folder / "machine"
        try:
            monitor.ask("stop")
            if live:
                with tempfile.TemporaryDirectory() as folder:
                    # a socket cannot have a long name
                    self._launch("-incoming", f"unix:{folder}/socket")
                    self._send_machine(monitor, f"unix:{folder}/socket")
            else:
                self._send_machine(monitor, f"exec:cat >{file}")
            monitor.ask("quit")
            source.wait(EXIT_TIMEOUT)
            if not live:
                self._launch("-incoming", f"exec:cat {file}")
            self._wait_moved()
        except (OSError, qmp.Closed, qmp.Refused) as err:
            raise self.error(f"the machine cannot be moved: {err}") from None
        finally:
            source.kill()
            file.unlink(missing_ok=True)
        # what the agent had said to the QEMU that is gone
        agent.settimeout(EXIT_TIMEOUT)
        while block := agent.recv(BLOCK):
            self._early += block

    def save(self, node):
        """Keep the machine, but not its disks, in the qcow2 @node."""
        self._snapshot("save", node)

    def load(self, node):
        """Go back to what save() has kept; the disks stay as they are."""
        self._snapshot("load", node)

    def _snapshot(self, what, node):
        try:
            snapshot(self.qmp, what, node)
        except Error as err:
            raise self.error(err) from None

    def _send_machine(self, monitor, uri):
        monitor.ask("migrate-set-parameters", max_bandwidth=1 << 30)
        monitor.ask("migrate", uri=uri)
        deadline = time.monotonic() + MOVE_TIMEOUT
        while (info := monitor.ask("query-migrate"))["status"] != "completed":
            if info["status"] == "failed" or time.monotonic() > deadline:
                raise self.error(f"the machine is not sent: {info}")
            time.sleep(POLL)

    def _wait_moved(self):
        deadline = time.monotonic() + MOVE_TIMEOUT
        while self.qmp.ask("query-status")["status"] == "inmigrate":
            if time.monotonic() > deadline:
                raise self.error("the machine does not arrive")
            time.sleep(POLL)
        self.qmp.ask("cont")

    @property
    def pid(self):
        """The process that is QEMU."""
        return self._process.pid

    def kill(self):
        """End QEMU at once, as a power cut of the host would."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def wait_ready(self, timeout=BOOT_TIMEOUT):
        """Wait until the guest has booted and its agent listens."""
        deadline = time.monotonic() + timeout
        while self._line(deadline, "the guest's agent") != "READY":
            pass

    def run(self, script, timeout=60, check=True):
        """Run a bash @script in the guest.

        Returns its standard output, or the whole Result without @check.
        """
        self.start(script)
        result = self.finish(script, timeout)
        if not check:
            return result
        if result.status:
            raise self.error(
                f"exit status {result.status} from\n{script}\n"
                f"{result.out}{result.err}")
        return result.out

    def start(self, script):
        """Start a script in the guest; finish() waits for its end."""
        data = script.encode()
        self._agent.settimeout(EXIT_TIMEOUT)
        try:
            self._agent.sendall(b"RUN %d\n" % len(data) + data)
        except OSError:
            raise self.error(f"{QEMU} or the guest's agent does not listen"
                              ) from None

    def finish(self, what="the script", timeout=60):
        """The Result of the script that runs in the guest."""
        deadline = time.monotonic() + timeout
        words = self._line(deadline, what).split()
        status, out, err = (int(word) for word in words[1:])
        output = self._bytes(out, deadline, what)
        return Result(status, output.decode(errors="replace"),
                      self._bytes(err, deadline, what).decode(
                          errors="replace"))

    def power_off(self):
        """Shut the guest down and wait for QEMU's regular end."""
        self.start("poweroff")
        try:
            status = self._process.wait(EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            raise self.error("the guest does not power off") from None
        if status:
            raise self.error(f"QEMU ended with status {status}")
        self._process = None

    @property
    def console(self):
        """All that the guest's serial console has shown."""
        return (self.folder / "console").read_text(errors="replace")

    def _line(self, deadline, what):
        line = b""
        while not line.endswith(b"\n"):
            line += self._bytes(1, deadline, what)
        return line.decode(errors="replace").strip()

    def _bytes(self, count, deadline, what):
        data = bytearray()
        while len(data) < count:
            if self._early:
                size = count - len(data)
                data += self._early[:size]
                self._early = self._early[size:]
                continue
            self._agent.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                block = self._agent.recv(min(count - len(data), BLOCK))
            except socket.timeout:
                raise self.error(f"no answer in time from\n{what}") from None
            except ConnectionResetError:
                block = b""
            if not block:
                raise self.error(f"{QEMU} has ended during\n{what}")
            data += block
        return data

    def error(self, what):
        """An Error that shows what console and QEMU said last."""
        lines = []
        for file in ("console", "messages"):
            path = self.folder / file
            text = path.read_text(errors="replace") if path.exists() else ""
            lines += [f"-- {path} --", *text.splitlines()[-CONSOLE_LINES:]]
        return Error(what, lines)

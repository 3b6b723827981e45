# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest whose time is counted in instructions, so that all runs are equal.

    console = icount.run("name", [*vm.root_port(), *vm.card()], "lsblk")

With icount and sleep=off QEMU's virtual clock moves by 2^shift ns for each
instruction and jumps to the next timer when the guest is idle.  What a guest
sees then depends on the host only where QEMU's main loop takes part: virtio
disks and ports do.  So the guest's tools are persistent memory, its job comes
from fw_cfg, and what it says goes to the serial console: all three are served
within the instruction that asks.

    with icount.Machine("name", devices, job) as machine:
        machine.wait("ready")

is one that can also be saved, loaded and reset.
"""

import json
import re
import subprocess
import time

from zdlib import fsys, image, kernel, qmp, vm

APPEND = f"{vm.CONSOLE} zdrive.disks=pmem zdrive.guest=job lpj=100000"
TIMEOUT = 900

EXIT = re.compile(r"^ZDRIVE EXIT (\d+)\s*$", re.MULTILINE)


def _memory(images):
    """The disks of vm.py as persistent memory that cannot be written."""
    words = []
    for name, file in images.disks.items():
        path = str(file).replace(",", ",,")
        words += ["-object",
                  f"memory-backend-file,id={name},mem-path={path},"
                  f"size={file.stat().st_size},readonly=on,share=on"]
        words += vm.device("nvdimm", memdev=name, unarmed="on")
    return words


def command(folder, devices, shift=0):
    """The QEMU command line; the job is a file in @folder."""
    stock = kernel.get()
    images = image.prepare(stock)
    return [
        vm.QEMU,
        # one CPU: with two, QEMU 7.2 stands still under icount
        *vm.machine("q35,nvdimm=on", "1G,slots=2,maxmem=4G", vm.IN_TURNS,
                    cpus=1),
        "-icount", f"shift={shift},sleep=off,align=off", "-seed", "1",
        "-rtc", "base=2024-01-01,clock=vm",
        *vm.plugin(), *vm.linux(stock.vmlinuz, images.initrd, APPEND),
        *_memory(images),
        "-fw_cfg", f"name=opt/zdrive/job,file={folder}/job",
        "-chardev", f"file,id=console,path={folder}/console",
        "-serial", "chardev:console", *devices]


def run(name, devices, job, shift=0, timeout=TIMEOUT):
    """Boot, run the bash script @job, power off: all of the console.

    @name names the folder below build/vm that keeps it.
    """
    folder = fsys.folder(vm.VMS / name)
    (folder / "job").write_text(job, encoding="utf-8")
    (folder / "console").unlink(missing_ok=True)
    words = [*command(folder, devices, shift), "-no-reboot"]
    (folder / "command").write_text(subprocess.list2cmdline(words))
    with open(folder / "messages", "w", encoding="utf-8") as messages:
        try:
            status = subprocess.run(
                words, stdin=subprocess.DEVNULL, stdout=messages,
                stderr=messages, check=False, timeout=timeout).returncode
        except subprocess.TimeoutExpired:
            status = "none in time"
    console = folder / "console"
    text = console.read_bytes().decode(errors="replace") \
        if console.exists() else ""
    said = (folder / "messages").read_text(errors="replace")
    exits = EXIT.findall(text)
    if status or exits != ["0"] or said:
        raise vm.Error(f"QEMU's status is {status}, the job's {exits}",
                       [f"-- {console} --",
                        *text.splitlines()[-vm.CONSOLE_LINES:],
                        f"-- {folder}/messages --", *said.splitlines()])
    return text


class Machine:
    """QEMU under control, with the bash script @job that its guest runs after
    each boot.
    """

    def __init__(self, name, devices, job):
        self._folder = fsys.folder(vm.VMS / name)
        (self._folder / "job").write_text(job, encoding="utf-8")
        for file in ("console", "messages"):
            (self._folder / file).unlink(missing_ok=True)
        self._process, monitor = vm.launch(
            self._folder, [*command(self._folder, devices), "-mon",
                           "chardev=qmp,mode=control"], "qmp")
        self.qmp = qmp.Qmp(monitor)
        self._seen = 0

    def __enter__(self):
        try:
            self.qmp.greet(vm.EXIT_TIMEOUT)
            # the tools: they cannot be written, nor loaded then
            self.qmp.ask("migrate-set-capabilities", capabilities=[
                {"capability": "x-ignore-shared", "state": True}])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    @property
    def console(self):
        """What the guest has said since it was loaded."""
        file = self._folder / "console"
        return file.read_bytes()[self._seen:].decode(errors="replace") \
            if file.exists() else ""

    def wait(self, text, timeout=TIMEOUT):
        """Until the guest has said a line that begins with @text."""
        deadline = time.monotonic() + timeout
        while f"\n{text}" not in self.console:
            if self._process.poll() is not None or \
               time.monotonic() > deadline:
                raise vm.Error(f"the guest does not say {text}", [
                    *self.console.splitlines()[-vm.CONSOLE_LINES:],
                    (self._folder / "messages").read_text(errors="replace")])
            time.sleep(vm.POLL)

    def save(self, node):
        """Keep the machine and the qcow2 @node, with which it stops."""
        self.qmp.ask("stop")
        vm.snapshot(self.qmp, "save", node)

    def load(self, node):
        """Go back to that; the machine stands still."""
        self.qmp.ask("stop")
        vm.snapshot(self.qmp, "load", node)
        self._seen += len(self.console.encode())


def fio(console):
    """What fio said on @console with --output-format=json, by job."""
    text = console.replace("\r\n", "\n")
    jobs = {}
    for match in re.finditer(r"^\{\n.*?^\}\n", text, re.MULTILINE | re.DOTALL):
        for job in json.loads(match[0])["jobs"]:
            jobs[job["jobname"]] = job
    return jobs

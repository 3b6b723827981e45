# SPDX-License-Identifier: GPL-2.0-or-later
"""Armed faults end in the stock kernel as on hardware.

    faults.py ssd | card

Each fault has an SSD of its own and hits while the others have theirs, so that
one boot does for many.  For every one: what the user's program gets, what the
kernel says, what the card counted, and that all is well when it is cleared.
One SSD has no fault; its verified load goes on all the time.
"""

import dataclasses
import re
import sys

import guestlib
from zdlib import fio, qmp, vm

SSDS = 8
HEALTHY = 7
CARD = "/machine/peripheral/zd0"
# For the whole of error handling, which Linux does one SSD after the other.
PATIENCE = 300
# Linux gives a command 30 s; so the tests of a timeout do not take as long.
IMPATIENT = """
for name in {names}; do echo 3 >/sys/block/$name/device/timeout; done
"""
BACKGROUND = """
{fio} --loops=1000 --time_based --runtime=600 --rate_iops=20 \
    >/tmp/healthy 2>&1 & echo $! >/tmp/healthy.pid
"""
HEALTH = """
kill -INT $(cat /tmp/healthy.pid)
while kill -0 $(cat /tmp/healthy.pid) 2>/dev/null; do sleep 0.1; done
cat /tmp/healthy
"""
# What an administrator does to have a phy tried again: off and on.
PHYS = """
cd /sys/class/sas_phy
for phy in {phys}; do echo {enable} >phy-0:$phy/enable; done
"""

READ = "dd if=/dev/{name} of=/dev/null bs=4k count=1 iflag=direct skip={page}"
WRITE = "dd if=/dev/zero of=/dev/{name} bs=4k count=1 oflag=direct seek={page}"
MANY = "dd if=/dev/{name} of=/dev/null bs=64k count=60 iflag=direct"
FLUSH = "dd if=/dev/zero of=/dev/{name} bs=4k count=1 conv=fsync"
# Without a queue the kernel does not send queued commands.
SINGLE = f"""
cd /sys/block/{{name}}/device
depth=$(cat queue_depth); echo 1 >queue_depth; {READ}
good=$?; echo $depth >queue_depth; exit $good
"""


@dataclasses.dataclass(frozen=True)
class Fault:
    """One fault, a script that meets it, and what has to come of it."""
    text: str
    script: str
    works: bool                 # the script's end
    says: tuple = ()            # of the kernel about this SSD
    counts: tuple = ()          # of the SSD's counters that have to rise
    page: int = 0
    name: str = ""
    quiet: bool = False         # the kernel notices nothing

    def __str__(self):
        return f"{self.text} ({self.name})" if self.name else self.text


UNCORRECTABLE = (r"error: \{ UNC \}", "Unrecovered read error")
FAULTY = (r"status: \{ DRDY DF ERR \}",)
DAMAGED = (r"error: \{ ICRC ABRT \}", "hard resetting link", "EH complete")
TIMED_OUT = (r"Emask 0x4 \(timeout\)", "hard resetting link",
             "configured for UDMA", "EH complete")

# Faults after which the SSD is as before.  One list after the other is met;
# the faults of a list all at once, by SSDs 0, 1, 2 ...
PASSING = (
    (
        Fault("read-error,lba=96-103", READ, False, UNCORRECTABLE,
              ("uncorrectable", "queue-errors"), page=12),
        Fault("read-error,lba=100", SINGLE, False,
              (*UNCORRECTABLE, "READ DMA"), ("uncorrectable",), page=12,
              name="not queued"),
        Fault("write-fault,lba=96-103", WRITE, False, FAULTY,
              ("queue-errors",), page=12),
        Fault("crc-error,times=2,after=3", MANY, True, DAMAGED,
              ("crc-errors",)),
        Fault("slow,delay=500ms", READ, True, quiet=True),
        Fault("hang,opcode=0x60,times=1", READ, True, TIMED_OUT, ("hung",)),
        Fault("link-drop,delay=200ms", READ, True, ("EH complete",),
              ("link-losses",)),
    ),
    (
        Fault("read-error,lba=96-103", READ, True, page=0,
              name="beside the place", quiet=True),
        Fault("read-error,lba=96-103,times=1", f"! {READ}; {READ}", True,
              UNCORRECTABLE, ("uncorrectable",), page=12),
        Fault("write-fault,opcode=0xe7", FLUSH, False, FAULTY, ("errors",)),
        Fault("hang,lba=96,times=1,opcode=0x61", WRITE, True, TIMED_OUT,
              ("hung",), page=12),
        Fault("slow,delay=1s,opcode=0xe7", FLUSH, True, quiet=True),
    ),
)

# Faults after which the kernel has given the SSD up, or it is not the same.
LASTING = (
    Fault("panic,form=no-capacity", READ, False,
          ("model number mismatch .*SandForce.200026BB", "disable device",
           "SandForce.200026BB.*", " 0 sectors")),
    Fault("panic,form=diagnostic", READ, False,
          ("model number mismatch .*SandForce.200026BB", "disable device",
           " 64 sectors")),
    Fault("panic,form=busy", READ, False,
          ("qc timeout", "failed to IDENTIFY", "disable device"), ("hung",)),
    Fault("missing", f"while {READ}; do sleep 0.2; done; false", False,
          ("Synchroniz",)),
    Fault("link-drop", READ, False, (), ("link-losses",)),
)


class Machine:
    """The guest under test, and the card's properties."""

    def __init__(self, report, guest):
        self.report = report
        self.guest = guest
        self.names = []
        self.seen = 0
        self.armed = set()

    def find(self, what, count=SSDS):
        """Wait for @count SSDs to be there."""
        found = guestlib.wait_members(self.guest, count, PATIENCE)
        self.report.ok(what, len(found) == count, *found)
        if count == SSDS:
            self.names = [member.name for member in found]
        return found

    def arm(self, where, text):
        """Set the faults of "ssdN", or with "" of the card."""
        path = f"{CARD}/{where}" if where else CARD
        self.guest.qmp.ask("qom-set", path=path, property="faults",
                           value=text)
        self.armed |= {re.split("[, ]", fault.split(":")[-1])[0]
                       for fault in text.split(";")}

    def ask(self, where, name):
        """Read a property of "ssdN" or the card."""
        path = f"{CARD}/{where}" if where else CARD
        return self.guest.qmp.ask("qom-get", path=path, property=name)

    def none_left_out(self, where):
        """Check that every fault was armed that @where has to offer."""
        try:
            self.arm("", f"{where}:nonsense")
        except qmp.Refused as err:
            offered = set(re.search("which has: (.*)", str(err))[1].split())
        self.report.ok("no fault is left out", offered <= self.armed,
                       *sorted(offered - self.armed))

    def log(self):
        """What the kernel has said since the last call."""
        lines = self.guest.run("dmesg").splitlines()
        new = lines[self.seen:]
        self.seen = len(lines)
        return new

    def about(self, log, ssd):
        """The lines of @log on this SSD, as it is called after the boot."""
        pattern = re.compile(rf"(?<!sas: )\bata{ssd + 1}(\.00)?: |"
                             rf"\[{self.names[ssd]}\]|dev {self.names[ssd]},")
        told = []
        for line in log:
            # a line that goes on has no time and no name
            if pattern.search(line) or (not line.startswith("[") and told
                                        and told[-1] == before):
                told.append(line)
            before = line
        return told


def meet(machine, faults):
    """Arm @faults, run their scripts at once, and look at what comes of it."""
    before = []
    script = ""
    for ssd, fault in enumerate(faults):
        where = f"ssd{ssd}"
        before.append(machine.ask(where, "stats"))
        machine.arm(where, fault.text)
        body = fault.script.format(name=machine.names[ssd], page=fault.page)
        script += f"(set +e; {body}) >/tmp/out.{ssd} 2>&1 && good={ssd} || " \
                  f"good=; echo $good >/tmp/good.{ssd} &\n"
    machine.log()
    machine.guest.run(f"{script}wait $(jobs -p)", timeout=PATIENCE)
    log = machine.log()
    good = machine.guest.run("cat /tmp/good.*").split()
    for ssd, fault in enumerate(faults):
        after = machine.ask(f"ssd{ssd}", "stats")
        told = machine.about(log, ssd)
        report = machine.report
        report.ok(f"{fault}: the program "
                  f"{'works' if fault.works else 'gets an error'}",
                  (str(ssd) in good) == fault.works, *told)
        for words in fault.says:
            report.ok(f"{fault}: the kernel says {words}",
                      any(re.search(words, line) for line in told), *told)
        for name in fault.counts:
            report.ok(f"{fault}: {name} rises",
                      after[name] > before[ssd][name], after)
        if fault.quiet:
            report.ok(f"{fault}: the kernel needs no error handling",
                      not any("exception" in line for line in told), *told)


def all_work(machine, what):
    """Clear all faults and see that every SSD is as good as before."""
    machine.arm("", "")
    machine.report.ok(f"{what}: nothing is armed",
                      machine.ask("", "faults") == "")
    names = machine.names[:HEALTHY]
    jobs = fio.verify(machine.guest, names, "1M")
    machine.report.ok(f"{what}: every SSD works again",
                      [job["error"] for job in jobs] == [0] * len(names),
                      jobs)


def health(machine):
    """The SSD without a fault had no error in all the time."""
    log = machine.guest.run("dmesg").splitlines()
    bad = [line for line in machine.about(log, HEALTHY)
           if guestlib.COMPLAINT.search(line)]
    out = machine.guest.run(HEALTH)
    machine.report.ok("the SSD without a fault had no trouble",
                      not bad and '"error" : 0' in out, *bad, out)


def start(machine):
    """All SSDs are there, impatient, and the healthy one is busy."""
    machine.find("all SSDs are there")
    machine.guest.run(IMPATIENT.format(names=" ".join(machine.names)))
    machine.guest.run(BACKGROUND.format(fio=fio.command(
        machine.names[HEALTHY:], "--rw=randrw", "--bs=4k", "--verify=crc32c",
        "--size=4M")))


def of_ssds(machine):
    """Everything that an SSD can do."""
    start(machine)
    for faults in PASSING:
        meet(machine, faults)
        all_work(machine, "after it")
    smart = machine.ask("ssd0", "smart")
    machine.report.ok("SMART attribute 187 counts the bad sectors",
                      smart["187"] > 0, smart)
    total = machine.ask("", "stats")
    machine.report.ok("the card sums up", total["crc-errors"] == 2 and
                      total["hung"] == 2, total)
    meet(machine, LASTING)
    machine.arm("", "")
    # those that were gone come by themselves, the kernel has no use for others
    machine.find("cleared, all SSDs are there")
    panicked = [ssd for ssd, fault in enumerate(LASTING)
                if fault.text.startswith("panic")]
    for enable in 0, 1:
        machine.guest.run(PHYS.format(phys=" ".join(map(str, panicked)),
                                      enable=enable), timeout=PATIENCE)
        machine.find(f"phys set to {enable}",
                     SSDS if enable else SSDS - len(panicked))
    all_work(machine, "tried again")
    signatures(machine)
    health(machine)
    machine.none_left_out("ssd0")


def signatures(machine):
    """A signature that is late or does not come, after plugging in."""
    for ssd, text in ((0, "signature-late,delay=2s"), (1, "signature-absent")):
        machine.arm(f"ssd{ssd}", text)
        for link in ("down", "up"):
            machine.guest.qmp.ask("qom-set", path=f"{CARD}/ssd{ssd}",
                                  property="link", value=link)
            if link == "down":
                machine.find(f"{text}: unplugged", SSDS - 1)
        if ssd == 0:
            machine.find(f"{text}: it is there after that time")
    machine.guest.run("sleep 3")
    machine.find("signature-absent: it does not show up", SSDS - 1)
    machine.arm("ssd1", "")
    machine.find("signature-absent: cleared, it is there")
    all_work(machine, "with signatures")


def of_card(machine):
    """What the bridge, its flash and its link can do."""
    start(machine)
    report = machine.report
    for text in ("completion-late,delay=50ms,times=1", "irq-lost,times=1"):
        # core 1 is quiet, so the next completion of it is the one
        name = machine.names[5]
        machine.guest.run("kill -STOP $(cat /tmp/healthy.pid)")
        machine.guest.run("sleep 0.5")
        machine.log()
        machine.arm("", f"card:{text}")
        result = machine.guest.run(READ.format(name=name, page=0),
                                   check=False)
        told = machine.about(machine.log(), 5)
        report.ok(f"{text}: the kernel tries again", result.status == 0,
                  result)
        for words in TIMED_OUT:
            report.ok(f"{text}: the kernel says {words}",
                      any(re.search(words, line) for line in told), *told)
        report.ok(f"{text}: it hit once", "hits=1" in machine.ask("",
                                                                  "faults"))
        machine.guest.run("kill -CONT $(cat /tmp/healthy.pid)")
    machine.arm("", "card:link-width,width=1")
    status = "lspci -vv -s {} | grep LnkSta:".format(
        guestlib.members(machine.guest)[0].pci)
    report.ok("link-width: lspci shows it",
              "x1 (downgraded)" in machine.guest.run(status))
    machine.arm("", "")
    report.ok("link-width: cleared, it is wide again",
              "Width x8" in machine.guest.run(status))
    health(machine)
    dead_interrupt(machine)
    corrupt_flash(machine)
    machine.none_left_out("card")


def dead_interrupt(machine):
    """The card of https://lore.kernel.org/linux-scsi/20231022200329.60844-1-
    marex@denx.de: every IDENTIFY times out.  And SSDs that are not there or
    not alive when the driver comes.
    """
    report = machine.report
    machine.guest.run("modprobe -r mvsas", timeout=PATIENCE)
    # the kernel waits for one SSD after the other, so one is enough
    machine.arm("", ";".join(["card:intx-dead", *(f"ssd{ssd}:missing"
                                                  for ssd in range(1, SSDS))]))
    machine.log()
    machine.guest.run("modprobe mvsas", timeout=PATIENCE)
    machine.guest.run("until dmesg | tail -n 40 | grep -q 'returned -19'; "
                      "do sleep 1; done", timeout=PATIENCE)
    log = machine.log()
    for words in (r"qc timeout.*cmd 0xec", "failed to IDENTIFY",
                  "sas_probe_sata: .* returned -19"):
        report.ok(f"intx-dead: the kernel says {words}",
                  any(re.search(words, line) for line in log), *log)
    machine.find("intx-dead: no SSD", 0)
    machine.guest.run("modprobe -r mvsas", timeout=PATIENCE)
    machine.arm("", "ssd3:missing;ssd6:panic,form=busy")
    machine.guest.run("modprobe mvsas", timeout=PATIENCE)
    machine.find("missing and busy at power-on: six SSDs", SSDS - 2)
    log = machine.log()
    report.ok("busy at power-on: the kernel says so",
              any("No sig fis" in line for line in log), *log)
    machine.guest.run("modprobe -r mvsas", timeout=PATIENCE)
    machine.arm("", "")
    machine.guest.run("modprobe mvsas", timeout=PATIENCE)
    machine.find("cleared, all SSDs are there")
    all_work(machine, "in the end")


def corrupt_flash(machine):
    """Whatever is wrong in it, mvsas does not look."""
    machine.guest.run("modprobe -r mvsas", timeout=PATIENCE)
    machine.arm("", ";".join(f"card:spi-corrupt,field={field}" for field in (
        "signature", "checksum", "drive-count", "serial")))
    machine.log()
    machine.guest.run("modprobe mvsas", timeout=PATIENCE)
    machine.find("spi-corrupt: all SSDs are there")
    bad = [line for line in machine.log() if guestlib.COMPLAINT.search(line)]
    machine.report.ok("spi-corrupt: the kernel says nothing", not bad, *bad)


VARIANTS = {"ssd": of_ssds, "card": of_card}


def body(report):
    """Boot, and do what the variant says."""
    variant = sys.argv[1]
    devices = [*vm.root_port(), *vm.card(model="cm88", size="512M")]
    with guestlib.guest(report, devices, variant,
                        errors_wanted=True) as guest:
        VARIANTS[variant](Machine(report, guest))
        messages = (guest.folder / "messages").read_text()
        report.ok("QEMU has no complaint", not messages, messages)


guestlib.run(body)

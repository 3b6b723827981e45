# SPDX-License-Identifier: GPL-2.0-or-later
"""The card in counted time: what a guest measures is the model, each time.

    icount.py same      all runs print the same, whatever the host does
    icount.py cut       so is what a power cut takes, from one snapshot on
    icount.py speed     fio against the flash model alone: latency of one
                        command, and throughput over queue depth

One instruction is one nanosecond (shift=0): a processor of 1 GIPS.
"""

import contextlib
import re
import subprocess
import sys
import threading

import guestlib
from zdlib import bench, icount, paths, vm

# A ROM that waits for a key takes long where each look counts as 1 ns.
NO_ROM = {"romfile": ""}
FIO = "fio --eta=never --direct=1"

#
# same
#

SIZE = 512 << 20
SAME = f"""
volume
{FIO} --filename=/dev/md0 --size=2m --bs=4k --ioengine=libaio --iodepth=16 \\
    --name=write --rw=write --bs=128k --verify=crc32c --do_verify=1 \\
    --name=random --stonewall --rw=randrw --number_ios=400 --fsync=50 \\
    --name=one --stonewall --rw=randread --iodepth=1 --number_ios=100 \\
    --name=trim --stonewall --rw=randtrim --number_ios=20
"""
HOGS = 2


@contextlib.contextmanager
def busy_host():
    """Keep the host's processors busy meanwhile."""
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(HOGS)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def difference(one, other):
    """The first line in which two consoles differ."""
    lines = zip(one.splitlines(), other.splitlines())
    return next((pair for pair in lines if pair[0] != pair[1]),
                (len(one), len(other)))


def together(works):
    """The results of functions that run at the same time."""
    results = [None] * len(works)

    def call(number):
        results[number] = works[number]()

    threads = [threading.Thread(target=call, args=(number,))
               for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def same(report):
    """Store in memory and in a file, host idle and busy."""
    def run(name, *blockdev, **properties):
        devices = [*blockdev, *vm.root_port(),
                   *vm.card(model="cm84", size=SIZE, **NO_ROM, **properties)]
        return icount.run(f"icount-{name}", devices, SAME)

    with guestlib.Image("volume", SIZE) as image:
        drive = vm.blockdev("volume", image.path)
        first = run("memory")
        # These load the host for each other, too.
        with busy_host():
            others = together([
                lambda: run("memory-busy"),
                lambda: run("file-busy", *drive, drive="volume")])
        report.ok("the job has run", "clat percentiles" in first
                  and "Disk stats" in first, *first.splitlines()[-30:])
        for what, other in zip(("memory", "an image file"), others):
            report.ok(f"all of the console again, {what}, host busy",
                      other == first, *difference(first, other))


#
# cut
#

CARD_PATH = "/machine/peripheral/zd0"
# The first boot marks the volume and writes until the cut; the boot after it
# tells what is there, page by page where one cannot be read.  What SAFE says
# was flushed.
CUT = f"""
volume
if [ "$(head -c 5 /dev/md0)" = begun ]; then
    for part in 1 2 3 4; do
        {{ dd if=/dev/md0 bs=4k skip=$((part * 512)) count=512 iflag=direct \\
            conv=noerror,sync status=none || true; }} | sha256sum |
            sed "s/^/PART $part /"
    done
    echo "SAFE $(head -c 8192 /dev/md0 | tail -c 4096 | tr -d '\\0')"
    echo DONE
    sleep infinity
fi
echo begun | dd of=/dev/md0 bs=512 conv=sync oflag=direct,dsync status=none
for turn in $(seq 1000); do
    echo "TURN $turn"
    {FIO} --filename=/dev/md0 --offset=2m --size=8m --ioengine=libaio \\
        --iodepth=16 --name=cut --rw=randrw --rwmixread=20 --bsrange=4k-16k \\
        --number_ios=400 --fsync=100 --randseed=$turn --refill_buffers
    echo "$turn" | dd of=/dev/md0 bs=4k seek=1 conv=sync \\
        oflag=direct,dsync status=none
done
"""
# One after the other, from the same snapshot; then again.
CUTS = ("writes=700 then=reset", "programs=90 ssd=2 then=reset")
BOOTED = "Linux version"


def get(machine, path, name):
    """A property of the card or of an SSD."""
    return machine.qmp.ask("qom-get", path=CARD_PATH + path, property=name)


def replay(machine, cut):
    """What is said until that cut, the cut's report, and what is left."""
    machine.load("volume")
    machine.qmp.ask("qom-set", path=CARD_PATH, property="power-cut", value=cut)
    machine.qmp.ask("cont")
    machine.wait("DONE")
    before, _, after = machine.console.partition(BOOTED)
    return {"said": before, "last-cut": get(machine, "", "last-cut"),
            "left": re.findall(r"^(?:PART|SAFE) .*", after, re.MULTILINE),
            "unreadable": [get(machine, f"/ssd{number}", "unreadable")
                           for number in range(4)]}


def cut(report):
    """Saved, cut, loaded, cut elsewhere, loaded, both again."""
    with guestlib.qcow2("volume", SIZE) as drive:
        devices = [*drive, *vm.root_port(),
                   *vm.card(model="cm84", drive="volume", **NO_ROM)]
        with icount.Machine("icount-cut", devices, CUT) as machine:
            machine.wait("TURN 2")
            machine.save("volume")
            first = [replay(machine, each) for each in CUTS]
            again = [replay(machine, each) for each in CUTS]
    for one in first:
        begun = max(map(int, re.findall(r"TURN (\d+)", one["said"])),
                    default=0)
        safe = re.findall(r"SAFE (\d+)", "\n".join(one["left"]))
        losses = [ssd["lost"] for ssd in one["last-cut"]["ssds"]]
        report.note(f"{one['last-cut']['trigger']}: lost {losses}, "
                    f"{one['unreadable']}", *one["left"])
        report.ok(f"cut by {one['last-cut']['trigger']}: the guest was at "
                  "work, and has found what is left", sum(losses) and
                  begun and len(one["left"]) == 5, one["said"][-1000:])
        report.ok(f"turn {begun} had begun, so {begun - 1} is there",
                  safe in ([str(begun - 1)], [str(begun)]), safe)
    for one, other in zip(first, again):
        for what in one:
            report.ok(f"again by {one['last-cut']['trigger']}: {what} as "
                      "before, to the bit", one[what] == other[what],
                      one[what], other[what])
    for what in ("last-cut", "left"):
        report.ok(f"another cut: {what} is something else",
                  first[0][what] != first[1][what], first[0][what])


#
# speed
#

CARD = "zdrive-r4:cm88"
SSDS = 8
SPAN = 64 << 20
IOS = 300               # of one command after the other
DELAY_US = 128          # of interrupts, the driver's default

# What guest and driver take for one command, in us: system call, block layer,
# SCSI, libata, mvsas, interrupt; "md" is a read through RAID-0.  Another kernel
# has other figures.
GUEST_US = {"write": 20.0, "randread": 17.8, "md": 21.6}
TOLERANCE_US = 1.0

# A slot of one lane at 2.5 GT/s carries less than a guest of 1 GIPS can ask
# for; so what the queue depth does shows to the end.
NARROW = "gen1x1"
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 256)
FULL_FROM = 16          # depth from which on the narrow link is full
# In the wide slot the guest keeps up with the card to this depth.
WIDE_DEPTHS = (1, 2, 4)
BLOCK_DEPTHS = (2, 4)   # of 2 MiB, sequential

HOSTS = "/sys/class/scsi_host/host*/interrupt_coalescing"
ONE = f"{FIO} --output-format=json --bs=4k --ioengine=psync"
# In batches, which take less of the guest's processor.
MANY = (f"{FIO} --output-format=json --ioengine=libaio --bs=4k --size={SPAN} "
        "--iodepth_batch_submit=32 --iodepth_batch_complete_min=1 "
        "--iodepth_batch_complete_max=64")


def jobs(name, rw, depths, *options):
    """Words for fio: one job after the other for each depth.

    fio tells the time of a job in whole milliseconds, so none may be short.
    """
    words = []
    for depth in depths:
        words += [f"--name={name}-{depth}", "--stonewall", f"--rw={rw}",
                  f"--iodepth={depth}", *(options or
                                          [f"--number_ios="
                                           f"{min(600 * depth, 4000)}"])]
    return " ".join(words)


def speed_job():
    """The bash script of the guest."""
    one = "/dev/$(members | head -n 1 | cut -d' ' -f4)"
    return f"""
array() {{
    devices=$(members | awk -v pci=$2 '$1 ~ pci {{ print "/dev/" $4 }}')
    mdadm --quiet --build $1 --level=0 --chunk=64 --raid-devices={SSDS} $devices
}}
for delay in {DELAY_US} 0; do
    for file in {HOSTS}; do
        [ ! -e $file ] || echo $delay >$file
    done
    {ONE} --filename={one} --size={IOS * 4}k \\
        --name=write-$delay --rw=write \\
        --name=randread-$delay --stonewall --rw=randread
done
array /dev/md0 :01:
array /dev/md1 :02:
for md in md0 md1; do
    {MANY} --filename=/dev/$md --name=fill-$md --rw=write --bs=2m --iodepth=2
done
{MANY} --filename=/dev/md0 {jobs("wide", "randread", WIDE_DEPTHS)} \\
    {jobs("block", "read", BLOCK_DEPTHS, "--bs=2m", "--io_size=256m")}
{MANY} --filename=/dev/md1 {jobs("narrow", "randread", DEPTHS)}
"""


def model(load, depth=1, **options):
    """The bench's result for a host that takes no time."""
    words = [word for name, value in options.items()
             for word in (f"--{name}", value)]
    return bench.measure(
        paths.BENCH, "--card", CARD, "--rw", load, "--qd", depth,
        "--plain-host", "--data", "incomp", "--span", SPAN, "--ios", 3000,
        *words)


def check_latency(report, found):
    """One command at a time: the model, and what the guest takes."""
    for load, guest in (("write", GUEST_US["write"]),
                        ("randread", GUEST_US["randread"])):
        wanted = model(load)["mean_us"]
        for delay in DELAY_US, 0:
            side = found[f"{load}-{delay}"]["write" if load == "write"
                                            else "read"]
            mean = side["lat_ns"]["mean"] / 1e3
            report.note(f"{load}: {mean:.2f} us = model {wanted:.2f} + "
                        f"interrupt delay {delay} + guest "
                        f"{mean - wanted - delay:.2f}")
            report.ok(f"{load}, interrupts delayed by {delay} us: the model, "
                      f"the delay and {guest} us of the guest",
                      abs(mean - wanted - delay - guest) < TOLERANCE_US,
                      mean, wanted)


def check_depths(report, found):
    """The narrow slot: a rise with the depth, then the link's limit."""
    limit = model("randread", max(DEPTHS), link=NARROW)["iops"]
    curve = {depth: found[f"narrow-{depth}"]["read"]["iops"]
             for depth in DEPTHS}
    for depth, iops in curve.items():
        alone = model("randread", depth, link=NARROW)["iops"]
        report.note(f"narrow slot, depth {depth}: {iops:.0f} IOPS, model "
                    f"alone {alone:.0f}")
    first = model("randread", link=NARROW)["mean_us"] + GUEST_US["md"]
    mean = found["narrow-1"]["read"]["lat_ns"]["mean"] / 1e3
    report.ok("narrow slot: depth 1 is model and guest",
              abs(mean - first) < TOLERANCE_US, mean, first)
    rise = [curve[depth] for depth in DEPTHS if depth <= FULL_FROM]
    report.ok("narrow slot: rises with the depth", rise == sorted(rise)
              and curve[2] > 1.9 * curve[1] and curve[4] > 3.5 * curve[1],
              *curve.items())
    full = [curve[depth] for depth in DEPTHS if depth >= FULL_FROM]
    report.ok(f"narrow slot: full from depth {FULL_FROM} on, at the model's "
              f"{limit:.0f} IOPS", all(abs(iops / limit - 1) < 0.03
                                       for iops in full), *curve.items())


def check_wide(report, found):
    """The wide slot, as far as the guest keeps up."""
    for depth in WIDE_DEPTHS:
        side = found[f"wide-{depth}"]["read"]
        mean = side["lat_ns"]["mean"] / 1e3
        wanted = model("randread", depth)["mean_us"] + GUEST_US["md"]
        report.note(f"wide slot, depth {depth}: {side['iops']:.0f} IOPS, "
                    f"{mean:.1f} us, model and guest {wanted:.1f}")
        report.ok(f"wide slot: depth {depth} is model and guest",
                  abs(mean / wanted - 1) < 0.04, mean, wanted)
    for depth in BLOCK_DEPTHS:
        rate = found[f"block-{depth}"]["read"]["bw_bytes"] / 1e6
        limit = model("read", depth, bs="2M")["MBps"]
        report.note(f"wide slot, 2 MiB, depth {depth}: {rate:.0f} MB/s, model "
                    f"alone {limit:.0f}")
        report.ok(f"wide slot: 2 MiB at depth {depth} reach the card's limit",
                  0.9 * limit < rate < 1.01 * limit, rate, limit)


def speed(report):
    """Two cards, one of them in a narrow slot."""
    devices = [*vm.root_port("rp0", 1),
               *vm.root_port("rp1", 2, x_speed="2_5", x_width=1),
               *vm.card("zd0", "rp0", model="cm88", **NO_ROM),
               *vm.card("zd1", "rp1", model="cm88", **NO_ROM)]
    found = icount.fio(icount.run("icount-speed", devices, speed_job()))
    check_latency(report, found)
    check_wide(report, found)
    check_depths(report, found)


guestlib.run({"same": same, "cut": cut, "speed": speed}[sys.argv[1]])

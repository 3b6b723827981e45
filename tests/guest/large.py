# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests of 1 MiB, in the largest commands that the kernel sends.

    large.py requests | iommu | debug

mvsas leaves Scsi_Host.max_sectors at its default, so these are 512 KiB; qtest
has larger ones.  In huge pages such a command has a short list.  In ordinary
pages it has as many places in memory as the driver takes, and the kernel
divides what has more.  Behind an IOMMU the addresses of the list are not those
of memory, and what the card reads or writes outside of it is a fault that the
kernel reports.  For debug the kernel also poisons all memory that is free, so
that a transfer that comes too late does not go unnoticed.
"""

import re
import sys

import guestlib
from zdlib import fio, vm

SSDS = 4
MEMBER = 64 << 20
REQUEST = 1 << 20
SECTOR = 512
DEPTH = 8
# fio's buffers for all SSDs, in huge pages of 2 MiB
HUGE_PAGES = SSDS * (DEPTH * REQUEST // (2 << 20) + 2)
RAISE = """
for name in {names}; do
    cd /sys/block/$name/queue
    most=$(cat max_hw_sectors_kb)
    echo $((most < {kib} ? most : {kib})) >max_sectors_kb
    cat max_sectors_kb
done
"""
IOMMU = "intel_iommu=on iommu.passthrough=0 iommu.strict=1"
# Its name was slub_debug before Linux 6.6.
DEBUG = "slub_debug=FZP slab_debug=FZP page_poison=1"
VARIANTS = {
    # QEMU arguments before the card's, and the kernel's command line
    "requests": ([], ""),
    "iommu": (vm.device("intel-iommu", intremap="on"), IOMMU),
    "debug": (vm.device("intel-iommu", intremap="on"), f"{IOMMU} {DEBUG}"),
}


def counted(machine):
    """Commands and sectors written so far, of each SSD."""
    return [machine.qmp.ask("qom-get", property="stats",
                            path=f"/machine/peripheral/zd0/ssd{ssd}")
            for ssd in range(SSDS)]


def write(report, machine, names, what, *options):
    """Write and verify every SSD; the mean size of a writing command."""
    before = counted(machine)
    machine.run(fio.command(
        names, "--rw=write", f"--bs={REQUEST}", f"--iodepth={DEPTH}",
        f"--size={MEMBER}", *options), timeout=120)
    after = counted(machine)
    sizes = [SECTOR * (new["sectors-written"] - old["sectors-written"])
             // (new["commands"] - old["commands"])
             for old, new in zip(before, after)]
    report.note(f"{what}: bytes of a command: {sizes}")
    machine.run(fio.command(
        names, "--rw=randrw", f"--bs={REQUEST}", f"--iodepth={DEPTH}",
        f"--size={MEMBER}", "--verify=crc32c", "--verify_fatal=1", *options),
        timeout=240)
    report.ok(f"{what}: verified", True)
    return sizes


def check_iommu(report, machine):
    """The card is behind the IOMMU, and so are its interrupts."""
    pci = guestlib.members(machine)[0].pci
    kind = machine.run(f"cat /sys/bus/pci/devices/{pci}/iommu_group/type")
    report.ok("the card's DMA is translated", kind.strip() == "DMA", kind)
    log = machine.run("dmesg")
    report.ok("its interrupts are remapped",
              re.search("DMAR-IR: Enabled IRQ remapping", log), log[-2000:])


def check_debug(report, machine):
    """The kernel does poison."""
    poison = machine.run("cat /sys/kernel/slab/kmalloc-64/{poison,red_zone}")
    report.ok("slabs are poisoned", poison.split() == ["1", "1"], poison)
    log = machine.run("dmesg | grep 'mem auto-init'")
    report.ok("pages are poisoned", "CONFIG_PAGE_POISONING is on" in log, log)


def body(report):
    """Boot and write."""
    variant = sys.argv[1]
    before, append = VARIANTS[variant]
    with guestlib.Image(variant, SSDS * MEMBER) as image:
        devices = [*before, *vm.blockdev("volume", image.path),
                   *vm.root_port(), *vm.card(model="cm84", drive="volume")]
        with guestlib.guest(report, devices, variant,
                            append=append) as machine:
            names = guestlib.names(machine)
            report.ok("all SSDs are there", len(names) == SSDS, *names)
            if before:
                check_iommu(report, machine)
            if variant == "debug":
                check_debug(report, machine)
            limits = {int(kib) << 10 for kib in machine.run(RAISE.format(
                names=" ".join(names), kib=REQUEST >> 10)).split()}
            report.ok("the kernel sends 512 KiB, or 1 MiB",
                      limits in ({REQUEST // 2}, {REQUEST}), *limits)
            write(report, machine, names, "ordinary pages")
            machine.run(f"echo {HUGE_PAGES} >/proc/sys/vm/nr_hugepages")
            sizes = write(report, machine, names, "huge pages",
                          "--iomem=shmhuge")
            report.ok("in huge pages all commands are that large",
                      set(sizes) == limits, *sizes)
            in_guest = guestlib.sums(machine, names)
        report.ok("the image holds what the guest reads",
                  image.member_sums(SSDS) == in_guest, *in_guest)


guestlib.run(body)

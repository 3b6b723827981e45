# SPDX-License-Identifier: GPL-2.0-or-later
"""BlockIo of the UEFI driver: data, errors, flush, Stop, ExitBootServices.

remote.c makes the calls, in one machine after the other.  The clock is
virtual, so that a command that hangs takes no time of the host.
"""

import bootlib
import remote
from zdlib import bootimage, vm

SSDS = 8
CHUNK = 128
ERROR = remote.DEVICE_ERROR
CARD = "/machine/peripheral/zd0"
# What remote.c misuses, in its order.
MISUSE = {
    "a wrong media id": 0x10D,
    "half a sector": 0x104,
    "nothing": 0,
    "no buffer": 0x102,
    "an odd buffer": 0x102,
    "past the end": 0x102,
    "over the end": 0x102,
    "written past the end": 0x102,
    "the last sector": 0,
    "a reset": 0,
}


def machine(what, **card):
    """A card with an image that firmware finds file systems on."""
    return remote.Remote(what, [
        *bootlib.snapshot("d", bootimage.get(SSDS)), *vm.root_port(),
        *vm.card(model="cm88", drive="d", **card)],
        accelerator=bootlib.ICOUNT)


def data(report, guest):
    """Over all SSDs and back; what is wrong with a call."""
    first, count = 0x70000, 4 * CHUNK + 9
    for words in (f"w 0 {first:x} {count:x}", f"r 0 {first:x} {count:x}"):
        found = guest.ask(words)
        report.ok(f"'{words}'", found == [0, first, first + count - 1], found)
    for (what, wanted), found in zip(MISUSE.items(), guest.ask("u")):
        report.ok(f"{what}: {wanted:x}h", found == wanted, hex(found))


def errors(report, guest):
    """Errors of an SSD become EFI_DEVICE_ERROR; then all is well again."""
    def faults(text):
        guest.machine.qmp.ask("qom-set", path=CARD, property="faults",
                              value=text)

    def stats():
        return guest.machine.qmp.ask("qom-get", path=CARD, property="stats")

    def expect(what, words, wanted):
        found = guest.ask(words)[0]
        report.ok(f"{what}: {wanted:x}h", found == wanted, hex(found))

    # the second chunk, which SSD 1 has in its sectors 0 to 127
    read, write = f"r 0 {CHUNK:x} {CHUNK:x}", f"w 0 {CHUNK:x} {CHUNK:x}"
    faults("ssd1:read-error lba=100")
    expect("an uncorrectable sector", read, ERROR)
    expect("the sectors before it", f"r 0 {CHUNK:x} 64", 0)
    expect("the sectors after it", f"r 0 {CHUNK + 101:x} 10", 0)
    faults("ssd1:write-fault lba=127")
    expect("a write fault", write, ERROR)
    expect("reading there", read, 0)
    before = stats()["crc-errors"]
    faults("ssd1:crc-error times=2")
    expect("two damaged frames", read, 0)
    expect("then a write", write, 0)
    report.ok("they were sent again", stats()["crc-errors"] - before == 2,
              stats())
    faults("ssd1:crc-error")
    expect("every frame is damaged", read, ERROR)
    expect("also those of writes", write, ERROR)
    faults("ssd1:hang opcode=0x25 times=1")
    expect("a command that hangs", read, ERROR)
    expect("the SSD was reset", read, 0)
    faults("ssd1:write-fault opcode=0xea")
    expect("flush with an error", "f", ERROR)
    faults("ssd1:hang opcode=0xea times=1")
    expect("flush that hangs", "f", ERROR)
    faults("")
    before = stats()["flushes"]
    expect("flush", "f", 0)
    report.ok("it has reached each SSD", stats()["flushes"] - before == SSDS,
              stats())


def stop(report, guest):
    """The driver leaves nothing behind and can come back."""
    last = bootimage.SIZE_MIB * (1 << 20) // 512 - 1
    left = []
    for turn in range(4):
        found = guest.ask("d")
        report.ok(f"stop {turn}: no disk", found == [0], found)
        left.append(guest.ask("m"))
        found = guest.ask("c")
        report.ok(f"start {turn}: the disk", found[::2] == [0, last], found)
    # the first turn may still fill pools
    report.ok("handles, memory and the PCI command register are as before",
              left[1:] == left[1:2] * 3, *left)
    report.ok("the disk can be read",
              guest.ask("r 0 70000 4")[:2] == [0, 0x70000])


def body(report):
    """The volume, then the members, then the end of the firmware."""
    with machine("volume") as guest:
        guest.ask("c")
        data(report, guest)
        errors(report, guest)
        stop(report, guest)
        found = guest.ask("x")
        report.ok("ExitBootServices: both cores ran", found[:3] == [1, 1, 0],
                  found)
        report.ok("and move no data any more", found[3:] == [0] * 4, found)
    with machine("members", rom_view="members") as guest:
        guest.ask("d")
        found = guest.ask("c")
        report.ok("members: eight disks of the same size", found[2:] ==
                  [bootimage.SIZE_MIB * (1 << 20) // 512 // SSDS - 1] * SSDS,
                  found)
        guest.ask("w 2 1234 8")
        found = guest.ask("r 2 1234 8")
        report.ok("members: data", found == [0, 0x1234, 0x123B], found)
        volume = (0x1234 // CHUNK * SSDS + 2) * CHUNK + 0x1234 % CHUNK
        report.ok("members: of one SSD only",
                  guest.ask("r 1 1234 8")[1] != 0x1234, volume)
        found = guest.ask("d")
        report.ok("members: stop", found == [0], found)


if __name__ == "__main__":
    bootlib.run(body)

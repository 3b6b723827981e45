# SPDX-License-Identifier: GPL-2.0-or-later
"""The judge of powerloop knows what may be there after a cut, and what not."""

import base64
import itertools
import json
import struct
import sys

from zdlib import powerjudge, tap

SEED = 3


def world(power, kind, streams, done, safe_only=False):
    """What all cells hold when every stream has done @done steps, or only
    what the last durable one of them made so; and that step of each stream.
    """
    found, told = {}, {}
    for stream in range(streams):
        now = {}
        steps = itertools.islice(power.plan(kind, SEED, stream), done)
        for number, step in enumerate(steps, 1):
            now.update(dict.fromkeys(step.cells, [SEED, number]))
            if step.sync:
                told[stream] = number
                found |= {cell: now[cell] for cell in step.covers
                          if cell in now}
            for cell in (*step.cells, *step.covers):
                found.setdefault(cell, 0)
        if not safe_only:
            found |= now
    return found, told


def cases(report, power, kind, streams):
    """Right and wrong worlds of one workload."""
    for done in (1, 10, 60):
        ended = dict.fromkeys(range(streams), done)
        for safe_only in (False, True):
            found, told = world(power, kind, streams, done, safe_only)
            judge = powerjudge.Judge(kind, streams)
            wrong, at_risk, lost, _ = judge.verdict(SEED, told, ended, found)
            what = f"{kind}, {done} steps"
            if safe_only:
                report.ok(f"{what}: all that was not durable may be lost",
                          not wrong and lost == at_risk, wrong, lost, at_risk)
            else:
                report.ok(f"{what}: all may be there",
                          not wrong and lost == 0, wrong, lost)
            report.ok(f"{what}: the next cut begins with that",
                      not judge.verdict(SEED + 1, {}, {}, found)[0])
    found, told = world(power, kind, streams, 60, True)
    ended = dict.fromkeys(range(streams), 60)
    safe = [cell for cell, there in found.items() if there]
    for name, there in (("empty", 0), ("older", [SEED, 0]), ("foreign", None),
                        ("of the future", [SEED, 10000])):
        judge = powerjudge.Judge(kind, streams)
        wrong = judge.verdict(SEED, told, ended, {**found, safe[0]: there})[0]
        report.ok(f"{kind}: a durable cell must not be {name}",
                  [one.cell for one in wrong] == [safe[0]], wrong)


def capacitors(report, power):
    """With them all that has ended is durable."""
    ended = dict.fromkeys(range(8), 60)
    for safe_only in (False, True):
        found, _ = world(power, "raw", 8, 60, safe_only)
        judge = powerjudge.Judge("raw", 8, every=True)
        wrong = judge.verdict(SEED, ended, ended, found)[0]
        report.ok("capacitors: what is not flushed must be there as well",
                  bool(wrong) == safe_only, wrong)


def fio_lines(power, begun, streams):
    """What the guest says when fio had @begun that many writes on each SSD."""
    state = bytearray(power.FIO_NUMBER + 100)
    struct.pack_into("<Q", state, power.FIO_NUMBER, begun)
    return ["FIO " + json.dumps([base64.b64encode(state).decode()] * streams)]


def fio(report, power):
    """What fio has verified: by SSD, with and without capacitors."""
    lines = fio_lines(power, 8, 2)
    right = {"checked": 8, "wrong": 0, "unreadable": 0, "first": None}
    wrong = {"checked": 8, "wrong": 3, "unreadable": 1, "first": "4096"}
    short = {**right, "checked": 6}

    def verdict(*found, every=False):
        judge = powerjudge.FioJudge(every)
        return judge.verdict(SEED, judge.told(lines), judge.written(lines),
                             {str(ssd): one for ssd, one in enumerate(found)})

    judge = powerjudge.FioJudge()
    report.ok("fio: the last write that has begun may not have ended",
              judge.written(lines) == {0: 7, 1: 7}, judge.written(lines))
    report.ok("fio: with O_DSYNC what has ended is durable",
              judge.told(lines) == {0: 7}, judge.told(lines))
    report.ok("fio: with capacitors all that has ended is",
              powerjudge.FioJudge(True).told(lines) == {0: 7, 1: 7})
    report.ok("fio: all may be there",
              verdict(right, right) == ([], 8, 0, 0), verdict(right, right))
    report.ok("fio: what was not durable may be lost",
              verdict(right, wrong) == ([], 8, 3, 1), verdict(right, wrong))
    for what, result, text in (
            ("what was durable must not be lost", verdict(wrong, right),
             "ssd0: 3 of 8 writes are lost, the first at byte 4096"),
            ("with capacitors nothing must be lost",
             verdict(right, wrong, every=True),
             "ssd1: 3 of 8 writes are lost, the first at byte 4096"),
            ("it must have looked at all", verdict(right, short),
             "ssd1: 0 of 6 writes that fio has looked at are wrong, but 7 had "
             "ended"),
            ("it must have looked at every SSD", verdict(right),
             "ssd1: 0 of 0 writes that fio has looked at are wrong, but 7 had "
             "ended")):
        report.ok(f"fio: {what}", result[0] == [text], result)
    report.ok("fio: a cut before it has saved anything proves nothing",
              judge.proof([]) == {"states": []} and
              not judge.verdict(SEED, {}, judge.written([]), {})[0])


def pages(report, power):
    """A stamp is known again, and nothing else is."""
    page = power.stamp(7, "x", 9)
    report.ok("a stamp is known", power.identify(page, "x") == [7, 9])
    report.ok("not in another cell", power.identify(page, "y") is None)
    report.ok("not with a bit that is wrong", power.identify(
        page[:4000] + bytes([page[4000] ^ 1]) + page[4001:], "x") is None)
    report.ok("not with a sector of another step", power.identify(
        page[:2048] + power.stamp(7, "x", 8)[2048:], "x") is None)
    report.ok("an empty page is known", power.identify(bytes(4096), "x") == 0)


def main():
    """All workloads."""
    report = tap.Report()
    power = powerjudge.guest_program()
    pages(report, power)
    capacitors(report, power)
    fio(report, power)
    for kind, streams in (("raw", 8), ("ext4", 1), ("sqlite", 1)):
        cases(report, power, kind, streams)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())

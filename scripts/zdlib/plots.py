# SPDX-License-Identifier: GPL-2.0-or-later
"""The model's curves as SVG: `scripts/zdrive bench --plot DIR`."""

import concurrent.futures
import math
import os

from zdlib import fsys, svg, ui

CARDS = {
    "Z-Drive R4 CM88 1600": ("zdrive-r4:cm88", 1600),
    "Z-Drive R4 RM84 600": ("zdrive-r4:rm84", 600),
    "RevoDrive 350 480": ("revodrive350", 480),
    "RevoDrive 3 X2 480": ("revodrive3-x2", 480),
    "RevoDrive X2 240": ("revodrive-x2", 240),
    "RevoDrive 240": ("revodrive", 240),
}
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
# As ATTO has them, four requests in flight.
BLOCKS = tuple(512 << shift for shift in range(15))
ATTO_DEPTH = 4
SPARES = (7, 10, 14, 20, 28, 40, 60)
STEADY_CARD = "RevoDrive 350 480"
STEADY_SECONDS = 2000


class Plots:
    """Runs the bench on all processors and writes the charts."""

    def __init__(self, folder, run):
        self._folder = folder
        self._run = run
        self._pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    def many(self, jobs):
        """The results of @jobs, lists of the bench's options."""
        return list(self._pool.map(lambda words: self._run(*words), jobs))

    def write(self, name, *chart):
        """Save one chart."""
        path = self._folder / f"{name}.svg"
        path.write_text(svg.chart(*chart), encoding="utf-8")

    def sweep(self, options, values, vary):
        """{card: results} with @vary(value) added to @options."""
        jobs = [["--card", card, "--capacity-gb", gb, *options, *vary(value)]
                for card, gb in CARDS.values() for value in values]
        results = iter(self.many(jobs))
        return {name: [next(results) for _ in values] for name in CARDS}

    def depth(self):
        """Throughput and latency of 4 KiB requests over queue depth."""
        for load in ("randread", "randwrite"):
            found = self.sweep(["--rw", load, "--runtime", "0.5"], DEPTHS,
                               lambda depth: ["--qd", depth])
            for key, title in (("iops", "IOPS"), ("mean_us", "mean us")):
                self.write(
                    f"depth-{load}-{key.split('_', maxsplit=1)[0]}",
                    f"4 KiB {load} over queue depth",
                    svg.Axis("requests in flight on the card", log=True),
                    svg.Axis(title, log=key == "mean_us"),
                    {name: [(depth, one[key])
                            for depth, one in zip(DEPTHS, results)]
                     for name, results in found.items()})

    def block(self):
        """Throughput over block size."""
        for load in ("read", "write"):
            found = self.sweep(["--rw", load, "--qd", ATTO_DEPTH, "--span",
                                "2G", "--runtime", "0.3"], BLOCKS,
                               lambda size: ["--bs", size])
            self.write(f"block-{load}",
                       f"sequential {load} over block size, depth 4",
                       svg.Axis("bytes per request", log=True),
                       svg.Axis("MB/s"),
                       {name: [(size, one["MBps"])
                               for size, one in zip(BLOCKS, results)]
                        for name, results in found.items()})

    def steady(self):
        """2,000 seconds of 4 KiB random write to a fresh, small card."""
        card, gb = CARDS[STEADY_CARD]
        series = {}
        kinds = ("comp", "incomp")
        jobs = [["--card", card, "--capacity-gb", gb, "--rw", "randwrite",
                 "--qd", 32, "--span", "full", "--data", data, "--scale",
                 0.1, "--ramp", 0, "--runtime", STEADY_SECONDS, "--series"]
                for data in kinds]
        for data, one in zip(kinds, self.many(jobs)):
            series[data] = [(second, count) for second, (count, _)
                            in enumerate(one["series"][:STEADY_SECONDS])
                            if second % 5 == 0]
        self.write("steady", "4 KiB random write over time, depth 32: "
                   f"{STEADY_CARD} at a tenth of its size",
                   svg.Axis("seconds"), svg.Axis("IOPS"), series)

    def histogram(self):
        """Share of requests below a latency."""
        card, gb = CARDS[STEADY_CARD]
        cases = {f"{load}, {state}": (load, state)
                 for load in ("randread", "randwrite")
                 for state in ("fob", "steady")}
        jobs = [["--card", card, "--capacity-gb", gb, "--rw", load, "--qd",
                 32, "--span", "full", "--state", state]
                for load, state in cases.values()]
        series = {}
        for name, one in zip(cases, self.many(jobs)):
            side = one["read" if "read" in name else "write"]
            series[name] = [(max(value, 1), (index + 1) / 2) for index, value
                            in enumerate(side["histogram_us"])]
        self.write("latency", f"latency of 4 KiB requests, depth 32: "
                   f"{STEADY_CARD}",
                   svg.Axis("us", log=True), svg.Axis("percent below"),
                   series)

    def amplification(self):
        """Write amplification over spare area, against the closed form."""
        jobs = [["--card", "revodrive3", "--rw", "randwrite", "--span",
                 "full", "--data", "incomp", "--state", "steady", "--spare",
                 spare, "--runtime", 20] for spare in SPARES]
        series = {"model": [(spare, one["write_amplification"])
                            for spare, one in zip(SPARES, self.many(jobs))],
                  "closed form": [(spare, closed_form(1 + spare / 100))
                                  for spare in range(7, 61)]}
        self.write("amplification", "write amplification over spare area, "
                   "incompressible 4 KiB random write",
                   svg.Axis("spare area, percent of the user's"),
                   svg.Axis("bytes to NAND per byte of the host"), series,
                   ("model",))


def closed_form(ratio):
    """Greedy collection: a / (a + W(-a exp(-a))), principal branch."""
    point, value = -ratio * math.exp(-ratio), -ratio * math.exp(-ratio)
    for _ in range(200):
        value -= (value * math.exp(value) - point) / \
            (math.exp(value) * (value + 1))
    return ratio / (ratio + value)


def main(folder, run):
    """Draw all plots into @folder."""
    fsys.folder(folder)
    plots = Plots(folder, run)
    for name, draw in (("queue depth", plots.depth),
                       ("block size", plots.block),
                       ("steady state", plots.steady),
                       ("latency", plots.histogram),
                       ("write amplification", plots.amplification)):
        with ui.step(f"Drawing {name}"):
            draw()
    ui.say(f"Drew {len(list(folder.glob('*.svg')))} plots in {folder}.")

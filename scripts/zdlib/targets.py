# SPDX-License-Identifier: GPL-2.0-or-later
"""Published figures of the real cards against the model, row by row.

The file is CSV with comment lines; ../shared/targets/published.csv describes
its columns.  Rows are independent, so they run on all processors.
"""

import concurrent.futures
import csv
import os
import sys

from zdlib import table, ui

RATED_MARGIN = 10.0
# Metrics that are a limit instead of a value: the model may not exceed it.
LIMITS = ("max_mean_us",)
METRICS = {
    "IOPS": "iops",
    "MBps": "MBps",
    "mean_us": "mean_us",
    "p99_us": "p99_us",
    "max_us": "max_us",
    "max_mean_us": "mean_us",
}
OPS = {"seq": {"read": "read", "write": "write"},
       "rand": {"read": "randread", "write": "randwrite"}}


def read(path):
    """The rows of @path."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as err:
        ui.die(f"cannot read {path}: {err.strerror}")
    lines = [line for line in text.splitlines()
             if line.strip() and not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    missing = {"card", "op", "metric", "value"} - set(rows[0] if rows else ())
    if missing:
        ui.die(f"{path} has no rows or no column {sorted(missing)[0]}")
    return rows


def words(row):
    """The bench's options for one row."""
    op = row["op"]
    load = OPS[row["pattern"]].get(op)
    options = {
        "card": row["card"], "capacity-gb": row["capacity_gb"],
        "bs": row["bs"], "qd": row["qd"], "span": row["span"],
        "data": row["data"], "state": row["state"],
    }
    if load is None:
        if not op.startswith("rw"):
            raise ValueError(f"op {op} is unknown")
        load = "rw" if row["pattern"] == "seq" else "randrw"
        options["rwmixread"] = op[2:] or "50"
    options["rw"] = load
    return [word for name, value in options.items() if value
            for word in (f"--{name}", value)]


def _ceiling(row, rows):
    """The maker's figure for the workload of @row, if it is in the file."""
    card = row["card"].split(":")[0]
    for other in rows:
        if other["kind"] == "rated" and all(
                other[key] == row[key] for key in
                ("capacity_gb", "op", "pattern", "bs", "metric")) and \
                other["card"].split(":")[0] == card:
            return float(other["value"])
    return None


def judge(row, rows, model):
    """The error in percent, and whether @model will do for @row."""
    value = float(row["value"])
    error = 100 * (model / value - 1)
    tolerance = float(row["tolerance_pct"] or 0)
    if row["metric"] in LIMITS:
        return error, error <= tolerance
    if row["kind"] == "host-limited":
        ceiling = _ceiling(row, rows)
        below = ceiling is None or \
            model <= ceiling * (1 + RATED_MARGIN / 100)
        return error, error >= -tolerance and below
    if row["kind"] == "rated":
        return error, -max(tolerance, RATED_MARGIN) <= error <= \
            max(tolerance, RATED_MARGIN)
    return error, abs(error) <= tolerance


def results(rows, run):
    """For each row: the row, the model's figure or an error message."""
    def one(row):
        try:
            return run(*words(row))[METRICS[row["metric"]]]
        except (KeyError, ValueError) as err:
            return str(err)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from zip(rows, pool.map(one, rows))


def main(path, run):
    """Print the table of @path; return 1 if a row is missed."""
    rows = read(path)
    paint = table.Paint(sys.stdout)
    lines, missed = [], 0
    with ui.step(f"Running {len(rows)} rows") as step:
        for count, (row, model) in enumerate(results(rows, run), 1):
            step.note(f"{count}/{len(rows)}")
            if isinstance(model, str):
                lines.append((row["id"], row["value"], row["metric"], "-", "-",
                              paint.good(model, False)))
                missed += 1
                continue
            error, good = judge(row, rows, model)
            missed += not good
            lines.append((row["id"], row["value"], row["metric"],
                          f"{model:.0f}", f"{error:+.1f}",
                          paint.good("ok" if good else "MISSED", good)))
    for line in table.lines(("row", "published", "metric", "model", "error %",
                             ""), lines, paint):
        ui.say(line)
    ui.say(f"{len(rows) - missed} of {len(rows)} rows within tolerance")
    return 1 if missed else 0

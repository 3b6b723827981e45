# SPDX-License-Identifier: GPL-2.0-or-later
"""Every published figure of the real cards is within its tolerance."""

import sys
from pathlib import Path

from zdlib import bench, tap, targets


def main(program, file):
    """Report one result per row of @file."""
    report = tap.Report()
    rows = targets.read(Path(file))

    def run(*words):
        return bench.measure(program, *words)

    for row, model in targets.results(rows, run):
        if isinstance(model, str):
            report.ok(row["id"], False, model)
            continue
        error, good = targets.judge(row, rows, model)
        report.ok(f"{row['id']}: published {row['value']}, "
                  f"model {model:.0f}, {error:+.1f} percent", good)
    return report.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A part of make bench: a running workload before, during and after its guest's placement is repaired.

    tests/bench/repair/run.py [--out DIRECTORY]

Results go to docs/results/repair.{md,json,svg}.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

from pages import versions                              # noqa: E402  the path comes first
from places import RESULTS                              # noqa: E402
from placement.machines import MeasureError             # noqa: E402
from repair import report                               # noqa: E402
from repair.machine import RepairHost, pages, time      # noqa: E402

from harness.machine import BootRed, CommandFailed      # noqa: E402

WORKLOADS = ("pattern-random", "pattern-master", "hpcc-stream")
POLICY = "round-4k"
SIZE = "full"


def measure(workload):
    """Its figures in a guest of its own."""
    machine = RepairHost()
    print(f"{workload}: before, during and after", flush=True)
    try:
        machine.boot()
        figures = {"before": machine.workload(workload, SIZE)}
        machine.set_policy(POLICY)
        machine.start_rebalance()
        start = machine.moved()
        figures["during"] = machine.workload(workload, SIZE)
        figures["during"]["moved"] = machine.moved() - start
        end = machine.wait_rebalance()
        figures["after"] = machine.workload(workload, SIZE)
        machine.finish()
    finally:
        machine.kill()
    if not figures["during"]["moved"]:
        raise MeasureError(f"{workload}: nothing was moved while it ran")
    print("  ".join(f"{when}: {time(figure) / 1e6:,.0f} M cycles" for when, figure in figures.items()), flush=True)
    return {**figures, "rebalance": end}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go (default docs/results)")
    options = parser.parse_args()
    try:
        result = {"policy": POLICY, "pages": pages(), "versions": versions(), "workloads": {name: measure(name) for name in WORKLOADS}}
    except (MeasureError, BootRed, CommandFailed, AssertionError) as error:
        sys.exit(f"error: nothing was measured: {error}")
    for path in report.write(result, options.out):
        print(path)


if __name__ == "__main__":
    main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A part of make bench: Carrefour in a closed loop, on the paper's programs and on patterns.

    tests/bench/carrefour_loop/run.py [--out DIRECTORY] [--seconds N] [--auto-seconds N] [--patterns]

Results go to docs/results/carrefour.{md,json,svg}.
"""

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

from places import RESULTS, ROOT                                # noqa: E402  the path comes first
from carrefour_loop import measure, programs, report, simulation    # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go (default docs/results)")
    parser.add_argument("--seconds", type=int, default=120, help="of a program with Carrefour (default 120)")
    parser.add_argument("--auto-seconds", type=int, default=240, help="of a program under auto (default 240)")
    parser.add_argument("--patterns", action="store_true", help="only the patterns")
    options = parser.parse_args()
    try:
        program = simulation.build()
        patterns, curves = measure.of_patterns(program)
        found = {}
        for row in () if options.patterns else programs.table():
            print(f"  {row.name}", flush=True)
            found[row.name] = measure.of_program(program, row, options.seconds, options.auto_seconds)
    except simulation.SimulationError as error:
        sys.exit(f"error: nothing was simulated: {error}")
    described = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=True)
    result = {"commit": described.stdout.strip(), "seconds": options.seconds, "auto_seconds": options.auto_seconds,
              "patterns": patterns, "curves": curves, "programs": found}
    for path in report.write(result, options.out):
        print(path)


if __name__ == "__main__":
    main()

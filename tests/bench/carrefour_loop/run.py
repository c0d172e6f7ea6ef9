#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A part of make bench: Carrefour in a closed loop, on the paper's programs and on patterns.

    tests/bench/carrefour_loop/run.py [--out DIRECTORY] [--parts patterns programs auto] [--seconds N] [--auto-seconds N]

Results go to docs/results/carrefour.{md,json,svg}. A part that is not run is taken from there.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

from places import RESULTS, ROOT                                # noqa: E402  the path comes first
from carrefour_loop import measure, programs, report, simulation    # noqa: E402


def patterns_part(program, options):
    figures, curves = measure.of_patterns(program)
    return {"figures": figures, "curves": curves}


def programs_part(program, options):
    found = {row.name: measure.of_program(program, row, options.seconds) for row in programs.table()}
    return {"figures": found, "seconds": options.seconds}


def auto_part(program, options):
    found = {row.name: measure.of_auto(program, row, options.auto_seconds) for row in programs.table()}
    return {"figures": found, "seconds": options.auto_seconds}


PARTS = {"patterns": patterns_part, "programs": programs_part, "auto": auto_part}


def commit():
    described = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=True)
    return described.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go (default docs/results)")
    parser.add_argument("--seconds", type=int, default=120, help="of a program with Carrefour (default 120)")
    parser.add_argument("--auto-seconds", type=int, default=240, help="of a program under auto (default 240)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what is run (default all)")
    options = parser.parse_args()
    before = options.out / "carrefour.json"
    result = json.loads(before.read_text()) if before.exists() else {part: {} for part in PARTS}
    try:
        program = simulation.build()
        for part in options.parts:
            result[part] = {"commit": commit(), **PARTS[part](program, options)}
    except simulation.SimulationError as error:
        sys.exit(f"error: nothing was simulated: {error}")
    for path in report.write(result, options.out):
        print(path)


if __name__ == "__main__":
    main()

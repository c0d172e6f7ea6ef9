# SPDX-License-Identifier: GPL-2.0-only
"""What the benches that count instructions have in common: their options, the life of their machine, and the run that stands for all."""

import argparse
import contextlib
import statistics
import sys
from pathlib import Path

from create_cost.instrument import InstrumentError
from places import RESULTS

from harness.machine import BootRed, CommandFailed


def options(doc, what, add=lambda parser: None):
    """The command line; what: that of which --repeat says how many; add: adds a bench's own to it."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help=f"{what} (default 3, at least 2)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go (default docs/results)")
    add(parser)
    parsed = parser.parse_args()
    if parsed.repeat < 2:
        parser.error("--repeat: one run cannot agree with another; give at least 2")
    return parsed


@contextlib.contextmanager
def booted(machine, settle=True):
    """The machine, until it has been judged; when something goes wrong on it, the bench ends."""
    try:
        machine.boot()
        yield machine
        if settle:
            machine.settle()
        machine.finish()
    except (InstrumentError, BootRed, CommandFailed) as error:
        sys.exit(f"error: nothing was measured: {error}")
    finally:
        machine.kill()


def middle(runs, key):
    """The run with the middle figure, and by how much they differ."""
    runs = sorted(runs, key=lambda run: run[key])
    values = [run[key] for run in runs]
    return {**runs[(len(runs) - 1) // 2], "disagreement": (values[-1] - values[0]) / statistics.median(values)}

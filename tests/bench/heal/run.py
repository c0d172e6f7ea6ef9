#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A part of make bench: a day of a host, as xl places VMs and with carrefourd's heal.

    tests/bench/heal/run.py [--out DIRECTORY] [--seeds N]

Results go to docs/results/heal.{md,json,svg}.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

from places import BUILD, RESULTS, ROOT     # noqa: E402  the path comes first
from heal import report                     # noqa: E402
import ctests                               # noqa: E402  found through places

HERE = ROOT / "tests/simulate/churn"
# (what it is, churn's words)
SCENARIOS = {
    "quiet": ("two VMs an hour come and go", ("per_hour=2",)),
    "usual": ("ten an hour", ()),
    "nearly full": ("less memory, 20 an hour", ("node_gib=168", "per_hour=20")),
    "full": ("still less memory, 40 an hour", ("node_gib=160", "per_hour=40")),
    "drifted": ("as usual, but heal begins on a host that has drifted for a day", ("drifted=1",)),
    "straying": ("as usual, but VMs run off their affinity for 2 % of their time", ("strays_pct=2",)),
}
HOUR = ("hour", "vms", "memory_mib", "free_mib", "stock", "heal", "bound", "repacked", "stock_spans", "heal_spans", "moved_mib")


def build(out):
    if wrong := ctests.make(HERE, out):
        sys.exit(f"error: nothing was simulated: {wrong}")
    return out / "churn"


def day(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {"hours": [{name: line[name] for name in HOUR} for line in lines[:-1]], "whole": lines[-1]}


def commit():
    described = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=True)
    return described.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go (default docs/results)")
    parser.add_argument("--seeds", type=int, default=10, help="days of each scenario (default 10)")
    options = parser.parse_args()
    program, scenarios = build(BUILD / "churn"), {}
    for name, (what, words) in SCENARIOS.items():
        days = [day(program, *words, f"seed={seed + 1}") for seed in range(options.seeds)]
        scenarios[name] = {"what": what, "words": words, "days": days}
        print(f"  {name}: local {report.mean(days, 'stock'):.3f}, with heal {report.mean(days, 'heal'):.3f}", flush=True)
    for path in report.write({"commit": commit(), "seeds": options.seeds, "scenarios": scenarios}, options.out):
        print(path)


if __name__ == "__main__":
    main()

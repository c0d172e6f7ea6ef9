#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A part of make bench: what walks of page tables cost under each placement, by the model of two machines.

    tests/bench/page_walks/run.py [--out DIRECTORY] [--models NAME…] [--systems [NAME…]]

What is measured is kept in build/bench/page-walks.json, and not measured again; --fresh forgets it.  Results go to
docs/results/page-walks.{md,json,svg}.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

from pages import versions                              # noqa: E402  the path comes first
from places import BUILD, RESULTS, ROOT                 # noqa: E402
from page_walks import report, sweep                    # noqa: E402
from page_walks.measure import MODELS, SIZE, SYSTEMS, WORKLOADS, figures_of, host      # noqa: E402
from placement.jobs import Job                          # noqa: E402
from placement.machines import MeasureError, build_plugin, make_ready      # noqa: E402

from harness.machine import BootRed, CommandFailed      # noqa: E402

KEPT = BUILD / "bench" / "page-walks.json"


def commit():
    return subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True, text=True,
                          check=True).stdout.strip()


def keep(done):
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    new = KEPT.with_suffix(".new")
    new.write_text(json.dumps(done, indent=1) + "\n")
    new.rename(KEPT)


def measure(model, system, todo, done):
    """The workloads of one boot, each kept as soon as it is done; none counts if the boot ends red."""
    machine, names = host(system, model), []
    try:
        machine.boot()
        for workload in todo:
            print(f"{model}: {system}: {workload} …", flush=True)
            region, _ = machine.measure(Job(system, workload, SIZE))
            names.append(f"{model}/{system}/{workload}")
            done[names[-1]] = {**figures_of(region), "commit": commit()}
        machine.finish()
    except BaseException:
        for name in names:
            del done[name]
        raise
    finally:
        machine.kill()
    keep(done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go (default docs/results)")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS, metavar="NAME", help="only these machines")
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS), choices=SYSTEMS, metavar="NAME",
                        help="only these systems; without a name none, but loads at random")
    parser.add_argument("--fresh", action="store_true", help="forget what has been measured")
    options = parser.parse_args()
    done = json.loads(KEPT.read_text()) if KEPT.exists() and not options.fresh else {}
    failed = []
    make_ready()
    build_plugin()
    for model in options.models:
        key = f"{model}/loads"
        if key not in done:
            print(f"{model}: loads at random …", flush=True)
            done[key] = {"rows": sweep.figures(model), "commit": commit()}
            keep(done)
        for system in options.systems:
            todo = [workload for workload in WORKLOADS if f"{model}/{system}/{workload}" not in done]
            if not todo:
                continue
            try:
                measure(model, system, todo, done)
            except (MeasureError, BootRed, CommandFailed, AssertionError, ValueError) as error:
                print(f"error: {model}: {system}: {error}", file=sys.stderr, flush=True)
                failed.append(f"{model}: {system}: {str(error).splitlines()[0]}")
    if done:
        for path in report.write({"versions": versions(), "size": SIZE, "results": done}, options.out):
            print(path)
    if failed:
        sys.exit("error: not everything was measured:\n  " + "\n  ".join(failed))


if __name__ == "__main__":
    main()

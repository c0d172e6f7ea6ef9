#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A part of make bench: what sampling and carrefourd cost a running guest, in instructions.

    tests/bench/carrefour_cost/run.py [--repeat N] [--workloads NAME…] [--size quick|full] [--dom0] [--out DIRECTORY]

Results go to docs/results/carrefour-cost.{md,json,svg}; of a part of it to build/bench/carrefour-cost.
"""

import json
import sys
from dataclasses import asdict, astuple
from math import ceil
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

import counting                                                         # noqa: E402  the path comes first
from carrefour_cost import report                                       # noqa: E402
from carrefour_cost.machine import UNLIMITED, Figures, OffHost, OnHost  # noqa: E402
from create_cost.instrument import InstrumentError                      # noqa: E402
from pages import versions                                              # noqa: E402
from places import BUILD, RESULTS                                       # noqa: E402
from placement.carrefour import delivered_settings                      # noqa: E402
from placement.jobs import WORKLOADS, read_workloads                    # noqa: E402
from placement.machines import MeasureError                             # noqa: E402

DOM0_SECONDS = 5
LIMITS = {"delivered": {}, "unlimited": UNLIMITED}
# of sampling, which a workload's runs together last at least: as delivered, a single one may be most of what a run has
PERIODS = {"delivered": 10, "unlimited": 3}


def add_options(parser):
    parser.add_argument("--workloads", nargs="+", metavar="NAME", help="only these: names of files in tests/bench/workloads")
    parser.add_argument("--dom0", action="store_true", help="only dom0's part anew, of the page that is there")
    parser.add_argument("--size", choices=("quick", "full"), default="full", help="of the workloads (default full)")


def without(names, size):
    """Figures of workloads while nothing is sampled, and that it is nothing."""
    found = {}
    with counting.booted(OffHost(1), settle=False) as machine:
        for name in names:
            [figures], _ = machine.workload(name, size)
            if figures.sampling or figures.exits or figures.faults:
                raise InstrumentError(f"{name}: nobody samples, and it costs {figures}")
            print(f"  {name:22} off: {figures.guest:>14,} instructions of the guest, none for sampling", flush=True)
            found[name] = figures
    return found


def check_on(found, settings):
    """Sampling costs something; without a budget there are samples of each workload."""
    for name, one in found.items():
        if settings and not (one["sampling"] and one["marked"] and one["faults"]):
            raise InstrumentError(f"{name}: all is sampled, and it costs {one}")
    if not any(one["sampling"] for one in found.values()):
        raise InstrumentError(f"all are sampled, and it costs nothing: {', '.join(found)}")


def runs_of(off, repeat, periods, settings):
    """How many are so many periods of sampling: a workload may be over in less than one."""
    return max(repeat, ceil(periods * int(settings["sample_ms"]) / 1000 / off.seconds))


def together(runs, off):
    """All runs as one, and by how much the share of the guest's instructions differs."""
    # but dom0's, which are the last
    all_runs = Figures(*map(sum, zip(*(astuple(run)[:-1] for run in runs))))
    share, each = report.shares(all_runs, off), [report.shares(run, off)["guest_share"] for run in runs]
    apart = (max(each) - min(each)) / share["guest_share"] if share["guest_share"] else 0
    return asdict(all_runs) | share | {"disagreement": apart, "runs": each}


def with_it(names, size, repeat, off, periods, settings):
    """{workload: its runs, and what carrefourd says}."""
    found = {}
    with counting.booted(OnHost(repeat, **settings), settle=False) as machine:
        for name in names:
            machine.repeat = runs_of(off[name], repeat, periods, machine.settings)
            runs, totals = machine.workload(name, size)
            found[name] = together(runs, off[name]) | {"totals": totals}
            print(f"  {name:22} on: ", *map(report.percent, found[name]["runs"]), f"{found[name]['faults']} samples", flush=True)
        machine.daemon.stop()
    check_on(found, settings)
    return found


def of_dom0():
    with counting.booted(OnHost(1), settle=False) as machine:
        return machine.dom0_figures(DOM0_SECONDS)


def measured(names, size, repeat):
    """All but dom0's."""
    off = without(names, size)
    found = {limit: with_it(names, size, repeat, off, PERIODS[limit], settings) for limit, settings in LIMITS.items()}
    workloads = {name: {"off": asdict(off[name]), **{limit: found[limit][name] for limit in LIMITS}} for name in names}
    return {"repeat": repeat, "periods": PERIODS, "size": size, "versions": versions(), "settings": delivered_settings(), "workloads": workloads}


def published(path, size):
    """The figures of a page that only lacks those of dom0."""
    result = json.loads(path.read_text()) if path.exists() else {}
    now = {"size": size, "periods": PERIODS, "versions": versions(), "settings": delivered_settings()}
    if {key: result.get(key) for key in now} != now:
        sys.exit(f"error: --dom0: {path} is not of this size, these settings and these tools; measure all of it")
    return result


def main():
    options = counting.options(__doc__, "runs of each workload, or more of a short one", add_options)
    known = [name for name, workload in read_workloads(WORKLOADS).items() if options.size in workload.sets]
    names = [name for name in known if not options.workloads or name in options.workloads]
    if not names or set(options.workloads or ()) - set(known):
        sys.exit(f"error: --workloads: known are {', '.join(known)}")
    whole = names == known and options.size == "full"
    out = options.out if whole or options.out != RESULTS else BUILD / "bench" / "carrefour-cost"
    try:
        result = published(out / "carrefour-cost.json", options.size) if options.dom0 else None
        dom0 = of_dom0()
        if not result:
            print(f"booting Xen three times, {len(names)} workloads at least {1 + 2 * options.repeat} times, 10 to 30 s each", flush=True)
            result = measured(names, options.size, options.repeat)
    except (MeasureError, AssertionError, ValueError) as error:
        sys.exit(f"error: nothing was measured: {error}")
    for path in report.write(result | {"dom0": dom0}, out):
        print(path)


if __name__ == "__main__":
    main()

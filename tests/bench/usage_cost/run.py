#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What it costs Xen to tell where a domain's memory is, and to keep count of it, in instructions.

    tests/bench/usage_cost/run.py [HYPERVISOR…]      of build/, else release: a table for docs/results/decisions.md

tests/bare/programs/usage-cost.c is booted under create_cost's plugin.
"""

import sys
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

from create_cost.instrument import OUT, InstrumentError, Symbols, build_bare, build_plugin, parse   # noqa: E402  the path comes first
from pages import table                                                                             # noqa: E402
from places import BUILD, ROOT                                                                      # noqa: E402

sys.path.append(str(ROOT / "tests" / "bare"))

from bare_boot import Boot, Topology, uniform       # noqa: E402  harness is in the path by now
from harness.machine import BootRed                 # noqa: E402
from runner.machines import POLICY                  # noqa: E402

PROGRAM = "usage-cost"
MACHINE = Topology("bench-usage", (1, 1), (512, 256), uniform(2))
XEN_OPTIONS = f"{POLICY} bootscrub=0 dom0_max_vcpus=1 dom0_vcpus_pin"
MIB = 16, 128                   # SMALL and LARGE of the program
REGIONS = "populate, small", "populate, large", "ask, small", "ask, large"
KEEPS_COUNT = {"p2m_numa_usage_change", "counter", "count_out", "count_out_table", "divided_to"}


def measure(hypervisor):
    """{region: (instructions of Xen, those that keep count)}"""
    symbols, program = Symbols(hypervisor), build_bare(PROGRAM)
    out = OUT / f"usage-{hypervisor}-{uuid.uuid4().hex[:6]}.jsonl"
    words = f"./{build_plugin().relative_to(BUILD)},out={out.relative_to(BUILD)},start={symbols.start:#x},end={symbols.end:#x}"
    report = Boot(program, "", MACHINE, hypervisor, XEN_OPTIONS, qemu_options=("-plugin", words)).run()
    if set(report.promise.values()) != {1}:
        raise InstrumentError(f"what was told is wrong: {report.promise}")
    found = [parse(line, symbols) for line in out.read_text().splitlines()]
    if [number for number, _ in found] != list(range(len(REGIONS))):
        raise InstrumentError(f"{len(REGIONS)} regions were to be counted, the plugin saw {[number for number, _ in found]}")
    return {name: (counts.xen, sum(counts.functions[function] for function in KEEPS_COUNT)) for name, (_, counts) in zip(REGIONS, found)}


def main():
    hypervisors = sys.argv[1:] or ["release"]
    try:
        results = {hypervisor: measure(hypervisor) for hypervisor in hypervisors}
    except (InstrumentError, BootRed) as error:
        sys.exit(f"error: nothing was measured: {error}")
    head = ["instructions"] + [f"{what}, {mib} MiB" for what in ("to populate", "of that to keep count", "to ask") for mib in MIB]
    print("\n".join(table(head, [[name] + [f"{result[region][part]:,}" for regions, part in (((0, 1), 0), ((0, 1), 1), ((2, 3), 0))
                                           for region in (REGIONS[n] for n in regions)] for name, result in results.items()])))


if __name__ == "__main__":
    main()

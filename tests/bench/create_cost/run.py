#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The first half of make bench: what it costs Xen to create a guest under each policy, in instructions, against stock Xen.

    tests/bench/create_cost/run.py [--repeat N] [--out DIRECTORY]

Results go to docs/results/create-cost.{md,json,svg}.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

import counting                                                         # noqa: E402  the path comes first
from create_cost import report                                          # noqa: E402
from create_cost.instrument import InstrumentError, Instrumented        # noqa: E402
from pages import versions                                              # noqa: E402

from harness import guests                                              # noqa: E402
from harness.topologies import TOPOLOGIES                               # noqa: E402

MEMORY = 3072
# Each node must be able to give a whole, aligned GiB, or 1 GiB pages would be nobody's.
MACHINE = replace(TOPOLOGIES["n8"], name="bench-n8", mib=(1536,) * 8, dom0_mib=1024)
# Messages go over an emulated serial line; say what a production Xen says, and the end of the boot, for the verdict.
XEN_OPTIONS = "loglvl=info guest_loglvl=none"
STOCK = "stock"
# subject -> hypervisor and options, numa_policy=
SUBJECTS = {
    STOCK: (("stock", XEN_OPTIONS), None),
    # not what anybody runs: it shows what small pages cost without a policy
    "stock, small pages": (("stock", f"{XEN_OPTIONS} hap_1gb=0 hap_2mb=0"), None),
    "none": (("release", XEN_OPTIONS), "none"),
    "round-1g": (("release", XEN_OPTIONS), "round-1g"),
    "round-2m": (("release", XEN_OPTIONS), "round-2m"),
    "round-4k": (("release", XEN_OPTIONS), "round-4k"),
}
# where the guest may live: as few nodes as libxl finds enough, or all, for which there need be no affinity
# (a list of cpus keeps libxl from placing, a single setting does not)
SPREADS = {"few": {}, "all": {"cpus": ["0-7"]}}
CREATE_SECONDS = 300


def placement(machine, name, policy):
    """What the product says of the guest, to show that the policy measured was in force."""
    if policy is None:
        return None
    dump = guests.dump(machine, name)
    if dump.policy != policy:
        raise InstrumentError(f"the guest was to have policy {policy}, it has {dump.policy}")
    totals = dump.usage_orders()
    return {"nodes": sorted(node for node, pages in dump.usage_pages().items()), "placed": dump.placed, "fallback": dump.fallback,
            "mappings": {"4k": totals.get(0, 0), "2m": totals.get(9, 0), "1g": totals.get(18, 0)}}


def measure(machine, subject, spread):
    """One creation: its figures."""
    _, policy = SUBJECTS[subject]
    machine.settle()
    path = f"/tmp/{spread}.cfg"
    guests.put(machine, path, guests.config("bench", memory=MEMORY, policy=policy, **SPREADS[spread]))
    counts = machine.counted("run", "xl", "create", "-p", path, timeout=CREATE_SECONDS)
    where = placement(machine, "bench", policy)
    guests.destroy(machine, "bench")
    print(f"  {subject:18} {spread:4} {counts.xen:>14,}  waiting {counts.waiting:,}", flush=True)
    often = {name: calls / (MEMORY << 8) for name, calls in counts.calls.most_common() if calls >= MEMORY << 8 >> 4}
    return {"xen": counts.xen, "calls_a_page": often, "waiting": counts.waiting, "dom0_kernel": counts.kernel, "dom0_user": counts.user,
            "functions": dict(counts.functions.most_common()), "placement": where}


def boot_and_measure(boot, repeat):
    """{(subject, spread): [figures]} of all subjects that this hypervisor serves, in one boot."""
    wanted = [(subject, spread) for subject in SUBJECTS for spread in SPREADS if SUBJECTS[subject][0] == boot]
    print(f"booting Xen ({' '.join(boot)}), then {len(wanted)} x {repeat} guests of {MEMORY} MiB, 10 to 40 s each", flush=True)
    machine = Instrumented(MACHINE, *boot)
    figures = {key: [] for key in wanted}
    with counting.booted(machine):
        # the first guest of a boot also pays for tables that Xen and dom0 keep
        measure(machine, *wanted[0])
        for turn in range(repeat):
            for key in wanted if turn % 2 == 0 else reversed(wanted):
                figures[key].append(measure(machine, *key))
    sources = {name: machine.symbols.source(name) for runs in figures.values()
               for name in report.largest(runs[0]["functions"])}
    return figures, sources


def summarize(runs):
    """The run in the middle stands for all."""
    return {**counting.middle(runs, "xen"), "runs": sorted(run["xen"] for run in runs)}


def main():
    options = counting.options(__doc__, "creations of each kind")
    figures, sources = {}, {}
    for boot in dict.fromkeys(boot for boot, _ in SUBJECTS.values()):
        measured, found = boot_and_measure(boot, options.repeat)
        figures |= measured
        sources |= found
    result = {
        "memory_mib": MEMORY, "pages": MEMORY << 8, "repeat": options.repeat,
        "machine": {"nodes": MACHINE.nodes, "mib": list(MACHINE.mib), "dom0_mib": MACHINE.dom0_mib},
        "versions": versions(), "sources": sources,
        "spreads": {spread: {subject: summarize(figures[subject, spread]) for subject in SUBJECTS} for spread in SPREADS},
    }
    for path in report.write(result, options.out):
        print(path)


if __name__ == "__main__":
    main()

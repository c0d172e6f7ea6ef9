#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A part of make bench: what it costs Xen to move the memory of a guest, in instructions, against copying it.

    tests/bench/move_cost/run.py [--repeat N] [--out DIRECTORY]

Results go to docs/results/move-cost.{md,json,svg}.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

import counting                                                         # noqa: E402  the path comes first
from create_cost.instrument import InstrumentError, Instrumented        # noqa: E402
from move_cost import report                                            # noqa: E402
from pages import versions                                              # noqa: E402

from harness import guests                                              # noqa: E402
from harness.topologies import TOPOLOGIES                               # noqa: E402

MEMORY, EMPTY = 512, 4
MACHINE = replace(TOPOLOGIES["n8"], name="bench-move", mib=(1024,) * 8, dom0_mib=768)
XEN_OPTIONS = "loglvl=info guest_loglvl=none"
# Copying a page, as Xen does it anywhere: copy_domain_page(), and how often it calls what.  Each of the six returns takes a thunk.
COPY = "copy_page_sse2"
PLAIN_COPY = {"copy_domain_page": 1, COPY: 1, "map_domain_page": 2, "unmap_domain_page": 2, "__x86_return_thunk": 6}
SECONDS = 300
# What moves: policy before, policy afterwards.  All of the guest goes from nodes 1 and 2 to nodes 3 and 4.
KINDS = {
    "4 KiB pages": ("round-4k", "round-4k"),
    "2 MiB pages": ("round-2m", "round-2m"),
    "2 MiB pages, divided": ("round-2m", "round-4k"),
    "4 KiB pages, made 2 MiB": ("round-4k", "round-2m"),
}


def statistics_of(machine):
    [shown] = json.loads(machine.run("xl numa-policy show bench --json").out)["domains"]
    return {name: shown[name] for name in ("moved_pages", "in_use_pages", "unmovable_pages", "no_room_pages", "move_batches", "flush_rounds",
                                           "locked_ns", "longest_locked_ns")}


def measure(machine, kind):
    """One rebalance of all memory: its figures."""
    before, after = KINDS[kind]
    guests.create(machine, "bench", memory=MEMORY, policy=f"{before},nodes=1-2")
    machine.run(f"xl numa-policy set bench {after} --nodes 3-4")
    machine.settle()
    command = machine.counted("run", "xl", "numa-policy", "rebalance", "empty", timeout=SECONDS)
    counts = machine.counted("run", "xl", "numa-policy", "rebalance", "bench", timeout=SECONDS)
    told = statistics_of(machine)
    guests.destroy(machine, "bench")
    if told["moved_pages"] < (MEMORY << 8) - 512 or counts.calls[COPY] < told["moved_pages"]:
        raise InstrumentError(f"{kind}: the guest was to be moved, these are its statistics: {told}")
    copy = sum(times * counts.functions[name] / counts.calls[name] for name, times in PLAIN_COPY.items())
    xen = counts.xen - command.xen
    figures = {"xen": xen, "a_page": xen / told["moved_pages"], "copy_a_page": copy, "ratio": xen / told["moved_pages"] / copy,
               "waiting": counts.waiting, "command": command.xen, **told,
               "functions": {name: (count - command.functions[name]) / told["moved_pages"] for name, count in counts.functions.most_common()}}
    print(f"  {kind:24} {figures['a_page']:8,.0f} instructions a page, {figures['ratio']:.2f} copies, "
          f"{told['flush_rounds'] / told['move_batches']:.2f} rounds of flushes a batch", flush=True)
    return figures


def main():
    options = counting.options(__doc__, "moves of each kind")
    print(f"booting Xen, then {len(KINDS)} x {options.repeat} guests of {MEMORY} MiB are moved, 10 to 20 s each", flush=True)
    machine = Instrumented(MACHINE, "release", XEN_OPTIONS)
    figures = {kind: [] for kind in KINDS}
    with counting.booted(machine):
        # what the command costs where there is nothing to move, and hardly anything to look at
        guests.create(machine, "empty", memory=EMPTY, policy="round-4k,nodes=1")
        # the first one also pays for what Xen and dom0 keep
        measure(machine, next(iter(KINDS)))
        for _ in range(options.repeat):
            for kind in KINDS:
                figures[kind].append(measure(machine, kind))
    result = {"memory_mib": MEMORY, "repeat": options.repeat, "versions": versions(),
              "kinds": {kind: counting.middle(runs, "xen") for kind, runs in figures.items()}}
    for path in report.write(result, options.out):
        print(path)


if __name__ == "__main__":
    main()

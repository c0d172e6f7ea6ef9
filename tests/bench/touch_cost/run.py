#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A part of make bench: what first-touch costs, in instructions of Xen and of the guest.

    tests/bench/touch_cost/run.py [--repeat N] [--out DIRECTORY]

Results go to docs/results/touch-cost.{md,json,svg}.
"""

import re
import shlex
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

import counting                                                         # noqa: E402  the path comes first
from create_cost.instrument import InstrumentError, Instrumented        # noqa: E402
from pages import versions                                              # noqa: E402
from touch_cost import report                                           # noqa: E402

from harness import first_touch, guests                                 # noqa: E402
from harness.moving import start_writer                                 # noqa: E402
from harness.topologies import TOPOLOGIES                               # noqa: E402

MEMORY, USED = 512, 64          # MiB of the guest, and of them touched and released
MACHINE = replace(TOPOLOGIES["n4"], name="bench-touch", mib=(1536,) * 4, dom0_mib=768)
XEN_OPTIONS = "loglvl=info guest_loglvl=none"
GUEST_CPU = 1
STEPS = ("single", "touch", "small", "touch", "large", "touch", "large")
# of each step: which of Xen's statistics counts it, and how many there should be, most of which there must be
KINDS = {
    "a page released with a hypercall of its own": ("released", USED << 7),
    "a touch of 4 KiB, after that": ("small", USED << 7),
    "a page released alone": ("released", USED << 7),
    "a touch of 4 KiB": ("small", USED << 7),
    "a page released in a run": ("released", USED << 8),
    "a touch of 2 MiB": ("large", USED // 2),
    "a page released with its 2 MiB": ("released", USED << 8),
}
LEAST = 0.75
STORMS = ("storm", "churn")     # memory that is given back at once, and little by little
STORM_ROUNDS = 6
HOOKS = {"disarmed": "0", "armed": "1"}     # whether the guest's kernel is to tell of releases
# who works as much as its vCPUs can, on other CPUs of the machine: one without any event, one with nothing else
NEIGHBOUR = {"vcpus": 2, "cpus": ["2", "3"]}
CALM, FLOOD = "memory-writer 24 9999", "memory-events flood 1 64"
FLOOD_EVENTS = 100_000          # fewer are none
BUILD = "xl create -qp /tmp/other.cfg; xl destroy other"
SPIN = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"
FLUSH_SECONDS = 0.3             # after which nothing waits to be told any more
SECONDS = 300


class Guest:
    """memory-cost in a guest, which does what it is told."""

    def __init__(self, machine, policy, hooks="disarmed"):
        self.machine, self.steps = machine, 0
        first_touch.start(machine, 1, f"memory-cost {USED}", policy=policy, name="bench", driver=True, memory=MEMORY)
        self.hook(hooks)
        first_touch.go(machine, "bench")
        self.tty = machine.run("xenstore-read /local/domain/$(xl domid bench)/console/tty").out.strip()

    def hook(self, hooks):
        """Arms or disarms, and waits until what is free then has been reported."""
        self.machine.run(f"xenstore-write /local/domain/$(xl domid bench)/control/page-events {HOOKS[hooks]}; sleep 2")

    def counted(self, word):
        """What the guest's CPU executes until it has done that, and by how much Xen's statistics grew."""
        self.steps += 1
        before = guests.dump(self.machine, "bench").touches
        done = shlex.quote(f"memory-cost: {word} {self.steps} done")
        wait = (f"echo {word} >{self.tty}; until grep -q {done} {guests.console_log('bench')}; do sleep 0.05; done; "
                f"sleep {FLUSH_SECONDS}")
        counts = self.machine.counted("run", "sh", "-c", shlex.quote(wait), timeout=SECONDS, cpu=GUEST_CPU)
        after = guests.dump(self.machine, "bench").touches
        freed = re.search(rf"{word} {self.steps} done, (\d+) freed", guests.console(self.machine, "bench"))
        return counts, {what: after[what] - before[what] for what in after} | {"freed": int(freed[1])}

    def destroy(self):
        guests.destroy(self.machine, "bench")


def steps(machine, policy):
    """Xen's instructions of each step, and its statistics."""
    guest = Guest(machine, policy)
    figures = []
    for word in STEPS:
        counts, grown = guest.counted(word)
        figures.append((counts.xen, grown))
    guest.destroy()
    return figures


def in_xen(machine):
    """Of pages released, and of touches, small and large: their number, and Xen's instructions for each."""
    figures = {}
    done, refused_steps = steps(machine, "first-touch"), steps(machine, "round-4k")
    for (what, (counter, wanted)), (xen, grown), (refused, _) in zip(KINDS.items(), done, refused_steps):
        if grown[counter] < LEAST * wanted:
            raise InstrumentError(f"{what}: {wanted} were expected, Xen says {grown}")
        xen -= refused
        figures[what] = {"number": grown[counter], "xen": xen, "each": xen / grown[counter], "statistics": grown}
        print(f"  {what:44} {figures[what]['each']:10,.0f} instructions each", flush=True)
    return figures


def in_guest(machine):
    """Of storms of page faults: instructions of the guest's kernel and program, and what Xen was told."""
    # one guest for both, as two of them differ by more than what is looked for; so a run is chosen by its ratio
    guest = Guest(machine, "first-touch")
    rounds = {storm: {hooks: [] for hooks in HOOKS} for storm in STORMS}
    for _ in range(STORM_ROUNDS):
        for hooks in HOOKS:
            guest.hook(hooks)
            for storm in STORMS:
                guest.counted(storm)        # which is the first to come to some of the memory
                rounds[storm][hooks].append(guest.counted(storm))
    guest.destroy()
    figures = {storm: {hooks: storm_figures(storm, hooks, counted) for hooks, counted in kinds.items()}
               for storm, kinds in rounds.items()}
    for kinds in figures.values():
        kinds["ratio"] = kinds["armed"]["each"] / kinds["disarmed"]["each"]
    return figures


def storm_figures(storm, hooks, rounds):
    totals = {name: sum(grown[name] for _, grown in rounds) for name in ("freed", "released", "flush_rounds")}
    # of what the kernel recycles itself, Xen may never hear
    if totals["released"] and hooks == "disarmed" or not totals["released"] and hooks != "disarmed" and storm == "storm":
        raise InstrumentError(f"the hooks were to be {hooks}, and Xen was told of {totals['released']} pages")
    # interrupts only ever add to it
    each = min(counts.kernel + counts.user for counts, _ in rounds) / (USED << 8)
    print(f"  {storm}, {hooks:8} {each:10,.1f} instructions of the guest a page, {totals['freed']} pages freed, "
          f"{totals['released']} told, in {totals['flush_rounds']} batches", flush=True)
    return {**totals, "pages": STORM_ROUNDS * USED << 8, "each": each}


def timed(count):
    """Counts, and the host's seconds for them."""
    begin = time.monotonic()
    return count(), time.monotonic() - begin


def without_time(done, spun):
    """What work takes, less what the time takes that passes meanwhile: timers, clocks, other CPUs' calls.

    Emulated CPUs share the host's, so the same work takes longer beside one neighbour than beside another.  What a second takes
    is what system and hypervisor execute while a program asks nothing of them.
    """
    second = statistics.median((counts.xen + counts.kernel) / seconds for counts, seconds in spun)
    return {"each": statistics.median(counts.xen + counts.kernel + counts.user - second * seconds for counts, seconds in done),
            "waiting": statistics.median(counts.waiting for counts, _ in done),
            "seconds": statistics.median(seconds for _, seconds in done), "second": second}


def work(machine):
    """What a guest and dom0 execute for the same work, Xen's instructions for them included."""
    # with armed hooks, what is told depends on how long it takes
    guest = Guest(machine, "first-touch")
    guest.counted("storm")
    done = {"a guest's storm": [[timed(lambda word=word: guest.counted(word)[0]) for _ in range(STORM_ROUNDS)]
                                for word in ("storm", "spin")]}
    guest.destroy()
    guests.put(machine, "/tmp/other.cfg", guests.config("other", policy="round-4k"))
    machine.run(BUILD)
    done["dom0 builds a guest"] = [[timed(lambda what=what: machine.counted("run", "sh", "-c", shlex.quote(what)))
                                    for _ in range(STORM_ROUNDS)] for what in (BUILD, SPIN)]
    return {who: without_time(*rounds) for who, rounds in done.items()}


def beside_a_flood(machine):
    """work() beside a guest that floods Xen with events, and beside one that only computes.

    An idle neighbour would not do: emulated CPUs share the host's, and all takes longer beside one that works.
    """
    machine.settle()
    start_writer(machine, "calm", command=CALM, **NEIGHBOUR)
    quiet = work(machine)
    guests.destroy(machine, "calm")
    machine.settle()
    first_touch.start(machine, **NEIGHBOUR, command=FLOOD, name="flood", linux=True)
    first_touch.go(machine, "flood")
    guests.wait_console(machine, "flood", r"flooded with \d{5,} events")
    before = guests.dump(machine, "flood").touches["events"]
    flooded = work(machine)
    events = guests.dump(machine, "flood").touches["events"] - before
    guests.destroy(machine, "flood")
    if events < FLOOD_EVENTS:
        raise InstrumentError(f"that was no flood: {events} events")
    figures = {who: {"quiet": quiet[who], "flooded": flooded[who], "ratio": flooded[who]["each"] / quiet[who]["each"], "events": events}
               for who in quiet}
    for who, figure in figures.items():
        print(f"  {who}, beside {events} events: {100 * (figure['ratio'] - 1):+.2f} % instructions", flush=True)
    return figures


def main():
    options = counting.options(__doc__, "guests of each kind")
    print(f"booting Xen, then 6 x {options.repeat} guests of {MEMORY} MiB, some 20 s each", flush=True)
    machine = Instrumented(MACHINE, "release", XEN_OPTIONS)
    others = {}
    xen, storms = {what: [] for what in KINDS}, {storm: [] for storm in STORMS}
    with counting.booted(machine):
        for _ in range(options.repeat):
            for what, figures in in_xen(machine).items():
                xen[what].append(figures)
            for storm, kinds in in_guest(machine).items():
                storms[storm].append(kinds)
            for who, figures in beside_a_flood(machine).items():
                others.setdefault(who, []).append(figures)
    result = {"memory_mib": MEMORY, "used_mib": USED, "repeat": options.repeat, "versions": versions(),
              "xen": {what: counting.middle(runs, "each") for what, runs in xen.items()},
              "storms": {storm: counting.middle(runs, "ratio") for storm, runs in storms.items()},
              "others": {who: counting.middle(runs, "ratio") for who, runs in others.items()}}
    for path in report.write(result, options.out):
        print(path)


if __name__ == "__main__":
    main()

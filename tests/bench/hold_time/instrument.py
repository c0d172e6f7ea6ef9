# SPDX-License-Identifier: GPL-2.0-only
"""A boot of tests/bare's hold-time under the plugin, and what that counted."""

import json
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from carrefour_cost.machine import vm_run
from create_cost.instrument import OUT, InstrumentError, Symbols, build, build_bare, tool
from places import BUILD, ROOT

sys.path.append(str(ROOT / "tests" / "bare"))

from bare_boot import Boot, Topology, uniform                           # noqa: E402  the path comes first

HERE = Path(__file__).absolute().parent
PROGRAM = "hold-time"
# a CPU for dom0 and one for each vCPU
MACHINE = Topology("bench-hold", (5, 4), (1024, 1024), uniform(2))
XEN_OPTIONS = "bootscrub=0 dom0_max_vcpus=1 dom0_vcpus_pin guest_loglvl=none"
SECONDS = 300
# where a CPU waits for another one
WAIT = {"flush_area_mask", "__bitmap_empty", "on_selected_cpus", "_percpu_write_lock", "_spin_lock", "_spin_lock_cb", "_spin_lock_irq",
        "_spin_lock_irqsave", "_rspin_lock", "_rspin_lock_irqsave", "_nrspin_lock", "_nrspin_lock_irq", "_nrspin_lock_irqsave",
        "_read_lock", "_write_lock", "queue_read_lock_slowpath", "queue_write_lock_slowpath"}
SOFTIRQ = {"do_softirq", "__do_softirq", "process_pending_softirqs"}
WHAT = ("p2m", "pod", "stretch")


@dataclass
class Longest:
    """The longest of one kind in a step."""
    number: int             # how many there were
    instructions: int
    flushes: int            # calls that flush other CPUs' TLBs in it
    begins: str             # functions
    ends: str


def data_symbols(file):
    return {name: int(address, 16) for address, _, name in
            (line.split() for line in tool("nm", "--defined-only", file).splitlines())}


def plugin_options(hypervisor, symbols, out):
    """For QEMU."""
    build(HERE, OUT, flags=[f"HEADERS={BUILD / 'qemu-plugin'}"])
    data = data_symbols(symbols.file)
    entry, after = vm_run(symbols.file)
    [flush] = [start for start, _ in symbols.ranges_of({"flush_area_mask"})]
    words = [f"./{(OUT / 'hold.so').relative_to(BUILD)}", f"out={out.relative_to(BUILD)}", f"exit={after:#x}", f"entry={entry:#x}",
             f"level={data['per_cpu__mm_lock_level']:#x}", f"offsets={data['__per_cpu_offset']:#x}", f"pending={data['irq_stat']:#x}",
             f"flush={flush:#x}", *(f"{what}={start:#x}-{end:#x}" for what, names in (("wait", WAIT), ("softirq", SOFTIRQ))
                                    for start, end in symbols.ranges_of(names))]
    return "-plugin", ",".join(words)


def parse(lines, steps, rounds, function):
    """{step: {what: Longest of all rounds}}; steps: their names, in order; function: that of an address."""
    records = [json.loads(line) for line in lines]
    if errors := [record["error"] for record in records if "error" in record]:
        raise InstrumentError(f"the plugin says: {errors}")
    if [record["region"] for record in records] != list(range(rounds * len(steps))):
        raise InstrumentError(f"{rounds} times {len(steps)} steps were to be counted, the plugin saw {len(records)}")
    longest = {}
    for number, record in enumerate(records):
        of_step = longest.setdefault(steps[number % len(steps)], {})
        for what in WHAT:
            told = record[what]
            if what not in of_step or told["instructions"] > of_step[what].instructions:
                of_step[what] = Longest(told["number"], told["instructions"], told["flushes"], function(told["from"]), function(told["to"]))
    if not any(step["p2m"].number for step in longest.values()) or not any(step["stretch"].number for step in longest.values()):
        raise InstrumentError("no lock was taken, or the guest never left: is xen-syms that of the hypervisor?")
    return longest


def count(hypervisor, words, vcpus, rounds):
    """{step: {what: Longest}} of one boot, and what the guest was answered."""
    symbols, program = Symbols(hypervisor), build_bare(PROGRAM)
    out = OUT / f"hold-{hypervisor}-{uuid.uuid4().hex[:6]}.jsonl"
    boot = Boot(program, f"{words} vcpus={vcpus} rounds={rounds}", MACHINE, hypervisor, XEN_OPTIONS, seconds=SECONDS,
                qemu_options=plugin_options(hypervisor, symbols, out))
    answers = boot.run().outcome
    steps = list(answers)[:-2]      # the others are the guest's end
    return parse(out.read_text().splitlines(), steps, rounds, symbols.function), answers

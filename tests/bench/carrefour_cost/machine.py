# SPDX-License-Identifier: GPL-2.0-only
"""The machine and the guest of tests/bench/placement, under the plugin that counts instructions."""

import re
from dataclasses import dataclass, field

from create_cost import instrument
from create_cost.instrument import DOM0_CPU, WAITING, InstrumentError, Symbols, build_plugin, tool
from places import BUILD
from placement.carrefour import CarrefourHost, delivered_settings
from placement.jobs import LAYOUTS, Job
from placement.machines import CLOCK_SLOWED, WORKLOAD_SECONDS, MeasureError, Watch, XenHost, make_ready
from placement.subjects import SUBJECTS

from harness import carrefour, first_touch, guests

from .spins import Spins

OFF, ON = SUBJECTS["round-4k"], SUBJECTS["round-4k-carrefour"]
GUEST_CPUS = LAYOUTS["alone"].cpus
# who comes through one of these functions of Xen between two stretches of the guest works for sampling, or was told to flush
SAMPLING = r"/common/numa-policy/sampl|/mm/p2m-numa-hint"
FLUSHED = "invalidate_interrupt"
# where a CPU goes to sleep
SLEEP = {"default_idle", "acpi_processor_idle", "mwait_idle"}
FAULT, MARK = "p2m_hint_fault", "sample_marks_add"
# regions of dom0's; workloads have the first
DOM0_REGION = 2
# what budget is none
UNLIMITED = {"sample_permille": "1000"}
BUSY = "read go; patterns partitioned {cpus} 256 999999"
# fewer samples say nothing of what one takes in dom0
ENOUGH = 200
# between two regions of dom0's that say the same, and how many there may be until two do
AGREEMENT, STEADY_RUNS = 0.1, 10


def total(dom0):
    return sum(dom0.values())


def vm_run(file):
    """Where Xen enters a guest, and where it is again after that."""
    code = tool("objdump", "-d", "--no-show-raw-insn", "--disassemble=svm_asm_do_resume", file).splitlines()
    places = [(line.partition(":")[0], line) for line in code if re.match(r"[0-9a-f]+:\t", line)]
    index = [number for number, (_, line) in enumerate(places) if "vmrun" in line]
    if len(index) != 1:
        raise InstrumentError(f"svm_asm_do_resume has {len(index)} VMRUN")
    return tuple(int(places[index[0] + step][0], 16) for step in (0, 1))


@dataclass
class Figures:
    """What was executed in a region."""
    seconds: float      # of the machine
    guest: int          # instructions of the guest's kernel and programs
    xen: int            # of Xen on its CPUs, without waiting
    sampling: int       # … of them in all stretches between a VM exit and the next entry in which something was done for sampling
    exits: int          # how many of those there were
    flushing: int       # … in those in which a flush was asked for by another CPU, and nothing else of this
    faults: int         # calls of the function that makes a sample
    marked: int         # … of the one that notes that an entry is marked
    dom0: dict = field(default_factory=dict)    # of dom0's CPU: user, kernel, xen


def figures_of(record, symbols, spins):
    counts = {cpu: instrument.count(record, symbols, cpu) for cpu in (DOM0_CPU, *GUEST_CPUS)}
    spans = {mask: [sum(numbers[cpu] for cpu in GUEST_CPUS) for numbers in both] for mask, *both in record["spans"]}
    if len(spans) != 3:
        raise InstrumentError(f"two kinds of spans were asked for, and the plugin knows {spans}")
    mine = [counts[cpu] for cpu in GUEST_CPUS]
    sampling, exits = (spans[1][what] + spans[3][what] for what in (0, 1))
    xen = {cpu: one.xen - spins.count(record, cpu) for cpu, one in counts.items()}
    dom0 = counts[DOM0_CPU]
    figures = Figures(record["seconds"] / CLOCK_SLOWED, sum(one.kernel + one.user for one in mine), sum(xen[cpu] for cpu in GUEST_CPUS),
                      sampling, exits, spans[2][0], *(sum(one.calls[name] for one in mine) for name in (FAULT, MARK)),
                      {"user": dom0.user, "kernel": dom0.kernel, "xen": xen[DOM0_CPU]})
    if figures.faults > figures.exits:
        raise InstrumentError(f"{figures.faults} samples were taken in {figures.exits} exits")
    return figures


class CountWatch(Watch):
    """The plugin's file, read as figures."""

    def __init__(self, stem):
        super().__init__(stem)
        self.symbols, self.plugin = Symbols(ON.hypervisor), build_plugin()
        self.spins = Spins(self.symbols)

    def options(self):
        symbols = self.symbols
        entry, after = vm_run(symbols.file)
        flushed = [symbols.addresses[symbols.names.index(FLUSHED)]]
        kinds = ["+".join(map(hex, addresses)) for addresses in (symbols.entries_in(SAMPLING), flushed)]
        words = [f"./{self.plugin.relative_to(BUILD)}", f"out={self.path.relative_to(BUILD)}", f"start={symbols.start:#x}",
                 f"end={symbols.end:#x}", f"exit={after:#x}", f"entry={entry:#x}", *(f"kind={kind}" for kind in kinds),
                 "sleep=" + "+".join(hex(start) for start, _ in symbols.ranges_of(SLEEP)),
                 *(f"idle={start:#x}-{end:#x}" for start, end in (*symbols.ranges_of(WAITING), *self.spins.ranges))]
        return ["-plugin", ",".join(words)]

    def region(self, runs=1):
        """The Figures of each run."""
        return [figures_of(record, self.symbols, self.spins) for record in self.regions(runs)]


class Counted:
    """A host whose regions are counted, and whose workloads are run so often for one job."""

    def __init__(self, subject, repeat):
        make_ready()
        super().__init__(subject)
        self.repeat = repeat
        self.watch = CountWatch(self.console.name.removesuffix(".console.log"))
        self.qemu_options = self.watch.options()

    def is_enough(self, runs, _before, _after):
        return runs == self.repeat

    def workload(self, name, size):
        """The Figures of its runs, and what the product says."""
        return self.measure(Job(self.subject.name, name, size))


class OffHost(Counted, XenHost):
    """Xen that could sample, and does not; no daemon."""

    def __init__(self, repeat):
        super().__init__(OFF, repeat)


class OnHost(Counted, CarrefourHost):
    """With carrefourd; its settings are those that are delivered, but for these."""

    def __init__(self, repeat, **settings):
        super().__init__(ON, repeat)
        self.settings = delivered_settings() | settings

    def placement(self, name):
        """What carrefourd has counted of the guest; the budget may leave nothing for samples."""
        shown = self.daemon.show(name)
        if not shown or shown["sampling"] != "runs":
            raise MeasureError(f"carrefourd was to sample the guest, and says {shown}")
        return shown["totals"]

    def dom0_figures(self, seconds):
        """What dom0 does in so many seconds in which nobody asks it for anything: without carrefourd, beside a guest at rest, and
        beside one that works, with what carrefourd did then."""
        layout = LAYOUTS["alone"]
        cpus = ",".join(map(str, range(len(layout.cpus))))
        self.create("busy", layout.cpus, layout.memory, BUSY.format(cpus=cpus))
        guests.wait_console(self, "busy", "guest: up", timeout=WORKLOAD_SECONDS)
        self.daemon.wait_says("it is sampled", "sampling=runs", name="busy")
        found = {"seconds": seconds, "rest": self.steady_dom0(seconds)}
        self.daemon.stop()
        # few samples say little, and an emulated machine hardly takes any within the budget
        self.daemon = carrefour.Daemon(self, **self.settings | UNLIMITED)
        first_touch.go(self, "busy")
        self.daemon.wait_says("it works", "samples>=16", name="busy", seconds=300)
        before = self.daemon.show("busy")["totals"]
        found["work"] = self.dom0(seconds)
        after = self.daemon.show("busy")["totals"]
        found |= {what: after[what] - before[what] for what in ("periods", "samples", "moves")}
        self.daemon.stop()
        found["without"] = self.steady_dom0(seconds)
        guests.destroy(self, "busy")
        if total(found["work"]) < total(found["rest"]) * (1 - AGREEMENT):
            raise InstrumentError(f"dom0 does less beside a guest that works than beside one at rest: {found}")
        if found["samples"] < ENOUGH:
            raise InstrumentError(f"the host is too busy to say what a sample takes in dom0: {found}")
        return found

    def steady_dom0(self, seconds):
        """What it does when it has done with what came before: idle CPUs of Xen scrub what a guest had."""
        last = self.dom0(seconds)
        for _ in range(STEADY_RUNS):
            now = self.dom0(seconds)
            if abs(total(now) - total(last)) <= AGREEMENT * total(now):
                return now
            last = now
        raise InstrumentError(f"dom0 comes to no rest: {last}")

    def dom0(self, seconds):
        self.watch.none()
        self.run(f"count-region {DOM0_REGION} run sleep {seconds}", timeout=60 + 10 * seconds)
        return self.watch.region()[0].dom0

    def finish(self):
        """carrefourd has ended already."""
        XenHost.finish(self)

# SPDX-License-Identifier: GPL-2.0-only
"""A machine whose emulator counts what Xen executes, and the reading of what it counted."""

import bisect
import json
import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from places import BUILD, ROOT

import ctests                               # found through places
from harness import machine as boots

HERE = Path(__file__).absolute().parent
OUT = BUILD / "bench"
DOM0_CPU = 0        # dom0 has one vCPU, pinned here
LAST_REGION = 0x7fff
# What takes as long as it takes elsewhere: a CPU with nothing to do, the scrubbing of freed memory that it does meanwhile,
# and the spinning until other CPUs have answered a TLB flush, or all have met to compare their clocks.
WAITING = {"idle_loop", "default_idle", "acpi_processor_idle", "acpi_idle_do_entry", "mwait_idle", "scrub_free_pages",
           "node_to_scrub", "scrub_continue", "flush_area_mask", "__bitmap_empty", "on_selected_cpus",
           "time_calibration_std_rendezvous", "time_calibration_tsc_rendezvous"}
SCRUB = "scrub_free_pages"
# idle CPUs look for something to scrub; this is what a few hundred pages take
SCRUB_AT_REST = 200_000


class InstrumentError(Exception):
    """The instrument did not measure.  There is no figure then, and no zero in its place."""


def tool(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise InstrumentError(f"{command[0]} failed:\n{done.stderr.strip()}")
    return done.stdout


def build(directory, out, *programs, flags=()):
    if wrong := ctests.make(directory, out, *programs, flags=flags):
        raise InstrumentError(f"{directory} cannot be built:\n{wrong}")


def build_bare(program):
    """One of tests/bare's."""
    build(ROOT / "tests" / "bare", BUILD / "bare", program, flags=[f"XEN_TOOLS={BUILD / 'xen-tools' / 'usr' / 'local'}"])
    return BUILD / "bare" / program


def build_plugin():
    build(HERE, OUT, flags=[f"HEADERS={BUILD / 'qemu-plugin'}"])
    return OUT / "count.so"


class Symbols:
    """Functions of a hypervisor, from its xen-syms."""

    def __init__(self, hypervisor):
        self.file = BUILD / f"xen-{hypervisor}" / "xen-syms"
        rows = [line.split() for line in tool("nm", "-n", "--defined-only", self.file).splitlines()]
        named = {name: int(address, 16) for address, _, name in rows}
        self.start, self.end = named["_stext"], named["_etext"]
        text = [(int(address, 16), name) for address, kind, name in rows if kind in "tTwW" and name not in ("_stext", "_start")]
        text = [(address, name) for address, name in text if self.start <= address < self.end]
        self.addresses = [address for address, _ in text]
        # the parts that the compiler split off count as the function they are of
        self.names = [re.sub(r"\.(cold|part|isra|constprop|lto_priv)\b.*", "", name) for _, name in text]
        self.entries = {address for address, name in text if ".cold" not in name and ".part" not in name}
        self.places, self.lines = {}, []

    def entries_in(self, pattern):
        """Where the functions of the files begin whose path has this in it."""
        if not self.lines:      # which takes seconds
            self.lines = [line.partition("\t") for line in tool("nm", "-l", "--defined-only", self.file).splitlines()]
        found = [int(symbol.split()[0], 16) for symbol, _, place in self.lines if re.search(pattern, place)]
        if not (found := [address for address in found if address in self.entries]):
            raise InstrumentError(f"no function comes from {pattern}")
        return found

    def ranges_of(self, names):
        """[(from, to)] of these functions."""
        ends = [*self.addresses[1:], self.end]
        return [(start, end) for start, end, name in zip(self.addresses, ends, self.names) if name in names]

    def function(self, address):
        index = bisect.bisect(self.addresses, address) - 1
        return self.names[index] if index >= 0 else "?"

    def source(self, name):
        """File of a function, or "" for assembly without debug information."""
        if name not in self.places:
            if name not in self.names:
                return ""
            address = self.addresses[self.names.index(name)]
            # the line table may name the header of what was inlined first: ask for all, the outermost comes last
            path = tool("addr2line", "-i", "-e", self.file, hex(address)).splitlines()[-1].split(":")[0]
            self.places[name] = "" if path.startswith("?") else re.sub(r"^.*?/xen/(?=(arch|common|drivers|xsm|lib|crypto)/)", "", path)
        return self.places[name]


@dataclass
class Counts:
    """What was executed in a region."""
    functions: Counter      # Xen's instructions on one CPU, dom0's if nothing else is said, by function
    calls: Counter          # how often that CPU came to the first instruction of a function
    everywhere: Counter     # by function, on all CPUs
    kernel: int             # of whose vCPU runs on that CPU: its kernel and programs
    user: int

    @property
    def waiting(self):
        return sum(self.functions[name] for name in WAITING)

    @property
    def xen(self):
        """Instructions of Xen on that CPU, without those spent waiting."""
        return self.functions.total() - self.waiting


def parse(line, symbols, cpu=DOM0_CPU):
    """The number of the region in a line of the plugin, and the Counts of a CPU."""
    record = json.loads(line)
    if "error" in record:
        raise InstrumentError(f"the plugin says: {record['error']}")
    return record["region"], count(record, symbols, cpu)


def count(record, symbols, cpu):
    """The Counts of a CPU in a record of the plugin."""
    functions, everywhere, calls = Counter(), Counter(), Counter()
    for address, instructions, counts in record["blocks"]:
        name = symbols.function(address)
        functions[name] += counts[cpu] * instructions
        everywhere[name] += sum(counts) * instructions
        if address in symbols.entries:
            calls[name] += counts[cpu]
    functions["(outside of text)"] += record["xen_other"][cpu]
    everywhere["(outside of text)"] += sum(record["xen_other"])
    if not functions.total():
        raise InstrumentError("a region without a single instruction of Xen: is xen-syms that of the hypervisor?")
    return Counts(functions, calls, everywhere, record["kernel"][cpu], record["user"][cpu])


class Instrumented(boots.Machine):
    """A booted machine with the plugin."""

    def __init__(self, topology, hypervisor="release", xen_options=""):
        super().__init__(topology, hypervisor, xen_options)
        self.symbols = Symbols(hypervisor)
        self.lines_read = 0
        self.region = 0
        self.plugin = build_plugin()
        self.counts = OUT / f"{self.console.stem.removesuffix('.console')}.jsonl"
        # relative to where QEMU runs: a path with a comma would be cut there
        self.qemu_options = ["-plugin", f"./{self.plugin.relative_to(BUILD)},out={self.counts.relative_to(BUILD)},"
                             f"start={self.symbols.start:#x},end={self.symbols.end:#x}"]

    def boot(self):
        # what counts is the emulator's translator
        with mock.patch.dict(os.environ, ACCEL="tcg"):
            return super().boot()

    def _new_lines(self):
        try:
            lines = self.counts.read_text().splitlines()
        except OSError as error:
            raise InstrumentError(f"the plugin wrote nothing: {error}") from error
        new, self.lines_read = lines[self.lines_read:], len(lines)
        return new

    def counted(self, *words, timeout=boots.COMMAND_SECONDS, cpu=DOM0_CPU):
        """Counts of a CPU while dom0's `count-region` does with these words."""
        self.region += 1
        if self.region > LAST_REGION:
            raise InstrumentError("no number is left for a region")
        self.run(f"count-region {self.region} {' '.join(words)}", timeout=timeout)
        found = [parse(line, self.symbols, cpu) for line in self._new_lines()]
        if [number for number, _ in found] != [self.region]:
            raise InstrumentError(f"region {self.region} was to be counted, the plugin saw {[number for number, _ in found]}")
        return found[0][1]

    def finish(self):
        super().finish()
        for line in self._new_lines():
            parse(line, self.symbols)
            raise InstrumentError("a region that nobody asked for")

    def settle(self):
        """Waits until no CPU scrubs freed memory any more: an allocation would have to do it, or not, by chance."""
        for _ in range(60):
            if self.counted("run", "sleep", "1").everywhere[SCRUB] < SCRUB_AT_REST:
                return
        raise InstrumentError("the scrubbing of freed memory does not come to an end")

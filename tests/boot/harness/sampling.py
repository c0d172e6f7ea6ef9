# SPDX-License-Identifier: GPL-2.0-only
"""Access sampling: a guest whose accesses are known, numa-sample in dom0, and what must be true of samples."""

import re
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field

from . import first_touch, guests

MEMORY, ACCESSED = 128, 4       # MiB of the guest, and of them read and written on each vCPU
ENTRIES, PERIOD, BUDGET, FRAMES = 1024, 100, 1000, 65   # of sampling: budget without limit, a ring that does not run full
HINT_FAULT, IBS = 0, 1
# Entries that Xen looks at while it has the p2m locked.  On hardware that is some 50 us, of the 200 that it may take; an emulator's
# clock, by which a CPU can stand still for a second, says nothing about that.
AT_ONCE = 64


@dataclass(frozen=True)
class Sample:
    gfn: int        # first one of the entry
    order: int
    vcpu: int
    node: int
    home: int
    write: bool
    source: int


@dataclass
class Sampled:
    samples: Counter = field(default_factory=Counter)   # Sample -> times
    taken: int = 0
    dropped: int = 0

    def of(self, gfns):
        """Those of entries of which all is in gfns."""
        return {sample: times for sample, times in self.samples.items()
                if all(gfn in gfns for gfn in range(sample.gfn, sample.gfn + (1 << sample.order)))}


@dataclass
class Counters:
    state: str = ""
    numbers: dict = field(default_factory=dict)
    samples: dict = field(default_factory=dict)         # (accessing node, home node) -> samples

    def __getattr__(self, name):
        try:
            return self.numbers[name]
        except KeyError:
            raise AttributeError(name) from None


def command(machine, name, words, check=True):
    return machine.run(f"numa-sample $(xl domid {name}) {words}", check=check)


def start(machine, name="g", entries=ENTRIES, period=PERIOD, budget=BUDGET, frames=FRAMES, source=HINT_FAULT, check=True,
          reader=None):
    """Whoever is to read has 10 s to come, of which a busy host takes seconds for each command: the domain's id is in a file, and a
    reader is there at once: "read" does so all the time, for read_until(), "hold" is for held().  Its process is all that this says."""
    settings = f"{entries} {period} {budget} {frames} {1 << source}"
    there = f"{{ numa-sample $d {reader} 10000 >/tmp/{reader}-{name} 2>&1 & echo $! | tee /tmp/{reader}er-{name}; }}" if reader else ":"
    return machine.run(f"rm -f /tmp/holder-{name}; d=$(xl domid {name}) && echo $d >/tmp/sampled-{name} && "
                       f"numa-sample $d start {settings} && {there}", check=check)


def start_read(machine, name="g", **settings):
    """… with a reader; returns its process."""
    return int(start(machine, name, reader="read", **settings).out)


def stop(machine, name="g"):
    command(machine, name, "stop")


def parse(text):
    """What numa-sample has said."""
    sampled, counters = Sampled(), Counters()
    for line in text.splitlines():
        what, *words = line.split()
        if what == "sample":
            gfn, order, vcpu, node, home, access, source, times = words
            sampled.samples[Sample(int(gfn, 16), int(order), int(vcpu), int(node), int(home), access == "w", int(source))] += int(times)
        elif what == "read":
            sampled.taken, sampled.dropped = int(words[0]), int(words[1])
        elif what == "state":
            counters.state = words[0]
        elif what == "get":
            counters.numbers = {key: int(number) for key, number in (word.split("=") for word in words)}
            assert counters.most_entries <= AT_ONCE, counters
            if counters.sources == 1 << HINT_FAULT:
                assert bool(counters.marked) <= bool(counters.most_entries), counters
        else:
            node, home, times = map(int, words)
            counters.samples[node, home] = times
    return sampled, counters


def get(machine, name="g"):
    return parse(command(machine, name, "get").out)[1]


@contextmanager
def held(machine, name="g"):
    """start()'s holder has the ring mapped all the time: else sampling ends when the first one is gone that did."""
    holder = int(machine.run(f"cat /tmp/holder-{name}").out)
    machine.run(f"while ! grep -q privcmd /proc/{holder}/maps; do kill -0 {holder} || exit 1; sleep 0.1; done")
    try:
        yield
    finally:
        machine.run(f"kill -9 {holder}; rm -f /tmp/holder-{name}", check=False)


def read(machine, seconds, name="g"):
    """Reads, and says how many there were: the line to dom0 would take longer for the samples than for them to be taken."""
    return int(machine.run(f"numa-sample $(cat /tmp/sampled-{name}) read {seconds * machine.slower} | tail -n 100 | sed -n 's/^read //p' "
                           "| tail -n 1").out.split()[0])


def read_until(machine, enough, seconds=240, name="g"):
    """Takes what start_read()'s reader has read until enough(Sampled) does not say how much is missing yet, on a machine of any speed.

    Ends the reader.  It reads all the time: Xen gives up on a ring that nobody reads for 10 s, and a busy host may take these.
    """
    all_of_it, end, taken = Sampled(), time.monotonic() + seconds * machine.slower, 0
    while True:
        # whole seconds, each of which ends with a line of its own
        text = "".join(re.findall(r"(?s).*^read \d+ \d+\n", machine.run(f"sleep 2; tail -c +{taken + 1} /tmp/read-{name}").out, re.M))
        taken += len(text)
        sampled, _ = parse(text)
        all_of_it.samples += sampled.samples
        all_of_it.taken, all_of_it.dropped = max(all_of_it.taken, sampled.taken), max(all_of_it.dropped, sampled.dropped)
        missing = enough(all_of_it)
        if not missing:
            break
        assert time.monotonic() < end, f"in {seconds} s there is not: {missing}; {get(machine, name)}"
    counters = get(machine, name)
    end_reader(machine, int(machine.run(f"cat /tmp/reader-{name}").out))
    return all_of_it, counters


def few(sampled, reads, writes, least=500):
    """What is missing until there are so many samples of what is read, and of what is written."""
    seen = {what: sum(sampled.of(gfns).values()) for what, gfns in (("reads", reads), ("writes", writes))}
    return [f"{least} {what}, but {number}" for what, number in seen.items() if number < least]


def wait_faults(machine, more):
    """… than there are."""
    machine.until("d=${d:-$(xl domid g)}; said=$(numa-sample $d get) && echo \"$said\"\n"
                  "faults=${said#* faults=} faults=${faults%% *}; begin=${begin:-$faults}\n"
                  f"[ $faults -ge $((begin + {more})) ]", 240)


def wait_ended(machine, state, name="g"):
    """Until Xen has ended sampling by itself, for the reason that state tells: nothing counts any more.

    It does so after some periods and seconds: by a clock that CPUs of a busy host do not keep up with.
    """
    said = machine.until(f"d=${{d:-$(xl domid {name})}}; sleep 1; before=$said; said=$(numa-sample $d get); echo \"$said\"\n"
                         f'case "$said" in "state {state}"*) [ "$said" = "$before" ] ;; "state running"*) false ;; esac', 240)
    counters = parse(said)[1]
    assert counters.state == state, counters
    return counters


def watch(machine, name="g"):
    """Asks for the counters all the time, in dom0, until the domain is gone; watched() tells them."""
    machine.run(f"d=$(xl domid {name}); (while numa-sample $d get; do sleep 0.3; done >/tmp/watch-{name} 2>/tmp/watch-end-{name}) &")


def watched(machine, name="g"):
    """All that watch() has seen, oldest first."""
    text = machine.run(f"cat /tmp/watch-{name}; cat /tmp/watch-end-{name} >&2").out
    return [parse("state" + one)[1] for one in text.split("state")[1:] if "\nget " in one and one.endswith("\n")]


def check_log_dirty(counters):
    """Of a domain that has been migrated away: for most of that time it was looked at, and nothing was marked."""
    running = [one for one in counters if one.state == "running"]
    # off is what remains of one that is dying
    assert len(running) > 5 and {one.state for one in counters} <= {"running", "off"}, counters
    # before log-dirty mode, and after it, until the domain is destroyed, there are marks
    marked = Counter(one.marked for one in running).most_common(1)[0][0]
    quiet = [one for one in running if one.marked == marked]
    assert len(quiet) > len(running) / 2 and quiet[-1].periods > quiet[0].periods, counters


def end_reader(machine, reader):
    """Waits until it is gone, and with it what it had mapped."""
    machine.run(f"kill -9 {reader}; while kill -0 {reader} 2>/dev/null; do sleep 0.1; done")


def destroy_sampled(machine, reader):
    """Destroys the guest g, in which there are marks by then, while somebody reads, who is ended thereafter."""
    wait_faults(machine, 1)
    before = get(machine)
    assert before.state == "running" and before.marked > 0, before
    guests.destroy(machine, "g")
    assert machine.run(f"kill -0 {reader}", check=False).status == 0, "the reader had ended"
    end_reader(machine, reader)


def check_budget(machine, rounds, marks=0, **settings):
    """As many entries as there can be, as often as can be, in rounds of 3 s, and until there are so many marks more: no more is spent
    than may be, and sampling goes on.

    The cost of a period is known when it is over only: what came before the first ones are paid for is left out.
    Returns the counters of the beginning and of the end.
    """
    reader = start_read(machine, entries=65536, period=10, budget=20, frames=257, **settings)
    counters = [get(machine)]

    def pass_round():
        machine.run("sleep 3")
        counters.append(get(machine))

    while counters[-1].ns > 0.02 * counters[-1].guest_ns or len(counters) < 5:
        pass_round()
        assert len(counters) < 50, counters
    begin = counters[-1]
    for _ in range(rounds):
        pass_round()
    while counters[-1].marked < begin.marked + marks:
        pass_round()
        assert len(counters) < 100, counters
    end = counters[-1]
    machine.run(f"kill -9 {reader}")
    stop(machine)
    assert end.state == "running" and end.throttled > 0
    # what began at the end is not paid for yet: what any of the rounds cost
    slack = max(after.ns - before.ns for before, after in zip(counters, counters[1:]))
    assert end.ns - begin.ns <= 0.02 * (end.guest_ns - begin.guest_ns) + slack, counters
    assert end.faults > begin.faults, counters
    return begin, end


def start_guest(machine, vcpus=3, accessed=ACCESSED, pause=1, name="g", **options):
    """A guest whose vCPU i stays on CPU i + 1, and which says which gfns a vCPU reads and writes: ({gfn: vCPU}, {gfn: vCPU})."""
    guests.create(machine, name, paused=False, program=f"memory-access {accessed} {pause}",
                  **{"memory": MEMORY, "vcpus": vcpus, "cpus": [str(cpu) for cpu in range(1, vcpus + 1)]} | options)
    guests.wait_console(machine, name, r"memory-access: pass [1-9]", timeout=180)
    text = guests.console(machine, name).split("memory-access: ready")[0]
    reads, writes = ({}, {})
    for part, gfns in zip(text.split("memory-access: reads")[1].split("memory-access: writes"), (reads, writes)):
        gfns |= {gfn: cpu for cpu, gfn in first_touch.told_pages(part)}
        assert len(gfns) == vcpus * accessed << 8
    return reads, writes


def check_truth(sampled, reads, writes, dumps, node_of, source=HINT_FAULT, writes_are_told=True):
    """What samples say of the accesses is what was done; dumps: of before and after.  node_of: the node of a vCPU."""
    before, after = (dump.pages for dump in dumps)
    assert sampled.taken == sum(sampled.samples.values())
    for sample in sampled.samples:
        assert sample.node == node_of(sample.vcpu), sample
        assert sample.source == source
        if sample.gfn in before and sample.gfn in after:
            assert (sample.home, sample.order) == before[sample.gfn] == after[sample.gfn], (sample, before[sample.gfn], after[sample.gfn])
    seen = [0, 0]
    for gfns, write in ((reads, False), (writes, True)):
        for sample, times in sampled.of(gfns).items():
            assert sample.write == (write and writes_are_told), sample
            assert {sample.vcpu} == {gfns[gfn] for gfn in range(sample.gfn, sample.gfn + (1 << sample.order))}, sample
            seen[write] += times
    return seen

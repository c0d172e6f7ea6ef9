# SPDX-License-Identifier: GPL-2.0-only
"""Moving and first-touch on EPT, whose tables and deferred changes are not those of NPT.  See harness/bochs.py.

It is the tables that are tested.  Bochs forgets all translations at any VM exit or entry: a flush that is missing is not seen.
A guest with Linux takes minutes: all of this file is of make soak.  The twins in make test are content, touch-release, samples and
altp2m of tests/bare/cases.py.
"""

import re
import shlex

import pytest

from harness import bochs, first_touch, guests, memory, moving, sampling
from harness.moving import Mover

# an interpreter, ten times slower than TCG
pytestmark = [pytest.mark.modest, pytest.mark.timeout(2400)]

MEMORY, WRITTEN = 56, 4     # MiB of the guest, and of them written and verified
PAGES, FEW = 1000, 300
CUT_OFF = 8         # MiB of a migration that get through
READ_ONLY = 64      # pages in a row
UNMOVED = 16        # its console and xenstore pages, for a start


def start_writer(machine):
    moving.start_writer(machine, command=f"memory-writer {WRITTEN} 300", memory=MEMORY, cpus="0-1", policy="none")


def check_ept(machine):
    """It is EPT that this boot runs on, with large pages."""
    assert bochs.missing_of_ept(machine.console.read_text(errors="replace")) is None


@pytest.mark.soak
@pytest.mark.boot("ept")
def test_content_debug(machine):
    """What the guest wrote is what it reads, through each table there is meanwhile, and pages are where they were said to be."""
    check_ept(machine)
    start_writer(machine)
    # divides all that is large, and makes it whole again
    moving.under_fire(machine, FEW, 11, [0, 1], MEMORY, policies=("round-4k", "round-1g"))


@pytest.mark.soak
@pytest.mark.boot("ept")
def test_a_migration_breaks_off_while_sampled(machine):
    """Log-dirty mode and sampling misconfigure the same entries, for different reasons: neither takes the other's for its own."""
    start_writer(machine)
    reader = sampling.start_read(machine, entries=4096, period=50, budget=100)
    sampling.wait_faults(machine, 50)
    moving.migrate_in_vain(machine, CUT_OFF)
    assert sampling.get(machine).state == "running"
    sampling.wait_faults(machine, 50)
    sampling.end_reader(machine, reader)
    moving.check_content(machine)


@pytest.mark.soak
@pytest.mark.boot("ept")
def test_migrated_while_sampled(machine):
    start_writer(machine)
    reader = sampling.start_read(machine, entries=4096, period=50, budget=100)
    sampling.wait_faults(machine, 50)
    sampling.watch(machine)
    moving.migrate(machine, PAGES, 12, MEMORY)
    machine.run(f"kill -9 {reader}", check=False)
    sampling.check_log_dirty(sampling.watched(machine))
    assert sampling.get(machine).state == "off"


@pytest.mark.soak
@pytest.mark.boot("ept", "release")
def test_content_release(machine):
    check_ept(machine)
    start_writer(machine)
    moving.under_fire(machine, PAGES, 13, [0, 1], MEMORY)


@pytest.mark.soak
@pytest.mark.boot("ept")
def test_nothing_is_lost(machine):
    """All memory comes back of guests that are destroyed before, while and after their pages move."""
    def lives_and_moves():
        guests.create(machine, "g", memory=32, policy="round-2m")
        Mover(machine, "g", PAGES, 14, memory=32).finish()
        mover = Mover(machine, "g", moving.ENDLESS, 15, memory=32)
        machine.run("sleep 1")
        guests.destroy(machine, "g")
        assert mover.finish()["moved"] > 0

    memory.leaves_nothing(machine, lives_and_moves)


@pytest.mark.soak
@pytest.mark.boot("ept")
def test_every_policy_and_back(machine):
    """Back is where stock placement, which prefers the node of the CPUs, had put it."""
    ways = [("round-4k", [0, 1], None), ("round-2m", [0, 1], [1, 2]), ("round-1g", [0], None)]
    stock, back = moving.through_policies(machine, ways, 48)
    elsewhere = [gfn for gfn, (node, _) in stock.pages.items() if back.pages[gfn][0] != node]
    assert len(elsewhere) <= UNMOVED


@pytest.mark.soak
@pytest.mark.boot("ept")
def test_access_is_kept(machine):
    """What a monitor lets the guest do with a page holds wherever the page is."""
    guests.create(machine, "g", memory=32, policy="round-4k,nodes=0")
    machine.run("xl numa-policy set g round-4k --nodes 1")
    said = machine.run("numa-access $(xl domid g) 0x1000 0x400 xl numa-policy rebalance g").out
    assert "ended with 0, access of 0 pages changed" in said
    pages = guests.dump(machine, "g", 32).pages
    assert {pages[gfn][0] for gfn in range(0x1000, 0x1400)} == {1}


@pytest.mark.soak
@pytest.mark.boot("ept")
def test_what_others_touch_first(machine):
    """Nothing is mapped before; then it is cleared memory of the home nodes in turn, by 2 MiB, or of the one there is."""
    for policy, homes in (("first-touch,nodes=0-1", [0, 1]), ("first-touch,nodes=1", [1])):
        guests.create(machine, "g", memory=32, policy=policy)
        before = guests.dump(machine, "g", 32)
        assert len(before.pages) <= UNMOVED + 512 and before.touches["untouched"] + len(before.pages) >= 32 << 8
        assert "0 of 8192 pages" in machine.run("find-word $(xl domid g) 0 8192 1").out
        mapped = {gfn >> 9 for gfn in before.pages}
        dump = guests.dump(machine, "g", 32)
        pages = {gfn: page for gfn, page in dump.pages.items() if gfn < 8192 and gfn >> 9 not in mapped}
        assert len(pages) > 6144
        assert {gfn: page for gfn, page in pages.items() if page != (homes[gfn // 512 % len(homes)], 9)} == {}
        guests.destroy(machine, "g")


@pytest.mark.soak
@pytest.mark.boot("ept")
def test_first_touch_and_release(machine):
    """What was released is touched on the node of the CPUs, or on the home node there is by then."""
    touched_mib = 2
    first_touch.start(machine, 2, f"memory-events warm {touched_mib} 3", memory=MEMORY, cpus=["0", "1"],
                      policy="first-touch,nodes=0-1")
    first_touch.go(machine)
    first = {gfn for _, gfn in first_touch.touched(machine)}
    assert len(first) == 2 * touched_mib << 8
    # the kernel may have touched these before the program; from now on only the program does
    for round, node in ((2, 0), (3, 1)):
        if node:
            machine.run(f"xl numa-policy set g first-touch --nodes {node}")
        first_touch.go(machine)
        assert {gfn for _, gfn in first_touch.touched(machine, round=round)} == first
        dump = guests.dump(machine, "g", MEMORY)
        assert {dump.pages[gfn][0] for gfn in first} == {node}
    assert dump.touches["released"] == 2 * len(first) and dump.touches["invalid"] == 0
    assert guests.wait_console(machine, "g", r"(?s)round 2 done.*memory-events: (\d+) words not zero").group(1) == "0"


@pytest.mark.soak
@pytest.mark.boot("ept")
def test_2_mib_that_are_handed_out_page_by_page(machine):
    first_touch.check_split(machine, 1, 1, 1, [0, 0], memory=MEMORY, cpus=["0", "1"], policy="first-touch,nodes=0-1")


def sampled_until(gfns):
    """A shell command that takes samples until there is one of these gfns, and says them."""
    seen = f'index(" {" ".join(f"{gfn:x}" for gfn in gfns)} ", " " $2 " ")'
    return (f"numa-sample $d read 10000 | awk '{{ print }} $1 == \"sample\" && {seen} {{ seen = 1 }} "
            "$1 == \"read\" && seen { exit }'")


def check_access_while_sampled(machine, reads):
    """What a monitor has made read-only stays so, and reads of it are seen."""
    first = next(gfn for gfn in sorted(reads) if {gfn + i for i in range(READ_ONLY)} <= reads.keys())
    gfns = range(first, first + READ_ONLY)
    said = machine.run(f"export d=$(cat /tmp/sampled-g); numa-access $d {first} {READ_ONLY} sh -c {shlex.quote(sampled_until(gfns))}",
                       timeout=300).out
    said, _, verdict = said.partition("numa-access: ")
    assert verdict == "the command ended with 0, access of 0 pages changed\n"
    seen = sampling.parse(said)[0].of(set(gfns))
    assert seen and not any(sample.write for sample in seen), seen


def check_log_dirty_while_sampled(machine, reads, writes):
    """It misconfigures the entries that sampling does, for another reason: what is written is told, and no more, and marks come again.

    The guest goes on: no page is at any time such that neither is concerned with it.
    """
    passes = r"(?s)pass (\d+) .*pass (?!\1 )(\d+) .*pass (?!\1 |\2 )(\d+) .*pass (?!\1 |\2 |\3 )\d+ "
    # somebody reads meanwhile: Xen gives up on a ring that nobody reads
    said = machine.run(f"numa-sample $(cat /tmp/sampled-g) read 999 >/dev/null & reader=$!; log-dirty $(cat /tmp/sampled-g) {MEMORY << 8} "
                       f"console-wait g 300 $(wc -c <{guests.console_log('g')}) {shlex.quote(passes)}; "
                       "status=$?; kill -9 $reader; exit $status", timeout=600).out
    runs = re.findall(r"^dirty (\w+) (\d+)$", said, re.M)
    dirty = {int(first, 16) + i for first, pages in runs for i in range(int(pages))}
    assert not writes.keys() - dirty, f"{len(writes.keys() - dirty)} pages that were written are not told"
    assert not reads.keys() & dirty, f"{len(reads.keys() & dirty)} pages that were read only are told"
    assert sampling.get(machine).state == "running"
    sampling.wait_faults(machine, 50)


@pytest.mark.soak
@pytest.mark.boot("ept")
def test_samples_are_true(machine):
    """The one node that has CPUs accesses pages on both; EPT does not tell reads and writes apart.  In make test: tests/bare, samples."""
    reads, writes = sampling.start_guest(machine, vcpus=2, accessed=1, pause=100, memory=MEMORY, cpus=["0", "1"],
                                         policy="round-4k,nodes=0-1")
    dumps = [guests.dump(machine, "g", MEMORY)]
    sampling.start(machine, reader="read", entries=512, frames=17)
    sampled, counters = sampling.read_until(machine, lambda sampled: sampling.few(sampled, reads, writes, 50))
    sampling.stop(machine)
    dumps.append(guests.dump(machine, "g", MEMORY))
    sampling.check_truth(sampled, reads, writes, dumps, lambda vcpu: 0, writes_are_told=False)
    sampling.start(machine, reader="hold", entries=512, frames=17)
    with sampling.held(machine):
        check_access_while_sampled(machine, reads)
        check_log_dirty_while_sampled(machine, reads, writes)
    sampling.stop(machine)
    assert {sample.home for sample in sampled.samples} == {0, 1}
    assert counters.state == "running" and counters.dropped == 0

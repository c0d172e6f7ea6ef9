# SPDX-License-Identifier: GPL-2.0-only
"""Access sampling by hint faults, with NPT: each sample is true, what is not allowed is refused, and nothing else changes."""

from collections import Counter

import pytest

from harness import first_touch, guests, memory, moving, sampling
from harness.moving import ENDLESS, Mover

pytestmark = pytest.mark.heavy

TORN = 10       # times that each of those who get in each other's way has success


def on_next(vcpu):
    """The node of a vCPU of sampling.start_guest() on a machine with a CPU a node."""
    return vcpu + 1


def check_true(machine, policy, enough, **settings):
    """enough(sampled, reads, writes) says what is missing of the samples that a test wants to see."""
    reads, writes = sampling.start_guest(machine, policy=policy)
    dumps = [guests.dump(machine, "g", sampling.MEMORY)]
    sampling.start(machine, reader="read", **settings)
    sampled, counters = sampling.read_until(machine, lambda sampled: enough(sampled, reads, writes))
    sampling.stop(machine)
    dumps.append(guests.dump(machine, "g", sampling.MEMORY))
    sampling.check_truth(sampled, reads, writes, dumps, on_next)
    assert sampled.dropped == counters.dropped == 0
    assert counters.state == "running"
    assert sum(counters.samples.values()) >= sampled.taken
    assert sampled.taken <= counters.faults <= counters.marked
    assert 0 < counters.longest_ns < counters.ns
    assert sampling.get(machine).state == "off"
    return sampled


@pytest.mark.boot("n4")
def test_samples_are_true_of_small_pages(machine):
    sampled = check_true(machine, "round-4k,nodes=0-3", sampling.few, entries=256)
    assert {sample.home for sample in sampled.samples} == {0, 1, 2, 3}
    assert {sample.node for sample in sampled.samples} == {1, 2, 3}


@pytest.mark.boot("n4", "release")
def test_samples_are_true_of_large_pages(machine):
    """What is read and what is written by whom share large pages here: only nodes and sizes are told."""
    def few_large(sampled, reads, writes):
        large = [sample for sample in sampled.samples if sample.order == 9]
        missing = {1, 2, 3} - {sample.home for sample in large} or {False, True} - {sample.write for sample in large}
        return missing or (len(large) <= 5 and f"more than {len(large)} large pages")

    check_true(machine, "round-2m,nodes=1-3", few_large)


@pytest.mark.soak
@pytest.mark.boot("n4", "release")
def test_a_whole_guest_is_marked_bit_by_bit(machine):
    """65536 entries a period: no more of them are looked at while the p2m is locked than of 64 a period; each is marked, and taken back."""
    sampling.start_guest(machine)
    sampling.start(machine, reader="read", entries=65536, period=1000, frames=257)

    def not_yet(_):
        marked = sampling.get(machine).marked
        return marked < 30000 and f"30000 marks, but {marked}"

    counters = sampling.read_until(machine, not_yet, 400)[1]
    assert counters.most_entries == sampling.AT_ONCE
    sampling.stop(machine)


@pytest.mark.boot("n4")
def test_a_full_ring_counts_what_it_drops(machine):
    sampling.start_guest(machine)
    sampling.start(machine, frames=2)
    held = sampling.parse(sampling.command(machine, "g", "hold 4").out)[1]
    assert held.state == "running" and held.dropped > 0
    assert sum(held.samples.values()) == held.dropped + 256
    sampling.stop(machine)
    # whoever does not read is left after some seconds
    sampling.start(machine, reader="hold", frames=2)
    with sampling.held(machine):
        sampling.wait_ended(machine, "unread")
    sampling.stop(machine)


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_a_reader_that_writes_nonsense(machine):
    sampling.start_guest(machine)
    sampling.start(machine)
    # a number at random of samples that were read is as good as never one that can be: what comes is dropped
    lied = sampling.parse(sampling.command(machine, "g", "lie 8").out)[1]
    while lied.faults < 200:
        before, lied = lied, sampling.parse(sampling.command(machine, "g", "lie 8").out)[1]
        assert lied.faults > before.faults
    assert lied.dropped > lied.faults / 2 and lied.state == "running"
    assert sum(lied.samples.values()) == lied.faults
    sampling.stop(machine)
    guests.wait_console(machine, "g", r"memory-access: pass [1-9]")


@pytest.mark.boot("n4")
@pytest.mark.parametrize("how", ["killed", pytest.param("never there", marks=pytest.mark.soak)])
def test_it_ends_when_nobody_reads(machine, how):
    sampling.start_guest(machine)
    if how == "killed":
        reader = sampling.start_read(machine)
        sampling.wait_faults(machine, 1)
        assert sampling.get(machine).state == "running"
        sampling.end_reader(machine, reader)
    else:
        sampling.start(machine)
        assert sampling.get(machine).state == "running"
    ended = sampling.wait_ended(machine, "unread")
    assert ended.faults > 0
    machine.run("sleep 2")
    assert sampling.get(machine).numbers == ended.numbers
    # and can begin anew, with the ring that there is
    assert "ENOSPC" in sampling.start(machine, frames=129, check=False).err
    sampling.start(machine, frames=33)
    assert sampling.read(machine, 2) > 100
    sampling.stop(machine)


@pytest.mark.boot("n4")
def test_off_is_off(machine):
    """Nothing stays allocated, and nobody faults any more: the counters of those that are sampled are all there is to see of it.

    But for a page that Xen keeps for itself when a boot's first guest is sampled.
    """
    memory.warm_up(machine)
    sampling.start_guest(machine)

    def sampled():
        sampling.start(machine, entries=65536, frames=257)
        assert sampling.read(machine, 2) > 0
        sampling.stop(machine)
        sampling.stop(machine)

    sampled()
    memory.leaves_nothing(machine, sampled)
    assert sampling.get(machine).state == "off" and not any(sampling.get(machine).numbers.values())


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_destroyed_while_it_is_sampled(machine):
    """… with marks, and with a reader who goes on reading."""
    def lives_and_dies():
        sampling.start_guest(machine)
        sampling.destroy_sampled(machine, sampling.start_read(machine, entries=65536, period=10, frames=257))

    memory.leaves_nothing(machine, lives_and_dies)


@pytest.mark.boot("n4")
@pytest.mark.parametrize(("vcpus", "rounds"), [pytest.param(1, 12, marks=pytest.mark.soak), (3, 4), pytest.param(3, 12, marks=pytest.mark.soak)])
def test_the_budget_is_kept(machine, vcpus, rounds):
    """The first period, of at most 128 entries, is left out; with what it may spend later, Xen does something."""
    sampling.start_guest(machine, vcpus=vcpus, pause=0)
    # some periods, however much an emulator makes of each
    begin, end = sampling.check_budget(machine, rounds=rounds, marks=3 * sampling.AT_ONCE)
    assert end.ns - begin.ns >= 0.005 * (end.guest_ns - begin.guest_ns), (begin, end)


@pytest.mark.heavy(False)
@pytest.mark.boot("n4")
def test_settings_that_are_refused(machine):
    guests.create(machine, "g", memory=32)
    for settings in ({"entries": 0}, {"entries": 65537}, {"period": 9}, {"period": 60001}, {"budget": 0}, {"budget": 1001},
                     {"frames": 1}, {"frames": 4}, {"frames": 258}):
        refused = sampling.start(machine, **settings, check=False)
        assert refused.status == 1 and "EINVAL" in refused.err, settings
        assert sampling.get(machine).state == "off", settings


@pytest.mark.heavy(False)
@pytest.mark.boot("n4")
def test_domains_that_are_refused(machine):
    guests.create(machine, "g", memory=32)
    sampling.start(machine)
    assert "EBUSY" in sampling.start(machine, check=False).err
    sampling.stop(machine)
    guests.create(machine, "pv", type="pv", kernel="/boot/bzImage", memory=128)
    for words in ("start 1 100 10 2", "stop", "get"):
        assert "EOPNOTSUPP" in sampling.command(machine, "pv", words, check=False).err
    assert "ESRCH" in machine.run("numa-sample 77 get", check=False).err


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_with_moves_and_a_migration(machine):
    """Content stays intact while pages are marked, moved, divided, joined, and watched by log-dirty mode."""
    moving.start_writer(machine, cpus=["1-3"])
    mover = Mover(machine, "g", ENDLESS, 21)
    reader = sampling.start_read(machine, entries=8192, period=50, budget=100)
    sampling.wait_faults(machine, 100)
    moving.wait_passes(machine, "g", moving.said(machine)[0] + 3)
    mover.stop()
    sampling.watch(machine)
    moving.migrate(machine, 1000, 22)
    machine.run(f"kill -9 {reader}", check=False)
    sampling.check_log_dirty(sampling.watched(machine))
    # the one that was received is not sampled, and can be
    guests.wait_console(machine, moving.RECEIVED, r"memory-writer")
    assert sampling.get(machine).state == "off"
    sampling.start(machine, reader="read", entries=8192, period=50, budget=100)
    sampling.read_until(machine, lambda sampled: sampled.taken < 20 and "20 samples")
    sampling.stop(machine)
    moving.check_content(machine, moving.RECEIVED)


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_log_dirty_begins_and_ends(machine):
    """Migrations that break off as soon as log-dirty mode is on, in their first round and in a later one: the domain is marked again
    afterwards, and its content is what it was."""
    moving.start_writer(machine, cpus=["1-3"])
    reader = sampling.start_read(machine, entries=8192, period=50, budget=100)
    sampling.wait_faults(machine, 50)
    for mib in (16, moving.MEMORY // 2, moving.MEMORY + moving.WRITTEN // 2):
        moving.migrate_in_vain(machine, mib)
        assert sampling.get(machine).state == "running"
        sampling.wait_faults(machine, 50)
        moving.check_content(machine)
    machine.run(f"kill -9 {reader}", check=False)
    sampling.stop(machine)
    moving.check_content(machine)


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_saved_and_restored_while_it_is_sampled(machine):
    """A checkpoint, after which it goes on, and a restore, which is not sampled; neither has a mark, a page or a reference too many."""
    def saves_and_restores():
        moving.start_writer(machine, cpus=["1-3"])
        reader = sampling.start_read(machine, entries=8192, period=50, budget=100)
        sampling.wait_faults(machine, 50)
        machine.run("xl save -c g /tmp/image && rm /tmp/image", timeout=240)
        assert sampling.get(machine).state == "running"
        moving.check_content(machine)
        sampling.wait_faults(machine, 50)
        machine.run("xl save g /tmp/image && xl restore /tmp/image && rm /tmp/image", timeout=480)
        assert sampling.get(machine).state == "off"
        moving.check_content(machine)
        machine.run(f"kill -9 {reader}", check=False)
        guests.destroy(machine, "g")

    memory.leaves_nothing(machine, saves_and_restores, linux=True)


@pytest.mark.boot("n4")
def test_with_first_touch(machine):
    """Pages are marked, released, and touched again on another node, and no word is wrong; each page is mapped, or waits, as without."""
    def storms():
        first_touch.start(machine, 3, "memory-events storm 16 5")
        reader = sampling.start_read(machine, entries=8192, period=50, budget=100)
        first_touch.go(machine)
        sampling.wait_faults(machine, 100)
        first_touch.wait_storm(machine, "g", 20000)
        counters = sampling.get(machine)
        assert counters.state == "running"
        machine.run(f"kill -9 {reader}")
        sampling.stop(machine)
        first_touch.wait_storm(machine, "g", 5000)
        guests.destroy(machine, "g")

    memory.leaves_nothing(machine, storms)


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_first_touch_places_as_without(machine):
    """A mark on an entry that is unmapped, or not there yet, changes nothing of where the next touch puts the page."""
    first_touch.start(machine, 3, "memory-events warm 24 3")
    reader = sampling.start_read(machine, entries=65536, period=10, budget=300)
    first_touch.go(machine)
    for round in (1, 2, 3):
        pages = first_touch.touched(machine, round=round)
        dump = guests.dump(machine, "g", first_touch.MEMORY)
        first_touch.go(machine)
        wrong = first_touch.away(pages, dump) if round > 1 else []
        assert not wrong, f"round {round}: {len(wrong)} of {len(pages)}, such as {wrong[:8]}"
        assert dump.placed + dump.fallback == dump.touches["small"] + (dump.touches["large"] << 9)
        assert sum(dump.reserve.values()) == dump.touches["untouched"]
    assert guests.wait_console(machine, "g", r"(?s)round 2 done.*memory-events: (\d+) words not zero").group(1) == "0"
    assert sampling.get(machine).marked > 0
    machine.run(f"kill -9 {reader}")
    sampling.stop(machine)


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_all_at_once(machine):
    """Started, stopped, asked, mapped and read by five at a time, each of whom has success, and destroyed meanwhile."""
    loops = ["start 8192 10 500 17", "stop", "get", "read 1", "start 1 60000 1 257"]

    def torn():
        sampling.start_guest(machine, pause=0)
        domid = guests.domid(machine, "g")
        machine.run("rm -rf /tmp/torn; mkdir /tmp/torn; touch /tmp/torn/go; " + "".join(
            f"(while [ -e /tmp/torn/go ]; do numa-sample {domid} {words} && echo {i} >>/tmp/torn/done; done >/dev/null 2>&1) & "
            "echo $! >>/tmp/torn/loops; " for i, words in enumerate(loops)))
        done = machine.run("for _ in $(seq 400); do sleep 0.5; [ $(sort /tmp/torn/done | uniq -c | "
                           f"awk '$1 >= {TORN}' | wc -l) = {len(loops)} ] && break; done; cat /tmp/torn/done", timeout=300).out.split()
        assert all(done.count(str(i)) >= TORN for i in range(len(loops))), Counter(done)
        guests.wait_console(machine, "g", r"memory-access: pass [1-9]")
        guests.destroy(machine, "g")
        machine.run("sleep 1; rm /tmp/torn/go; for loop in $(cat /tmp/torn/loops); do "
                    "while kill -0 $loop 2>/dev/null; do sleep 0.1; done; done")

    memory.leaves_nothing(machine, torn)


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_vcpus_that_come_go_and_wander(machine):
    """A sample tells the node where its vCPU was at that time; vCPUs that are off do not matter."""
    sampling.start_guest(machine)

    def until(enough):
        sampling.start(machine, reader="read")
        sampled = sampling.read_until(machine, enough)[0]
        sampling.stop(machine)
        return sampled

    def missing(sampled):
        return {0, 1, 2} - {sample.vcpu for sample in sampled.samples}

    until(missing)
    machine.run("xl vcpu-pin g 0 3; xl vcpu-pin g 1 2; xl vcpu-pin g 2 1; sleep 1")
    assert {(sample.vcpu, sample.node) for sample in until(missing).samples} == {(0, 3), (1, 2), (2, 1)}
    first_touch.go(machine)
    machine.run("while [ $(xl vcpu-list g | grep -c -e ' --p ') -lt 2 ]; do sleep 1; done", timeout=120)
    sampled = until(lambda sampled: sampled.taken < 20 and "20 samples")
    assert {sample.vcpu for sample in sampled.samples} == {0}

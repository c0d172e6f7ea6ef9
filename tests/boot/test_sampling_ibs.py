# SPDX-License-Identifier: GPL-2.0-only
"""Access sampling by AMD's instruction-based sampling, as tests/boot/qemu models it: the truths of test_sampling.py, where they apply."""

import re

import pytest

from harness import carrefour, guests, memory, sampling
from harness.sampling import IBS

pytestmark = pytest.mark.heavy

# Interrupts a period, on all vCPUs: each costs an emulator a TLB.
ENTRIES = 128


def on_next(vcpu):
    """The node of a vCPU of sampling.start_guest() on a machine with a CPU a node."""
    return vcpu + 1


def start(machine, name="g", check=True, **settings):
    return sampling.start(machine, name, **{"entries": ENTRIES, "source": IBS} | settings, check=check)


def check_true(machine, policy, enough, **options):
    """enough(sampled, reads, writes) says what is missing of the samples that a test wants to see."""
    reads, writes = sampling.start_guest(machine, policy=policy, **options)
    dumps = [guests.dump(machine, "g", sampling.MEMORY)]
    start(machine, reader="read")
    sampled, counters = sampling.read_until(machine, lambda sampled: enough(sampled, reads, writes))
    sampling.stop(machine)
    dumps.append(guests.dump(machine, "g", sampling.MEMORY))
    sampling.check_truth(sampled, reads, writes, dumps, on_next, source=IBS)
    assert sampled.dropped == counters.dropped == 0
    assert counters.state == "running" and counters.sources == 1 << IBS
    assert sum(counters.samples.values()) == counters.faults >= sampled.taken
    # Xen has run, too, while it counted, and some of that was sampled: the more, the busier the host is
    assert counters.marked / 6 < counters.faults < counters.marked
    assert 0 < counters.ns < counters.guest_ns
    assert sampling.get(machine).state == "off"
    return sampled


@pytest.mark.boot("n4-ibs")
def test_samples_are_true_of_small_pages(machine):
    sampled = check_true(machine, "round-4k,nodes=0-3", lambda *seen: sampling.few(*seen, least=200))
    assert {sample.home for sample in sampled.samples} == {0, 1, 2, 3}
    assert {sample.node for sample in sampled.samples} == {1, 2, 3}


@pytest.mark.soak
@pytest.mark.boot("n4-ibs")
def test_samples_are_true_of_large_pages(machine):
    def few_large(sampled, reads, writes):
        large = [sample for sample in sampled.samples if sample.order == 9]
        return {1, 2, 3} - {sample.home for sample in large} or {False, True} - {sample.write for sample in large}

    check_true(machine, "round-2m,nodes=1-3", few_large)


@pytest.mark.soak
@pytest.mark.boot("n4-ibs")
def test_of_two_domains_on_one_cpu_one_is_sampled(machine):
    """They take turns on each CPU; what the other one accesses is nobody's sample, and it has none."""
    reads, writes = sampling.start_guest(machine, policy="round-4k,nodes=0-3")
    sampling.start_guest(machine, name="other", policy="round-4k,nodes=0-3")
    dumps = [guests.dump(machine, "g", sampling.MEMORY)]
    start(machine, reader="read")
    sampled, counters = sampling.read_until(machine, lambda sampled: sampling.few(sampled, reads, writes, least=100))
    assert sampling.get(machine, "other").state == "off"
    sampling.stop(machine)
    dumps.append(guests.dump(machine, "g", sampling.MEMORY))
    sampling.check_truth(sampled, reads, writes, dumps, on_next, source=IBS)
    assert counters.marked / 6 < counters.faults


@pytest.mark.soak
@pytest.mark.boot("n4-ibs")
def test_a_full_ring_and_vcpus_that_wander(machine):
    """What finds no room is counted.  A sample tells the node where its vCPU was at that time."""
    sampling.start_guest(machine)
    start(machine, reader="hold", frames=2)
    with sampling.held(machine):
        sampling.wait_faults(machine, 400)
        counters = sampling.get(machine)
    assert counters.state == "running" and counters.dropped > 0
    assert sum(counters.samples.values()) == counters.dropped + 256
    sampling.stop(machine)
    machine.run("xl vcpu-pin g 0 3; xl vcpu-pin g 1 2; xl vcpu-pin g 2 1; sleep 1")
    start(machine, reader="read", frames=2)
    sampled = sampling.read_until(machine, lambda sampled: {0, 1, 2} - {sample.vcpu for sample in sampled.samples})[0]
    sampling.stop(machine)
    assert {(sample.vcpu, sample.node) for sample in sampled.samples} == {(0, 3), (1, 2), (2, 1)}


@pytest.mark.soak
@pytest.mark.boot("n4-ibs")
def test_off_is_off(machine):
    """Nothing stays allocated, and no CPU takes an NMI any more."""
    def nmis():
        machine.run("xl dmesg -c >/tmp/before; xl debug-keys n; sleep 1")
        return re.findall(r"(?m)^\(XEN\) +(\d+)\t *(\d+)$", machine.run("xl dmesg -c").out)

    sampling.start_guest(machine)

    def sampled():
        start(machine, frames=257)
        assert sampling.read(machine, 3) > 0
        sampling.stop(machine)
        sampling.stop(machine)

    before = nmis()
    memory.leaves_nothing(machine, sampled)
    after = nmis()
    assert len(before) == 4 and after != before
    machine.run("sleep 5")
    assert nmis() == after
    assert sampling.get(machine).state == "off" and not any(sampling.get(machine).numbers.values())


@pytest.mark.soak
@pytest.mark.boot("n4-ibs")
def test_destroyed_while_it_is_sampled(machine):
    def lives_and_dies():
        sampling.start_guest(machine)
        sampling.destroy_sampled(machine, int(start(machine, reader="read", period=10, frames=257).out))

    memory.leaves_nothing(machine, lives_and_dies)


@pytest.mark.soak
@pytest.mark.boot("n4-ibs")
def test_the_budget_is_kept(machine):
    """As many interrupts as there can be."""
    sampling.start_guest(machine)
    sampling.check_budget(machine, rounds=6, source=IBS)


@pytest.mark.boot("n4-ibs")
def test_one_source_at_a_time(machine):
    guests.create(machine, "g", memory=32)
    assert "EOPNOTSUPP" in sampling.command(machine, "g", "start 100 100 10 3 3", check=False).err
    assert "EOPNOTSUPP" in sampling.command(machine, "g", "start 100 100 10 3 4", check=False).err
    start(machine)
    assert "EBUSY" in start(machine, check=False).err
    sampling.stop(machine)
    # and the other one has not been left behind by it
    sampling.start(machine)
    sampling.stop(machine)


@pytest.mark.boot("n4")
def test_a_machine_without_it(machine):
    guests.create(machine, "g", memory=32)
    assert "EOPNOTSUPP" in start(machine, check=False).err
    assert sampling.get(machine).state == "off"


@pytest.mark.soak
@pytest.mark.boot("n4-ibs")
def test_carrefour_is_told_by_it(machine):
    """What first-touch has put on one node goes to those that use it."""
    parts = carrefour.start_guest(machine)
    daemon = carrefour.Daemon(machine, sample_source="ibs", sample_entries=ENTRIES)
    carrefour.switch(machine, "+carrefour")
    remote = [cpu for cpu, home in carrefour.at_home(machine, parts).items() if home < 0.5]
    assert remote
    daemon.wait_home(0.501, only=remote, seconds=400)
    assert "sampling begins, by IBS\n" in daemon.log()
    assert sampling.get(machine).sources == 1 << IBS
    carrefour.check_words(machine)
    daemon.stop()


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_carrefour_does_without_it(machine):
    carrefour.start_guest(machine)
    daemon = carrefour.Daemon(machine, sample_source="ibs")
    carrefour.switch(machine, "+carrefour")
    daemon.wait_says("it has samples", "samples>=64")
    assert "sampling begins, by hint faults, as IBS is not to be had\n" in daemon.log()
    daemon.stop()

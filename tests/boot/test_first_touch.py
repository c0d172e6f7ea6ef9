# SPDX-License-Identifier: GPL-2.0-only
"""first-touch: a page is on the node of the vCPU that touched it first, or of the first one in its 2 MiB."""

import re

import pytest

from harness import guests, memory, moving, placement
from harness.first_touch import MEMORY, away, check_split, first_touchers, go, start, touched, wait_storm
from harness.topologies import TOPOLOGIES

TOUCHED = 24        # MiB on each vCPU of a guest
pytestmark = pytest.mark.heavy
both = pytest.mark.parametrize((), [pytest.param(marks=pytest.mark.boot("n4"), id="debug"),
                                    pytest.param(marks=[pytest.mark.boot("n4", "release"), pytest.mark.soak], id="release")])


@both
def test_every_page_is_where_it_was_touched(machine):
    start(machine, 3, f"memory-touch {TOUCHED}")
    before = guests.dump(machine, "g", MEMORY)
    go(machine)
    pages = touched(machine)
    after = guests.dump(machine, "g", MEMORY)
    assert len(set(pages)) == len(pages) == 3 * TOUCHED << 8
    first = first_touchers(pages, before)
    assert len(first) > len(pages) * 3 // 4
    wrong = {gfn: (after.pages.get(gfn), cpu) for gfn, cpu in first.items() if after.pages.get(gfn, (None,))[0] != cpu + 1}
    assert not wrong, f"{len(wrong)} of {len(first)}: {list(wrong.items())[:8]}"
    assert after.fallback == 0
    # what was not touched is not there
    assert len(before.pages) < len(after.pages) < (MEMORY << 8) * 3 // 4


@pytest.mark.boot("n4")
def test_a_touch_fills_2_mib_at_once(machine):
    start(machine, 2, f"memory-touch {TOUCHED}")
    before = guests.dump(machine, "g", MEMORY)
    go(machine)
    pages = {gfn for _, gfn in touched(machine)}
    after = guests.dump(machine, "g", MEMORY)
    empty = {gfn >> 9 for gfn in pages} - {gfn >> 9 for gfn in before.pages}
    assert len(empty) > TOUCHED // 2
    assert {after.pages[gfn][1] for gfn in pages if gfn >> 9 in empty} == {9}
    # every page of the guest is mapped, or waits; each touch is counted by what it mapped
    assert after.touches["large"] - before.touches["large"] >= len(empty)
    for dump in before, after:
        assert dump.placed + dump.fallback == dump.touches["small"] + (dump.touches["large"] << 9)
        assert sum(dump.reserve.values()) == dump.touches["untouched"]
    # the kernel was loaded by dom0
    assert before.touches["by_others"] > 0
    assert after.touches["untouched"] + len(after.pages) == before.touches["untouched"] + len(before.pages)


@pytest.mark.soak
@pytest.mark.boot("n4")
@pytest.mark.parametrize("policy", ["round-4k", "round-2m"])
def test_what_waits_goes_where_the_policy_that_is_set_wants_it(machine, policy):
    """Each page on its node, and no 2 MiB in one piece that the policy divides."""
    start(machine, 3, f"memory-touch {TOUCHED}")
    machine.run(f"xl numa-policy set g {policy}")
    before = guests.dump(machine, "g", MEMORY)
    go(machine)
    pages = {gfn for _, gfn in touched(machine)} - before.pages.keys()
    after = guests.dump(machine, "g", MEMORY)
    dealt = placement.slots(after.homes)
    assert len(dealt) == 3 and len(pages) > 2 * TOUCHED << 8
    wrong = [(hex(gfn), after.pages[gfn]) for gfn in pages if after.pages[gfn][0] != placement.node_of(gfn, policy, dealt)]
    assert not wrong, f"{len(wrong)} of {len(pages)}, such as {wrong[:8]}"
    assert after.fallback == 0


@both
def test_what_was_released_follows_who_touches_it_next(machine):
    """The second run of a program: the warm VM of Ibrahim et al. (docs/sources.md), which inherits the first run's placement."""
    start(machine, 3, f"memory-events warm {TOUCHED} 3")
    go(machine)
    for round in (1, 2, 3):
        pages = touched(machine, round=round)
        dump = guests.dump(machine, "g", MEMORY)
        go(machine)
        assert len(pages) == 3 * TOUCHED << 8
        if round > 1:
            wrong = away(pages, dump)
            assert not wrong, f"round {round}: {len(wrong)} of {len(pages)}, such as {wrong[:8]}"
    assert guests.wait_console(machine, "g", r"(?s)round 2 done.*memory-events: (\d+) words not zero").group(1) == "0"
    assert dump.touches["released"] == 2 * len(pages)
    assert dump.touches["invalid"] == dump.touches["no_room"] == 0
    # a flush for up to 512 pages
    assert dump.touches["flush_rounds"] <= dump.touches["released"] // 512 + 2 * 3 + 2


@both
def test_2_mib_that_are_handed_out_page_by_page(machine):
    """… by a guest that says so; of the hints of a batch 16 are effective."""
    check_split(machine, 18, 2, 16, [1, 2, 3])


@pytest.mark.heavy(False)
@pytest.mark.boot("n4")
def test_errors(machine):
    start(machine, 1, "memory-events errors")
    go(machine)
    guests.wait_console(machine, "g", "errors done")
    said = re.findall(r"memory-events: (.*): .*, (right|WRONG)", guests.console(machine, "g"))
    assert len(said) == 5 and {verdict for _, verdict in said} == {"right"}, said


@pytest.mark.heavy(False)
@pytest.mark.boot("n4")
def test_no_use_for_events(machine):
    start(machine, 1, "memory-events errors", policy="round-4k")
    go(machine)
    guests.wait_console(machine, "g", "errors done")
    assert len(re.findall("Operation not supported, WRONG", guests.console(machine, "g"))) == 5


@pytest.mark.soak
@pytest.mark.boot("n4")
def test_garbage(machine):
    start(machine, 2, "memory-events garbage 1 10")
    go(machine)
    batches = guests.wait_console(machine, "g", r"memory-events: (\d+) batches of garbage, 0 refused")
    touches = guests.dump(machine, "g").touches
    assert touches["events"] > int(batches.group(1)) > 10
    assert touches["invalid"] > touches["events"] // 2
    # what lies above the RAM, ACPI tables for one
    assert touches["released"] < 64


@pytest.mark.parametrize("turns", [pytest.param(1, marks=pytest.mark.boot("n4"), id="debug"),
                                   pytest.param(2, marks=[pytest.mark.boot("n4", "release"), pytest.mark.soak], id="release")])
def test_a_storm_with_disturbances(machine, turns):
    """All vCPUs release and touch, and verify every word, while the policy changes and the balloon works."""
    def work():
        start(machine, 3, "memory-events storm 16 7", linux=True)
        go(machine)
        wait_storm(machine, "g", 3000)
        for _ in range(turns):
            machine.run("xl numa-policy set g first-touch --nodes 2-3")
            wait_storm(machine, "g", 1000)
            moving.balloon(machine, "g", MEMORY - 16 * turns)
            wait_storm(machine, "g", 1000)
            machine.run("xl numa-policy set g first-touch --nodes affinity")
            moving.balloon(machine, "g", MEMORY)
            wait_storm(machine, "g", 1000)
        machine.run("xl destroy g")

    # guests with Linux are dear to have thrice; the verdict on a boot knows all that it lost but a few pages
    if turns > 1:
        memory.leaves_nothing(machine, work, linux=True)
    else:
        work()


@pytest.mark.boot("n4")
def test_save_and_restore(machine):
    """What was not touched is neither sent nor populated at the other side, and what was is as it was."""
    start(machine, 2, "memory-events storm 16 3", linux=True)
    go(machine)
    wait_storm(machine, "g", 2000)
    before = guests.dump(machine, "g", MEMORY)
    machine.run("xl save g /tmp/g.save", timeout=180)
    size = int(machine.run("stat -c %s /tmp/g.save").out)
    machine.run("xl restore /tmp/g.save", timeout=180)
    after = guests.dump(machine, "g", MEMORY)
    assert after.policy == "first-touch"
    assert before.touches["untouched"] > MEMORY << 7
    # the guest went on between looking and saving
    assert abs(after.touches["untouched"] - before.touches["untouched"]) <= 2 * 16 << 8
    assert size >> 12 < (len(before.pages) + (2 * 16 << 8)) * 11 // 10
    machine.run("rm /tmp/g.save")
    wait_storm(machine, "g", 2000)


@pytest.mark.heavy(False)
@both
def test_nothing_is_left(machine):
    def work():
        for n in range(4):
            guests.create(machine, f"g{n}", memory=200, policy="first-touch,nodes=1-3" if n % 2 else "first-touch")
        for n in range(4):
            guests.destroy(machine, f"g{n}")

    memory.leaves_nothing(machine, work)


@pytest.mark.heavy(False)
@pytest.mark.boot("n4")
def test_refused_with_a_reason(machine):
    """Memory that is populated on demand without a policy has no node to wait on."""
    guests.create(machine, "g", memory=64, maxmem=128, policy="none")
    refused = machine.run("xl numa-policy set g first-touch", check=False)
    assert refused.status == 1 and "populated on demand" in refused.err
    assert guests.dump(machine, "g").policy == "none"
    # with one from the start it works together
    for name, policy in ("h", "first-touch"), ("i", "round-4k"):
        guests.create(machine, name, memory=64, maxmem=128, policy=policy)
        machine.run(f"xl numa-policy set {name} first-touch")
        assert guests.dump(machine, name).policy == "first-touch"


@pytest.mark.heavy(False)
@pytest.mark.boot("n4")
@pytest.mark.parametrize("full", [pytest.param(False, id="room"), pytest.param(True, id="full", marks=pytest.mark.soak)])
def test_more_than_the_reserve_of_a_node(machine, full):
    """Pages of other nodes are exchanged with the heap of the toucher's; when that is empty, it is the nearest other home node."""
    start(machine, 1, "memory-touch 160", policy="first-touch,nodes=1-3")
    before = guests.dump(machine, "g", MEMORY)
    free = memory.at_rest(machine)
    left = TOPOLOGIES["n4"].mib[1] // 64    # by exchanging
    if full:
        guests.create(machine, "filler", memory=(free[1] >> 8) - left - 24, policy="round-4k,nodes=1")
        free = memory.at_rest(machine)
    go(machine)
    pages = [gfn for _, gfn in touched(machine) if gfn not in before.pages]
    after = guests.dump(machine, "g", MEMORY)
    nodes = [after.pages[gfn][0] for gfn in pages]
    assert len(pages) > 120 << 8
    assert after.touches["exchanged"] > 0
    assert sum(memory.at_rest(machine).values()) == pytest.approx(sum(free.values()), abs=memory.XEN_OWN_PAGES)
    if not full:
        assert set(nodes) == {1} and after.fallback == 0
        return
    nearest = next(node for node in TOPOLOGIES["n4"].by_distance(1)[1:] if node in (1, 2, 3))
    assert after.fallback > 10 << 8 and memory.at_rest(machine)[1] < (left << 8) + 512
    assert set(nodes) == {1, nearest}
    assert nodes.index(nearest) > 90 << 8

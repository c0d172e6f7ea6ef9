# SPDX-License-Identifier: GPL-2.0-only
"""A full node: its pages go to the nearest home node with room, then to the nearest other one, and are counted."""

import re

import pytest

from harness import checks, guests, memory

pytestmark = pytest.mark.boot("n8")

MIB = 256       # pages


def fill(machine, node, leave):
    """Leaves about so many MiB free on a node, by a guest that is pinned there."""
    free = memory.free_pages(machine)[node] // MIB
    quiet = guests.create(machine, f"hog{node}", memory=free - leave, policy=f"round-4k,nodes={node}")
    assert "NUMA" not in quiet.err, quiet.err
    now = memory.free_pages(machine)[node] // MIB
    assert leave - 8 <= now <= leave + 8, f"node {node} has {now} MiB free, {leave} were to be left"


def check_fallback(dump, policy, homes, full, refuge, free_before):
    """Pages named to `full` are there as far as room went, the others on `refuge`; the counters agree."""
    wrong = checks.misplaced(dump, policy, homes)
    assert wrong, "nothing fell back: the test has proven nothing"
    assert {(node, wanted) for _, node, wanted in wrong} == {(refuge, full)}
    assert dump.fallback == len(wrong)
    assert dump.placed + dump.fallback >= len(dump.pages)
    on_full = dump.located_pages().get(full, 0)
    # a few pages of the node go to Xen's own tables for the guest
    assert free_before - 2 * MIB <= on_full <= free_before


def told_away(result):
    """MiB that are elsewhere, as xl has warned in a line."""
    [line] = [line for line in result.err.splitlines() if "NUMA policy wants" in line]
    return int(re.search(r"warning: .*:(\d+) of \d+ MiB are not where the NUMA policy wants them", line)[1])


@pytest.mark.parametrize("policy", ["round-4k", "round-2m"])
def test_one_full_node(machine, policy):
    """The other home node has room, and is not the nearest one: nodes that are not home are left alone."""
    assert machine.topology.by_distance(3)[1] != 5
    fill(machine, 3, 20)
    free = memory.free_pages(machine)[3]
    created = guests.create(machine, "g", memory=100, policy=checks.spec(policy, [3, 5]))
    dump = guests.dump(machine, "g", 100)
    checks.check_books(dump, 100)
    assert told_away(created) == -(-dump.fallback // MIB) and "dom0_mem=" not in created.err
    check_fallback(dump, policy, [3, 5], full=3, refuge=5, free_before=free)


def test_memory_that_waits_to_be_touched_elsewhere(machine):
    """What no home node has room for counts before it is touched, too."""
    fill(machine, 3, 20)
    created = guests.create(machine, "g", memory=100, policy="first-touch,nodes=3")
    dump = guests.dump(machine, "g", 100)
    away = dump.fallback + sum(pages for node, pages in dump.reserve.items() if node != 3)
    assert told_away(created) == -(-away // MIB) > 60


def test_a_guest_that_is_restored(machine):
    """The nodes may be full by now, or on this host."""
    guests.create(machine, "g", paused=False, linux=True, memory=96, policy="round-2m,nodes=3")
    guests.wait_console(machine, "g", r"guest: up")
    machine.run("xl save g /tmp/g.save")
    fill(machine, 3, 20)
    restored = machine.run("xl restore -p /tmp/g.save")
    assert told_away(restored) == -(-guests.dump(machine, "g").fallback // MIB) > 40


@pytest.mark.soak
def test_nearest_is_full_too(machine):
    """With one home node, distance is all that counts."""
    nearest, second = machine.topology.by_distance(3)[1:3]
    fill(machine, 3, 20)
    fill(machine, nearest, 0)
    rest = memory.free_pages(machine)[nearest]
    guests.create(machine, "g", memory=100, policy="round-4k,nodes=3")
    dump = guests.dump(machine, "g", 100)
    checks.check_books(dump, 100)
    pages = dump.located_pages()
    assert set(pages) <= {3, nearest, second}
    assert pages.get(nearest, 0) <= rest
    assert pages[second] >= 70 * MIB
    assert dump.fallback == len(dump.pages) - pages[3]


def test_no_room_anywhere(machine):
    """A guest larger than the machine is refused, and takes nothing with it."""
    def attempt():
        too_much = sum(memory.free_pages(machine).values()) // MIB + 64
        assert guests.create(machine, "g", check=False, memory=too_much, policy="round-4k").status != 0

    memory.leaves_nothing(machine, attempt)

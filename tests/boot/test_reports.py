# SPDX-License-Identifier: GPL-2.0-only
"""What people did on other hypervisors and hosts, and reported in public: docs/cases.md says who, and what is right."""

import pytest

from harness import checks, first_touch, guests, memory, moving

MIB = 256       # pages
POOLED = 7      # a node for a cpupool
NO_TABLE = r"d\d+ failed to allocate from HAP pool$"
IN_PIECES = r"Could not allocate order=\d+ extent"      # the builder goes on with smaller ones


@pytest.mark.boot("n8")
@pytest.mark.parametrize("pool, policy", [(2, "round-2m"), (2, "none"), (3, "round-4k")])
def test_a_paging_pool_that_is_enough(machine, pool, policy):
    machine.scanner.known += [IN_PIECES]
    guests.create(machine, "g", memory=1024, shadow_memory=pool, policy=policy if policy == "none" else f"{policy},nodes=1-4")
    dump = guests.dump(machine, "g", 1024)
    checks.check_books(dump, 1024)
    if policy != "none":
        checks.check_every_page(dump, policy, [1, 2, 3, 4])


@pytest.mark.boot("n8")
@pytest.mark.parametrize("sizes", [{"memory": 1024}, {"memory": 256, "maxmem": 1024}], ids=["now", "some-day"])
def test_a_paging_pool_that_is_too_small(machine, sizes):
    """Enough for superpages, or for what it begins with: refused before anything is built, and told what would do."""
    refused = guests.create(machine, "g", check=False, **sizes, shadow_memory=2, policy="round-4k,nodes=1-4")
    assert refused.status != 0
    assert "shadow_memory=2 is too small for the NUMA policy round-4k" in refused.err and "set 3 or more" in refused.err, refused.err
    assert guests.domains(machine) == []


@pytest.mark.boot("n8")
def test_a_small_paging_pool_while_it_runs(machine):
    """A policy of small pages finds no tables: it says so, and the guest can be saved afterwards."""
    machine.scanner.known += [NO_TABLE]
    moving.start_writer(machine, memory=128, shadow_memory=1, vcpus=1, policy="round-2m,nodes=1-4")
    machine.run("xl numa-policy set g round-4k --rebalance")
    moving.check_content(machine)
    machine.run("xl save g /tmp/g.save && xl restore /tmp/g.save")
    moving.check_content(machine)
    machine.run("xl numa-policy set g round-2m --rebalance")
    moving.check_content(machine)


@pytest.mark.boot("n8")
def test_memory_populated_on_demand_is_at_home(machine):
    """maxmem= above memory=, vCPUs elsewhere: what is used for the first time comes from the node that the policy wants."""
    guests.create(machine, "g", paused=False, memory=128, maxmem=192, cpus="0", policy="round-2m,nodes=2-3", program="memory-touch 64")
    guests.wait_console(machine, "g", r"memory-touch: ready")
    first_touch.go(machine)
    guests.wait_console(machine, "g", r"memory-touch: round 1 done")
    there = guests.dump(machine, "g", 192)
    assert 64 * MIB <= len(there.pages) <= 128 * MIB, len(there.pages)
    checks.check_every_page(there, "round-2m", [2, 3])


@pytest.mark.boot("n8")
def test_superpages_come_back_after_restore(machine):
    """xl restores by single pages, as on stock Xen; a rebalance puts them together again."""
    guests.create(machine, "g", paused=False, linux=True, memory=160, policy="round-2m,nodes=1-3")
    guests.wait_console(machine, "g", r"guest: up")
    before = guests.dump(machine, "g").usage_orders()
    machine.run("xl save g /tmp/g.save && xl restore /tmp/g.save && xl numa-policy rebalance g")
    after = guests.dump(machine, "g", 160)
    checks.check_every_page(after, "round-2m", [1, 2, 3])
    assert after.usage_orders().get(9, 0) >= before[9] - 4 > 60, (before, after.usage_orders())


@pytest.fixture
def pool(machine):
    machine.run(f"xl cpupool-cpu-remove Pool-0 {POOLED}")
    machine.run(f"xl cpupool-create name=\\\"other\\\" cpus=[\\\"{POOLED}\\\"]")
    yield "other"
    machine.run("destroy-all 30")
    machine.run(f"xl cpupool-destroy other; xl cpupool-cpu-add Pool-0 {POOLED}")


@pytest.mark.boot("n8")
def test_a_cpupool_and_home_nodes_outside_of_it(machine, pool):
    """Without a policy of its own a guest is at home in the pool; named nodes are obeyed, as memory has no pools."""
    named = {"round": ("round-2m", [2, 3]), "touch": ("first-touch", [2, 3])}
    guests.create_all(machine, {"pooled": {}, **{name: {"numa_policy": checks.spec(*spec)} for name, spec in named.items()}},
                      memory=64, pool=pool)
    dumps = guests.dump_all(machine, dict.fromkeys(["pooled", *named], 64))
    checks.check_policy(dumps["pooled"], "round-4k", [POOLED])
    checks.check_every_page(dumps["pooled"], "round-4k", [POOLED])
    checks.check_every_page(dumps["round"], *named["round"])
    assert sorted(dumps["touch"].homes) == [2, 3] and set(dumps["touch"].located_pages()) <= {2, 3}


@pytest.mark.boot("n8")
def test_several_are_created_at_once(machine):
    """They race for the same nodes: all run, and the books of each node agree."""
    def attempt():
        for number in range(4):
            guests.put(machine, f"/tmp/g{number}.cfg", guests.config(f"g{number}", memory=700, policy="round-2m"))
        machine.run("for n in 0 1 2 3; do xl create -p /tmp/g$n.cfg >/tmp/said$n 2>&1 & done; wait; cat /tmp/said?", timeout=200)
        names = [f"g{number}" for number in range(4)]
        assert sorted(guests.domains(machine)) == names
        dumps = guests.dump_all(machine, dict.fromkeys(names, 700))
        for name in names:
            checks.check_books(dumps[name], 700)
            assert dumps[name].fallback == len(checks.misplaced(dumps[name], "round-2m", list(dumps[name].homes)))
        for name in names:
            guests.destroy(machine, name)

    memory.leaves_nothing(machine, attempt)


@pytest.mark.boot("n8")
def test_two_full_nodes_are_exchanged(machine):
    """Each of two rebalances waits for the room that the other one makes: both end, and what is said to stay does."""
    for name, node in (("a", 3), ("b", 4)):
        guests.create(machine, name, memory=760, policy=f"round-2m,nodes={node}")
    machine.run("for g in a:4 b:3; do xl numa-policy set ${g%:*} round-2m --nodes ${g#*:} --rebalance >/tmp/said-${g%:*} 2>&1 & done; wait; "
                "cat /tmp/said-a /tmp/said-b", timeout=200)
    for name, node in (("a", 4), ("b", 3)):
        dump = guests.dump(machine, name, 760)
        checks.check_books(dump, 760)
        assert sorted(dump.homes) == [node] and set(dump.located_pages()) <= {3, 4}
    guests.destroy(machine, "b")
    machine.run("xl numa-policy rebalance a")
    assert guests.dump(machine, "a", 760).located_pages().get(3, 0) <= moving.IN_USE


@pytest.mark.boot("n8-hetero")
def test_weights_until_a_node_is_full(machine):
    """Two guests of unequal shares on unequal nodes: the second one falls back, once a page, until the first one is gone."""
    homes, weights = [1, 2, 3, 4], [2, 4, 1, 5]
    spec = checks.spec("round-2m", homes, weights)
    guests.create_all(machine, {"a": {}, "b": {}}, memory=1540, numa_policy=spec)
    first = guests.dump(machine, "a", 1540)
    checks.check_every_page(first, "round-2m", homes, weights)
    second = guests.dump(machine, "b", 1540)
    checks.check_books(second, 1540)
    assert second.fallback == len(checks.misplaced(second, "round-2m", homes, weights)) > 0
    guests.destroy(machine, "a")
    machine.run("xl numa-policy rebalance b")
    assert len(checks.misplaced(guests.dump(machine, "b", 1540), "round-2m", homes, weights)) <= moving.IN_USE


@pytest.mark.boot("n2", "debug", "numa-policy=round-4k numa=off")
def test_numa_is_off(machine):
    """One node is left: others are refused by number, and a guest runs as ever."""
    refused = guests.create(machine, "g", check=False, policy="round-2m,nodes=0-1")
    assert refused.status != 0 and "Home node 1 does not exist on this host" in refused.err, refused.err
    guests.create(machine, "g", memory=64)
    checks.check_policy(guests.dump(machine, "g", 64), "round-4k", [0])

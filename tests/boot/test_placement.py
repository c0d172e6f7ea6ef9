# SPDX-License-Identifier: GPL-2.0-only
"""Every page of a guest is where its policy says, for every policy, number of home nodes, weights and size."""

import pytest

from harness import checks, guests, moving
from harness.placement import GRAIN

HOMES = {1: [5], 2: [2, 6], 4: [1, 3, 4, 7], 8: list(range(8))}
WEIGHTS = {
    1: [None, [7]],
    2: [None, [3, 1], [4, 2]],
    4: [None, [1, 2, 3, 4], [255, 1, 1, 255]],
    8: [None, [1, 1, 1, 1, 1, 1, 1, 9], [6, 2, 4, 2, 2, 8, 2, 2]],
}
# MiB: every number of homes divides it; none does, nor do 2 MiB
EVEN, ODD = 64, 101


def name_of(n, weights):
    return f"homes-{n}-weights-{'.'.join(map(str, weights or [1]))}"


def check_guest(dump, policy, homes, weights, memory):
    checks.check_books(dump, memory)
    checks.check_policy(dump, policy, homes, weights)
    assert not dump.follows
    checks.check_every_page(dump, policy, homes, weights)
    assert dump.placed >= len(dump.pages)
    checks.check_orders(dump, policy, homes)


def check_guests(machine, policy, memory):
    """Side by side."""
    cases = {name_of(n, weights): (HOMES[n], weights) for n in HOMES for weights in WEIGHTS[n]}
    guests.create_all(machine, {name: {"numa_policy": checks.spec(policy, homes, weights)}
                                for name, (homes, weights) in cases.items()}, memory=memory)
    dumps = guests.dump_all(machine, dict.fromkeys(cases, memory))
    wrong = {}
    for name, case in cases.items():
        try:
            check_guest(dumps[name], policy, *case, memory)
        except AssertionError as error:
            wrong[name] = str(error)
    assert not wrong, "\n".join(f"{name}: {error}" for name, error in wrong.items())
    assert len(dumps) == sum(map(len, WEIGHTS.values()))


@pytest.mark.boot("n8")
@pytest.mark.parametrize("policy", GRAIN)
@pytest.mark.parametrize("memory", [pytest.param(EVEN, marks=pytest.mark.soak), ODD])
def test_debug(machine, policy, memory):
    check_guests(machine, policy, memory)


@pytest.mark.soak
@pytest.mark.boot("n8", "release")
@pytest.mark.parametrize("policy", GRAIN)
def test_release(machine, policy):
    check_guests(machine, policy, ODD)


@pytest.mark.boot("n8")
def test_several_at_once(machine):
    """Guests side by side do not disturb each other's placement."""
    cases = [("round-4k", [0, 1, 2, 3, 4, 5, 6, 7], None), ("round-2m", [1, 2, 3], [1, 2, 1]), ("round-4k", [4], None),
             ("round-4k", [6, 7], [9, 1])]
    for number, (policy, homes, weights) in enumerate(cases):
        guests.create(machine, f"g{number}", memory=257, policy=checks.spec(policy, homes, weights))
    for number, (policy, homes, weights) in enumerate(cases):
        dump = guests.dump(machine, f"g{number}", 257)
        checks.check_books(dump, 257)
        checks.check_every_page(dump, policy, homes, weights)
        checks.check_orders(dump, policy, homes)


def soaks(*cases):
    return [pytest.param(case, marks=pytest.mark.soak) for case in cases]


@pytest.mark.boot("n4")
@pytest.mark.parametrize("case", [
    ("round-1g", [1, 2], [2, 1], 2304), *soaks(
        ("round-1g", [1, 3], None, 2560),
        ("round-1g", [0, 1, 2, 3], None, 3100),
        ("round-2m", [1, 2, 3], [5, 3, 2], 2304),
        ("round-4k", [1, 2, 3], None, 1100),
    )], ids=lambda case: f"{case[0]}-{len(case[1])}-homes-{case[3]}-MiB")
def test_large(machine, case):
    """Guests of more than a GiB: round-1g has more than one slot to show."""
    policy, homes, weights, memory = case
    guests.create(machine, "g", memory=memory, policy=checks.spec(policy, homes, weights))
    dump = guests.dump(machine, "g", memory)
    checks.check_books(dump, memory)
    checks.check_policy(dump, policy, homes, weights)
    checks.check_every_page(dump, policy, homes, weights)
    checks.check_orders(dump, policy, homes)


@pytest.mark.boot("n4")
def test_one_gib_pages_stay(machine):
    """round-1g maps as much by 1 GiB as placement by stock rules on one node does."""
    orders = {}
    for policy in ("none", "round-1g"):
        extra = {"cpus": "1"} if policy == "none" else {}
        guests.create(machine, "g", memory=2200, policy=checks.spec(policy, [1] if policy != "none" else None), **extra)
        orders[policy] = guests.dump(machine, "g").usage_orders()
        guests.destroy(machine, "g")
    assert orders["round-1g"] == orders["none"]
    assert orders["round-1g"].get(18, 0) + orders["round-1g"][9] // 512 >= 1


@pytest.mark.boot("n8")
@pytest.mark.parametrize(("options", "homes"), [
    ({"cpus": ["2,5"]}, [2, 5]),
    ({"cpus_soft": "1,6,7", "vcpus": 3}, [1, 6, 7]),
    ({"cpus_soft": "all"}, list(range(8))),
    ({"vcpus": 8, "cpus": ["0", "1", "2", "3", "0", "1", "2", "3"]}, [0, 1, 2, 3]),
], ids=["hard", "soft", "all", "by-vcpu"])
def test_home_nodes_follow_affinity(machine, options, homes):
    """Without nodes= the home nodes are the domain's node affinity."""
    guests.create(machine, "g", memory=100, **options)
    dump = guests.dump(machine, "g", 100)
    assert dump.follows
    checks.check_books(dump, 100)
    checks.check_policy(dump, "round-4k", homes)
    checks.check_every_page(dump, "round-4k", homes)


@pytest.mark.boot("n8")
def test_affinity_that_changes(machine):
    """The home nodes in force follow; memory that is there stays."""
    guests.create(machine, "g", memory=64, cpus=["2,5"])
    machine.run("xl vcpu-pin g 0 3,4 -")
    dump = guests.dump(machine, "g", 64)
    checks.check_policy(dump, "round-4k", [3, 4])
    assert set(dump.located_pages()) == {2, 5}


@pytest.mark.boot("n4-memless")
@pytest.mark.parametrize(("nodes", "homes"), [("all", [0, 1, 3]), ("all,^node:0", [1, 3]), ("nodes:0-1", [0, 1])])
def test_nodes_as_xl_names_them(machine, nodes, homes):
    """All are those that have memory."""
    guests.create(machine, "g", memory=64, policy=f"round-2m,nodes={nodes}")
    checks.check_policy(guests.dump(machine, "g", 64), "round-2m", homes)


def check_memory_follows(machine, node):
    """The home node is `node` at once; the memory comes there when it is asked to."""
    dump = guests.dump(machine, "g", 64)
    assert dump.follows
    checks.check_policy(dump, "round-4k", [node])
    assert node not in dump.located_pages()
    machine.run("xl numa-policy rebalance g")
    there = guests.dump(machine, "g", 64).located_pages()
    assert sum(pages for where, pages in there.items() if where != node) <= moving.IN_USE < there[node]


@pytest.mark.boot("n8")
def test_memory_follows_vcpus(machine):
    """xl has placed the guest by itself, and fixed its node affinity; then its vCPUs are sent elsewhere, and into another cpupool."""
    guests.create(machine, "g", memory=64, policy="round-4k")
    [home] = guests.dump(machine, "g", 64).homes
    pinned, pool = [node for node in (7, 6, 5) if node != home][:2]
    machine.run(f"xl vcpu-pin g all {pinned} {pinned}")
    check_memory_follows(machine, pinned)
    machine.run("xl vcpu-pin g all all all")
    machine.run(f"xl cpupool-cpu-remove Pool-0 {pool}")
    machine.run(f"xl cpupool-create name=\\\"other\\\" cpus=[\\\"{pool}\\\"]")
    try:
        machine.run("xl cpupool-migrate g other")
        check_memory_follows(machine, pool)
    finally:
        machine.run("xl cpupool-migrate g Pool-0")
        machine.run("xl cpupool-destroy other")
        machine.run(f"xl cpupool-cpu-add Pool-0 {pool}")


@pytest.mark.boot("n8")
def test_automatic_placement_is_one_home(machine):
    """xl's own choice for a small guest is one node: then nothing is split."""
    guests.create(machine, "g", memory=100)
    dump = guests.dump(machine, "g", 100)
    assert len(dump.homes) == 1
    checks.check_every_page(dump, "round-4k", list(dump.homes))
    checks.check_orders(dump, "round-4k", list(dump.homes))


@pytest.mark.boot("n2", "debug", "numa-policy=round-2m")
@pytest.mark.parametrize("policy", [None, "default", "round-4k"])
def test_machine_wide_default(machine, policy):
    guests.create(machine, "g", memory=101, policy=policy, cpus_soft="all")
    dump = guests.dump(machine, "g", 101)
    wanted = "round-4k" if policy == "round-4k" else "round-2m"
    checks.check_policy(dump, wanted, [0, 1])
    checks.check_every_page(dump, wanted, [0, 1])
    checks.check_orders(dump, wanted, [0, 1])


@pytest.mark.boot("n8-hetero")
@pytest.mark.parametrize("policy", ["round-4k", "round-2m"])
def test_uneven_nodes(machine, policy):
    """Node sizes play no part as long as none is full."""
    guests.create(machine, "g", memory=300, policy=checks.spec(policy, range(8)))
    dump = guests.dump(machine, "g", 300)
    checks.check_books(dump, 300)
    checks.check_every_page(dump, policy, list(range(8)))
    checks.check_orders(dump, policy, list(range(8)))


@pytest.mark.boot("n4-memless")
def test_node_without_memory(machine):
    """A node with CPUs only is no home node, however the guest comes by it."""
    guests.create(machine, "g", memory=101, cpus_soft="all")
    dump = guests.dump(machine, "g", 101)
    checks.check_books(dump, 101)
    checks.check_policy(dump, "round-4k", [0, 1, 3])
    checks.check_every_page(dump, "round-4k", [0, 1, 3])
    guests.destroy(machine, "g")

    refused = guests.create(machine, "g", check=False, policy="round-4k,nodes=1-2")
    assert refused.status != 0
    assert guests.domains(machine) == []


@pytest.mark.boot("n4-memless")
def test_vcpus_on_a_node_without_memory(machine):
    """The memory is then on the nearest node that has some: node 3, at distance 16."""
    guests.create(machine, "g", memory=64, cpus=["2"])
    dump = guests.dump(machine, "g", 64)
    checks.check_books(dump, 64)
    assert set(dump.located_pages()) == {3}

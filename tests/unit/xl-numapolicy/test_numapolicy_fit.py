# SPDX-License-Identifier: GPL-2.0-only
"""The one figure a VM, and what is to be typed: by placements that are good, or bad in one way each."""

import random
from fractions import Fraction
from math import sqrt

import pytest

from fake_machine import ERROR_DEVICE_EXISTS, ERROR_NOTFOUND, MIB, Domain, Machine
from test_numapolicy_carrefour import SHOW, WATCHED, daemon

GIB = 1 << 30
CPUS = 4    # of each node, which has 1 GiB
LEAST = 100     # samples


def guest(memory, vcpus, **fields):
    """memory: MiB by node; vcpus: the node of each."""
    fields = {"weights": dict.fromkeys(range(8), 1), "follows": True, "policy": "none", "affinity": 0xff} | fields
    return Domain(3, fields.pop("name", "g"), usage={node: (256 * size, 0, 0) for node, size in memory.items()},
                  cpus=[CPUS * node for node in vcpus], **fields)


def host(domain, nodes=8, free=GIB):
    return Machine(nodes, domains=[domain], free=[free] * nodes)


def row_of(xl, domain, **options):
    row, = xl.json("list", machine=host(domain), **options)["domains"]
    return row


ALL = range(8)
WIDE = dict.fromkeys(ALL, 1000)


@pytest.mark.parametrize("memory, vcpus, percent, in_use, needed", [
    (WIDE, ALL, 100, 8, 8),     # interleaved: no placement has more for it
    ({4: 2000, 5: 2000, 6: 2000}, ALL, 28.1, 8, 6),     # three of eight controllers serve all
    ({4: 2600, 5: 2600, 6: 2600}, ALL, 37.5, 8, 8),
    ({0: 500}, [0], 100, 1, 1),
    ({0: 500}, [1], 0, 2, 1),
    ({0: 500, 1: 500}, [0, 0], 50, 2, 1),
    ({0: 100, 1: 100, 2: 100, 3: 100}, [0, 1, 2, 3], 25, 4, 1),     # a quarter is local, on one node all were
    ({0: 900, 1: 900}, [0, 0, 0, 1], 75, 2, 2),
    ({0: 999, 5: 1}, [0], 99.9, 1, 1),      # a page or so elsewhere is not what is in use
])
def test_the_figure(xl, memory, vcpus, percent, in_use, needed):
    domain = guest(memory, vcpus)
    row = row_of(xl, domain)
    assert (row["numa_percent"], row["numa_from"]) == (percent, "estimate")
    assert (row["nodes_in_use"], row["nodes_needed"]) == (in_use, needed)
    assert f" ~{percent:.1f}% " in xl.good("list", machine=host(domain)).splitlines()[1]


@pytest.mark.parametrize("memory, vcpus", [({0: 1000}, []), ({}, [0]), ({0: 1000}, [-1])])
def test_unknown_where_one_of_both_is_not_there(xl, memory, vcpus):
    domain = guest(memory, [])
    domain.cpus = [CPUS * node if node >= 0 else -1 for node in vcpus]
    row = row_of(xl, domain)
    assert [row[name] for name in ("numa_percent", "numa_from", "nodes_in_use", "nodes_needed", "advice")] == [None] * 5
    text = xl.good("list", machine=host(domain))
    assert "What repairs them" not in text and "Locality:" not in xl.good("show", "3", machine=host(domain))


def formula(memory, vcpus):
    """As the documents have it."""
    total, nr = sum(memory.values()), len(vcpus)
    part = {node: Fraction(vcpus.count(node), nr) for node in ALL}
    share = {node: Fraction(memory.get(node, 0), total) for node in ALL}
    overlap = sum(min(part[node], share[node]) for node in ALL)
    needed = max(min(8, -(-total // 1024)), min(8, -(-nr // CPUS)))
    here = [memory.get(node, 0) for node in ALL if part[node]]
    mean = Fraction(sum(here), len(here))
    imbalance = 100 * sqrt(sum((one - mean) ** 2 for one in here) / len(here)) / mean if mean else None
    return {"numa_percent": 100 * overlap * min(1, needed * sum(p * p for p in part.values())), "overlap_percent": 100 * overlap,
            "even_use_percent": 100 * sum(part[node] * share[node] for node in ALL), "memory_imbalance_percent": imbalance,
            "nodes_needed": needed}


def test_any_placement(xl):
    """Against the formula, in fractions."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    for _ in range(60):
        memory = {node: rng.choice([1, 7, 333, 1024, 5000]) for node in rng.sample(ALL, rng.randint(1, 8))}
        vcpus = [rng.choice(list(ALL)[:rng.randint(1, 8)]) for _ in range(rng.randint(1, 20))]
        said, = xl.json("show", "3", machine=host(guest(memory, vcpus)))["domains"]
        for name, right in formula(memory, vcpus).items():
            if right is None or name == "nodes_needed":
                assert said[name] == right, (name, memory, vcpus)
            elif name == "memory_imbalance_percent":
                assert abs(said[name] - right) < 0.15, (memory, vcpus)
            else:
                assert said[name] == int(10 * right) / 10, (name, memory, vcpus)


@pytest.mark.parametrize("samples, percent, source", [(LEAST - 1, 100.0, "estimate"), (LEAST, 81.5, "samples")])
def test_samples_count_for_more(xl, tmp_path, samples, percent, source):
    """If there are enough of them; without a mark."""
    domain = guest({0: 100}, [0])
    with daemon(tmp_path, lambda *_: SHOW | {"domains": [WATCHED | {"samples": samples}]}) as (env, _):
        row = row_of(xl, domain, env=env)
        line = xl.good("list", machine=host(domain), env=env).splitlines()[1]
        shown = xl.good("show", "3", machine=host(domain), env=env)
    assert (row["numa_percent"], row["numa_from"]) == (percent, source)
    assert f" {'~' if source == 'estimate' else ''}{percent}% " in line
    assert ("81.5% of the sampled accesses are local" in shown) == (source == "samples")


PINNED = {"follows": False, "policy": "round-4k"}
THIN = {4: 2000, 5: 2000, 6: 2000}


@pytest.mark.parametrize("domain, command, why", [
    (guest(THIN, ALL, name="measured"), "xl numa-policy set measured round-4k --rebalance", "not spread as its vCPUs are"),
    (guest(THIN, ALL, policy="round-2m"), "xl numa-policy rebalance g", "not where its policy wants it"),
    # what was touched stays, so that no rebalance helps
    (guest(THIN, ALL, policy="first-touch"), None, ""),
    # the vCPUs were sent elsewhere
    (guest({0: 500}, [2, 2], weights={0: 1}, hard=[2], **PINNED), "xl numa-policy set g --nodes 2 --rebalance", "home nodes"),
    (guest({0: 1500}, [2, 3], weights={0: 1}, soft=[2, 3], hard=ALL, **PINNED),
     "xl numa-policy set g --nodes 2-3 --rebalance", ""),
    (guest({0: 500}, [2, 3], weights={0: 1}, soft=[2, 3], hard=ALL, **PINNED),
     "xl vcpu-pin g all - nodes:2 && xl numa-policy set g --nodes 2 --rebalance", ""),
    (guest({0: 500}, [2], weights={0: 1}, hard=[2]), "xl numa-policy set g round-4k --nodes 2 --rebalance", ""),
    # it would fit on one; the one with most of it
    (guest({0: 100, 1: 300}, [0, 0, 1, 1], policy="round-4k", weights={0: 1, 1: 3}, hard=ALL),
     "xl vcpu-pin g all - nodes:1 && xl numa-policy set g --nodes 1 --rebalance", "on 2 nodes, and would fit on one"),
    (guest({0: 500}, [1], name="a b", hard=[1], weights={1: 1}), "xl numa-policy set 3 round-4k --rebalance", ""),
    # what is good enough changes least; a little better is not
    (guest({6: 160}, [7], policy="round-1g", weights={5: 1, 6: 1, 7: 1}, follows=False, hard=ALL),
     "xl vcpu-pin g all - nodes:6 && xl numa-policy set g --nodes 6 --rebalance", ""),
    # good, or nobody knows better
    (guest(WIDE, ALL, policy="round-4k"), None, ""),
    (guest({0: 500}, [0], policy="round-4k"), None, ""),
    (guest({0: 500}, [1], policy="vnuma"), None, ""),
    # vCPUs that wander over all nodes: memory there is as good as it can be, and there are too many of them for one node
    (guest(dict.fromkeys(ALL, 100), [0, 0, 0, 0, 1], policy="round-4k", hard=ALL), None, ""),
])
def test_what_to_type(xl, domain, command, why):
    assert row_of(xl, domain)["advice"] == command
    lines = xl.good("list", machine=host(domain)).splitlines()
    shown = xl.good("show", "3", machine=host(domain))
    if not command:
        assert len(lines) == 4 and "repair" not in shown
        return
    assert lines[4:6] == ["", "What repairs them:"] and len(lines) == 7
    assert lines[6].startswith(command + "  # ") and why in lines[6]
    assert f"  repair      {lines[6]}\n" in shown


def test_nothing_to_type_for_what_cannot_be_moved(xl):
    machine = host(guest(THIN, ALL)).fail("movable", ERROR_DEVICE_EXISTS)
    assert xl.json("list", machine=machine)["domains"][0]["advice"] is None
    machine = host(guest(THIN, ALL)).fail("movable", ERROR_NOTFOUND)     # it has no policy yet
    assert "round-4k" in xl.json("list", machine=machine)["domains"][0]["advice"]


def test_nothing_to_type_without_room(xl):
    """Of half of it at least."""
    domain = guest(THIN, ALL, policy="round-4k")
    wanted = (6000 - 3 * 750) * MIB     # to the other five, 750 MiB each
    for free, advised in ((wanted // 10 - MIB, None), (wanted // 10 + MIB, "xl numa-policy rebalance g")):
        row, = xl.json("list", machine=host(domain, free=free))["domains"]
        assert row["advice"] == advised, free


@pytest.mark.parametrize("automatic, local, command", [
    ("advise", 40.0, "xl numa-policy set g +auto"), ("1", 40.0, None), ("0", 40.0, None), ("advise", 80.0, None)])
def test_what_only_samples_tell(xl, tmp_path, automatic, local, command):
    domain = guest(WIDE, ALL, policy="round-4k", auto=automatic, carrefour="1" if automatic == "0" else "0")
    with daemon(tmp_path, lambda *_: SHOW | {"domains": [WATCHED | {"local_percent": local}]}) as (env, _):
        assert row_of(xl, domain, env=env)["advice"] == command


def test_brief_asks_for_none_of_it(xl, tmp_path):
    with daemon(tmp_path, lambda *_: SHOW) as (env, asked):
        row, = xl.json("list", "--brief", machine=host(guest({0: 100}, [0])), env=env)["domains"]
    assert "numa_percent" not in row and asked == []

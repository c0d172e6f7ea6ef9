# SPDX-License-Identifier: GPL-2.0-only
"""show: one domain in full."""

import re

import pytest

from fake_machine import ERROR_FAIL, MIB, Domain, Machine, example

GUEST1 = """\
guest1 (id 3, PVH)

Policy:
  policy      round-4k
  home nodes  0-1 (set with the policy)
  weights     3:1

Memory:
  memory      1G, 100.0% of it on home nodes
  vCPUs       run on node 0, where 75.0% of the memory is
  mapped      512M by 4 KiB, 512M by 2 MiB
  placed      262144 pages of 4 KiB, where the policy wants them
  fell back   12 pages of 4 KiB, as that node was full

Locality:
  numa        ~75.0%, estimated by where vCPUs and memory are
  overlap     of memory and vCPUs: 75.0%
  even use    75.0% of the accesses are local, if all vCPUs use all memory
  nodes       2 in use, 1 would do on an empty host

Carrefour:
  carrefour   off, auto off

NODE HOME WEIGHT EXPECTED SHARE MEMORY 4K-PAGES 2M-PAGES 1G-PAGES UNTOUCHED
   0 yes       3    75.0% 75.0%   768M    98304      192        0         0
   1 yes       1    25.0% 25.0%   256M    32768       64        0         0
   2 no        0     0.0%  0.0%      0        0        0        0         0
   3 no        0     0.0%  0.0%      0        0        0        0         0
"""

NOTHING_MOVED = dict.fromkeys(["moved_pages", "in_use_pages", "unmovable_pages", "no_room_pages", "late_pages",
                               "no_table_pages", "claimed_pages",
                               "move_batches", "flush_rounds", "locked_ns", "longest_locked_ns", "longest_pause_ns",
                               "pauses_exceeded", "copied_again_pages"], 0)
NOTHING_TOUCHED = dict.fromkeys(["untouched_pages", "touches_4k", "touches_2m", "touches_by_others", "exchanged_pages",
                                 "released_pages", "release_flush_rounds", "release_in_use_pages",
                                 "release_unfit_pages", "release_absent_pages", "release_no_table_pages",
                                 "page_events", "invalid_page_events"], 0)
NOT_WATCHED = dict.fromkeys(["class", "state", "samples", "local_percent", "imbalance_percent", "moves", "total_moved_bytes",
                             "total_samples_dropped"])

FIT = {"numa_percent": 75.0, "numa_from": "estimate", "overlap_percent": 75.0, "even_use_percent": 75.0,
       "memory_imbalance_percent": 0.0, "nodes_in_use": 2, "nodes_needed": 1}


@pytest.mark.parametrize("which", ["guest1", "3"])
def test_text(xl, which):
    assert xl.good("show", which) == GUEST1


def test_text_of_a_policy_that_follows_the_affinity(xl):
    text = xl.good("show", "guest2")
    assert "  home nodes  2-3 (follow the vCPUs)\n" in text
    assert "  weights     equal\n" in text
    assert "  memory      2G, 50.0% of it on home nodes\n" in text
    assert "  mapped      12K by 4 KiB, 1G by 2 MiB, 1G by 1 GiB\n" in text
    row = text.splitlines()[-4].split()
    assert row == ["0", "no", "0", "0.0%", "49.9%", "1G", "0", "0", "1", "0"]


@pytest.mark.parametrize("small, policy, told", [(4 * 512, "round-2m", False), (5 * 512, "round-2m", True),
                                                 (5 * 512, "first-touch", False)])
def test_lost_superpages(xl, small, policy, told):
    machine = example()
    machine.domains[2].usage, machine.domains[2].policy = {2: (small, 95, 0)}, policy
    line = "\n              'xl numa-policy compact guest2' puts what is mapped by 4 KiB together by 2 MiB\n"
    assert (line in xl.good("show", "guest2", machine=machine)) == told


def test_json(xl):
    document = xl.json("show", "guest1")
    assert document["domains"] == [{
        "name": "guest1", "id": 3, "uuid": "00000003-0000-4000-8000-00000000abcd", "type": "PVH", "policy": "round-4k",
        "home_nodes": [0, 1], "weights": [3, 1], "follows_affinity": False, "max_pause_us": 0, "carrefour": False, "auto": "off",
        "vcpu_nodes": [0], "at_home_percent": 100.0, "vcpu_local_percent": 75.0,
        "placed_pages": 262144, "fallback_pages": 12, "memory_bytes": 1024 * MIB,
        "mapped_4k_bytes": 512 * MIB, "mapped_2m_bytes": 512 * MIB, "mapped_1g_bytes": 0, **NOTHING_MOVED,
        **NOTHING_TOUCHED, **NOT_WATCHED, **FIT}]
    assert [row["node"] for row in document["nodes"]] == [0, 1, 2, 3]
    assert document["nodes"][0] == {
        "node": 0, "home": True, "weight": 3, "expected_percent": 75.0, "share_percent": 75.0,
        "memory_bytes": 768 * MIB, "pages_4k": 98304, "pages_2m": 192, "pages_1g": 0,
        "untouched_bytes": 0}
    assert document["nodes"][3]["home"] is False
    assert xl.json("show", "guest2")["domains"][0]["follows_affinity"] is True


def test_raw(xl):
    first, second = xl.good("show", "guest1", "--raw").split("\n\n")
    assert dict(zip(*map(str.split, first.splitlines()))) == {
        "name": "guest1", "id": "3", "uuid": "00000003-0000-4000-8000-00000000abcd", "type": "PVH", "policy": "round-4k",
        "home_nodes": "0-1", "weights": "3:1", "follows_affinity": "no", "max_pause_us": "0", "carrefour": "no", "auto": "off",
        "vcpu_nodes": "0", "at_home_percent": "100.0", "vcpu_local_percent": "75.0",
        "placed_pages": "262144", "fallback_pages": "12", "memory_bytes": str(1024 * MIB),
        "mapped_4k_bytes": str(512 * MIB), "mapped_2m_bytes": str(512 * MIB), "mapped_1g_bytes": "0",
        **{name: "0" for name in NOTHING_MOVED | NOTHING_TOUCHED}, **dict.fromkeys(NOT_WATCHED, "-"),
        **{name: str(value) for name, value in FIT.items()}}
    nodes = [line.split(" ") for line in second.splitlines()]
    assert nodes[1] == ["0", "yes", "3", "75.0", "75.0", str(768 * MIB), "98304", "192", "0", "0"]
    assert {len(row) for row in nodes} == {10}


def test_statistics_of_moving(xl):
    """Each number in its place."""
    machine = example()
    machine.stats = [1000, 2000, 30, 40, 50, 60, 70, 80, 6, 11, 7654321, 1234567, 34567, 8, 90]
    machine.domains[1].pause = 20
    assert "\n  limit       no write is to wait for more than 0.020 ms\n" in xl.good("show", "guest1", machine=machine)
    assert """
Moves:
  moved       1000 pages of 4 KiB, in 6 batches with 11 rounds of TLB flushes
  not moved   30 pages in use, 40 not movable, 50 as the node was full, 60 for the limit, 70 for want of a page table, \
80 as their memory was claimed
  locked      7.654 ms in all, 1.235 ms at the longest
  writes      waited for 0.035 ms at the longest
  beyond      8 times the limit
  again       90 pages, written while they were copied

""" in xl.good("show", "guest1", machine=machine)
    domain, = xl.json("show", "guest1", machine=machine)["domains"]
    assert {name: domain[name] for name in NOTHING_MOVED} == dict(zip(
        NOTHING_MOVED, [1000, 30, 40, 50, 60, 70, 80, 6, 11, 7654321, 1234567, 34567, 8, 90]))
    domain, = xl.json("set", "guest1", "none", machine=machine)["domains"]
    assert domain["flush_rounds"] == 11


def test_statistics_of_first_touch(xl):
    """Each number in its place; a node that Xen says nothing of has nothing."""
    machine = example()
    numbers = [1030, 200, 30, 4, 500, 6000, 7, 80, 90, 100, 11, 1200, 13]
    machine.touches, machine.waits = numbers, [512, 6]
    assert """
First-touch:
  untouched   1030 pages of 4 KiB
  touches     200 mapped 4 KiB, 30 mapped 2 MiB, 4 were of others than its vCPUs
  exchanged   500 pages of 4 KiB with the heap of a node
  released    6000 pages of 4 KiB, 7 rounds of TLB flushes
  kept        80 pages in use, 90 not plain memory, 100 not there, 11 without room for a page table
  events      1200 of the guest, 13 of them invalid

""" in xl.good("show", "guest1", machine=machine)
    document = xl.json("show", "guest1", machine=machine)
    assert {name: document["domains"][0][name] for name in NOTHING_TOUCHED} == dict(zip(NOTHING_TOUCHED, numbers))
    assert [row["untouched_bytes"] for row in document["nodes"]] == [512 << 12, 6 << 12, 0, 0]
    assert xl.json("set", "guest1", "none", machine=machine)["domains"][0]["exchanged_pages"] == 500


@pytest.mark.parametrize("place", range(13))
def test_nothing_is_said_of_what_there_is_none_of(xl, place):
    """Of moving: each number alone, where that makes sense, has its line, and there is no 0 in it."""
    machine = example()
    assert "Moves:" not in xl.good("show", "guest1", machine=machine)
    machine.stats = [7 * (i in (0, place)) for i in range(15)]
    moves = xl.good("show", "guest1", machine=machine).split("Moves:\n")[1].split("\n\n")[0].splitlines()
    assert len(moves) == 1 + (place in (2, 3, 4, 5, 6, 7, 10, 12, 13, 14))
    assert not [line for line in moves[1:] if re.search(r"\b0 ", line)]


def test_vcpus_that_are_not_known(xl):
    assert "vCPUs" not in xl.good("show", "guest1", machine=example().fail("vcpus", ERROR_FAIL))


POLICIES = [
    ({}, "round-4k --nodes 0-1 --weights 3:1 --max-pause-us 0 -carrefour -auto"),
    ({"policy": "first-touch", "weights": {0: 1, 2: 1, 3: 1}, "pause": 300, "carrefour": "1", "auto": "advise"},
     "first-touch --nodes 0,2-3 --max-pause-us 300 +carrefour +auto=advise"),
    ({"policy": "none", "weights": dict.fromkeys(range(4), 1), "follows": True, "auto": "1"},
     "none --nodes affinity --max-pause-us 0 -carrefour +auto"),
    ({"weights": {0: 1, 1: 1, 2: 9, 3: 1}, "follows": True, "carrefour": "?", "auto": "?"},
     "round-4k --nodes affinity --weights 1:1:9:1 --max-pause-us 0"),
]


@pytest.mark.parametrize("fields, line", POLICIES)
def test_a_policy_that_set_takes_again(xl, fields, line):
    """Whatever the other domain had."""
    machine = example()
    for name, value in fields.items():
        setattr(machine.domains[1], name, value)
    assert xl.good("show", "guest1", "--policy", machine=machine) == line + "\n"
    other = machine.domains[2]
    other.affinity, other.weights, other.follows, other.pause = 0b1111, {1: 5, 2: 4}, False, 9
    before = xl.json("show", "guest1", machine=machine)["domains"][0]
    after = xl.json("set", "guest2", *line.split(), machine=machine)["domains"][0]
    for name in "policy", "home_nodes", "weights", "follows_affinity", "max_pause_us":
        assert after[name] == before[name], name
    if "?" not in fields.values():
        assert (after["carrefour"], after["auto"]) == (before["carrefour"], before["auto"])


def test_no_policy_that_set_would_take(xl):
    machine = example()
    machine.domains[1].policy = "vnuma"
    assert xl.bad("show", "guest1", "--policy", machine=machine).startswith("VM 'guest1' has virtual NUMA nodes")
    assert "leave out --json" in xl.bad("show", "guest1", "--policy", "--json", status=2)


@pytest.mark.parametrize("place", [0, 1, 2, 11])
def test_any_of_them_is_worth_telling(xl, place):
    machine = example()
    machine.touches = [int(i == place) for i in range(13)]
    assert "\nFirst-touch:\n" in xl.good("show", "guest1", machine=machine)


def test_policy_none_expects_nothing(xl):
    machine = example()
    machine.domains[1].policy = "none"
    assert "weights" not in xl.good("show", "guest1", machine=machine)
    assert {row["expected_percent"] for row in
            xl.json("show", "guest1", machine=machine)["nodes"]} == {None}


def test_only_nodes_that_exist(xl):
    machine = example()
    machine.absent = [2]
    assert [row["node"] for row in xl.json("show", "3", machine=machine)["nodes"]] == [0, 1, 3]


def test_expected_shares_that_do_not_divide_evenly(xl):
    machine = example()
    machine.domains[1].weights = {0: 1, 1: 1, 2: 1}
    shares = [row["expected_percent"] for row in xl.json("show", "3", machine=machine)["nodes"]]
    assert shares == [33.3, 33.3, 33.3, 0.0]


def test_the_largest_machine(xl):
    """64 nodes, the largest weights, different ones at the ends."""
    weights = {node: 255 for node in range(64)} | {0: 1}
    machine = Machine(64, domains=[Domain(1, "g", weights=weights)])
    domain, = xl.json("show", "1", machine=machine)["domains"]
    assert domain["home_nodes"] == list(range(64)) and domain["weights"] == [1] + [255] * 63
    assert ":".join(["1"] + ["255"] * 63) in xl.good("show", "1", machine=machine)
    machine.domains[0].weights = {node: 255 for node in range(0, 64, 2)} | {63: 1}
    assert ",".join(map(str, range(0, 61, 2))) + ",62-63 " in xl.good("show", "1", machine=machine)

# SPDX-License-Identifier: GPL-2.0-only
"""Memory follows a policy that is set later: page by page, whole where it can be, and nothing else changes."""

import json

import pytest

from harness import checks, guests, moving

HOMES = list(range(1, 8))
# (policy, home nodes, weights), one after the other, and back
WAYS = [
    ("round-4k", HOMES, None),
    ("round-2m", [2, 5, 6], [1, 2, 1]),
    ("round-1g", [3, 4], None),
    ("round-4k", [7], None),
    ("round-2m", HOMES, None),
    ("round-4k", [1, 2, 4, 7], [3, 1, 1, 2]),
    ("round-1g", HOMES, None),
]


@pytest.mark.boot("n8")
def test_every_policy_and_back_debug(machine):
    moving.through_policies(machine, [*WAYS[:4], *WAYS[2::-1]], 200, cpus=["1-7"])


@pytest.mark.soak
@pytest.mark.boot("n8", "release")
def test_every_policy_and_back_release(machine):
    moving.through_policies(machine, [*WAYS, *WAYS[-2::-1]], 200, cpus=["1-7"])


@pytest.mark.boot("n8")
def test_the_dry_run_says_what_would_move(machine):
    guests.create(machine, "g", memory=64, policy="round-4k,nodes=1-2")
    machine.run("xl numa-policy set g round-4k --nodes 2-3")
    before = guests.dump(machine, "g", 64)
    would = moving.result(machine, "rebalance g --dry-run")
    assert guests.dump(machine, "g", 64).pages == before.pages
    assert would["moved"] == len(checks.misplaced(before, "round-4k", [2, 3]))
    did = moving.result(machine, "rebalance g")
    assert did["moved"] + did["in_use"] == would["moved"]
    assert moving.result(machine, "rebalance g")["moved"] == 0


@pytest.mark.boot("n8")
def test_a_node_is_evacuated(machine):
    moving.start_writer(machine, policy="round-4k,nodes=3-5")
    moves = moving.rebalance(machine, "g", "round-4k", [3, 5])
    left = guests.dump(machine, "g").usage_pages().get(4, 0)
    assert left <= moving.IN_USE and left <= moves["in_use"]
    moving.check_content(machine)


@pytest.mark.boot("n8")
def test_statistics_add_up(machine):
    guests.create(machine, "g", memory=64, policy="round-4k,nodes=1-2")
    first = moving.rebalance(machine, "g", "round-2m", [3, 4])
    second = moving.rebalance(machine, "g", "round-4k", [1, 2])
    [shown] = json.loads(machine.run("xl numa-policy show g --json").out)["domains"]
    assert shown["moved_pages"] == first["moved"] + second["moved"] > 0
    assert shown["in_use_pages"] >= second["in_use"]
    # at most three rounds a batch of up to 512 pages: one to copy first, one to stop writes, one to change entries
    assert 0 < shown["flush_rounds"] <= 3 * shown["move_batches"]
    assert shown["move_batches"] <= 2 * (64 * 2 + 8)
    assert 0 < shown["longest_locked_ns"] <= shown["locked_ns"]


@pytest.mark.boot("n8")
@pytest.mark.parametrize(("guest", "why"), [
    ({"policy": "none", "memory": 32}, "none"), ({"type": "pv", "kernel": "/boot/bzImage", "memory": 128}, "PV"),
])
def test_refused_with_a_reason(machine, guest, why):
    """Shadow paging is not built by default, and the emulator has no nested virtualization to offer to guests."""
    guests.create(machine, "g", **guest)
    refused = machine.run("xl numa-policy rebalance g", check=False)
    assert refused.status == 1
    assert why in refused.err
    assert len(refused.err.splitlines()) == 1, refused.err

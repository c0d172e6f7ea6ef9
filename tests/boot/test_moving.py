"""Memory follows a policy that is set later: page by page, whole where it can be, and nothing else changes."""

import json

import pytest

from harness import checks, guests, memory, moving

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
SMALL = 60          # pages of a running guest that are in use by others: console, xenstore, shared information


def options(homes, weights):
    nodes = "--nodes " + ",".join(map(str, homes))
    return nodes + (" --weights " + ":".join(map(str, weights)) if weights else "")


def result(machine, command):
    """What a rebalancing command says at its end, in pages."""
    said = json.loads(machine.run(f"xl numa-policy {command} --json", timeout=300).out.splitlines()[-1])
    assert said["event"] == "result" and said["complete"]
    return {what: said[what] >> 12 for what in ("moved", "there", "in_use", "unmovable", "no_room")}


def rebalance(machine, name, policy, homes, weights=None):
    """Sets a policy and has the memory follow."""
    return result(machine, f"set {name} {policy} {options(homes, weights)} --rebalance")


@pytest.mark.boot("n8")
def test_every_policy_and_back_debug(machine):
    every_policy_and_back(machine, WAYS[:4])


@pytest.mark.boot("n8", "release")
def test_every_policy_and_back_release(machine):
    every_policy_and_back(machine, WAYS)


def every_policy_and_back(machine, ways):
    """From where stock placement put it, through all policies."""
    guests.create(machine, "g", memory=200, policy="none", cpus=["1-7"])
    stock = guests.dump(machine, "g", 200)
    free = memory.at_rest(machine)
    for policy, homes, weights in [*ways, *reversed(ways[:-1])]:
        moves = rebalance(machine, "g", policy, homes, weights)
        dump = guests.dump(machine, "g", 200)
        checks.check_policy(dump, policy, homes, weights)
        checks.check_books(dump, 200)
        assert len(dump.pages) == len(stock.pages)
        # xl's pages for xenstore and the console are mapped by dom0
        assert len(checks.misplaced(dump, policy, homes, weights)) == moves["in_use"] <= 8
        assert moves["unmovable"] == moves["no_room"] == 0
        checks.check_orders(dump, policy, homes)
    assert sum(memory.at_rest(machine).values()) == pytest.approx(sum(free.values()), abs=memory.XEN_OWN_PAGES + 200 // 2)


@pytest.mark.boot("n8")
def test_the_dry_run_says_what_would_move(machine):
    guests.create(machine, "g", memory=64, policy="round-4k,nodes=1-2")
    machine.run("xl numa-policy set g round-4k --nodes 2-3")
    before = guests.dump(machine, "g", 64)
    would = result(machine, "rebalance g --dry-run")
    assert guests.dump(machine, "g", 64).pages == before.pages
    assert would["moved"] == len(checks.misplaced(before, "round-4k", [2, 3]))
    did = result(machine, "rebalance g")
    assert did["moved"] + did["in_use"] == would["moved"]
    assert result(machine, "rebalance g")["moved"] == 0


@pytest.mark.boot("n8")
def test_a_node_is_evacuated(machine):
    moving.start_writer(machine, policy="round-4k,nodes=3-5")
    moves = rebalance(machine, "g", "round-4k", [3, 5])
    left = guests.dump(machine, "g").usage_pages().get(4, 0)
    assert left <= SMALL and left <= moves["in_use"]
    moving.check_content(machine)


@pytest.mark.boot("n8")
def test_statistics_add_up(machine):
    guests.create(machine, "g", memory=64, policy="round-4k,nodes=1-2")
    first = rebalance(machine, "g", "round-2m", [3, 4])
    second = rebalance(machine, "g", "round-4k", [1, 2])
    [shown] = json.loads(machine.run("xl numa-policy show g --json").out)["domain"]
    assert shown["moved_pages"] == first["moved"] + second["moved"] > 0
    assert shown["in_use_pages"] >= second["in_use"]
    # at most two rounds a batch of up to 512 pages
    assert 0 < shown["flush_rounds"] <= 2 * shown["move_batches"]
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

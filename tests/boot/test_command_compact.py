# SPDX-License-Identifier: GPL-2.0-only
"""`xl numa-policy compact` on a real Xen: what round-4k has divided is 2 MiB again, and a guest that writes it loses nothing."""

import json
import re
from collections import Counter

import pytest

from harness import checks, guests, moving

pytestmark = pytest.mark.heavy

HOMES = [1, 2, 3]
REPEATS = 5         # a page in use, if only for the moment, keeps its 2 MiB as they are
MOST_IN_USE = 2     # of 2 MiB, whose pages dom0 uses for as long as the VM is there


def start(machine):
    moving.start_writer(machine, policy="round-4k,nodes=1-3", cpus=["1-3"])
    dump = guests.dump(machine, "g", moving.MEMORY)
    assert set(dump.located_orders()) == {0}
    return dump


def large(dump):
    """The node of each 2 MiB that are one page, by their number."""
    return {gfn >> 9: node for gfn, (node, order) in dump.pages.items() if order == 9 and not gfn % 512}


def check_books(machine, before):
    """The dump of now; nothing is lost, and what is not large has stayed where it was."""
    dump = guests.dump(machine, "g", moving.MEMORY)
    checks.check_books(dump, moving.MEMORY)
    assert set(dump.pages) == set(before.pages)
    assert all(order == 9 or node == before.pages[gfn][0] for gfn, (node, order) in dump.pages.items())
    return dump


def compact(machine, before):
    """Until all is that can be; the dump."""
    blocks = len(checks.whole_ranges(before, 9))
    for _ in range(REPEATS):
        moves = moving.result(machine, "compact g")
        dump = check_books(machine, before)
        assert moves["moved"] % 512 == moves["in_use"] % 512 == 0 and len(large(dump)) == (moves["moved"] + moves["there"]) >> 9
        if len(large(dump)) >= blocks - MOST_IN_USE:
            return dump
    raise AssertionError(f"{blocks} times 2 MiB are there, {len(large(dump))} are one page: {moves}")


def check_compact(machine):
    before = start(machine)
    refused = machine.run("xl numa-policy compact g", check=False)
    assert refused.status == 1 and "has policy round-4k" in refused.err and "set g round-2m --rebalance" in refused.err
    assert len(refused.err.splitlines()) == 1

    # without a policy: what was spread stays so
    machine.run("xl numa-policy set g none")
    would = moving.result(machine, "compact g --dry-run")
    assert would["moved"] == len(checks.whole_ranges(before, 9)) << 9 and check_books(machine, before).pages == before.pages
    on = Counter(large(compact(machine, before)).values())
    assert set(on) == set(HOMES) and max(on.values()) - min(on.values()) <= 1 + MOST_IN_USE, on
    moving.check_content(machine)

    # by a policy: where it names them
    moving.rebalance(machine, "g", "round-4k", HOMES)
    divided = guests.dump(machine, "g", moving.MEMORY)
    assert len(large(divided)) <= MOST_IN_USE
    machine.run("xl numa-policy set g round-2m")
    dump = compact(machine, divided)
    wrong = [where for where in checks.misplaced(dump, "round-2m", HOMES) if dump.pages[where[0]][1] == 9]
    assert not wrong, wrong[:8]
    moving.check_content(machine)
    # nothing is left to be done, also by the node, but for what was in use and no longer is
    said = machine.run("xl numa-policy compact node:2 --json -q", check=False).out
    assert sum(json.loads(line)["moved_bytes"] for line in said.splitlines()) <= MOST_IN_USE << 21, said


@pytest.mark.boot("n4")
def test_superpages_are_back(machine):
    check_compact(machine)


@pytest.mark.soak
@pytest.mark.boot("n4", "release")
def test_superpages_are_back_release(machine):
    check_compact(machine)


@pytest.mark.boot("n4")
def test_stopped_and_gone_on_with(machine):
    """It has done as much as it says, and the guest has lost nothing."""
    before = start(machine)
    machine.run("xl numa-policy set g none")
    stopped = moving.stopped(machine, "compact g --max-mb-per-s 8", "INT",
                             "numa-dump $d | awk '/^usage/ { n += $4 } END { exit n < 3 }'")
    said = json.loads(stopped.out.splitlines()[-1])
    assert stopped.status == 130 and said["event"] == "result" and said["complete"] is False
    assert re.fullmatch(r"xl numa-policy: stopped by SIGINT at \d+%; 'xl numa-policy compact g' goes on\n", stopped.err)
    dump = check_books(machine, before)
    assert 3 <= len(large(dump)) == said["moved_bytes"] >> 21 < len(checks.whole_ranges(before, 9)) - MOST_IN_USE
    compact(machine, before)
    moving.check_content(machine)

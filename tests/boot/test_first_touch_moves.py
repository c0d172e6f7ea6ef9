# SPDX-License-Identifier: GPL-2.0-only
"""Guests that release and touch all the while are moved, evacuated, migrated, saved, ballooned and destroyed."""

import json
import re

import pytest

from harness import guests, memory, moving
from harness.first_touch import MEMORY, STORM, go, start, wait_storm
from harness.moving import ENDLESS, Mover

pytestmark = [pytest.mark.heavy, pytest.mark.boot("n4")]

FEW = 2000      # pages


def storm(machine, seed, **options):
    start(machine, 2, f"memory-events storm 16 {seed}", **options)
    go(machine)
    wait_storm(machine, "g", FEW)


def test_moved_while_it_storms(machine):
    """... and while first-touch is switched off and on, and events are unwanted or not."""
    storm(machine, 21)
    mover = Mover(machine, "g", ENDLESS, 22, alone=False, memory=MEMORY)
    for policy in ("round-4k", "first-touch", "none", "first-touch"):
        machine.run(f"xl numa-policy set g {policy} --nodes affinity")
        wait_storm(machine, "g", FEW)
    assert mover.stop()["moved"] > FEW
    # the mover sets policies, too
    machine.run("xl numa-policy set g first-touch --nodes affinity")
    before = guests.dump(machine, "g").touches["released"]
    wait_storm(machine, "g", FEW)
    assert guests.dump(machine, "g").touches["released"] > before
    assert int(re.findall(r"(\d+) batches unwanted", guests.console(machine, "g"))[-1]) > 0


@pytest.mark.soak
def test_evacuation(machine):
    """What is mapped leaves the node, and what waits is touched elsewhere."""
    storm(machine, 23)
    machine.run("xl numa-policy set g first-touch --nodes 2-3")
    for _ in range(moving.REPEATS):
        moving.result(machine, "rebalance g")
        wait_storm(machine, "g", FEW)
        dump = guests.dump(machine, "g", MEMORY)
        away = {gfn >> order << order: node for gfn, (node, order) in dump.pages.items() if node not in (2, 3)}
        if len(away) <= moving.IN_USE:
            break
    # a page in use for good, such as where a vCPU and Xen talk, keeps its 2 MiB
    assert len(away) <= moving.IN_USE, f"{len(away)} mappings, such as {list(away.items())[:8]}"
    # what the command tells is what Xen has counted
    machine.run("xl pause g")
    shown = json.loads(machine.run("xl numa-policy show g --json").out)
    touches, [domain] = guests.dump(machine, "g").touches, shown["domains"]
    assert domain["untouched_pages"] == touches["untouched"] == sum(node["untouched_bytes"] for node in shown["nodes"]) >> 12 > 0
    assert (domain["touches_4k"], domain["touches_2m"]) == (touches["small"], touches["large"])
    assert domain["released_pages"] == touches["released"] > FEW


def wait_received(machine, name):
    wait_storm(machine, name, FEW)
    assert re.findall(STORM, guests.console(machine, name))[-1][2] == "0"


@pytest.mark.soak
def test_live_migration(machine):
    """To the machine where it is; what was not touched needs neither to be sent nor to be there at once."""
    storm(machine, 24, linux=True)
    mapped = len(guests.dump(machine, "g", MEMORY).pages)
    machine.run("xl migrate -s '' g 'xl migrate-receive' 2>/tmp/migrate.log || { cat /tmp/migrate.log >&2; false; }", timeout=240)
    wait_received(machine, moving.RECEIVED)
    dump = guests.dump(machine, "g", MEMORY)
    assert dump.policy == "first-touch"
    assert dump.touches["untouched"] > MEMORY << 7
    assert len(dump.pages) < mapped + (2 * 16 << 8)
    # it is asked for its free pages again, and may release again
    assert machine.run("xenstore-read /local/domain/$(xl domid g)/control/page-events").out.strip() == "1"
    assert dump.touches["released"] > 0


@pytest.mark.soak
def test_checkpoint(machine):
    """A copy of it goes on from where it was, and so does it itself."""
    storm(machine, 25, linux=True)
    machine.run("xl save -c g /tmp/g.save", timeout=180)
    wait_storm(machine, "g", FEW)
    machine.run("xl destroy g; rm -f " + guests.console_log("g"))
    machine.run("xl restore /tmp/g.save && rm /tmp/g.save", timeout=180)
    wait_received(machine, "g")
    assert guests.dump(machine, "g").touches["untouched"] > MEMORY << 7


@pytest.mark.soak
def test_ballooned_and_destroyed_in_the_middle(machine):
    def lives():
        for number in range(2):
            storm(machine, 26 + number, policy=("first-touch", "first-touch,nodes=1-2")[number], linux=True)
            mover = Mover(machine, "g", ENDLESS, 30 + number, alone=False, memory=MEMORY)
            for mib in (MEMORY - 100, MEMORY - 20, MEMORY - 60):
                moving.balloon(machine, "g", mib)
                wait_storm(machine, "g", FEW // 4)
            guests.destroy(machine, "g")
            mover.finish()

    memory.leaves_nothing(machine, lives, linux=True)

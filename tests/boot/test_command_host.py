# SPDX-License-Identifier: GPL-2.0-only
"""`xl numa-policy` for a host: evacuate a node, rebalance all VMs, watch one, and repair what list says."""

import json
import re

import pytest

from harness import carrefour, guests, sampling
from harness.carrefour import Daemon

pytestmark = [pytest.mark.heavy, pytest.mark.boot("n4")]

NODE = 2                                            # to be emptied
MIB = {"follows": 64, "named": 64, "plain": 64}     # of those who are there
DOM0_USES = 4                                       # pages of a VM


def lines(machine, arguments):
    """The objects that a command prints; it has said nothing else."""
    said = machine.run(f"xl numa-policy {arguments} -q --json", timeout=180)
    assert said.err == ""
    return {one["name"]: one for one in map(json.loads, said.out.splitlines())}


def row(machine, name="g"):
    return json.loads(machine.run(f"xl numa-policy list {name} --json").out)["domains"][0]


def four_vms(machine):
    """The dumps of the three with memory on the node; the fourth has none."""
    guests.create(machine, "follows", memory=64, policy="round-4k,nodes=1-2", vcpus=2, cpus="nodes:1-2")
    machine.run("xl numa-policy set follows --nodes affinity")
    guests.create(machine, "named", memory=64, policy="round-2m,nodes=2")
    guests.create(machine, "plain", memory=64, policy="round-2m,nodes=2-3")
    guests.create(machine, "elsewhere", memory=32, policy="round-4k,nodes=1")
    machine.run("xl numa-policy set plain none --nodes affinity")
    before = guests.dump_all(machine, MIB)
    assert before["follows"].follows and set(before["follows"].homes) == {1, 2}
    assert all(dump.usage_pages().get(NODE) for dump in before.values()), before
    return before


def is_empty(row):
    """But for what dom0 uses for as long as the VM is there: its pages for the console and xenstore."""
    return row["left_bytes"] == row["in_use_bytes"] <= DOM0_USES << 12


@pytest.mark.soak
@pytest.mark.boot("n4", "release")
def test_a_node_is_emptied_release(machine):
    check_emptied(machine)


def test_a_node_is_emptied(machine):
    check_emptied(machine)


def check_emptied(machine):
    """Of those whose home nodes nobody named, then of all; each stays what it is, and has all its memory."""
    before = four_vms(machine)
    assert set(lines(machine, f"evacuate {NODE} --dry-run")) == set(MIB) and guests.dump_all(machine, MIB) == before
    said = lines(machine, f"evacuate {NODE} --to 1,3")
    assert {name: one["was_bytes"] for name, one in said.items()} == {
        name: dump.usage_pages()[NODE] << 12 for name, dump in before.items()}
    assert is_empty(said["follows"]) and is_empty(said["plain"])
    assert "--force" in said["named"]["why"] and guests.dump(machine, "named", 64) == before["named"]
    strict = machine.run(f"xl numa-policy evacuate {NODE} --strict", check=False)
    assert strict.status == 1 and re.search(r"memory of [1-3] VMs? stays? on node 2, or its policy was", strict.err)

    assert is_empty(lines(machine, f"evacuate {NODE} --force")["named"])
    after = guests.dump_all(machine, MIB)
    for name, dump in after.items():
        assert dump.usage_pages().get(NODE, 0) <= DOM0_USES, name
        assert sum(dump.usage_pages().values()) == sum(before[name].usage_pages().values()), name
        assert set(dump.pages) == set(before[name].pages)
    assert {name: dump.policy for name, dump in after.items()} == {"follows": "round-4k", "named": "round-2m", "plain": "none"}
    assert set(after["follows"].homes) == {1, 3} and not after["follows"].follows and after["plain"].follows
    # no policy has a place for it: what was elsewhere is where it was, and what has moved is as large as it was
    for gfn, (node, order) in before["plain"].pages.items():
        assert after["plain"].pages[gfn][0] in ((1, 3, NODE) if node == NODE else (node,)), gfn
        assert after["plain"].pages[gfn][1] == order, gfn
    assert all(is_empty(one) for one in lines(machine, f"evacuate {NODE}").values())

    # with the node in use again, all go where they want to be
    machine.run("xl numa-policy set follows --nodes affinity && xl numa-policy set named --nodes 2")
    moved = lines(machine, "rebalance --all")
    assert set(moved) == {"follows", "named", "elsewhere"}
    assert all(one["in_use_bytes"] <= DOM0_USES << 12 for one in moved.values()), moved
    assert moved["named"]["moved_bytes"] + moved["named"]["there_bytes"] + moved["named"]["in_use_bytes"] == \
        sum(before["named"].usage_pages().values()) << 12
    again = guests.dump_all(machine, MIB)
    for name in ("follows", "named"):
        assert abs(again[name].usage_pages()[NODE] - before[name].usage_pages()[NODE]) <= DOM0_USES
    assert again["plain"] == after["plain"]


def seen_by_watch(machine, least):
    """As soon as it has seen so much: an emulator is slow, and the budget of sampling small."""
    for _ in range(10):
        seen = json.loads(machine.run("xl numa-policy watch g 6 --json", timeout=120).out)
        assert sampling.get(machine).state == "off"
        if seen["domains"][0]["samples"] >= least:
            return seen
    raise AssertionError(seen)


def test_watch_says_what_is_wrong_and_its_advice_repairs_it(machine):
    """vCPUs on nodes 1 to 3, and all memory on node 0."""
    sampling.start_guest(machine, policy="round-4k,nodes=0")
    low = row(machine)
    assert (low["numa_percent"], low["numa_from"], low["nodes_in_use"], low["nodes_needed"]) == (0, "estimate", 4, 3)
    # enough for each vCPU to be among them
    seen = seen_by_watch(machine, 30)
    one, = seen["domains"]
    assert one["local_percent"] == 0 and one["complete"] is True
    assert sum(pair["samples"] for pair in seen["accesses"]) == one["samples"]
    assert {(pair["from_node"], pair["to_node"]) for pair in seen["accesses"]} == {(node, 0) for node in (1, 2, 3)}
    assert one["advice"] == low["advice"] == "xl numa-policy set g --nodes 1-3 --rebalance"
    machine.run(one["advice"], timeout=120)
    repaired = row(machine)
    assert repaired["numa_percent"] > 99 and repaired["advice"] is None
    assert {pair["to_node"] for pair in seen_by_watch(machine, 1)["accesses"]} <= {1, 2, 3}


def watching(machine, seconds):
    """In the background; its number."""
    number = int(machine.run(f"xl numa-policy watch g {seconds} >/tmp/watched 2>&1 & echo $!").out)
    machine.until("numa-sample $(xl domid g) get | grep -q 'state running'", 60)
    return number


def test_nothing_is_left_of_watch(machine):
    """After a signal, when it is killed, and when the VM goes away; and nobody begins twice."""
    sampling.start_guest(machine, policy="round-4k,nodes=0-3")
    number = watching(machine, 600)
    other = machine.run("xl numa-policy watch g 1", check=False)
    assert (other.status, other.err) == (1, "xl numa-policy: somebody else samples VM 'g'; wait until that is over\n")
    assert sampling.get(machine).state == "running"
    machine.run(f"kill -TERM {number}")
    machine.until(f"! kill -0 {number}")
    assert "stopped by SIGTERM" in machine.run("cat /tmp/watched").out and sampling.get(machine).state == "off"

    number = watching(machine, 600)
    machine.run(f"kill -KILL {number}")
    sampling.wait_ended(machine, "unread")
    watching(machine, 3)
    machine.until("grep 'accesses sampled in' /tmp/watched", 120)
    assert sampling.get(machine).state == "off"

    number = watching(machine, 600)
    guests.destroy(machine, "g")
    machine.until(f"! kill -0 {number}")
    assert re.fullmatch(r"xl numa-policy: VM 'g' is (gone; 'xl list' shows what runs|being destroyed)\n",
                        machine.run("cat /tmp/watched").out)
    machine.until("! xl list | grep -q '(null)'", 60)


def test_watch_leaves_the_daemon_alone(machine):
    carrefour.start_guest(machine)
    machine.run("xl numa-policy set g +auto=advise")
    daemon = Daemon(machine)
    daemon.wait("it samples", "xl numa-policy top --json | grep -E '\"samples\": *[1-9]'", 90)
    said = json.loads(machine.run("xl numa-policy watch g 5 --json").out)
    assert said["domains"][0]["sampled_by"] == "carrefourd" and said["accesses"] == []
    assert sampling.get(machine).state == "running"
    assert re.search(r"^carrefourd samples this VM", machine.run("xl numa-policy watch g").out, re.M)
    daemon.stop()

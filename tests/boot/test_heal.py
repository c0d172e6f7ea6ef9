# SPDX-License-Identifier: GPL-2.0-only
"""heal = advise on a real Xen: a VM that is spread over two nodes and fits on one.  carrefourd says once what to type, and does nothing."""

import json
import re

import pytest

from harness import carrefour, guests
from harness.carrefour import Daemon

# It asks each minute, and waits until a move is worth it.
pytestmark = [pytest.mark.soak, pytest.mark.heavy, pytest.mark.boot("n2")]

SPIN = "i=0; while :; do i=$((i+1)); done"
MIB = 96
DOM0_USES = 4       # pages of a VM, for as long as it is there


def asked(machine):
    said = json.loads(machine.run("carrefour-ask heal").out)
    return said, {domain["name"]: domain for domain in said["domains"]}


def where(machine, name="g"):
    return [node for node, _ in guests.dump(machine, name, MIB).pages.values()]


@pytest.mark.parametrize("policy", ["none"])
def test_a_guest_that_is_spread(machine, policy):
    # A soft affinity of its own keeps xl from placing it: its memory is on both nodes.
    guests.create(machine, "g", paused=False, linux=True, command=SPIN, memory=MIB, cpus_soft="0-3", policy="round-4k")
    machine.run(f"xl numa-policy set g {policy}")
    guests.create(machine, "named", memory=32, policy="round-2m,nodes=0-1")
    before = where(machine)
    assert 0.4 < before.count(0) / len(before) < 0.6
    daemon = Daemon(machine, heal="advise")
    daemon.wait("advice", f"grep 'heal advises: xl vcpu-pin g ' {carrefour.LOG}", seconds=400)
    said, domains = asked(machine)
    assert said["heal"] == "advise" and said["seconds_ago"] < 120
    # dom0 of this machine is pinned
    assert domains["Domain-0"]["result"] == domains["named"]["result"] == "named"
    g = domains["g"]
    assert g["result"] == "acted" and g["action"]["why"] == "gather" and len(g["action"]["nodes"]) == 1, g
    assert 0.5 < g["load_cpus"] < 1.2, g
    elsewhere = sum(node not in g["action"]["nodes"] for node in before)
    assert abs(g["action"]["bytes"] / 4096 - elsewhere) < 0.05 * len(before), g
    assert where(machine) == before, "it only advises"
    daemon.wait("another look", "now=$(carrefour-ask heal | sed -n 's/.*\"seconds_ago\": \\([0-9]*\\).*/\\1/p')\n"
                                "was=${last:-0}; last=$now; [ $now -lt $was ]", seconds=200)
    assert daemon.log().count("heal advises: ") == 1, daemon.log()

    # an administrator pastes it
    line = next(line for line in daemon.log().splitlines() if "heal advises: " in line)
    machine.run(line.partition("heal advises: ")[2], timeout=120)
    home, = g["action"]["nodes"]
    assert sum(node != home for node in where(machine)) <= DOM0_USES
    daemon.wait("all is well", "carrefour-ask heal | grep -q '\"name\": \"g\", .*\"result\": \"good\"'", seconds=200)
    assert daemon.log().count("heal advises: ") == 1
    daemon.stop()


def soft_affinity(machine, name):
    """Of its only vCPU, as xl prints it."""
    return machine.run(f"xl vcpu-list {name} | tail -1").out.rpartition("/")[2].strip()


@pytest.mark.parametrize("policy", ["none", "round-4k"])
def test_it_is_healed(machine, policy):
    """heal = on: vCPUs and memory come together, by themselves; the policy is as it was, and one with auto=off is left alone."""
    guests.create(machine, "g", paused=False, linux=True, command=SPIN, memory=MIB, cpus_soft="0-3", policy="round-4k")
    machine.run(f"xl numa-policy set g {policy}")
    guests.create(machine, "left", memory=32, cpus_soft="0-3", policy="round-4k,auto=off")
    left = where(machine, "left")
    daemon = Daemon(machine, heal="on")
    daemon.wait("healed", f"grep 'heal has ended with g: ' {carrefour.LOG}", seconds=400)
    said, domains = asked(machine)
    assert domains["left"]["result"] == "off" and where(machine, "left") == left
    assert said["heal"] == "on" and said["tasks"] == [] and said["ledger"]["actions"] == 1, said
    entry, = said["ledger"]["entries"]
    home, = entry["nodes"]
    assert (entry["why"], entry["id"]) == ("gather", domains["g"]["id"])
    assert sum(node != home for node in where(machine)) <= DOM0_USES
    assert soft_affinity(machine, "g") == ("0-1" if home == 0 else "2-3")
    assert machine.run("xl numa-policy show g").out.count(policy), "its policy is its own"
    explained = machine.run("xl numa-policy explain").out
    assert re.search(rf" g +{entry['id']} +gather +\S+ +{home} ", explained), explained
    explained = machine.run("xl numa-policy explain left").out
    assert "\nheal        leaves it: it has auto=off" in explained, explained
    daemon.wait("all is well", "carrefour-ask heal | grep -q '\"name\": \"g\", .*\"result\": \"good\"'", seconds=200)
    assert daemon.log().count("heal begins: ") == 1, daemon.log()
    daemon.stop()

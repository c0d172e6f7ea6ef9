# SPDX-License-Identifier: GPL-2.0-only
"""Machines as they are: each is what it was declared to be, and each page of a guest is where the policy says.

The machines come from public reports: memory on two of eight nodes (cpuminer-gr-avx2 #22), Threadrippers (numactl #165, harvester
#8182), CXL (stevescargall.com, 2022-12), Xeon Max (hwloc #541), CPUs numbered across (OpenNebula #3256, an HPX report, ursula #1024),
and the memory maps of xen-devel's test machines.
"""

import json
import re

import pytest

from harness import checks, guests
from harness.topologies import MACHINES

# in make test: a kind each
SOON = {"2990wx", "cxl", "odd-even", "hole", "phantom"}
MEMORY = 96     # MiB, of a guest
MOST_NODES = 64


def on(*names):
    return [pytest.param(MACHINES[name], id=name, marks=[pytest.mark.boot(name), *([] if name in SOON else [pytest.mark.soak])])
            for name in names]


def with_memory(machine):
    return [node for node, mib in enumerate(machine.mib) if mib]


def homes_of(machine, nodes):
    """Of a guest whose vCPUs run on these nodes: those with memory, else for each of them the nearest one that has some, or the next one
    round of those that are equally near.
    """
    have = with_memory(machine)
    homes = {node for node in nodes if node in have} or {
        min(have, key=lambda other: (machine.distances[node][other], (other - node) % MOST_NODES)) for node in nodes}
    return sorted(homes)


def check_shown(machine, shown):
    """xl info -n, whose table of CPUs is empty here: Xen knows no cores of processors that have one.  cpus= tests where they are."""
    rows = re.findall(r"^ *(\d+): +(\d+) +(\d+) +([\d,]+)$", shown[shown.index("numa_info"):], re.MULTILINE)
    assert [int(node) for node, *_ in rows] == list(range(machine.nodes))
    for (_, size, free, distances), mib, row in zip(rows, machine.mib, machine.distances):
        # Xen itself and the firmware have some
        assert mib - 160 <= int(size) <= mib and int(free) <= int(size), (size, free, mib)
        assert tuple(map(int, distances.split(","))) == row


@pytest.mark.parametrize("declared", on(*MACHINES))
def test_every_page(machine, declared):
    """By name, over all nodes with memory; and where the vCPUs are to run, for each node that has CPUs."""
    check_shown(declared, machine.run("xl info -n").out)
    host = json.loads(machine.run("xl numa-policy list --json").out)["host"]
    assert [bool(node["total_bytes"]) for node in host] == [bool(mib) for mib in declared.mib]
    everywhere = with_memory(declared)
    cases = {"by-4k": ("round-4k", everywhere, None), "by-2m": ("round-2m", everywhere, None)}
    running = [node for node in range(declared.nodes) if declared.cpus[node]]
    for node in running:
        cases[f"on-{node}"] = ("round-4k", homes_of(declared, [node]), ",".join(map(str, declared.cpus_of(node))))
    cases["soft"] = ("round-4k", homes_of(declared, running), "all")
    own = {name: {"cpus_soft" if cpus == "all" else "cpus": cpus, "numa_policy": policy} if cpus else
           {"numa_policy": checks.spec(policy, homes)} for name, (policy, homes, cpus) in cases.items()}
    guests.create_all(machine, own, memory=MEMORY)
    dumps = guests.dump_all(machine, dict.fromkeys(cases, MEMORY))
    wrong = {}
    for name, (policy, homes, cpus) in cases.items():
        try:
            checks.check_books(dumps[name], MEMORY)
            checks.check_policy(dumps[name], policy, homes)
            assert dumps[name].follows == bool(cpus)
            checks.check_every_page(dumps[name], policy, homes)
        except AssertionError as error:
            wrong[name] = f"{error} {dumps[name].homes}, wanted {homes}"
    assert not wrong, "\n".join(f"{name}: {error}" for name, error in wrong.items())


@pytest.mark.boot("phantom")
def test_addresses_without_memory_are_no_home(machine):
    """A node's range of addresses is none of memory: by name it is refused, when a guest is created and when it runs."""
    refused = guests.create(machine, "g", check=False, policy="round-2m,nodes=0-2")
    assert refused.status != 0 and "Home node 2 has no memory on this host" in refused.err, refused.err
    assert guests.domains(machine) == []
    guests.create(machine, "g", memory=MEMORY, policy="round-2m,nodes=0-1")
    refused = machine.run("xl numa-policy set g round-4k --nodes 2 --rebalance", check=False)
    assert (refused.status, refused.out) == (1, "") and "node 2 has no memory" in refused.err, refused
    checks.check_policy(guests.dump(machine, "g"), "round-2m", [0, 1])

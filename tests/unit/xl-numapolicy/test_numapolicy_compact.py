# SPDX-License-Identifier: GPL-2.0-only
"""compact: what is asked of libxl, of which VMs, and what is said of what stays by 4 KiB."""

import json
import signal

import pytest

from fake_machine import ERROR_DEVICE_EXISTS, MIB, RESULTS, Domain, example

PAGES = MIB // 4096  # of a MiB
COMPACT, DRY_RUN = 2, 1


def machine_with(*memory, **fields):
    machine = example()
    machine.memory = list(memory)
    for name, value in fields.items():
        setattr(machine, name, value)
    return machine


def steps(xl):
    """Of each step: the VM and flags."""
    return [(int(line.split()[1]), int(line.split()[4])) for line in xl.trace() if line.startswith("rebalance ")]


def test_result(xl):
    machine = machine_with(("there", 64 * PAGES), ("moved", 180 * PAGES), ("in_use", 8 * PAGES), ("unmovable", 3),
                           ("no_room", 2 * PAGES), ("late", 2 * PAGES), ("claimed", 2 * PAGES - 3))
    machine.domains[1].claim = 1024
    assert xl.good("compact", "guest2", "-q", machine=machine) == """\
guest2 (id 4): 180M put together by 2 MiB in 0.2 s, 64M was to stay as it is
         8M stays, in use by another domain or by Xen: repeat the command later; \
what the VM's device model keeps mapped stays until the VM is restarted
        12K stays by 4 KiB, as the 2 MiB around it are not all there, or not all plain memory
         2M stays by 4 KiB, as its node has no free 2 MiB in one piece (free: 1M on node 2, 768M on node 3): \
move other VMs off that node, or end some, and repeat the command
         2M stays, as the guest would have waited for too long: set a larger --max-pause-us
       1.9M stays, as VMs that are being made have claimed the free memory ('guest1' 1M): repeat the command when they run
"""
    assert set(steps(xl)) == {(4, COMPACT)}


def test_dry_run(xl):
    machine = machine_with(("moved", 4 * PAGES), ("there", 2 * PAGES))
    assert xl.good("compact", "4", "--dry-run", machine=machine) == \
        "guest2 (id 4): 4M would be put together by 2 MiB, 2M is to stay as it is\n"
    assert set(steps(xl)) == {(4, COMPACT | DRY_RUN)}


@pytest.mark.parametrize("policy", ["none", "round-2m", "round-1g", "first-touch"])
def test_policies(xl, policy):
    machine = machine_with(("moved", PAGES))
    machine.domains[2].policy = policy
    assert "1M put together" in xl.good("compact", "guest2", machine=machine)


def test_what_the_policy_would_divide_again(xl):
    """With one home node there is nothing that round-4k divides. It may become the policy meanwhile."""
    refused = ("VM 'guest1' has policy round-4k, which places its memory by 4 KiB; "
               "'xl numa-policy set guest1 round-2m --rebalance' puts 2 MiB together, and keeps them")
    machine = machine_with(("moved", 100 * PAGES))
    assert xl.bad("compact", "guest1", machine=machine) == refused and not steps(xl)
    machine.domains[1].policy, machine.becomes = "none", ("round-4k", 2)
    assert xl.bad("compact", "guest1", "-q", machine=machine) == refused
    machine.becomes, machine.domains[1].policy, machine.domains[1].weights = None, "round-4k", {2: 1}
    assert "100M put together" in xl.good("compact", "guest1", machine=machine)


@pytest.mark.parametrize("why", RESULTS[2:])
def test_strict(xl, why):
    """What can never be part of 2 MiB is no failure."""
    done = xl.run("compact", "guest2", "-q", "--strict", machine=machine_with(("moved", 512), (why, 512)))
    assert done.returncode == (why != "unmovable")


def test_stop(xl):
    done = xl.run("compact", "guest2", machine=machine_with(("moved", 512 * PAGES), signal=(signal.SIGINT, 2)))
    assert done.returncode == 130 and done.stderr.endswith("; 'xl numa-policy compact guest2' goes on\n")


def test_json(xl):
    machine = machine_with(("moved", 2 * PAGES), ("unmovable", 3))
    result = json.loads(xl.good("compact", "guest2", "--json", "-q", machine=machine))
    assert (result["event"], result["moved_bytes"], result["unmovable_bytes"]) == ("result", 2 * MIB, 3 * 4096)


def of_a_node():
    machine = machine_with(("moved", 2 * PAGES))
    machine.domains += [Domain(domid, name, policy=policy, dying=name == "dies", usage={node: (small, 5, 0)})
                        for domid, (name, policy, node, small) in enumerate((
                            ("few", "none", 1, 511), ("many", "none", 1, 512), ("else", "none", 2, 5000),
                            ("told", "vnuma", 1, 5000), ("dies", "none", 1, 5000), ("last", "none", 1, 600)), 5)]
    return machine


def test_all_of_a_node(xl):
    """Those that have 2 MiB of small pages there; those that Xen would refuse are named, and left out."""
    done = xl.run("compact", "node:1", "-q", machine=of_a_node())
    assert done.returncode == 0 and {domid for domid, _ in steps(xl)} == {6, 10}
    assert done.stdout == ("many (id 6): 2M put together by 2 MiB in 0.0 s, 0 was to stay as it is\n"
                           "last (id 10): 2M put together by 2 MiB in 0.0 s, 0 was to stay as it is\n")
    assert done.stderr == ("xl numa-policy: VM 'guest1' is left out: its policy round-4k places memory by 4 KiB\n"
                           "xl numa-policy: VM 'told' is left out: it has virtual NUMA nodes, which place its memory\n")
    done = xl.run("compact", "node:1", "-q", machine=of_a_node().fail("movable", ERROR_DEVICE_EXISTS))
    assert done.returncode == 0 and "VM 'many' is left out: Xen does not move its memory" in done.stderr and not steps(xl)
    assert done.stdout == "no VM has memory on node 1 that could be put together by 2 MiB\n"
    assert xl.good("compact", "node:3", "--json", "-q", machine=of_a_node()) == ""


@pytest.mark.parametrize("node", ["4", "", "x", "-1", "1x", "99999999999999999999", "+1", " 1"])
def test_no_such_node(xl, node):
    assert xl.bad("compact", f"node:{node}") == f"no node '{node}'; 'xl numa-policy' shows the nodes"

# SPDX-License-Identifier: GPL-2.0-only
"""Domains whose memory is not moved, because somebody else relies on where it is: each refusal, by the command and by Xen.

They cannot have first-touch, nor can their accesses be sampled.
"""

import errno
import re

import pytest

from harness import guests, sampling


def ept(hypervisor):
    """As in test_ept.py."""
    def marked(test):
        return pytest.mark.boot("ept", hypervisor)(pytest.mark.modest(pytest.mark.timeout(2400)(test)))

    return marked


def has_moved(shown):
    return bool(re.search(r"^ *moved +[1-9]", shown, re.M))


def not_moved(machine, domain, error, word, moved=False):
    """Neither the command, which says why, nor a toolstack of its own can move the domain's memory."""
    machine.run(f"xl numa-policy set {domain} round-4k --nodes 1")
    for command in ("rebalance {}", "rebalance {} --dry-run", "set {} round-2m --rebalance"):
        refused = machine.run(f"xl numa-policy {command.format(domain)}", check=False)
        assert refused.status == 1 and word in refused.err and len(refused.err.splitlines()) == 1, (command, refused)
    assert int(machine.run(f"numa-unmovable {domain} move").out) == error
    refused = machine.run(f"xl numa-policy set {domain} first-touch", check=False)
    assert refused.status == 1 and word in refused.err and len(refused.err.splitlines()) == 1, refused
    refused = machine.run(f"numa-sample {domain} start 64 100 100 3", check=False)
    assert refused.status == 1 and {errno.EXDEV: "EXDEV", errno.EOPNOTSUPP: "EOPNOTSUPP"}[error] in refused.err
    shown = machine.run(f"xl numa-policy show {domain}").out
    assert "round-4k" in shown and has_moved(shown) == moved


def number(machine, policy="round-4k,nodes=0", **options):
    guests.create(machine, "g", memory=32, policy=policy, **options)
    return guests.domid(machine, "g")


def movable(machine, domain):
    """The same without the reason for the refusal."""
    machine.run(f"xl numa-policy set {domain} round-4k --nodes 1")
    machine.run(f"xl numa-policy rebalance {domain}")
    assert int(machine.run(f"numa-unmovable {domain} move").out) == 0
    assert has_moved(machine.run(f"xl numa-policy show {domain}").out)
    machine.run(f"numa-sample {domain} start 64 100 100 65 && numa-sample {domain} stop")


@pytest.mark.boot("n2-iommu", "optional")
def test_devices_may_be_assigned(machine):
    domain = int(machine.run("numa-unmovable iommu").out)
    not_moved(machine, domain, errno.EXDEV, "passthrough")


@pytest.mark.boot("n2-iommu", "optional", "numa-policy=first-touch")
def test_what_nobody_asked_for_gives_way(machine):
    """A domain that cannot have the default policy gets round-4k, and devices may be assigned to it; others get first-touch."""
    domain = int(machine.run("numa-unmovable iommu").out)
    assert "policy      round-4k" in machine.run(f"xl numa-policy show {domain}").out
    assert "policy      first-touch" in machine.run(f"xl numa-policy show {number(machine, policy=None)}").out


@pytest.mark.soak
@pytest.mark.boot("n2-iommu", "optional")
def test_no_device_may_be_assigned(machine):
    """That a machine has an IOMMU is no reason."""
    movable(machine, number(machine))


@pytest.mark.boot("n2-iommu", "optional")
def test_shadow_paging(machine):
    not_moved(machine, number(machine, hap=0), errno.EOPNOTSUPP, "shadow paging")


@pytest.mark.boot("n2-iommu", "optional")
def test_vnuma(machine):
    """Who was told where the memory is keeps it there, and has no policy."""
    domain = number(machine)
    movable(machine, domain)
    machine.run(f"numa-unmovable {domain} vnuma")
    for command in ("set {} round-2m", "set {} first-touch", "set {} round-2m --rebalance", "rebalance {}", "rebalance {} --dry-run"):
        refused = machine.run(f"xl numa-policy {command.format(domain)}", check=False)
        assert refused.status == 1 and "vNUMA" in refused.err and len(refused.err.splitlines()) == 1, (command, refused)
    assert int(machine.run(f"numa-unmovable {domain} move").out) == errno.EEXIST
    refused = machine.run(f"numa-sample {domain} start 64 100 100 3", check=False)
    assert refused.status == 1 and "EEXIST" in refused.err
    assert "policy      vnuma" in machine.run(f"xl numa-policy show {domain}").out
    machine.run(f"xl numa-policy set {domain} none")


@pytest.mark.soak
@ept("optional")
def test_nested_guests(machine):
    not_moved(machine, number(machine, nestedhvm=1), errno.EOPNOTSUPP, "nested guests")
    refused = guests.create(machine, "sampled", check=False, policy="round-2m,carrefour", nestedhvm=1)
    assert refused.status != 0 and "(nestedhvm=)" in refused.err


def check_switched_on(machine, what, **options):
    domain = number(machine, **options)
    movable(machine, domain)
    # of 16 periods that would have to pass until it ends as nobody reads
    sampling.start(machine, period=2000)
    assert sampling.get(machine).state == "running"
    machine.run(f"numa-unmovable {domain} {what}")
    sampling.wait_ended(machine, "unfit")
    not_moved(machine, domain, errno.EOPNOTSUPP, what, moved=True)


@pytest.mark.soak
@ept("debug")
def test_altp2m_is_switched_on(machine):
    """A default build has it.  Its twin in make test is tests/bare/programs/altp2m.c."""
    check_switched_on(machine, "altp2m", altp2m="external")


@pytest.mark.soak
@ept("optional")
@pytest.mark.parametrize("what", ["sharing", "paging"])
def test_switched_on_while_it_runs(machine, what):
    check_switched_on(machine, what)

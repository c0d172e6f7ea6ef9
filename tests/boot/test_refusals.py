# SPDX-License-Identifier: GPL-2.0-only
"""What cannot be is refused before anything is built, with one line that says why."""

import json

import pytest

from harness import guests, memory

pytestmark = pytest.mark.boot("n8")


def complaint(result, *words):
    """The one line of a refusal that is about the policy."""
    assert result.status != 0
    lines = [line for line in result.err.splitlines() if "polic" in line.lower() or "numa" in line.lower()]
    assert len(lines) == 1, result.err
    for word in words:
        assert word in lines[0], lines[0]
    return lines[0]


@pytest.mark.parametrize(("spec", "word"), [
    ("round-3k", "round-3k"),
    ("ROUND-4K", "ROUND-4K"),
    ("", ""),
    ("round-4k,", ""),
    ("round-4k,homes=1", "homes"),
    ("round-4k,nodes=", "nodes"),
    ("round-4k,nodes=x", "x"),
    ("round-4k,nodes=1-", "1-"),
    ("round-4k,nodes=0-3,weights=1:2", "weights"),
    ("round-4k,nodes=0-1,weights=0:1", "0"),
    ("round-4k,nodes=0-1,weights=1:256", "256"),
    ("round-4k,nodes=0-1,weights=-1:1", "-1"),
    ("round-4k,nodes=0-1,weights=1:", "weights"),
], ids=lambda value: value or "empty")
def test_setting_that_means_nothing(machine, spec, word):
    refused = guests.create(machine, "g", check=False, policy=spec)
    complaint(refused, word)
    assert guests.domains(machine) == []


@pytest.mark.parametrize("spec", ["round-4k,nodes=8", "round-2m,nodes=0-63", "round-4k,nodes=1,4095"])
def test_node_that_is_not_there(machine, spec):
    refused = guests.create(machine, "g", check=False, policy=spec)
    assert refused.status != 0
    assert "node" in refused.err
    assert guests.domains(machine) == []


def test_pv_guest_with_a_policy(machine):
    refused = guests.create(machine, "g", check=False, policy="round-4k", type="pv", kernel="/boot/bzImage", memory=128)
    complaint(refused, "PV")
    assert guests.domains(machine) == []


@pytest.mark.parametrize("spec", ["round-2m", "auto", "default,nodes=0-1"])
def test_guest_with_vnuma_and_a_policy(machine, spec):
    vnodes = [[f"pnode={node}", "size=32", f"vcpus={node}", f"vdistances={distances}"] for node, distances in enumerate(("10,20", "20,10"))]
    refused = guests.create(machine, "g", check=False, policy=spec, vcpus=2, vnuma=vnodes)
    complaint(refused, "vnuma=", "numa_policy=")
    assert guests.domains(machine) == []


@pytest.mark.parametrize("spec", ["round-2m,carrefour", "auto"])
def test_accesses_that_cannot_be_sampled(machine, spec):
    refused = guests.create(machine, "g", check=False, policy=spec, altp2m="external")
    assert refused.status != 0 and "(altp2m=)" in refused.err
    assert guests.domains(machine) == []


def test_pv_guest_without_one(machine):
    guests.create(machine, "g", type="pv", kernel="/boot/bzImage", ramdisk="/boot/guest.cpio.gz", memory=128)
    domains = json.loads(machine.run("xl numa-policy list --json").out)["domains"]
    guest, = [domain for domain in domains if domain["name"] == "g"]
    assert guest["type"] == "PV"
    assert guest["policy"] is None


def test_nothing_is_lost_by_refusals(machine):
    def attempts():
        for spec in ("round-3k", "round-4k,nodes=8", "round-4k,nodes=1,weights=1:2"):
            assert guests.create(machine, "g", check=False, policy=spec).status != 0

    memory.leaves_nothing(machine, attempts)

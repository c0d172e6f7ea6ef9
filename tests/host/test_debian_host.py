# SPDX-License-Identifier: GPL-2.0-only
"""Debian 13 with our packages, as a host: what an administrator does after the reboot, and that it holds."""

import json
import subprocess

import pytest

from debian_host import PATIENT
from guest_console import GuestConsole
from harness import guests
from harness.machine import ROOT

# not in make test as long as that does not build the packages of Xen
pytestmark = [pytest.mark.heavy, pytest.mark.soak]

# xendomains starts it with the host, unless it has saved it when the host went down
CONFIG = "/etc/xen/auto/guest.cfg"
GUEST = guests.settings(
    name="guest", type="pvh", memory=512, vcpus=2, tsc_mode="native", kernel="/srv/guest/vmlinuz", ramdisk="/srv/guest/initrd.img",
    extra=f"root=/dev/xvda rw console=hvc0 {PATIENT}", disk=["/srv/guest/disk,raw,xvda,rw"], numa_policy="round-4k,nodes=0-1",
    on_crash="preserve", on_reboot="restart")
SAMPLED = """xl numa-policy show guest --json | grep -Eq '"samples": *[1-9]'"""


def check_up(host):
    """systemd, Xen's daemons and carrefourd; and the how-to is right."""
    said = host.patient("timeout $patience systemctl is-system-running --wait", 240, check=False).out
    failed = host.run("systemctl --failed --plain --no-legend").out
    assert (said.strip(), failed) == ("running", "")
    assert host.run("systemctl is-active xen carrefourd serial-getty@hvc0").out.split() == ["active"] * 3
    assert "+numa" in host.run("xl dmesg | grep 'Xen version'").out
    typed = subprocess.run([ROOT / "tests/packaging/typed", ROOT / "docs/howto.md", "after"], capture_output=True, text=True, check=True)
    rows, state, top = [host.run(line).out for line in typed.stdout.splitlines()]
    assert "Domain-0" in rows and "active (running)" in state and "period" in top.splitlines()[0]


def shown(host):
    """What is said of the guest: itself, and the percentage of its memory that each node has."""
    said = json.loads(host.run("xl numa-policy show guest --json").out)
    domain, = said["domains"]
    return domain, [node["share_percent"] for node in said["nodes"]]


def check_no_complaints(host):
    assert host.run("journalctl -b -u carrefourd -p warning --no-pager -q -o cat").out == ""
    assert b"host login:" in host.console.read_bytes()


def check_goes_on(host, policy):
    """The guest has the policy, and carrefourd samples it."""
    assert host.run("xl numa-policy show guest --policy").out == policy
    host.until(SAMPLED, 120)


def test_a_policy_is_kept(booted):
    """That of a guest with Debian 13: set while it runs, when it reboots, when it is saved, and when the host goes down and comes up."""
    with booted() as host:
        check_up(host)
        host.run("mkdir -p /etc/xen/auto")
        guests.put(host, CONFIG, GUEST)
        host.run(f"xl create {CONFIG}", timeout=300)
        console = GuestConsole("guest")
        console.log_in(host, 240)
        domain, shares = shown(host)
        assert domain["policy"] == "round-4k" and 45 < shares[1] < 55
        host.run("xl numa-policy set guest round-2m --nodes 0-1 --weights 1:3 --rebalance", timeout=300)
        assert 70 < shown(host)[1][1] < 80
        host.run("xl numa-policy set guest +carrefour")
        host.until(SAMPLED, 120)
        console.check_alive(host)
        policy = host.run("xl numa-policy show guest --policy").out
        domid = guests.domid(host, "guest")

        host.run("xl reboot guest")
        host.until(f"now=$(xl domid guest) && [ $now != {domid} ]", 240)
        console.log_in(host, 240)
        check_goes_on(host, policy)

        host.run("xl save guest /var/tmp/guest && xl restore /var/tmp/guest && rm /var/tmp/guest", timeout=600)
        console.check_alive(host)
        check_goes_on(host, policy)
        check_no_complaints(host)
    with booted() as host:
        check_up(host)
        console.check_alive(host)
        check_goes_on(host, policy)
        assert {"policy": "round-2m", "weights": [1, 3], "carrefour": True}.items() <= shown(host)[0].items()
        host.run("xl destroy guest")
        check_no_complaints(host)

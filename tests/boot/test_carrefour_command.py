# SPDX-License-Identifier: GPL-2.0-only
"""Carrefour as people use it: xl.cfg, and `xl numa-policy` with its switches, top, explain, record and replay."""

import json
import re

import pytest

from harness import carrefour, guests, sampling
from harness.carrefour import Daemon
from harness.memory import leaves_nothing

pytestmark = [pytest.mark.heavy, pytest.mark.boot("n4")]

SPEC = "first-touch,nodes=1-3"


def policy(machine, arguments):
    return machine.run(f"COLUMNS=120 xl numa-policy {arguments}", timeout=120).out


def row(machine, name="g"):
    """What top says of a domain."""
    domains = json.loads(policy(machine, "top --json"))["domains"]
    return next(domain for domain in domains if domain["name"] == name)


def moved(daemon):
    return daemon.show()["totals"]["moved_bytes"]


def refusal(machine, arguments):
    """The one line that xl numa-policy says itself; libxl may have said more before it."""
    refused = machine.run(f"xl numa-policy {arguments}", check=False)
    assert refused.status == 1 and refused.out == "", refused
    lines = [line for line in refused.err.splitlines() if not line.startswith("libxl: ")]
    assert len(lines) == 1 and lines[0].startswith("xl numa-policy"), refused.err
    return refused.err


def switches(machine, name="g"):
    """Carrefour and auto, as libxl tells them to carrefourd; None: not a word."""
    def key(which):
        read = machine.run(f"xenstore-read /libxl/$(xl domid {name})/numa-policy/{which}", check=False)
        return read.out.strip() if read.status == 0 else None

    return key("carrefour"), key("auto")


@pytest.mark.soak
def test_a_guest_is_repaired_and_says_why(machine):
    parts = carrefour.start_guest(machine)
    assert "carrefourd does not run: placement is static" in policy(machine, "top")
    said = policy(machine, "set g +carrefour")
    assert re.match(r"g \(id \d+\): carrefour on\nbut carrefourd does not run: Carrefour and auto do nothing", said)
    assert "carrefourd does not run" in refusal(machine, "explain g")
    assert row(machine)["carrefour"] is False
    daemon = Daemon(machine)
    recording = int(machine.run("xl numa-policy record g /tmp/g.trace --seconds 20 >/tmp/recorded 2>&1 & echo $!").out)
    daemon.wait_home(0.9, seconds=120)
    daemon.wait("top says so", """xl numa-policy top --json | grep -E '"local_percent": *(9[0-9]|100)'""")
    least, of_top, most = moved(daemon), row(machine), moved(daemon)
    assert of_top["carrefour"] is True and of_top["auto"] == "off" and of_top["policy"] == "first-touch"
    assert 0 < least <= of_top["total_moved_bytes"] <= most and of_top["total_samples_dropped"] == 0
    assert re.search(r"carrefourd: period \d+ of 1.0 s, 1 VM watched", policy(machine, "top"))
    lines = policy(machine, "show g")
    assert re.search(r"^ +carrefour +on, auto off$", lines, re.M)
    assert re.search(r"^ +accesses +\d+ samples in the last period, \S+% of them local, imbalance \S+%$", lines, re.M)
    assert re.search(r"^ +migrated +\d+ pages in the last period, [\d.]+[KMG] in all$", lines, re.M)
    explained = policy(machine, "explain g")
    assert re.search(r"migrate +gfn 0x\w+ .*from node 1 to [23]: .*moved", explained)
    decisions = json.loads(policy(machine, "explain g --json"))["decisions"]
    assert 0 < len(decisions) <= 64
    # recorded from somewhere in the middle: the same decisions come from a whole one only, see test_carrefour.py
    machine.until(f"! kill -0 {recording}")
    assert re.fullmatch(r"/tmp/g.trace: [1-9]\d* periods, [1-9]\d* samples", machine.run("cat /tmp/recorded").out.strip())
    assert "migrate" in policy(machine, "replay /tmp/g.trace")
    assert "File exists" in refusal(machine, "record g /tmp/g.trace --seconds 1")
    # off is off
    assert re.fullmatch(r"g \(id \d+\): carrefour off\n", policy(machine, "set g -carrefour"))
    daemon.wait_says("it is off", "absent")
    assert row(machine)["carrefour"] is False and sampling.get(machine).state == "off"
    carrefour.check_words(machine)
    daemon.stop()


@pytest.mark.soak
def test_kept_with_the_guest(machine):
    """In xl.cfg, through save and restore, migration and reboot; and what was switched later, too."""
    def lives():
        guests.create(machine, "g", paused=False, linux=True, memory=96, policy=f"{SPEC},carrefour,auto=advise")
        guests.wait_console(machine, "g", r"guest: up")
        assert switches(machine) == ("1", "advise")
        machine.run("xl save g /tmp/g.save && xl restore /tmp/g.save && rm /tmp/g.save", timeout=240)
        assert switches(machine) == ("1", "advise")
        # what auto has found goes with it: else it would be taken for done when auto is on again
        found = f"/libxl/{guests.domid(machine, 'g')}/numa-policy/auto-class"
        machine.run(f"xenstore-write {found} low {found.replace('class', 'follows')} 1")
        policy(machine, "set g -auto")
        assert switches(machine) == ("1", "0")
        assert "auto-" not in machine.run(f"xenstore-ls {found.rpartition('/')[0]}").out
        machine.run("xl migrate -s '' g 'xl migrate-receive'", timeout=240)
        assert switches(machine) == ("1", "0")
        # another policy leaves the switches as they are
        policy(machine, "set g round-4k --nodes 1-3 +auto=advise")
        before = guests.domid(machine, "g")
        machine.run("xl reboot g")
        guests.wait_console(machine, "g", r"(?s)(guest: up.*?){2}")
        assert guests.domid(machine, "g") > before
        assert switches(machine) == ("1", "advise") and guests.dump(machine, "g").policy == "round-4k"
        guests.destroy(machine, "g")

    leaves_nothing(machine, lives, linux=True)


def test_what_cannot_be_is_refused(machine):
    guests.create(machine, "plain", memory=32)
    assert switches(machine, "plain") == (None, None)
    guests.create(machine, "pv", type="pv", kernel="/boot/bzImage", memory=128)
    assert "only PVH and HVM VMs have a NUMA policy" in refusal(machine, "set pv +carrefour")
    assert switches(machine, "pv") == (None, None)
    assert "+carrefor" in machine.run("xl numa-policy set plain +carrefor", check=False).err
    assert "nobody" in refusal(machine, "explain nobody")


def test_metrics_have_the_memory_of_every_vm(machine):
    """Of one with nothing on, too: by node, as `xl numa-policy list` has it."""
    guests.create(machine, "still", memory=64, policy="round-4k,nodes=1-2,weights=3:1")
    daemon = Daemon(machine, period_ms=500, metrics_ms=500)
    daemon.wait("its memory is counted", f"grep -q '^xen_numa_domain_memory_bytes.*domain=\"still\"' {carrefour.METRICS}", 90)
    lines = re.findall(r'^xen_numa_domain_memory_bytes\{uuid="[0-9a-f-]{36}",domain="still",node="(\d+)"\} (\d+)$',
                       machine.run(f"cat {carrefour.METRICS}").out, re.M)
    row, = [row for row in json.loads(policy(machine, "list --json"))["domains"] if row["name"] == "still"]
    assert [int(size) for _, size in sorted(lines)] == row["memory_by_node_bytes"] and len(lines) == 4
    assert row["memory_by_node_bytes"][1] > row["memory_by_node_bytes"][2] > 0
    daemon.stop()

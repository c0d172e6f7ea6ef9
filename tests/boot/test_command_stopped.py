# SPDX-License-Identifier: GPL-2.0-only
"""`xl numa-policy` for a host, disturbed: a VM that cannot be moved or that goes away, Ctrl-C, and two commands at once.

What the command says is what is there, and the same command goes on from there.
"""

import json
import re

import pytest

from harness import guests, moving

NODE = 2                # to be emptied
SIZE = 48               # MiB of a VM
DOM0_USES = 4           # pages of a VM, for as long as it is there
SLOW = "--max-mb-per-s 8"
VMS = {"one": SIZE, "none": SIZE, "last": SIZE}


def create(machine):
    """All on the node; one has no policy."""
    guests.create_all(machine, {name: {"memory": SIZE, "numa_policy": f"round-2m,nodes={NODE}"} for name in VMS})
    machine.run("xl numa-policy set none none --nodes affinity")
    before = guests.dump_all(machine, VMS)
    assert all(set(dump.usage_pages()) == {NODE} for dump in before.values())
    return before


def begin(machine, command, name="said"):
    """In the background; its number."""
    return int(machine.run(f"rm -f /tmp/{name}.status; (xl numa-policy {command} --json >/tmp/{name} 2>/tmp/{name}.err; echo $? >/tmp/{name}.status) & "
                           f"until n=$(pidof xl-numa-policy); do sleep 0.1; done; echo ${{n%% *}}").out)


# of domain $d, on another node
SOME_HAS_MOVED = f"numa-dump $d | awk '/^usage/ && $2 != {NODE} {{ n += $3 + 512 * $4 }} END {{ exit n < 512 }}'"


def wait_moving(machine, vm):
    machine.until(f"d=${{d:-$(xl domid {vm})}}; {SOME_HAS_MOVED}")


def rows_of(lines):
    return {row["name"]: row for row in map(json.loads, lines) if row["event"] == "result"}


def end(machine, number, name="said"):
    """(status, rows, what it said on stderr)"""
    machine.run(f"until [ -s /tmp/{name}.status ]; do sleep 0.2; done; ! kill -0 {number} 2>/dev/null", timeout=120)
    said = machine.run(f"cat /tmp/{name}.status; cat /tmp/{name}; cat /tmp/{name}.err >&2")
    status, *lines = said.out.splitlines()
    return int(status), rows_of(lines), said.err


def check_kept(machine, before, names=tuple(VMS)):
    """Each VM has the pages that it had, by the policy that it had; their dumps."""
    now = guests.dump_all(machine, {name: SIZE for name in names})
    for name, dump in now.items():
        assert dump.usage_pages() == dump.located_pages() and set(dump.pages) == set(before[name].pages), name
        assert dump.policy == before[name].policy, name
    return now


def check_empty(machine, before, names=tuple(VMS)):
    for name, dump in check_kept(machine, before, names).items():
        assert dump.usage_pages().get(NODE, 0) <= DOM0_USES, (name, dump.usage_pages())


@pytest.mark.boot("n4")
@pytest.mark.parametrize("signal, vm", [
    ("INT", "none"), pytest.param("TERM", "one", marks=pytest.mark.soak)])
def test_evacuate_is_stopped(machine, signal, vm):
    before = create(machine)
    stopped = moving.stopped(machine, f"evacuate {NODE} --force --to 1,3 {SLOW}", signal, SOME_HAS_MOVED, vm)
    rows = rows_of(stopped.out.splitlines())
    assert (stopped.status, stopped.err) == ({"INT": 130, "TERM": 143}[signal],
                             f"xl numa-policy: stopped by SIG{signal} at VM '{vm}'; the same command goes on\n")
    now = check_kept(machine, before)
    names = list(VMS)[:list(VMS).index(vm) + 1]
    assert list(rows) == names and [rows[name]["complete"] for name in names] == [True] * (len(names) - 1) + [False]
    for name, row in rows.items():
        assert row["left_bytes"] == now[name].usage_pages().get(NODE, 0) << 12, row
        assert row["homes_changed"] == (name != "none") and set(now[name].homes) == ({1, 3} if name != "none" else {NODE, *now[name].homes})
    assert 0 < rows[vm]["left_bytes"] < rows[vm]["was_bytes"]
    for name in set(VMS) - set(names):
        assert now[name] == before[name], name
    assert machine.run(f"xl numa-policy evacuate {NODE} --force --to 1,3 -q").err == ""
    check_empty(machine, before)


@pytest.mark.boot("n4")
def test_a_vm_goes_away(machine):
    """The others are moved; nothing of it stays behind."""
    before = create(machine)
    number = begin(machine, f"evacuate {NODE} --force --strict --to 1,3 {SLOW}")
    wait_moving(machine, "none")
    guests.destroy(machine, "none")
    status, rows, err = end(machine, number)
    assert list(rows) == ["one", "last"] and all(row["complete"] for row in rows.values())
    # what dom0 uses of the others
    assert status == any(row["left_bytes"] for row in rows.values()) and len(err.splitlines()) == status, (status, err, rows)
    check_empty(machine, before, ["one", "last"])

    number = begin(machine, f"set last round-2m --nodes {NODE} --rebalance {SLOW}")
    machine.until(f"numa-dump $(xl domid last) | awk '/^usage {NODE} / && $4 > 2 {{ n = 1 }} END {{ exit !n }}'")
    guests.destroy(machine, "last")
    status, rows, err = end(machine, number)
    assert status == 1 and not rows
    assert re.fullmatch(r"xl numa-policy: VM 'last' is (gone; 'xl list' shows what runs|being destroyed)\n", err), err
    machine.until("! xl list | grep -q '(null)'", 60)


@pytest.mark.boot("n4")
def test_two_at_once(machine):
    """Both end well, and each VM is what it was: also the one without a policy, which is of neither of them to give it one."""
    before = create(machine)
    first = begin(machine, f"evacuate {NODE} --force --to 1,3 {SLOW}", "first")
    wait_moving(machine, "one")
    second = machine.run(f"xl numa-policy evacuate {NODE} --force --to 1,3 -q --json", timeout=180)
    assert second.err == ""
    status, rows, err = end(machine, first, "first")
    assert (status, err) == (0, "") and set(rows) <= set(VMS)
    check_empty(machine, before)
    assert not any(row["policy_changed"] for row in rows.values())
    # and with one that goes the other way: the last word counts, and no page is lost
    begin(machine, f"set one --nodes {NODE} --rebalance {SLOW}", "first")
    machine.run("xl numa-policy rebalance --all -q && xl numa-policy compact one -q", timeout=180)
    machine.run("until [ -s /tmp/first.status ]; do sleep 0.2; done", timeout=120)
    now = check_kept(machine, before)
    assert now["one"].usage_pages()[NODE] >= sum(now["one"].usage_pages().values()) - DOM0_USES


@pytest.mark.boot("n2-iommu", "optional")
def test_one_that_cannot_be_moved(machine):
    """The row says what holds it; its home nodes stay, and the other VMs are moved."""
    fixed = int(machine.run("numa-unmovable iommu").out)
    guests.create(machine, "shadow", memory=32, policy="round-2m,nodes=0", hap=0)
    guests.create(machine, "free", memory=32, policy="round-2m,nodes=0")
    machine.run(f"xl numa-policy set {fixed} round-4k --nodes 0-1")
    before = guests.dump(machine, "shadow")
    said = machine.run("xl numa-policy evacuate 0 --force -q --json")
    rows = {row["id"]: row for row in map(json.loads, said.out.splitlines())}
    shadow, free = guests.domid(machine, "shadow"), guests.domid(machine, "free")
    assert "shadow paging" in rows[shadow]["why"] and rows[shadow]["homes_changed"] is False and rows[shadow]["left_bytes"] is None
    assert guests.dump(machine, "shadow") == before and set(before.homes) == {0}
    assert set(guests.dump(machine, "free").homes) == {1} and guests.dump(machine, "free").usage_pages().get(0, 0) <= DOM0_USES
    assert rows[free]["homes_changed"] and rows[free]["left_bytes"] <= DOM0_USES << 12
    if fixed in rows:
        assert "devices" in rows[fixed]["why"] and rows[fixed]["homes_changed"] is False
    strict = machine.run("xl numa-policy evacuate 0 --force --strict", check=False)
    assert strict.status == 1 and "shadow paging" in strict.out and len(strict.err.splitlines()) == 1, strict

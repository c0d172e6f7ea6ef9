# SPDX-License-Identifier: GPL-2.0-only
"""rebalance and set --rebalance: what is asked of libxl step by step, how fast, and what it comes to."""

import json
import signal
import subprocess
import time

import pytest

from fake_machine import (ERROR_DEVICE_EXISTS, ERROR_DOMAIN_NOTFOUND, ERROR_FAIL, ERROR_INVAL, MIB, RESULTS,
                          Domain, example)
from numapolicy_build import environment

PAGES = MIB // 4096  # of a MiB
MIXED = [("there", 64 * PAGES), ("moved", 180 * PAGES), ("in_use", 8 * PAGES), ("unmovable", 1),
         ("no_room", 2 * PAGES - 1), ("late", 2 * PAGES), ("no_table", 3 * PAGES), ("claimed", PAGES)]


def machine_with(*memory, **fields):
    machine = example()
    machine.memory = list(memory)
    for name, value in fields.items():
        setattr(machine, name, value)
    return machine


def steps(xl):
    """Of each step: gfn, pages at most, flags, when in seconds, pages moved."""
    lines = [line.split() for line in xl.trace() if line.startswith("rebalance ")]
    assert {line[1] for line in lines} <= {"3"}
    return [(int(line[2]), int(line[3]), int(line[4]), int(line[6]) / 1e9, int(line[8])) for line in lines]


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("args", [["rebalance", "guest1"], ["rebalance", "3", "-q"]])
def test_result(xl, args):
    assert xl.good(*args, machine=machine_with(*MIXED)) == """\
guest1 (id 3): 180M moved by round-4k in 0.2 s, 64M was there already
         8M stays, in use by another domain or by Xen: repeat the command later
         4K stays, as it is not plain memory: a restart of the VM places it
       1.9M stays, as its node is full: make room there, or name other home nodes
         2M stays, as the guest would have waited for too long: set a larger --max-pause-us
         3M stays, as the VM has too few pages left for page tables: choose a policy that keeps 2 MiB, or set \
shadow_memory=4 or more in its xl.cfg and restart it
         1M stays, as VMs that are being made have claimed the free memory: repeat the command when they run
"""


def test_which_node_is_full(xl):
    """By what the weights give it, less what is there; first-touch has no such share."""
    machine = machine_with(("moved", PAGES), ("no_room", 300 * PAGES))
    machine.domains[1].usage = {0: (0, 200, 0), 1: (0, 100, 0), 3: (0, 212, 0)}  # of 1 GiB; 768 and 256 MiB are wanted
    full = xl.good("rebalance", "3", machine=machine).splitlines()[1]
    assert full == ("       300M stays, as its node is full (node 0 has no room for 300M, node 1 has no room for 56M): "
                    "make room there, or name other home nodes")
    machine.domains[1].policy = "first-touch"
    assert "is full: make room" in xl.good("rebalance", "3", machine=machine)
    machine.fail("usage", ERROR_FAIL, after=1)
    assert "is full: make room" in xl.good("rebalance", "3", machine=machine)


def test_who_has_a_full_node(xl):
    """What no VM has there, if that is as much as has no room: dom0's, or Xen's."""
    def told(change=lambda machine: None):
        machine = machine_with(("moved", PAGES), ("no_room", 700 * PAGES))      # 768 MiB are wanted on node 0
        machine.domains[1].usage = {0: (0, 34, 0), 1: (0, 128, 0), 3: (0, 350, 0)}
        machine.domains[2].usage = {2: (0, 512, 0)}
        change(machine)
        return xl.good("rebalance", "3", machine=machine).splitlines()[1].partition("full (")[2].partition(")")[0]

    alone = "node 0 has no room for 700M"
    assert told() == f"{alone}; dom0 and Xen have 956M there"
    assert told(lambda machine: machine.waits.append(65 * PAGES)) == f"{alone}; dom0 and Xen have 826M there"
    assert told(lambda machine: machine.domains.append(Domain(9, "pv1", "pv", "none"))) == \
        f"{alone}; dom0, PV VMs and Xen have 956M there"
    assert told(lambda machine: machine.domains[2].usage.update({0: (0, 128, 0)})) == f"{alone}; dom0 and Xen have 700M there"
    # now it would be less than 700 MiB
    assert told(lambda machine: machine.domains[2].usage.update({0: (1, 128, 0)})) == alone
    assert told(lambda machine: machine.waits.append(129 * PAGES)) == alone                     # of each VM, untouched
    # ... or nobody knows
    assert told(lambda machine: setattr(machine.domains[2], "dying", True)) == alone
    assert told(lambda machine: machine.fail("usage", ERROR_FAIL, after=2)) == alone
    assert told(lambda machine: machine.fail("touches", ERROR_FAIL)) == alone
    assert told(lambda machine: machine.fail("list", ERROR_FAIL)) == alone
    assert told(lambda machine: machine.fail("numainfo", ERROR_FAIL)) == alone


def test_who_has_claimed_it(xl):
    machine = machine_with(("claimed", PAGES))
    machine.domains[2].claim = 3 << 19
    machine.domains.append(Domain(9, "-", claim=512))
    assert xl.good("rebalance", "3", machine=machine).splitlines()[1] == (
        "         1M stays, as VMs that are being made have claimed the free memory ('guest2' 1.5G, '9' 512K): "
        "repeat the command when they run")
    machine.fail("list", ERROR_FAIL)
    assert "claimed the free memory: repeat" in xl.good("rebalance", "3", machine=machine)


def test_what_a_device_model_keeps(xl):
    """Of an HVM VM, to repeat the command may never help."""
    machine = machine_with(("in_use", 1))
    assert "restarted" not in xl.good("rebalance", "guest1", machine=machine)
    assert xl.good("rebalance", "guest2", machine=machine).splitlines()[1] == (
        "         4K stays, in use by another domain or by Xen: repeat the command later; "
        "what the VM's device model keeps mapped stays until the VM is restarted")


def test_only_what_was_skipped_is_spoken_of(xl):
    machine = machine_with(("moved", PAGES), ("no_room", 1))
    assert xl.good("rebalance", "3", machine=machine).splitlines()[1:] == [
        "         4K stays, as its node is full: make room there, or name other home nodes"]
    assert xl.good("rebalance", "3", machine=machine_with(("there", 512))) == \
        "guest1 (id 3): 0 moved by round-4k in 0.0 s, 2M was there already\n"


@pytest.mark.parametrize("memory, status, said", [
    ([("moved", 512), ("there", 512)], 0, ""),
    *(([("moved", 512), (why, 512)], 1, "2M of VM 'guest1' stays where it is, which --strict makes a failure")
      for why in RESULTS[2:]),
])
@pytest.mark.parametrize("args", [["rebalance", "guest1"], ["rebalance", "3", "--json"], ["rebalance", "3", "--dry-run"],
                                  ["set", "3", "round-2m", "--rebalance"]], ids=" ".join)
def test_strict(xl, args, memory, status, said):
    """What stays is a failure only to those who ask for it; what moved is told all the same."""
    machine = machine_with(*memory)
    done, strict = xl.run(*args, "-q", machine=machine), xl.run(*args, "-q", "--strict", machine=machine)
    assert (done.returncode, done.stderr) == (0, "") and strict.stdout.splitlines()[-1:] == done.stdout.splitlines()[-1:]
    assert (strict.returncode, strict.stderr) == (status, said and f"xl numa-policy: {said}\n")


def test_strict_with_a_policy_that_was_changed_meanwhile(xl):
    done = xl.run("rebalance", "3", "--strict", machine=machine_with(("moved", 100 * PAGES), becomes=("round-1g", 2)))
    assert done.returncode == 1 and "policy of VM 'guest1' was changed meanwhile" in done.stderr


def test_strict_and_stopped(xl):
    machine = machine_with(("no_room", 512), ("moved", 512 * PAGES), signal=(signal.SIGINT, 1))
    assert xl.run("rebalance", "3", "--strict", machine=machine).returncode == 130


def test_nothing_at_all(xl):
    assert "0 moved" in xl.good("rebalance", "3", machine=machine_with())


def test_json(xl):
    result, = lines_of(xl.good("rebalance", "guest1", "--json", machine=machine_with(*MIXED)))
    assert result.pop("seconds") == pytest.approx(180 / 1024, abs=1e-3)
    assert result == {
        "version": 1, "event": "result", "name": "guest1", "id": 3, "policy": "round-4k", "policy_changed": False,
        "why": "in use by others", "dry_run": False, "complete": True, "memory_bytes": 1024 * MIB, "moved_bytes": 180 * MIB,
        "there_bytes": 64 * MIB, "in_use_bytes": 8 * MIB, "unmovable_bytes": 4096,
        "no_room_bytes": 2 * MIB - 4096, "late_bytes": 2 * MIB, "no_table_bytes": 3 * MIB, "claimed_bytes": MIB}


def test_raw_is_json_in_columns(xl):
    machine = machine_with(*MIXED)
    result, = lines_of(xl.good("rebalance", "guest1", "--json", machine=machine))
    heading, row = xl.raw("rebalance", "guest1", machine=machine)
    assert heading == [name for name in result if name not in ("version", "event")]
    for name, cell in zip(heading, row):
        value = result[name]
        if isinstance(value, bool):
            assert cell == ("yes" if value else "no")
        elif name == "seconds":
            assert float(cell) == value
        else:
            assert cell == str(value).replace(" ", r"\x20")


@pytest.mark.parametrize("name", ['a"b', "back\\slash", "tab\there", "München", "-"])
def test_names_in_json(xl, name):
    machine = machine_with()
    machine.domains[1].name = name
    result, = lines_of(xl.good("rebalance", "3", "--json", machine=machine))
    assert result["name"] == (None if name == "-" else name)


def test_every_gfn_once(xl):
    """From 0 to the end, each step from where the last one stopped; bounded."""
    xl.good("rebalance", "3", machine=machine_with(("moved", 100 * PAGES)))
    done = steps(xl)
    gfn = 0
    for at, limit, flags, _, moved in done:
        assert (at, flags) == (gfn, 0) and 0 < limit <= 4096 and moved < limit + 512
        gfn += moved
    assert gfn == 100 * PAGES and len(done) > 5


def test_dry_run(xl):
    text = xl.good("rebalance", "3", "--dry-run", machine=machine_with(*MIXED))
    assert text.splitlines()[0] == "guest1 (id 3): 180M would move by round-4k, 64M is there already"
    assert {flags for _, _, flags, _, _ in steps(xl)} == {1}
    result = lines_of(xl.good("rebalance", "3", "--dry-run", "--json", machine=machine_with(*MIXED)))[-1]
    assert result["dry_run"] is True and result["moved_bytes"] == 180 * MIB


@pytest.mark.parametrize("speed", [100 << 30, 3 * MIB, MIB // 2])
@pytest.mark.parametrize("rate", [1, 10, 100, 1000])
def test_rate(xl, rate, speed):
    """In no span of time more than the rate allows and a step; and not much less, if it can."""
    machine = machine_with(("there", 7 * PAGES), ("moved", 20 * PAGES), ("there", 6 * PAGES),
                           ("moved", 10 * PAGES), speed=speed)
    xl.good("rebalance", "3", "--max-mb-per-s", rate, "-q", machine=machine)
    done = steps(xl)
    most = max(moved for _, _, _, _, moved in done) / PAGES
    assert most <= max(2, rate / 10 + 2)
    for first in range(len(done)):
        sum_ = 0
        for _, _, _, at, moved in done[first:]:
            # Until this step began, the ones before it were done.
            assert sum_ <= rate * (at - done[first][3]) + most + 1e-6
            sum_ += moved / PAGES
    seconds = json.loads(xl.good("rebalance", "3", "--max-mb-per-s", rate, "-q", "--json",
                                 machine=machine))["seconds"]
    assert seconds == pytest.approx(max(30 / rate, 30 * MIB / speed), rel=0.2)


def test_time_that_was_lost_is_not_made_up_for(xl):
    """After a step that took very long it goes on at the rate, not in a burst."""
    machine = machine_with(("moved", 40 * PAGES), speed=2 * MIB, stall=(30, 5))
    xl.good("rebalance", "3", "--max-mb-per-s", 1, "-q", machine=machine)
    times = [at for _, _, _, at, _ in steps(xl)]
    assert [round(b - a, 3) for a, b in zip(times, times[1:])] == [2] * 5 + [31] + [2] * 13


def test_dry_run_takes_no_time(xl):
    result, = lines_of(xl.good("rebalance", "3", "--dry-run", "--max-mb-per-s", 1, "--json", "-q",
                               machine=machine_with(("moved", 9 * PAGES), speed=100 << 40)))
    assert result["seconds"] < 0.1


@pytest.mark.parametrize("number, name, status", [(signal.SIGINT, "SIGINT", 130),
                                                  (signal.SIGTERM, "SIGTERM", 143)])
def test_stop(xl, number, name, status):
    """At the end of the step in which the signal comes."""
    machine = machine_with(("moved", 512 * PAGES), ("there", 512 * PAGES), signal=(number, 2))
    done = xl.run("rebalance", "guest1", machine=machine)
    assert done.returncode == status and len(steps(xl)) == 3
    assert done.stdout == "guest1 (id 3): 48M moved by round-4k in 0.0 s, 0 was there already\n"
    assert done.stderr == (f"xl numa-policy: stopped by {name} at 4%; "
                           "'xl numa-policy rebalance guest1' goes on\n")
    done = xl.run("rebalance", "3", "--json", machine=machine)
    result = lines_of(done.stdout)[-1]
    assert (done.returncode, result["complete"], result["moved_bytes"]) == (status, False, 48 * MIB)


def test_stop_of_set(xl):
    machine = machine_with(("moved", 100 * PAGES), signal=(signal.SIGINT, 0))
    done = xl.run("set", "guest1", "round-2m", "--rebalance", machine=machine)
    assert done.returncode == 130 and len(steps(xl)) == 1


def test_stop_that_comes_too_late(xl):
    assert "2M moved" in xl.good("rebalance", "3", machine=machine_with(
        ("moved", 512), signal=(signal.SIGINT, 0)))


def test_who_ignores_the_signal_is_not_stopped(xl):
    machine = machine_with(("moved", 512 * PAGES), signal=(signal.SIGINT, 1))
    xl.good("rebalance", "3", machine=machine,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))


def test_stop_amid_a_break(program, tmp_path):
    """By the real clock: the next step would be after two seconds, the last after half an hour."""
    env = environment(tmp_path, machine_with(("moved", 2048 * PAGES)))
    del env["FAKE_CLOCK"]
    with subprocess.Popen([program, "rebalance", "3", "--max-mb-per-s", "1"], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        while "rebalance" not in (tmp_path / "trace").read_text():
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 130 and "stopped by SIGINT" in err and "moved" in out


def test_set_then_rebalance(xl):
    text = xl.good("set", "guest1", "round-2m", "--nodes", "2-3", "--rebalance",
                   machine=machine_with(*MIXED))
    assert text.splitlines()[:2] == [
        "guest1 (id 3): round-2m on home nodes 2-3",
        "guest1 (id 3): 180M moved by round-2m in 0.2 s, 64M was there already"]
    words = [line.split()[0] for line in xl.trace() if not line.startswith("usage ")]
    assert words[:2] == ["movable", "set"] and set(words[2:]) == {"rebalance"}


def test_set_as_before_rebalances_all_the_same(xl):
    text = xl.good("set", "guest1", "round-4k,nodes=0-1,weights=3:1", "--rebalance",
                   machine=machine_with(*MIXED))
    assert ", as before\n" in text and "180M moved" in text


@pytest.mark.parametrize("form", ["--json", "--raw"])
def test_set_says_to_programs_what_rebalance_says(xl, form):
    machine = machine_with(*MIXED)
    text = xl.good("set", "guest1", "round-2m", "--rebalance", form, machine=machine)
    machine.domains[1].policy = "round-2m"
    assert text == xl.good("rebalance", "guest1", form, machine=machine)


def test_set_none(xl):
    line = xl.bad("set", "guest1", "none", "--rebalance", machine=machine_with(*MIXED))
    assert line.startswith("policy none has no place for memory; ") and xl.trace() == []


def test_policy_none(xl):
    """Before the first step; or meanwhile, when somebody sets it."""
    machine = machine_with(("moved", 100 * PAGES), becomes=("none", 2))
    for _ in range(2):
        line = xl.bad("rebalance", "guest1", machine=machine)
        assert line == ("VM 'guest1' has policy none, which has no place for its memory; 'xl "
                        "numa-policy set guest1 POLICY --rebalance' gives it another")
        machine.domains[1].policy = "none"
    assert steps(xl) == []


def test_policy_changed_meanwhile(xl):
    machine = machine_with(("moved", 100 * PAGES), becomes=("round-1g", 2))
    assert xl.good("rebalance", "guest1", machine=machine).splitlines() == [
        "guest1 (id 3): 100M moved by round-1g in 0.1 s, 0 was there already",
        "The policy was changed meanwhile, to round-1g: repeat the command for what moved before"]
    result, = lines_of(xl.good("rebalance", "guest1", "--json", machine=machine))
    assert result["policy"] == "round-1g" and result["policy_changed"] is True


@pytest.mark.parametrize("rc, line", [
    (ERROR_DEVICE_EXISTS, "cannot move the memory of VM 'guest1': devices are or may be assigned to it (passthrough), which "
     "would go on writing to the old pages; a restart of the VM places its memory by the policy"),
    (ERROR_INVAL, "cannot move the memory of VM 'guest1', which has shadow paging, altp2m, nested guests, "
     "memory sharing or memory paging; a restart of the VM places its memory by the policy"),
    (ERROR_FAIL, "cannot move the memory of VM 'guest1': no luck"),
])
@pytest.mark.parametrize("after", [0, 3])
def test_refused(xl, rc, line, after):
    """From the beginning, or from some step on, as when a device is attached meanwhile."""
    machine = machine_with(("moved", 100 * PAGES)).fail("rebalance", rc, "no luck", after)
    assert xl.bad("rebalance", "guest1", machine=machine) == line
    assert len(steps(xl)) == after
    done = xl.run("set", "guest1", "round-2m", "--rebalance", machine=machine)
    assert done.returncode == 1 and done.stdout.startswith("guest1 (id 3): round-2m on home nodes ")
    assert done.stderr == f"xl numa-policy: {line}\n"


@pytest.mark.parametrize("rc, word", [(ERROR_DEVICE_EXISTS, "passthrough"), (ERROR_INVAL, "altp2m"), (ERROR_FAIL, "no luck")])
def test_refused_before_the_policy_is_set(xl, rc, word):
    machine = machine_with(("moved", 100 * PAGES)).fail("movable", rc, "no luck")
    assert word in xl.bad("set", "guest1", "round-2m", "--rebalance", machine=machine)
    assert not [line for line in xl.trace() if line.startswith("set ")]
    assert xl.good("set", "guest1", "round-2m", machine=machine)


def test_domain_that_vanishes(xl):
    machine = machine_with(("moved", 100 * PAGES)).fail("rebalance", ERROR_DOMAIN_NOTFOUND, after=2)
    machine.fail("info", ERROR_DOMAIN_NOTFOUND, after=1)
    assert xl.bad("rebalance", "guest1", machine=machine) == \
        "VM 'guest1' is gone; 'xl list' shows what runs"
    machine = machine_with(("moved", 100 * PAGES)).fail("rebalance", ERROR_DOMAIN_NOTFOUND, after=2)
    assert xl.bad("rebalance", "guest1", machine=machine.fail("live", 1, after=1)) == \
        "VM 'guest1' is being destroyed"


def test_domain_that_vanishes_leaves_good_json(xl):
    machine = machine_with(("moved", 2048 * PAGES), speed=10 * MIB)
    machine.fail("rebalance", ERROR_DOMAIN_NOTFOUND, after=9).fail("info", ERROR_DOMAIN_NOTFOUND, after=1)
    done = xl.run("rebalance", "guest1", "--json", machine=machine)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert {line["event"] for line in lines_of(done.stdout)} == {"progress"}

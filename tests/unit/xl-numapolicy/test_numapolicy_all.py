# SPDX-License-Identifier: GPL-2.0-only
"""rebalance --all: a row a VM, whatever becomes of the others; and what --strict makes of it."""

import json
import signal

import pytest

from fake_machine import ERROR_DEVICE_EXISTS, ERROR_DOMAIN_NOTFOUND, ERROR_FAIL, ERROR_INVAL, MIB, Domain, example

PAGES = MIB // 4096


def crowd(*memory, **fields):
    """guest1 and guest2 can be moved; the others are none that could have a place for their memory."""
    machine = example()
    machine.domains += [Domain(5, "plain", policy="none", weights={0: 1}), Domain(6, "told", policy="vnuma", weights={0: 1}),
                        Domain(7, "dying", weights={0: 1}, dying=True)]
    machine.memory = list(memory) or [("moved", 8 * PAGES)]
    for name, value in fields.items():
        setattr(machine, name, value)
    return machine


def test_a_row_a_vm(xl):
    assert xl.good("rebalance", "--all", machine=crowd(("moved", 8 * PAGES), ("there", 512), ("no_room", 512))) == """\
NAME   ID POLICY   MOVED THERE STAYS WHY
guest1  3 round-4k    8M    2M    2M its node is full
guest2  4 round-2m    8M    2M    2M its node is full
"""
    assert {line.split()[1] for line in xl.trace() if line.startswith("rebalance ")} == {"3", "4"}


def test_for_programs(xl):
    lines = [json.loads(line) for line in xl.good("rebalance", "--all", "-q", "--json", machine=crowd()).splitlines()]
    one = [json.loads(xl.good("rebalance", name, "-q", "--json", machine=crowd())) for name in ("guest1", "guest2")]
    for line in lines + one:
        del line["seconds"]
    assert lines == one
    rows = xl.raw("rebalance", "--all", "-q", machine=crowd())
    assert rows[:2] == xl.raw("rebalance", "guest1", "-q", machine=crowd()) and len(rows) == 3


def test_progress_says_whose(xl):
    done = xl.run("rebalance", "--all", machine=crowd(("moved", 4096 * PAGES), speed=512 * MIB))
    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == ["guest1", "guest2"]
    done = xl.run("rebalance", "--all", "--json", machine=crowd(("moved", 4096 * PAGES), speed=512 * MIB))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["name"] for line in lines if line["event"] == "progress"} == {"guest1", "guest2"}


@pytest.mark.parametrize("memory, failure, status", [
    (("moved", 512), None, 0), (("there", 512), None, 0),
    (("in_use", 512), None, 1), (("late", 1), None, 1),
    (("moved", 512), ERROR_DEVICE_EXISTS, 1), (("moved", 512), ERROR_INVAL, 1), (("moved", 512), ERROR_FAIL, 1),
])
def test_strict(xl, memory, failure, status):
    machine = crowd(memory)
    if failure:
        machine.fail("rebalance", failure, "no luck", after=1)
    done, strict = xl.run("rebalance", "--all", machine=machine), xl.run("rebalance", "--all", "--strict", machine=machine)
    assert (done.returncode, done.stderr, strict.stdout) == (0, "", done.stdout) and strict.returncode == status
    assert strict.stderr.count("\n") == status and ("which --strict makes a failure" in strict.stderr) == bool(status)


@pytest.mark.parametrize("failure, words", [
    (ERROR_DEVICE_EXISTS, "devices are or may be assigned to it"), (ERROR_FAIL, "no luck"),
    (ERROR_INVAL, "it has shadow paging, altp2m, nested guests, memory sharing or memory paging")])
def test_one_that_cannot_be_moved(xl, failure, words):
    """Its row says why; the one before it is moved."""
    rows = xl.good("rebalance", "--all", machine=crowd().fail("rebalance", failure, "no luck", after=1)).splitlines()
    assert rows[1].split()[:6] == ["guest1", "3", "round-4k", "8M", "0", "0"]
    assert rows[2] == f"guest2  4 round-2m     -     -     - {words}"


def test_one_that_goes_away(xl):
    machine = crowd().fail("rebalance", ERROR_DOMAIN_NOTFOUND, after=1)
    assert len(xl.good("rebalance", "--all", "--strict", machine=machine).splitlines()) == 2


def test_stopped(xl):
    """The others are not begun."""
    done = xl.run("rebalance", "--all", machine=crowd(("moved", 512 * PAGES), signal=(signal.SIGINT, 2)))
    assert done.returncode == 130 and len(done.stdout.splitlines()) == 2
    assert done.stderr == "xl numa-policy: stopped by SIGINT at VM 'guest1'; the same command goes on\n"


@pytest.mark.parametrize("args, words", [([], "no VM; give one, or --all"), (["guest1", "--all"], "'guest1' and --all exclude")])
def test_one_or_all(xl, args, words):
    assert words in xl.bad("rebalance", *args, status=2)

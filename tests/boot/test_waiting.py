# SPDX-License-Identifier: GPL-2.0-only
"""What waits inside dom0: it ends when what it waits for is there, it says so when that never comes, and it does not outlive a guest."""

import time

import pytest

from harness import guests

pytestmark = pytest.mark.boot("n1", "stock")

LOG = guests.console_log("g")


def later(machine, command, seconds=2):
    machine.run(f"(sleep {seconds}; {command}) >/dev/null 2>&1 &")


def test_until(machine):
    later(machine, "echo 3 >/tmp/there")
    assert machine.until("count=$((count + 1)); cat /tmp/there && echo asked $count >&2").startswith("3\nasked ")
    with pytest.raises(AssertionError, match=r"never in 1 s: .*\n(.|\n)*No such file"):
        machine.until("cat /tmp/not-there", 1)
    # the machine is as good as before
    assert machine.run("echo good").out == "good\n"


def test_console(machine):
    machine.run(f"echo 'pass 1 of 2' >{LOG}")
    later(machine, f"echo 'pass 12 of 13' >>{LOG}")
    found = guests.wait_console(machine, "g", r"pass (?!1 )(\d+) of (\d+)\n")
    assert found.groups() == ("12", "13")
    assert guests.wait_console(machine, "g", r"(?s)(pass.*?){2}").group().count("pass") == 2
    since = guests.console_size(machine, "g")
    with pytest.raises(AssertionError, match=r"never said 'pass': g takes too long; its console ends with:\n$"):
        guests.wait_console(machine, "g", "pass", timeout=2, since=since)
    with pytest.raises(AssertionError, match=r"never said 'fail': g takes too long; .*\npass 1 of 2\npass 12 of 13\n$"):
        guests.wait_console(machine, "g", "fail", timeout=2)


def test_console_of_a_guest_that_is_gone(machine):
    guests.create(machine, "g", memory=16, policy=None)
    later(machine, "xl destroy g")
    started = time.monotonic()
    with pytest.raises(AssertionError, match="g is gone"):
        guests.wait_console(machine, "g", "anything", timeout=600)
    assert time.monotonic() - started < 300


def test_console_of_a_guest_that_has_crashed(machine):
    """… and what it has said at last is seen."""
    guests.create(machine, "g", paused=False, linux=True, memory=96, extra="console=hvc0 loglevel=5 panic=1 rdinit=/bin/false")
    started = time.monotonic()
    with pytest.raises(AssertionError, match="(?s)g has crashed; .*Kernel panic"):
        guests.wait_console(machine, "g", "anything else", timeout=600)
    assert time.monotonic() - started < 300


def test_destroy_all(machine):
    for name in ("g", "h"):
        guests.create(machine, name, memory=16)
    assert machine.run("destroy-all 10").out == ""
    assert guests.domains(machine) == []
    assert machine.run("destroy-all 10").out == ""


def test_a_domain_that_stays_is_told(machine):
    """xenconsoled, which stands still, has a page of it mapped."""
    guests.create(machine, "g", memory=16)
    domid = guests.domid(machine, "g")
    machine.until(f"[ -e {LOG} ]")
    machine.run("killall -STOP xenconsoled")
    assert machine.run("destroy-all 1").out == f"{domid}\n"
    machine.run("killall -CONT xenconsoled")
    assert machine.run("destroy-all 10").out == ""

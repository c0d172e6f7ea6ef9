"""A guest's life without our feature: stock Xen, and ours with the option compiled out or switched off, behave alike.

It also shows that the harness itself works where nothing of the series is involved.
"""

import pytest

from harness import guests

# hypervisor and options under which every domain is placed as stock Xen does it
STOCK_LIKE = [
    pytest.param(marks=pytest.mark.boot("n2", "stock"), id="stock"),
    pytest.param(marks=pytest.mark.boot("n2", "off"), id="compiled-out"),
    pytest.param(marks=pytest.mark.boot("n2", "debug", "numa-policy=none"), id="policy-none"),
]
stock_like = pytest.mark.parametrize((), STOCK_LIKE)


@stock_like
def test_create_and_destroy(machine):
    guests.create(machine, "g", memory=100)
    assert guests.domains(machine) == ["g"]
    guests.destroy(machine, "g")
    assert guests.domains(machine) == []


@stock_like
def test_guest_runs(machine):
    guests.create(machine, "g", paused=False, linux=True, memory=160, vcpus=4, command="memory-pattern")
    guests.wait_console(machine, "g", r"guest: up, 4 CPUs")
    guests.wait_console(machine, "g", r"memory-pattern: round 1: \d+ pages, 0 words wrong")
    guests.wait_console(machine, "g", r"command ended with 0")


@stock_like
def test_save_and_restore(machine):
    guests.create(machine, "g", paused=False, linux=True, memory=128, command="memory-pattern hold")
    guests.wait_console(machine, "g", r"round 1: \d+ pages, 0 words wrong")
    machine.run("xl save g /tmp/g.save && xl restore /tmp/g.save")
    seen = guests.console(machine, "g").count("memory-pattern: round")
    guests.wait_console(machine, "g", rf"(?s)(memory-pattern: round.*?){{{seen + 2}}}")
    assert "words wrong" in guests.console(machine, "g")
    assert not [line for line in guests.console(machine, "g").splitlines() if "wrong" in line and " 0 words" not in line]


@stock_like
def test_reboot(machine):
    guests.create(machine, "g", paused=False, linux=True, memory=96)
    guests.wait_console(machine, "g", r"guest: up")
    before = guests.domid(machine, "g")
    machine.run("xl reboot g")
    guests.wait_console(machine, "g", r"(?s)guest: up.*guest: up")
    assert guests.domid(machine, "g") > before

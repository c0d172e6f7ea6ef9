# SPDX-License-Identifier: GPL-2.0-only
"""A guest's life without our feature: stock Xen, and ours with the option compiled out or not asked for, behave alike.

It also shows that the harness itself works where nothing of the series is involved.
"""

import pytest

from harness import checks, guests

# Hypervisor and options under which every domain is placed as stock Xen does it.  A stock FLASK would answer for Xen that it does
# not know our domctl.
STOCK_LIKE = [
    pytest.param(marks=pytest.mark.boot("n2", "stock", "flask=disabled"), id="stock"),
    pytest.param(marks=pytest.mark.boot("n2", "off"), id="compiled-out"),
    pytest.param(marks=pytest.mark.boot("n2", "debug", ""), id="not-asked"),
]
stock_like = pytest.mark.parametrize((), STOCK_LIKE)
# a life takes long: the one that is ours and without the feature in each run, all of them in the long campaign
LIVES = pytest.mark.parametrize((), [
    pytest.param(marks=[*param.marks, *([] if param.id == "compiled-out" else [pytest.mark.soak])], id=param.id) for param in STOCK_LIKE])


@stock_like
def test_create_and_destroy(machine):
    created = guests.create(machine, "g", memory=100)
    assert guests.domains(machine) == ["g"] and "NUMA policy" not in created.err
    guests.destroy(machine, "g")
    assert guests.domains(machine) == []


@LIVES
def test_a_life(machine):
    """It runs, is saved and restored, and reboots; no word of its memory is wrong."""
    guests.create(machine, "g", paused=False, linux=True, memory=128, vcpus=4, command="memory-pattern hold")
    guests.wait_console(machine, "g", r"guest: up, 4 CPUs")
    guests.wait_console(machine, "g", r"round 1: \d+ pages, 0 words wrong")
    machine.run("xl save g /tmp/g.save && xl restore /tmp/g.save")
    seen = guests.console(machine, "g").count("memory-pattern: round")
    guests.wait_console(machine, "g", rf"(?s)(memory-pattern: round.*?){{{seen + 2}}}")
    before = guests.domid(machine, "g")
    machine.run("xl reboot g")
    guests.wait_console(machine, "g", r"(?s)guest: up.*guest: up.*round 1: \d+ pages, 0 words wrong")
    assert guests.domid(machine, "g") > before
    assert not [line for line in guests.console(machine, "g").splitlines() if "wrong" in line and " 0 words" not in line]


@pytest.mark.boot("n1", "stock")
def test_flask_that_does_not_know_us(machine):
    """Stock Xen with its FLASK denies what it has never heard of, which must keep no guest from starting."""
    created = guests.create(machine, "g", memory=64)
    assert guests.domains(machine) == ["g"] and "NUMA policy" not in created.err


@pytest.mark.parametrize((), STOCK_LIKE[:2])
def test_questions_are_refused(machine):
    """Where the feature is not, the command says so in one line, and so does xl for a setting in xl.cfg."""
    guests.create(machine, "g", memory=64)
    for command in ("list", "show g", "set g round-2m", "where g 0"):
        result = machine.run(f"xl numa-policy {command}", check=False)
        assert result.status == 1
        assert result.out == ""
        assert result.err.splitlines() == ["xl numa-policy: this Xen has no NUMA placement policies (needs CONFIG_NUMA_POLICY)"]
    guests.destroy(machine, "g")

    refused = guests.create(machine, "g", check=False, memory=64, policy="round-4k")
    assert refused.status != 0
    assert guests.domains(machine) == []


@pytest.mark.boot("n2", "debug", "")
def test_policy_none_is_said(machine):
    """The default is none: told, and a guest that asks for a policy has it."""
    guests.create(machine, "g", memory=64)
    dump = guests.dump(machine, "g", 64)
    assert dump.policy == "none"
    assert dump.usage_pages() == dump.located_pages()
    guests.destroy(machine, "g")
    guests.create(machine, "g", memory=64, policy="round-4k,nodes=0-1")
    dump = guests.dump(machine, "g", 64)
    checks.check_every_page(dump, "round-4k", [0, 1])

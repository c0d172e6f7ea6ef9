# SPDX-License-Identifier: GPL-2.0-only
"""The guest half of first-touch, where Xen has no use for it; and what it says of itself."""

import pytest

from harness import guests

ANSWER = "xen-numa-policy: this Xen takes no page events"


def ask(machine, name, value):
    machine.run(f"xenstore-write /local/domain/{guests.domid(machine, name)}/control/page-events {value}")


@pytest.mark.boot("n2", "stock", "flask=disabled")
def test_a_xen_that_knows_nothing_of_it(machine):
    """The guest says so once, however often it is asked, arms nothing, and lives on."""
    guests.create(machine, "g", paused=False, linux=True, memory=160, extra_kernel="loglevel=7", command="memory-pattern hold")
    guests.wait_console(machine, "g", r"round 1: \d+ pages, 0 words wrong")
    assert ANSWER not in guests.console(machine, "g")
    for _ in range(3):
        ask(machine, "g", 1)
        guests.wait_console(machine, "g", rf"{ANSWER} \(-38\)")
    ask(machine, "g", 0)
    ask(machine, "g", 1)
    machine.run("xl save g /tmp/g.save && xl restore /tmp/g.save")
    seen = guests.console(machine, "g").count("memory-pattern: round")
    guests.wait_console(machine, "g", rf"(?s)(memory-pattern: round.*?){{{seen + 2}}}")
    said = guests.console(machine, "g")
    assert said.count(ANSWER) == 1 and "told" not in said
    assert not [line for line in said.splitlines() if "wrong" in line and " 0 words" not in line]


@pytest.mark.parametrize("option", ["init_on_free", pytest.param("page_poison", marks=pytest.mark.soak)])
@pytest.mark.boot("n2", "stock", "flask=disabled")
def test_excluded(machine, option):
    """What a released page holds is undefined: no zeroes for who is promised some, and to the other a write after free."""
    guests.create(machine, "g", paused=False, linux=True, memory=160, extra_kernel=f"loglevel=7 {option}=1")
    guests.wait_console(machine, "g", "guest: up")
    ask(machine, "g", 1)
    guests.wait_console(machine, "g", f"xen-numa-policy: {option}=1 excludes telling Xen of free pages")
    assert ANSWER not in guests.console(machine, "g")

# SPDX-License-Identifier: GPL-2.0-only
"""Is the instrument true?  One small boot; what `make bench` measures with it is not judged here."""

import json

import pytest

from create_cost.instrument import InstrumentError, Instrumented, Symbols, parse

from harness import guests
from harness.topologies import TOPOLOGIES

pytestmark = pytest.mark.heavy

LOOP = 100_000
HYPERCALLS = 500
# the marker's return, the setting up and the end of a loop
FRINGE = 2000
# Two creations of the same guest: what is done a page agrees closely, the whole up to timers, whose number goes by the clock.
AGREEMENT = 0.01
TIMERS = 5_000_000
MEMORY = 256


@pytest.fixture(scope="module")
def machine():
    machine = Instrumented(TOPOLOGIES["n2"], "release", "loglvl=info guest_loglvl=none")
    try:
        machine.boot()
        yield machine
        machine.finish()
    finally:
        machine.kill()


def test_a_known_loop_counts_as_it_should(machine):
    once, twice = (machine.counted("loop", str(n)).user for n in (LOOP, 2 * LOOP))
    assert 2 * LOOP <= once <= 2 * LOOP + FRINGE
    assert abs((twice - once) - 2 * LOOP) <= FRINGE / 10


def test_known_hypercalls_count_as_they_should(machine):
    few, many = (machine.counted("hypercall", str(n)) for n in (HYPERCALLS, 2 * HYPERCALLS))
    assert (few.calls["do_kexec_op"], many.calls["do_kexec_op"]) == (HYPERCALLS, 2 * HYPERCALLS)
    # without a branch that depends on anything, instructions follow
    assert many.functions["do_kexec_op_internal"] == 2 * few.functions["do_kexec_op_internal"] > HYPERCALLS
    assert machine.counted("loop", "1").calls["do_kexec_op"] == 0


@pytest.mark.soak
def test_two_runs_agree(machine):
    guests.put(machine, "/tmp/twice.cfg", guests.config("twice", memory=MEMORY, policy="round-4k,nodes=0-1"))
    runs = []
    for _ in range(3):
        machine.settle()
        runs.append(machine.counted("run", "xl", "create", "-p", "/tmp/twice.cfg"))
        guests.destroy(machine, "twice")
    # the first one also pays for tables that stay
    totals, paged = ([figure(run) for run in runs[1:]] for figure in (lambda run: run.xen, lambda run: run.functions["assign_pages"]))
    assert max(totals) - min(totals) <= AGREEMENT * min(totals) + TIMERS, totals
    assert max(paged) - min(paged) <= AGREEMENT * min(paged), paged
    assert min(paged) > MEMORY << 8, "less than an instruction a page"


def test_a_region_without_an_end_is_an_error(machine):
    with pytest.raises(InstrumentError, match="the plugin saw"):
        machine.counted("unended")
    with pytest.raises(InstrumentError, match="begins inside region"):
        machine.counted("loop", "1")


def test_absent_markers_are_an_error(machine):
    """A command that is not marked gives no figure, rather than zero."""
    run = machine.run
    machine.run = lambda command, **options: run("true", **options)
    try:
        with pytest.raises(InstrumentError, match=r"was to be counted, the plugin saw \[\]"):
            machine.counted("loop", "1")
    finally:
        machine.run = run


def test_a_wrong_hypervisor_is_an_error():
    record = {"region": 1, "user": [5], "kernel": [5], "xen_other": [0], "blocks": []}
    with pytest.raises(InstrumentError, match="without a single instruction"):
        parse(json.dumps(record), Symbols("release"))


def test_waiting_is_kept_apart():
    symbols = Symbols("release")
    address = symbols.addresses[symbols.names.index("idle_loop")]
    work = symbols.addresses[symbols.names.index("do_kexec_op")]
    record = {"region": 7, "user": [1, 0], "kernel": [2, 0], "xen_other": [0, 0], "blocks": [[address, 3, [10, 99]], [work, 2, [4, 50]]]}
    region, counts = parse(json.dumps(record), symbols)
    assert (region, counts.waiting, counts.xen, counts.user, counts.kernel) == (7, 30, 8, 1, 2)
    assert counts.everywhere["do_kexec_op"] == 108

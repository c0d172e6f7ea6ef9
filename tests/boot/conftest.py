# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures of the boot tests: one boot for all tests that name the same machine, and a verdict after each of them.

A test says which machine it needs:

    @pytest.mark.boot("n8")                              topology, patched debug hypervisor
    @pytest.mark.boot("n8", "release", "numa-policy=none")

and takes the `machine` fixture.  Where it names no options of Xen, guests that name no policy have POLICY; Xen's own default is none.

Tests are sorted so that a machine is booted once; it is powered off, and judged, when the next test needs another one.  A machine that
went red is replaced for the next test, twice at most.
"""

import contextlib
import shlex
import time

import pytest

from harness import memory
from harness.bochs import BochsMachine
from harness.ibs import IbsMachine
from harness.machine import BootRed, HostFault, Machine
from harness.parts import Parts
from harness.topologies import TOPOLOGIES
from runner.machines import POLICY, machine_of

EMULATORS = {"qemu": Machine, "qemu-ibs": IbsMachine, "bochs": BochsMachine}
MOST_REDS = 3
OWN_PAGES = 64      # what Xen may have kept for itself after all guests of a boot: 18 were seen
# what a test leaves behind; prints the domains that stay nevertheless
CLEAN_UP = r"""
killall -9 carrefourd numa-sample 2>/dev/null && while pidof carrefourd numa-sample >/dev/null; do sleep 0.1; done
destroy-all 10 || exit
rm -rf /tmp/* /var/log/xen/console/*
"""


def pytest_configure(config):
    config.addinivalue_line("markers", f"boot(topology, hypervisor='debug', xen_options='{POLICY}'): the machine a test runs on")
    config.boots = Boots()


def pytest_collection_modifyitems(items):
    order = {}
    for item in items:
        order.setdefault(machine_of(item), len(order))
    items.sort(key=lambda item: order[machine_of(item)])


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    item.config.boots.leave(machine_of(item), machine_of(nextitem) if nextitem else None)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    machine = item.config.boots.machine
    disturbed = False
    if report.failed and machine is not None and machine_of(item):
        report.sections.append((machine.program, machine.stillness()))
        # no standstill has Xen say that it panics
        disturbed = machine.host_stood_still(time.monotonic() - call.duration) and not machine.scanner.has_red
    # for runner/reruns.py
    report.host_fault = disturbed or call.excinfo is not None and call.excinfo.errisinstance(HostFault)


def pytest_unconfigure(config):
    config.boots.kill()


@contextlib.contextmanager
def told(where=""):
    """A red machine fails the test without a traceback; a fault of the host goes on to whoever has the test run again."""
    try:
        yield
    except HostFault:
        raise
    except BootRed as red:
        pytest.fail(f"{where}{red}", pytrace=False)


class Boots:
    """The machine that is up, if any."""

    def __init__(self):
        self.key = None
        self.machine = None
        self.balance = None
        self.reds = {}      # of each machine, what boots died of that did not end with a power-off

    def get(self, key):
        if self.machine is not None and (self.key != key or self.machine.dead):
            self.kill()
        if self.machine is None:
            reds = self.reds.get(key, ())
            if len(reds) >= MOST_REDS:
                # who may be to blame is the host as long as it was for each of them
                kind = HostFault if all(issubclass(red, HostFault) for red in reds) else BootRed
                raise kind(f"{' '.join(filter(None, key))} went red {MOST_REDS} times already")
            topology, hypervisor, options = key
            machine = EMULATORS[TOPOLOGIES[topology].emulator](TOPOLOGIES[topology], hypervisor, options)
            try:
                machine.boot()
                self.balance = memory.balance(machine, memory.free_pages(machine))
            except BaseException as red:
                self.went_red(key, type(red))
                machine.kill()
                raise
            self.key, self.machine = key, machine
        return self.machine

    def leave(self, key, following):
        """The last test of a machine ends with the verdict on the boot as a whole."""
        if key is None or key == following or self.key != key or self.machine is None:
            return
        if self.machine.dead:
            self.kill()
            return
        machine, self.machine = self.machine, None
        try:
            with told("verdict on the boot: "):
                lost = self.lost(machine)
                machine.finish()
        finally:
            machine.kill()
        if abs(lost) > OWN_PAGES:
            pytest.fail(f"verdict on the boot: {lost} pages of memory are lost at its end", pytrace=False)

    def lost(self, machine):
        """Pages that neither dom0 nor the free memory has any more: a net for large leaks, test_leaks.py is exact."""
        free = memory.at_rest(machine, lambda free: abs(self.balance - memory.balance(machine, free)) <= OWN_PAGES)
        return self.balance - memory.balance(machine, free)

    def went_red(self, key, red):
        self.reds.setdefault(key, []).append(red)

    def kill(self):
        if self.machine is not None:
            if self.machine.dead:
                self.went_red(self.key, self.machine.red)
            self.machine.kill()
        self.machine = None


@pytest.fixture
def machine(request):
    boots = request.config.boots
    topology, hypervisor, _ = machine_of(request.node)
    lack = Parts.given().lacks(TOPOLOGIES[topology], hypervisor)
    if lack:
        pytest.skip(lack)
    with told():
        machine = boots.get(machine_of(request.node))
        machine.run(f"echo {shlex.quote('=== ' + request.node.name)} >/dev/kmsg")
    yield machine
    if machine.dead:
        return      # the test itself is red already
    try:
        with told():
            left = machine.run(CLEAN_UP).out.split()
            machine.check_console()
            machine.scanner.known.clear()
    except BaseException:
        machine.kill()
        raise
    assert not left, f"domains that do not go away: {left}"

# SPDX-License-Identifier: GPL-2.0-only
"""Not collected by itself: test_harness.py runs it in a pytest of its own and looks who is red."""

import pytest

from harness import guests
from harness.parts import Parts

pytestmark = pytest.mark.boot("n1", Parts.given().any_hypervisor)


def test_before(machine):
    machine.run("true")


def test_guilty(machine):
    # asserts nothing; the hypervisor says something unheard of
    machine.run("xl debug-keys r")


def test_after(machine):
    machine.run("true")


def test_guilty_guest(machine):
    guests.create(machine, "g", paused=False, linux=True, memory=96,
                  extra="console=hvc0 earlyprintk=xen,keep loglevel=5 rdinit=/bin/false")
    guests.wait_console(machine, "g", "Kernel panic")


def test_after_guest(machine):
    machine.run("true")

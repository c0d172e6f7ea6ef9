# SPDX-License-Identifier: GPL-2.0-only
"""The domctl, handed garbage in every field by programs/domctl-probe.c: an errno each time, and a quiet hypervisor."""

import re

import pytest

from harness import guests


@pytest.mark.boot("n8")
@pytest.mark.parametrize("seed", [1, pytest.param(20261121, marks=pytest.mark.soak)])
def test_garbage_debug(machine, seed):
    probe(machine, seed)


@pytest.mark.soak
@pytest.mark.boot("n8", "release")
def test_garbage_release(machine):
    probe(machine, 7)


@pytest.mark.boot("n8")
def test_a_guest_is_denied(machine):
    """What a stubdomain could try: it is a guest like others to this domctl."""
    guests.create(machine, "other", memory=32)
    guests.create(machine, "g", paused=False, linux=True, command="guest-domctl", memory=96,
                  extra_kernel="xen_privcmd.unrestricted=1")
    said = guests.wait_console(machine, "g", r"guest-domctl: (\d+) calls, (\d+) not denied")
    assert int(said[1]) >= 70 and int(said[2]) == 0, guests.console(machine, "g")[-2000:]
    # it was not its own kernel that denied it
    log = machine.console.read_text(errors="replace")
    for right in ("get_numa_policy", "set_numa_policy"):
        assert re.search(rf"avc:  denied  {{ {right} }} for source=d\d+ target=d0 ", log), right


@pytest.mark.boot("n2", "off")
def test_compiled_out(machine):
    """Without the feature the domctl is unknown, whatever it holds."""
    result = machine.run("domctl-probe --absent")
    assert "feature absent" in result.out


def probe(machine, seed):
    result = machine.run(f"domctl-probe {seed}", check=False)
    assert result.status == 0, result.out + result.err
    said = re.search(rf"^probe: seed {seed}: (\d+) calls, (\d+) refused, all answered$", result.out, re.M)
    assert said, result.out
    assert int(said[1]) >= 5000
    assert int(said[2]) >= 3000

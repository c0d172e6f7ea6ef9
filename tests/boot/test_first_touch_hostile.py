# SPDX-License-Identifier: GPL-2.0-only
"""What a guest says of its pages may be wrong in any way: it hurts itself alone, and what it had written goes to nobody."""

import time

import pytest

from harness import carrefour, guests, memory, moving
from harness.first_touch import go, start
from harness.topologies import TOPOLOGIES

SECRET = 0x5EC7E7A11DEA5EED
WITNESS = "h"


def witnesses(machine, kept):
    """A guest, and dom0 with `kept` MiB, that have content to lose; returns what checks it.

    Not one with Linux, whose balloon may take a page at any time.
    """
    carrefour.start_guest(machine, name=WITNESS, vcpus=1, part=8, cpus=["3"], policy="round-4k")
    machine.run(f"dd if=/dev/urandom of=/tmp/keep bs=1M count={kept} 2>/dev/null; sha256sum /tmp/keep >/tmp/keep.sum")

    def check():
        carrefour.check_words(machine, WITNESS)
        machine.run("sha256sum -c /tmp/keep.sum")

    return check


# tests/bare/programs/liar.c is the fast one
@pytest.mark.soak
@pytest.mark.boot("n4")
@pytest.mark.heavy
def test_only_the_liar_is_hurt(machine):
    """Full batches from all vCPUs, events without sense, and at last all of its memory, in use or not."""
    check = witnesses(machine, 16)

    def lies():
        for mode, said in (("flood 1 8", r"flooded with \d{6,} events"),
                           ("garbage 2 5", r"\d\d+ batches of garbage, 0 refused")):
            start(machine, 2, f"memory-events {mode}")
            go(machine)
            guests.wait_console(machine, "g", said, timeout=120)
            check()
            touches = guests.dump(machine, "g").touches
            assert touches["events"] > 10_000
            assert (touches["released"] > 1_000) == mode.startswith("flood")
            assert touches["no_room"] == 0
            guests.destroy(machine, "g")
        start(machine, 2, "memory-events lie", on_reboot="preserve")
        machine.scanner.may_die.add(guests.domid(machine, "g"))
        go(machine)
        # The program is not there any more to say so.  It lies in the first 2 MiB that are released: if the hypercall is preempted
        # after these, nobody goes on with it.
        end = time.monotonic() + 60
        while guests.dump(machine, "g").touches["released"] < 512:
            assert time.monotonic() < end, "it has released nothing"
            time.sleep(1)
        check()
        guests.destroy(machine, "g")

    memory.leaves_nothing(machine, lies)


def found(machine, name, mib):
    """(pages with the secret, pages) of a guest."""
    said = machine.run(f"find-word $(xl domid {name}) 0 {mib << 8} {SECRET:#x}", timeout=240).out.split()
    return int(said[1]), int(said[3])


@pytest.mark.boot("n8-hetero", "release")
def test_old_content_stays_at_home(machine):
    """All that is free on two nodes is looked at while a guest there releases, exchanges, is ballooned and destroyed."""
    small = 3, 6
    assert all(TOPOLOGIES["n8-hetero"].mib[node] < 400 for node in small)
    homes = "nodes=" + ",".join(map(str, small))
    size, secrets = 224, 96

    def look(policy):
        """Through another guest, which nobody has written to."""
        free = memory.free_pages(machine)
        mib = (sum(free[node] for node in small) >> 8) - 16
        guests.create(machine, "reader", memory=mib, policy=f"{policy},{homes}")
        seen, pages = found(machine, "reader", mib)
        assert pages > mib << 7, "the reader has no memory"
        guests.destroy(machine, "reader")
        return seen

    start(machine, 2, f"memory-events secret {SECRET:#x} {secrets}", linux=True, memory=size,
          cpus=[str(node) for node in small], policy=f"first-touch,{homes}")
    go(machine)
    guests.wait_console(machine, "g", "round 1 written", timeout=240)
    # it can be found
    assert found(machine, "g", size)[0] > secrets << 7
    go(machine)
    for turn, policy in enumerate(("round-4k", "first-touch")):
        guests.wait_console(machine, "g", f"round {turn + 2} released", timeout=240)
        moving.balloon(machine, "g", (size - 48, size)[turn % 2])
        assert look(policy) == 0
    assert guests.dump(machine, "g").touches["exchanged"] > 0
    guests.destroy(machine, "g")
    memory.at_rest(machine)
    assert look("round-2m") == 0

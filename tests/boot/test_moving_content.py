# SPDX-License-Identifier: GPL-2.0-only
"""Content: what a guest has written is what it reads, whatever is done to it while its pages move."""

import itertools
import os
import time

import pytest

from harness import guests, memory, moving
from harness.moving import ENDLESS, Mover

pytestmark = pytest.mark.heavy

MOVES = int(os.environ.get("MOVES", "200000"))      # pages: the long count of make soak
FEW = 3000      # where it is not the number that counts


def seed(number):
    print(f"numa-mover's seed is {number}")
    return number


# tests/bare/programs/content.c is the fast one
@pytest.mark.soak
@pytest.mark.boot("n8")
def test_under_fire_debug(machine):
    under_fire(machine, 1)


@pytest.mark.soak
@pytest.mark.boot("n8", "release")
def test_under_fire_release(machine):
    under_fire(machine, 2)


def under_fire(machine, number):
    """From where stock placement put it."""
    moving.start_writer(machine, vcpus=4, command=f"memory-writer {moving.WRITTEN} 20", policy="none")
    moving.under_fire(machine, MOVES, seed(number), list(range(1, 8)))


@pytest.mark.boot("n8")
def test_no_cpu_reads_the_past(machine):
    """A page has one content at a time: none reads the old one once another may write to the new one."""
    moving.start_writer(machine, vcpus=3, command="memory-order 64")
    for turn in range(2):
        machine.run(f"xl numa-policy set g round-4k --nodes {('1-2', '3-5')[turn % 2]} --rebalance", timeout=120)
    moving.check_content(machine)


@pytest.mark.soak
@pytest.mark.boot("n8", "release")
def test_ballooning(machine):
    moving.start_writer(machine, command=f"memory-writer {moving.WRITTEN} 300", memory=200)
    moved = 0
    for number in itertools.count(seed(3)):
        mover = Mover(machine, "g", ENDLESS, number, alone=False, memory=200)
        mover.wait_begun()
        for mib in (140, 200):
            moving.balloon(machine, "g", mib)
        moved += mover.stop()["moved"]
        if moved >= FEW:
            break
    moving.check_content(machine)


# What xl runs to connect a back-end: no bridge and no file, a RAM disk of dom0 and an interface with an address.
HOTPLUG = """\
#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/sbin:/bin LD_LIBRARY_PATH=/usr/local/lib
case $XENBUS_PATH in
*/vbd/*) xenstore-write $XENBUS_PATH/physical-device 1:0 ;;
*) ifconfig $vif 10.0.0.1 up 2>/dev/null ;;
esac
xenstore-write $XENBUS_PATH/hotplug-status connected
"""


@pytest.mark.boot("n8", "release")
def test_io_through_dom0(machine):
    """Pages that are granted stay, and those that were just before or will be go; the data is right either way."""
    guests.put(machine, "/tmp/hotplug", HOTPLUG)
    machine.run("chmod 755 /tmp/hotplug")
    moving.start_writer(
        machine, command="ifconfig eth0 10.0.0.2 up; nc -ll -p 7 -e cat & exec memory-io /dev/xvda",
        extra_kernel="xen_blkfront.feature_persistent=0", disk=["format=raw,vdev=xvda,access=w,backendtype=phy,script=/tmp/hotplug,target=/dev/ram0"],
        vif=["script=/tmp/hotplug"])
    mover = Mover(machine, "g", FEW, seed(10))
    machine.run("dd if=/dev/urandom of=/tmp/sent bs=4k count=64 2>/dev/null")
    echoes = 0
    while mover.running():
        machine.run("timeout 60 nc 10.0.0.2 7 </tmp/sent >/tmp/back & sleep 0.5; "
                    "for _ in $(seq 50); do cmp -s /tmp/sent /tmp/back && break; sleep 0.2; done; kill $! 2>/dev/null; cmp /tmp/sent /tmp/back")
        echoes += 1
    counted = mover.finish()
    assert echoes > 0
    assert counted["busy"] > 0, "no page was in use: was there any I/O?"
    moving.check_content(machine)


@pytest.mark.soak
@pytest.mark.boot("n8")
def test_two_movers_of_each_of_two_domains(machine):
    for name in ("g", "h"):
        moving.start_writer(machine, name)
    movers = [Mover(machine, name, FEW // 2, seed(number), alone=False) for name in ("g", "h") for number in (4, 5)]
    for mover in movers:
        mover.finish()
    for name in ("g", "h"):
        moving.check_content(machine, name)


@pytest.mark.soak
@pytest.mark.boot("n8", "release")
def test_checkpoints_and_restore(machine):
    """Live copies made while pages move are right: the last of them is what the guest goes on from."""
    moving.start_writer(machine)
    mover = Mover(machine, "g", ENDLESS, seed(6))
    for _ in range(2):
        machine.run("xl save -c g /tmp/g.save", timeout=120)
    assert mover.stop()["moved"] > FEW
    moving.check_content(machine)
    machine.run("xl destroy g; xl restore /tmp/g.save", timeout=120)
    moving.check_content(machine)


@pytest.mark.boot("n8", "release")
def test_live_migration(machine):
    moving.start_writer(machine)
    moving.migrate(machine, FEW, seed(11))


@pytest.mark.soak
@pytest.mark.boot("n8", "release")
def test_vcpus_come_and_go(machine):
    moving.start_writer(machine, vcpus=4)
    mover = Mover(machine, "g", ENDLESS, seed(7))
    machine.run("xl cpupool-create name=\\\"other\\\" sched=\\\"credit2\\\"; xl cpupool-cpu-remove Pool-0 7; xl cpupool-cpu-add other 7")
    for step in range(12):
        machine.run(("xl pause g; sleep 0.3; xl unpause g", "xl vcpu-set g 2", "xl vcpu-pin g all 1-3", "xl vcpu-set g 4",
                     "xl vcpu-pin g all all all; xl cpupool-migrate g other", "xl cpupool-migrate g Pool-0")[step % 6])
    assert mover.stop()["moved"] > FEW
    machine.run("xl vcpu-set g 4; xl cpupool-migrate g Pool-0; xl cpupool-cpu-remove other 7; xl cpupool-destroy other; "
                "xl cpupool-cpu-add Pool-0 7")
    moving.check_content(machine)


@pytest.mark.soak
@pytest.mark.boot("n8", "release")
def test_a_full_node(machine):
    """What finds no room stays, and the content with it."""
    moving.start_writer(machine)
    guests.create(machine, "filler", memory=memory.free_pages(machine)[5] // 256 - 1, policy="round-4k,nodes=5")
    counted = Mover(machine, "g", 1500, seed(8)).finish()
    assert counted["no room"] > 100
    moving.check_content(machine)


@pytest.mark.boot("n8")
@pytest.mark.parametrize("lives", [2, pytest.param(8, marks=pytest.mark.soak)])
def test_destroyed_in_the_middle(machine, lives):
    """All memory comes back, whatever was being moved."""
    def lives_and_dies():
        for number in range(lives):
            guests.create(machine, "g", memory=100, policy=("round-2m", "round-4k")[number % 2] + ",nodes=1-7")
            movers = [Mover(machine, "g", ENDLESS, seed(number * 2 + more), alone=False, memory=100) for more in (0, 1)]
            for mover in movers:
                mover.wait_begun()
            time.sleep(number * 0.3)
            guests.destroy(machine, "g")
            for mover in movers:
                assert mover.finish()["moved"] > 0

    memory.leaves_nothing(machine, lives_and_dies)


@pytest.mark.soak
@pytest.mark.boot("n8")
def test_the_tool_is_killed(machine):
    def moved_a_while():
        guests.create(machine, "g", memory=100, policy="round-2m,nodes=1-7")
        Mover(machine, "g", ENDLESS, seed(9), memory=100).wait_begun()
        machine.run("sleep 1; killall -9 numa-mover")
        dump = guests.dump(machine, "g", 100)
        assert dump.usage_pages() == dump.located_pages()
        guests.destroy(machine, "g")

    memory.leaves_nothing(machine, moved_a_while)

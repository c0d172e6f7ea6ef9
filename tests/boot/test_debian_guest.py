# SPDX-License-Identifier: GPL-2.0-only
"""linux-guest-module in a guest with the kernel of Debian 13, as Debian has built it."""

import re

import pytest

from harness import first_touch, guests
from harness.first_touch import COUNTERS

pytestmark = pytest.mark.heavy

MODULE = "/lib/modules/xen-page-reporting.ko"
SAYS = "xen_page_reporting: "
REFUSED = SAYS + r"this Xen takes no page events \(-38\)"
MEMORY = 400        # MiB; that kernel is large


def start(machine, command, **options):
    guests.create(machine, "g", paused=False, linux=True, command=f"mount -t debugfs debugfs /sys/kernel/debug\n{command}",
                  extra_kernel="loglevel=7", kernel="/boot/debian-vmlinuz", ramdisk="/boot/debian-guest.cpio",
                  **{"memory": MEMORY, "vcpus": 1} | options)


def ask(machine, value):
    machine.run(f"xenstore-write /local/domain/{guests.domid(machine, 'g')}/control/page-events {value}")


@pytest.mark.soak
@pytest.mark.boot("n4-debian", "stock", "flask=disabled")
def test_a_xen_that_knows_nothing_of_it(machine):
    """The module says so once, however often it is asked, reports nothing, and can be removed and loaded again."""
    start(machine, f"insmod {MODULE} && echo loaded 1; read go; rmmod xen_page_reporting && echo unloaded && insmod {MODULE} && echo loaded 2\n"
                   f"read go; cat {COUNTERS}; echo end")
    guests.wait_console(machine, "g", "loaded 1")
    for _ in range(3):
        ask(machine, 1)
    guests.wait_console(machine, "g", REFUSED)
    machine.run("sleep 2")      # it could go on to say so
    first_touch.go(machine)
    guests.wait_console(machine, "g", "loaded 2")
    ask(machine, 1)
    # what was asked before may be answered before insmod has ended
    guests.wait_console(machine, "g", f"(?s)unloaded.*{REFUSED}")
    machine.run("sleep 2")
    first_touch.go(machine)
    said = guests.wait_console(machine, "g", r"(?s).*armed (\d+)\r\ntold (\d+)\r\nbatches (\d+)\r\nend")
    assert said.groups() == ("0", "0", "0")
    first, second = said.group().split("unloaded")
    assert len(re.findall(REFUSED, first)) == 1 == len(re.findall(REFUSED, second))
    assert not re.search(rf"{SAYS}Xen is told", said.group())


@pytest.mark.soak
@pytest.mark.boot("n4-debian", "debug")
def test_another_driver_is_told(machine):
    """There can be one: that is said, and when it has gone and Xen asks again, it is told."""
    start(machine, f"insmod /lib/modules/hold-reporting.ko; insmod {MODULE}; sleep 8; rmmod hold_reporting && echo it is gone", policy="first-touch")
    guests.wait_console(machine, "g", f"{SAYS}another driver is told of free pages already, so Xen cannot be")
    guests.wait_console(machine, "g", "it is gone")
    assert f"{SAYS}Xen is told" not in guests.console(machine, "g")
    ask(machine, 1)
    guests.wait_console(machine, "g", f"{SAYS}Xen is told of free pages")
    machine.run("xl numa-policy set g round-4k")
    guests.wait_console(machine, "g", f"{SAYS}Xen is no longer told of free pages")


@pytest.mark.boot("n4-debian", "debug")
def test_the_second_run_is_local(machine):
    """As far as its memory had become blocks that are large enough, and was reported before the program ran again."""
    start(machine, f"insmod {MODULE}; memory-touch 24 2 20", policy="first-touch", vcpus=3, cpus=["1", "2", "3"])
    guests.wait_console(machine, "g", "memory-touch: ready", timeout=120)
    first_touch.go(machine)
    pages = first_touch.touched(machine, round=2)
    dump = guests.dump(machine, "g", MEMORY)
    away = [(cpu, hex(gfn), dump.pages.get(gfn)) for cpu, gfn in pages if dump.pages.get(gfn, (None,))[0] != cpu + 1]
    print(f"{len(away)} of {len(pages)} are not local, such as {away[:8]}; {dump.touches}")
    assert dump.touches["released"] > len(pages) // 2
    assert len(away) < len(pages) // 5


@pytest.mark.soak
@pytest.mark.boot("n4-debian", "debug")
def test_no_page_in_use_is_lost(machine):
    start(machine, f"insmod {MODULE}; (while sleep 3; do cat {COUNTERS}; done) & memory-churn 96", policy="first-touch", vcpus=3, cpus=["1", "2", "3"])
    guests.wait_console(machine, "g", r"[1-9]\d* pages freed", timeout=120)
    for step in ("xl numa-policy set g round-4k", "xl numa-policy set g first-touch --nodes 2-3",
                 "xl numa-policy set g first-touch --nodes affinity"):
        machine.run(f"{step} && sleep 4")
    said = re.findall(r"memory-churn: second \d+: (\d+) pages freed, (\d+) words wrong", guests.console(machine, "g"))
    touches = guests.dump(machine, "g").touches
    told = int(re.findall(r"told (\d+)", guests.console(machine, "g"))[-1])
    print(said[-1], told, touches)
    assert int(said[-1][0]) > 10000 and said[-1][1] == "0"
    assert told > 10000 and touches["released"] > 500 and touches["invalid"] == 0

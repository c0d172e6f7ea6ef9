# SPDX-License-Identifier: GPL-2.0-only
"""Free memory of the machine, and whether work gives back all that it took."""

import re
import time
import weakref

from . import guests

PATIENCE = 10       # seconds: what is not there by then is lost
GRACE = 4           # seconds: idle CPUs have drawn out an RCU grace period to 1.7, of a host with other work to more
# Pages that Xen keeps for itself when the first guests come, event channel buckets for one: 4 were seen.  Later it is one now and then:
# of 21 guests of 3 vCPUs in one boot, stock Xen kept 5, 1, 0, 1, 0, 0, 1, 0 ... 0, 1 pages.  In CI there was a boot where three rounds of
# three guests kept 3, 1 and 3; six such rounds in a row have not been seen.
XEN_OWN_PAGES, ROUNDS = 16, 6
# Of one boot: the first that stayed paused took 3 pages, the first two that ran another 3 and 1, the next dozen none.
PAUSED_GUESTS, RUNNING_GUESTS = 3, 2
warm = weakref.WeakKeyDictionary()      # of each machine the kinds of guests that it has had


def free_pages(machine, when=""):
    """Free 4 KiB pages of each node, as of now or, "settled", when nothing that was given back is on its way any more."""
    said = machine.run(f"node-free {when}")
    return {int(node): int(pages) for node, pages in re.findall(r"^(\d+) (\d+)$", said.out, re.M)}


def at_rest(machine, wanted=None):
    """Free pages of each node when all is back, as soon as they are as wanted; what is not then gets some more time.

    Who wants nothing waits until two readings agree: what a CPU frees that has nothing else to do comes late.
    """
    end, last = time.monotonic() + PATIENCE * machine.slower, None
    while True:
        now = free_pages(machine, "settled")
        if (wanted(now) if wanted else now == last) or time.monotonic() > end:
            return now
        last = now
        time.sleep(0.2 if wanted else GRACE)


def warm_up(machine, linux=False):
    """What Xen keeps for itself when the first guests come, event channel buckets for one, it has from now on; linux: with those, too."""
    had = warm.setdefault(machine, set())
    if "paused" not in had:
        names = [f"warm{number}" for number in range(PAUSED_GUESTS)]
        for name in names:
            guests.create(machine, name, memory=20)
        for name in names:
            guests.destroy(machine, name)
    kind, up, options = "smp-guest", "memory-touch: ready", {"program": "memory-touch 1"}
    if linux:
        kind, up, options = "linux", "guest: up", {"linux": True}
    # under Bochs, those that have to leave nothing do not run
    if kind not in had and machine.slower == 1:
        for _ in range(RUNNING_GUESTS):
            guests.create(machine, "warm", paused=False, memory=96, vcpus=3, **options)
            guests.wait_console(machine, "warm", up, timeout=120)
            guests.destroy(machine, "warm")
    had.update({"paused", kind})


def leaves_nothing(machine, work, linux=False):
    """Each node's free memory is to the page what it was before the work.

    What Xen does for the first time in a boot may have some pages stay with it: its allocator of small things takes and returns
    memory by whole pages.  Where that many are missing the work is done once more, from there: a leak leaks again, each time.
    linux: guests of the work run it, which are dear to have twice.
    """
    warm_up(machine, linux)
    before = at_rest(machine)
    for left in reversed(range(ROUNDS)):
        work()
        after = at_rest(machine, before.__eq__)
        if after == before:
            return
        kept = sum(before.values()) - sum(after.values())
        said = f"free pages by node were {before} and are {after}\n{machine.run('node-free settled').err}"
        assert left and abs(kept) <= XEN_OWN_PAGES, said
        print(f"done once more, as {said}")
        before = after


def balance(machine, free):
    """Free pages and dom0's together: a sum that dom0's balloon does not change."""
    dom0 = int(machine.run("cat /sys/devices/system/xen_memory/xen_memory0/info/current_kb").out) // 4
    return dom0 + sum(free.values())

"""Free memory of the machine, and whether work gives back all that it took.

Xen frees what is left of a destroyed domain after an RCU grace period, which idle CPUs have drawn out to 1.7 s.
"""

import re
import time

REST_SECONDS, REST_READINGS = 4, 8      # both: on a busy machine a second is little; a slower one takes longer for each reading
# Pages that Xen keeps for itself when the first guests come, event channel buckets for one: 4 were seen.
XEN_OWN_PAGES = 16
# FLASK remembers what each new domain was allowed: 4 entries of 75 bytes (xmalloc() by caller, counted over 33 guests), until
# there are 512, AVC_DEF_CACHE_THRESHOLD in Xen's xsm/flask/avc.c; at most 128 bytes each, what is between them included.
FLASK_PAGES = 16
# A leak goes on, so work that left something is done again. Work with three domains needs another page for those entries in two
# of five cases: in all of five rounds, once in a hundred of such.
ROUNDS = 5


def free_pages(machine):
    """Free 4 KiB pages of each node, as of now."""
    return {int(node): int(pages) for node, pages in re.findall(r"^(\d+) (\d+)$", machine.run("node-free").out, re.M)}


def at_rest(machine, wanted=lambda free: False):
    """Free pages of each node as soon as they are as wanted, or else when nothing has moved for a while."""
    last, since, readings = None, time.monotonic(), 0
    while True:
        now = free_pages(machine)
        readings += 1
        if now != last:
            last, since, readings = now, time.monotonic(), 0
        if wanted(now) or time.monotonic() - since > REST_SECONDS and readings >= REST_READINGS / machine.slower:
            return now
        time.sleep(0.2)


def leaves_nothing(machine, work):
    """Each node's free memory is to the page what it was before the work.

    What Xen keeps for itself may grow.  A leak does so each time.
    """
    for _ in range(ROUNDS):
        before = at_rest(machine)
        work()
        after = at_rest(machine, before.__eq__)
        if after == before:
            return
    raise AssertionError(f"free pages by node were {before} and are {after}")


def balance(machine, free):
    """Free pages and dom0's together: a sum that dom0's balloon does not change."""
    dom0 = int(machine.run("cat /sys/devices/system/xen_memory/xen_memory0/info/current_kb").out) // 4
    return dom0 + sum(free.values())

# SPDX-License-Identifier: GPL-2.0-only
"""A guest with first-touch that touches, releases and verifies its memory: memory-touch and memory-events."""

import re

from . import guests

MEMORY = 320        # MiB of a guest
COUNTERS = "/sys/kernel/debug/xen_numa/page_events"     # of the guest half, once debugfs is mounted


def start(machine, vcpus, command, policy="first-touch", name="g", linux=False, driver=False, extra_kernel="", **options):
    """A guest whose vCPU i sits on node i + 1 of a machine with a CPU a node; waits for go().

    The command is smp-guest's, or with `linux` Linux's, which who is suspended or ballooned needs.  With `driver`, that kernel tells Xen
    what it releases; else only the command does.
    """
    if linux or driver:
        if not driver:
            extra_kernel += " initcall_blacklist=xen_numa_policy_init"
        # Linux lets only device models make hypercalls
        runs = {"linux": True, "command": command, "extra_kernel": f"xen_privcmd.unrestricted=1 {extra_kernel}"}
    else:
        runs = {"program": command}
    guests.create(machine, name, paused=False, policy=policy,
                  **{"memory": MEMORY, "vcpus": vcpus, "cpus": [str(node) for node in range(1, vcpus + 1)]} | runs | options)
    guests.wait_console(machine, name, "memory-touch: ready", timeout=180)


def go(machine, name="g"):
    """Lets the program go on, by a line on the guest's console."""
    machine.run(f"echo go >$(xenstore-read /local/domain/$(xl domid {name})/console/tty)")


def told_pages(text):
    """(vCPU, gfn) of each page that memory-touch's lines name, in their order."""
    for cpu, runs in re.findall(r"memory-touch: cpu (\d+)((?: [0-9a-f]+\+-?\d+)+)", text):
        for first, number in re.findall(r"([0-9a-f]+)\+(-?\d+)", runs):
            step = -1 if int(number) < 0 else 1
            yield from ((int(cpu), int(first, 16) + step * i) for i in range(abs(int(number))))


def touched(machine, name="g", round=1):
    """(vCPU, gfn) of the round, in the order of touching."""
    guests.wait_console(machine, name, f"memory-touch: round {round} done", timeout=120)
    text = guests.console(machine, name).split(f"round {round} done")[0].rsplit("done", 1)[-1]
    return list(told_pages(text))


def first_touchers(pages, before):
    """The vCPU that touched a page first, of those that were not there before: of its 2 MiB, if these were wholly empty."""
    partly = {gfn >> 9 for gfn in before.pages}
    first = {}
    for cpu, gfn in pages:
        if gfn not in before.pages:
            first.setdefault(gfn if gfn >> 9 in partly else f"2M {gfn >> 9}", cpu)
    return {gfn: first[gfn if gfn >> 9 in partly else f"2M {gfn >> 9}"] for _, gfn in pages if gfn not in before.pages}


def away(pages, dump):
    """Of the (vCPU, gfn) of a round those that are not on the vCPU's node, nor in 2 MiB that are on that of their first toucher."""
    first = {}
    for cpu, gfn in pages:
        first.setdefault(gfn >> 9, cpu)
    return [(cpu, hex(gfn), dump.pages.get(gfn)) for cpu, gfn in pages
            if dump.pages.get(gfn) != (first[gfn >> 9] + 1, 9) and dump.pages.get(gfn, (None,))[0] != cpu + 1]


STORM = r"memory-events: second (\d+): (\d+) pages released, (\d+) words wrong"
STORM_SAID = "/ pages released, [0-9]+ words wrong/ { released = $4; wrong = $7; last = $0 } END { print released + 0, wrong + 0, last }"


def wait_storm(machine, name, pages):
    """Waits until so many pages more were released and touched again; no word was wrong."""
    said = machine.until(f"set -- $(awk '{STORM_SAID}' {guests.console_log(name)}); begin=${{begin:-$1}}; echo $*\n"
                         f"[ $1 -ge $((begin + {pages})) ] || [ $2 != 0 ]", 180)
    assert said.split()[1] == "0", said


def check_split(machine, hinted, others, effective, homes, **options):
    """What the guest hands out page by page is mapped so, each page on its toucher's node; of the others the first touch maps all.

    Of the hints of one batch so many are effective; homes[cpu] is the node of that vCPU.
    """
    start(machine, len(homes), f"memory-events split {hinted} {others}", **options)
    go(machine)
    pages = touched(machine)
    dump = guests.dump(machine, "g", options.get("memory", MEMORY))
    assert len(pages) == len(homes) * (hinted + others)
    for i, (_, gfn) in enumerate(pages[:hinted + others]):
        there = {other: dump.pages[other] for other in range(gfn & ~511, (gfn | 511) + 1) if other in dump.pages}
        if i >= effective:
            assert there == {other: (homes[0], 9) for other in range(gfn & ~511, (gfn | 511) + 1)}, f"{i}: {len(there)} pages"
            continue
        # the hint itself touches its page
        wanted = {gfn & ~511: (homes[0], 0)} | {other: (homes[cpu], 0) for cpu, other in pages if other >> 9 == gfn >> 9}
        assert there == wanted, f"{i}: {there} instead of {wanted}"

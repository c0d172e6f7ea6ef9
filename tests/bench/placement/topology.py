# SPDX-License-Identifier: GPL-2.0-only
"""The emulated machine: AMD48 in small, and where QEMU puts the memory of its nodes.

One emulated CPU stands for the six of a node.  CPU 0 is dom0's, a second one on node 0; CPU k is the guest's, on node k - 1.
"""

import re
from itertools import accumulate

import places               # noqa: F401  makes harness importable

from harness.topologies import Topology

NODES = 8
GUEST_CPUS = tuple(range(1, NODES + 1))
MIB = 1 << 20
# q35 gives up to 2.75 GiB in one piece; with more, memory below 4 GiB ends at 2 GiB and the rest is above 4 GiB
LOW_MOST, LOW_END, HIGH = 0xb0000000, 0x80000000, 1 << 32

ONE_HOP, TWO_HOPS = 16, 22


def linked(a, b):
    """AMD48's links: all even nodes, all odd nodes, and the two of a socket."""
    return a % 2 == b % 2 or a // 2 == b // 2


def distances():
    return tuple(tuple(10 if a == b else ONE_HOP if linked(a, b) else TWO_HOPS for b in range(NODES)) for a in range(NODES))


# A node must be able to give a whole, aligned GiB, or 1 GiB pages would be nobody's; node 0 also serves Xen and dom0.
AMD48 = Topology("amd48", (2,) + (1,) * 7, (3072,) + (1536,) * 7, distances(), dom0_mib=1024)


def cpus_of(topology):
    """[(first, last) CPU] of each node."""
    ends = list(accumulate(topology.cpus))
    return [(end - cpus, end - 1) for end, cpus in zip(ends, topology.cpus)]


def ranges_of(topology):
    """[[(from, to), …]] of each node: machine addresses, the end not included."""
    total = sum(topology.mib) * MIB
    low = total if total < LOW_MOST else LOW_END
    ranges, start = [], 0
    for mib in topology.mib:
        end = start + mib * MIB
        parts = [(start, min(end, low)), (max(start, low) - low + HIGH, end - low + HIGH)]
        ranges.append([(first, last) for first, last in parts if first < last])
        start = end
    return ranges


def node_options(topology):
    """node= of the plugin, one a node."""
    return [f"node={first}-{last}@" + "+".join(f"{start:#x}-{end:#x}" for start, end in ranges)
            for (first, last), ranges in zip(cpus_of(topology), ranges_of(topology))]


# Xen: "(XEN) NUMA: Node 0 PXM 0 [0000000000100000, 000000004fffffff]",
# Linux: "ACPI: SRAT: Node 0 PXM 0 [mem 0x00100000-0x7fffffff]"
SRAT = re.compile(r"Node (\d+) PXM \d+ \[(?:mem )?(?:0x)?([0-9a-f]+)(?:, |-)(?:0x)?([0-9a-f]+)\]")
LEGACY_HOLE = 0x60000       # below 1 MiB, nobody's memory


def check_srat(topology, text):
    """What the booted system says of its nodes is what the plugin was told; ValueError if not."""
    seen = {}
    for node, first, last in SRAT.findall(text):
        seen.setdefault(int(node), set()).add((int(first, 16), int(last, 16) + 1))
    told = ranges_of(topology)
    if sorted(seen) != list(range(topology.nodes)):
        raise ValueError(f"the system knows memory of the nodes {sorted(seen)}")
    for node, ranges in seen.items():
        for first, last in ranges:
            if not any(start <= first and last <= end for start, end in told[node]):
                raise ValueError(f"node {node} has {first:#x}-{last:#x}, the plugin believes {told[node]}")
        missing = sum(end - start for start, end in told[node]) - sum(last - first for first, last in ranges)
        if missing > LEGACY_HOLE:
            raise ValueError(f"node {node} lacks {missing} bytes of what the plugin believes it has")

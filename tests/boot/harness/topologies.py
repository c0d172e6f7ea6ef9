# SPDX-License-Identifier: GPL-2.0-only
"""The declared table of emulated machines.

A topology is what QEMU's -numa options take: CPUs and MiB a node, and the distances between nodes.
dom0 gets `dom0_mib` of it; Xen takes them from the lowest nodes, so tests keep away from node 0 where room counts.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Topology:
    name: str
    cpus: tuple          # CPUs of each node; 0 is a node with memory only
    mib: tuple           # MiB of each node; 0 is a node with CPUs only
    distances: tuple     # matrix, as ACPI SLIT: 10 is local
    dom0_mib: int = 768
    devices: tuple = ()         # QEMU's, beside what each machine has
    # or "qemu-ibs", see ibs.py, or "bochs", which has VMX and EPT, but neither SRAT nor SLIT: see bochs.py
    emulator: str = "qemu"
    dom0_image: str = ""        # relative to build/, if not the emulator's usual one

    @property
    def nodes(self):
        return len(self.mib)

    def by_distance(self, node):
        """All nodes, nearest to `node` first."""
        return sorted(range(self.nodes), key=lambda other: self.distances[node][other])


def uniform(nodes, remote=20):
    return tuple(tuple(10 if a == b else remote for b in range(nodes)) for a in range(nodes))


def cube(nodes):
    """A twisted cube whose links have different lengths: from every node, every other one is at another distance."""
    links = (6, 9, 12)

    def distance(a, b):
        return 10 + sum(length for bit, length in enumerate(links) if (a ^ b) >> bit & 1)

    return tuple(tuple(distance(a, b) for b in range(nodes)) for a in range(nodes))


TOPOLOGIES = {t.name: t for t in (
    Topology("n1", (2,), (1536,), uniform(1), dom0_mib=512),
    Topology("n2", (2, 2), (3072, 3072), uniform(2)),
    # a node must hold a whole GiB beside what Xen and dom0 take, or round-1g has nothing to show
    Topology("n4", (1,) * 4, (2560,) * 4, cube(4)),
    # with the kernel of Debian 13 for a guest
    Topology("n4-debian", (1,) * 4, (1536,) * 4, cube(4), dom0_image="images-debian/dom0.cpio"),
    Topology("n4-ibs", (1,) * 4, (2560,) * 4, cube(4), emulator="qemu-ibs"),
    Topology("n4-memless", (1,) * 4, (1536, 1024, 0, 1024), cube(4)),
    Topology("n8", (1,) * 8, (1280,) + (1024,) * 7, cube(8)),
    Topology("n8-hetero", (1,) * 8, (1536, 512, 1024, 256, 1280, 768, 384, 1024), cube(8)),
    # Intel's on an AMD machine: with QEMU's amd-iommu, dom0 hangs as it starts
    Topology("n2-iommu", (1, 1), (1024, 768), uniform(2), dom0_mib=512, devices=("intel-iommu,intremap=off",)),
    Topology("ept", (2, 0), (512, 576), uniform(2), dom0_mib=320, emulator="bochs"),
)}

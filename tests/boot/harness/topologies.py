# SPDX-License-Identifier: GPL-2.0-only
"""The declared table of emulated machines.

A topology is what QEMU's -numa options take: CPUs and MiB a node, and the distances between nodes.
dom0 gets `dom0_mib` of it; Xen takes them from the lowest nodes, so tests keep away from node 0 where room counts.
"""

from dataclasses import dataclass

from .firmware import ENABLED, HOT_PLUG, NON_VOLATILE, Firmware


@dataclass(frozen=True)
class Topology:
    name: str
    cpus: tuple          # CPUs of each node; 0 is a node with memory only
    mib: tuple           # MiB of each node; 0 is a node with CPUs only
    distances: tuple     # matrix, as ACPI SLIT: 10 is local
    dom0_mib: int = 768         # 0: all, as Xen has it without dom0_mem=
    devices: tuple = ()         # QEMU's, beside what each machine has
    # or "qemu-ibs", see ibs.py, or "bochs", which has VMX and EPT, but neither SRAT nor SLIT: see bochs.py
    emulator: str = "qemu"
    dom0_image: str = ""        # relative to build/, if not the emulator's usual one
    numbers: tuple = ()         # the numbers of each node's CPUs, if they are not one after the other
    firmware: Firmware = None   # if it is not as QEMU makes it; all else is as Xen should understand it

    @property
    def nodes(self):
        return len(self.mib)

    def cpus_of(self, node):
        """Their numbers."""
        if self.numbers:
            return list(self.numbers[node])
        first = sum(self.cpus[:node])
        return list(range(first, first + self.cpus[node]))

    def by_distance(self, node):
        """All nodes, nearest to `node` first."""
        return sorted(range(self.nodes), key=lambda other: self.distances[node][other])


def uniform(nodes, remote=20):
    return tuple(tuple(10 if a == b else remote for b in range(nodes)) for a in range(nodes))


def sockets(nodes, each, near, far):
    """`each` nodes on a socket."""
    return tuple(tuple(10 if a == b else near if a // each == b // each else far for b in range(nodes)) for a in range(nodes))


def with_hbm(nodes, each):
    """... and as many nodes with HBM alone, each next to one of them."""
    def distance(a, b):
        if a == b:
            return 10
        if a % nodes == b % nodes:
            return 13
        hbm = 2 if max(a, b) >= nodes else 0
        return (12 if a % nodes // each == b % nodes // each else 21) + hbm
    return tuple(tuple(distance(a, b) for b in range(2 * nodes)) for a in range(2 * nodes))


def two_nodes(*ranges, domains=(0, 1), distances=uniform(2)):
    """Firmware of four CPUs on two nodes, whose memory is 1 GiB at 0 and 2 GiB at 4 GiB."""
    return Firmware(1024, tuple(domain for domain in domains for _ in range(2)), ranges, distances)


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
    # with a device model for HVM guests
    Topology("n4-hvm", (1,) * 4, (1536,) * 4, cube(4), dom0_image="images-hvm/dom0.cpio"),
    Topology("n4-dom0-all", (1,) * 4, (1024,) * 4, cube(4), dom0_mib=0),
    # with xl as it is without the series
    Topology("n2-stock", (2, 2), (2048, 1536), uniform(2), dom0_mib=1024, dom0_image="images-stock/dom0.cpio"),
    Topology("n4-ibs", (1,) * 4, (2560,) * 4, cube(4), emulator="qemu-ibs"),
    Topology("n4-memless", (1,) * 4, (1536, 1024, 0, 1024), cube(4)),
    Topology("n8", (1,) * 8, (1280,) + (1024,) * 7, cube(8)),
    Topology("n8-hetero", (1,) * 8, (1536, 512, 1024, 256, 1280, 768, 384, 1024), cube(8)),
    # Intel's on an AMD machine: with QEMU's amd-iommu, dom0 hangs as it starts
    Topology("n2-iommu", (1, 1), (1024, 768), uniform(2), dom0_mib=512, devices=("intel-iommu,intremap=off",)),
    Topology("ept", (2, 0), (512, 576), uniform(2), dom0_mib=320, emulator="bochs"),
)}

# Real machines, with their CPUs, distances and shares of memory scaled down, from public reports: tests/boot/test_machines.py says of which
MACHINES = {t.name: t for t in (
    # two EPYC 7551 with memory on two of eight nodes
    Topology("epyc-2-of-8", (1,) * 8, (1536, 0, 0, 0, 1536, 0, 0, 0), sockets(8, 4, 16, 32)),
    # Threadrippers
    Topology("nps4-3960x", (1,) * 4, (0, 1536, 1536, 0), uniform(4, 12)),
    Topology("2990wx", (1,) * 4, (1536, 0, 1536, 0), uniform(4, 16)),
    # two sockets, each with memory behind CXL, with HBM, or with persistent memory that Linux calls memory
    Topology("cxl", (1, 1, 0, 0), (1024, 1024, 1024, 2048), ((10, 21, 14, 24), (21, 10, 24, 14), (14, 24, 10, 26), (24, 14, 26, 10))),
    Topology("hbm", (1, 1, 0, 0), (2048, 2048, 256, 256), ((10, 21, 13, 23), (21, 10, 23, 13), (13, 23, 10, 23), (23, 13, 23, 10))),
    Topology("pmem", (1, 1, 0, 0), (1024, 1024, 1280, 1280), ((10, 21, 17, 28), (21, 10, 28, 17), (17, 28, 10, 28), (28, 17, 28, 10))),
    # Xeon Max in SNC4
    Topology("snc4-hbm", (1,) * 8 + (0,) * 8, (1024,) + (512,) * 7 + (256,) * 8, with_hbm(8, 4)),
    # CPUs that are numbered across
    Topology("odd-even", (2, 2), (1280, 1024), uniform(2, 21), numbers=((0, 2), (1, 3))),
    Topology("epyc-7251", (4,) * 4, (1280, 1024, 1024, 1024), uniform(4, 16),
             numbers=tuple((2 * node, 2 * node + 1, 2 * node + 8, 2 * node + 9) for node in range(4))),
    Topology("opteron-8", (2,) * 8, (1280,) + (512,) * 7, uniform(8, 16), numbers=tuple((node, node + 8) for node in range(8))),
    # a hole below 4 GiB in a node; the other one begins above
    Topology("hole", (2, 2), (2048, 1024), uniform(2), firmware=two_nodes(
        (0, 0, 1024, ENABLED), (0, 4096, 1024, ENABLED), (1, 5120, 1024, ENABLED))),
    # a range without memory between those of two nodes, as persistent memory is
    Topology("phantom", (2, 2, 0), (1024, 2048, 0), uniform(3), dom0_mib=512, firmware=two_nodes(
        (0, 0, 1024, ENABLED), (2, 2048, 1024, ENABLED | NON_VOLATILE), (1, 4096, 2048, ENABLED), distances=uniform(3))),
    # proximity domains that are not the numbers of Xen's nodes
    Topology("domains-4-1", (2, 2), (1536, 1536), uniform(2), firmware=two_nodes(
        (1, 0, 1024, ENABLED), (1, 4096, 512, ENABLED), (4, 4608, 1536, ENABLED), domains=(4, 1), distances=uniform(5))),
    # room to plug memory in
    Topology("hot-plug", (2, 2), (1536, 1536), uniform(2), firmware=two_nodes(
        (0, 0, 1024, ENABLED), (0, 4096, 512, ENABLED), (1, 4608, 1536, ENABLED), (1, 8192, 57344, ENABLED | HOT_PLUG))),
    # tables that Xen does not use: ranges that overlap, a distance below 10
    Topology("overlap", (4,), (3072,), uniform(1), firmware=two_nodes(
        (0, 0, 1024, ENABLED), (0, 4096, 1024, ENABLED), (1, 4608, 1536, ENABLED))),
    Topology("bad-slit", (2, 2), (1536, 1536), uniform(2), firmware=two_nodes(
        (0, 0, 1024, ENABLED), (0, 4096, 512, ENABLED), (1, 4608, 1536, ENABLED), distances=((10, 9), (20, 10)))),
)}
TOPOLOGIES |= MACHINES

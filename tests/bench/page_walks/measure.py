# SPDX-License-Identifier: GPL-2.0-only
"""The placement bench's systems and workloads, with TLBs, walks of page tables and coherence in the model; on two machines."""

import places               # noqa: F401  makes the next ones importable
from placement import machines
from placement.machines import NativeHost, XenHost
from placement.subjects import SUBJECTS

# The plugin's words.  Of a node's L3 an emulated CPU has the share of the one that it is: of 6, and of 12.
MODELS = {
    "amd48": "machine=amd48,tlb=amd48,coherent=yes,watch=1-8,stands-for=6,l2=512K,l3=853K",
    "xeon": "machine=xeon,tlb=xeon,coherent=yes,watch=1-8,stands-for=12,l3=2240K:16",
}
SYSTEMS = ("native-first-touch", "stock", "round-2m", "round-4k")
WORKLOADS = ("hpcc-randomaccess", "hpcc-stream", "pattern-random", "pattern-master")
SIZE = "quick"


class MemoryInFiles:
    """A machine whose memory the plugin can read."""

    def command(self):
        return [word.replace("memory-backend-ram,", "memory-backend-memfd,") for word in super().command()]


class WalkedNative(MemoryInFiles, NativeHost):
    pass


class WalkedXen(MemoryInFiles, XenHost):
    pass


def host(system, model):
    """Not booted yet."""
    machines.MODEL = MODELS[model]
    subject = SUBJECTS[system]
    return WalkedNative(subject) if subject.native else WalkedXen(subject)


def figures_of(region):
    """What the page needs of a region: of the CPU that takes longest, and of all."""
    cpus = region["cpus"]

    def cycles(cpu):
        return cpu["instructions"]["user"] + cpu["instructions"]["kernel"] + cpu["memory_cycles"]["contended"]

    slowest = max(cpus, key=cycles)

    def total(key, modes=("user", "kernel")):
        return sum(cpu[key][mode] for cpu in cpus for mode in modes)

    def missed(key):
        return sum(sum(cpu[key][mode]) for cpu in cpus for mode in ("user", "kernel"))

    own = sum(cpu["walk_misses"][mode][cpu["node"]] for cpu in cpus for mode in ("user", "kernel"))
    return {
        "time": round(cycles(slowest)),
        "uncontended": slowest["memory_cycles"]["uncontended"], "walk_cycles": slowest["memory_cycles"]["walks"],
        "accesses": total("accesses"), "misses": missed("misses"), "handed_over": total("handed_over"),
        "tlb_hits": total("tlb_hits"), "walks": total("walks"), "walks_lost": sum(cpu["walks_lost"] for cpu in cpus),
        "references": total("walk_l2_hits") + total("walk_l3_hits") + missed("walk_misses"),
        "walk_misses": missed("walk_misses"), "tables_own_node": own / missed("walk_misses") if missed("walk_misses") else None,
        "local_ratio": region["local_ratio"], "imbalance": region["imbalance"],
    }

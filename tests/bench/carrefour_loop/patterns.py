# SPDX-License-Identifier: GPL-2.0-only
"""Patterns that say what the loop does: to converge, to follow, to stay calm, at 64 GiB and at 1 TiB."""

from dataclasses import dataclass

from .simulation import Scenario, Use

GIB = 1024
HOT = 0.05              # of the memory
HOT_SHARE = 0.9         # of the misses


@dataclass(frozen=True)
class Size:
    name: str
    gib: int
    threads: int
    converged_s: int    # the aim


SIZES = (Size("64 GiB, 48 vCPUs", 64, 48, 60), Size("1 TiB, 256 vCPUs", 1024, 256, 600))
SMALL, LARGE = SIZES


def guest(size, areas, uses, **settings):
    return Scenario(areas, uses, {"nodes": 8, "threads": size.threads, "instructions": 100, "policy": "first-touch",
                                  "carrefour": "on", **settings})


def misplaced(size, **settings):
    """A master has touched all. Each thread works on its own twentieth of it."""
    mib = size.gib * GIB
    return guest(size, (("cold", mib * (1 - HOT) / 2, "blocks", "0"), ("hot", mib * HOT, "blocks", "0"),
                        ("rest", mib * (1 - HOT) / 2, "blocks", "0")),
                 (Use("hot", HOT_SHARE, "own"), Use("cold", (1 - HOT_SHARE) / 2, "all"), Use("rest", (1 - HOT_SHARE) / 2, "all")),
                 **settings)


def placed(size):
    """The same where it should be: each part on its node, the rest spread."""
    mib = size.gib * GIB
    return guest(size, (("hot", mib * HOT, "blocks", "own"), ("rest", mib * (1 - HOT), "blocks", "all")),
                 (Use("hot", HOT_SHARE, "own"), Use("rest", 1 - HOT_SHARE, "all")), carrefour="off", seconds=1, entries="2m")


def phases(size, changes, **settings):
    """What is right at first is another node's later."""
    mib, half = size.gib * GIB, size.threads // 2
    return guest(size, (("hot", mib * HOT, "blocks", "own"), ("rest", mib * (1 - HOT), "blocks", "all")),
                 (Use("hot", HOT_SHARE, "own"), Use("rest", 1 - HOT_SHARE, "all"),
                  Use("hot", HOT_SHARE, f"own+{half}", second=changes)), **settings)


def alternating(size, every, until, **settings):
    """Two halves of the threads exchange their parts, again and again."""
    mib, half = size.gib * GIB, size.threads // 2
    return guest(size, (("hot", mib * HOT, "blocks", "own"), ("rest", mib * (1 - HOT), "blocks", "all")),
                 (Use("rest", 1 - HOT_SHARE, "all"),
                  *(Use("hot", HOT_SHARE, f"own+{half * (n % 2)}", second=n * every) for n in range(until // every))), **settings)


def wandering(size, each, **settings):
    """Threads have their own pages, and change their nodes: a pair of them each so many seconds."""
    mib = size.gib * GIB
    return guest(size, (("hot", mib * HOT, "blocks", "own"), ("rest", mib * (1 - HOT), "blocks", "all")),
                 (Use("hot", HOT_SHARE, "own"), Use("rest", 1 - HOT_SHARE, "all")), pinned="off", wander=f"{each} 1", **settings)


def shared(size, **settings):
    """All use all, and it is spread: nothing can be gained."""
    return guest(size, (("a", size.gib * GIB, "blocks", "all"),), (Use("a", 1, "all"),), **settings)


def mixed(size, **settings):
    """Pages of all threads in each 2 MiB, at a master: only small pages could be local, and nobody has divided them."""
    mib = size.gib * GIB
    return guest(size, (("hot", mib * HOT, "mixed", "0"), ("rest", mib * (1 - HOT), "blocks", "all")),
                 (Use("hot", HOT_SHARE, "own"), Use("rest", 1 - HOT_SHARE, "all")), **settings)


def local(size, **settings):
    """All is right from the beginning."""
    return guest(size, (("a", size.gib * GIB, "blocks", "own"),), (Use("a", 1, "own"),), **settings)

# SPDX-License-Identifier: GPL-2.0-only
"""A machine with domains, written for fake-*.c to read."""

from dataclasses import dataclass, field

POLICIES = ["default", "none", "round-4k", "round-2m", "round-1g", "first-touch"]
MIB = 1 << 20

# libxl's error numbers (libxl_types.idl).
ERROR_NI, ERROR_FAIL, ERROR_INVAL, ERROR_DOMAIN_NOTFOUND = -4, -3, -6, -21
ERROR_DEVICE_EXISTS, ERROR_VNUMA_CONFIG_INVALID, ERROR_NOTFOUND = -17, -20, -23

# What becomes of memory that is to be moved.
RESULTS = ["moved", "there", "in_use", "unmovable", "no_room", "late", "no_table", "claimed"]


@dataclass
class Domain:
    id: int
    name: str  # "-": none
    type: str = "pvh"
    policy: str = "round-4k"  # or "vnuma"
    weights: dict = field(default_factory=dict)  # node -> weight
    follows: bool = False
    placed: int = 0
    fallback: int = 0
    usage: dict = field(default_factory=dict)  # node -> (4K, 2M, 1G mappings)
    affinity: int = 0
    dying: bool = False
    cpus: list = field(default_factory=list)  # of its vCPUs, four a node; ~CPU: where an offline one was
    hard: list = ()  # nodes on whose CPUs they may run; none: each only where it is
    soft: list = ()  # where they are to run, of those
    pause: int = 0  # max-pause-us
    carrefour: str = ""  # in xenstore: "0", "1"; "": not there, "?": not to be read
    auto: str = ""  # the same, or "advise"
    foreign: bool = False  # another toolstack has made it
    uuid: str = ""
    claim: int = 0  # KiB that it is still to get

    def __post_init__(self):
        self.uuid = self.uuid or f"{self.id:08x}-0000-4000-8000-00000000abcd"

    def bytes_on(self, node):
        small, middle, large = self.usage.get(node, (0, 0, 0))
        return (small << 12) + (middle << 21) + (large << 30)


@dataclass
class Machine:
    nodes: int = 4
    absent: list = field(default_factory=list)
    empty: list = field(default_factory=list)  # nodes without memory
    distances: dict = field(default_factory=dict)  # (from, to) -> distance; without, libxl knows none
    domains: list = field(default_factory=list)
    free: list = field(default_factory=list)  # bytes by node
    pages: int = 0  # gfns below it have RAM
    order: int = 0  # of every mapping
    busy: list = field(default_factory=list)  # gfns that others use
    divided: list = field(default_factory=list)  # gfns whose 2 MiB are mapped by 4 KiB
    room: dict = field(default_factory=dict)  # node -> order of the largest free piece, -1: none
    privcmd: int = 0  # errno of access() to it
    failures: list = field(default_factory=list)  # (function, rc, after, message)
    arrives: bool = False  # what moves is elsewhere afterwards
    memory: list = field(default_factory=list)  # (result, pages), in the order of gfns
    speed: int = 1 << 30  # bytes moved a second
    signal: tuple = None  # (number, after so many steps)
    becomes: tuple = None  # (policy, after so many steps)
    stall: tuple = None  # (seconds that a step takes more, after so many steps)
    stats: list = field(default_factory=list)  # pages by result, batches, rounds, ns, longest, pause, exceeded, again
    accesses: dict = field(default_factory=dict)  # (from, to) -> samples
    frames: int = 257  # of the ring of the domain's first sampling
    sampling: tuple = None  # (state, after so many looks): OFF, RUNNING, UNREAD, UNFIT
    interrupt: tuple = None  # (signal, after so many looks)
    gap: int = -1  # the program stands still after so many looks
    touches: list = field(default_factory=list)  # in the order of `show --json`
    waits: list = field(default_factory=list)  # pages in the reserve of each node

    def fail(self, function, rc, message="it did not work", after=0):
        self.failures.append((function, rc, after, message))
        return self

    def text(self):
        yield f"nodes {self.nodes}"
        yield f"pages {self.pages} {self.order}"
        yield from (f"busy {gfn}" for gfn in self.busy)
        yield from (f"divided {gfn}" for gfn in self.divided)
        yield from (f"room {node} {order & 0xffffffff}" for node, order in self.room.items())
        yield f"privcmd {self.privcmd}"
        yield f"speed {self.speed}"
        yield f"arrives {int(self.arrives)}"
        for result, pages in self.memory:
            yield f"memory {RESULTS.index(result)} {pages}"
        if self.signal:
            yield f"signal {int(self.signal[0])} {self.signal[1]}"
        if self.becomes:
            yield f"becomes {POLICIES.index(self.becomes[0])} {self.becomes[1]}"
        if self.stall:
            yield f"stall {self.stall[0]} {self.stall[1]}"
        if self.stats:
            yield "stats " + " ".join(map(str, self.stats))
        yield f"frames {self.frames}"
        yield f"gap {self.gap}"
        for (one, other), count in self.accesses.items():
            yield f"access {one} {other} {count}"
        if self.sampling:
            yield f"sampling {['OFF', 'RUNNING', 'UNREAD', 'UNFIT'].index(self.sampling[0])} {self.sampling[1]}"
        if self.interrupt:
            yield f"interrupt {int(self.interrupt[0])} {self.interrupt[1]}"
        if self.touches:
            yield "touches " + " ".join(map(str, self.touches))
        for pages in self.waits:
            yield f"waits {pages}"
        for node, size in enumerate(self.free):
            yield f"free {node} {size}"
        for node in self.absent:
            yield f"absent {node}"
        for node in self.empty:
            yield f"empty {node}"
        for (one, other), distance in self.distances.items():
            yield f"distance {one} {other} {distance}"
        for function, rc, after, message in self.failures:
            yield f"fail {function} {rc} {after} {message}"
        for d in self.domains:
            yield f"domain {d.id} {d.type} {int(d.dying)} {d.affinity:x} {d.name}"
            top = max(d.weights, default=0)
            weights = ",".join(str(d.weights.get(n, 0)) for n in range(top + 1))
            yield (f"policy {d.id} {[*POLICIES, 'vnuma'].index(d.policy)} {int(d.follows)} "
                   f"{d.placed} {d.fallback} {weights}")
            yield f"uuid {d.id} {d.uuid}"
            if d.claim:
                yield f"claim {d.id} {d.claim}"
            if d.foreign:
                yield f"foreign {d.id}"
            yield from (f"vcpu {d.id} {cpu}" for cpu in d.cpus)
            yield f"pin {d.id} " + " ".join(f"{sum(1 << node for node in nodes):x}" for nodes in (d.hard, d.soft))
            yield from (f"{word} {d.id} {value}" for word, value in
                        (("pause", d.pause), ("carrefour", d.carrefour), ("auto", d.auto)) if value)
            for node, sizes in d.usage.items():
                yield f"usage {d.id} {node} {sizes[0]} {sizes[1]} {sizes[2]}"


def following():
    """The example, with a guest1 that follows its affinity, with equal weights."""
    machine = example()
    machine.domains[1].weights = {node: 1 for node in range(4)}
    machine.domains[1].follows = True
    return machine


def example():
    """dom0 and two guests, one of them badly placed, on four nodes."""
    return Machine(pages=1 << 20, free=[0, 512 << 20, 1 << 20, 768 << 20], domains=[
        Domain(0, "Domain-0", "pv", "none"),
        Domain(3, "guest1", weights={0: 3, 1: 1}, placed=262144, fallback=12, cpus=[0, 3, 2, 2],
               usage={0: (98304, 192, 0), 1: (32768, 64, 0)}, affinity=0b1111),
        Domain(4, "guest2", "hvm", "round-2m", weights={2: 1, 3: 1}, follows=True, cpus=[8, 15, -1],
               usage={0: (0, 0, 1), 2: (3, 0, 0), 3: (0, 512, 0)}, affinity=0b1100),
    ])

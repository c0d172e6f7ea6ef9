# SPDX-License-Identifier: GPL-2.0-only
"""The declared table of programs: what each runs on, and which finding of the review of version 0.1 it reproduces."""

from dataclasses import dataclass

from bare_boot import BootRed, Topology, XenDown, uniform
from runner.machines import POLICY

ONE_NODE = Topology("bare-1", (2,), (256,), uniform(1))
TWO_NODES = Topology("bare-2", (1, 1), (256, 256), uniform(2))
TWO_AND_ONE = Topology("bare-2-1", (2, 1), (256, 256), uniform(2))
# all CPUs are on node 0, and a TLB forgets all at any exit: no case for these two
EPT = Topology("bare-ept", (2, 0), (512, 512), uniform(2), emulator="bochs")
FOUR_NODES = Topology("bare-4", (1,) * 4, (192,) + (128,) * 3, uniform(4))


class Differs(AssertionError):
    """The outcome is not what stock's is, or a promise is broken."""


@dataclass(frozen=True)
class Case:
    name: str
    program: str
    words: str = ""             # of the program
    topology: Topology = ONE_NODE
    xen_options: str = POLICY
    ours: bool = False          # it needs hypercalls that stock Xen has not
    on: tuple = ("debug", "release", "off")     # the first one in make test
    ept: bool = False           # it runs with EPT, too,
    ept_soon: bool = False      # and does so in make test
    slow: bool = False          # in make soak only
    finding: str = ""           # what it has shown, and on which it is red today
    red_on: tuple = ()
    red: type = XenDown
    may_die: tuple = ()         # domains that Xen ends
    expected: tuple = ()        # lines of Xen's console, patterns, that are no fault here


POOL_IS_EMPTY = r"failed to allocate from HAP pool$"
NO_TABLE = r"domain_crash called from .*/p2m-pod\.c:\d+$", r"touched GFN 0x[0-9a-f]+, but no page is left for a table$"
TRIPLE_FAULT = r"d\d+v\d+ Triple fault - invoking HVM shutdown action \d+$"
# what stock Xen says, too, of what fails here
OUT_OF_MEMORY = (POOL_IS_EMPTY, r"page number [0-9a-f]+ invalid$", r"Allocation failure when expanding d\d+ grant table$",
                 r"p2m_pod_set_cache_target: Unable to allocate page for PoD cache \(")
PUT_PAGE = "finding xen-core 1: populating fails inside an extent, and Xen panics"
NO_FLUSH = "findings xen-core 2, xen-touch 1: a moved page's old frame is freed without a flush"
# A debug Xen maps by its own cache what it copies, and flushes all when that is full: a TLB forgets too early there.
WITH_TLB = "release", "off"
OURS_WITH_TLB = "release",
OURS = "debug", "release"

CASES = (
    Case("populate-range", "populate-range", ept=True, finding=PUT_PAGE),
    Case("populate-pool", "populate-pool", ept=True, finding=PUT_PAGE, expected=(POOL_IS_EMPTY,)),
    Case("guest-populate-pool", "guest-populate-pool", ept=True, finding=PUT_PAGE, expected=(POOL_IS_EMPTY,)),
    Case("guest-populate-limit", "guest-populate-limit", ept=True, topology=FOUR_NODES, finding=PUT_PAGE, expected=(r"Over-allocation for d1: ",)),
    Case("populate-destroy", "populate-destroy", ept=True, topology=TWO_NODES, xen_options=f"{POLICY} dom0_max_vcpus=2", finding=PUT_PAGE,
         expected=(r"Cannot assign page to domain\d+ -- dying\.$",)),
    Case("populate-part", "populate-part", ept=True, topology=TWO_NODES, ours=True, red=Differs, expected=(POOL_IS_EMPTY,),
         finding="finding xen-core 9: what is populated of an extent that fails is not taken back"),
    Case("stale-tlb-release", "stale-tlb", "release", TWO_NODES, on=WITH_TLB),
    Case("stale-tlb-move", "stale-tlb", "move", TWO_NODES, ours=True, on=OURS_WITH_TLB, red=Differs, finding=NO_FLUSH),
    Case("stale-tlb-rebalance", "stale-tlb", "rebalance", TWO_NODES, ours=True, on=OURS_WITH_TLB, red=Differs, finding=NO_FLUSH),
    Case("stale-tlb-reserve", "stale-tlb", "reserve", TWO_AND_ONE, ours=True, on=OURS_WITH_TLB, red=Differs, finding=NO_FLUSH),
    Case("dma-zone", "dma-zone", topology=TWO_NODES, xen_options=f"{POLICY} dma_bits=26", red=Differs,
         finding="findings xen-core 3, xen-touch 4: a policy uses up the DMA zone of node 0 while other nodes have memory"),
    Case("rebalance-holes", "rebalance-holes", ept=True, topology=TWO_NODES, ours=True, red=Differs,
         finding="finding xen-core 6: of a superpage that is divided, every second page stays"),
    Case("max-pause", "max-pause", topology=TWO_AND_ONE, ours=True, red=Differs,
         finding="issue 24, section 6: a vCPU that writes waits for copies, and nobody can say how long"),
    Case("content", "content", ept=True, ept_soon=True, topology=TWO_NODES, ours=True, red=Differs),
    Case("pod", "pod", ept=True, topology=TWO_NODES, red=Differs,
         finding="issue 27, section 3: what is populated on demand comes from the nodes of the vCPUs, whatever the policy is"),
    Case("pod-migrate", "pod-migrate", ept=True, topology=TWO_NODES, red=Differs,
         finding="review of populating by policy: what was sent, and is zero and taken for another gfn since, is told to be without content"),
    Case("pod-zero", "pod-zero", ept=True, topology=TWO_NODES, red=BootRed,
         finding="review of populating by policy: pages that are zero are not found, as Xen remembers 32 pages of 4 KiB where it were 32 of 2 MiB"),
    Case("compact", "compact", ept=True, topology=TWO_NODES, ours=True, red=Differs,
         finding="issue 27, section 4: a superpage that was lost is not to be had again"),
    Case("compact-give", "compact-give", topology=TWO_AND_ONE, ours=True, slow=True, red=Differs,
         finding="issue 24, second review: what is put together while its guest gives it back"),
    Case("compact-destroy", "compact-destroy", ept=True, topology=TWO_NODES, xen_options=f"{POLICY} dom0_max_vcpus=2", ours=True, red=Differs,
         finding="issue 24, second review: what is put together while its domain is destroyed"),
    Case("move-reasons", "move-reasons", topology=TWO_NODES, ours=True, red=Differs, expected=(POOL_IS_EMPTY,),
         finding="issue 27, section 4: a full node, a full pool and a claim were told as one"),
    # EPT logs writes by PML, where it has that, and else by write-protected entries
    Case("content-no-pml", "content", on=(), ept=True, topology=EPT, xen_options=f"{POLICY} ept=no-pml", ours=True, red=Differs),
    Case("touch-release", "touch-release", ept=True, ept_soon=True, topology=TWO_NODES, ours=True, red=Differs),
    # NPT has none
    Case("altp2m", "altp2m", on=(), ept=True, ept_soon=True, topology=EPT, xen_options="numa-policy=first-touch", ours=True, red=Differs),
    Case("touch-no-table", "touch-no-table", ept=True, ept_soon=True, topology=TWO_NODES, ours=True, red=Differs,
         expected=(POOL_IS_EMPTY, *NO_TABLE),
         may_die=(1,),
         finding="finding xen-touch 6: a touch that finds no page for a table is taken for one of a device"),
    Case("hypercall-touch", "hypercall-touch", topology=TWO_NODES, ours=True, red=Differs,
         finding="issue 24, section 6: 2 MiB that a hypercall touches were cleared with the locks held"),
    Case("populate-over", "populate-over", ept=True, topology=TWO_NODES, ours=True, red=Differs,
         finding="finding xen-touch 11: populating over untouched pages leaves pages in the reserve that no touch can reach"),
    Case("liar", "liar", ept=True, topology=TWO_NODES, ours=True, red=Differs, may_die=(2, 3), expected=(TRIPLE_FAULT,),
         finding="issue 24, section 5: whatever a guest says of its pages hurts itself alone"),
    Case("weights", "weights", topology=FOUR_NODES, ours=True, red=Differs,
         finding="finding xen-core 10: weights go to whatever nodes come to be as many"),
    Case("default", "default", topology=TWO_NODES, xen_options="", finding="finding xen-core 4: a policy is on that nobody has asked for"),
    Case("default-asked", "default", "asked", TWO_NODES, ours=True),
    Case("gfn-beyond", "gfn-beyond", ept=True, topology=TWO_NODES, red=Differs,
         finding="the random campaign: stock Xen takes a gfn of 64 bits for another, and its memory for 2^63 pages"),
    *(Case(f"oom-{group}", "oom", group, topology=TWO_NODES, ours=True, on=("fault",), expected=OUT_OF_MEMORY, slow=group != "populate")
      for group in ("populate", "populate-8m", "policy", "move", "rebalance", "release", "sample", "ask", "create")),
    Case("oom-touch", "oom", "touch", topology=TWO_NODES, ours=True, on=("fault",), expected=(*OUT_OF_MEMORY, *NO_TABLE),
         may_die=tuple(range(1, 200)), slow=True),
    Case("usage", "usage-cost", topology=TWO_NODES, ours=True, red=Differs),
    Case("samples", "samples", ept=True, ept_soon=True, topology=TWO_NODES, ours=True),
    Case("vnuma", "vnuma", ept=True, topology=TWO_NODES, ours=True, red=Differs, finding="finding xen-core 5: a rebalance undoes vNUMA"),
)

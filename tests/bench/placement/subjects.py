# SPDX-License-Identifier: GPL-2.0-only
"""Who is compared: systems that place memory, one entry each.  A new policy is one more entry."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    name: str
    title: str              # for tables and plots
    hypervisor: str = ""    # build/xen-HYPERVISOR; without one it is Linux on the bare emulated machine
    policy: str = ""        # numa_policy= of the guest; stock Xen knows none
    prefix: str = ""        # what a workload's program is started with
    balancing: bool = False     # the kernel's own NUMA balancing
    quick: bool = False     # is in the quick bench, too

    @property
    def native(self):
        return not self.hypervisor

    @property
    def learns(self):
        """carrefourd chooses its policy, by what it has seen of it before."""
        return self.policy.endswith(",auto")

    @property
    def dynamic(self):
        """carrefourd moves its pages."""
        return self.learns or self.policy.endswith(",carrefour")

    @property
    def static(self):
        """The policy by which its pages are placed at first; "" where that is left to others."""
        return "" if self.learns else self.policy.partition(",")[0]


# Order is that of tables and plots.  The first of native Linux is what Linux does by itself, "stock" is what Xen does.
SUBJECTS = {subject.name: subject for subject in (
    Subject("native-first-touch", "Linux, first-touch", quick=True),
    Subject("native-interleave", "Linux, interleave", prefix="numactl --interleave=all", quick=True),
    Subject("native-balancing", "Linux, balancing", balancing=True),
    Subject("stock", "stock Xen", hypervisor="stock", quick=True),
    Subject("round-1g", "round-1g", hypervisor="release", policy="round-1g"),
    Subject("round-2m", "round-2m", hypervisor="release", policy="round-2m"),
    Subject("round-4k", "round-4k", hypervisor="release", policy="round-4k", quick=True),
    Subject("first-touch", "first-touch", hypervisor="release", policy="first-touch"),
    Subject("round-2m-carrefour", "round-2m, Carrefour", hypervisor="release", policy="round-2m,carrefour"),
    Subject("round-4k-carrefour", "round-4k, Carrefour", hypervisor="release", policy="round-4k,carrefour"),
    Subject("first-touch-carrefour", "first-touch, Carrefour", hypervisor="release", policy="first-touch,carrefour"),
    Subject("auto", "auto", hypervisor="release", policy="round-4k,auto"),
)}

FIRST_TOUCH, INTERLEAVE, STOCK = "native-first-touch", "native-interleave", "stock"
XEN_FIRST_TOUCH, AUTO = "first-touch", "auto"
NATIVE = [name for name, subject in SUBJECTS.items() if subject.native]
XEN = [name for name, subject in SUBJECTS.items() if not subject.native]
POLICIES = [name for name, subject in SUBJECTS.items() if subject.policy]
STATIC = [name for name in POLICIES if not SUBJECTS[name].dynamic]

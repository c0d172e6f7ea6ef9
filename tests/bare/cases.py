"""The declared table of programs: what each runs on, and which finding of the review of version 0.1 it reproduces."""

from dataclasses import dataclass

from bare_boot import Topology, XenDown, uniform

ONE_NODE = Topology("bare-1", (2,), (256,), uniform(1))
TWO_NODES = Topology("bare-2", (1, 1), (256, 256), uniform(2))
FOUR_NODES = Topology("bare-4", (1,) * 4, (192,) + (128,) * 3, uniform(4))


class Differs(AssertionError):
    """The outcome is not what stock's is, or a promise is broken."""


@dataclass(frozen=True)
class Case:
    name: str
    program: str
    words: str = ""
    topology: Topology = ONE_NODE
    xen_options: str = ""
    ours: bool = False          # it needs hypercalls that stock Xen has not
    soak: bool = False          # also on the debug hypervisor
    finding: str = ""           # red today, on these, by that
    red_on: tuple = ("debug", "release")
    red: type = XenDown
    expected: tuple = ()        # lines of Xen's console, patterns, that are no fault here


PUT_PAGE = "finding xen-core 1: populating fails inside an extent, and Xen panics"

CASES = (
    Case("populate-range", "populate-range", finding=PUT_PAGE),
    Case("populate-pool", "populate-pool", finding=PUT_PAGE),
    Case("guest-populate-pool", "guest-populate-pool", finding=PUT_PAGE),
)

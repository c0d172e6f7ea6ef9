# SPDX-License-Identifier: GPL-2.0-only
"""What must be true of a guest's memory, checked page by page."""

from functools import reduce
from math import gcd

from .placement import GRAIN, node_of, slots


def spec(policy, homes=None, weights=None):
    """A numa_policy= setting."""
    text = policy
    if homes:
        text += ",nodes=" + ",".join(str(node) for node in homes)
    if weights:
        text += ",weights=" + ":".join(str(weight) for weight in weights)
    return text


def check_books(dump, memory):
    """usage and locate tell the same, and of about as much memory as the guest was given."""
    assert dump.usage_pages() == dump.located_pages()
    assert dump.usage_orders() == dump.located_orders()
    assert abs(len(dump.pages) - (memory << 8)) <= 512, f"{len(dump.pages)} pages for {memory} MiB"


def check_policy(dump, policy, homes, weights=None):
    """The policy in force is the one asked for."""
    assert dump.policy == policy
    assert sorted(dump.homes) == sorted(homes)
    divisor = reduce(gcd, dump.homes.values())
    asked = weights or [1] * len(homes)
    asked_divisor = reduce(gcd, asked)
    assert [dump.homes[node] // divisor for node in sorted(homes)] == [weight // asked_divisor for weight in asked]


def misplaced(dump, policy, homes, weights=None):
    """Pages that are not on the node which the policy names: [(gfn, node, wanted)]."""
    dealt = slots(homes, weights)
    return [(gfn, node, node_of(gfn, policy, dealt)) for gfn, (node, _) in dump.pages.items()
            if node != node_of(gfn, policy, dealt)]


def check_every_page(dump, policy, homes, weights=None):
    wrong = misplaced(dump, policy, homes, weights)
    assert not wrong, \
        f"{len(wrong)} of {len(dump.pages)} pages are elsewhere, the first (gfn, node, wanted): {wrong[:8]}"
    assert dump.fallback == 0


def whole_ranges(dump, order):
    """First gfns of the aligned ranges of this order that have RAM throughout."""
    count = {}
    for gfn in dump.pages:
        count[gfn >> order] = count.get(gfn >> order, 0) + 1
    return [first << order for first, pages in count.items() if pages == 1 << order]


def check_orders(dump, policy, homes):
    """No mapping is larger than the grain, and none is smaller than it need be."""
    grain = GRAIN[policy] if len(homes) > 1 else 18
    assert max(order for _, order in dump.pages.values()) <= grain
    if grain >= 9:
        small = [hex(gfn) for gfn in whole_ranges(dump, 9) if dump.pages[gfn][1] < 9]
        # the first 2 MiB hold the hole below 1 MiB; the builder fills the last few piecewise
        assert len(small) <= 1, f"ranges of 2 MiB in small pages: {small}"

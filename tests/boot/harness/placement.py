# SPDX-License-Identifier: GPL-2.0-only
"""Where every page must be: the rule of docs/, written down a second time from the specification and from nothing else.

A policy places the page at gfn g with grain order o in slot (g >> o) mod W, W being the sum of the weights after division by
their greatest common divisor.  The slots are dealt to the home nodes by smooth weighted round robin.
"""

from functools import reduce
from math import gcd

GRAIN = {"round-4k": 0, "round-2m": 9, "round-1g": 18}


def slots(homes, weights=None):
    """The node of each slot."""
    homes = sorted(homes)
    weights = list(weights) if weights else [1] * len(homes)
    divisor = reduce(gcd, weights)
    weights = [weight // divisor for weight in weights]
    total = sum(weights)
    credit = [0] * len(homes)
    dealt = []
    for _ in range(total):
        credit = [c + w for c, w in zip(credit, weights)]
        winner = credit.index(max(credit))      # the first of the largest: the lowest node on a tie
        credit[winner] -= total
        dealt.append(homes[winner])
    return dealt


def node_of(gfn, policy, dealt):
    return dealt[(gfn >> GRAIN[policy]) % len(dealt)]

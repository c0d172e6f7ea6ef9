# SPDX-License-Identifier: GPL-2.0-only
"""
Programs that have the figures of the paper's Table 1.

Table 1 has four figures a program. Four parameters are found from them: which part of the misses goes to a hot page, which to
what a master has touched, which to pages of the thread's own; and how many instructions there are for each miss. The rest of the
misses goes to pages that all touch and all use. What the table does not tell is whether each thread has a part of the master's
pages for itself: both are tried, as Carrefour can bring home the one and only spread the other.
"""

import csv
import math
from dataclasses import dataclass

from places import ROOT

from .simulation import Scenario, Use, run

TABLE = ROOT / "tests/unit/carrefour/papers-table-1.csv"
NODES, THREADS = 8, 48
ALL_ON_ONE = math.sqrt(NODES - 1)       # the imbalance then
MOST_INSTRUCTIONS = 1e5
SMALL_MIB = 64                          # where only shares matter
PAGE_MIB = 1 / 256
STEPS = 24                              # of bisection
LARGE_MIB = 2 * THREADS * 2             # below it, threads share 2 MiB


@dataclass(frozen=True)
class Row:
    name: str
    imbalance: dict     # by policy, 1 is 100 %
    link: dict
    footprint: float    # MiB
    best: str           # under Xen


@dataclass(frozen=True)
class Fitted:
    row: Row
    hot: float
    master: float
    own: float
    instructions: float
    overlap: int

    def scenario(self, private=True, footprint=None):
        """private: each thread has a part of the master's pages for itself, else all use all of them."""
        row = self.row
        mib = footprint or row.footprint
        shared = 1 - self.hot - self.master - self.own
        parts = [("hot", self.hot, 0, "all"), ("master", self.master, 0, "own" if private else "all"),
                 ("own", self.own, "own", "own"), ("shared", shared, "all", "all")]
        parts = [part for part in parts if part[1] > 1e-6]
        # A page is as hot as any other, but for the hot ones: Table 1 has no more to say.
        cold = sum(share for name, share, *_ in parts if name != "hot")
        areas = tuple((name, PAGE_MIB if name == "hot" else mib * share / cold, "blocks", touched)
                      for name, share, touched, _ in parts)
        uses = tuple(Use(name, share, by) for name, share, _, by in parts)
        return Scenario(areas, uses, {"nodes": NODES, "threads": THREADS, "instructions": f"{self.instructions:.6g}",
                                      "overlap": self.overlap, "entries": "2m" if mib > LARGE_MIB else "4k"})


def table():
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines):
        def percent(what, row=row):
            return {policy: float(row[f"{what}_{policy.replace('-', '_')}_pct"]) / 100 for policy in ("first-touch", "round-4k")}
        yield Row(row["app"], percent("imbalance"), percent("interconnect"), float(row["footprint_mb"]),
                  row["best_xen"].replace("/", ","))


def figure(program, fitted, policy, name):
    scenario = fitted.scenario(footprint=SMALL_MIB).having(seconds=1, entries="4k").under(policy)
    return run(program, scenario)[0][0][name]


def bisect(low, high, wanted, function):
    """Where a function that falls is what is wanted; or the end that is nearest."""
    if function(low) <= wanted:
        return low
    if function(high) >= wanted:
        return high
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > wanted else (low, middle)
    return (low + high) / 2


def fit(program, row):
    hot = min(1, row.imbalance["round-4k"] / ALL_ON_ONE)
    master = min(1 - hot, max(0, row.imbalance["first-touch"] / ALL_ON_ONE - hot))
    rest = 1 - hot - master

    def links(policy, own, instructions, overlap):
        return figure(program, Fitted(row, hot, master, own, instructions, overlap), policy, "link")

    overlap = next((n for n in (1, 2, 4, 8) if links("round-4k", 0, 0, n) >= row.link["round-4k"]), 8)
    # in decades: what counts is the ratio
    instructions = 10 ** bisect(-1, math.log10(MOST_INSTRUCTIONS), row.link["round-4k"],
                                lambda x: links("round-4k", 0, 10 ** x, overlap))
    own = bisect(0, rest, row.link["first-touch"], lambda x: links("first-touch", x, instructions, overlap))
    return Fitted(row, hot, master, own, instructions, overlap)


def misfit(program, fitted):
    """What the fitted program has where the table has something else: {(figure, policy): (table, program)}."""
    found = {}
    for policy in ("first-touch", "round-4k"):
        for name, wanted in (("imbalance", fitted.row.imbalance[policy]), ("link", fitted.row.link[policy])):
            found[f"{name} {policy}"] = (wanted, round(figure(program, fitted, policy, name), 3))
    return found

# SPDX-License-Identifier: GPL-2.0-only
"""The random campaign of programs/campaign.c: a run, its verdict, the page of what was really run.

    campaign.py HYPERVISOR CALLS [SEED]     runs, judges and records; without a seed it makes one

docs/results/hardening.json has a record of each green run that counts; hardening.md is made of it.
"""

import datetime
import json
import re
import secrets
import sys
from pathlib import Path

ROOT = Path(__file__).absolute().parents[2]
for path in (str(ROOT / "tests"), str(ROOT / "tests" / "boot")):
    if path not in sys.path:
        sys.path.insert(0, path)

from bare_boot import BUILD, Boot, Topology, uniform    # noqa: E402  the path comes first
from bochs_boot import BochsBoot                        # noqa: E402
from runner.machines import POLICY                      # noqa: E402
from runner.soak import commit                          # noqa: E402

# programs/campaign.c has their nodes, too.  With more CPUs than the host has cores, each flush of TLBs waits until the host runs the
# thread that is to answer, and all of it takes twice as long.
MACHINES = {cpus: Topology(f"bare-3-{cpus}", (1, 1, cpus - 2), (192, 96, 96), uniform(3)) for cpus in (2, 3)}
NODES = 3
OURS = "debug", "release", "ubsan"
OPTIONS = " ".join((
    POLICY,
    "guest_loglvl=none",                    # who is hostile is refused thousands of times
    # with Credit2 the end of a guest of two vCPUs can be that of Xen: docs/hardening.md
    "sched=credit",
))
EXPECTED = (
    # it has populated where it had mapped a grant
    r"domain_crash called from .*/p2m\.c:\d+$",
    # ... or dom0 has, for it
    r"Domain \d+ reported crashed by domain 0 on cpu#\d+:$",
    # HVM_PARAM_VM86_TSS and _SIZED, of itself
    r"domain_crash called from .*/hvm\.c:\d+$",
    # it has touched what finds no page for a table
    r"domain_crash called from .*/p2m-pod\.c:\d+$",
    r"failed to allocate from HAP pool$",
)
MAY_DIE = range(3, 0x7FF0)                  # all but dom0 and the first victims
# Pages that a node may have lost, as xmalloc() keeps a page while anything in it lives, and bytes for each life of the hostile guest: with
# a domain of two vCPUs stock Xen loses a sched_unit and what hangs on it (docs/hardening.md).  What a single operation loses is for other
# tests, which are exact.
KEPT = 24
KEPT_OF_LIFE = 512
# What the machine never does for a guest; of all else both halves must be seen.
NEVER_ACCEPTED = {"HVMOP_altp2m"}           # NPT has none
# ... or of these, in a run that is too short for that
OFTEN = {"populate_physmap", "decrease_reservation", "page_events", "touch", "move"}
OF_SERIES = {
    "page_events", "page_events, split", "page_events, garbage",
    "set", "get", "usage", "locate", "move", "rebalance", "stats", "touches",
    "sample, start", "sample, stop", "sample, get", "garbage", "compact", "acquire the ring",
}
STOCK_BITS = 59         # of a gfn: with more, stock Xen takes it for another one, and may never end a domain (docs/hardening.md)
COUNT = re.compile(r"(accepted|refused|longest): (.*)")
VICTIMS = 1, 2
IDLE_SHARE = 0.25       # of all lives: one that has written over its program, or lost its mailbox
RESULTS = ROOT / "docs" / "results"
HEAD = """\
# A hostile guest at random: what was run

Made by `tests/bare/campaign.py` and `make soak ONLY=campaign`; do not edit.
[hardening.json](hardening.json) has all figures.

A PVH guest of two vCPUs, without Linux, makes hypercalls at random. Meanwhile a bare dom0 sets the
guest's policies, moves its memory, samples, pauses and destroys it, and creates it anew. It passes
garbage in each field of `XEN_DOMCTL_numa_policy`. Two victims verify every word that they have.

A run is in this list if all of this holds: Xen lived; its console was clean; no word was wrong; all
memory came back to its node but for {kept} pages, and {kept_of_life} bytes for each life of the
guest (xmalloc() keeps some, and stock Xen loses some with each domain of two vCPUs); Xen accepted
and refused each kind of call ({never} is never accepted without EPT).

The emulated machine has NPT, three nodes, and two or three CPUs. With two CPUs one node has memory
only. Where the list says EPT, it is Bochs: Xen makes up as many nodes (`numa=fake`), and the guest
may have altp2m.

| hypervisor | CPUs | date | commit | seed | hypercalls of the guest | its lives | ended by Xen | without calls | passes \
of the victims | longest waits, M cycles | pages missing, by node | seconds |
|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""
WAITS = """
A wait is no bound, nor is the longest time of a call: each includes times in which vCPUs share a
CPU, or the host gives the emulator none.

"""


class Harmed(AssertionError):
    """A victim, or the machine's memory, is not what it was; or the run proves nothing."""


def new_seed():
    return secrets.randbits(48)


def run(program, hypervisor, calls, seed, seconds, cpus=2, ept=False):
    """The Report.  With EPT the guest may have altp2m, and all of it is some forty times slower."""
    words = f"calls={calls} seed={seed}" + ("" if hypervisor in OURS else f" bits={STOCK_BITS}") + " altp2m=1 warm=200" * ept
    print(f"campaign on {hypervisor}{', EPT' * ept}: {words}", flush=True)
    kind = BochsBoot if ept else Boot
    return kind(program, words, MACHINES[cpus], hypervisor, OPTIONS, EXPECTED, MAY_DIE, seconds).run()


def counts_of(report):
    """Accepted and refused, by kind."""
    kinds = {}
    for name, value in report.note.items():
        found = COUNT.fullmatch(name)
        if found:
            kinds.setdefault(found[2], {})[found[1]] = value
    return kinds


def kept(report):
    """Pages that may be missing from a node."""
    return KEPT + report.note["lives of the hostile guest"] * KEPT_OF_LIFE // 4096


def judge(report, hypervisor, calls, ept=False, each_kind=True):
    """Harmed, or the run was green."""
    harmless = {"victims that live": len(VICTIMS), "words of theirs that were wrong": 0,
                "as many calls as were wanted": 1}
    missing = {f"pages missing on node {node}" for node in range(NODES)}
    if ({name: value for name, value in report.outcome.items() if name not in missing} != harmless
            or any(abs(report.outcome[name]) > kept(report) for name in missing)):
        raise Harmed(f"{report.outcome}\n{report.note}")
    told = {f"the nodes of victim {victim} are told as they are": 1 for victim in VICTIMS} if hypervisor in OURS else {}
    if report.promise != told:
        raise Harmed(f"{report.promise}, not {told}")
    if report.note["calls"] < calls:
        raise Harmed(f"{report.note['calls']} calls of {calls}")
    never = (set() if ept else NEVER_ACCEPTED) | (set() if hypervisor in OURS else OF_SERIES)
    if report.note["lives that made no more calls"] > report.note["lives of the hostile guest"] * IDLE_SHARE:
        raise Harmed(f"{report.note['lives that made no more calls']} lives made no more calls: what keeps them?")
    for name, count in counts_of(report).items():
        if (each_kind or name in OFTEN) and (not count["refused"] or bool(count["accepted"]) != (name not in never)):
            raise Harmed(f"{name}: {count}, which proves nothing")


def record(report, hypervisor, seed, cpus=2, ept=False, results=RESULTS):
    path = results / "hardening.json"
    runs = json.loads(path.read_text()) if path.exists() else []
    runs.append({"date": datetime.date.today().isoformat(), "commit": commit(),
                 "hypervisor": hypervisor + ", EPT" * ept, "cpus": cpus, "seed": seed, "seconds": round(report.seconds),
                 "pages missing": [report.outcome[f"pages missing on node {node}"] for node in range(NODES)], **report.note})
    path.write_text(json.dumps(runs, indent=1) + "\n")
    (results / "hardening.md").write_text(page(runs))


def row(*cells):
    texts = (f"{cell:,}" if isinstance(cell, int) else cell for cell in cells)
    return f"| {' | '.join(texts)} |\n"


def page(runs):
    text = HEAD.format(never=", ".join(f"`{name}`" for name in sorted(NEVER_ACCEPTED)), kept=KEPT, kept_of_life=KEPT_OF_LIFE)
    for one in runs:
        waits = [one[f"longest wait of victim {victim}, cycles"] / 1e6 for victim in VICTIMS]
        text += row(one["hypervisor"], one.get("cpus", 3), one["date"], one["commit"], str(one["seed"]), one["calls"],
                    one["lives of the hostile guest"], one["lives that Xen has ended"], one["lives that made no more calls"],
                    " and ".join(f"{one[f'passes of victim {victim}']:,}" for victim in VICTIMS),
                    " and ".join(f"{wait:,.0f}" for wait in waits), ", ".join(map(str, one["pages missing"])), one["seconds"])
    hypervisors = sorted({one["hypervisor"] for one in runs})
    kinds = dict.fromkeys(found[2] for one in runs for found in map(COUNT.fullmatch, one) if found)
    text += WAITS + row("call", *(f"accepted, refused, longest (M cycles) on {name}"
                                  for name in hypervisors))
    text += "|---|" + "---:|" * len(hypervisors) + "\n"

    def total(hypervisor, kind):
        of_it = [one for one in runs if one["hypervisor"] == hypervisor]
        sums = [f"{sum(one.get(f'{what}: {kind}', 0) for one in of_it):,}"
                for what in ("accepted", "refused")]
        longest = max(one.get(f"longest: {kind}", 0) for one in of_it)
        return ", ".join((*sums, f"{longest / 1e6:,.0f}"))

    for kind in kinds:
        text += row(kind, *(total(hypervisor, kind) for hypervisor in hypervisors))
    return text


def main(hypervisor, calls, seed=None):
    calls, seed = int(calls), int(seed or new_seed())
    report = run(BUILD / "bare" / "campaign", hypervisor, calls, seed, seconds=7200)
    judge(report, hypervisor, calls)
    record(report, hypervisor, seed)


if __name__ == "__main__":
    main(*sys.argv[1:])

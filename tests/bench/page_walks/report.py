# SPDX-License-Identifier: GPL-2.0-only
"""The page of what walks cost, and its plot."""

import pages

from placement.subjects import SUBJECTS

from .measure import MODELS, SYSTEMS, WORKLOADS
from .sweep import BELOW, PAGES, SETS

NAME = "page-walks"
MACHINES = {"amd48": "AMD48", "xeon": "two Xeon Platinum 8468"}
COLOURS = {"native": "#555555", "4K": "#08519c", "2M": "#4292c6", "1G": "#9ecae1", "4K, far": "#c0392b"}
HEAD = """# What page walks cost

Made by `tests/bench/page_walks/run.py`; do not edit. [page-walks.json](page-walks.json) has the figures.
[tests/bench/page_walks/README.md](../../tests/bench/page_walks/README.md) says how they are taken, and
[tests/numasim/README.md](../../tests/numasim/README.md) what the model is and where its numbers come from.

![what a load at random takes, by page size](page-walks.svg)

**Read it so:** a program's address is translated by the guest's page tables, and under Xen by Xen's, too. What TLBs and walk
caches do not hold of both is read from caches and memory. Stock Xen and `round-2m` give a VM nested pages of 2 MiB and more,
`round-4k` of 4 KiB. Walks and what they read are **counted**, with TLBs and walk caches of the model. Cycles are **modelled**.

{qemu}. Taken at {commits}.
"""
LOADS = """One CPU loads words at random, each from a line of its working set, all of it on its own node; nobody else is at work.
Rows are the working set and the guest's page, columns the nested page. *Far*: Xen's tables are two hops away,
on the Xeon in the other socket; else all tables are on the CPU's node.
"""
BOOTS = """Workloads of the size *{size}*, each once, as [placement.md](placement.md) has them. The guest's kernel maps programs by
4 KiB.
"""


def name(model, system, workload):
    return f"{model}/{system}/{workload}"


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "—"


def ratio(part, whole):
    return f"{part / whole:.2f}" if whole else "—"


def load_rows(rows, cell):
    found = {(row["mib"], row["page"], row["below"]): row for row in rows}
    return [[f"{mib} MiB, {size}", *(cell(found[mib, size, below]) for below in BELOW)] for mib in SETS for size in PAGES]


def loads(rows):
    head = ["", *(below if below == "native" else f"on {below}" for below in BELOW)]
    for title, cell in (
            ("Cycles that a load waits (modelled):", lambda row: f"{row['cycles']:.0f}"),
            ("Of these for its translation (modelled):", lambda row: f"{row['walk_cycles']:.0f}"),
            ("Walks a load (counted):", lambda row: ratio(row["walks"], row["loads"])),
            ("Entries of page tables that a load reads from caches or memory (counted):",
             lambda row: ratio(row["references"], row["loads"])),
            ("Of these from memory (counted):", lambda row: ratio(row["missed"], row["loads"]))):
        yield from (title, "", *pages.table(head, load_rows(rows, cell)), "")


def rows_of(results, model, cell):
    """A row a workload with what there is of each system."""
    return [[workload, *(cell(results[name(model, system, workload)]) if name(model, system, workload) in results else "—"
                         for system in SYSTEMS)] for workload in WORKLOADS]


def against(results, model, base):
    """Time against another system, of a cell that has to know its neighbours."""
    rows = []
    for workload in WORKLOADS:
        first = results.get(name(model, base, workload))
        found = [results.get(name(model, system, workload)) for system in SYSTEMS]
        rows.append([workload, *(f"{100 * (one['time'] / first['time'] - 1):+.0f} %" if one and first else "—"
                                 for one in found)])
    return rows


def boots(results, model):
    head = ["", *(SUBJECTS[system].title for system in SYSTEMS)]
    for title, rows in (
            ("Time against stock Xen (modelled, with contention):", against(results, model, "stock")),
            ("Translation, of the wait for memory of the CPU that takes longest, were there no contention (modelled):",
             rows_of(results, model, lambda row: share(row["walk_cycles"], row["uncontended"]))),
            ("Walks, of all accesses (counted):", rows_of(results, model, lambda row: share(row["walks"], row["accesses"]))),
            ("Entries that a walk reads from caches or memory (counted):",
             rows_of(results, model, lambda row: ratio(row["references"], row["walks"]))),
            ("Of these from memory (counted):", rows_of(results, model, lambda row: ratio(row["walk_misses"], row["walks"]))),
            ("Of those the share from the CPU's own node (counted):",
             rows_of(results, model, lambda row: "—" if row["tables_own_node"] is None
                     else f"{100 * row['tables_own_node']:.0f} %")),
            ("Misses of lines that another CPU wrote last, of all misses (counted):",
             rows_of(results, model, lambda row: share(row["handed_over"], row["misses"])))):
        yield from (title, "", *pages.table(head, rows), "")


def page(result):
    results = result["results"]
    commits = sorted({row["commit"] for row in results.values()})
    lines = [HEAD.format(qemu=result["versions"]["qemu"], commits=", ".join(commits)), "## Loads at random", "", LOADS]
    for model in MODELS:
        if f"{model}/loads" in results:
            lines += [f"### {MACHINES[model]}", "", *loads(results[f"{model}/loads"]["rows"])]
    measured = [model for model in MODELS
                if any(name(model, system, workload) in results for system in SYSTEMS for workload in WORKLOADS)]
    if measured:
        lines += ["## Workloads", "", BOOTS.format(size=result["size"])]
    for model in measured:
        lines += [f"### On {MACHINES[model]}", "", *boots(results, model)]
    return "\n".join(lines)


def plot(result, path):
    """Of the largest working set: a group a machine and guest's page, a bar a nested page."""
    shown = [model for model in MODELS if f"{model}/loads" in result["results"]]
    groups = [(model, size) for model in shown for size in PAGES]
    figure, axes = pages.begin_plot(NAME, figsize=(8.5, 1 + 1.2 * len(groups)), facecolor="white")
    for step, (below, colour) in enumerate(COLOURS.items()):
        cycles = [next(row["cycles"] for row in result["results"][f"{model}/loads"]["rows"]
                       if (row["mib"], row["page"], row["below"]) == (SETS[-1], size, below)) for model, size in groups]
        bars = axes.barh([index + (step - 2) * 0.17 for index in range(len(groups))], cycles, 0.16, color=colour,
                         label=below if below == "native" else f"on {below}")
        axes.bar_label(bars, [f"{value:.0f}" for value in cycles], padding=4, fontsize=8)
    axes.set_yticks(range(len(groups)), [f"{MACHINES[model]}\npages of {size}" for model, size in groups])
    axes.invert_yaxis()
    axes.set_xlabel(f"cycles that a load at random from {SETS[-1]} MiB waits (modelled)")
    pages.end_plot(figure, axes, path)


def write(result, directory):
    return pages.write(NAME, result, page, plot, directory)

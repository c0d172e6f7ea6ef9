# SPDX-License-Identifier: GPL-2.0-only
"""The page of what walks cost, and its plot."""

import pages

from placement.subjects import SUBJECTS

from .measure import MODELS, SYSTEMS, WORKLOADS

NAME = "page-walks"
MACHINES = {"amd48": "AMD48", "xeon": "a server of 2022"}
COLOURS = {"native-first-touch": "#555555", "stock": "#c0392b", "round-2m": "#4292c6", "round-4k": "#08519c"}
HEAD = """# What page walks cost

Made by `tests/bench/page_walks/run.py`; do not edit. [page-walks.json](page-walks.json) has the figures.
[tests/numasim/README.md](../../tests/numasim/README.md) says what the model is, and where its numbers come from.

![share of the wait for memory that is walks](page-walks.svg)

**Read it so:** a program's address is translated by the guest's page tables, and under Xen by Xen's, too. Entries that no TLB and
no walk cache holds come from caches and memory. The bars say which part of the wait for memory that is, were there no contention.

Walks, and where their entries came from, are **counted**, with the TLBs and walk caches of the model. Their time is **modelled**.
The guest's kernel maps programs by 4 KiB. Below that, stock Xen has large pages, `round-2m` 2 MiB and `round-4k` 4 KiB.

QEMU: {qemu}; workloads of the size *{size}*, each once. Commits: {commits}.
"""


def name(model, system, workload):
    return f"{model}/{system}/{workload}"


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "—"


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
        rows.append([workload, *(f"{100 * (one['time'] / first['time'] - 1):+.0f} %" if one and first else "—" for one in found)])
    return rows


def page(result):
    results, lines = result["results"], []
    commits = sorted({row["commit"] for row in results.values()})
    lines.append(HEAD.format(qemu=result["versions"]["qemu"], size=result["size"], commits=", ".join(commits)))
    titles = [SUBJECTS[system].title for system in SYSTEMS]
    for model in MODELS:
        if not any(key.startswith(f"{model}/") for key in results):
            continue
        lines += [f"## {MACHINES[model]}", "", "Walks, of all accesses (counted):", "",
                  *pages.table(["", *titles], rows_of(results, model, lambda row: share(row["walks"], row["accesses"]))), "",
                  "Entries that a walk read from caches and memory, on average (counted):", "",
                  *pages.table(["", *titles], rows_of(results, model, lambda row: f"{row['references'] / row['walks']:.2f}"
                                                      if row["walks"] else "—")), "",
                  "Entries that came from memory, a walk (counted):", "",
                  *pages.table(["", *titles], rows_of(results, model, lambda row: f"{row['walk_misses'] / row['walks']:.2f}"
                                                      if row["walks"] else "—")), "",
                  "Of these the share on the CPU's own node (counted):", "",
                  *pages.table(["", *titles], rows_of(results, model, lambda row: "—" if row["tables_own_node"] is None
                                                      else f"{100 * row['tables_own_node']:.0f} %")), "",
                  "Walks and TLBs, of the wait for memory of the CPU that takes longest (modelled):", "",
                  *pages.table(["", *titles], rows_of(results, model, lambda row: share(row["walk_cycles"], row["uncontended"]))), "",
                  "Misses of lines that another CPU wrote last (counted):", "",
                  *pages.table(["", *titles], rows_of(results, model, lambda row: share(row["handed_over"], row["misses"]))), "",
                  "Time against stock Xen (modelled, with contention):", "",
                  *pages.table(["", *titles], against(results, model, "stock")), ""]
    return "\n".join(lines)


def plot(result, path):
    results = result["results"]
    shown = [model for model in MODELS if any(key.startswith(f"{model}/") for key in results)]
    figure, axes = pages.begin_plot(NAME, figsize=(8.5, 1 + 1.1 * len(WORKLOADS) * len(shown)), facecolor="white")
    labels, place = [], 0
    for model in reversed(shown):
        for workload in reversed(WORKLOADS):
            for step, system in enumerate(SYSTEMS):
                row = results.get(name(model, system, workload))
                if row:
                    axes.barh(place - 0.2 * step, 100 * row["walk_cycles"] / row["uncontended"], height=0.18, color=COLOURS[system],
                              label=SUBJECTS[system].title if SUBJECTS[system].title not in axes.get_legend_handles_labels()[1] else None)
            labels.append((place - 0.3, f"{workload}\n{MACHINES[model]}"))
            place += 1
    axes.set_yticks([at for at, _ in labels], [text for _, text in labels])
    axes.set_xlabel("page walks, % of the wait for memory (modelled)")
    pages.end_plot(figure, axes, path)


def write(result, directory):
    return pages.write(NAME, result, page, plot, directory)

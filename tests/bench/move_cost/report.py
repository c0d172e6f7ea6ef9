# SPDX-License-Identifier: GPL-2.0-only
"""The results as JSON, as a page of text and as a plot."""

from collections import Counter

from pages import begin_plot, end_plot, table
from pages import write as write_results

ROWS = 16
AIMS = {"4 KiB pages": 2.0, "2 MiB pages": 1.1}
ROUNDS = 3


def totals(kinds):
    rows = []
    for kind, figures in kinds.items():
        aim = AIMS.get(kind)
        verdict = f"{aim:g}: {'met' if figures['ratio'] <= aim else 'NOT met'}" if aim else ""
        rows.append((kind, f"{figures['a_page']:,.0f}", f"{figures['copy_a_page']:,.0f}", f"{figures['ratio']:.2f}", verdict,
                     f"{100 * figures['disagreement']:.2f} %"))
    return table(("what is moved", "instructions, a 4 KiB page", "of them a plain copy", "copies", "aim", "runs differ by"), rows)


def flushes(kinds):
    rows = [(kind, figures["moved_pages"], figures["move_batches"], f"{figures['flush_rounds'] / figures['move_batches']:.2f}",
             f"{figures['longest_locked_ns'] / 1e6:.1f}", f"{figures['locked_ns'] / figures['move_batches'] / 1e6:.1f}")
            for kind, figures in kinds.items()]
    return table(("what is moved", "pages", "batches", f"rounds of flushes a batch (aim: {ROUNDS})", "p2m locked, longest, ms", "on average, ms"), rows)


def by_function(kinds):
    most = Counter()
    for figures in kinds.values():
        for name, count in figures["functions"].items():
            most[name] = max(most[name], count)
    shown = [name for name, _ in most.most_common(ROWS)]
    rows = [(f"`{name}`", *(f"{figures['functions'].get(name, 0):,.1f}" for figures in kinds.values())) for name in shown]
    rows.append(("all others", *(f"{sum(count for name, count in figures['functions'].items() if name not in shown):,.1f}"
                                 for figures in kinds.values())))
    return table(("function", *kinds), rows)


def page(result):
    kinds = result["kinds"]
    return "\n".join([
        "# What it costs Xen to move the memory of a guest",
        "",
        "Made by `make bench`; do not edit. [move-cost.json](move-cost.json) has the figures.",
        "[tests/bench/move_cost/README.md](../../tests/bench/move_cost/README.md) says how they are taken.",
        "",
        "![instructions a page](move-cost.svg)",
        "",
        f"**Measured:** `xl numa-policy rebalance` of a PVH guest of {result['memory_mib']} MiB from two nodes to two others:",
        "instructions of the hypervisor (release) on the CPU that dom0 has for itself, for each 4 KiB moved, less those of the",
        f"command for a guest of 4 MiB that is in place. Each figure is the middle one of {result['repeat']}.",
        "",
        *totals(kinds),
        "",
        "A plain copy is `copy_domain_page()` with all that it calls, counted in the same run. **Counted, not modelled**;",
        "waiting for other CPUs to flush, and the scrubbing of freed pages by idle CPUs, are left out.",
        "",
        "## Flushes, and how long others wait",
        "",
        *flushes(kinds),
        "",
        "A vCPU that writes to a read-only page of the batch, or faults for another reason, waits until the p2m is unlocked.",
        "The times are of an emulator that counts instructions meanwhile: only compare one with the other.",
        "",
        "## Where it goes, instructions a page",
        "",
        *by_function(kinds),
        "",
        f"{result['versions']['qemu']}; {result['versions']['gcc']}.",
        ""])


def plot(result, path):
    kinds = result["kinds"]
    figure, axes = begin_plot("move-cost", figsize=(8.5, 2.8))
    rest = [figures["a_page"] - figures["copy_a_page"] for figures in kinds.values()]
    copies = [figures["copy_a_page"] for figures in kinds.values()]
    axes.barh(range(len(kinds)), copies, 0.6, color="#3b6ea5", label="copying")
    bars = axes.barh(range(len(kinds)), rest, 0.6, left=copies, color="#a8c4e0", label="all else")
    axes.bar_label(bars, [f"{figures['ratio']:.2f} copies" for figures in kinds.values()], padding=4, fontsize=8)
    for index, (kind, figures) in enumerate(kinds.items()):
        if kind in AIMS:
            axes.plot([AIMS[kind] * figures["copy_a_page"]] * 2, [index - 0.4, index + 0.4], color="#c0392b", linewidth=2,
                      label="aim: no more than this" if index == 0 else None)
    axes.set_yticks(range(len(kinds)), kinds)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.25 * max(max(figures["a_page"], AIMS.get(kind, 0) * figures["copy_a_page"]) for kind, figures in kinds.items()))
    axes.set_xlabel("hypervisor instructions for each 4 KiB moved")
    end_plot(figure, axes, path)


def write(result, directory):
    return write_results("move-cost", result, page, plot, directory)

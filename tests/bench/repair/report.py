# SPDX-License-Identifier: GPL-2.0-only
"""The results as JSON, as a page of text and as a plot."""

from pages import begin_plot, end_plot, table
from pages import write as write_results

from .machine import time

WHEN = ("before", "during", "after")
COLOURS = ("#c0603b", "#e0c080", "#3b6ea5")


def percent(share):
    return f"{100 * share:.0f} %"


def rows(result):
    for workload, figures in result["workloads"].items():
        base = time(figures["before"])
        for when in WHEN:
            figure = figures[when]
            region, where = figure["region"], figure["placement"]
            total = sum(where.values())
            yield (workload, when, f"{time(figure) / 1e6:,.0f}", f"{base / time(figure):.2f}", percent(region["imbalance"]),
                   percent(region["interconnect_load"]), percent(region["local_ratio"]),
                   " ".join(f"{100 * where.get(node, where.get(str(node), 0)) / total:.0f}" for node in range(8)),
                   percent(figure["moved"] / result["pages"]) if "moved" in figure else "")


def page(result):
    return "\n".join([
        "# A repair: bad placement, one command, good placement",
        "",
        "Made by `make bench`; do not edit. [repair.json](repair.json) has the figures.",
        "[tests/bench/repair/README.md](../../tests/bench/repair/README.md) says how they are taken.",
        "",
        "![modelled time before, during and after](repair.svg)",
        "",
        f"**Measured:** a PVH guest of {result['pages'] >> 8} MiB and 8 vCPUs on the emulated AMD48, placed as stock libxl and",
        f"Xen do. The workload runs, runs again while `xl numa-policy rebalance` moves all memory to where `{result['policy']}`",
        "wants it, and once more afterwards. Time (cycles of the busiest CPU) and the load of the interconnect are",
        "**modelled**. The imbalance of the memory controllers, local accesses and the places of pages are **counted** ([the",
        "model](../../tests/numasim/README.md)).",
        "",
        *table(("", "", "modelled M cycles", "times as fast", "imbalance", "interconnect load", "local", "memory on nodes 0 to 7, % (at the end)",
                "of the guest moved meanwhile"), list(rows(result)), left=2),
        "",
        "During the rebalance the workload also waits for pages that are being moved. The emulator's clock, which knows no",
        "NUMA, does not measure that.",
        "",
        f"{result['versions']['qemu']}; {result['versions']['gcc']}.",
        ""])


def plot(result, path):
    workloads = result["workloads"]
    figure, axes = begin_plot("repair", figsize=(8.5, 0.8 + 0.8 * len(workloads)))
    for number, (when, colour) in enumerate(zip(WHEN, COLOURS)):
        ratios = [time(figures[when]) / time(figures["after"]) for figures in workloads.values()]
        bars = axes.barh([index + (number - 1) * 0.27 for index in range(len(workloads))], ratios, 0.25, color=colour, label=when)
        axes.bar_label(bars, [f"{ratio:.2f}" for ratio in ratios], padding=4, fontsize=8)
    axes.set_yticks(range(len(workloads)), workloads)
    axes.invert_yaxis()
    axes.axvline(1, color="#888888", linewidth=0.8)
    axes.set_xlabel("modelled time, relative to that after the repair")
    end_plot(figure, axes, path)


def write(result, directory):
    return write_results("repair", result, page, plot, directory)

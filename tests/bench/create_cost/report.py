# SPDX-License-Identifier: GPL-2.0-only
"""The results as JSON, as a page of text and as a plot."""

from collections import Counter

from pages import begin_plot, end_plot, table
from pages import write as write_results

ROWS = 22
AIMS = {"round-1g": 1.05, "round-2m": 1.05, "round-4k": 3.0}
SPREAD_NAMES = {"few": "on the nodes libxl chooses", "all": "over all nodes (`cpus=[\"0-7\"]`)"}
COLOURS = {"few": "#3b6ea5", "all": "#a8c4e0"}


def largest(functions):
    return [name for name, _ in Counter(functions).most_common(3 * ROWS)]


def million(number):
    return f"{number / 1e6:,.1f}"


def totals(result, spread):
    subjects = result["spreads"][spread]
    base, pages = subjects["stock"]["xen"], result["pages"]
    rows = []
    for name, subject in subjects.items():
        aim = AIMS.get(name)
        ratio = subject["xen"] / base
        verdict = f"{aim:g}x: {'met' if ratio <= aim else 'NOT met'}" if aim else ""
        rows.append((name, million(subject["xen"]), f"{ratio:.3f}", verdict, f"{subject['xen'] / pages:,.1f}",
                     f"{(subject['xen'] - base) / pages:+,.1f}", f"{100 * subject['disagreement']:.2f} %"))
    return table(("", "million instructions", "of stock", "aim", "a 4 KiB page", "more than stock, a page", "runs differ by"), rows)


def places(result, spread):
    rows = []
    for name, subject in result["spreads"][spread].items():
        where = subject["placement"]
        if where:
            rows.append((name, len(where["nodes"]), *where["mappings"].values(), where["placed"], where["fallback"]))
    return table(("", "nodes used", "4 KiB mappings", "2 MiB", "1 GiB", "pages placed by policy", "fallback"), rows)


def calls(subject, name):
    return f"{subject['calls_a_page'][name]:.1f}" if name in subject["calls_a_page"] else ""


def by_function(result, spread):
    subjects = result["spreads"][spread]
    most = Counter()
    for subject in subjects.values():
        for name, count in subject["functions"].items():
            most[name] = max(most[name], count)
    shown = [name for name, _ in most.most_common(ROWS)]
    rows = [(f"`{name}`", f"{result['sources'].get(name, '')}", *(million(s["functions"].get(name, 0)) for s in subjects.values()),
             calls(subjects["round-4k"], name)) for name in shown]
    rest = [sum(count for name, count in s["functions"].items() if name not in shown) for s in subjects.values()]
    rows.append(("all others", "", *(million(count) for count in rest), ""))
    return table(("function", "file", *subjects, "calls a page (round-4k)"), rows, left=2)


def page(result):
    machine, waiting = result["machine"], [s["waiting"] for spread in result["spreads"].values() for s in spread.values()]
    lines = [
        "# What it costs Xen to create a guest",
        "",
        "Made by `make bench`; do not edit. [create-cost.json](create-cost.json) has the figures.",
        "[tests/bench/create_cost/README.md](../../tests/bench/create_cost/README.md) says how they are taken.",
        "",
        "![instructions by policy](create-cost.svg)",
        "",
        f"**Measured:** `xl create -p` of a PVH guest of {result['memory_mib']} MiB, from the start of `xl` to its end:",
        "instructions of the hypervisor on the CPU that dom0 has for itself. Each figure is the middle one of "
        f"{result['repeat']} creations.",
        "Stock Xen and the patched one are release builds from the same sources, with and without the series, under the same",
        f"dom0 and toolstack. {machine['nodes']} nodes of {machine['mib'][0]} MiB, dom0 {machine['dom0_mib']} MiB.",
        "",
        "**Counted, not modelled:** every translated block of Xen counts its own executions. Instructions are no time: a cache",
        "miss costs more than an addition, and a repeated string instruction counts once. Work that depends on other CPUs is",
        "left out: the idle loop, in which Xen scrubs freed memory, and the spinning until other CPUs flushed their TLBs",
        f"({million(min(waiting))} to {million(max(waiting))} million).",
        "",
        f"{result['versions']['qemu']}; {result['versions']['gcc']}.",
    ]
    for spread, name in SPREAD_NAMES.items():
        lines += ["", f"## A guest {name}", "", *totals(result, spread), "", "What each guest got:", "", *places(result, spread),
                  "", "Where it goes, million instructions:", "", *by_function(result, spread)]
    return "\n".join(lines) + "\n"


def plot(result, path):
    spreads = result["spreads"]
    names = list(spreads["few"])
    height = 0.38
    figure, axes = begin_plot("create-cost", figsize=(8.5, 4.2))
    labels = {"few": "on the nodes libxl chooses", "all": "over all 8 nodes"}
    for offset, (spread, subjects) in zip((-height / 2, height / 2), spreads.items()):
        base = subjects["stock"]["xen"]
        ratios = [subjects[name]["xen"] / base for name in names]
        bars = axes.barh([index + offset for index in range(len(names))], ratios, height, color=COLOURS[spread], label=labels[spread])
        axes.bar_label(bars, [f"{ratio:.2f}x   {subjects[name]['xen'] / 1e6:,.0f} M" for name, ratio in zip(names, ratios)],
                       padding=4, fontsize=8)
    for index, name in enumerate(names):
        if name in AIMS:
            axes.plot([AIMS[name]] * 2, [index - 0.45, index + 0.45], color="#c0392b", linewidth=2,
                      label="aim: no more than this" if name == "round-4k" else None)
    axes.set_yticks(range(len(names)), [name if name.startswith("stock") else f"numa_policy={name}" for name in names])
    axes.invert_yaxis()
    axes.axvline(1, color="#888888", linewidth=0.8)
    axes.set_xlim(0, 1.25 * max([3.0, *(s["xen"] / sub["stock"]["xen"] for sub in spreads.values() for s in sub.values())]))
    axes.set_xlabel("hypervisor instructions, relative to stock Xen (M = million)")
    axes.set_title(f"Creating a guest of {result['memory_mib'] // 1024} GiB")
    end_plot(figure, axes, path, bbox_to_anchor=(1, 0.3))


def write(result, directory):
    return write_results("create-cost", result, page, plot, directory)

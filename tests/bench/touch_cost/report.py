# SPDX-License-Identifier: GPL-2.0-only
"""The results as JSON, as a page of text and as a plot."""

from pages import begin_plot, end_plot, table
from pages import write as write_results

# at most, and at least
AIM_GUEST, AIM_BATCH, AIM_FAULTS = 0.02, 256, 512
PAGES_PER_GIB, PAGES_PER_2M = 1 << 18, 512
# a CPU of AMD48 in 15 µs at one instruction a cycle: 2.2 GHz, section 5.1 of the paper
INTERVAL_INSTRUCTIONS = 33_000


def verdict(met):
    return "met" if met else "**NOT met**"


def in_xen(xen):
    rows = [(what, f"{figures['number']:,}", f"{figures['each']:,.0f}", f"{100 * figures['disagreement']:.2f} %")
            for what, figures in xen.items()]
    return table(("", "counted", "instructions of Xen each", "runs differ by"), rows)


def faults(xen):
    """Nested faults for a GiB, by what one of them maps."""
    small, large = xen["a touch of 4 KiB"], xen["a touch of 2 MiB"]
    # the touches of what was released in runs: some of its 2 MiB may have had a page in use, and were touched page by page
    told = large["statistics"]
    a_gib = PAGES_PER_GIB / (told["small"] + PAGES_PER_2M * told["large"])
    kinds = {"page by page": (PAGES_PER_GIB, 0), "2 MiB at a time": (0, PAGES_PER_GIB // PAGES_PER_2M),
             "as it was here": (told["small"] * a_gib, told["large"] * a_gib)}
    rows = [(kind, f"{smalls + larges:,.0f}", f"{(smalls * small['each'] + larges * large['each']) / 1e6:,.0f}")
            for kind, (smalls, larges) in kinds.items()]
    return table(("filled", f"nested faults a GiB (aim: {AIM_FAULTS})", "million instructions of Xen a GiB"), rows)


def storms(run):
    rows = []
    for hooks in ("disarmed", "armed"):
        figures, armed = run[hooks], hooks == "armed"
        batch = f"{figures['released'] / figures['flush_rounds']:,.0f}" if figures["flush_rounds"] else ""
        rows.append((hooks, f"{figures['each']:,.1f}", f"{100 * (run['ratio'] - 1):+.2f} %" if armed else "",
                     f"{100 * run['disagreement']:.2f} %" if armed else "", f"{figures['freed'] / figures['pages']:.2f}",
                     f"{figures['released'] / figures['pages']:.3f}", batch))
    return table(("hooks", "instructions of the guest a page", "more than disarmed", "by which runs differ", "pages freed, a page",
                  "told to Xen, a page", "told at a time"), rows)


def paper(xen, runs):
    """A release every 15 µs in each thread: what it adds to the instructions between two of them."""
    guest = max(0, runs["armed"]["each"] - runs["disarmed"]["each"])
    kinds = {"no hooks": 0, "batches": guest + xen["a page released in a run"]["each"],
             "batches, and the touch that follows": guest + xen["a page released in a run"]["each"] + xen["a touch of 4 KiB"]["each"],
             "a hypercall for each release": xen["a page released with a hypercall of its own"]["each"]}
    rows = [(kind, f"{each:,.0f}", f"{100 * each / INTERVAL_INSTRUCTIONS:.1f} %") for kind, each in kinds.items()]
    return table(("", "instructions more", "of 15 µs (modelled)"), rows)


def beside(others):
    rows = []
    for who, figures in others.items():
        quiet, flooded = figures["quiet"], figures["flooded"]
        rows.append((who, f"{quiet['each'] / 1e6:,.1f}", f"{flooded['each'] / 1e6:,.1f}", f"{100 * (figures['ratio'] - 1):+.2f} %",
                     f"{100 * figures['disagreement']:.2f} %", f"{quiet['seconds']:.1f}, {flooded['seconds']:.1f}",
                     f"{quiet['second'] / 1e6:,.1f}, {flooded['second'] / 1e6:,.1f}",
                     f"{100 * (flooded['waiting'] - quiet['waiting']) / quiet['each']:+.2f} %", f"{figures['events']:,}"))
    return table(("work", "million instructions beside the calm one", "beside the flood", "more", "by which runs differ",
                  "seconds of the emulator", "million instructions a second of time", "more waiting", "events meanwhile"), rows)


def page(result):
    runs, churn = result["storms"]["storm"], result["storms"]["churn"]
    armed = runs["armed"]
    more = runs["ratio"] - 1
    batch = armed["released"] / armed["flush_rounds"]
    return "\n".join([
        "# What first-touch costs",
        "",
        "Made by `make bench`; do not edit. [touch-cost.json](touch-cost.json) has the figures.",
        "[tests/bench/touch_cost/README.md](../../tests/bench/touch_cost/README.md) says how they are taken.",
        "",
        "![instructions of Xen](touch-cost.svg)",
        "",
        f"**Measured:** a PVH guest of {result['memory_mib']} MiB with one vCPU touches and releases {result['used_mib']} MiB:",
        f"instructions on that vCPU's CPU, with the release build of Xen. Each figure is the middle one of {result['repeat']}.",
        "Ratios are of the run with the middle one. **Counted, not modelled**, but for the last table.",
        "",
        "## In Xen",
        "",
        *in_xen(result["xen"]),
        "",
        *faults(result["xen"]),
        "",
        "## In the guest",
        "",
        "A storm of page faults: memory is taken from the kernel, touched page by page, and given back.",
        "",
        *storms(runs),
        "",
        f"At most {100 * AIM_GUEST:.0f} % more instructions with the hooks armed: {100 * more:+.2f} %,",
        f"{verdict(more <= AIM_GUEST)}. At least {AIM_BATCH} released pages a hypercall: {batch:,.0f},",
        f"{verdict(batch >= AIM_BATCH)}. The guest tells Xen of those pages of a storm that are still free when a batch is full",
        "or has waited for 100 ms.",
        "",
        "The same, taken and given back 64 KiB at a time. Linux keeps such pages in lists of the CPU that has freed them, and",
        "takes them from there again. The hooks are where pages leave these lists. Hooks at each free would be called as often",
        "as pages are freed.",
        "",
        *storms(churn),
        "",
        "## The paper's case",
        "",
        f"A page is released every 15 µs, in which a CPU of AMD48 executes {INTERVAL_INSTRUCTIONS:,} instructions at one a cycle",
        "(modelled). A hypercall also costs the processor an exit and an entry. They are no instructions, and not in the table.",
        "",
        *paper(result["xen"], runs),
        "",
        "The paper measured that an *empty* hypercall for each release divides the speed of `wrmem` by 3, on 48 CPUs. **That is",
        "not reproduced here:** the cost of exits, and waiting for the locks of other CPUs, are not in these figures.",
        "",
        "## Beside a guest that floods",
        "",
        "Another guest sends full batches of events as fast as its two vCPUs can, half of them for pages that it never",
        "released. Meanwhile a guest makes a storm of page faults, and dom0 builds and destroys a guest. The table compares",
        "their cost with that beside a guest that only computes on as many vCPUs. It counts all that the worker's CPU executes,",
        "in Xen, kernel and programs, less the cost of time. Emulated CPUs share the host's: beside a flood, which is in Xen",
        "most of the time, all is slower, and timers tick more often during the same work. A program that asks nothing of",
        "anybody measures the cost of a second beside each neighbour. Waiting means: for other CPUs to flush their TLBs, and",
        "idling.",
        "",
        *beside(result["others"]),
        "",
        f"{result['versions']['qemu']}; {result['versions']['gcc']}.",
        ""])


def plot(result, path):
    xen = result["xen"]
    pages = {"a page released with a hypercall of its own": 1, "a page released alone": 1, "a page released in a run": 1,
             "a page released with its 2 MiB": 1, "a touch of 4 KiB": 1, "a touch of 2 MiB": PAGES_PER_2M}
    figure, axes = begin_plot("touch-cost", figsize=(8.5, 2.6))
    each = [xen[what]["each"] / number for what, number in pages.items()]
    bars = axes.barh(range(len(each)), each, 0.6, color="#3b6ea5", label="instructions of Xen for each 4 KiB")
    axes.bar_label(bars, [f"{value:,.0f}" for value in each], padding=4, fontsize=8)
    axes.set_yticks(range(len(each)), pages)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.2 * max(each))
    axes.set_xlabel("hypervisor instructions for each 4 KiB")
    end_plot(figure, axes, path)


def write(result, directory):
    return write_results("touch-cost", result, page, plot, directory)

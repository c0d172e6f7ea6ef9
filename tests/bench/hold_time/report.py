# SPDX-License-Identifier: GPL-2.0-only
"""The results as JSON, and as a page of text."""

import json

from pages import table

STOCK, PLAIN = "stock", "stock, nothing on demand"
TARGET = 2
LOCKS = {"p2m": "the p2m's lock", "pod": "the PoD lock"}
# What the code promises, by kind: where it says so
PROMISED = {
    "populate": "an extent of a guest's has at most 512 pages (`CONFIG_DOMU_MAX_ORDER`, stock); with a policy it is populated by blocks of "
                "`BLOCK_ORDER` (`xen/common/numa-policy/populate.c`), and is mapped in one section by `p2m_numa_fill()`",
    "give back": "events: `P2M_NUMA_ROUND_WORK` (`xen/arch/x86/include/asm/p2m-numa.h`), 512 pages and two divisions; "
                 "decrease_reservation: an extent, as stock's",
    "touch": "none in constants: Xen clears or exchanges 2 MiB between two sections (`xen/arch/x86/mm/p2m-touch.c`), and "
             "notes 512 frames in each",
    "remap": "one page at a time, as stock's",
    "exchange": "refused for these guests, as by stock",
}


def kind_of(step):
    return step.partition(":")[0]


def worst(steps, kind, what):
    """The step of a kind that is longest, and how long."""
    lengths = {step: figures[what]["instructions"] for step, figures in steps.items() if kind_of(step) == kind}
    step = max(lengths, key=lengths.get)
    return step, lengths[step]


def kinds(result):
    return list(dict.fromkeys(kind_of(step) for step in result["subjects"][STOCK]["1"]))


def verdict(ratio):
    return f"{ratio:.2f}" + ("" if ratio <= TARGET else " **over**")


def outside(result):
    """[(kind, what, vcpus, subject, ratio)] of what is longer than the target."""
    found = []
    for kind in kinds(result):
        for what in LOCKS:
            for vcpus, steps in result["subjects"][STOCK].items():
                base = allowed(steps, kind, what)
                for subject, by_vcpus in result["subjects"].items():
                    ratio = worst(by_vcpus[vcpus], kind, what)[1] / base
                    if ratio > TARGET:
                        found.append((kind, what, vcpus, subject, ratio))
    return found


def allowed(steps, kind, what):
    """Stock's worst.  Who holds the PoD lock also holds the p2m's, for longer: where stock has no use for it, that one is compared with."""
    return worst(steps, kind, what)[1] or worst(steps, kind, "p2m")[1]


def by_kind(result, what, vcpus):
    subjects = result["subjects"]
    rows = []
    for kind in kinds(result):
        base = allowed(subjects[STOCK][vcpus], kind, what) if what in LOCKS else worst(subjects[STOCK][vcpus], kind, what)[1]
        cells = []
        for subject, by_vcpus in subjects.items():
            length = worst(by_vcpus[vcpus], kind, what)[1]
            cells.append(f"{length:,}" if subject == STOCK else f"{length:,} ({verdict(length / base) if what in LOCKS else f'{length / base:.2f}'})")
        rows.append((kind, *cells))
    return table(("kind", *subjects), rows)


def by_step(result, vcpus):
    rows = []
    for step, stock in result["subjects"][STOCK][vcpus].items():
        others = {subject: by_vcpus[vcpus][step] for subject, by_vcpus in result["subjects"].items() if subject != STOCK}
        longest = max((figures["p2m"] for subject, figures in others.items() if subject != PLAIN), key=lambda one: one["instructions"])
        rows.append((step, f"`{longest['begins']}`", f"{stock['p2m']['instructions']:,}", *(f"{one['p2m']['instructions']:,}" for one in others.values()), f"{longest['flushes']:,}",
                     *(f"{one['stretch']['instructions']:,}" for one in (stock, list(others.values())[-1]))))
    return table(("step", "ours takes it in", *result["subjects"], "flushes, ours", "no look for softirqs: stock", "first-touch"), rows, left=2)


def page(result):
    machine, over = result["machine"], outside(result)
    lines = [
        "# For how long a guest makes Xen hold a lock",
        "",
        "Made by `make bench`; do not edit. [hold-time.json](hold-time.json) has the figures.",
        "[tests/bench/hold_time/README.md](../../tests/bench/hold_time/README.md) says how they are taken.",
        "",
        "**Counted, not modelled**, on an emulated machine: instructions that a CPU executes in Xen (release builds) in a",
        "section, while it holds a lock, the longest of all sections; and between two looks for softirqs. A guest of 1 or of 8",
        "vCPUs makes calls of each kind; 8 make the same one at once. The machine has "
        f"{sum(machine['cpus'])} CPUs in {len(machine['cpus'])} nodes of {machine['mib'][0]} MiB.",
        f"All steps are done {result['rounds']} times with 1 vCPU, once with 8. Waiting for a lock, and for other CPUs to flush,",
        "is left out.",
        f"Taken at {result['commit']}.",
        "",
        f"**Target:** no lock is held for longer than {TARGET} times stock's worst for the same kind of call: "
        + ("met by all." if not over else "**not met**: " + "; ".join(
            f"{kind}, {LOCKS[what]}, {vcpus} vCPUs, {subject}: {ratio:.2f}" for kind, what, vcpus, subject, ratio in over) + "."),
        "",
        "Stock's guest has more pages that are populated on demand than there is memory for. So has ours, but with first-touch,",
        "which excludes them. When the memory comes to its end, Xen looks for pages that are zero, with both locks held. The",
        "second column is stock without them; the target is not about it. In brackets is how many times stock's worst of that",
        "kind a figure is.",
        "",
    ]
    for vcpus in result["subjects"][STOCK]:
        for what, name in LOCKS.items():
            lines += [f"## {vcpus} vCPU{'s' if vcpus != '1' else ''}, {name}", "", *by_kind(result, what, vcpus), ""]
        lines += [f"## {vcpus} vCPU{'s' if vcpus != '1' else ''}, no look for softirqs", "", *by_kind(result, "stretch", vcpus), ""]
    lines += ["## What the code promises", "", *table(("kind", "bound"), [(kind, PROMISED[kind]) for kind in kinds(result)], left=2), "",
              "A vCPU that waits for a lock waits for at most as many sections as other vCPUs have; the lock is not fair.", ""]
    for vcpus in result["subjects"][STOCK]:
        lines += [f"## All steps, {vcpus} vCPU{'s' if vcpus != '1' else ''}: the p2m's lock", "", *by_step(result, vcpus), ""]
    return "\n".join([*lines, f"{result['versions']['qemu']}; {result['versions']['gcc']}.", ""])


def write(result, directory):
    directory.mkdir(parents=True, exist_ok=True)
    paths = [directory / f"hold-time.{kind}" for kind in ("json", "md")]
    paths[0].write_text(json.dumps(result, indent=1) + "\n")
    paths[1].write_text(page(result))
    return paths

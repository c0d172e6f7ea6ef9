# SPDX-License-Identifier: GPL-2.0-only
"""What is aimed at, in modelled memory cycles, and whether it is met: the best policy of this project against the best of native
Linux, and auto against the best static policy."""

from statistics import geometric_mean

from pages import table

from .repeats import spread
from .subjects import AUTO, NATIVE, POLICIES, STATIC, SUBJECTS

NOTHING = "—"
# no more than 5 % above, on each workload
AIM = 1.05


def ratios(figures, ours, theirs):
    """{workload: (best of ours, best of theirs, their ratio in memory cycles)}, where both were measured."""
    found = {}
    for workload in figures.workloads:
        (our, cycles), (their, others) = (figures.best_by_memory(names, workload) for names in (ours, theirs))
        if cycles and others:
            found[workload] = our, their, cycles / others
    return found


def verdict(met):
    return "met" if met else "**NOT met**"


def more(ratio):
    return f"{100 * (ratio - 1):+.1f} %"


def apart(figures, workload, *subjects):
    """By how much the runs of each differ; what was run once differs from nothing."""
    runs = [figures.repeats[subject, workload] for subject in subjects]
    return ", ".join(f"{100 * spread(cycles):.1f} %" if len(cycles) > 1 else "one run" for cycles in runs)


def best(figures):
    rows = [(workload, SUBJECTS[their].title, SUBJECTS[our].title, more(ratio), verdict(ratio <= AIM),
             apart(figures, workload, their, our))
            for workload, (our, their, ratio) in ratios(figures, POLICIES, NATIVE).items()]
    return table(("", "best native", "best policy", "memory cycles of the policy", f"at most {more(AIM)}",
                  "runs differ by"), rows, left=3)


def best_said(figures):
    return said(ratios(figures, POLICIES, NATIVE), "the best policy", "the best of native Linux", ahead=True)


def auto(figures):
    rows = []
    for workload, (_, their, ratio) in ratios(figures, [AUTO], STATIC).items():
        found = figures.placements[AUTO, workload]
        chosen = found["policy"] + (", Carrefour" if found["carrefour"] else "")
        rows.append((workload, found["class"], chosen, SUBJECTS[their].title, more(ratio), verdict(ratio <= AIM),
                     apart(figures, workload, their, AUTO)))
    head = ("", "class", "auto's choice", "best static policy", "memory cycles of auto", f"at most {more(AIM)}", "runs differ by")
    return table(head, rows, left=4)


def auto_said(figures):
    return said(ratios(figures, [AUTO], STATIC), "auto", "the best static policy")


def said(found, our, their, ahead=False):
    """A sentence on all workloads; ahead: on average it has to be better."""
    if not found:
        return f"Not measured: {our}, or {their}."
    values = {workload: ratio for workload, (_, _, ratio) in found.items()}
    worst = max(values, key=values.get)
    mean = geometric_mean(values.values())
    near = sum(ratio <= AIM for ratio in values.values())
    text = (f"With {our}, {near} of {len(values)} workloads take at most {100 * (AIM - 1):.0f} % more memory cycles than with "
            f"{their}: {verdict(near == len(values))}; `{worst}` takes {more(values[worst])}.")
    mean = f"On average (geometric mean) it is {more(mean)}{': ' + verdict(mean < 1) if ahead else ''}."
    return f"{text}\n{mean}"


def one_for_all(figures):
    """Each system under all workloads against the best of native Linux for each: what whoever chooses once gets."""
    rows = []
    for subject in figures.subjects:
        values = {workload: ratio for workload, (*_, ratio) in ratios(figures, [subject], NATIVE).items()}
        if values:
            worst = max(values, key=values.get)
            rows.append((SUBJECTS[subject].title, more(geometric_mean(values.values())),
                         f"{sum(ratio <= AIM for ratio in values.values())} of {len(values)}", f"{worst}, {more(values[worst])}"))
    return table(("", "memory cycles, on average", f"at most {more(AIM)}", "worst"), rows) if rows else ["(not measured)"]


def work(figures):
    """What carrefourd did while a workload was measured, or learnt from: of all systems in which it moves pages."""
    rows = []
    for (subject, workload), found in figures.placements.items():
        if SUBJECTS[subject].dynamic:
            rows.append((workload, SUBJECTS[subject].title,
                         *(f"{found[what]:,}" for what in ("periods", "samples", "moves", "frozen", "backoffs"))))
    head = ("", "", "periods", "samples", "pages moved", "pages frozen", "times it backed off")
    return table(head, sorted(rows), left=2) if rows else ["(not measured)"]

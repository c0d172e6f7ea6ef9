# SPDX-License-Identifier: GPL-2.0-only
"""The results as JSON, as a page with tables and as plots."""

import json
from pathlib import Path

from pages import table

from . import aims, plots
from .carrefour import AUTO_SOONER
from .figures import LOW, MODERATE, Figures, cpu_time, instructions
from .jobs import LAYOUTS, PAIR_SUBJECTS, WORKLOADS, read_workloads
from .subjects import FIRST_TOUCH, INTERLEAVE, POLICIES, STOCK, SUBJECTS, XEN, XEN_FIRST_TOUCH

HERE = Path(__file__).absolute().parent
NOTHING = "—"
# modelled memory cycles, no more than 2 % above those of native Linux
FIRST_TOUCH_AIM = 1.02


def cell(value, form):
    return NOTHING if value is None else form(value)


def percent(value):
    return cell(value, lambda v: f"{100 * v:.0f} %")


def signed(value):
    return cell(value, lambda v: f"{100 * v:+.0f} %")


def titles(subjects):
    return [SUBJECTS[name].title for name in subjects]


def table_1(figures):
    """The shape of the paper's Table 1."""
    rows = []
    for workload in figures.workloads:
        cells = [percent(figures.value(subject, workload, key)) for key in ("imbalance", "interconnect_load")
                 for subject in (FIRST_TOUCH, INTERLEAVE)]
        rows.append((workload, *cells, figures.measured_class(workload) or NOTHING))
    head = ("", "imbalance: first-touch", "interleave", "interconnect load: first-touch", "interleave",
            "imbalance level with first-touch")
    return table(head, rows)


def by_subject(figures, key):
    rows = [(workload, *(percent(figures.value(subject, workload, key)) for subject in figures.subjects))
            for workload in figures.workloads]
    return table(("", *titles(figures.subjects)), rows)


def bold_least(values):
    """Texts of overheads, the least of them bold."""
    known = [value for value in values if value is not None]
    return [f"**{signed(value)}**" if value is not None and value == min(known) else signed(value) for value in values]


def overheads(figures):
    subjects = [name for name in figures.subjects if name in (*XEN, FIRST_TOUCH)]
    rows = []
    for workload in figures.workloads:
        best, _ = figures.best_native(workload)
        values = [figures.overhead(subject, workload) for subject in subjects]
        rows.append((workload, SUBJECTS[best].title if best else NOTHING, *bold_least(values)))
    return table(("", "best native", *titles(subjects)), rows, left=2)


def count_over(figures, best_only):
    """How many workloads lose more than half against the best native policy."""
    lost = []
    for workload in figures.workloads:
        subject = figures.best_policy(workload)[0] if best_only else STOCK
        lost.append(figures.overhead(subject, workload))
    lost = [value for value in lost if value is not None]
    return f"{sum(value > 0.5 for value in lost)} of {len(lost)}"


def gains(figures):
    subjects = [name for name in POLICIES if name in figures.subjects]
    rows = []
    for workload in figures.workloads:
        best, _ = figures.best_policy(workload)
        rows.append((workload, *(signed(figures.gain(subject, workload)) for subject in subjects), best or NOTHING))
    return table(("", *titles(subjects), "best policy"), rows)


def first_touch(figures, workloads):
    """Xen's first-touch against native Linux's: the aim is for what is partitioned, where the policy is at its best."""
    rows = []
    for name in figures.workloads:
        both = FIRST_TOUCH, XEN_FIRST_TOUCH
        own, cycles, parts = zip(*(figures.programs(subject, name) for subject in both))
        # a thousandth is what is looked for
        local = [cell(share, lambda value: f"{100 * value:.1f} %") for share in own]
        ratios = [ours / native if native and ours else None for native, ours in
                  (cycles, *([figure(subject, name) for subject in both] for figure in (figures.memory_cycles, figures.time)))]
        kind = workloads[name].expected if name in workloads else NOTHING
        aim = FIRST_TOUCH_AIM if kind.startswith("partitioned") else None
        verdict = NOTHING if aim is None or ratios[0] is None else "met" if ratios[0] <= aim else "**NOT met**"
        part = cell(None if None in parts else max(parts), lambda value: f"{100 * value:.1f} %")
        rows.append((name, kind, *local, part, cell(ratios[0], lambda value: f"{value:.3f}"), verdict,
                     *(cell(ratio, lambda value: f"{value:.3f}") for ratio in ratios[1:])))
    head = ("", "written for", "programs' misses on the own node: Linux", "Xen", "their memory cycles, of their time",
            "programs' memory cycles, Xen / Linux",
            f"aim where partitioned: {FIRST_TOUCH_AIM:g}", "memory cycles with kernel's and Xen's, of the slowest CPU", "its time")
    return table(head, rows, left=2)


def pairs(figures):
    if not figures.pairs:
        return ["(not measured)"]
    subjects = [name for name in PAIR_SUBJECTS if name != STOCK and any(subject == name for subject, *_ in figures.pairs)]
    kinds = dict.fromkeys((workload, beside, layout) for _, workload, beside, layout in figures.pairs)
    rows = [(*kind, *(signed(figures.pair_gain(*kind, name, LAYOUTS[kind[-1]].cpus)) for name in subjects)) for kind in kinds]
    return table(("measured", "beside it", "the two", *titles(subjects)), rows, left=3)


def sorting(figures, workloads):
    rows = []
    for name in figures.workloads:
        verdict = figures.verdict(name)
        written_for = workloads[name].expected if name in workloads else NOTHING
        level = f"{figures.measured_class(name) or NOTHING} ({percent(figures.value(FIRST_TOUCH, name, 'imbalance'))})"
        if verdict:
            expected, ratio, agrees = verdict
            rows.append((name, written_for, level, expected, f"{ratio:.2f}", "yes" if agrees else "**no**"))
        else:
            rows.append((name, written_for, level, NOTHING, NOTHING, NOTHING))
    head = ("", "written for", "imbalance under first-touch", "the paper then expects", "time of first-touch / interleave",
            "the model agrees")
    return table(head, rows, left=4)


def million(number):
    return f"{number / 1e6:,.0f}"


def costs(figures):
    rows = []
    for workload in figures.workloads:
        for subject in figures.subjects:
            region = figures.alone.get((subject, workload))
            if region:
                busiest = max(region["cpus"], key=cpu_time)
                memory = busiest["memory_cycles"]
                cycles = (cpu_time(busiest), memory["contended"], memory["uncontended"])
                rows.append((workload, SUBJECTS[subject].title, *map(million, cycles),
                             *(million(instructions(region, mode)) for mode in ("user", "kernel", "xen"))))
    head = ("", "", "million cycles", "for memory", "were there no contention", "million instructions: programs", "kernel", "Xen")
    return table(head, rows, left=2)


def what_is_missing(result):
    if not result["failed"]:
        return ""
    return "\n".join(["", "**Not everything was measured:**", "", *(f"- {line}" for line in result["failed"]), ""])


def page(result):
    figures = Figures(result["results"])
    tables = {"table_1": table_1(figures), "overheads": overheads(figures), "gains": gains(figures), "pairs": pairs(figures),
              "first_touch": first_touch(figures, read_workloads(WORKLOADS)),
              "sorting": sorting(figures, read_workloads(WORKLOADS)), "costs": costs(figures),
              "best": aims.best(figures), "auto": aims.auto(figures),
              "one_for_all": aims.one_for_all(figures), "carrefour": aims.work(figures)}
    tables |= {key: by_subject(figures, key) for key in ("imbalance", "local_ratio", "interconnect_load")}
    return (HERE / "page.md").read_text().format(
        bench=result["bench"], auto_sooner=AUTO_SOONER, missing=what_is_missing(result),
        versions=f"{result['versions']['qemu']}; {result['versions']['gcc']}.", low=percent(LOW), moderate=percent(MODERATE),
        lost_stock=count_over(figures, best_only=False),
        lost_best=count_over(figures, best_only=True), best_said=aims.best_said(figures), auto_said=aims.auto_said(figures),
        judgement=(HERE / "judgement.md").read_text().strip(),
        **{name: "\n".join(lines) for name, lines in tables.items()})


def without(row, key):
    return {name: value for name, value in row.items() if name != key}


def json_lines(head, **lists):
    """JSON with a line for each row of the lists."""
    text = json.dumps(head, indent=1)[:-2]
    for name, rows in lists.items():
        text += f',\n "{name}": [\n' + ",\n".join(json.dumps(without(row, "recipe")) for row in rows) + "\n ]"
    return text + "\n}\n"


def raw(result):
    """The machine, which is the same for all, once."""
    head = {**{key: result[key] for key in ("bench", "versions", "failed")}, "machine": result["results"][0]["region"]["machine"]}
    return json_lines(head, results=[{**one, "region": without(one["region"], "machine")} for one in result["results"]])


def keep(results, directory):
    """What there is of the next page, beside the figures of the one that is there, which stays."""
    path = directory / "placement.json"
    page = json.loads(path.read_text())
    head = {key: value for key, value in page.items() if key not in ("results", "next")}
    shown = {row.get("name") for row in page["results"]}
    path.write_text(json_lines(head, results=page["results"], next=[row for row in results if row["name"] not in shown]))
    return [path]


def write(result, directory):
    directory.mkdir(parents=True, exist_ok=True)
    figures = Figures(result["results"])
    (directory / "placement.json").write_text(raw(result))
    (directory / "placement.md").write_text(page(result))
    made = [directory / "placement.json", directory / "placement.md"]
    for name, draw in plots.PLOTS.items():
        made.append(directory / f"placement-{name}.svg")
        draw(figures, made[-1])
    return made

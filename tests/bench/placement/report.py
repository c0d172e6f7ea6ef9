"""The results as JSON, as a page with tables and as plots."""

import json
from pathlib import Path

from pages import table

from . import plots
from .figures import LOW, MODERATE, Figures, cpu_time, instructions
from .jobs import LAYOUTS, PAIR_SUBJECTS, WORKLOADS, read_workloads
from .subjects import FIRST_TOUCH, INTERLEAVE, POLICIES, STOCK, SUBJECTS, XEN

JUDGEMENT = Path(__file__).absolute().parent / "judgement.md"
NOTHING = "—"


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
    head = ("", "imbalance: first-touch", "interleave", "interconnect load: first-touch", "interleave", "imbalance level with first-touch")
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
    """How many workloads lose more than half, more than all, against the best native policy."""
    lost = []
    for workload in figures.workloads:
        subject = figures.best_policy(workload)[0] if best_only else STOCK
        lost.append(figures.overhead(subject, workload))
    lost = [value for value in lost if value is not None]
    return sum(value > 0.5 for value in lost), len(lost)


def gains(figures):
    subjects = [name for name in POLICIES if name in figures.subjects]
    rows = []
    for workload in figures.workloads:
        best, _ = figures.best_policy(workload)
        rows.append((workload, *(signed(figures.gain(subject, workload)) for subject in subjects), best or NOTHING))
    return table(("", *titles(subjects), "best policy"), rows)


def pairs(figures):
    subject = PAIR_SUBJECTS[1]
    kinds = dict.fromkeys((workload, beside, layout) for _, workload, beside, layout in figures.pairs)
    rows = [(workload, beside, layout, signed(figures.pair_gain(workload, beside, layout, subject, LAYOUTS[layout].cpus)))
            for workload, beside, layout in kinds]
    return table(("measured", "beside it", "the two", f"gain of {subject} against stock Xen"), rows, left=3)


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
    head = ("", "written for", "imbalance under first-touch", "the paper then expects", "time of first-touch / interleave", "the model agrees")
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
                rows.append((workload, SUBJECTS[subject].title, million(cpu_time(busiest)), million(busiest["memory_cycles"]["contended"]),
                             million(busiest["memory_cycles"]["uncontended"]),
                             *(million(instructions(region, mode)) for mode in ("user", "kernel", "xen"))))
    head = ("", "", "million cycles", "for memory", "were there no contention", "million instructions: programs", "kernel", "Xen")
    return table(head, rows, left=2)


def what_is_missing(result):
    if not result["failed"]:
        return []
    return ["", "**Not everything was measured:**", "", *(f"- {line}" for line in result["failed"])]


def page(result):
    figures, workloads = Figures(result["results"]), read_workloads(WORKLOADS)
    lost_stock, of_stock = count_over(figures, best_only=False)
    lost_best, of_best = count_over(figures, best_only=True)
    lines = [
        "# What placement costs",
        "",
        f"Made by `make bench` ({result['bench']}); do not edit. Figures are in [placement.json](placement.json); how they are taken is told in",
        "[tests/bench/placement/README.md](../../tests/bench/placement/README.md), what the model is in",
        "[tests/numasim/README.md](../../tests/numasim/README.md).",
        *what_is_missing(result),
        "",
        "![time against the best native Linux policy](placement-overhead.svg)",
        "",
        "**Read it so:** a row is a workload, the line at 1 is the best that native Linux does on the same emulated machine. A dot further right",
        "is slower. What lies between the red dot and the others is what stock Xen's placement costs.",
        "",
        "**Counted** is what a program's memory accesses do: every load and store of user, kernel and hypervisor goes through caches of",
        "the sizes of AMD48 (the paper's machine), and what misses them is counted by CPU and node. **Modelled** is time: cycles of the busiest",
        "CPU, an instruction of program and kernel at one cycle and a miss at the latency of AMD48 at the load that its controllers and links have then.",
        "The machine is AMD48 in small: 8 nodes, one emulated CPU standing for six, one guest of 3 GiB with a vCPU pinned on each node.",
        "",
        f"{result['versions']['qemu']}; {result['versions']['gcc']}.",
        "",
        "## Where the accesses go",
        "",
        "In the shape of the paper's Table 1, native Linux. The imbalance is the relative standard deviation of accesses over the nodes",
        "(counted), the interconnect load the mean use of the busiest link (modelled). Levels are the paper's: "
        f"low below {100 * LOW:.0f} %, high above {100 * MODERATE:.0f} %.",
        "",
        *table_1(figures),
        "",
        "![where the accesses go, by system](placement-accesses.svg)",
        "",
        "Imbalance under each system (counted):",
        "",
        *by_subject(figures, "imbalance"),
        "",
        "Accesses to the own node (counted):",
        "",
        *by_subject(figures, "local_ratio"),
        "",
        "Interconnect load (modelled):",
        "",
        *by_subject(figures, "interconnect_load"),
        "",
        "## Against the best native policy",
        "",
        "As the paper's Figures 6 and 10 (modelled): how much longer a workload takes than under the best policy of native Linux. The best in",
        f"a row is bold. More than 50 % slower: stock Xen {lost_stock} of {of_stock}, the best policy of this project {lost_best} of {of_best}.",
        "",
        *overheads(figures),
        "",
        "## What a policy gains",
        "",
        "As the paper's Figure 7 (modelled): how much faster than under stock Xen; +100 % is twice as fast.",
        "",
        "![gain against stock Xen](placement-gain.svg)",
        "",
        *gains(figures),
    ]
    if figures.pairs:
        lines += [
            "",
            "## Two guests",
            "",
            "As the paper's Figures 8 and 9 (modelled). *Halved*: four vCPUs each, each guest on nodes of its own. *Overcommitted*: eight vCPUs each,",
            "two on a CPU; the time is then that of all that its CPUs do until the measured guest is done. The guest beside repeats its workload.",
            "",
            *pairs(figures),
        ]
    lines += [
        "",
        "## Does the model sort workloads as the paper does?",
        "",
        *sorting(figures, workloads),
        "",
        JUDGEMENT.read_text().strip(),
        "",
        "## What the time is made of",
        "",
        "Cycles are those of the busiest CPU (modelled), instructions of all CPUs (counted). Those of Xen are no part of the time: nearly all come",
        "from the emulator, which leaves the guest at each read of CR2, once a page fault, and hardware does not.",
        "",
        *costs(figures),
    ]
    return "\n".join(lines) + "\n"


def raw(result):
    """JSON with a line a result; the machine, which is the same for all, once."""
    rows = []
    for one in result["results"]:
        region = {key: value for key, value in one["region"].items() if key != "machine"}
        rows.append({**{key: value for key, value in one.items() if key != "recipe"}, "region": region})
    head = {**{key: result[key] for key in ("bench", "versions", "failed")}, "machine": result["results"][0]["region"]["machine"]}
    text = json.dumps(head, indent=1)
    return text[:-2] + ',\n "results": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n ]\n}\n"


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

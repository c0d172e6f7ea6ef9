# SPDX-License-Identifier: GPL-2.0-only
"""The page of heal, from its figures."""

from pages import begin_plot, end_plot, table
from pages import write as write_results

AIM_SHARE, AIM_MOVED, AIM_LOST = 0.95, 0.01, 0.01
PLOTTED = "nearly full"


def met(good):
    return "met" if good else "**missed**"


def percent(share, digits=1):
    return f"{100 * share:.{digits}f} %"


def hours(days):
    return [hour for day in days for hour in day["hours"][1:]]


def mean(days, what):
    return sum(hour[what] for hour in hours(days)) / len(hours(days))


def near(days, what):
    """Of all hours, those within the aim of the bound; and the worst one."""
    ratios = [hour[what] / hour["bound"] for hour in hours(days)]
    return sum(ratio >= AIM_SHARE for ratio in ratios) / len(ratios), min(ratios)


def share_rows(scenarios):
    for name, one in scenarios.items():
        days = one["days"]
        (stock, stock_worst), (healed, worst) = near(days, "stock"), near(days, "heal")
        full = mean(days, "memory_mib") / (mean(days, "memory_mib") + mean(days, "free_mib"))
        yield (name, percent(full, 0), *(percent(mean(days, what)) for what in ("stock", "heal", "repacked", "bound")),
               percent(stock), percent(healed), met(healed == 1), percent(stock_worst), percent(worst),
               f"{mean(days, 'stock_spans'):.1f}", f"{mean(days, 'heal_spans'):.1f}")


def total(days, what):
    return sum(day["whole"][what] for day in days)


def ledger_rows(scenarios):
    for name, one in scenarios.items():
        days = one["days"]
        most = max(day["whole"]["most_hour"] for day in days)
        ended = total(days, "paid") + total(days, "lost")
        lost = total(days, "lost") / ended if ended else 0
        yield (name, f"{mean(days, 'moved_mib') / 1024:.1f}", percent(most, 2), met(most <= AIM_MOVED),
               f"{total(days, 'entries'):,}",
               *(f"{total(days, why):,}" for why in ("follow", "gather", "relieve", "make-room")), percent(lost),
               met(lost <= AIM_LOST), percent(total(days, "regretted") / ended if ended else 0),
               f"{total(days, 'cost_s'):,.0f}", f"{total(days, 'brought_s'):,.0f}", sum(day["whole"]["stopped"] for day in days))


def page(result):
    scenarios, seeds = result["scenarios"], result["seeds"]
    return "\n".join([
        "# heal: VMs that run away from their memory",
        "",
        "Made by `make bench`; do not edit. The figures are in [heal.json](heal.json), how they are taken is told in",
        "[tests/simulate/churn/README.md](../../tests/simulate/churn/README.md).",
        "",
        "![local share over a day](heal.svg)",
        "",
        "**All of it is modelled**: no VM ran. carrefourd's own code decides, on a simulated host of 8 nodes with 16 cores of",
        "two threads each. Some 200 VMs of 1 to 64 GiB come and go, and are idle 70 % of the time. Each scenario is a day, for",
        f"{seeds} seeds. xl places each VM when it starts. *Stock* is that and nothing else; *heal* is carrefourd at work.",
        "",
        "| scenario | what it is |",
        "|---|---|",
        *(f"| {name} | {one['what']}: `{' '.join(one['words']) or 'churn'}` |" for name, one in scenarios.items()),
        "",
        "## How local VMs are",
        "",
        "The share of accesses that is local, as the mean over all hours, each VM weighted by its memory. *Repacked* is what",
        "placing all VMs anew at no cost reaches, and the *bound* is what no placement can surpass. The aim is to be within",
        "5 % of the bound after each hour. *Span*: VMs on several nodes that would fit on one, if only they moved.",
        "",
        *table(("scenario", "memory in use", "stock", "heal", "repacked", "bound", "hours within 5 %, stock", "heal", "aim: all",
                "worst hour, stock", "heal", "span, stock", "heal"), list(share_rows(scenarios))),
        "",
        "## What it costs",
        "",
        "The ledger has an entry for each VM that got another home. An entry is *lost* if its VM ends, or two hours pass, before",
        "its cost has come back; the aim is one in a hundred. It is *regretted* if its cost had come back, but when its VM ended",
        "or moved on, or after a day, it had brought less than it cost after all. The last two columns are seconds of CPU time;",
        "most of what is brought is that VMs do not share cores.",
        "",
        *table(("scenario", "GiB moved an hour", "most in any hour", "aim: 1 %", "entries", "follow", "gather", "relieve",
                "make room", "lost", "aim: 1 %", "regretted", "cost, s", "brought, s", "days on which the ledger stopped it"),
               list(ledger_rows(scenarios))),
        "",
        "## Why aims are missed",
        "",
        "- On a host that is nearly full, the VMs that span are large, and no node has room for one. heal has to make room",
        "  first, and may move only 1 % of the memory an hour: a VM of 64 GiB takes hours.",
        "- heal moves no memory of a VM that is too idle or too young to pay for it. The share counts that memory as any other.",
        "- A drifted host begins below the aim, and 1 % an hour is not enough to reach it within the first hour.",
        "- Most lost entries are of VMs that gather on one node and then are busier than they ever were before. The node has",
        "  more work than cores then. If heal counts all vCPUs of a VM as busy, it loses fewer, and more VMs stay spread: that",
        "  was tried, and is not what is here.",
        "",
        f"Taken at {result['commit']}.",
        ""])


def plot(result, path):
    figure, axes = begin_plot("heal", figsize=(8.5, 4.2))
    days = result["scenarios"][PLOTTED]["days"]
    count = range(len(days[0]["hours"]))
    for what, colour in (("bound", "0.6"), ("heal", "tab:blue"), ("stock", "tab:red")):
        values = [[100 * day["hours"][hour][what] for day in days] for hour in count]
        axes.plot(count, [sum(at) / len(at) for at in values], label=what, color=colour, linewidth=1.5)
        if what != "bound":
            axes.fill_between(count, [min(at) for at in values], [max(at) for at in values], color=colour, alpha=0.12,
                              linewidth=0)
    axes.axhline(95, color="0.6", linewidth=0.8, linestyle=":", label="within 5 % of the bound")
    axes.set_xlabel(f"hours; {PLOTTED}, mean of all seeds, and their range")
    axes.set_ylabel("local accesses, % (modelled)")
    end_plot(figure, axes, path)


def write(result, directory):
    return write_results("heal", result, page, plot, directory)

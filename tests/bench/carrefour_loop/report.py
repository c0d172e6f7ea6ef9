# SPDX-License-Identifier: GPL-2.0-only
"""The page of the closed loop, from its figures."""

from pages import begin_plot, end_plot, table
from pages import write as write_results

from .measure import STATIC, WITH_CARREFOUR

AIM_S = {"64 GiB": 60, "1 TiB": 600}
AIM_MOVES, AIM_LOST, AIM_NEAR, AIM_AUTO = 1, 0.02, 1.05, 24
AIM_IN_VAIN, FEW = 0.05, 64     # of the moves that samples have told of; of fewer, a share says nothing
# The paper's text, section 5.4: how many times as fast as under stock placement.
TOLD = {"bt.C": ("first-touch,carrefour", 2.0), "sp.C": ("round-4k,carrefour", 3.9)}
KINDS = {"private": "each thread uses its part of the master's pages", "shared": "all threads use all of the master's pages"}


def met(good):
    return "met" if good else "**missed**"


def percent(share, digits=0):
    return f"{100 * share:.{digits}f} %"


def in_vain(one):
    """Of the moves that samples have told of, those that gained nothing; and whether that is the aim."""
    told, lost = one["told"], one["lost"]
    return f"{lost:,} of {told:,}", "few" if told < FEW else met(lost < AIM_IN_VAIN * told)


def pattern_rows(patterns):
    for name, one in patterns.items():
        lost = one["lost_sampling"] + one["lost_moving"]
        aim = next((seconds for size, seconds in AIM_S.items() if size in name and name.startswith("a master's")), None)
        took, gained = one["most_s"], one["gained"]
        yield (name, "-" if gained is None else "never" if took is None else f"{took} s",
               "" if aim is None else met(took is not None and took <= aim), "-" if gained is None else percent(gained),
               percent(one["local"]), percent(one["imbalance"]), f"{one['last_work'] / one['first_work']:.2f}",
               f"{one['moves']:,}", f"{one['moved_mib'] / 1024:.1f}", f"{one['back']:,}", *in_vain(one), f"{one['last_moves']:.1f}",
               met(one["last_moves"] < AIM_MOVES), percent(lost, 2), met(lost < AIM_LOST), f"{one['daemon_bytes'] / 2**20:.0f}")


def best_static(run):
    return max(run["static"][policy] for policy in STATIC)


def program_rows(programs, autos, kind):
    """Time against the best static policy: 1.00 is as fast."""
    for name, program in programs.items():
        run = program["runs"][kind]
        best = best_static(run)
        auto = autos[name][kind]
        yield (name, program["best"], *(f"{best / run['static'][policy]:.2f}" for policy in STATIC),
               *(f"{best / run[policy]['last_work']:.2f}" for policy in WITH_CARREFOUR),
               f"{best / auto['last_work']:.2f}", f"{auto['policy']}{',carrefour' if auto['carrefour'] else ''}")


def misfits(programs):
    for name, program in programs.items():
        bad = [f"{what} {percent(wanted)} here {percent(here)}" for what, (wanted, here) in program["misfit"].items()
               if abs(wanted - here) > 0.05]
        if bad:
            yield (name, "; ".join(bad))


def with_carrefour(programs):
    """Where the paper's best policy has Carrefour: (name, policy, what it gains over the static half of it, by kind)."""
    for name, program in programs.items():
        static, _, switch = program["best"].partition(",")
        if switch:
            yield (name, program["best"], {kind: run[program["best"]]["last_work"] / run["static"][static] - 1
                                           for kind, run in program["runs"].items()})


def static_choice(programs):
    """Of how many programs the model's best static policy of the two is the paper's."""
    return sum(max(("first-touch", "round-4k"), key=lambda policy: program["runs"]["private"]["static"][policy]) ==
               program["best"].partition(",")[0] for program in programs.values())


def auto_near(programs, autos, kind):
    """Of how many `auto` ends as fast as the best static policy, or nearly."""
    return sum(best_static(program["runs"][kind]) / autos[name][kind]["last_work"] <= AIM_NEAR
               for name, program in programs.items())


def told_rows(programs):
    for name, (policy, times) in TOLD.items():
        run = programs[name]["runs"]["private"]
        here = run[policy]["last_work"] / run["static"]["round-1g"]
        yield (name, policy, f"{times:.1f}", f"{here:.1f}", met(here >= times))


def programs_part(result):
    part = result["programs"]
    programs, autos = part["figures"], result["auto"]["figures"]
    head = ("program", "best in the paper", *STATIC, *WITH_CARREFOUR, "auto", "auto ends with")
    wins = list(with_carrefour(programs))
    near, agree = {kind: auto_near(programs, autos, kind) for kind in KINDS}, static_choice(programs)
    gains = [(name, policy, *(percent(gain[kind]) for kind in KINDS), met(max(gain.values()) > 0.01))
             for name, policy, gain in wins]
    return [
        "## The paper's programs",
        "",
        "Table 1 of the paper has four figures a program: imbalance and load of the interconnect, under first-touch and",
        "round-4k. Programs that have these figures in the model run here on AMD48, with the paper's footprints. What the table",
        "does not tell is whether each thread uses a part of a master's pages or all use all of them, and that decides what",
        "Carrefour can do. So both are here. Times are modelled, each is against the best static policy of its row, and below 1",
        f"is faster. With Carrefour they are of the last quarter of a run of {part['seconds']} s, with `auto` of one of",
        f"{result['auto']['seconds']} s, which begins with first-touch.",
        "",
        *(line for kind, what in KINDS.items() for line in (
            f"### Where {what}", "", *table(head, list(program_rows(programs, autos, kind)), left=2), "")),
        "### Against the paper",
        "",
        f"The model's better one of first-touch and round-4k is that of the paper's best policy for {agree} of",
        f"{len(programs)} programs. For the others the model, or what Table 1 does not tell, is wrong, and their rows say",
        "little.",
        "",
        "Where the paper's best policy has Carrefour, what Carrefour gains here over the same policy without it:",
        "",
        *table(("program", "policy", *KINDS, "gains in one of them"), gains, left=2),
        "",
        "The paper's text has two figures, against stock placement:",
        "",
        *table(("program", "policy", "times as fast, paper", "modelled", "at least as much"), list(told_rows(programs)), left=2),
        "",
        f"`auto` is as fast as the best static policy, or within 5 % of it, for {near['private']} of {len(programs)} programs",
        f"where threads have parts of their own, and for {near['shared']} where all use all. The aim of {AIM_AUTO} is "
        f"{met(min(near.values()) >= AIM_AUTO)}.",
        "",
        "Figures of Table 1 that no such program has, by more than 5 points:",
        "",
        *table(("program", "figures"), list(misfits(programs)), left=2),
        "",
        f"Taken at {part['commit']}, `auto` at {result['auto']['commit']}, with seed 1.",
        ""]


def page(result):
    head = ("pattern", "80 % of the gain after", "aim", "of the gain at the end", "local", "imbalance", "times as fast",
            "moves", "GiB moved", "undone", "gained nothing", "aim: below 5 %",
            "moves a second at the end", "aim: below 1", "of the guest's time", "aim: below 2 %", "MiB of the daemon's")
    return "\n".join([
        "# Carrefour in a closed loop",
        "",
        "Made by `make bench`; do not edit. The figures are in [carrefour.json](carrefour.json), how they are taken is told in",
        "[tests/simulate/README.md](../../tests/simulate/README.md).",
        "",
        "![local accesses over time](carrefour.svg)",
        "",
        "**All of it is modelled**: no guest ran. carrefourd's own code decides, and Xen's own code says which entries are",
        "marked. Accesses, times and costs are a model's. A guest of AMD48 has 48 vCPUs; one of 256 vCPUs has 32 a node, and",
        "controllers and links in proportion. Settings are those of `carrefour.conf`.",
        "",
        "## Patterns",
        "",
        "*a master's, 5 % hot*: one thread has touched all memory, on its node; then each thread makes 90 % of its accesses to",
        "its own part of 5 % of it. *Accessed bits*: what Xen cannot do yet, as",
        "[auto.md](../auto.md#sampling-of-a-terabyte) has it. *2m*, *4k*: Xen's entries. The *gain* is what the guest would be",
        "faster if all of its memory were where it should be; the aim is 80 % of it, for good, after 60 s at 64 GiB and 600 s at",
        "1 TiB.",
        "*Times as fast* is the last quarter of a run against its first second. *Undone* are moves of what went back to where it",
        "had come from. *Gained nothing*: after a move to the node that uses a page, most of its next eight samples are remote;",
        "after one that interleaves it, its new node has more load than the old one. The share is of moves with eight samples.",
        "",
        *table(head, list(pattern_rows(result["patterns"]["figures"]))),
        "",
        f"Taken at {result['patterns']['commit']}, with seed 1.",
        "",
        *(programs_part(result) if result["programs"] else []),
        ""])


def plot(result, path):
    figure, axes = begin_plot("carrefour", figsize=(8.5, 4.2))
    for name, curve in result["patterns"]["curves"].items():
        if name.startswith("a master's"):
            axes.plot([point[0] for point in curve], [100 * point[1] for point in curve], label=name, linewidth=1.2)
    axes.set_xlabel("seconds")
    axes.set_ylabel("local accesses, % (modelled)")
    end_plot(figure, axes, path)


def write(result, directory):
    return write_results("carrefour", result, page, plot, directory)

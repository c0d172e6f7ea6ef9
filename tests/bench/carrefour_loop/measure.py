# SPDX-License-Identifier: GPL-2.0-only
"""What is simulated for the page, and the figures of each run."""

from statistics import median

from . import patterns, programs
from .simulation import run

STATIC = ("first-touch", "round-4k", "round-2m", "round-1g")
WITH_CARREFOUR = ("first-touch,carrefour", "round-4k,carrefour")
STOCK = "round-1g"
LAST = 0.25             # of a run: what it ends with
NEAR = 0.95             # of the gain that it ends with


def mean(values):
    return sum(values) / len(values)


def gain_after(seconds, change=0):
    """From a change on, the second from which it stays near what it ends with: of the gain, so much; None without a gain."""
    work = [second["work"] for second in seconds[change:]]
    end = median(work[-max(1, int(len(work) * LAST)):])
    if end < 1.01 * work[0]:
        return None
    below = [index for index, value in enumerate(work) if value < work[0] + NEAR * (end - work[0])]
    return below[-1] + 2 if below else 1


def figures(seconds, total, change=0):
    last = seconds[-max(1, int(len(seconds) * LAST)):]
    return {"work": mean([second["work"] for second in seconds]), "first_work": seconds[0]["work"],
            "last_work": mean([second["work"] for second in last]), "local": last[-1]["local"],
            "imbalance": last[-1]["imbalance"], "link": last[-1]["link"], "converged_s": gain_after(seconds, change),
            "last_moves": mean([second["moves"] for second in last]), "policy": seconds[-1]["policy"],
            "carrefour": seconds[-1]["carrefour"],
            **{name: total[name] for name in ("moves", "moved_mib", "back", "frozen", "split", "collapsed", "lost_sampling",
                                              "lost_moving", "daemon_bytes", "followed", "policies")}}


def of_program(program, row, seconds, auto_seconds):
    fitted = programs.fit(program, row)
    found = {"best": row.best, "misfit": programs.misfit(program, fitted), "overlap": fitted.overlap,
             "instructions": round(fitted.instructions, 1),
             **{name: round(getattr(fitted, name), 3) for name in ("hot", "master", "own")}, "runs": {}}
    for private in (True, False):
        # Nothing moves there, so size and time play no part.
        static = {policy: run(program, fitted.scenario(private, programs.SMALL_MIB if policy != STOCK else None)
                              .having(seconds=1).under(policy))[0][0]["work"] for policy in STATIC}
        found["runs"]["private" if private else "shared"] = {
            "static": static,
            **{policy: figures(*run(program, fitted.scenario(private).having(seconds=seconds).under(policy)))
               for policy in WITH_CARREFOUR},
            "auto": figures(*run(program, fitted.scenario(private).having(seconds=auto_seconds).under("auto")))}
    return found


def of_patterns(program):
    """{name: figures}, and the curves of some."""
    small, large = patterns.SIZES
    plans = [(f"a master's, 5 % hot; {size.name}, {entries}",
              patterns.misplaced(size, seconds=(120 if size is small else 700), entries=entries), 0)
             for size in patterns.SIZES for entries in ("2m", "4k")]
    plans += [(f"a master's, 5 % hot, accessed bits; {large.name}, {entries}",
               patterns.misplaced(large, seconds=700, entries=entries, scan_ms=5000), 0) for entries in ("2m", "4k")]
    plans += [(f"a master's, 5 % hot, pages = 524288; {large.name}, 2m",
               patterns.misplaced(large, seconds=700, entries="2m").configured(pages=524288), 0)]
    plans += [
        (f"another phase after 120 s; {small.name}, 2m", patterns.phases(small, 120, seconds=480, entries="2m"), 120),
        (f"parts exchanged each 5 s; {small.name}, 2m", patterns.alternating(small, 5, 300, seconds=300, entries="2m"), 0),
        (f"parts exchanged each 90 s; {small.name}, 2m", patterns.alternating(small, 90, 540, seconds=540, entries="2m"), 0),
        (f"a pair of threads wanders each 10 s; {small.name}, 2m", patterns.wandering(small, 10, seconds=300, entries="2m"), 0),
        (f"all use all, spread; {small.name}, 2m", patterns.shared(small, seconds=240, entries="2m"), 0),
        (f"all use all, spread; {small.name}, 4k", patterns.shared(small, seconds=240, entries="4k"), 0),
        (f"all is local; {small.name}, 4k", patterns.local(small, seconds=240, entries="4k"), 0),
        (f"small pages of all in each 2 MiB; {small.name}, 2m", patterns.mixed(small, seconds=240, entries="2m"), 0),
    ]
    found, curves = {}, {}
    for name, scenario, change in plans:
        seconds, total = run(program, scenario)
        found[name] = figures(seconds, total, change)
        curves[name] = [[second["second"], round(second["local"], 3), round(second["work"], 3), second["moves"]]
                        for second in seconds[::max(1, len(seconds) // 120)]]
        print(f"  {name}: local {found[name]['local']:.2f}, converged after {found[name]['converged_s']} s", flush=True)
    return found, curves

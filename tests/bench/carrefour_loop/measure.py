# SPDX-License-Identifier: GPL-2.0-only
"""What is simulated for the page, and the figures of each run."""

from . import patterns, programs
from .simulation import run

STATIC = ("first-touch", "round-4k", "round-2m", "round-1g")
WITH_CARREFOUR = ("first-touch,carrefour", "round-4k,carrefour")
STOCK = "round-1g"
LAST = 0.25             # of a run: what it ends with
MOST = 0.8              # of what can be gained


def mean(values):
    return sum(values) / len(values)


def gained_after(seconds, best, change=0):
    """From a change on, the second from which it stays at MOST of the way to the best; None: at the end it is not."""
    work = [second["work"] for second in seconds[change:]]
    below = [index for index, value in enumerate(work) if value < work[0] + MOST * (best - work[0])]
    return (below[-1] + 2 if below[-1] + 1 < len(work) else None) if below else 1


def figures(seconds, total, best=None, change=0):
    """best: the work of a second where all memory is where it should be."""
    last = seconds[-max(1, int(len(seconds) * LAST)):]
    first, at_last = seconds[change]["work"], mean([second["work"] for second in last])
    return {"work": mean([second["work"] for second in seconds]), "first_work": first, "last_work": at_last,
            "local": last[-1]["local"], "imbalance": last[-1]["imbalance"], "link": last[-1]["link"],
            "most_s": gained_after(seconds, best, change) if best else None,
            "gained": (at_last - first) / (best - first) if best else None,
            "last_moves": mean([second["moves"] for second in last]), "policy": seconds[-1]["policy"],
            "carrefour": seconds[-1]["carrefour"],
            **{name: total[name] for name in ("moves", "moved_mib", "back", "told", "lost", "frozen", "split", "collapsed",
                                              "lost_sampling",
                                              "lost_moving", "daemon_bytes", "followed", "policies")}}


def of_program(program, row, seconds):
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
               for policy in WITH_CARREFOUR}}
    return found


def of_auto(program, row, seconds):
    fitted = programs.fit(program, row)
    return {kind: figures(*run(program, fitted.scenario(kind == "private").having(seconds=seconds).under("auto")))
            for kind in ("private", "shared")}


def plans():
    """(name, scenario, how memory should be or None, when that begins)"""
    small, large = patterns.SIZES
    for size in patterns.SIZES:
        for entries in ("2m", "4k"):
            yield (f"a master's, 5 % hot; {size.name}, {entries}",
                   patterns.misplaced(size, seconds=(120 if size is small else 700), entries=entries), patterns.placed(size), 0)
    yield (f"a master's, 5 % hot, pages = 524288; {large.name}, 2m",
           patterns.misplaced(large, seconds=700, entries="2m").configured(pages=524288), patterns.placed(large), 0)
    for entries in ("2m", "4k"):
        yield (f"a master's, 5 % hot, accessed bits; {large.name}, {entries}",
               patterns.misplaced(large, seconds=700, entries=entries, scan_ms=5000), patterns.placed(large), 0)
    yield (f"another phase after 120 s; {small.name}, 2m", patterns.phases(small, 120, seconds=480, entries="2m"),
           patterns.placed(small), 120)
    for name, scenario in (
            ("parts exchanged each 5 s", patterns.alternating(small, 5, 300, seconds=300)),
            ("parts exchanged each 90 s", patterns.alternating(small, 90, 540, seconds=540)),
            ("a pair of threads wanders each 10 s", patterns.wandering(small, 10, seconds=300)),
            ("all use all, spread", patterns.shared(small, seconds=240)),
            ("all is local", patterns.local(small, seconds=240)),
            ("small pages of all in each 2 MiB", patterns.mixed(small, seconds=240))):
        yield f"{name}; {small.name}, 2m", scenario.having(entries="2m"), None, 0
    for name, scenario in (("all use all, spread", patterns.shared(small, seconds=240)),
                           ("all is local", patterns.local(small, seconds=240))):
        yield f"{name}; {small.name}, 4k", scenario.having(entries="4k"), None, 0


def of_patterns(program):
    """{name: figures}, and their curves."""
    found, curves = {}, {}
    for name, scenario, placed, change in plans():
        best = run(program, placed)[0][0]["work"] if placed else None
        seconds, total = run(program, scenario)
        found[name] = figures(seconds, total, best, change)
        curves[name] = [[second["second"], round(second["local"], 3), round(second["work"], 3), second["moves"]]
                        for second in seconds[::max(1, len(seconds) // 120)]]
        print(f"  {name}: local {found[name]['local']:.2f}, most of the gain after {found[name]['most_s']} s", flush=True)
    return found, curves

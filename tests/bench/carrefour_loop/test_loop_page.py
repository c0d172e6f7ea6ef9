# SPDX-License-Identifier: GPL-2.0-only
"""The bench of the closed loop: programs that have the figures they are made for, figures of a run, and the page."""

from dataclasses import replace

import pytest

from carrefour_loop import measure, patterns, programs, report, simulation


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    return simulation.build(tmp_path_factory.mktemp("simulate"))


def second(number, work, **more):
    return {"second": number, "work": work, "local": 0.5, "imbalance": 0.1, "link": 0.2, "moves": 3, "policy": "round-4k",
            "carrefour": True, **more}


TOTAL = {name: 0 for name in ("moves", "moved_mib", "back", "told", "lost", "frozen", "split", "collapsed", "lost_sampling",
                              "lost_moving",
                              "daemon_bytes", "followed", "policies")}


@pytest.mark.parametrize("work, wanted", [
    ([1, 1, 1.7, 1.85, 2, 2, 2, 2], 4),     # 80 % of the way from 1 to 2 in the fourth second
    ([1, 2, 1, 2, 2, 2, 2, 2], 4),          # it has to stay there
    ([1, 2, 2, 2, 2, 2, 2, 1.5], None),
    ([2, 2, 2, 2, 2, 2, 2, 2], 1),          # it was there
    ([1, 1, 1, 1, 1, 1, 1, 1], None),
])
def test_most_of_the_gain(work, wanted):
    assert measure.gained_after([second(index + 1, value) for index, value in enumerate(work)], 2) == wanted


def test_most_of_the_gain_after_a_change():
    work = [9, 9, 9, 9, 1, 1, 2, 2, 2, 2, 2, 2]
    assert measure.gained_after([second(index + 1, value) for index, value in enumerate(work)], 2, 4) == 3


def test_the_last_quarter_is_told():
    found = measure.figures([second(index + 1, value) for index, value in enumerate([1, 1, 1, 1, 1, 1, 3, 5])], TOTAL)
    assert (found["first_work"], found["last_work"], found["work"], found["gained"]) == (1, 4, 14 / 8, None)


def test_bisection():
    assert programs.bisect(0, 10, 30, lambda x: 100 - x * x) == pytest.approx(70 ** 0.5, abs=1e-4)
    assert programs.bisect(0, 10, 200, lambda x: 100 - x * x) == 0
    assert programs.bisect(0, 10, -5, lambda x: 100 - x * x) == 10


def test_the_table_is_the_papers():
    rows = {row.name: row for row in programs.table()}
    assert len(rows) == 29
    assert rows["sp.C"].imbalance == {"first-touch": 1.13, "round-4k": 0.04} and rows["sp.C"].footprint == 869
    assert rows["bt.C"].link == {"first-touch": 0.51, "round-4k": 0.35} and rows["bt.C"].best == "first-touch,carrefour"


def test_a_program_has_its_figures(program):
    """One that can have all four of them."""
    row = next(row for row in programs.table() if row.name == "sp.C")
    fitted = programs.fit(program, row)
    assert all(abs(wanted - here) < 0.01 for wanted, here in programs.misfit(program, fitted).values())
    other = programs.fit(program, replace(row, link={"first-touch": 0.2, "round-4k": 0.3}))
    assert other.instructions > fitted.instructions or other.overlap < fitted.overlap


@pytest.mark.parametrize("policy, wanted", [("first-touch", ("first-touch", "off", None)),
                                            ("round-4k,carrefour", ("round-4k", "on", None)),
                                            ("auto", ("first-touch", None, "on"))])
def test_policies(policy, wanted):
    settings = patterns.shared(patterns.SMALL).having(carrefour=None).under(policy).settings
    assert (settings["policy"], settings.get("carrefour"), settings.get("auto")) == wanted


def test_patterns_are_scenarios(program):
    """A second of each, of a small guest."""
    small = patterns.Size("1 GiB", 1, 48, 60)
    for scenario in (patterns.misplaced(small), patterns.placed(small), patterns.phases(small, 1),
                     patterns.alternating(small, 1, 3),
                     patterns.wandering(small, 1), patterns.shared(small), patterns.mixed(small), patterns.local(small)):
        seconds, total = simulation.run(program, scenario.having(seconds=2))
        assert len(seconds) == 2 and total["seconds"] == 2


def test_a_wrong_scenario_is_told(program):
    with pytest.raises(simulation.SimulationError, match="carrots is no word of a scenario"):
        simulation.run(program, patterns.shared(patterns.SMALL).having(carrots=1))


def of_program(best, static, carrefour):
    one = measure.figures([second(1, 1)], TOTAL)
    run = {"static": dict(zip(measure.STATIC, static)),
           **{policy: {**one, "last_work": work} for policy, work in zip(measure.WITH_CARREFOUR, carrefour)}}
    return {"best": best, "misfit": {"link first-touch": (0.5, 0.3)}, "runs": {"private": run, "shared": run}}


def test_the_page(tmp_path):
    found = {"bt.C": of_program("first-touch,carrefour", (2, 1, 1, 1), (3, 1)),
             "sp.C": of_program("round-4k,carrefour", (2, 4, 1, 1), (3, 4))}
    slow = measure.figures([second(1, 1), *(second(index, 2) for index in range(2, 102))], {**TOTAL, "lost_moving": 0.03, "back": 7, "told": 100, "lost": 5}, 3)
    result = {"patterns": {"commit": "c", "figures": {"a master's, 5 % hot; 64 GiB, 48 vCPUs, 2m": slow}, "curves": {"x": []}},
              "programs": {"commit": "d", "seconds": 60, "figures": found},
              "auto": {"commit": "e", "seconds": 120, "figures": {
                  name: {kind: {**slow, "last_work": work} for kind in report.KINDS}
                  for name, work in (("bt.C", 1.91), ("sp.C", 3))}}}
    report.write(result, tmp_path)
    page = (tmp_path / "carrefour.md").read_text()
    assert "| never | **missed** | 50 % | 50 % | 10 % | 2.00 | 0 | 0.0 | 7 | 5 of 100 | **missed** | 3.0 | **missed** | 3.00 % | **missed** | 0 |" in page
    # against the best of 2: with Carrefour 2 of 3, under auto within 5 %
    assert "| bt.C | first-touch,carrefour | 1.00 | 2.00 | 2.00 | 2.00 | 0.67 | 2.00 | 1.05 | round-4k,carrefour |" in page
    assert "for 1 of 2 programs\nwhere" in page and "is **missed**" in page
    assert "| bt.C | first-touch,carrefour | 50 % | 50 % | met |" in page
    assert "| sp.C | round-4k,carrefour | 0 % | 0 % | **missed** |" in page
    assert "| bt.C | first-touch,carrefour | 2.0 | 3.0 | met |" in page
    assert "paper's best policy for 2 of" in page
    assert "| bt.C | link first-touch 50 % here 30 % |" in page

# SPDX-License-Identifier: GPL-2.0-only
"""The bench of heal: its figures by hand, and the page."""

from heal import report, run


def hour(number, stock, heal, **more):
    return {"hour": number, "vms": 200, "memory_mib": 800, "free_mib": 200, "stock": stock, "heal": heal, "bound": 1.0,
            "repacked": 0.99, "stock_spans": 3, "heal_spans": 1, "moved_mib": 2048, **more}


def day(lost, most_hour, *hours):
    return {"hours": [hour(0, 0, 0), *hours],
            "whole": {"entries": 100, "paid": 100 - lost, "lost": lost, "regretted": 5, "most_hour": most_hour, "cost_s": 10.4,
                      "brought_s": 5000, "stopped": False, "follow": 1, "gather": 2, "relieve": 3, "make-room": 4}}


def written(tmp_path, **days):
    scenarios = {name: {"what": "a day", "words": ["x=1"], "days": days[name]} for name in days}
    scenarios[report.PLOTTED] = next(iter(scenarios.values()))
    report.write({"commit": "c", "seeds": 1, "scenarios": scenarios}, tmp_path)
    return (tmp_path / "heal.md").read_text()


def test_aims_that_are_met(tmp_path):
    page = written(tmp_path, good=[day(1, 0.01, hour(1, 0.90, 0.95), hour(2, 0.96, 1.0))])
    assert "| good | 80 % | 93.0 % | 97.5 % | 99.0 % | 100.0 % | 50.0 % | 100.0 % | met | 90.0 % | 95.0 % | 3.0 | 1.0 |" in page
    assert "| good | 2.0 | 1.00 % | met | 100 | 1 | 2 | 3 | 4 | 1.0 % | met | 5.0 % | 10 | 5,000 | 0 |" in page
    assert (tmp_path / "heal.svg").stat().st_size > 1000


def test_aims_that_are_missed(tmp_path):
    page = written(tmp_path, bad=[day(2, 0.0101, hour(1, 0.9, 0.949), hour(2, 0.9, 0.96)),
                                  day(1, 0.002, hour(1, 1, 1), hour(2, 1, 1))])
    assert "| 75.0 % | **missed** |" in page and "| 1.01 % | **missed** |" in page and "| 1.5 % | **missed** |" in page


def test_a_day_is_simulated(tmp_path):
    one = run.day(run.build(tmp_path), "hours=1", "vms=20")
    assert set(one["hours"][1]) == set(run.HOUR) and "regretted" in one["whole"]

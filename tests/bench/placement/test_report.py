# SPDX-License-Identifier: GPL-2.0-only
"""The figures, tables and plots, from results made up so that the answers are known by hand."""

import json
from xml.etree import ElementTree

import pytest

from placement import aims, plots, report
from placement.figures import Figures, imbalance_class
from placement.jobs import LAYOUTS
from placement.subjects import SUBJECTS


MACHINE = {"preset": "amd48", "latency": [100, 200, 300], "routes": []}


DID = {"policy": "round-4k", "carrefour": True, "class": "high", "periods": 30, "samples": 4321, "moves": 200, "frozen": 3,
       "backoffs": 0}


def result(subject, workload, cycles, beside="", layout="alone", **region):
    cpus = [{"cpu": cpu, "node": cpu - 1, "misses": {"user": [5] * 8}, "instructions": {"user": 60, "kernel": 30, "xen": 7000},
             "memory_cycles": {"uncontended": 10, "contended": cycles // cpu - 90}} for cpu in range(1, 9)]
    region = {"region": 1, "machine": MACHINE, "cycles": cycles, "memory_cycles": cycles // 2, "local_ratio": 0.5,
              "imbalance": 0.1, "interconnect_load": 0.2, "cpus": cpus, **region}
    return {"subject": subject, "workload": workload, "size": "full", "beside": beside, "layout": layout, "recipe": {"large": 1},
            "region": region, "placement": DID if SUBJECTS[subject].dynamic else None, "wall_seconds": 1.0,
            "repeats": [100, 101 if SUBJECTS[subject].native else 105]}


@pytest.fixture
def bench():
    return {"bench": "full", "versions": {"qemu": "QEMU 10", "gcc": "gcc 12"}, "failed": [], "results": [
        result("native-first-touch", "master", 4000, imbalance=2.6),
        result("native-interleave", "master", 1000),
        result("stock", "master", 3000, imbalance=2.6),
        result("round-1g", "master", 6000),
        result("round-4k", "master", 1500),
        result("native-first-touch", "parts", 500, imbalance=0.01),
        result("native-interleave", "parts", 1000),
        result("stock", "parts", 2000),
        result("round-4k", "parts", 1000),
        result("stock", "parts", 8000, beside="master", layout="halved"),
        result("round-4k", "parts", 2000, beside="master", layout="halved"),
    ]}


@pytest.fixture
def figures(bench):
    return Figures(bench["results"])


def test_overhead_is_against_the_best_native(figures):
    assert figures.best_native("master") == ("native-interleave", 1000)
    assert figures.best_native("parts") == ("native-first-touch", 500)
    assert figures.overhead("stock", "master") == 2
    assert figures.overhead("native-first-touch", "master") == 3
    assert figures.overhead("round-4k", "parts") == 1


def test_misses_of_programs():
    """By the latency to the node that they go to: own, next, two hops away by either route."""
    one = result("first-touch", "parts", 1000)
    one["region"]["machine"] = {"latency": [100, 200, 300], "routes": [[0, 1, 3], [0, 2, 3]]}
    one["region"]["cpus"] = [{"node": 0, "misses": {"user": [6, 2, 1, 1], "kernel": [9, 9, 9, 9]}, "instructions": {"user": 2500, "kernel": 9}},
                             {"node": 1, "misses": {"user": [0, 10, 0, 0], "kernel": [9, 9, 9, 9]}, "instructions": {"user": 5000}}]
    assert Figures([one]).programs("first-touch", "parts") == (16 / 20, 600 + 400 + 200 + 300 + 1000, 2500 / 10000)
    assert Figures([one]).programs("stock", "parts") == (None, None, None)


def test_gain_is_against_stock(figures):
    assert figures.gain("round-4k", "master") == 1
    assert figures.gain("round-1g", "master") == -0.5
    assert figures.best_policy("master") == ("round-4k", 1500)


def test_what_was_not_measured_is_no_number(figures):
    assert figures.overhead("round-1g", "parts") is None
    assert figures.gain("round-2m", "master") is None
    assert figures.best(["round-2m"], "master") == (None, None)
    assert figures.pair_gain("master", "parts", "halved", "round-4k", (1,)) is None


def test_emulating_for_the_emulator_takes_no_time(figures):
    assert figures.time("stock", "master") == 3000


def test_levels_are_the_papers():
    assert [imbalance_class(value) for value in (0.84, 0.85, 1.30, 1.31)] == ["low", "moderate", "moderate", "high"]


def test_the_model_is_held_against_the_paper(bench, figures):
    assert figures.verdict("master") == ("interleave faster", 4, True)
    assert figures.verdict("parts") == ("first-touch no slower", 0.5, True)
    bench["results"][6] = result("native-interleave", "parts", 400)      # it wins although every access was local
    assert not Figures(bench["results"]).verdict("parts")[2]


def test_pairs_count_the_cpus_of_the_measured_guest(figures, bench):
    assert figures.pair_gain("parts", "master", "halved", "round-4k", LAYOUTS["halved"].cpus) == 3
    beside = bench["results"][-2]["region"]["cpus"][7]
    beside["memory_cycles"]["contended"] = 80_000
    assert Figures(bench["results"]).pair_gain("parts", "master", "halved", "round-4k", LAYOUTS["halved"].cpus) == 3


def cycles(figure):
    """What makes a result's memory cycles this figure."""
    return figure + 90


@pytest.fixture
def carrefour():
    """Workloads a and b: memory cycles of native Linux, of static policies, with Carrefour, of auto."""
    table = {"native-first-touch": (1000, 1000), "native-balancing": (2000, 800), "round-4k": (1100, 1200), "stock": (100, 100),
             "round-4k-carrefour": (1040, 700), "auto": (1155, 1300)}
    return [result(subject, workload, cycles(figure)) for subject, figures in table.items()
            for workload, figure in zip("ab", figures)]


def test_the_best_policy_is_held_against_the_best_of_linux(carrefour):
    """Stock Xen is no policy of this project, and whose figure is not there is not compared."""
    figures = Figures(carrefour)
    assert aims.best(figures)[2:] == ["| a | Linux, first-touch | round-4k, Carrefour | +4.0 % | met | 1.0 %, 5.0 % |",
                                      "| b | Linux, balancing | round-4k, Carrefour | -12.5 % | met | 1.0 %, 5.0 % |"]
    assert aims.best_said(figures) == (
        "With the best policy, 2 of 2 workloads take at most 5 % more memory cycles than with the best of native Linux: met; "
        "`a` takes +4.0 %.\nOn average (geometric mean) it is -4.6 %: met.")
    without = Figures([one for one in carrefour if one["subject"] not in ("round-4k-carrefour", "auto")])
    assert aims.best(without)[2:] == ["| a | Linux, first-touch | round-4k | +10.0 % | **NOT met** | 1.0 %, 5.0 % |",
                                      "| b | Linux, balancing | round-4k | +50.0 % | **NOT met** | 1.0 %, 5.0 % |"]
    assert "0 of 2 workloads" in aims.best_said(without) and "`b` takes +50.0 %" in aims.best_said(without)
    assert aims.best_said(without).endswith("it is +28.5 %: **NOT met**.")
    assert aims.best_said(Figures(carrefour[4:8])) == "Not measured: the best policy, or the best of native Linux."


def test_auto_is_held_against_the_best_static_policy(carrefour):
    figures = Figures(carrefour)
    assert aims.auto(figures)[2:] == ["| a | high | round-4k, Carrefour | round-4k | +5.0 % | met | 5.0 %, 5.0 % |",
                                      "| b | high | round-4k, Carrefour | round-4k | +8.3 % | **NOT met** | 5.0 %, 5.0 % |"]
    assert aims.auto_said(figures) == (
        "With auto, 1 of 2 workloads take at most 5 % more memory cycles than with the best static policy: **NOT met**; "
        "`b` takes +8.3 %.\nOn average (geometric mean) it is +6.7 %.")


def test_one_policy_for_all(carrefour):
    """Native Linux's policies too are held against the best of them for each workload."""
    said = aims.one_for_all(Figures(carrefour))[2:]
    assert "| Linux, first-touch | +11.8 % | 1 of 2 | b, +25.0 % |" in said
    assert "| round-4k, Carrefour | -4.6 % | 2 of 2 | a, +4.0 % |" in said
    assert "| stock Xen | -88.8 % | 2 of 2 | b, -87.5 % |" in said
    assert aims.one_for_all(Figures([one for one in carrefour if one["subject"] == "stock"])) == ["(not measured)"]


def test_what_carrefour_did_is_told(carrefour):
    assert aims.work(Figures(carrefour))[2:] == [f"| {workload} | {title} | 30 | 4,321 | 200 | 3 | 0 |" for workload in "ab"
                                                 for title in ("auto", "round-4k, Carrefour")]


def test_pairs_have_a_column_for_each_policy(bench):
    bench["results"].append(result("auto", "parts", 4000, beside="master", layout="halved"))
    assert report.pairs(Figures(bench["results"]))[2:] == ["| parts | master | halved | +300 % | +100 % |"]


def test_the_page(bench, carrefour, tmp_path):
    page = report.page(bench)
    assert "| master | Linux, interleave | +300 % | +200 % | +500 % | **+50 %** |" in page
    assert "| parts | Linux, first-touch | **+0 %** | +300 % | — | +100 % |" in page
    assert "| master | -50 % | +100 % | round-4k |" in page
    assert "| parts | master | halved | +300 % |" in page
    assert "| master | — | high (260 %) | interleave faster | 4.00 | yes |" in page
    assert "stock Xen 2 of 2, the best policy of this project 1 of 2" in page
    assert "Not everything" not in page
    assert "Not measured: auto, or the best static policy." in page
    page = report.page({**bench, "results": carrefour})
    assert all(line in page for line in (*aims.auto(Figures(carrefour)), aims.best_said(Figures(carrefour))))
    assert "- stock: parts: a hang" in report.page({**bench, "failed": ["stock: parts: a hang"]})


def test_raw_results_can_be_read_again(bench, tmp_path):
    paths = report.write(bench, tmp_path)
    assert {path.name for path in paths} == {"placement.json", "placement.md", *(f"placement-{name}.svg" for name in plots.PLOTS)}
    raw = json.loads((tmp_path / "placement.json").read_text())
    assert raw["machine"] == MACHINE
    assert len(raw["results"]) == len(bench["results"])
    assert raw["results"][2]["region"]["cycles"] == 3000


def test_plots_are_the_same_twice_and_white(bench, tmp_path):
    for name in ("a", "b"):
        report.write(bench, tmp_path / name)
    for name in plots.PLOTS:
        first, second = ((tmp_path / place / f"placement-{name}.svg").read_bytes() for place in ("a", "b"))
        assert first == second
        ElementTree.fromstring(first)
        assert b"fill: #ffffff" in first


def test_plots_of_one_result(tmp_path):
    """A bench that was stopped early, or a part of it."""
    for subject in ("stock", "native-first-touch", "round-4k"):
        one = {"bench": "quick", "versions": {"qemu": "", "gcc": ""}, "failed": [], "results": [result(subject, "alone", 1000)]}
        report.write(one, tmp_path)

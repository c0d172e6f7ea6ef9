# SPDX-License-Identifier: GPL-2.0-only
"""The quick bench, for real, and truths that hold whatever the figures are.

What is finished and unchanged is not measured again.
"""

import pytest

from placement import report, run
from placement.figures import Figures
from placement.subjects import FIRST_TOUCH, INTERLEAVE, STOCK

# test_driver.py and test_report.py have what needs no machine
pytestmark = [pytest.mark.soak, pytest.mark.heavy]

EVEN = (INTERLEAVE, "round-4k")
EIGHTH = pytest.approx(1 / 8, abs=0.02)
HIGH = 1.30         # the paper's
WORKLOADS = ("pattern-master", "pattern-partitioned", "hpcc-stream")


@pytest.fixture(scope="module")
def results():
    measured, failed = run.run("quick")
    assert not failed
    return measured


@pytest.fixture(scope="module")
def figures(results):
    return Figures(results)


@pytest.mark.parametrize("subject", EVEN)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_interleaving_is_even_and_rarely_local(figures, subject, workload):
    assert figures.value(subject, workload, "local_ratio") == EIGHTH
    assert figures.value(subject, workload, "imbalance") < 0.1


@pytest.mark.parametrize("workload", ["pattern-partitioned", "hpcc-stream"])
def test_first_touch_makes_own_parts_local(figures, workload):
    assert figures.value(FIRST_TOUCH, workload, "local_ratio") > 0.9
    assert figures.value(FIRST_TOUCH, workload, "interconnect_load") < 0.05


def test_a_master_loads_one_node_under_first_touch(figures):
    assert figures.value(FIRST_TOUCH, "pattern-master", "imbalance") > HIGH
    assert figures.value(INTERLEAVE, "pattern-master", "imbalance") < 0.1


@pytest.mark.parametrize("workload", WORKLOADS)
def test_stock_xen_puts_a_small_working_set_on_one_node(figures, workload):
    assert figures.value(STOCK, workload, "imbalance") > HIGH


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_same_placement_takes_the_same_time_under_xen_and_linux(figures, workload):
    assert figures.time("round-4k", workload) == pytest.approx(figures.time(INTERLEAVE, workload), rel=0.10)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_model_sorts_as_the_paper_does(figures, workload):
    assert figures.verdict(workload)[2], figures.verdict(workload)


def test_nothing_fell_back_to_another_node(results):
    assert [result["placement"]["fallback"] for result in results if result["subject"] == "round-4k"] == [0] * len(WORKLOADS)


def test_the_page_can_be_written(results, tmp_path):
    for path in report.write({"bench": "quick", "versions": {"qemu": "", "gcc": ""}, "failed": [], "results": results}, tmp_path):
        assert path.stat().st_size > 1000

# SPDX-License-Identifier: GPL-2.0-only
"""Sums over a region by hand, and the page of results of which some are missing.  Boots nothing."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

from page_walks import measure, report, sweep      # noqa: E402  the path comes first


def cpu(number, time, scale):
    """CPU `number` of node `number`, of two; Xen's counts are nobody's."""
    def by_mode(value):
        return {"user": value * scale, "kernel": scale, "xen": 1000000}

    def by_node(first, second):
        return {"user": [first * scale, second * scale], "kernel": [0, scale], "xen": [1000000, 1000000]}

    return {"cpu": number, "node": number, "instructions": {"user": time, "kernel": 5, "xen": 1000000}, "accesses": by_mode(100),
            "misses": by_node(10, 20), "handed_over": by_mode(3), "tlb_hits": by_mode(7), "walks": by_mode(40), "walks_lost": 1,
            "walk_l2_hits": by_mode(50), "walk_l3_hits": by_mode(5), "walk_misses": by_node(6, 2),
            "memory_cycles": {"uncontended": 900 * scale, "contended": 1000 * scale, "walks": 300 * scale}}


REGION = {"cpus": [cpu(0, 50000, 1), cpu(1, 100, 10)], "nodes": [{}, {}], "local_ratio": 0.4, "imbalance": 0.1}


def test_sums():
    figures = measure.figures_of(REGION)
    assert figures["time"] == 50000 + 5 + 1000      # the first CPU takes longest, whatever the other one waits
    assert (figures["uncontended"], figures["walk_cycles"]) == (900, 300)
    assert (figures["accesses"], figures["misses"], figures["walks"]) == (101 * 11, 31 * 11, 41 * 11)
    assert (figures["handed_over"], figures["tlb_hits"], figures["walks_lost"]) == (4 * 11, 8 * 11, 2)
    assert figures["walk_misses"] == 9 * 11
    assert figures["references"] == (51 + 6 + 9) * 11
    # 6 of 9 on the first CPU; of the second CPU's 90 those that are on node 1
    assert figures["tables_own_node"] == (6 + 30) / 99


def result():
    row = {**measure.figures_of(REGION), "commit": "abc"}
    loads = [{"mib": mib, "page": size, "below": below, "loads": 200, "walks": 100, "references": 300, "missed": 50,
              "cycles": 123.4, "walk_cycles": 45.6} for mib in sweep.SETS for size in sweep.PAGES for below in sweep.BELOW]
    return {"versions": {"qemu": "QEMU"}, "size": "quick", "results": {
        "amd48/loads": {"rows": loads, "commit": "abc"},
        report.name("amd48", "stock", "hpcc-stream"): {**row, "time": 2000},
        report.name("amd48", "round-4k", "hpcc-stream"): {**row, "time": 1000, "commit": "def"},
    }}


def test_page():
    page = report.page(result())
    assert "Taken at abc, def." in page and "### On AMD48" in page and report.MACHINES["xeon"] not in page
    assert "| 256 MiB, 4K | 123 | 123 |" in page and "| 4 MiB, 2M | 1.50 | 1.50 |" in page
    assert "| hpcc-stream | — | +0 % | — | -50 % |" in page
    assert "| hpcc-randomaccess | — | — | — | — |" in page
    assert "| hpcc-stream | — | 33.3 % | — | 33.3 % |" in page


def test_plot(tmp_path):
    paths = report.write(result(), tmp_path)
    assert [path.suffix for path in paths] == [".json", ".md", ".svg"]
    assert "AMD48" in (tmp_path / "page-walks.svg").read_text()


def test_without_boots_there_is_no_table_of_them():
    only = result()
    only["results"] = {"amd48/loads": only["results"]["amd48/loads"]}
    assert "## Workloads" not in report.page(only)


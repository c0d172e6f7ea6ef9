# SPDX-License-Identifier: GPL-2.0-only
"""What the plugin says is read right, and judged right.  The boot is in make soak."""

import json

import pytest

from create_cost.instrument import InstrumentError
from hold_time import instrument, report

STEPS = ["populate: a", "give back: b"]


def line(region, p2m=100, pod=10, stretch=200, number=1):
    lengths = {"p2m": p2m, "pod": pod, "stretch": stretch}
    return json.dumps({"region": region, **{what: {"number": number, "instructions": length, "flushes": 1, "from": 1, "to": 2}
                                            for what, length in lengths.items()}})


def parse(*lines, rounds=1):
    return instrument.parse(lines, STEPS, rounds, {1: "begins", 2: "ends"}.get)


def test_the_longest_of_all_rounds_is_told():
    longest = parse(line(0), line(1, p2m=7), line(2, p2m=50), line(3, p2m=70), rounds=2)
    assert [longest[step]["p2m"].instructions for step in STEPS] == [100, 70]
    assert (longest[STEPS[0]]["p2m"].begins, longest[STEPS[0]]["p2m"].ends) == ("begins", "ends")


@pytest.mark.parametrize("lines, why", [
    ([line(0)], "the plugin saw 1"),
    ([line(1), line(0)], "the plugin saw 2"),
    ([line(0), json.dumps({"error": "region 1 has no end"})], "has no end"),
    ([line(0, number=0), line(1, number=0)], "no lock was taken"),
])
def test_what_was_not_measured_is_no_figure(lines, why):
    with pytest.raises(InstrumentError, match=why):
        parse(*lines)


def result(**lengths):
    """Of each subject: what it holds the p2m's lock for in the second step; the PoD lock always for 10."""
    def steps(length):
        return {step: {"answer": 0, **{what: {"number": 1, "instructions": n, "flushes": 0, "begins": "f", "ends": "g"}
                                       for what, n in (("p2m", length), ("pod", 10), ("stretch", 5))}} for step in STEPS}
    return {"rounds": 1, "commit": "c", "versions": {"qemu": "Q", "gcc": "G"}, "machine": {"cpus": [5, 4], "mib": [1, 1]},
            "subjects": {subject.replace("_", "-"): {"1": steps(length), "8": steps(length)} for subject, length in lengths.items()}}


def test_what_is_longer_than_twice_is_outside():
    assert report.outside(result(stock=100, none=200)) == []
    found = report.outside(result(stock=100, none=100, first_touch=201))
    assert {(kind, what, vcpus, subject) for kind, what, vcpus, subject, _ in found} == {
        (kind, "p2m", vcpus, "first-touch") for kind in ("populate", "give back") for vcpus in "18"}


def test_the_page_says_what_is_outside():
    assert "**Target:** no lock is held for longer than 2 times stock's worst for the same kind of call: met by all." in report.page(
        result(stock=100, none=200))
    page = report.page(result(stock=100, none=300))
    assert "**not met**: populate, the p2m's lock, 1 vCPUs, none: 3.00" in page and "300 (3.00 **over**)" in page


def test_where_stock_has_no_use_for_the_pod_lock_its_other_one_is_the_measure():
    figures = result(stock=100, none=100)
    for by_vcpus in figures["subjects"].values():
        for steps in by_vcpus.values():
            for step in steps.values():
                step["pod"]["instructions"] = 0
    figures["subjects"]["none"]["1"][STEPS[0]]["pod"]["instructions"] = 150
    assert report.outside(figures) == []
    figures["subjects"]["none"]["1"][STEPS[0]]["pod"]["instructions"] = 250
    assert [found[:4] for found in report.outside(figures)] == [("populate", "pod", "1", "none")]


def test_each_kind_of_the_program_has_its_bound():
    header = (instrument.ROOT / "tests/bare/guests/hold-time.h").read_text()
    told = [line.split('"')[1] for line in header.splitlines() if line.startswith("\tSTEP(")]
    assert len(told) == len(set(told)) > 20
    assert {report.kind_of(step) for step in told} == set(report.PROMISED)


@pytest.mark.soak
@pytest.mark.heavy
@pytest.mark.parametrize("hypervisor, words", [("stock", "pod"), ("release", "first-touch")])
def test_a_boot_is_counted(hypervisor, words):
    longest, answers = instrument.count(hypervisor, words, 1, 1)
    assert answers["the guest came to its end"] == 1 and answers["destroyed"] == 0
    # 256 pages take no more than so often a page and its tables, and no instruction less than they may
    page, mib = (longest[step]["p2m"].instructions for step in ("populate: 4 KiB, and tables", "populate: 1 MiB"))
    assert 256 * 100 < mib < 256 * page
    # who asks what Xen refuses holds nothing for long, and each section is within a stretch
    assert longest["exchange: 2 MiB"]["p2m"].instructions < 5000
    if words == "first-touch":
        # 2 MiB are cleared without the lock, whoever touches them
        assert longest["touch: 2 MiB, by a hypercall's argument"]["p2m"].instructions < 100_000
    assert all(step["p2m"].instructions >= step["pod"].instructions for step in longest.values())

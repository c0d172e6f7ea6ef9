# SPDX-License-Identifier: GPL-2.0-only
"""make soak's memory: what passes is kept with what it was made of, and told on the page."""

import subprocess
from types import SimpleNamespace

import pytest

from runner import soak
from runner.soak import Inputs, Records, Soak

A, B = "tests/boot/test_a.py::test_a", "tests/series/test_b.py::test_b[x|y]"


class Made:
    """Inputs that a test can change."""
    def __init__(self):
        self.boot, self.series = "1", "1"

    def of(self, test, anew=False):
        return getattr(self, test.split("/")[1])


@pytest.fixture
def campaign(tmp_path):
    made = Made()

    def begin(force=False):
        return Soak(force, Records(tmp_path), made)

    return SimpleNamespace(begin=begin, made=made, page=tmp_path / "soak.md")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in soak.others():
        monkeypatch.delenv(name)


def run(plugin, test, outcome="passed", tries=1):
    for last in range(tries - 1, -1, -1):
        if last:
            plugin.pytest_runtest_logreport(SimpleNamespace(nodeid=test, outcome="rerun", failed=False, skipped=False, duration=1, when="call"))
    for when in ("setup", "call", "teardown"):
        this = outcome if when == "call" else "passed"
        plugin.pytest_runtest_logreport(SimpleNamespace(nodeid=test, outcome=this, failed=this == "failed", skipped=this == "skipped",
                                                        duration=1, when=when))


def states(campaign):
    rows = [line.replace("\\|", "/").split("|") for line in campaign.page.read_text().splitlines() if "::" in line]
    return {row[1].strip(): row[5].strip() for row in rows}


def test_what_passed_is_left_out_until_its_inputs_change(campaign):
    run(campaign.begin(), A)
    run(campaign.begin(), B, tries=2)
    assert campaign.begin().leave_out == {A, B} and campaign.begin(force=True).leave_out == set()
    campaign.made.boot = "2"
    assert campaign.begin().leave_out == {B}
    campaign.begin().records.write(campaign.made, "0123456789")
    assert states(campaign) == {"boot/test_a.py::test_a": "stale", "series/test_b.py::test_b[x/y]": "the same"}
    run(campaign.begin(), A)
    assert campaign.begin().leave_out == {A, B}


def test_red_and_skipped_are_no_passes(campaign):
    plugin = campaign.begin()
    plugin.pytest_xdist_node_collection_finished([A + "@n8!debug!", B + "@series/test_b.py"])
    run(plugin, A, "failed")
    run(plugin, B, "skipped")
    assert campaign.begin().leave_out == set()
    assert states(campaign) == {"boot/test_a.py::test_a": "red since", "series/test_b.py::test_b[x/y]": "never passed"}
    # what passed once and is red now is no pass, either
    run(campaign.begin(), B)
    run(campaign.begin(), B, "failed")
    assert campaign.begin().leave_out == set() and states(campaign)["series/test_b.py::test_b[x/y]"] == "red since"


def test_a_worker_that_died_of_a_test_makes_it_red(campaign):
    run(campaign.begin(), A)
    campaign.begin(force=True).pytest_runtest_logreport(
        SimpleNamespace(nodeid=A, outcome="failed", failed=True, skipped=False, duration=0, when="???"))
    assert campaign.begin().leave_out == set() and states(campaign)["boot/test_a.py::test_a"] == "red since"


@pytest.mark.parametrize("name, value, kept", [("ACCEL", "kvm", False), ("ACCEL", "tcg", True), ("MOVES", "10", False), ("XEN_SRC", "/x", False),
                                               ("BOOT_XEN", "/x", False), ("BOOT_LOGS", "/x", True), ("FREED", "", True)])
def test_what_ran_on_something_else_is_not_kept(campaign, monkeypatch, name, value, kept):
    run(campaign.begin(), B)
    monkeypatch.setenv(name, value)
    plugin = campaign.begin()
    assert plugin.leave_out == ({B} if kept else set())
    run(plugin, A)
    monkeypatch.delenv(name)
    assert campaign.begin().leave_out == ({A, B} if kept else {B})


def test_a_pass_whose_inputs_changed_meanwhile_is_not_kept(campaign):
    plugin = campaign.begin()
    plugin.inputs = SimpleNamespace(of=lambda test, anew=False: "2" if anew else "1")
    run(plugin, A)
    assert plugin.changed == {A} and campaign.begin().leave_out == set()


def test_two_runs_at_once_lose_nothing(campaign):
    one, other = campaign.begin(), campaign.begin()
    run(one, A)
    run(other, B)
    assert campaign.begin().leave_out == {A, B}


@pytest.mark.parametrize("passed, words, status", [(True, "", 0), (False, "", 5), (True, "mispelt", 5)])
def test_nothing_left_to_run_is_no_error(campaign, passed, words, status):
    if passed:
        run(campaign.begin(), A)
    session = SimpleNamespace(exitstatus=5, config=SimpleNamespace(option=SimpleNamespace(keyword=words)))
    campaign.begin().pytest_sessionfinish(session, 5)
    assert session.exitstatus == status


def test_each_file_of_product_and_test_is_an_input(tmp_path, monkeypatch):
    """… and no document is."""
    monkeypatch.setattr(soak, "ROOT", tmp_path)
    files = ["xen-patches/0001-a.patch", "tools/x.sh", "tests/conftest.py", "tests/boot/test_a.py", "tests/boot/harness/b.py",
             "tests/bench/test_c.py", "tests/bare/e.c", "tests/boot/smp-guest/text.c", "docs/monitoring/alerts.yml", "docs/howto.md",
             "carrefour-user/d.c", "docs/a.txt", "tools/a.md"]
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one")
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    tests = {kind: f"tests/{kind}/test_it.py::test_it" for kind in ("boot", "bench", "unit", "bare", "host")}
    matters = {}
    for name in files:
        before = {kind: Inputs().of(test) for kind, test in tests.items()}
        (tmp_path / name).write_text("two")
        matters[name] = {kind for kind, test in tests.items() if Inputs().of(test) != before[kind]}
    all_of_them = set(tests)
    with_userland = all_of_them - {"bare"}
    assert matters == {"xen-patches/0001-a.patch": all_of_them, "tools/x.sh": with_userland, "tests/conftest.py": all_of_them,
                       "tests/boot/test_a.py": {"boot", "bench", "host"}, "tests/boot/harness/b.py": {"boot", "bench", "bare", "host"},
                       "tests/bare/e.c": {"bare", "bench"}, "tests/boot/smp-guest/text.c": {"boot", "bench", "bare", "host"},
                       "docs/monitoring/alerts.yml": {"unit"}, "docs/howto.md": {"host"},
                       "tests/bench/test_c.py": {"bench"}, "carrefour-user/d.c": with_userland, "docs/a.txt": set(), "tools/a.md": set()}

# SPDX-License-Identifier: GPL-2.0-only
"""Which tests are run, how long they may take, and what becomes of those that the host has disturbed."""

import json
import re

import pytest

from runner import modest

HANG = "def test_hangs():\n    time.sleep(1000)\n\n\ndef test_after():\n    pass\n"
SOAK = """
@pytest.mark.soak
def test_long(): pass

@pytest.mark.parametrize("pages", [1, pytest.param(1000, marks=pytest.mark.soak)])
def test_both(pages): pass
"""
# the first try is the host's fault, and says so as tests/boot/conftest.py does
DISTURBED = """
import conftest

@pytest.fixture
def fresh(): return []

def test_disturbed(fresh):
    fresh.append(1)
    assert len(fresh) == 1, "a fixture of the first try"
    tries = int(open("tries").read()) + 1 if os.path.exists("tries") else 1
    open("tries", "w").write(str(tries))
    assert tries > {faults}, "the host stood still"

def test_wrong():
    open("wrong", "a").write("x")
    assert False, "a wrong page"
"""
HOST_FAULT = """
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    report = (yield).get_result()
    report.host_fault = report.failed and "stood still" in report.longreprtext
"""


def test_soak_is_left_out_unless_wanted(planted):
    assert set(planted({"test_it.py": SOAK}).cases()) == {"test_both[1]"}
    assert set(planted({"test_it.py": SOAK}, "--soak=too").cases()) == {"test_long", "test_both[1]", "test_both[1000]"}


def test_a_test_that_hangs_costs_its_limit_and_no_more(planted):
    run = planted({"test_it.py": "pytestmark = pytest.mark.timeout(1)\n" + HANG}, "-n", "1", "--dist", "loadgroup")
    assert run.cases() == {"test_hangs": "failed", "test_after": "passed"} and run.status == 1
    assert "Timeout" in run.said


def test_a_limit_is_there_without_being_named(planted):
    run = planted({"test_it.py": "def test_it(request):\n    assert request.node.get_closest_marker('timeout').args == (600,)\n"})
    assert run.status == 0, run.said


def test_a_run_that_hangs_ends_with_a_result_file(planted):
    files = {"test_a.py": "def test_before():\n    pass\n", "test_b.py": HANG}
    run = planted(files, "-n", "2", "--dist", "loadgroup", "--run-limit", "0.1")
    assert run.status == 2 and "ended after 0.1 minutes, its limit: not all tests were run" in run.said
    assert run.cases() == {"test_before": "passed"}
    # KTAP promises more than there is
    ktap = (run.place / "results.ktap").read_text().splitlines()
    assert ktap[1] == "1..3" and sum(line.startswith("ok ") for line in ktap) == 1


def test_a_skip_does_not_hide_what_its_end_shows(planted):
    run = planted({"test_it.py": "@pytest.fixture\ndef verdict():\n    yield\n    assert False, 'a boot that went red'\n\n\n"
                                 "def test_it(verdict):\n    pytest.skip('not today')\n"})
    ktap = (run.place / "results.ktap").read_text().splitlines()
    assert run.status == 1 and ktap[2].startswith("not ok 1 ") and "a boot that went red" in "\n".join(ktap[3:])


def test_tests_that_nobody_runs_are_no_success(planted, tmp_path):
    """Workers die, none of them in a test."""
    (tmp_path / "dying.py").write_text("import os\n\n\ndef pytest_collection_modifyitems(config):\n"
                                       "    if getattr(config, 'workerinput', {}).get('workerid', 'gw0') != 'gw0':\n        os._exit(1)\n")
    run = planted({"test_it.py": "def test_it():\n    pass\n"}, "-n", "2", "--dist", "loadgroup", "--max-worker-restart", "2", "-p", "dying",
                  PYTHONPATH=".")
    assert run.status != 0 and run.cases() == {}, run.said


def disturbed(planted, faults, *options):
    return planted({"test_it.py": DISTURBED.format(faults=faults)}, "-p", "host_fault", *options, PYTHONPATH=".")


def test_what_the_host_disturbed_is_run_again_once(planted, tmp_path):
    for options in ((), ("-n", "1", "--dist", "loadgroup")):
        (tmp_path / "host_fault.py").write_text(HOST_FAULT)
        (tmp_path / "tries").unlink(missing_ok=True)
        run = disturbed(planted, 1, *options)
        assert run.cases() == {"test_disturbed": "passed", "test_wrong": "failed"}
        assert (run.count("rerun"), run.count("passed"), run.count("failed")) == (1, 1, 1), run.said
        assert re.search(r"^ERROR, run again \S+::test_disturbed: .*stood still", run.said, re.M)
        assert "tests run again, as the host had disturbed them: 1\n" in run.said
        ktap = (run.place / "results.ktap").read_text().splitlines()
        assert ktap[1] == "1..2" and ktap[3].startswith("ok 1 ") and ktap[2].startswith("# run again: ")


def test_twice_disturbed_is_red_and_a_failure_is_never_run_again(planted, tmp_path):
    (tmp_path / "host_fault.py").write_text(HOST_FAULT)
    run = disturbed(planted, 2)
    assert run.cases() == {"test_disturbed": "failed", "test_wrong": "failed"} and run.status == 1
    assert run.count("rerun") == 1 and (tmp_path / "tries").read_text() == "2" and (tmp_path / "wrong").read_text() == "x"
    assert re.search(r"^ERROR \S+::test_disturbed: .*stood still", run.said, re.M) and re.search(r"^FAILED \S+::test_wrong: ", run.said, re.M)


def test_the_second_try_has_a_limit_of_its_own(planted, tmp_path):
    (tmp_path / "host_fault.py").write_text(HOST_FAULT)
    run = planted({"test_it.py": "@pytest.mark.timeout(2)\ndef test_it():\n    if not os.path.exists('tried'):\n"
                                 "        open('tried', 'w')\n        assert False, 'the host stood still'\n    time.sleep(1000)\n"},
                  "-p", "host_fault", PYTHONPATH=".")
    assert run.count("rerun") == 1 and run.cases() == {"test_it": "failed"} and "Timeout" in run.said


def test_durations_are_kept_and_added_to(planted):
    slow = "def test_slow():\n    time.sleep(1)\n\n\ndef test_quick():\n    pass\n"
    run = planted({"test_it.py": slow}, "-n", "1", "--dist", "loadgroup")
    kept = run.place / "cache/xen-numa-policy/times/tests.json"
    first = json.loads(kept.read_text())
    assert 1 <= first["test_it.py::test_slow"] < 3 and first["test_it.py::test_quick"] < 1
    planted({"test_it.py": "def test_quick():\n    time.sleep(1)\n"})
    second = json.loads(kept.read_text())
    assert second["test_it.py::test_slow"] == first["test_it.py::test_slow"] and second["test_it.py::test_quick"] >= 1


MODEST = """
import subprocess
from pathlib import Path
from runner.modest import stay_modest

def rank(): return os.sched_getscheduler(0) == os.SCHED_IDLE, Path("/proc/self/autogroup").read_text().split()[-1]

{mark}
def test_one(): assert rank() == {wanted}

def test_children():
    assert os.system("python3 -c 'import os; assert os.sched_getscheduler(0) == os.SCHED_IDLE'") == {status}

def test_sessions():
    said = subprocess.run(["cat", "/proc/self/autogroup"], start_new_session=True, preexec_fn=stay_modest, capture_output=True, text=True)
    assert said.stdout.split()[-1] == rank()[1]
"""


@pytest.mark.skipif(not modest.possible() or not modest.AUTOGROUP.exists(), reason="nobody can step back and forward here")
def test_what_needs_no_machine_steps_back_in_a_worker_and_others_do_not(planted, tmp_path):
    (tmp_path / "unit").mkdir()
    files = {"unit/test_a.py": MODEST.format(mark="", wanted=(True, "19"), status=0),
             "test_b.py": MODEST.format(mark="", wanted=(False, "0"), status=256).replace("test_", "test_usual_"),
             "unit/test_c.py": MODEST.format(mark="@pytest.mark.heavy", wanted=(False, "0"), status=0).replace("test_", "test_heavy_"),
             "unit/test_d.py": MODEST.format(mark="pytestmark = pytest.mark.heavy\n\n@pytest.mark.heavy(False)", wanted=(True, "19"),
                                             status=256).replace("test_", "test_idle_")}
    run = planted(files, "-n", "1", "--dist", "loadgroup")
    assert run.status == 0 and run.count("passed") == 12, run.said

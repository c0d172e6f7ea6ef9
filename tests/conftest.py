# SPDX-License-Identifier: GPL-2.0-only
"""How our tests are run; runner/ has a file for each part of it.

`make test` runs all but those marked `soak`, `make soak` those.  With pytest-xdist the tests of one machine, and those of one file
that need none, stay together in one worker and in their order.  Results for CI are build/results/results.xml (JUnit, pytest's own) and
results.ktap; `--junitxml=PATH` puts both elsewhere.
"""

import os
import signal
from pathlib import Path

import pytest

from runner import ccache, limits, modest, reruns
from runner.durations import KEPT, Durations
from runner.ktap import KtapWriter
from runner.limits import RunLimit
from runner.machines import machine_of
from runner.modest import Modest
from runner.schedule import EARLY, HEAVY, MODEST, Schedule, unit_name
from runner.soak import Soak

TESTS = Path(__file__).absolute().parent
RESULTS = TESTS.parent / "build" / "results"
BOOT_BYTES = 8 << 30        # what an emulated machine may come to need of the host
BOOTLESS = "series", "unit", "models", "numasim"      # directories where only tests of a machine start one


class FailuresAtOnce:
    """A line as soon as a test fails: a run that is cut off must not take with it which ones did."""

    def __init__(self, config):
        self.config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        if report.failed or report.outcome == "rerun":
            crash = getattr(report.longrepr, "reprcrash", None)
            said = str(crash.message if crash else report.longrepr).split("\n")
            what = "ERROR" if getattr(report, "host_fault", False) else "FAILED"
            again = ", run again" * (report.outcome == "rerun")
            terminal = self.config.pluginmanager.get_plugin("terminalreporter")
            terminal.write_line(f"\n{what}{again} {report.nodeid}: {' | '.join(filter(None, map(str.strip, said[:6])))}"[:600])


def pytest_addoption(parser):
    group = parser.getgroup("ours")
    group.addoption("--soak", choices=("no", "too", "only"), default="no", help="whether tests marked soak are run")
    group.addoption("--run-limit", type=float, metavar="MINUTES", help="ends a run that takes longer, with what results there are")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.addinivalue_line("markers", "soak: takes long and is rarely red; its truth has a shorter test beside it")
    config.addinivalue_line("markers", "heavy(is_it=True): guests keep several emulated CPUs at work, and with them all of the host: "
                            "nothing runs beside; of a file that is heavy, heavy(False) is a test whose guests do not")
    config.addinivalue_line("markers", "modest: its machine has no clock but its instructions, and takes what CPUs have left")
    config.pluginmanager.register(reruns, "reruns")
    ccache.use(os.environ, KEPT.parents[1])
    # A shell starts what runs in the background with SIGINT ignored, and all that is started from here would inherit it.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    worker = getattr(config, "workerinput", None)
    config.modest = worker["modest"] if worker else modest.possible()
    if worker and config.modest:
        config.pluginmanager.register(Modest(is_modest), "modest-tests")
    if worker or config.option.collectonly:
        return
    config.option.xmlpath = config.option.xmlpath or str(RESULTS / "results.xml")
    ktap = Path(config.option.xmlpath).with_suffix(".ktap")
    ktap.parent.mkdir(parents=True, exist_ok=True)
    # JUnit's comes at the end: of a run that has none nobody is to find that of another one
    earlier = Path(config.option.xmlpath)
    if earlier.is_file() and not earlier.is_symlink():
        earlier.unlink()
    config.pluginmanager.register(KtapWriter(ktap), "ktap-writer")
    config.pluginmanager.register(FailuresAtOnce(config), "failures-at-once")
    config.pluginmanager.register(Durations(), "test-durations")
    if config.option.run_limit:
        config.pluginmanager.register(RunLimit(config.option.run_limit), "run-limit")
    if config.option.soak == "only":
        config.pluginmanager.register(Soak(force=os.environ.get("FORCE") == "1"), "soak-records")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(os.cpu_count(), memory // BOOT_BYTES))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Schedule(config, log, config.pluginmanager.get_plugin("test-durations").seconds_of)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["modest"] = node.config.modest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(call):
    report = (yield).get_result()
    # harness/machine.py's, where no conftest.py nearer knows more
    if not hasattr(report, "host_fault"):
        report.host_fault = call.excinfo is not None and any(kind.__name__ == "HostFault" for kind in type(call.excinfo.value).__mro__)


def is_heavy(item):
    mark = item.get_closest_marker("heavy")
    return mark is not None and mark.args != (False,)


def is_modest(item):
    """Whether a test takes nothing but what CPUs have left, however long that takes."""
    without_machine = item.path.relative_to(TESTS).parts[0] in BOOTLESS and not (item.get_closest_marker("boot") or is_heavy(item))
    return without_machine or item.get_closest_marker("modest") is not None


def unit(item):
    """What a test shares a worker with."""
    is_of = {HEAVY: is_heavy(item), EARLY: item.get_closest_marker("bisect"),
             MODEST: item.config.modest and is_modest(item)}
    return unit_name(machine_of(item), str(item.path.relative_to(TESTS)), *filter(is_of.get, is_of))


def left_out(config, item):
    """Whether this run is not about that test."""
    soak = item.get_closest_marker("soak") is not None
    if config.option.soak != "too" and soak != (config.option.soak == "only"):
        return True
    if hasattr(config, "workerinput"):
        return item.nodeid in config.workerinput.get("soak_leave_out", ())
    records = config.pluginmanager.get_plugin("soak-records")
    return records is not None and item.nodeid in records.leave_out


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    kept, gone = [], []
    for item in items:
        (gone if left_out(config, item) else kept).append(item)
    if gone:
        items[:] = kept
        config.hook.pytest_deselected(items=gone)
    limits.give_limits(items)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(unit(item)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    # xdist has put the unit behind the name of a test, which nobody needs to read
    if hasattr(report, "node"):
        report.nodeid = report.nodeid.rpartition("@")[0] or report.nodeid

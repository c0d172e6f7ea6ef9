"""How our tests are run: side by side where they do not share a machine, with results for CI in build/results/.

With pytest-xdist (`make test`) the tests of one emulated machine, and those of one directory that need none, stay together in
one worker and in their order.  Results are results.xml (JUnit, pytest's own) and results.ktap; `--junitxml=PATH` puts both
elsewhere.
"""

import os
import signal
from pathlib import Path

import pytest

from ktap import KtapWriter

TESTS = Path(__file__).absolute().parent
RESULTS = TESTS.parent / "build" / "results"
BOOT_BYTES = 8 << 30        # what an emulated machine may come to need of the host


class FailuresAtOnce:
    """A line as soon as a test fails: a run that is cut off must not take with it which ones did."""

    def __init__(self, config):
        self.config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = str(crash.message if crash else report.longrepr).split("\n")
            terminal = self.config.pluginmanager.get_plugin("terminalreporter")
            terminal.write_line(f"\nFAILED {report.nodeid}: {' | '.join(filter(None, map(str.strip, said[:6])))}"[:600])


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # A shell starts what runs in the background with SIGINT ignored, and all that is started from here would inherit it.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    config.option.xmlpath = config.option.xmlpath or str(RESULTS / "results.xml")
    ktap = Path(config.option.xmlpath).with_suffix(".ktap")
    ktap.parent.mkdir(parents=True, exist_ok=True)
    config.pluginmanager.register(KtapWriter(ktap), "ktap-writer")
    config.pluginmanager.register(FailuresAtOnce(config), "failures-at-once")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(os.cpu_count(), memory // BOOT_BYTES))


def group(item):
    """What a test must share a worker with."""
    boot = item.get_closest_marker("boot")
    if item.get_closest_marker("busy"):
        return "busy"
    return "-".join(boot.args) if boot else item.path.relative_to(TESTS).parts[0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group(item)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    # xdist has put the group behind the name of a test, which nobody needs to read
    if hasattr(report, "node"):
        report.nodeid = report.nodeid.rpartition("@")[0] or report.nodeid

# SPDX-License-Identifier: GPL-2.0-only
"""Programs that are built once, and what stock Xen made of each."""

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).absolute().parents[1]
sys.path[:0] = [path for path in (str(TESTS), str(TESTS / "boot")) if path not in sys.path]

import ctests                                           # noqa: E402  the path comes first
from harness.machine import BUILD, HostFault            # noqa: E402

from bare_boot import Boot                              # noqa: E402
from bochs_boot import BochsBoot                        # noqa: E402

BARE = Path(__file__).parent
XEN_TOOLS = BUILD / "xen-tools" / "usr" / "local"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    # for runner/reruns.py
    report.host_fault = getattr(report, "host_fault", False) or call.excinfo is not None and call.excinfo.errisinstance(HostFault)


@pytest.fixture(scope="session")
def programs():
    """The directory with all of them."""
    assert XEN_TOOLS.exists(), f"{XEN_TOOLS} is missing: run make setup"
    ctests.build(BARE, BUILD / "bare", flags=[f"XEN_TOOLS={XEN_TOOLS}"])
    return BUILD / "bare"


@pytest.fixture
def boot(programs):
    """Runs a case on a hypervisor."""
    def run(case, hypervisor, topology=None):
        topology = topology or case.topology
        kind = BochsBoot if topology.emulator == "bochs" else Boot
        return kind(programs / case.program, case.words, topology, hypervisor, case.xen_options, case.expected, case.may_die).run()
    return run


@pytest.fixture(scope="session")
def of_stock():
    """Reports, by the name of the case."""
    return {}

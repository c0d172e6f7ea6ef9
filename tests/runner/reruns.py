# SPDX-License-Identifier: GPL-2.0-only
"""A test that the host disturbed is run again, once, and that is told: ERROR is not FAILURE.

Who knows that it was the host says so at a report: `report.host_fault = True`.
"""

import copy

import pytest
from _pytest.runner import runtestprotocol

from . import limits

ONCE = 1


def host_faults(reports):
    return [report for report in reports if report.failed and getattr(report, "host_fault", False)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for tries in range(ONCE + 1):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        faults = host_faults(reports)
        if not faults or tries == ONCE:
            break
        # one report stands for all of a try: else results would count its test twice
        report = copy.copy(faults[0])
        report.when, report.outcome = "call", "rerun"
        hook.pytest_runtest_logreport(report=report)
        limits.begin_again(item)
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_report_teststatus(report):
    if report.outcome == "rerun":
        return "rerun", "R", "RERUN"
    return None


def pytest_terminal_summary(terminalreporter):
    again = len(terminalreporter.stats.get("rerun", ()))
    terminalreporter.write_line(f"tests run again, as the host had disturbed them: {again}")

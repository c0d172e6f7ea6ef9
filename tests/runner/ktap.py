# SPDX-License-Identifier: GPL-2.0-only
"""A pytest plugin that writes KTAP, the kernel's test result format (Documentation/dev-tools/ktap.rst).

The plan comes first and each result as it falls, so that a run that dies leaves a file that is visibly cut.
"""

import pytest


class KtapWriter:
    def __init__(self, path):
        self.path = path
        self.file = None
        self.number = 0
        self.planned = 0
        self.outcomes = {}

    def _line(self, text):
        self.file.write(text + "\n")
        self.file.flush()

    def _plan(self, tests):
        self.planned = tests
        self.file = open(self.path, "w", encoding="utf-8")
        self._line("KTAP version 1")
        self._line(f"1..{tests}")

    def pytest_collection_finish(self, session):
        self._plan(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        # every worker finds the same tests
        if self.file is None:
            self._plan(len(ids))

    def pytest_runtest_logreport(self, report):
        if report.outcome == "rerun":
            self._line(f"# run again: {report.nodeid}")
            return
        # setup, call and teardown of a test make one result: the worst of them; workers report in between each other
        if report.failed and self.outcomes.get(report.nodeid, ("skip",))[0] == "skip":
            self.outcomes[report.nodeid] = "not ok", report
        elif report.skipped:
            self.outcomes.setdefault(report.nodeid, ("skip", report))
        # a worker that died reports neither
        if report.when in ("setup", "call"):
            return
        self.number += 1
        what, cause = self.outcomes.pop(report.nodeid, ("ok", None))
        # '#' starts a directive
        name = report.nodeid.replace("#", "%")
        if what == "skip":
            reason = cause.longrepr[2] if isinstance(cause.longrepr, tuple) else ""
            self._line(f"ok {self.number} {name} # SKIP {reason.removeprefix('Skipped: ')}".rstrip())
            return
        self._line(f"{what} {self.number} {name}")
        if cause is not None:
            for line in cause.longreprtext.splitlines()[-60:]:
                self._line(f"# {cause.when}: {line}")

    def pytest_sessionfinish(self, session, exitstatus):
        if self.file is not None:
            self.file.close()
        # pytest-xdist calls it a success when workers have died that had no test in hand, and nobody was left to run the others
        if exitstatus == pytest.ExitCode.OK and self.number < self.planned:
            print(f"\n{self.planned - self.number} of {self.planned} tests have no result: this is no success")
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

"""A pytest plugin that writes KTAP, the kernel's test result format (Documentation/dev-tools/ktap.rst).

The plan comes first and each result as it falls, so that a run that dies leaves a file that is visibly cut.
"""


class KtapWriter:
    def __init__(self, path):
        self.path = path
        self.file = None
        self.number = 0
        self.outcome = None

    def _line(self, text):
        self.file.write(text + "\n")
        self.file.flush()

    def pytest_collection_finish(self, session):
        self.file = open(self.path, "w", encoding="utf-8")
        self._line("KTAP version 1")
        self._line(f"1..{len(session.items)}")

    def pytest_runtest_logreport(self, report):
        # setup, call and teardown of a test make one result: the worst of them
        if report.when == "setup":
            self.outcome = None
        if report.failed:
            self.outcome = self.outcome or ("not ok", report)
        elif report.skipped:
            self.outcome = self.outcome or ("skip", report)
        if report.when != "teardown":
            return
        self.number += 1
        what, cause = self.outcome or ("ok", None)
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

    def pytest_sessionfinish(self):
        if self.file is not None:
            self.file.close()

# SPDX-License-Identifier: GPL-2.0-only
"""make soak: the tests that make test leaves out, each until it has passed once with the inputs of now.

docs/results/soak.json holds what is known of each; soak.md beside it is the page for people.  Both are written after each test, so a
run can be ended and resumed at any time.  `soak.py` alone writes the page anew, by the inputs of now.
"""

import contextlib
import datetime
import fcntl
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).absolute().parents[2]
RESULTS = ROOT / "docs" / "results"
# What a test is made of: these, and what its directory needs beside itself.  Coarse, so that nothing is forgotten.
BUILD = ("Makefile", "tools/build", "tools/patchqueue", "xen-patches", "tests/conftest.py", "tests/ctests.py", "tests/runner")
PRODUCT = (*BUILD, "tools", "linux-guest-patches", "linux-guest-module", "carrefour-user", "common")
BESIDE = {"bare": ("tests/boot/harness", "tests/boot/qemu", "tests/boot/smp-guest", "tests/boot/programs"),
          "bench": ("tests/boot", "tests/bare", "tests/numasim"), "numasim": ("tests/boot", "tests/bench"), "unit": ("docs/monitoring",),
          "packaging": ("packaging", "VERSION", "docs/howto.md"),
          "host": ("packaging", "VERSION", "tests/boot", "tests/packaging", "docs/howto.md")}
# There is no Linux, command or daemon in the boots of these: Xen is all, and what their own directory has.
WITHOUT_USERLAND = {"bare"}
# What has tests run on something else than these inputs say, or do less: nothing is kept then.
OTHERS = "XEN_SRC", "LINUX_SRC", "MOVES", "FREED"
PAGE = """\
# The long campaign

`make soak` runs these tests, which `make test` leaves out: their truths have a shorter test there.
`make soak ONLY=WORDS` runs those whose names match, as pytest's `-k` does. It does not repeat a
test that has passed with the same inputs, unless you say `FORCE=1`. Inputs are all files of the
product and of the test's directory; *stale* means that one of them has changed since.

{passed} of {all} have passed with the inputs of {date}, commit {commit}.

"""


def git(*words, text=None):
    done = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, *words], input=text, capture_output=True, text=True, check=True)
    return done.stdout


def commit():
    """That of the work tree, with a + where the work tree has more."""
    return git("rev-parse", "--short=10", "HEAD").strip() + "+" * bool(git("status", "--porcelain", "--", *PRODUCT, "tests").strip())


def others():
    """Variables by which this run is none of the campaign."""
    return [name for name, value in sorted(os.environ.items()) if value and (
        name in OTHERS or name == "ACCEL" and value != "tcg" or name.startswith("BOOT_") and name != "BOOT_LOGS")]


class Inputs:
    """Hashes of what tests are made of."""

    def __init__(self):
        self.known = {}

    def of(self, test, anew=False):
        """As it was when somebody asked first, or as of now."""
        if anew:
            return Inputs().of(test)
        kind = test.split("/")[1]
        if kind not in self.known:
            product = BUILD if kind in WITHOUT_USERLAND else PRODUCT
            paths = [*product, f"tests/{kind}", *BESIDE.get(kind, ())]
            files = [name for name in git("ls-files", "--cached", "--others", "--exclude-standard", "--", *paths).splitlines()
                     if (name in paths or not name.endswith(".md")) and (ROOT / name).is_file()]
            hashes = git("hash-object", "--stdin-paths", text="".join(f"{name}\n" for name in files)).split()
            self.known[kind] = hashlib.sha256(repr(sorted(zip(files, hashes))).encode()).hexdigest()[:24]
        return self.known[kind]


class Records:
    """What is known of each test: when, where and with what it passed last, and whether it was red after that."""

    def __init__(self, results=RESULTS):
        self.path, self.page = results / "soak.json", results / "soak.md"
        self.tests = self.read()

    def read(self):
        try:
            return json.loads(self.path.read_text())
        except FileNotFoundError:
            return {}

    @contextlib.contextmanager
    def alone(self):
        """Of all runs that keep something here one at a time, which knows what the others have kept meanwhile."""
        directory = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            self.tests |= self.read()
            yield
        finally:
            os.close(directory)

    def fresh(self, inputs):
        """Tests that need not be run."""
        return {test for test, known in self.tests.items() if known.get("inputs") == inputs.of(test) and not known.get("red")}

    def write(self, inputs, on):
        """The page says of commit `on` what is fresh there."""
        self._replace(self.path, json.dumps(self.tests, indent=1, sort_keys=True) + "\n")
        fresh = self.fresh(inputs)
        page = PAGE.format(passed=len(fresh), all=len(self.tests), date=datetime.date.today(), commit=on)
        page += "| test | last passed | on commit | seconds | inputs since |\n|---|---|---|---|---|\n"
        for test, known in sorted(self.tests.items()):
            state = "red since" if known.get("red") else "the same" if test in fresh else "stale" if "passed" in known else "never passed"
            page += "| {} | {} | {} | {} | {} |\n".format(
                test.removeprefix("tests/").replace("|", "\\|"), *(known.get(what, "") for what in ("passed", "commit", "seconds")), state)
        self._replace(self.page, page)

    @staticmethod
    def _replace(path, text):
        new = path.with_suffix(path.suffix + ".new")
        new.write_text(text)
        new.replace(path)


class Soak:
    """A plugin of the process that gathers the results: leaves out what is fresh, and keeps what passes."""

    def __init__(self, force=False, records=None, inputs=None):
        self.records, self.inputs, self.force = records or Records(), inputs or Inputs(), force
        self.commit = commit()
        self.outcomes = {}
        self.others = others()
        self.changed = set()        # while they ran
        self.leave_out = set() if force or self.others else self.records.fresh(self.inputs)

    def pytest_configure_node(self, node):
        """Of pytest-xdist: workers must not judge for themselves, as records change meanwhile."""
        node.workerinput["soak_leave_out"] = sorted(self.leave_out)

    def pytest_xdist_node_collection_finished(self, ids):
        for test in ids:
            self.records.tests.setdefault(test.rpartition("@")[0] or test, {})
            self.inputs.of(test)

    def pytest_runtest_logreport(self, report):
        test = report.nodeid
        known = self.outcomes.setdefault(test, {"seconds": 0, "red": False, "skipped": False})
        if report.outcome == "rerun":
            return
        known["seconds"] += report.duration
        known["red"] |= report.failed
        known["skipped"] |= report.skipped
        # a worker that died reports neither
        if report.when in ("setup", "call") or self.others:
            return
        if not known["red"] and self.inputs.of(test, anew=True) != self.inputs.of(test):
            self.changed.add(test)
            return
        with self.records.alone():
            if known["red"]:
                self.records.tests.setdefault(test, {})["red"] = True
            elif not known["skipped"]:
                self.records.tests[test] = {"passed": datetime.date.today().isoformat(), "commit": self.commit,
                                            "inputs": self.inputs.of(test), "seconds": round(known["seconds"])}
            self.records.write(self.inputs, self.commit)

    def pytest_sessionfinish(self, session, exitstatus):
        # that all has passed already is no error; with words it may be a misspelt one
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.leave_out and not session.config.option.keyword:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter):
        if self.others:
            terminalreporter.write_line(f"nothing is kept in docs/results/soak.md, as this run has {', '.join(self.others)}")
        if self.changed:
            terminalreporter.write_line(f"{len(self.changed)} passes are not kept: their inputs have changed while they ran")
        terminalreporter.write_line(f"{len(self.leave_out)} tests of make soak had passed with these inputs before; "
                                    "docs/results/soak.md has them all")


if __name__ == "__main__":
    Records().write(Inputs(), commit())
    sys.exit(0)

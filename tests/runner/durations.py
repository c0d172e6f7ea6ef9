# SPDX-License-Identifier: GPL-2.0-only
"""How long each test took when it last ran, which says what is to begin first."""

import json
import os
from pathlib import Path

KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "xen-numa-policy", "times", "tests.json")
HEAVY, BOOT, OTHER = 60, 6, 1       # seconds, of tests that nobody has timed yet


class Durations:
    """A plugin of the process that gathers the results."""

    def __init__(self, path=KEPT):
        self.path = path
        self.taken = {}
        self.known = self.read()

    def read(self):
        try:
            return json.loads(self.path.read_text())
        except (OSError, ValueError):
            return {}

    def seconds_of(self, test, unit):
        guess = HEAVY if unit.heavy else BOOT if unit.machine else OTHER
        return self.known.get(test, guess)

    def pytest_runtest_logreport(self, report):
        self.taken[report.nodeid] = self.taken.get(report.nodeid, 0) + report.duration

    def pytest_sessionfinish(self):
        if not self.taken:
            return
        # another run may have written meanwhile: what it knows of other tests stays
        known = self.read() | {test: round(seconds, 2) for test, seconds in self.taken.items()}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new = self.path.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n")
            new.replace(self.path)
        except OSError as error:
            print(f"durations of tests are not kept: {error}")

# SPDX-License-Identifier: GPL-2.0-only
"""Limits of time: a hang costs minutes, and the results of all else are still written.

A test's limit is pytest-timeout's.  One that names none has that of its kind.
"""

import os
import signal
import sys
import threading

import pytest

LIMIT, SOAK_LIMIT = 600, 7200       # seconds of a test, what boots its machine included


def give_limits(items):
    for item in items:
        if item.get_closest_marker("timeout") is None:
            seconds = SOAK_LIMIT if item.get_closest_marker("soak") else LIMIT
            item.add_marker(pytest.mark.timeout(seconds, method="signal"))


def begin_again(item):
    """The limit of another try: pytest-timeout has one for all of them, and drops it when the first one fails."""
    timeout = sys.modules.get("pytest_timeout")
    if timeout and item.config.pluginmanager.is_registered(timeout):
        hook = item.config.pluginmanager.hook
        hook.pytest_timeout_cancel_timer(item=item)
        hook.pytest_timeout_set_timer(item=item, settings=timeout._get_item_settings(item))


class RunLimit:
    """Ends the run as Ctrl-C does when its time is up: what was not run is missing in the results, and it is no success."""

    def __init__(self, minutes):
        self.minutes = minutes
        self.is_up = False
        self.timer = threading.Timer(minutes * 60, self._end)
        self.timer.daemon = True

    def _end(self):
        self.is_up = True
        os.kill(os.getpid(), signal.SIGINT)

    def pytest_sessionstart(self):
        self.timer.start()

    def pytest_unconfigure(self):
        self.timer.cancel()

    def pytest_terminal_summary(self, terminalreporter):
        if self.is_up:
            terminalreporter.write_line(f"ended after {self.minutes:g} minutes, its limit: not all tests were run", red=True)

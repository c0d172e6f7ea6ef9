# SPDX-License-Identifier: GPL-2.0-only
"""Tests without a machine, or with one that has no clock but its instructions, step back: they get what the host's CPUs have left.

A worker that does so is in a session of its own, and with it in a group of its own where the kernel shares CPUs out to sessions
(autogroup).  All that a test starts is as modest as it; what begins a session again has to see to it, by stay_modest().
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

AUTOGROUP = Path("/proc/self/autogroup")
MODEST, USUAL = "19", "0"       # nice values
THERE_AND_BACK = "import os; zero = os.sched_param(0); os.sched_setscheduler(0, os.SCHED_IDLE, zero); os.sched_setscheduler(0, os.SCHED_OTHER, zero)"


def possible():
    """Whether this host lets a process step back and forward again; it may take privilege."""
    return subprocess.run([sys.executable, "-c", THERE_AND_BACK], stderr=subprocess.DEVNULL, check=False).returncode == 0


def step(back):
    # each has an effect where the other has none
    with contextlib.suppress(OSError):
        AUTOGROUP.write_text(MODEST if back else USUAL)
    os.sched_setscheduler(0, os.SCHED_IDLE if back else os.SCHED_OTHER, os.sched_param(0))


def stay_modest():
    """Who has stepped back does so again, in the session of its own that it now has."""
    if os.sched_getscheduler(0) == os.SCHED_IDLE:
        step(back=True)


class Modest:
    """A plugin of a worker.  is_modest(item) says which tests are."""

    def __init__(self, is_modest):
        self.is_modest = is_modest
        os.setsid()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        step(back=self.is_modest(item))
        yield

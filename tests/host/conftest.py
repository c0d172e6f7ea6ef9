# SPDX-License-Identifier: GPL-2.0-only
"""The disk of a host, and the verdict on each of its boots."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).absolute().parents[1]
sys.path[:0] = [path for path in (str(TESTS), str(TESTS / "boot")) if path not in sys.path]

from harness.machine import HostFault           # noqa: E402  the path comes first

from debian_host import HOST, DebianHost        # noqa: E402


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    # for runner/reruns.py
    report.host_fault = getattr(report, "host_fault", False) or call.excinfo is not None and call.excinfo.errisinstance(HostFault)


@pytest.fixture
def disk(tmp_path):
    """A copy, for one life of a host: what it writes is there at its next boot."""
    assert HOST.exists(), f"{HOST} is missing: run make debian-host"
    copy = tmp_path / "disk"
    subprocess.run(["cp", "--sparse=always", HOST / "disk", copy], check=True)
    yield copy
    copy.unlink()


@pytest.fixture
def booted(disk):
    """A context: the host is up, and powered off at its end."""
    @contextlib.contextmanager
    def boot():
        host = DebianHost(disk)
        try:
            yield host.boot()
            host.finish()
        finally:
            host.kill()
    return boot

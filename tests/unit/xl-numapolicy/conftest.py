# SPDX-License-Identifier: GPL-2.0-only
"""The real program, linked with fake-*.c in front of libxl and built with sanitizers."""

import json
import subprocess
from types import SimpleNamespace

import pytest

from fake_machine import example
from numapolicy_build import build_double, environment


@pytest.fixture(scope="session")
def make_double(tmp_path_factory):
    """Calls make for the program with the stand-ins in it, in one place."""
    build = tmp_path_factory.mktemp("build")

    def call(*args):
        build_double(build, *args)
        return build

    return call


@pytest.fixture(scope="session")
def program(make_double):
    return make_double("all") / "xl-numa-policy"


@pytest.fixture
def xl(program, tmp_path):
    """Runs the program on a machine (the example if none is given)."""
    def run(*args, machine=None, env=None, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                   "stdin": subprocess.DEVNULL, "text": True, "timeout": 60, **options}
        environ = {**environment(tmp_path, machine or example()), **(env or {})}
        return subprocess.run([program, *map(str, args)], env=environ, **options)

    def good(*args, **options):
        done = run(*args, **options)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    def bad(*args, status=1, **options):
        """The one line that says what is wrong, without the name of the program."""
        done = run(*args, **options)
        assert done.returncode == status and done.stdout == "", done
        assert done.stderr.endswith("\n") and done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.startswith("xl numa-policy"), done.stderr
        return done.stderr.split(": ", 1)[1].rstrip("\n")

    return SimpleNamespace(
        run=run, good=good, bad=bad,
        json=lambda *args, **options: json.loads(good(*args, "--json", **options)),
        raw=lambda *args, **options: [
            line.split(" ") for line in good(*args, "--raw", **options).splitlines()],
        trace=lambda: (tmp_path / "trace").read_text().splitlines())

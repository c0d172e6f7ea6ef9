"""The real program, linked with fake-libxl.c in front of libxl and built with sanitizers."""

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from scenario import example

HERE = Path(__file__).absolute().parent
ROOT = HERE.parents[2]
SOURCE = ROOT / "tools/xl-numapolicy"
XEN_TOOLS = Path(os.environ.get("XEN_TOOLS") or ROOT / "build/xen-tools").absolute()
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all"


def make(*args):
    assert XEN_TOOLS.is_dir(), f"no {XEN_TOOLS}: run 'make setup' first, or set XEN_TOOLS"
    return subprocess.run(["make", "-s", "-C", SOURCE, f"XEN_TOOLS={XEN_TOOLS}", *args],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)


def library_path():
    """Where the program finds the Xen libraries that it was linked against."""
    return str(next(XEN_TOOLS.rglob("libxenlight.so")).parent)


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    build = tmp_path_factory.mktemp("build")
    done = make(f"BUILD={build}", f"DOUBLE={HERE}/fake-libxl.c", f"CFLAGS=-O1 -g {SANITIZE}",
                f"LDFLAGS={SANITIZE} -Wl,--wrap=access", f"{build}/xl-numa-policy")
    assert done.returncode == 0, done.stderr
    return build / "xl-numa-policy"


def environment(directory, machine):
    """For the program to see this machine, and to leave a trace in the directory."""
    scenario, trace = directory / "machine", directory / "trace"
    scenario.write_text("\n".join(machine.text()) + "\n")
    trace.write_text("")
    return {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": library_path(),
            "FAKE_XEN": str(scenario), "FAKE_TRACE": str(trace)}


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

# SPDX-License-Identifier: GPL-2.0-only
"""The plugin as XAPI runs it, with an `xl` that is the real command on the fake libxl of ../xl-numapolicy."""

import json
import subprocess
import sys
from types import SimpleNamespace
from xmlrpc.client import dumps, loads

import pytest
from xapi_host import HERE, PLUGIN, UUID, host  # makes ../xl-numapolicy's modules importable

from numapolicy_build import build_program, environment

SESSION = "OpaqueRef:5e55"
XL = """#!/bin/sh
[ "$1" = numa-policy ] || exit 99
shift
{ for word; do printf '%s\\0' "$word"; done; echo; } >>"$STUB_CALLS"
exec "$STUB_PROGRAM" "$@"
"""


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    return build_program(tmp_path_factory.mktemp("build"))


@pytest.fixture
def xapi(program, tmp_path):
    """Calls a function of the plugin."""
    stub = tmp_path / "stub"
    stub.mkdir()
    (stub / "xl").write_text(XL)
    (stub / "xl").chmod(0o755)
    database, calls, configuration = tmp_path / "xapi.json", tmp_path / "calls", tmp_path / "carrefour.conf"
    database.write_text(json.dumps({uuid: {"auto_poweron": "true"} for uuid in UUID.values()}))

    def run(fn, machine=None, session=SESSION, env=None, **args):
        calls.write_text("")
        args = {name.replace("_", "-"): value for name, value in args.items()}
        assert all(isinstance(value, str) for value in args.values()), "xe has strings only"
        environ = {**environment(tmp_path, machine or host()), "PATH": f"{stub}:/usr/bin:/bin", "PYTHONPATH": str(HERE / "stub"),
                   "PYTHONDONTWRITEBYTECODE": "1", "STUB_PROGRAM": str(program), "STUB_CALLS": str(calls),
                   "STUB_XAPI": str(database), "STUB_CONFIGURATION": str(configuration),
                   "STUB_APPLIED": str(tmp_path / "applied.json"), **(env or {})}
        del environ["LC_ALL"]       # nobody gives XAPI one
        environ.update(PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")     # Python 3.6 has neither
        done = subprocess.run([sys.executable, PLUGIN, dumps((session, args), fn)], env=environ, cwd=tmp_path,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b""), done
        (said,), method = loads(done.stdout)
        assert method is None
        return said

    def good(fn, **options):
        said = run(fn, **options)
        assert said["Status"] == "Success", said
        assert isinstance(said["Value"], str), "XAPI takes a string"
        return said["Value"]

    def bad(fn, **options):
        """The one line."""
        said = run(fn, **options)
        assert said["Status"] == "Failure", said
        code, line = said["ErrorDescription"]
        assert code == "NUMA_POLICY" and line and line.isprintable()
        return line

    return SimpleNamespace(
        run=run, good=good, bad=bad, json=lambda fn, **options: json.loads(good(fn, **options)),
        trace=lambda: (tmp_path / "trace").read_text().splitlines(),
        calls=lambda: [line.split("\0")[:-1] for line in calls.read_text().splitlines()],
        kept=lambda domain: json.loads(database.read_text())[UUID[domain]].get("numa-policy"),
        keep=lambda **vms: database.write_text(json.dumps(
            {UUID[int(name[1:])]: {"numa-policy": words} for name, words in vms.items()})),
        configuration=configuration, database=database, applied=tmp_path / "applied.json")

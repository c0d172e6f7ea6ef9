# SPDX-License-Identifier: GPL-2.0-only
"""The kit as it is unpacked, on a host that stub/xl makes up, in the shells that it has to run in."""

import os
import shutil
import subprocess
from types import SimpleNamespace

import pytest
from kit_place import HERE, KIT


@pytest.fixture
def kit(tmp_path):
    place, stub, out = tmp_path / "numa-kit", tmp_path / "stub", tmp_path / "out"
    for directory in (place / "guest", stub / "domains", stub / "tty", out):
        directory.mkdir(parents=True)
    for path in [KIT / "kit", KIT / "keys", *KIT.glob("*.sh")]:
        shutil.copy(path, place)
    (place / "version").write_text("0.2.0~dev\n")
    (place / "commit").write_text("0123456789ab\n")
    for name in ("vmlinux", "guest.cpio", "smp-guest"):
        (place / "guest" / name).write_text("")
    probe = place / "guest/domctl-probe"
    probe.write_text("#!/bin/sh\n[ $# -gt 0 ] || { echo usage: domctl-probe >&2; exit 2; }\necho probe: seed $1: 9 calls, 9 refused, all answered\n")
    probe.chmod(0o755)

    def options(fault="", nodes=2, env=None):
        return {"env": {"PATH": f"{HERE / 'stub'}:/usr/sbin:/usr/bin:/sbin:/bin", "STUB": str(stub), "STUB_FAULT": fault,
                        "STUB_NODES": str(nodes), "TMPDIR": str(out), "PYTHONDONTWRITEBYTECODE": "1", **(env or {})},
                "cwd": tmp_path, "stdin": subprocess.DEVNULL}

    def run(*args, shell=("sh",), **host):
        return subprocess.run([*shell, place / "kit", *args], capture_output=True, text=True, timeout=500, **options(**host))

    def start(*args, **host):
        return subprocess.Popen(["sh", place / "kit", *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                start_new_session=True, **options(**host))

    def report():
        path = tmp_path / "numa-policy.report"
        if not path.exists():
            return None
        return dict(line.split(": ", 1) for line in path.read_text().splitlines()[1:-1])

    yield SimpleNamespace(
        run=run, start=start, report=report, place=place, path=tmp_path / "numa-policy.report",
        left=lambda: sorted(os.listdir(out)), domains=lambda: os.listdir(stub / "domains"),
        calls=lambda: (stub / "calls").read_text().splitlines())
    for path in (stub / "domains").iterdir():       # their guests end with them
        path.unlink()

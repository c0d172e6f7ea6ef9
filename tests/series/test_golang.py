# SPDX-License-Identifier: GPL-2.0-only
"""The golang bindings of the series are those that Xen's generator makes of the IDL, and they compile."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ctests
from runner.durations import KEPT

ROOT = Path(__file__).absolute().parents[2]
GENERATED = ("types.gen.go", "helpers.gen.go")


@pytest.fixture(scope="module")
def bindings(tmp_path_factory):
    tree = ctests.tree("xen")
    place = tmp_path_factory.mktemp("golang")
    shutil.copytree(tree / "tools/golang/xenlight", place / "xenlight")
    shutil.copytree(tree / "tools/libs/light", place / "light")
    return place


def generate(place, out):
    out.mkdir()
    environment = {**os.environ, "LIBXL_SRC_DIR": str(place / "light"), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, place / "xenlight/gengotypes.py", place / "light/libxl_types.idl",
                    *(out / name for name in GENERATED)], env=environment, check=True, capture_output=True)
    return {name: (out / name).read_text() for name in GENERATED}


def test_bindings_are_regenerated(bindings, tmp_path):
    made = generate(bindings, tmp_path / "out")
    for name in GENERATED:
        assert made[name] == (bindings / "xenlight" / name).read_text(), f"{name} is not what the IDL gives"
    assert "NumaPolicyParams" in made["types.gen.go"]


def test_a_changed_idl_is_seen(bindings, tmp_path):
    idl = bindings / "light/libxl_types.idl"
    text = idl.read_text()
    try:
        idl.write_text(text.replace('("fallback",         uint64)', '("fallback",         uint32)'))
        assert generate(bindings, tmp_path / "out") != {n: (bindings / "xenlight" / n).read_text() for n in GENERATED}
    finally:
        idl.write_text(text)


def too_little(text):
    """What is allocated, in the functions that convert to C, for other than a number of elements of their size."""
    whats = re.findall(r"= \(\*C\.(\w+)\)\(C\.malloc\((.*)\)\)$", text, re.M)
    assert len(whats) > 30
    return [what for element, what in whats
            if what != f"C.sizeof_{element}" and not re.fullmatch(rf"C\.ulong\(num\w+\)\*C\.sizeof_{element}", what)]


def test_arrays_have_room_for_their_elements(bindings):
    text = (bindings / "xenlight/helpers.gen.go").read_text()
    assert too_little(text) == []
    room = "C.malloc(C.ulong(numWeights)*C.sizeof_uint32_t)"
    assert room in text
    for wrong in ("C.malloc(C.size_t(numWeights*numWeights))", "C.malloc(C.ulong(numWeights)*C.sizeof_uint8_t)"):
        assert too_little(text.replace(room, wrong))


def test_bindings_compile(bindings):
    tools = ROOT / "build/xen-tools/usr/local"
    assert tools.exists(), "build/xen-tools is missing: make setup"
    environment = {**os.environ, "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOCACHE": str(KEPT.parents[1] / "go"), "CGO_ENABLED": "1",
                   "CGO_CFLAGS": f"-I{tools}/include",
                   "CGO_LDFLAGS": f"-L{tools}/lib -Wl,-rpath-link,{tools}/lib"}
    done = subprocess.run(["go", "build", "./..."], cwd=bindings / "xenlight", env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

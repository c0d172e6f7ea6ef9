# SPDX-License-Identifier: GPL-2.0-only
"""The tests in C; and proof that they notice when the code is wrong."""

import os
import subprocess

import pytest

import ctests
from carrefour_build import HERE, SOURCE, without_xen
from mistakes import MUTANTS

PROGRAMS = ("test-decide", "test-limits", "test-large", "test-random", "test-parts", "test-auto", "test-ring", "test-daemon",
            "test-server")
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-w", f"-I{SOURCE}", f"-I{HERE}"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(built, tmp_path, program):
    # where it makes its files: one that fails leaves them
    ctests.check_passed(ctests.run(built / program, cwd=tmp_path))


def compile_to(directory, source, name):
    """An object of this name: files of two rooms may have one of their own."""
    subprocess.run(["gcc", *FLAGS, "-c", "-o", directory / name.replace("/", "."), source], check=True)


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Without sanitizers, which would only make it slower."""
    out = tmp_path_factory.mktemp("objects")
    for path in [*without_xen(), *(HERE / f"{name}.c" for name in ("world", "chance", *PROGRAMS))]:
        compile_to(out, path, str(path.relative_to(SOURCE if path.is_relative_to(SOURCE) else HERE).with_suffix(".o")))
    return out


def link(out, objects, program, mutant=""):
    name = mutant.replace("/", ".").removesuffix(".c") + ".o"
    parts = [path for path in objects.glob("*.o") if not path.name.startswith("test-") and path.name != name]
    subprocess.run(["gcc", "-o", out / program, *parts, *out.glob("*.o"), objects / f"{program}.o", "-lcmocka", "-lm"],
                   check=True)
    return out / program


def test_every_named_test_is_there_and_green(objects, tmp_path):
    for program in PROGRAMS:
        path = link(tmp_path, objects, program)
        for test in {test for *_, other, test in MUTANTS.values() if other == program}:
            ctests.check_passed(ctests.run(path, test, cwd=tmp_path, SEED="1"), count=r"PASSED\s+\] 1 test")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(objects, tmp_path, name):
    file, old, new, program, test = MUTANTS[name]
    if file == "process/privileges.c" and os.getuid():
        pytest.skip("only root has something to give up")
    ctests.plant(SOURCE / file, old, new, tmp_path / "planted.c")
    compile_to(tmp_path, tmp_path / "planted.c", file.removesuffix(".c") + ".o")
    path = link(tmp_path, objects, program, file)
    # Chance may hide a mistake, so it is left out here.
    assert ctests.run(path, test, cwd=tmp_path, SEED="1").returncode != 0, f"nobody saw: {name}"

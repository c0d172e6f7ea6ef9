# SPDX-License-Identifier: GPL-2.0-only
"""The tests in C; and proof that they notice when the code is wrong."""

import os
import re
import subprocess

import pytest

import ctests
from carrefour_build import HERE, ROOT, SOURCE, make_with_xen, without_xen, xen_headers
from mistakes import MUTANTS

PROGRAMS = ("test-decide", "test-pingpong", "test-chance", "test-nodes", "test-limits", "test-large", "test-random", "test-parts",
            "test-auto", "test-follow", "test-ring", "test-daemon", "test-recordings", "test-server")
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-w", f"-I{SOURCE}", f"-I{ROOT}", f"-I{HERE}"]
# With a stand-in for what they need, and the objects that they alone have.
STAND_IN = ("fake-", "heal-spread.", "periods.", "daemon.")
FAKED = {"test-apply": STAND_IN, "test-census": STAND_IN, "test-heal-act": STAND_IN, "test-healing": STAND_IN,
         "test-memory": STAND_IN, "test-metrics": STAND_IN, "test-period": STAND_IN, "test-told": STAND_IN,
         "test-gather": ("xen.gather.",), "test-load": ("xen.load.", "xen.host."),
         "test-store": ("store.store.", "store.write.", "fake-xenstore.", "fake-memory."),
         "test-xen": ("xen.host.", "xen.census.")}
KNOW_XEN = ("test-gather", "test-load", "test-store", "test-xen")
# of those that have fake-memory.o
FAILING = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc"
XEN_SOURCES = tuple(SOURCE / name for name in (
    "store/store.c", "store/write.c", "xen/host.c", "xen/census.c", "xen/gather.c", "xen/load.c"))


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(built, tmp_path, program):
    # where it makes its files: one that fails leaves them
    ctests.check_passed(ctests.run(built / program, cwd=tmp_path))


@pytest.mark.parametrize("program", sorted(FAKED.keys() - set(KNOW_XEN)))
def test_program_with_a_stand_in(built, tmp_path, program):
    ctests.check_passed(ctests.run(built / program, cwd=tmp_path))


@pytest.mark.parametrize("test, sizes", [("a_recording", 3), ("a_recording_of_tables_that_grow_back", 2)])
def test_recorded_tables(built, replay, tmp_path, test, sizes):
    """What was remembered of each guest changed its size as others came and went; the decisions are the same all the same."""
    ctests.check_passed(ctests.run(built / "test-told", test, cwd=tmp_path))
    text = (tmp_path / "recorded.trace").read_text()
    assert len(set(re.findall(r"^table (\d+)$", text, re.M))) >= sizes
    assert replay("-k", tmp_path / "recorded.trace") == ""
    replay("-o", tmp_path / "again", tmp_path / "recorded.trace")
    assert (tmp_path / "again").read_text() == text


@pytest.mark.parametrize("test", ["a_recording_without_one", "a_recording_that_begins_late", "a_recording_with_a_gap"])
def test_recorded_turns(built, replay, tmp_path, test):
    """The host's budget goes around; one of the guests is not sampled, or not for some periods; the daemon runs already."""
    ctests.check_passed(ctests.run(built / "test-told", test, cwd=tmp_path))
    assert replay("-k", tmp_path / "recorded.trace") == ""


@pytest.fixture(scope="module")
def with_xen(tmp_path_factory):
    out = tmp_path_factory.mktemp("with-xen")
    done = make_with_xen(HERE, f"OUT={out}", "with-xen")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return out


@pytest.mark.parametrize("program", KNOW_XEN)
def test_program_with_xens_headers(with_xen, tmp_path, program):
    ctests.check_passed(ctests.run(with_xen / program, cwd=tmp_path))


def compile_to(directory, source, name):
    """An object of this name: files of two rooms may have one of their own."""
    subprocess.run(["gcc", *FLAGS, "-isystem", xen_headers(), "-c", "-o", name.replace("/", "."), source], cwd=directory,
                   check=True)


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Without sanitizers, which would only make it slower."""
    out = tmp_path_factory.mktemp("objects")
    parts = "world", "chance", "fake-memory", "fake-xen", "fake-census", "fake-store", "fake-xenstore", "heal-spread", "periods"
    tests = (HERE / f"{name}.c" for name in (*parts, *PROGRAMS, *FAKED))
    for path in [*without_xen(), *XEN_SOURCES, *tests]:
        place = next(place for place in (SOURCE, HERE, ROOT) if path.is_relative_to(place))
        compile_to(out, path, str(path.relative_to(place).with_suffix(".o")))
    return out


def belongs_to(name, program):
    """Whether an object is for this program; most are for all."""
    owners = [owner for owner, own in FAKED.items() if name.startswith(own)]
    if name.startswith("test-") or owners:
        return program in owners or name == f"{program}.o"
    # the stand-in has a clock of its own
    return not (name == "process.clock.o" and FAKED.get(program) == STAND_IN)


def link(out, objects, program, mutant=""):
    name = mutant.replace("/", ".").removesuffix(".c") + ".o"
    parts = [path for path in objects.glob("*.o") if belongs_to(path.name, program) and path.name != name]
    failing = [FAILING] if belongs_to("fake-memory.o", program) else []
    subprocess.run(["gcc", *failing, "-o", out / program, *parts, *out.glob("*.o"), "-lcmocka", "-lm"], check=True)
    return out / program


def test_every_named_test_is_there_and_green(objects, tmp_path):
    for program in [*PROGRAMS, *FAKED]:
        path = link(tmp_path, objects, program)
        for test in {test for *_, other, test in MUTANTS.values() if other == program}:
            ctests.check_passed(ctests.run(path, test, cwd=tmp_path, SEED="1"), count=r"PASSED\s+\] 1 test")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(objects, tmp_path, name):
    file, old, new, program, test = MUTANTS[name]
    if file == "process/privileges.c" and os.getuid():
        pytest.skip("only root has something to give up")
    source = ROOT / file if file.startswith("common/") else SOURCE / file
    ctests.plant(source, old, new, tmp_path / "planted.c")
    compile_to(tmp_path, "planted.c", file.removesuffix(".c") + ".o")
    path = link(tmp_path, objects, program, file)
    # Chance may hide a mistake, so it is left out here.
    assert ctests.run(path, test, cwd=tmp_path, SEED="1").returncode != 0, f"nobody saw: {name}"

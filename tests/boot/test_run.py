# SPDX-License-Identifier: GPL-2.0-only
"""tests/boot/run: somebody's own Xen and Linux are what is booted, and each way to end is told apart from the others."""

import dataclasses
import gzip
import hashlib
import os
import struct
import subprocess
import types
import xml.etree.ElementTree as ElementTree
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest

from harness import parts
from harness.groups import GROUPS
from harness.machine import BUILD, ROOT, Machine, Misfit
from harness.parts import Parts
from harness.topologies import TOPOLOGIES

RUN = ROOT / "tests" / "boot" / "run"
STOCK = BUILD / "xen-stock" / "xen"
ELF32 = b"\x7fELF\x01" + bytes(91) + struct.pack("<I", 0x1BADB002)
ELF64 = b"\x7fELF\x02" + bytes(13) + struct.pack("<H", 62) + bytes(80)
BZIMAGE = bytes(0x202) + b"HdrS" + bytes(100)


def run(*words, cwd=None, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("BOOT_", "PYTEST_", "ACCEL"))}
    return subprocess.run([RUN, *words], cwd=cwd, capture_output=True, text=True, timeout=500, env=clean | environment, check=False)


@pytest.fixture(scope="module")
def program():
    """The script as a module, for what it decides."""
    spec = spec_from_loader("run", SourceFileLoader("run", str(RUN)))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_file_is_in_one_group():
    listed = sorted(file for group in GROUPS.values() for file in group.files)
    assert listed == sorted(path.stem.removeprefix("test_") for path in RUN.parent.glob("test_*.py"))


def test_list():
    """A line for each group, and the tests are those that pytest finds."""
    said = run("--list").stdout.splitlines()
    tests = {words[0]: int(words[1]) for words in map(str.split, said[1:]) if words and words[0] in GROUPS}
    assert list(tests) == list(GROUPS)
    found = subprocess.run(["/usr/bin/python3", "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
                            *(RUN.parent / f"test_{file}.py" for file in GROUPS["run"].files)],
                           capture_output=True, text=True, check=True).stdout
    assert tests["run"] == found.count("::")


@pytest.fixture
def files(tmp_path):
    """Name -> a small file that has the head of such a file."""
    contents = {"text": b"hello\n" * 2000, "empty": b"", "efi": b"MZ" + bytes(9000), "xen": ELF32, "xen.gz": gzip.compress(ELF32),
                "elf32": ELF32[:80] + bytes(9000), "cut.gz": gzip.compress(ELF32 * 99)[:40], "xen-syms": ELF64 + bytes(9000),
                "bzImage": BZIMAGE, "vmlinux": ELF64}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "directory").mkdir()
    (tmp_path / "false").symlink_to("/bin/false")
    return tmp_path


@pytest.mark.parametrize(("words", "says"), [
    (["nonsense"], "there is no group nonsense: harness, "),
    (["placement", "nonsense"], "there is no group nonsense: "),
    (["--xen", "nowhere"], "--xen: nowhere is missing"),
    (["--xen", "directory"], "--xen: directory is no file"),
    (["--xen", "empty"], "--xen: empty is no Xen: an ELF with a multiboot header"),
    (["--xen", "text"], "--xen: text is no Xen: an ELF with a multiboot header"),
    (["--xen-stock", "elf32"], "--xen-stock: elf32 is no Xen: "),
    (["--xen-off", "efi"], "--xen-off: efi is a Xen for EFI: give the xen.gz"),
    (["--xen-optional", "xen-syms"], "--xen-optional: xen-syms is an ELF of 64 bits, such as xen-syms: give the xen.gz"),
    (["--xen", "cut.gz"], "--xen: cut.gz cannot be read: "),
    (["--kernel", "xen"], "--kernel: xen is no Linux for x86-64: a bzImage or vmlinux is wanted"),
    (["--kernel", "text"], "--kernel: text is no Linux"),
    (["--dom0", "text"], "--dom0: text is no image of a dom0 that tests/boot/images/make-images has made"),
    (["--qemu", "text"], "--qemu: text is no program that may be started"),
    (["--qemu", "false"], "--qemu: false is no QEMU for x86-64"),
    (["--jobs", "0"], "--jobs 0: at least 1"),
    (["--limit", "0"], "--limit: invalid number of minutes value: '0'"),
    (["--limit", "soon"], "--limit: invalid number of minutes value: 'soon'"),
    (["--results", "text/here"], "--results: "),
    (["--frobnicate"], "unrecognized arguments: --frobnicate"),
], ids=lambda value: "-".join(value) if isinstance(value, list) else "")
def test_usage(words, says, files):
    """One line that names what is wrong and what would be right."""
    done = run(*words, cwd=files)
    assert done.returncode == 2
    line, = done.stderr.splitlines()
    assert line.startswith("run: ") and says in line


def test_usage_of_accel():
    done = run(ACCEL="hvf")
    assert (done.returncode, done.stderr) == (2, "run: ACCEL=hvf: tcg or kvm\n")


@pytest.mark.parametrize(("name", "file"), [("xen", "xen"), ("xen_stock", "xen.gz"), ("kernel", "bzImage"), ("kernel", "vmlinux")])
def test_part_is_taken(name, file, files):
    parts.check(name, files / file)


def test_parts_reach_whoever_is_started(monkeypatch, tmp_path):
    for field in dataclasses.fields(Parts):
        monkeypatch.setenv(f"BOOT_{field.name.upper()}", str(tmp_path / field.name))
    assert dict(Parts.given().items()) == {field.name: tmp_path / field.name for field in dataclasses.fields(Parts)}


MINE = "/mine"


@pytest.mark.parametrize(("given", "topology", "variant", "lack"), [
    ({}, "n8", "debug", None),
    ({}, "n1", "stock", None),
    ({"kernel": MINE}, "n1", "stock", None),
    ({"xen": MINE}, "n8", "debug", None),
    ({"xen": MINE}, "n8", "release", None),
    ({"xen": MINE}, "n2", "stock", "--xen-stock FILE"),
    ({"xen": MINE}, "n2", "off", "--xen-off FILE"),
    ({"xen_stock": MINE}, "n2", "stock", None),
    ({"xen_stock": MINE}, "n8", "release", "--xen FILE"),
    ({"xen": MINE, "xen_optional": MINE}, "n2-iommu", "optional", None),
    ({"dom0": MINE}, "n4", "debug", None),
    ({"dom0": MINE}, "n4-debian", "debug", "Debian's kernel"),
    ({"qemu": MINE}, "n4", "debug", None),
    ({"qemu": MINE}, "n4-ibs", "debug", "IBS of our own QEMU"),
])
def test_what_cannot_be_booted(given, topology, variant, lack, monkeypatch):
    monkeypatch.delenv("ACCEL", raising=False)
    said = Parts(**given).lacks(TOPOLOGIES[topology], variant)
    assert lack in said if lack else said is None


def test_own_xen_is_that_of_debug_and_release():
    given = Parts(xen="/x", xen_stock="/s")
    taken = [given.hypervisor(variant) for variant in ("debug", "release", "stock", "off", "native")]
    assert taken == ["/x", "/x", "/s", None, None]


def cpio(directory, *words, **given):
    return subprocess.run(["cpio", "--quiet", *words], cwd=directory, capture_output=True, check=True, **given).stdout


def test_guests_get_the_kernel(tmp_path):
    """By Linux' rule for images of several archives: the last one with a file wins.  What the image says it is stays."""
    (tmp_path / "image" / "boot").mkdir(parents=True)
    for name, content in (("image-id", "an id"), ("boot/bzImage", "old"), ("boot/idle-guest", "idle")):
        (tmp_path / "image" / name).write_text(content)
    plain = cpio(tmp_path / "image", "-o", "-H", "newc", input=b"image-id\nboot\nboot/bzImage\nboot/idle-guest\n")
    packed = gzip.compress(plain)
    # of each length, up to what the next archive may begin at
    for number, image in enumerate([plain, *(packed + bytes(more) for more in range(4))]):
        for name, content in (("xen.gz", gzip.compress(ELF32)), ("linux", b"new kernel"), ("dom0", image)):
            (tmp_path / name).write_bytes(content)
        loaded = tmp_path / f"loaded-{number}"
        loaded.mkdir()
        assert parts.image_id(tmp_path / "dom0") == "an id"
        xen, linux, dom0 = parts.loadable(loaded, *(tmp_path / name for name in ("xen.gz", "linux", "dom0")), tmp_path / "linux")
        assert (xen.read_bytes(), linux.read_bytes()) == (ELF32, b"new kernel")
        joined = dom0.read_bytes()
        assert joined.startswith(image)
        begin = joined.index(b"070701", len(image))
        assert begin % 4 == 0 and not joined[len(image):begin].strip(b"\0")
        for name in ("boot/vmlinux", "boot/bzImage"):
            assert cpio(tmp_path, "-i", "--to-stdout", name, input=joined[begin:]) == b"new kernel"


def test_tools_of_another_xen(monkeypatch):
    """One line in place of as many red tests as there are."""
    machine = Machine(TOPOLOGIES["n1"], "debug", xen=RUN)
    machine.qemu = types.SimpleNamespace(isalive=lambda: False, close=lambda: None)
    machine.host_stillness = types.SimpleNamespace(longest=lambda since=0: 0)
    monkeypatch.setattr(machine, "run", lambda command, check: types.SimpleNamespace(status=1, err="libxl: Permission denied\n"))
    with pytest.raises(Misfit, match=rf"the tools in \S+ are not for {RUN}: xl info says: libxl: Permission denied"):
        machine._check_tools()


def report(outcome, when="call", host_fault=False):
    return types.SimpleNamespace(passed=outcome == "passed", failed=outcome == "failed", skipped=outcome == "skipped", when=when,
                                 outcome=outcome, host_fault=host_fault)


GOOD, BAD, HOST, SKIPPED = report("passed"), report("failed"), report("failed", host_fault=True), report("skipped", "setup")


@pytest.mark.parametrize(("reports", "pytest_said", "status"), [
    ([GOOD, GOOD], 0, 0),
    ([GOOD, SKIPPED], 0, 0),
    ([GOOD, BAD], 1, 1),
    ([GOOD, report("failed", "setup")], 1, 1),
    ([GOOD, report("failed", "teardown")], 1, 1),
    ([GOOD, HOST], 1, 3),
    ([HOST, BAD], 1, 1),
    ([GOOD, report("failed", "???")], 1, 3),        # a worker died
    ([GOOD, report("rerun", host_fault=True), GOOD], 0, 0),
    ([GOOD], 2, 3),                                 # the time was up
    ([GOOD], 3, 3),                                 # pytest itself failed
    ([BAD], 2, 1),
    ([SKIPPED], 0, 3),
    ([], 5, 3),
    ([], 0, 3),
])
def test_status(reports, pytest_said, status, program):
    verdict = program.Verdict()
    for one in reports:
        verdict.pytest_runtest_logreport(one)
    assert verdict.status(pytest_said) == status


def test_host_without_a_program(files, tmp_path):
    """An ERROR, as it says nothing of a Xen."""
    (tmp_path / "bin").mkdir()
    done = run("--dom0", "text", cwd=files, PATH=str(tmp_path / "bin"))
    assert done.returncode == 3
    line, = done.stderr.splitlines()
    assert line.startswith("run: the host: ") and "cpio" in line


def test_emulator_that_dies(tmp_path):
    """An ERROR, after a second try."""
    qemu = tmp_path / "qemu"
    qemu.write_text(f"#!/bin/sh\n[ \"$2\" = help ] && exec echo q35\necho started >>{tmp_path}/log\nkill -ABRT $$\n")
    qemu.chmod(0o755)
    (tmp_path / "results").mkdir()
    for name in ("results.xml", "results.ktap"):
        (tmp_path / "results" / name).write_text("of an earlier run, and green")
    done = run("--qemu", qemu, "--xen-stock", STOCK, "--results", tmp_path / "results", "stock")
    assert done.returncode == 3 and "QEMU ended while waiting for dom0 to come up, with signal 6" in done.stderr
    assert (tmp_path / "log").read_text() == "started\n" * 2
    assert not list((tmp_path / "results").glob("results.*"))


def test_linux_that_does_not_come_up(tmp_path):
    """A FAILURE, told by what Xen says."""
    (tmp_path / "bzImage").write_bytes(BZIMAGE)
    done = run("--kernel", tmp_path / "bzImage", "--xen-stock", STOCK, "--results", tmp_path / "results", "stock")
    assert done.returncode == 1 and "Panic on CPU 0" in done.stderr


def test_own_parts_are_booted(tmp_path):
    """With names at which QEMU would cut a path.  A skip says what would have to be given; results and hashes are where they are
    to be."""
    own = tmp_path / "my own, parts"
    own.mkdir()
    (own / "xen.gz").write_bytes(gzip.compress(STOCK.read_bytes(), 1))
    # a note behind the end, which is all that tells it from ours
    (own / "linux").write_bytes((BUILD / "linux" / "bzImage").read_bytes() + b"of my own")
    results = tmp_path / "the, results"
    done = run("--xen-stock", own / "xen.gz", "--kernel", own / "linux", "--results", results,
               "-k", "flask_that or policy_none_is", "stock")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert " passed" in done.stdout.splitlines()[-1] and " skipped" in done.stdout.splitlines()[-1]
    said = [tuple(line.split(maxsplit=2)) for line in (results / "parts.txt").read_text().splitlines()]
    assert said == [(name, hashlib.sha256((own / file).read_bytes()).hexdigest(), str(own / file))
                    for name, file in (("xen-stock", "xen.gz"), ("kernel", "linux"))]
    skipped = [case.find("skipped").get("message") for case in ElementTree.parse(results / "results.xml").iter("testcase")
               if case.find("skipped") is not None]
    assert skipped and all("--xen FILE" in message for message in skipped)
    assert "# SKIP needs a Xen that is not given" in (results / "results.ktap").read_text()
    assert list((results / "logs").glob("n1-stock-*.console.log"))

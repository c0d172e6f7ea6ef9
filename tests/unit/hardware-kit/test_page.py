# SPDX-License-Identifier: GPL-2.0-only
"""The page of reports, and the kit as it is packed."""

import os
import shutil
import subprocess
import sys
import tarfile

import pytest
from kit_place import KIT

GOOD = """numa-policy hardware report 1
kit.version: 0.2.0~dev
check.xen: 4.20.3
check.nodes: 2
content.round-4k.wrong: 0
content.round-4k: pass
content.save: fail
content.save.reason: words were wrong
bench.vcpus: 4
bench.mib: 2048
bench.round-4k.passes: 40.5
bench.rebalance.mib_per_s: 900
bench.rebalance.longest_pause_us: 120
end: 12
"""


def run(*args):
    return subprocess.run([sys.executable, KIT / "page.py", *args], capture_output=True, text=True, timeout=60)


def test_a_reason_is_no_step(tmp_path):
    (tmp_path / "x.report").write_text(GOOD.replace("words were wrong", "pass"))
    assert run(tmp_path).returncode == 0 and "1 steps passed, 1 failed" in (tmp_path / "README.md").read_text()


def test_the_page_in_docs_is_up_to_date():
    done = run("--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_no_report_yet(tmp_path):
    assert run(tmp_path).returncode == 0
    assert "**No report yet.** Nothing here has run on real hardware." in (tmp_path / "README.md").read_text()


def test_a_report(tmp_path):
    (tmp_path / "two-sockets.report").write_text(GOOD)
    assert run("--check", tmp_path).returncode == 1 and run(tmp_path).returncode == 0 == run("--check", tmp_path).returncode
    text = (tmp_path / "README.md").read_text()
    assert "No report yet" not in text and "## two-sockets" in text
    assert "1 steps passed, 1 failed, 0 were skipped; version 0.2.0~dev, commit ?." in text
    for row in ("| content.round-4k | pass | 0 |  |", "| content.save | fail |  | words were wrong |", "| Xen | 4.20.3 |",
                "| round-4k |  | 40.5 |  |"):
        assert row in text.splitlines()
    assert "Moving: 900 MiB a second; a write waited for 120 us at the longest." in text


@pytest.mark.parametrize("old, new, said", [
    ("numa-policy hardware report 1\n", "", "x.report:1: no report; the first line is 'numa-policy hardware report 1'"),
    ("end: 12\n", "", "x.report:13: the last line must be 'end: 11'; the report is cut off, or changed"),
    ("check.nodes: 2\n", "", "x.report:13: the last line must be 'end: 11'"),
    ("check.nodes: 2", "check.nodes: two", "x.report:4: hardware-kit/keys knows no such line"),
    ("check.nodes: 2", "check.host: db1", "x.report:4: hardware-kit/keys knows no such line"),
    ("words were wrong", "<script>", "x.report:8: hardware-kit/keys knows no such line"),
    ("check.nodes: 2", "", "x.report:4: hardware-kit/keys knows no such line"),
    ("content.round-4k: pass", "content.save: pass", "x.report:7: content.save is told twice"),
    ("check.xen: 4.20.3", "check.cpus: 8", "x.report:1: kit.version or check.xen is missing"),
])
def test_no_report(tmp_path, old, new, said):
    (tmp_path / "x.report").write_text(GOOD.replace(old, new))
    done = run(tmp_path)
    assert done.returncode == 1 and done.stderr.startswith(f"page.py: {said}") and done.stderr.count("\n") == 1
    assert not (tmp_path / "README.md").exists()


@pytest.fixture
def tree(tmp_path):
    """A repository with images as small as can be."""
    shutil.copytree(KIT, tmp_path / "hardware-kit", ignore=shutil.ignore_patterns("__pycache__"))
    images, dom0 = tmp_path / "build/images-base", tmp_path / "dom0"
    for name in ("boot/smp-guest", "usr/local/bin/domctl-probe", "usr/local/sbin/xl"):
        (dom0 / name).parent.mkdir(parents=True, exist_ok=True)
        (dom0 / name).write_text(name)
    images.mkdir(parents=True)
    for name in ("vmlinux", "guest.cpio"):
        (images / name).write_text(name)
    names = "\n".join(str(path.relative_to(dom0)) for path in dom0.rglob("*"))
    with open(images / "dom0.cpio", "wb") as archive:
        subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], cwd=dom0, input=names.encode(), stdout=archive, check=True)
    (tmp_path / "VERSION").write_text("0.2.0~dev\n")
    return tmp_path


def make(tree, *args):
    return subprocess.run([tree / "hardware-kit/make-kit", *args], capture_output=True, text=True, timeout=60)


def test_the_kit_is_packed(tree):
    done = make(tree, tree / "a.tar.gz")
    assert done.returncode == 0 and done.stderr == "" and "run numa-kit/kit as root" in done.stdout
    with tarfile.open(tree / "a.tar.gz") as archive:
        names = {name.removeprefix("numa-kit/") for name in archive.getnames()}
        assert archive.extractfile("numa-kit/guest/smp-guest").read() == b"boot/smp-guest"
        assert archive.extractfile("numa-kit/version").read() == b"0.2.0~dev\n"
        assert archive.getmember("numa-kit/kit").mode & 0o111 and {(m.uid, m.mtime) for m in archive} == {(0, 0)}
    assert names >= {"kit", "keys", "README.md", "commit", "lib.sh", "host.sh", "vm.sh", "content.sh", "hostile.sh", "bench.sh",
                     "guest/vmlinux", "guest/guest.cpio", "guest/domctl-probe"} and not names & {"page.py", "make-kit"}


def test_the_same_inputs_give_the_same_bytes(tree):
    make(tree, tree / "a.tar.gz")
    os.utime(tree / "hardware-kit/kit", (1, 1))
    make(tree, tree / "b.tar.gz")
    assert (tree / "a.tar.gz").read_bytes() == (tree / "b.tar.gz").read_bytes()


def test_nothing_is_packed_without_images(tree):
    (tree / "build/images-base/vmlinux").unlink()
    done = make(tree, tree / "a.tar.gz")
    assert done.returncode == 1 and done.stderr.endswith("images-base/vmlinux is missing: run make images-base\n")
    assert not (tree / "a.tar.gz").exists()

# SPDX-License-Identifier: GPL-2.0-only
"""The build as a user makes it, what it installs, and the manual."""

import re
import shutil
import subprocess

import pytest

from numapolicy_build import ROOT, SOURCE, library_path, make, make_in


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    build, root = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("root")
    done = make(f"BUILD={build}", f"DESTDIR={root}", "PREFIX=/opt/x", "install")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return root


@pytest.fixture(scope="module")
def manual(installed):
    return installed / "opt/x/share/man/man1/xl-numa-policy.1"


def files(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() or path.is_symlink()}


FILES = {"opt/x/sbin/xl-numa-policy", "opt/x/share/man/man1/xl-numa-policy.1",
         "opt/x/share/bash-completion/completions/xl-numa-policy"}


def test_files(installed):
    """Nothing where an administrator's files are."""
    assert files(installed) == FILES


def test_uninstall(tmp_path):
    """What was put there, and nothing else."""
    args = [f"BUILD={tmp_path / 'new' / 'place'}", f"DESTDIR={tmp_path / 'root'}", "PREFIX=/opt/x"]
    (tmp_path / "root/opt/x/sbin").mkdir(parents=True)
    (tmp_path / "root/opt/x/sbin/xl").write_text("")
    for _ in range(2):
        assert make(*args, "install").returncode == 0
    assert files(tmp_path / "root") == FILES | {"opt/x/sbin/xl"}
    for _ in range(2):
        assert make(*args, "uninstall").returncode == 0
    assert files(tmp_path / "root") == {"opt/x/sbin/xl"}


@pytest.mark.parametrize("flags", ["-O2 -g -fsanitize=address,undefined", "-O3 -D_FORTIFY_SOURCE=2", "-O0"])
def test_no_warning(tmp_path, flags):
    """Each is an error."""
    link = "-fsanitize=address,undefined" if "sanitize" in flags else ""
    done = make(f"BUILD={tmp_path}", f"CFLAGS={flags}", f"LDFLAGS={link}", f"{tmp_path}/xl-numa-policy")
    assert (done.returncode, done.stderr) == (0, "")


def test_no_warning_of_clang(tmp_path):
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    done = make(f"BUILD={tmp_path}", "CC=clang", f"{tmp_path}/xl-numa-policy")
    assert (done.returncode, done.stderr) == (0, "")


def test_builds_in_place(tmp_path):
    """With nothing of the project but what is named here, and what is made there is what git ignores."""
    for name in "tools/xl-numapolicy", "common":
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "tools/build").mkdir()
    for name in "tools/build/xen-tools.mk", "VERSION", ".gitignore":
        shutil.copy(ROOT / name, tmp_path / name)

    def git(*words):
        return subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    git("add", ".")
    names = git("ls-files")
    assert "common/json.c" in names and "tools/xl-numapolicy/cmd/guest.c" in names
    done = make_in(tmp_path / "tools/xl-numapolicy", "CFLAGS=-O0")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert git("status", "--short", "--untracked-files=all").count("??") == 0


def test_program_without_xen(installed, tmp_path):
    """With the real libxl: what a machine that does not run Xen says."""
    done = subprocess.run([installed / "opt/x/sbin/xl-numa-policy"], capture_output=True, text=True,
                          env={"LD_LIBRARY_PATH": library_path()}, timeout=60)
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"xl numa-policy: [^\n]*\n", done.stderr)


def test_makes_again_what_has_changed(tmp_path):
    """Nothing, or what includes the header that is said to be new (make -W)."""
    target = f"BUILD={tmp_path}"
    make(target)
    assert make(target, "-q").returncode == 0
    for top, header in [*((SOURCE, path) for path in SOURCE.rglob("*.h")), *((ROOT, path) for path in ROOT.glob("common/*.h"))]:
        names = [header, header.relative_to(top)]    # gcc writes down the one or the other
        assert make(target, "-q", *(f"--what-if={name}" for name in names)).returncode == 1, header


def test_wrong_tools_tree(tmp_path):
    done = make(f"XEN_TOOLS={tmp_path}", f"BUILD={tmp_path}")
    assert done.returncode != 0
    assert "no xenlight.pc below XEN_TOOLS=" in done.stderr.splitlines()[0]


def test_manual_source():
    done = subprocess.run(["podchecker", "-warnings", "-warnings", SOURCE / "xl-numa-policy.pod"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr


def test_manual_groff(manual):
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    done = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-z", manual], capture_output=True,
                          text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_manual_mandoc(manual):
    """Without a date, as the same source has to give the same page."""
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is not installed")
    done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", manual], capture_output=True, text=True)
    assert [line for line in done.stdout.splitlines() if "missing date" not in line] == []


def test_manual_names_everything_the_help_does(xl, manual):
    text = manual.read_text().replace("\\-", "-").replace("\\", "")
    words = set()
    for name in ["list", "show", "set", "rebalance", "where"]:
        page = xl.good(name, "--help")
        words |= {name, *re.findall(r"--[a-z-]+", page)}
    words |= set(re.findall(r"^  (\S+)", page_of_policies(xl), re.M))
    assert {"--json", "--weights", "round-4k", "none"} <= words
    assert [word for word in sorted(words) if word not in text] == []


def test_manual_explains_each_line_of_show():
    """By the word that the line begins with."""
    source = (SOURCE / "cmd/sentences.c").read_text()
    labels = set(re.findall(r'print_parts\("([^"]+)"', source) + re.findall(r'LABEL[^;]*?\\n",\s*"([\w ]+)"', source))
    assert {"policy", "limit", "vCPUs", "moved", "beyond", "kept", "carrefour"} <= labels
    section = (SOURCE / "xl-numa-policy.pod").read_text().split("\n=item B<show> ")[1].split("\n=item B<top>")[0]
    words = " ".join(section.split())
    assert [label for label in sorted(labels) if not re.search(rf"\b{label}\b", words, re.I)] == []


def page_of_policies(xl):
    return xl.good("set", "--help").split("Policies:\n")[1].split("\n\n")[0]


def test_manual_is_reproducible(tmp_path, manual):
    make(f"BUILD={tmp_path}", f"{tmp_path}/xl-numa-policy.1")
    assert (tmp_path / "xl-numa-policy.1").read_bytes() == manual.read_bytes()
    title, = [line for line in manual.read_text().splitlines() if line.startswith(".TH ")]
    assert not re.search(r"\d{4}-\d\d-\d\d", title)

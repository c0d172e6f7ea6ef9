# SPDX-License-Identifier: GPL-2.0-only
"""Patch files to commits and back: exact, the same for everybody, and red when it is not."""
import os
import shutil

import pytest
from archive import apt_conf, debian


def test_the_tarball_is_imported_whole(queue):
    queue.pq("import", "xen")
    assert queue.git("ls-files").split() == [".gitignore", "README", "kept.o", "link", "notes", "run", "xen/main.c"]
    assert os.readlink(queue.tree / "link") == "README"
    assert os.access(queue.tree / "run", os.X_OK) and not os.access(queue.tree / "notes", os.X_OK)
    assert queue.git("status", "--porcelain") == ""


def test_round_trip(series):
    before = {patch.name: patch.read_bytes() for patch in series.patches()}
    assert list(before) == ["0001-xen-say-one.patch", "0002-notes-change-a-line.patch", "0003-notes-mode-and-link.patch"]
    assert "3 patches apply" in series.pq("verify", "xen")
    series.run("rm", "-rf", series.root / "build", series.cache / "xen-numa-policy" / "git")
    series.pq("import", "xen")
    series.pq("export", "xen")
    assert {patch.name: patch.read_bytes() for patch in series.patches()} == before


def test_commits_do_not_depend_on_who_imports(series):
    series.pq("import", "xen")
    one = series.git("rev-parse", "HEAD")
    series.run("rm", "-rf", series.root / "build", series.cache / "xen-numa-policy" / "git")
    (series.home / ".gitconfig").write_text(
        "[user]\nname = Else\nemail = e@example.org\n[core]\nautocrlf = true\n[am]\nthreeWay = true\n[apply]\nwhitespace = fix\n")
    series.pq("import", "xen", TZ="Asia/Tokyo", GIT_COMMITTER_NAME="Else", GIT_AUTHOR_DATE="@1 +0000")
    assert series.git("rev-parse", "HEAD") == one


def test_export_ignores_the_users_git_configuration(series):
    before = [patch.read_bytes() for patch in series.patches()]
    (series.home / ".gitconfig").write_text(
        "[diff]\nnoprefix = true\nalgorithm = patience\ncontext = 9\nmnemonicPrefix = true\n"
        "[format]\nsignOff = true\nattach = true\nsubjectPrefix = X\nnumbered = true\nsignature = me\nthread = true\n")
    # git reads this one without being told of it
    (series.home / ".config/git").mkdir(parents=True)
    (series.home / ".config/git/attributes").write_text("notes -diff\n")
    series.pq("export", "xen")
    assert [patch.read_bytes() for patch in series.patches()] == before


def test_patches_need_not_come_from_the_cache_of_the_tree(series):
    """The tree must survive a cleaned cache."""
    series.run("rm", "-rf", series.cache / "xen-numa-policy" / "git")
    series.git("fsck", "--no-dangling")
    series.pq("export", "xen")


def test_fuzz_is_red(series):
    series.edit(2, " line 19\n", " line nineteen\n")
    said = series.refused("verify", "xen")
    assert "0002-notes-change-a-line.patch does not apply" in said
    assert "0002" in series.refused("import", "xen")


def test_shifted_lines_are_red(series):
    """git applies a patch whose lines moved; that is not byte for byte."""
    series.edit(2, "@@ -17,7 +17,7 @@", "@@ -15,7 +15,7 @@")
    assert "0002-notes-change-a-line.patch: does not come back byte for byte" in series.refused("verify", "xen")


def test_short_hashes_are_red(series):
    text = series.patches()[0].read_text()
    index = next(line for line in text.splitlines() if line.startswith("index "))
    old, new = index.split()[1].split("..")
    series.edit(1, index, f"index {old[:7]}..{new[:7]} 100644")
    assert "0001-xen-say-one.patch: does not come back byte for byte" in series.refused("verify", "xen")


def test_another_file_name_is_red(series):
    series.patches()[0].rename(series.series / "0001-else.patch")
    series.cover()
    assert "0001-else.patch: comes back under another name" in series.refused("verify", "xen")


def test_a_gap_in_the_numbers_is_red(series):
    series.patches()[1].unlink()
    assert "not numbered from 0001 on without a gap" in series.refused("verify", "xen")


def test_dropped_patches_go_from_the_directory(series):
    series.git("reset", "-q", "--hard", "HEAD~2")
    series.pq("export", "xen")
    assert [patch.name for patch in series.patches()] == ["0001-xen-say-one.patch"]
    assert (series.series / "README.md").exists() and (series.series / "BASE").exists()


def test_a_wrong_tarball_is_not_taken(series):
    """Its place in the cache does not make a file right; there is no network to get the right one."""
    (series.cache / "xen-numa-policy/src/xen_4.20.9.orig.tar.xz").write_bytes(b"something else")
    conf = apt_conf(series, "deb http://nowhere.debian.org/debian trixie main\n")
    said = series.refused("verify", "xen", APT_CONFIG=conf, PQ_OS_RELEASE=debian(series, "13"))
    assert "error: cannot download xen (no network?), tried 4.20.9-1:" in said


def test_a_base_without_a_hash_is_refused(series):
    base = series.series / "BASE"
    base.write_text(base.read_text().replace("sha256=", "sum="))
    assert "BASE: no sha256=" in series.refused("import", "xen")


def test_a_local_git_tree_instead_of_base(series, tmp_path):
    local = tmp_path / "local"
    series.run("git", "clone", "-q", series.tree, local)
    series.run("git", "-C", local, "checkout", "-q", "HEAD~3")
    series.run("rm", "-rf", series.root / "build")
    said = series.pq("import", "xen", XEN_SRC=str(local))
    assert "not what xen-patches/BASE names" in said
    assert series.git("log", "--format=%s").splitlines()[0] == "notes: mode and link"
    series.pq("verify", "xen", XEN_SRC=str(local))
    assert "is no git tree" in series.refused("verify", "xen", XEN_SRC=str(tmp_path))


def test_a_tree_of_some_directories(series):
    """For tests that need not all of it; the commits are the same, and it becomes whole when it is asked for."""
    before = [patch.read_bytes() for patch in series.patches()]
    series.run("rm", "-rf", series.root / "build")
    listed = series.root / "listed"
    listed.write_text("new dir\n")
    series.pq("import", "--only", listed, "xen")
    assert (series.tree / "notes").exists() and not (series.tree / "xen").exists()
    assert series.git("status", "--porcelain") == ""
    series.pq("export", "xen")
    assert [patch.read_bytes() for patch in series.patches()] == before
    series.pq("import", "--only", listed, "--gently", "xen")
    assert not (series.tree / "xen").exists()
    series.pq("import", "xen")
    assert (series.tree / "xen/main.c").exists() and series.git("status", "--porcelain") == ""
    # and stays whole
    series.pq("import", "--only", listed, "--gently", "xen")
    assert (series.tree / "xen/main.c").exists()


def given_away(path):
    """As of another user's."""
    for name in (path, *path.rglob("*")):
        shutil.chown(name, user="nobody")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_sources_of_another_user_are_not_trusted(series, tmp_path):
    local = tmp_path / "local"
    local.mkdir()
    for words in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]):
        series.run("git", "-C", local, *words)
    given_away(local)
    assert f"{local} is another user's" in series.refused("import", "xen", XEN_SRC=str(local))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_users_trees_are_built_by_root(series):
    given_away(series.root)
    series.pq("import", "xen")
    series.pq("export", "xen")
    assert "3 patches apply" in series.pq("verify", "xen")

# SPDX-License-Identifier: GPL-2.0-only
"""No verb drops what somebody did."""
import subprocess

import pytest


def test_export_refuses_a_dirty_tree(series):
    (series.tree / "notes").write_text("half done\n")
    assert "changes that are not committed" in series.refused("export", "xen")
    assert (series.tree / "notes").read_text() == "half done\n"


def test_export_refuses_an_untracked_file(series):
    (series.tree / "forgotten.c").write_text("int x;\n")
    assert "changes that are not committed" in series.refused("export", "xen")


def test_import_refuses_to_drop_changes(series):
    (series.tree / "notes").write_text("half done\n")
    assert "has changes that are not committed" in series.refused("import", "xen")
    assert (series.tree / "notes").read_text() == "half done\n"


def test_import_refuses_to_drop_commits(series):
    series.commit("xen: not exported\n\nYet.", {"new": "work\n"})
    head = series.git("rev-parse", "HEAD")
    assert "has commits that are not in the series" in series.refused("import", "xen")
    assert series.git("rev-parse", "HEAD") == head


def test_force_sets_work_aside(series):
    series.commit("xen: not exported\n\nYet.", {"new": "work\n"})
    head = series.git("rev-parse", "HEAD")
    (series.tree / "notes").write_text("half done\n")
    (series.tree / "untracked").write_text("also mine\n")
    said = series.pq("import", "xen", FORCE="1")
    assert f"pq-saved-{head[:12]}" in said and "git stash list" in said
    assert series.git("rev-parse", f"pq-saved-{head[:12]}") == head
    assert not (series.tree / "new").exists() and not (series.tree / "untracked").exists()
    series.git("checkout", "-q", head)
    series.git("stash", "pop", "-q")
    assert (series.tree / "notes").read_text() == "half done\n"
    assert (series.tree / "untracked").read_text() == "also mine\n"


def test_gently_leaves_work_alone(series):
    series.commit("xen: not exported\n\nYet.", {"new": "work\n"})
    assert "left alone" in series.pq("import", "--gently", "xen")
    assert (series.tree / "new").exists()


def test_the_stash_and_other_branches_survive_an_import(series):
    series.git("branch", "mine")
    (series.tree / "notes").write_text("half done\n")
    series.git("-c", "user.name=a", "-c", "user.email=a@b", "stash", "-q")
    series.pq("import", "xen")
    assert series.git("stash", "list") and series.git("branch", "--list", "mine")


def test_export_refuses_when_the_files_moved_on(series):
    """git pull brought other patches; the tree is older than they are."""
    series.edit(1, "So that it differs", "So that it now differs")
    before = series.patches()[0].read_bytes()
    assert "changed since" in series.refused("export", "xen")
    assert series.patches()[0].read_bytes() == before
    series.pq("import", "xen")
    series.pq("export", "xen")
    assert series.patches()[0].read_bytes() == before


@pytest.mark.parametrize("verb", ["import", "export"])
def test_a_stopped_rebase_is_not_touched(series, verb):
    series.run("git", "-C", series.tree, "rebase", "-q", "-x", "false", "HEAD~2")
    assert "is under way" in series.refused(verb, "xen")


def test_a_merge_is_refused(series):
    series.git("checkout", "-q", "-b", "side", "HEAD~1")
    series.commit("xen: side\n\nWork.", {"side": "x\n"})
    series.git("checkout", "-q", "series")
    series.git("-c", "user.name=a", "-c", "user.email=a@b", "merge", "-q", "side", "-m", "merge")
    assert "has a merge" in series.refused("export", "xen")
    assert len(series.patches()) == 3


def test_export_refuses_commits_that_do_not_stand_on_the_base(series):
    series.git("checkout", "-q", "--orphan", "else")
    series.commit("xen: from nowhere\n\nNo base.", {"x": "x\n"})
    assert "does not stand on refs/pq/base" in series.refused("export", "xen")


def test_a_branch_with_work_is_not_moved_from_another_place(series):
    """HEAD is at the series, but the branch that an import moves is not."""
    series.commit("xen: not exported\n\nYet.", {"new": "work\n"})
    head = series.git("rev-parse", "HEAD")
    series.git("checkout", "-q", "refs/pq/synced")
    assert "left alone" in series.pq("import", "--gently", "xen")
    assert "has commits that are not in the series" in series.refused("import", "xen")
    assert series.git("rev-parse", "series") == head
    series.pq("import", "xen", FORCE="1")
    assert series.git("rev-parse", f"pq-saved-{head[:12]}") == head


def test_export_refuses_a_head_in_the_middle(series):
    before = [path.name for path in series.patches()]
    series.git("checkout", "-q", "HEAD~1")
    assert "HEAD is not the tip of branch series" in series.refused("export", "xen")
    assert [path.name for path in series.patches()] == before


def test_a_broken_repository_is_not_looked_for_above(series):
    """git would take the clone of this project, and FORCE=1 would check out Xen in it."""
    for command in (["init", "-q"], ["add", "xen-patches"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "ours"]):
        subprocess.run(["git", "-C", series.root, *command], check=True)
    (series.tree / ".git/HEAD").write_text("")
    for options in ([], ["--gently"]):
        assert "not a git repository" in series.refused("import", *options, "xen", FORCE="1")
    assert series.patches() and not (series.root / "README").exists()


def test_what_is_no_tree_of_ours_is_not_removed(series):
    (series.tree / ".git").rename(series.tree.parent / "elsewhere")
    (series.tree / ".git").write_text("gitdir: ../elsewhere\n")
    (series.tree / "work").write_text("mine\n")
    assert "move it away" in series.refused("import", "--gently", "xen")
    assert (series.tree / "work").exists()


def test_export_without_a_tree(queue):
    assert "make trees" in queue.refused("export", "xen")


# what python3 runs first: the second file that is copied finds the disk full, half written
FULL_DISK = """import errno, shutil
left = [1]
def copyfile(source, target, copy=shutil.copyfile):
    if left.pop():
        left.append(0)
        return copy(source, target)
    open(target, "w").write("half")
    raise OSError(errno.ENOSPC, "No space left on device", str(target))
shutil.copyfile = copyfile
"""


def test_export_to_a_full_disk_leaves_the_old_series(series, tmp_path):
    before = {path.name: path.read_bytes() for path in series.series.iterdir()}
    series.git("reset", "-q", "--hard", "refs/pq/base")
    series.commit("xen: begin anew\n\nUnder other names.", {"xen/new.c": "int x;\n"})
    series.commit("xen: and go on\n\nWith a second one.", {"xen/newer.c": "int y;\n"})
    (tmp_path / "sitecustomize.py").write_text(FULL_DISK)
    assert "No space left on device" in series.refused("export", "xen", PYTHONPATH=str(tmp_path))
    assert {path.name: path.read_bytes() for path in series.series.iterdir()} == before
    series.pq("export", "xen")
    names = [path.name for path in series.patches()]
    assert names == ["0001-xen-begin-anew.patch", "0002-xen-and-go-on.patch"]

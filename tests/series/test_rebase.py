# SPDX-License-Identifier: GPL-2.0-only
"""Moving a series to other sources."""
from tiny_tree import NOTES, SOURCE, sha256, tarball


def newer(notes):
    return dict(SOURCE, notes=("0644", notes), README=("0644", "a tiny Xen, newer\n"))


def test_to_a_tarball(series, tmp_path):
    path = tarball(tmp_path / "xen_4.20.10.orig.tar.xz", newer("line 0\n" + NOTES))
    said = series.pq("rebase", "xen", path)
    # range-diff: what a person needs to see is which patches changed
    assert "1:" in said and "xen: say one" in said
    base = (series.series / "BASE").read_text()
    assert f"sha256={sha256(path)}" in base and "file=xen_4.20.10.orig.tar.xz" in base and "version=4.20.10-1" in base
    # the line numbers moved with the sources
    assert "@@ -18,7 +18,7 @@" in series.patches()[1].read_text()
    path.rename(series.cache / "xen-numa-policy/src" / path.name)
    assert "3 patches apply" in series.pq("verify", "xen")
    assert (series.tree / "README").read_text() == "a tiny Xen, newer\n"


def test_a_conflict_waits_for_a_person(series, tmp_path):
    path = tarball(tmp_path / "xen_4.20.10.orig.tar.xz", newer(NOTES.replace("line 20\n", "line XX\n")))
    before = [patch.read_bytes() for patch in series.patches()]
    said = series.refused("rebase", "xen", path)
    assert "stopped at a conflict" in said and "git rebase --continue" in said and "make rebase NAME=xen" in said
    assert [patch.read_bytes() for patch in series.patches()] == before
    assert "stopped at a conflict" in series.refused("rebase", "xen")
    (series.tree / "notes").write_text(NOTES.replace("line 20\n", "line twenty\n"))
    series.git("add", "notes")
    series.git("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.editor=true", "rebase", "--continue")
    assert "2:" in series.pq("rebase", "xen")
    assert "-line XX" in series.patches()[1].read_text()
    path.rename(series.cache / "xen-numa-policy/src" / path.name)
    series.pq("verify", "xen")


def test_giving_up_changes_nothing(series, tmp_path):
    path = tarball(tmp_path / "xen_4.20.10.orig.tar.xz", newer(NOTES.replace("line 20\n", "line XX\n")))
    base = (series.series / "BASE").read_text()
    series.refused("rebase", "xen", path)
    series.git("rebase", "--abort")
    assert "was given up" in series.refused("rebase", "xen")
    assert "no rebase is under way" in series.refused("rebase", "xen")
    assert (series.series / "BASE").read_text() == base
    series.pq("export", "xen")
    series.pq("verify", "xen")


def test_onto_a_git_tree_leaves_the_series_alone(series, tmp_path):
    upstream = tmp_path / "upstream"
    series.run("git", "clone", "-q", series.tree, upstream)
    series.run("git", "-C", upstream, "checkout", "-q", "-b", "staging", "HEAD~3")
    (upstream / "README").write_text("staging\n")
    series.run("git", "-C", upstream, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "newer")
    before = [patch.read_bytes() for patch in series.patches()]
    assert "branch rebased" in series.pq("rebase", "xen", f"{upstream}:staging")
    assert series.git("show", "rebased:README") == "staging"
    assert series.git("log", "-1", "--format=%s", "rebased") == "notes: mode and link"
    series.pq("export", "xen")
    assert [patch.read_bytes() for patch in series.patches()] == before


def test_unexported_work_is_not_rebased_away(series, tmp_path):
    path = tarball(tmp_path / "xen_4.20.10.orig.tar.xz", newer(NOTES))
    series.commit("xen: not exported\n\nYet.", {"new": "work\n"})
    assert "has commits that are not in the series" in series.refused("rebase", "xen", path)


def test_onto_nothing(series):
    assert "neither a tarball nor a git tree" in series.refused("rebase", "xen", "/nowhere")
    assert "no rebase is under way" in series.refused("rebase", "xen")

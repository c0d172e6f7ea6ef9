# SPDX-License-Identifier: GPL-2.0-only
"""Moves a series to other sources.  The tree of the series is where it happens, so that a conflict can be solved by hand."""
import re
from pathlib import Path

from .base import from_git, from_tarball, get_base, sha256_of
from .common import DIRECTORY, Error, git, say, series_dir
from .tree import BRANCH, export_tree, import_tree, midway, ref, require_tree

STOPPED = """{tree}: the rebase stopped at a conflict.  There:
    edit the files, git add them, git rebase --continue     (git rebase --abort gives up)
then here:
    make rebase NAME={name}"""


def rebase(name, onto):
    """Starts a rebase onto a tarball or a git tree, or finishes one that stopped."""
    if not onto:
        finish(name)
        return
    import_tree(name)
    tree = require_tree(name)
    old_base = get_base(name)
    new = new_base(name, onto)
    git(tree, "fetch", "-q", "--force", new.repo, f"{new.commit}:refs/pq/newbase")
    git(tree, "update-ref", "refs/pq/oldbase", old_base.commit)
    git(tree, "update-ref", "refs/pq/oldtip", "HEAD")
    git(tree, "config", "pq.onto", str(new.tarball or ""))
    done = git(tree, "rebase", "-q", "--no-autosquash", "--committer-date-is-author-date", "--onto", "refs/pq/newbase", "refs/pq/oldbase",
               BRANCH, check=False)
    if done.returncode:
        if not midway(tree):
            raise Error(f"{tree}: {done.stderr.strip().splitlines()[-1]}")
        raise Error(STOPPED.format(tree=tree, name=name))
    finish(name)


def new_base(name, onto):
    """A tarball, or DIR[:REF] of a git tree."""
    directory, _, revision = onto.partition(":")
    if Path(onto).is_file():
        return from_tarball(name, Path(onto).resolve())
    if Path(directory).is_dir():
        return from_git(name, directory, revision or "HEAD")
    raise Error(f"ONTO={onto} is neither a tarball nor a git tree")


def finish(name):
    """Shows what changed; a new tarball becomes BASE and the patch files are written."""
    tree = require_tree(name)
    new, old = ref(tree, "refs/pq/newbase"), ref(tree, "refs/pq/oldbase")
    if not new:
        raise Error(f"{name}: no rebase is under way: make rebase NAME={name} ONTO=tarball or ONTO=git-tree:ref")
    if midway(tree):
        raise Error(STOPPED.format(tree=tree, name=name))
    if git(tree, "merge-base", "--is-ancestor", new, "HEAD", check=False).returncode:
        for gone in ("newbase", "oldbase", "oldtip"):
            git(tree, "update-ref", "-d", f"refs/pq/{gone}")
        raise Error(f"{tree}: the rebase was given up, the series is where it was")
    say(git(tree, "range-diff", "--no-color", f"{old}..refs/pq/oldtip", f"{new}..HEAD") or "no patches")
    tarball = git(tree, "config", "pq.onto", check=False).stdout.strip()
    if tarball:
        write_base(name, Path(tarball))
        git(tree, "update-ref", "refs/pq/base", new)
        export_tree(name)
        say(f"{DIRECTORY[name]}/BASE names the new sources; check version= and suite= there, then make verify bisect")
    else:
        # BASE names a tarball, so these patches have no home: they stay in the tree, beside the series
        git(tree, "branch", "-f", "rebased", "HEAD")
        git(tree, "checkout", "-q", "-B", BRANCH, "refs/pq/oldtip")
        say(f"the result is branch rebased in {tree}; {DIRECTORY[name]}/ is unchanged")
    for gone in ("newbase", "oldbase", "oldtip"):
        git(tree, "update-ref", "-d", f"refs/pq/{gone}")


def write_base(name, tarball):
    """BASE for another tarball; the Debian version is a guess from the file name, as the tarball does not tell it."""
    path = series_dir(name) / "BASE"
    upstream = re.match(r".*_(.+)\.orig\.tar\.", tarball.name)
    known = {"file": tarball.name, "sha256": sha256_of(tarball)}
    if upstream:
        known["version"] = f"{upstream.group(1)}-1"
    lines = [f"{field}={known.get(field, value)}" if mark else field
             for field, mark, value in (line.partition("=") for line in path.read_text(encoding="utf-8").splitlines())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

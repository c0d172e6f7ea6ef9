# SPDX-License-Identifier: GPL-2.0-only
"""build/trees/NAME: the series as commits, for people to edit.

refs/pq/base is the pristine source, refs/pq/synced the commit that equals the patch files (as of the
last import or export), pq.series in its configuration the hash of those files.  Whatever lies beyond is
somebody's work and is never dropped: FORCE=1 sets it aside (git stash, branch pq-saved-…), and says so.
"""
import os
import shutil
from pathlib import Path

from .base import get_base
from .common import (IDENTITY, ROOT, Error, git, patch_files, say, scratch, series_digest, series_dir,
                     tree_dir, warn)
from .series import export_commits, series_commit

BRANCH = "series"


def forced():
    return os.environ.get("FORCE") == "1"


def ref(tree, name):
    done = git(tree, "rev-parse", "-q", "--verify", name, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def require_tree(name):
    tree = tree_dir(name)
    if not (tree / ".git").is_dir() or not ref(tree, "refs/pq/synced"):
        raise Error(f"{tree} is no tree of the patch queue: make trees")
    return tree


def midway(tree):
    """A stopped rebase or am is neither one state nor the other."""
    return any((tree / ".git" / name).exists()
               for name in ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"))


def refuse_midway(tree):
    if midway(tree):
        raise Error(f"{tree}: a rebase, am, merge, cherry-pick, revert or bisect is under way; finish or abort it first")


def changes(tree):
    return git(tree, "status", "--porcelain")


def import_tree(name, gently=False, only=None):
    """Makes or refreshes build/trees/NAME from the patch files; gently leaves a tree with work in it as it is.  A tree that is
    made for its first time has the directories that the file `only` lists, and becomes whole without it."""
    tree, directory = tree_dir(name), series_dir(name)
    if gently and (tree / ".git").is_dir() and has_work(tree):
        warn(f"{tree} holds work that is not in {directory.name}/: left alone; builds use the patch files (make export)")
        return
    base = get_base(name)
    if not base.pinned:
        warn(f"{name}: the base is {base.origin}, not what {directory.name}/BASE names")
    tip = series_commit(base, directory)
    if (tree / ".git").is_dir():
        refuse_midway(tree)
        keep_work(tree)
    else:
        create(base, tip, tree, only)
    if not only and git(tree, "config", "core.sparseCheckout", check=False).stdout.strip() == "true":
        git(tree, "sparse-checkout", "disable")
    check_out(base, tip, tree)
    git(tree, "config", "pq.series", series_digest(directory))
    say(f"{tree.relative_to(ROOT)}: {len(patch_files(directory))} patches on {base.origin}")


def check_out(base, tip, tree):
    git(tree, "fetch", "-q", base.repo, f"{base.commit}:refs/pq/base", f"{tip}:refs/pq/synced", "--force")
    git(tree, "checkout", "-q", "-B", BRANCH, "refs/pq/synced")


def create(base, tip, tree, only):
    """A clone of the cached base that does not depend on the cache (hard links, no alternates)."""
    if os.path.lexists(tree) and not (tree.is_dir() and not any(tree.iterdir())):
        raise Error(f"{tree} is no git tree that the patch queue made: move it away")
    tree.parent.mkdir(parents=True, exist_ok=True)
    # beside the tree, and renamed when all is checked out: a half one would look like somebody's work
    made = tree.with_name(f".{tree.name}.new")
    shutil.rmtree(made, ignore_errors=True)
    git(tree.parent, "clone", "-q", "--local", "--no-checkout", base.repo, made)
    git(made, "remote", "remove", "origin")
    if only:
        git(made, "sparse-checkout", "set", "--cone", *Path(only).read_text(encoding="utf-8").splitlines())
    # commits made in the tree are the project's
    for key, value in zip(("user.name", "user.email"), IDENTITY):
        git(made, "config", key, value)
    check_out(base, tip, made)
    made.rename(tree)


def ahead_of_series(tree):
    """Tips that are not the series: where HEAD is, and the branch that an import moves."""
    tips = (ref(tree, "HEAD"), ref(tree, f"refs/heads/{BRANCH}"))
    return [tip for tip in dict.fromkeys(tips) if tip not in (ref(tree, "refs/pq/synced"), None)]


def has_work(tree):
    return midway(tree) or changes(tree) or ahead_of_series(tree)


def keep_work(tree):
    """Refuses to go on when the tree holds work that is not in the patch files."""
    dirty, ahead = changes(tree), ahead_of_series(tree)
    if not dirty and not ahead:
        return
    if not forced():
        what = "changes that are not committed" if dirty else "commits that are not in the series"
        raise Error(f"{tree} has {what}: make export keeps them, FORCE=1 sets them aside")
    if dirty:
        git(tree, "stash", "push", "-q", "--include-untracked", "-m", "set aside by pq import")
        say(f"{tree}: changes set aside, git stash list shows them")
    for head in ahead:
        git(tree, "branch", "-f", f"pq-saved-{head[:12]}", head)
        say(f"{tree}: commits set aside as branch pq-saved-{head[:12]}")


def export_tree(name):
    """Writes the commits of build/trees/NAME back as patch files; README.md and BASE stay."""
    tree, directory = require_tree(name), series_dir(name)
    refuse_midway(tree)
    if changes(tree):
        raise Error(f"{tree} has changes that are not committed: commit or discard them")
    if git(tree, "merge-base", "--is-ancestor", "refs/pq/base", "HEAD", check=False).returncode:
        raise Error(f"{tree}: HEAD does not stand on refs/pq/base, the base of the series")
    if ref(tree, "HEAD") != ref(tree, f"refs/heads/{BRANCH}"):
        raise Error(f"{tree}: HEAD is not the tip of branch {BRANCH}, which is exported: git checkout {BRANCH}, "
                    f"or make HEAD the series by git checkout -B {BRANCH}")
    if git(tree, "config", "pq.series", check=False).stdout.strip() != series_digest(directory) and not forced():
        raise Error(f"{directory.name}/ changed since {tree} was made from it: FORCE=1 make trees takes the files "
                    "(and sets your commits aside), FORCE=1 make export takes the commits")
    with scratch("export") as work:
        export_commits(tree, "refs/pq/base", "HEAD", work)
        new = patch_files(work)
        install(new, directory)
    git(tree, "update-ref", "refs/pq/synced", "HEAD")
    git(tree, "config", "pq.series", series_digest(directory))
    say(f"{directory.name}: {len(new)} patches")


def install(new, directory):
    """Everything is written before anything is replaced: a full disk leaves the series as it was."""
    written = {}
    try:
        for patch in new:
            target = directory / patch.name
            # an unchanged patch keeps its time stamp
            if not target.exists() or target.read_bytes() != patch.read_bytes():
                written[target] = directory / f".{patch.name}.new"
                shutil.copyfile(patch, written[target])
    except OSError:
        for path in written.values():
            path.unlink(missing_ok=True)
        raise
    for target, path in written.items():
        path.replace(target)
    for gone in {old.name for old in patch_files(directory)} - {patch.name for patch in new}:
        (directory / gone).unlink()

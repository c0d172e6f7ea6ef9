# SPDX-License-Identifier: GPL-2.0-only
"""Patches to commits and commits to patches, the same bytes each time.  Writes only where it is told to."""
from .common import (Error, digest, git, patch_files, scratch, series_digest)

FORMAT = ("--zero-commit", "--no-signature", "--no-numbered", "--no-renames", "--full-index",
          "--diff-algorithm=myers", "--stat=72", "--no-cover-letter", "--no-attach", "--no-thread",
          "--subject-prefix=PATCH", "--src-prefix=a/", "--dst-prefix=b/", "--no-relative", "-q")
# git am has no fuzz: context must match to the byte (a mere shift of lines is found by the round trip)
APPLY = ("-q", "--committer-date-is-author-date", "--no-3way", "--keep-cr", "--no-scissors",
         "--whitespace=nowarn", "--no-gpg-sign")


def apply_series(work, directory):
    """Commits the series on top of what is checked out in work."""
    for patch in patch_files(directory):
        done = git(work, "am", *APPLY, patch.resolve(), check=False)
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.startswith(("error:", "fatal:"))]
            raise Error(f"{patch.name} does not apply: {'; '.join(said[:3]) or done.stderr.strip()[:200]}")


def export_commits(repo, base, tip, out):
    """base..tip as numbered patch files in out."""
    if git(repo, "rev-list", "--merges", f"{base}..{tip}"):
        raise Error(f"{repo}: the series has a merge, rebase it into a line of commits")
    git(repo, "format-patch", *FORMAT, "-o", out, f"{base}..{tip}")


def series_commit(base, directory):
    """The commit in base.repo that is the base with this series applied; made once per content."""
    start = base.commit
    if not patch_files(directory):
        return start
    key = digest([start.encode(), series_digest(directory).encode(), repr(APPLY).encode()])
    ref = f"refs/series/{key[:32]}"
    known = git(base.repo, "rev-parse", "-q", "--verify", ref, check=False)
    if known.returncode == 0:
        return known.stdout.strip()
    with scratch("apply") as work:
        git(work, "clone", "-q", "--shared", "--no-checkout", base.repo, work / "tree")
        git(work / "tree", "checkout", "-q", "--detach", start)
        apply_series(work / "tree", directory)
        git(base.repo, "fetch", "-q", work / "tree", f"HEAD:{ref}")
    return git(base.repo, "rev-parse", ref)

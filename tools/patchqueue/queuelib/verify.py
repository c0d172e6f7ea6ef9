# SPDX-License-Identifier: GPL-2.0-only
"""Is a series what it should be?  It applies without fuzz, comes back byte for byte, and looks right."""
import re

from .base import get_base
from .common import DIRECTORY, Error, git, patch_files, say, scratch, series_dir, warn
from .series import apply_series, export_commits
from .style import check_cover, check_head, check_lines


def verify(name):
    """Raises Error at the first kind of failure, with all its complaints in it."""
    directory = series_dir(name)
    patches = patch_files(directory)
    numbers = [patch.name[:5] for patch in patches]
    if numbers != [f"{n:04}-" for n in range(1, len(patches) + 1)]:
        raise Error(f"{DIRECTORY[name]}: the patch files are not numbered from 0001 on without a gap")
    complain(name, style(name, directory))
    if not patches:
        say(f"{DIRECTORY[name]}: no patches")
        return
    base = get_base(name)
    if not base.pinned:
        warn(f"{name}: the base is {base.origin}, not what {DIRECTORY[name]}/BASE names; line numbers are not compared")
    complain(name, round_trip(base, directory))
    say(f"{DIRECTORY[name]}: {len(patches)} patches apply to {base.origin} without fuzz, come back byte for byte, look right")


def complain(name, complaints):
    if complaints:
        raise Error(f"{DIRECTORY[name]}: {len(complaints)} complaint(s)\n  " + "\n  ".join(complaints[:40]))


def style(name, directory):
    complaints = []
    for patch in patch_files(directory):
        text = patch.read_bytes().decode("utf-8", "surrogateescape")
        complaints += check_head(name, patch.name, text) + check_lines(name, patch.name, text)
    readme = directory / "README.md"
    cover = readme.read_text(encoding="utf-8") if readme.exists() else None
    return complaints + check_cover(cover, [patch.name for patch in patch_files(directory)])


def round_trip(base, directory):
    """Applies in a scratch tree and compares what export makes of it with the files."""
    patches = patch_files(directory)
    with scratch("verify") as work:
        git(work, "clone", "-q", "--shared", "--no-checkout", base.repo, work / "tree")
        git(work / "tree", "sparse-checkout", "set", "--no-cone", *touched(patches))
        git(work / "tree", "checkout", "-q", "--detach", base.commit)
        apply_series(work / "tree", directory)
        (work / "out").mkdir()
        export_commits(work / "tree", base.commit, "HEAD", work / "out")
        back = {patch.name: patch.read_bytes() for patch in patch_files(work / "out")}
    complaints = [f"{patch.name}: comes back under another name" for patch in patches if patch.name not in back]
    for patch in patches:
        if patch.name in back:
            first = first_difference(patch.read_bytes(), back[patch.name], base.pinned)
            if first:
                complaints.append(f"{patch.name}: does not come back byte for byte, first at line {first}")
    return complaints


def touched(patches):
    """Patterns of what a series touches and of what says how git shows it: to write all of Linux takes longer than all else."""
    files = {name.decode() for patch in patches for name in re.findall(rb"^diff --git a/(\S+) b/\1$", patch.read_bytes(), re.M)}
    return [".gitattributes", *(f"/{name}" for name in sorted(files))]


def first_difference(here, there, exact):
    """The number of the first line that differs, or None; without exact, line numbers and hashes may differ."""
    if here == there:
        return None
    one, two = here.split(b"\n"), there.split(b"\n")
    if not exact:
        one, two = [[re.sub(rb"^(@@ ).*?( @@.*)|^index .*", rb"\1\2", line) for line in lines] for lines in (one, two)]
        if one == two:
            return None
    for number, (a, b) in enumerate(zip(one, two), 1):
        if a != b:
            return number
    return min(len(one), len(two)) + 1

# SPDX-License-Identifier: GPL-2.0-only
"""The files of the repository, also where it is the tarball of a release."""
import subprocess

from tiny_tree import REPO

MADE = {"__pycache__", ".pytest_cache"}     # beside /build


def tracked(root=REPO):
    """Their names, those that are new included."""
    if (root / ".git").exists():
        command = ["git", "-c", "safe.directory=*", "-C", root,
                   "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        names = filter(None, said.split("\0"))
    else:
        paths = [path.relative_to(root) for path in root.rglob("*")]
        names = (str(path) for path in paths
                 if path.parts[0] != "build" and not MADE & set(path.parts))
    return sorted(name for name in names
                  if (root / name).is_file() and not (root / name).is_symlink())

# SPDX-License-Identifier: GPL-2.0-only
"""The files of the repository."""
import subprocess

from tiny_tree import REPO


def tracked():
    """Their names, those that are new included."""
    named = subprocess.run(["git", "-c", "safe.directory=*", "-C", REPO, "ls-files", "-z", "--cached", "--others",
                            "--exclude-standard"], check=True, capture_output=True, text=True).stdout
    return [name for name in named.split("\0") if (REPO / name).is_file() and not (REPO / name).is_symlink()]

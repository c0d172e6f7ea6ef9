# SPDX-License-Identifier: GPL-2.0-only
"""A tiny source tree that stands for Xen, and a patch queue on it; nothing of the user's is read or written."""
import hashlib
import io
import os
import subprocess
import tarfile
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PQ = REPO / "tools" / "patchqueue" / "pq"
BUILD = REPO / "tools" / "build"

NOTES = "".join(f"line {n}\n" for n in range(1, 41))
SOURCE = {
    "README": ("0644", "a tiny Xen\n"),
    "notes": ("0644", NOTES),
    "xen/main.c": ("0644", "int main(void)\n{\n    return 0;\n}\n"),
    "run": ("0755", "#!/bin/sh\n"),
    "link": ("link", "README"),
    ".gitignore": ("0644", "*.o\n"),
    "kept.o": ("0644", "ignored by git, in the tarball all the same\n"),
}


def tarball(path, files, top="xen-4.20.9"):
    """A source tarball like Debian's, the same bytes each time."""
    with tarfile.open(path, "w:xz", preset=0) as tar:
        for name, (mode, text) in files.items():
            member = tarfile.TarInfo(f"{top}/{name}")
            member.mtime = 1700000000
            if mode == "link":
                member.type, member.linkname = tarfile.SYMTYPE, text
                tar.addfile(member)
            else:
                data = text.encode()
                member.size, member.mode = len(data), int(mode, 8)
                tar.addfile(member, io.BytesIO(data))
    return path


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class Queue:
    """A project directory with only a series in it, and the real tools run on that."""

    def __init__(self, place):
        self.place = place
        self.root = place / "project"
        self.cache = place / "cache"
        self.series = self.root / "xen-patches"
        self.tree = self.root / "build" / "trees" / "xen"
        self.home = place / "home"
        for directory in (self.series, self.root / "linux-guest-patches", self.home, self.cache / "xen-numa-policy/src"):
            directory.mkdir(parents=True, exist_ok=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") and k not in ("FORCE", "XEN_SRC", "LINUX_SRC")}
        self.env.update(PQ_ROOT=str(self.root), XDG_CACHE_HOME=str(self.cache), HOME=str(self.home))

    def set_base(self, files, file="xen_4.20.9.orig.tar.xz"):
        path = tarball(self.cache / "xen-numa-policy" / "src" / file, files)
        (self.series / "BASE").write_text(
            f"source=xen\nsuite=trixie\nversion=4.20.9-1\nfile={file}\nsha256={sha256(path)}\nnewest=4.20.\n")
        return path

    def run(self, *command, **env):
        return subprocess.run([str(word) for word in command], env=dict(self.env, **env), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=400, check=False)

    def pq(self, *args, **env):
        """Must succeed; what it said."""
        done = self.run(PQ, *args, **env)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    def refused(self, *args, **env):
        """Must fail, and say why without a traceback."""
        done = self.run(PQ, *args, **env)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    def git(self, *args):
        done = self.run("git", "-C", self.tree, *args)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, message, files):
        """Writes files (name: text) in the tree and commits them."""
        for name, text in files.items():
            path = self.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A", "-f", ".")
        self.git("commit", "-q", "-m", message)

    def patches(self):
        return sorted(self.series.glob("*.patch"))

    def cover(self, names=None):
        names = [patch.name for patch in self.patches()] if names is None else names
        (self.series / "README.md").write_text("# Series\n\n" + "".join(f"- `{name}`: what\n" for name in names))

    def edit(self, number, old, new):
        """Changes the text of a patch file."""
        path = self.patches()[number - 1]
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

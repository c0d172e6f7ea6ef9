# SPDX-License-Identifier: GPL-2.0-only
"""What a series applies to: the BASE file, the tarball it names, and that tarball as a git commit.

The commit is a function of the sources alone, so that two people get the same hashes.
"""
import os
import subprocess
import tarfile
from pathlib import Path

from .common import (BUILD_SCRIPTS, CACHE, IDENTITY, ROOT, Error, git, git_environment, lock, scratch, series_dir)

SOURCE_VARIABLE = {"xen": "XEN_SRC", "linux": "LINUX_SRC"}


def read_base(name):
    """The BASE file as a dictionary."""
    path = series_dir(name) / "BASE"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Error(f"{path}: {error.strerror}") from error
    fields = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    for need in ("source", "version", "file", "sha256"):
        if not fields.get(need):
            raise Error(f"{path}: no {need}=")
    return fields


class Base:
    """A bare repository in the cache whose refs/heads/base is the pristine source."""

    def __init__(self, repo, pinned, origin, tarball=None):
        self.repo = repo            # Path
        self.pinned = pinned        # False when the archive no longer has what BASE names
        self.origin = origin        # for people
        self.tarball = tarball      # Path, or None for a git source

    @property
    def commit(self):
        return git(self.repo, "rev-parse", "refs/heads/base")


def get_base(name):
    """The base of a series, fetched and turned into a repository when it is not there yet."""
    source = os.environ.get(SOURCE_VARIABLE[name])
    if source:
        return from_git(name, source)
    fields = read_base(name)
    fetched = subprocess.run([BUILD_SCRIPTS / "fetch.sh", name], stdout=subprocess.PIPE, text=True, check=False,
                             env=dict(os.environ, PQ_ROOT=str(ROOT)))
    if fetched.returncode:
        raise Error(f"no sources for {name}, see above")
    return from_tarball(name, Path(fetched.stdout.strip().splitlines()[-1]), fields["sha256"])


def cached_repo(key, fill):
    """The bare repository of this key; fill(repo) makes its refs/heads/base once."""
    repo = CACHE / "git" / f"{key}.git"
    with lock(key):
        if not repo.is_dir():
            repo.parent.mkdir(parents=True, exist_ok=True)
            with scratch(key) as work:
                git(work, "init", "-q", "--bare", work / "repo")
                fill(work / "repo")
                (work / "repo").rename(repo)
        os.utime(repo)
    return repo


def from_git(name, source, revision="HEAD"):
    """The tree of a revision of a local git repository, without its history."""
    found = git(source, "rev-parse", "-q", "--verify", f"{revision}^{{commit}}", check=False)
    if "dubious ownership" in found.stderr:
        raise Error(f"{source} is another user's, and its configuration can name commands: give a copy that you own")
    if found.returncode:
        raise Error(f"{source} is no git tree that has {revision}")
    wanted = found.stdout.strip()
    tree = git(source, "rev-parse", f"{wanted}^{{tree}}")

    def fill(repo):
        git(repo, "fetch", "-q", "--depth=1", Path(source).resolve(), wanted)
        dated = {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000"}
        commit = git(repo, "commit-tree", tree, "-m", f"{name}: git tree {tree}", env=dated)
        git(repo, "update-ref", "refs/heads/base", commit)

    return Base(cached_repo(f"{name}-{tree[:16]}", fill), False, f"git tree {source}")


def from_tarball(name, path, wanted=None):
    """A pristine tarball as one commit; pinned when it is the wanted one."""
    found = sha256_of(path)
    repo = cached_repo(f"{name}-{found[:16]}", lambda repo: import_tarball(repo, path))
    return Base(repo, found == wanted, path.name, path)


def sha256_of(path):
    try:
        return subprocess.run(["sha256sum", "--", path], check=True, capture_output=True, text=True).stdout.split()[0]
    except subprocess.CalledProcessError as error:
        raise Error(f"{path}: cannot read it") from error


def import_tarball(repo, path):
    """Straight into a pack: a kernel has 87000 files, and nobody needs them on disk twice."""
    command = ["git", "-c", "core.compression=1", "-C", str(repo), "fast-import", "--quiet", "--date-format=raw"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=git_environment()) as importer:
        try:
            with tarfile.open(path, "r|*") as tar:
                feed(tar, importer.stdin, f"base {path.name}\n")
        except (tarfile.TarError, EOFError, OSError) as error:
            importer.kill()
            raise Error(f"{path}: {error}") from error
        importer.stdin.close()
        if importer.wait():
            raise Error(f"{path}: git fast-import failed")


def feed(tar, out, message):
    started = False
    for member in tar:
        if not started:
            who = f"{IDENTITY[0]} <{IDENTITY[1]}> {int(member.mtime)} +0000\n"
            text = message.encode()
            out.write(f"commit refs/heads/base\ncommitter {who}data {len(text)}\n".encode() + text)
            started = True
        # the tarball's one top directory goes
        name = member.name.partition("/")[2].encode(errors="surrogateescape")
        if member.issym():
            mode, data = b"120000", member.linkname.encode(errors="surrogateescape")
        elif member.isfile() or member.islnk():
            mode = b"100755" if member.mode & 0o100 else b"100644"
            data = tar.extractfile(member).read()
        else:
            continue
        if name.startswith(b'"') or b"\n" in name:
            raise Error(f"a file name that cannot be: {name!r}")
        out.write(b"M %s inline %s\ndata %d\n" % (mode, name, len(data)))
        out.write(data)
        out.write(b"\n")
    if not started:
        raise Error("an empty tarball")

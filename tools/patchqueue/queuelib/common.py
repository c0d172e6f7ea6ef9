# SPDX-License-Identifier: GPL-2.0-only
"""Where things are, how git is called, how an error is told.  Knows nothing of patches."""
import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# PQ_ROOT is for the tests of the queue itself, which run on a tiny tree
ROOT = Path(os.environ.get("PQ_ROOT") or Path(__file__).resolve().parents[3])
BUILD_SCRIPTS = Path(__file__).resolve().parents[2] / "build"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xen-numa-policy"
DIRECTORY = {"xen": "xen-patches", "linux": "linux-guest-patches"}
IDENTITY = ("xen-numa-policy", "xen-numa-policy@localhost")


class Error(Exception):
    """Told to the user as one line."""


def say(text):
    print(text, flush=True)


def warn(text):
    print(f"warning: {text}", file=sys.stderr, flush=True)


def series_dir(name):
    return ROOT / DIRECTORY[name]


def tree_dir(name):
    return ROOT / "build" / "trees" / name


def patch_files(directory):
    return sorted(Path(directory).glob("*.patch"))


def digest(parts):
    """One hash over a list of byte strings, each kept apart from the next."""
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()


def series_digest(directory):
    return digest(p.name.encode() + b"\0" + p.read_bytes() for p in patch_files(directory))


def git_environment():
    """The same commit must come out for everybody: no configuration but the repository's own."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env.update(LC_ALL="C", TZ="UTC", GIT_TERMINAL_PROMPT="0", GIT_EDITOR="true")
    env.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", GIT_ATTR_NOSYSTEM="1",
               GIT_COMMITTER_NAME=IDENTITY[0], GIT_COMMITTER_EMAIL=IDENTITY[1],
               GIT_AUTHOR_NAME=IDENTITY[0], GIT_AUTHOR_EMAIL=IDENTITY[1])
    return env


def safe_directories(*paths):
    """Options for git.  What we made is trusted whoever owns it, as root builds a user's clone, too.
    Nothing else is: the configuration of a repository can name commands."""
    made = [place.resolve() for place in (CACHE, ROOT / "build" / "trees")]
    paths = [Path(path).resolve() for path in paths]
    ours = [path for path in paths if any(path.is_relative_to(place) for place in made)]
    return [word for path in ours for word in ("-c", f"safe.directory={path}")]


def git(repo, *args, check=True, text=True, env=None, **kwargs):
    """Runs git in repo and returns its standard output, or the whole result with check=False."""
    safe = safe_directories(repo, *(arg for arg in args if isinstance(arg, Path)))
    command = ["git", *safe, "-c", "core.autocrlf=false", "-c", "core.attributesFile=/dev/null", "-c", "gc.auto=0",
               "-c", "commit.gpgsign=false", "-c", "advice.detachedHead=false", "-C", str(repo), *map(str, args)]
    # where there is no repository, or a broken one, git would look for one above: that is the user's clone
    above = {"GIT_CEILING_DIRECTORIES": str(Path(repo).resolve().parent)}
    done = subprocess.run(command, env=dict(git_environment(), **above, **(env or {})), text=text,
                          errors="surrogateescape" if text else None,
                          stdin=kwargs.pop("stdin", subprocess.DEVNULL),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **kwargs)
    if not check:
        return done
    if done.returncode:
        said = done.stderr if text else done.stderr.decode(errors="replace")
        raise Error(f"git {args[0]} in {repo}: {' | '.join(said.strip().splitlines()[-3:]) or 'failed'}")
    return done.stdout.strip() if text else done.stdout


@contextlib.contextmanager
def lock(name):
    """One at a time, also between clones that share the cache."""
    (CACHE / "locks").mkdir(parents=True, exist_ok=True)
    with open(CACHE / "locks" / name, "w", encoding="ascii") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another run that works on {name} …", file=sys.stderr, flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def scratch(name):
    """A directory beside the cache's own, so that a finished one can be renamed into place."""
    (CACHE / "tmp").mkdir(parents=True, exist_ok=True)
    # the process id tells a later clean-up whether the owner still lives
    path = tempfile.mkdtemp(prefix=f"{name}.{os.getpid()}.", dir=CACHE / "tmp")
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)

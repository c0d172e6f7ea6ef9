# SPDX-License-Identifier: GPL-2.0-only
"""C code of ours in user space: its test programs are built, run and counted, and are to be red with a mistake planted in it."""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).absolute().parents[1]
CMOCKA = r"PASSED\s+\] [1-9]\d* test"


def tree(name):
    """The patched source of Xen or Linux, made if it is not there."""
    path = ROOT / "build" / "trees" / name
    if not path.exists():
        subprocess.run([ROOT / "tools/patchqueue/pq", "import", name], check=True)
    return path


@contextlib.contextmanager
def steady(*words):
    """An empty directory whose path is the same in each run: ccache knows what was compiled in it.  If another run has it, any other."""
    path = ROOT / "build/steady" / hashlib.sha1("/".join(words).encode()).hexdigest()[:16]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            path = Path(tempfile.mkdtemp())
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        try:
            yield path
        finally:
            shutil.rmtree(path)


def make(directory, out, *programs, flags=()):
    """Programs by the Makefile of a directory, in another one, which another worker may want at the same time: what went wrong, or ''."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["make", "-s", "-C", directory, f"OUT={out}", *flags, *(f"{out}/{program}" for program in programs)],
                              capture_output=True, text=True)
    if not done.returncode:
        return ""
    return done.stderr.strip() or f"make ended with {done.returncode}"


def build(*what, **flags):
    wrong = make(*what, **flags)
    assert not wrong, wrong


def run(program, *words, cwd=None, **env):
    return subprocess.run([program, *words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          timeout=300, env={**os.environ, **env})


def check_passed(done, count=CMOCKA):
    """By the program's own count, too, so that one that runs nothing does not pass."""
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert re.search(count, done.stdout + done.stderr, re.M), f"no {count!r} in:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"


def plant(source, old, new, to=None):
    """A mistake in a source file, or in the copy of it that is made at `to`."""
    text = source.read_text()
    assert old in text, f"{source.name} has changed: {old!r} is gone"
    (to or source).write_text(text.replace(old, new, 1))


def planted(directory, file, old, new, to):
    """A directory like this one, of links, but for the one file that has a mistake in it; `to`."""
    to.mkdir()
    first, _, rest = str(file).partition("/")
    for path in directory.iterdir():
        if path.name == first:
            continue
        if path.is_dir() and not rest:      # of links, too: what includes ../FILE there has to come here
            shutil.copytree(path, to / path.name, copy_function=os.symlink, ignore_dangling_symlinks=True)
        else:
            (to / path.name).symlink_to(path.absolute())
    if rest:
        planted(directory / first, rest, old, new, to / first)
    else:
        plant(directory / first, old, new, to / first)
    return to


def rebuild(directory, built, out, *programs, flags=()):
    """Programs once more, in `out`: the objects in `built` are taken, but for those that are older than a file with a mistake in it."""
    for path in built.rglob("*.[oh]"):
        link = out / path.relative_to(built)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    # of the sanitizers, the one that costs no time to compile
    build(directory, out, *programs, flags=[*flags, "EXTRA_CFLAGS=-w -g0 -O0 -fno-sanitize=undefined"])
    return out

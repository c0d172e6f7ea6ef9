# SPDX-License-Identifier: GPL-2.0-only
"""How carrefour-user and its tests in C are built, and how programs of it are run."""

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).absolute().parent
ROOT = HERE.parents[2]
SOURCE = ROOT / "carrefour-user"
XEN_TOOLS = Path(os.environ.get("XEN_TOOLS") or ROOT / "build/xen-tools").absolute()


def make(directory, *args):
    # Not as a part of the make that may have started us.
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("MAKE") and name not in ("MFLAGS", "CFLAGS", "LDFLAGS", "BUILD", "OUT")}
    return subprocess.run(["make", "-s", "-C", directory, f"XEN_TOOLS={XEN_TOOLS}", *args], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)


def make_with_xen(directory, *args):
    assert XEN_TOOLS.is_dir(), f"no {XEN_TOOLS}: run 'make setup' first, or set XEN_TOOLS"
    return make(directory, *args)


def xen_headers():
    return next(XEN_TOOLS.resolve().rglob("xenstore.h")).parent


def without_xen():
    """The sources that need nothing of Xen, and are no command: the Makefile's list."""
    done = make(SOURCE, "sources")
    assert done.returncode == 0, done.stderr
    return [Path(name) for name in done.stdout.split()]


def run(*command, **options):
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace", "timeout": 600, **options}
    return subprocess.run([str(word) for word in command], **options)


def run_daemon(program, *args, **options):
    """carrefourd, which needs the libraries that it was linked against."""
    libraries = str(next(XEN_TOOLS.resolve().rglob("libxenctrl.so")).parent)
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": libraries} | options.pop("env", {})
    return run(program, *args, env=env, **options)

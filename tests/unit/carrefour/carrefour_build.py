"""How carrefour-user and its tests in C are built, and how programs of it are run."""

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).absolute().parent
ROOT = HERE.parents[2]
SOURCE = ROOT / "carrefour-user"


def make(directory, *args):
    # Not as a part of the make that may have started us.
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("MAKE") and name not in ("MFLAGS", "CFLAGS", "LDFLAGS", "BUILD", "OUT")}
    return subprocess.run(["make", "-s", "-C", directory, *args], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)


def run(*command, **options):
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace", "timeout": 600, **options}
    return subprocess.run([str(word) for word in command], **options)

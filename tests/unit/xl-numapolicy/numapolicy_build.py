# SPDX-License-Identifier: GPL-2.0-only
"""How the program is built for tests, and what it needs to run."""

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).absolute().parent
ROOT = HERE.parents[2]
SOURCE = ROOT / "tools/xl-numapolicy"
XEN_TOOLS = Path(os.environ.get("XEN_TOOLS") or ROOT / "build/xen-tools").absolute()
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all"


def make(*args):
    return make_in(SOURCE, *args)


def make_in(directory, *args):
    assert XEN_TOOLS.is_dir(), f"no {XEN_TOOLS}: run 'make setup' first, or set XEN_TOOLS"
    # Not as a part of the make that may have started us.
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("MAKE") and name not in ("MFLAGS", "CFLAGS", "LDFLAGS", "BUILD")}
    return subprocess.run(["make", "-s", "-C", directory, f"XEN_TOOLS={XEN_TOOLS}", *args], env=env,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)


def build_double(build, *args):
    """make for the program with fake-*.c in front of libxl, and sanitizers."""
    doubles = " ".join(f"{HERE}/fake-{name}.c" for name in ("libxl", "rebalance", "carrefour", "sampling", "leave"))
    done = make(f"BUILD={build}", f"DOUBLE={doubles}",
                f"CFLAGS=-O1 -g {SANITIZE}",
                f"LDFLAGS={SANITIZE} -Wl,--wrap=access,--wrap=fclose,"
                "--wrap=clock_gettime,--wrap=sleep,--wrap=sigtimedwait,--wrap=connect", *args)
    assert done.returncode == 0, done.stderr


def build_program(build):
    build_double(build, f"{build}/xl-numa-policy")
    return build / "xl-numa-policy"


def library_path():
    """Where the program finds the Xen libraries that it was linked against."""
    return str(next(XEN_TOOLS.rglob("libxenlight.so")).parent)


def environment(directory, machine):
    """For the program to see this machine, and to leave a trace in the directory."""
    machine_file, trace = directory / "machine", directory / "trace"
    machine_file.write_text("\n".join(machine.text()) + "\n", errors="surrogateescape")
    trace.write_text("")
    return {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": library_path(),
            "FAKE_XEN": str(machine_file), "FAKE_TRACE": str(trace), "FAKE_CLOCK": "1"}

# SPDX-License-Identifier: GPL-2.0-only
"""The product cache of tools/build: what is killed, changed, made twice at once or out of disk never passes as made."""
import os
import re
import shutil
import signal
import subprocess
import time

import pytest
from tiny_tree import BUILD, REPO

# a script like those in tools/build: its product is one file, made from one input, in a step that can be slow or fail
SCRIPT = f"""#!/bin/bash
set -eu
. {BUILD}/lib.sh
compile() {{
	echo made >>"$ROOT/count"
	sleep "${{SLOW:-0}}"
	for n in $(seq 100); do echo "line $n"; done
	[ -z "${{FAIL:-}}" ] || {{ echo "$FAIL"; exit 1; }}
	cp "$ROOT/input" "$1/output"
}}
export -f compile
export ROOT
build() {{ need_disk "${{DISK:-1}}" "the thing"; run_step thing 7 "making a thing" compile "$1"; }}
product thing "$(key "$ROOT/input" word)" build
"""


@pytest.fixture
def thing(queue):
    (queue.root / "input").write_text("one\n")
    queue.script = queue.root / "thing.sh"
    queue.script.write_text(SCRIPT)
    queue.output = queue.root / "build" / "thing" / "output"
    queue.count = lambda: (queue.root / "count").read_text().count("made")
    queue.made = lambda: list((queue.cache / "xen-numa-policy/products/thing").glob("*"))
    return queue


def make(queue, **env):
    return queue.run("bash", queue.script, **env)


def test_made_once(thing):
    done = make(thing)
    assert done.returncode == 0, done.stderr
    assert "making a thing … about 7 s" in done.stderr and "making a thing: done in" in done.stderr
    assert thing.output.read_text() == "one\n"
    assert "nothing to do" in make(thing).stderr
    assert thing.count() == 1


def test_a_stale_product_is_not_used(thing):
    make(thing)
    (thing.root / "input").write_text("two\n")
    make(thing)
    assert thing.output.read_text() == "two\n"
    # and the way back costs nothing
    (thing.root / "input").write_text("one\n")
    make(thing)
    assert thing.output.read_text() == "one\n" and thing.count() == 2


def test_a_failure_shows_its_end_and_its_log(thing):
    done = make(thing, FAIL="it broke")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[-1].startswith("error: making a thing failed, all of it is in ") and lines[-2] == "it broke"
    assert "line 72" in lines and "line 71" not in lines        # thirty in all
    assert "line 1\n" in (thing.root / "build/logs/thing.log").read_text()
    assert thing.made() == [] and not thing.output.exists()
    assert make(thing).returncode == 0 and thing.count() == 2


def test_a_full_disk_is_one_line(thing):
    done = make(thing, FAIL="cp: No space left on device")
    assert done.stderr.splitlines()[-1] == "error: making a thing: the disk is full: free some and run again"
    done = make(thing, DISK="999999999")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [done.stderr.strip()] and "the thing needs 999999999 MiB of disk" in done.stderr
    assert thing.made() == []


def test_a_path_that_make_cannot_take_is_one_line(thing, tmp_path):
    done = make(thing, XDG_CACHE_HOME=str(tmp_path / "with space"))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and "may not have a space or a colon" in done.stderr


def started(thing, **env):
    process = subprocess.Popen(["bash", thing.script], env=dict(thing.env, **env), stderr=subprocess.PIPE, text=True)
    wait_for(thing.root / "count")
    return process


def wait_for(path):
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def alive(marker):
    """Processes whose environment bears the marker."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as handle:
                if marker.encode() in handle.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            continue
    return found


def until_nothing_is_left(thing):
    # what was killed is gone when the kernel gets to it, long before the build would have ended by itself
    end = time.monotonic() + 20
    while left := alive(f"PQ_MARK={thing.root}"):
        assert time.monotonic() < end, left
        time.sleep(0.05)
    assert list((thing.cache / "xen-numa-policy/tmp").iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_killed_build_is_no_product(thing, how):
    marker = f"PQ_MARK={thing.root}"
    process = started(thing, SLOW="61", PQ_MARK=str(thing.root))
    process.send_signal(how)
    process.communicate(timeout=90)
    assert process.returncode != 0
    if how == signal.SIGKILL:
        for pid in alive(marker):       # nobody was there to do it
            os.kill(pid, signal.SIGKILL)
    else:
        until_nothing_is_left(thing)
    assert thing.made() == [] and not thing.output.exists()
    assert make(thing).returncode == 0
    assert thing.output.read_text() == "one\n" and thing.count() == 2


def test_two_at_once_make_it_once(thing):
    first = started(thing, SLOW="4")
    second = make(thing)
    assert first.wait(timeout=90) == 0
    assert "waiting for another run" in second.stderr and "nothing to do" in second.stderr
    assert thing.count() == 1
    first.stderr.close()


def test_the_cache_is_bounded(thing):
    for number in range(9):
        (thing.root / "input").write_text(f"{number}\n")
        make(thing)
    newest = (thing.root / "build/thing").resolve()
    dead = thing.cache / "xen-numa-policy/tmp/thing.999999999"
    dead.mkdir()
    live = thing.cache / f"xen-numa-policy/tmp/thing.{os.getpid()}"
    live.mkdir()
    old = thing.made()[0] if thing.made()[0] != newest else thing.made()[1]
    os.utime(old, (0, 0))
    assert thing.run(BUILD / "clean-cache.sh").returncode == 0
    assert newest in thing.made() and old not in thing.made() and len(thing.made()) == 6
    assert live.exists() and not dead.exists()


# steps of setup.sh: one makes eight things with a make of its own, one takes long
MANY = """#!/bin/bash
set -eu
. "$(dirname "$0")/lib.sh"
name=$1
compile() { make -f "$ROOT/many.mk" LOG="$ROOT/jobs" ${MAKE_JOBS:+-j"$MAKE_JOBS"}; }
export -f compile
export ROOT MAKE_JOBS
build() { run_step "$name" 7 "making $name" compile; }
product "$name" "$(key "$name")" build
"""
MANY_MK = """jobs := $(addprefix job,1 2 3 4 5 6 7 8)
all: $(jobs)
$(jobs):
\t@echo "+ $(MINE)" >>$(LOG); sleep 0.3; echo "- $(MINE)" >>$(LOG)
"""
SLOW = """#!/bin/bash
set -eu
. "$(dirname "$0")/lib.sh"
build() { run_step slow 7 "making the slow one" sleep 61; }
product slow "$(key slow)" build
"""
RULES = """
one two: %:
\t$(call build,many.sh $*)
bad:
\t$(call step,thing.sh)
slow:
\t$(call step,slow.sh)
"""


@pytest.fixture
def graph(thing):
    """setup.sh, with other products."""
    thing.build = thing.root / "tools" / "build"
    thing.build.mkdir(parents=True)
    for name in ("setup.sh", "lib.sh", "clean-cache.sh"):
        shutil.copy(BUILD / name, thing.build)
    head = (BUILD / "products.mk").read_text().partition("XEN :=")[0]
    (thing.build / "products.mk").write_text(head + RULES)
    for name, text in (("many.sh", MANY), ("thing.sh", SCRIPT), ("slow.sh", SLOW)):
        (thing.build / name).write_text(text)
        (thing.build / name).chmod(0o755)
    (thing.root / "many.mk").write_text(MANY_MK)
    return thing


def most_at_once(graph):
    now = most = 0
    for line in (graph.root / "jobs").read_text().splitlines():
        now += 1 if line.startswith("+") else -1
        most = max(most, now)
    return most


@pytest.mark.parametrize("jobs", [1, 3])
def test_all_builds_share_the_jobs(graph, jobs):
    """Two builds, each with eight things to make: as many at once as there may be, and no more."""
    done = graph.run(graph.build / "setup.sh", "one", "two", JOBS=str(jobs), MAKEFLAGS=" -j9 --jobserver-auth=97,98 -- MINE=mine")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("making ") == 4 and done.stderr.splitlines()[-1].endswith("all is done: build/")
    assert most_at_once(graph) == jobs + 1
    # nor do variables that the user gave his make reach a build
    assert "mine" not in (graph.root / "jobs").read_text()
    assert "jobserver" not in "".join(log.read_text() for log in (graph.root / "build/logs").iterdir())


def test_a_failure_ends_all_steps(graph):
    began = time.monotonic()
    done = graph.run(graph.build / "setup.sh", "slow", "bad", FAIL="it broke", SLOW="2", PQ_MARK=str(graph.root))
    assert done.returncode == 1 and time.monotonic() - began < 30
    lines = done.stderr.splitlines()
    assert any(line.endswith("making the slow one … about 7 s") for line in lines)
    assert lines[-1].startswith("error: making a thing failed, all of it is in ") and lines[-2] == "it broke"
    until_nothing_is_left(graph)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_ends_all_steps(graph, how):
    with subprocess.Popen([graph.build / "setup.sh", "slow", "bad"], env=dict(graph.env, SLOW="61", PQ_MARK=str(graph.root)),
                          stderr=subprocess.PIPE, text=True) as process:
        wait_for(graph.root / "count")
        process.send_signal(how)
        process.communicate(timeout=90)
    assert process.returncode == 130
    until_nothing_is_left(graph)


def test_a_target_that_there_is_not_is_one_line(graph):
    done = graph.run(graph.build / "setup.sh", "nothing")
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["error: No rule to make target 'nothing'.  Stop."]


@pytest.fixture
def told(graph):
    """The real graph, with steps that only tell when they begin and end: makes targets, gives the lines."""
    file = graph.root / "told"
    stub = f'#!/bin/bash\nname="$(basename "$0") $*"\necho "+ $name" >>{file}; sleep 0.2; echo "- $name" >>{file}\n'
    for script in [*(path.name for path in BUILD.glob("*.sh")), "../../tests/boot/demo.py"]:
        path = graph.build / script
        path.parent.mkdir(parents=True, exist_ok=True)
        if script not in ("setup.sh", "lib.sh", "clean-cache.sh"):
            path.write_text(stub)
            path.chmod(0o755)
    shutil.copy(BUILD / "products.mk", graph.build)

    def make(*targets):
        done = graph.run(graph.build / "setup.sh", *targets, JOBS="3")
        assert done.returncode == 0, done.stderr
        lines = [line.rstrip() for line in file.read_text().splitlines()]
        assert len(set(lines)) == len(lines)
        return lines

    return make


def test_the_demo_builds_first_what_it_shows_first(told):
    """And nothing that it does not show."""
    at = {line: number for number, line in enumerate(told("demo"))}
    for shown in ("xen.sh release", "images.sh demo"):
        assert at[f"- {shown}"] < at["+ demo.py place"]
        for later in ("qemu.sh", "workload-packages.sh", "workloads.sh"):
            assert at[f"- {shown}"] < at[f"+ {later}"]
    # the first half does not wait for what the second needs
    assert at["+ demo.py place"] < at["- qemu.sh"] < at["+ demo.py repair"] and at["- demo.py place"] < at["+ demo.py repair"]
    assert {line for line in at if line.startswith("+ xen.sh")} == {"+ xen.sh release"}
    assert not {"+ linux.sh", "+ series.sh linux", "+ fetch.sh linux", "+ guest-module.sh", "+ trees.sh", "+ images.sh base"} & set(at)


def test_all_verbs_have_what_they_need(told):
    """Each product that the Makefile names is made by the graph, and after what it is made of."""
    named = re.search(r"^PRODUCTS := (.*?[^\\])$", (REPO / "Makefile").read_text(), re.M | re.S)[1].replace("\\\n", " ").split()
    at = {line: number for number, line in enumerate(told("all", "check", *named))}
    for product, need in (("linux.sh", "series.sh linux"), ("xen.sh stock", "series.sh xen"), ("bin.sh", "xen-tools.sh"),
                          ("guest-module.sh", "debian-kernel.sh"), ("images.sh debian", "images.sh base"), ("images.sh base", "linux.sh"),
                          ("images.sh demo", "debian-kernel.sh"), ("images.sh hvm", "images.sh base"), ("images.sh hvm", "device-model.sh"),
                          ("qemu.sh", "qemu-source.sh"), ("qemu-plugin.sh", "qemu-source.sh"), ("workloads.sh", "workload-packages.sh"),
                          ("xen-tools.sh", "packages.sh"), ("trees.sh", "series.sh linux")):
        assert at[f"- {need}"] < at[f"+ {product}"]


def test_a_nice_step_is_nice_to_other_sessions(thing):
    """Where Linux groups processes by session, the nice value of one counts within its group alone."""
    group = thing.root / "group"
    text = SCRIPT.replace('sleep "${SLOW:-0}"', f"cat /proc/self/autogroup >{group} || :")
    (thing.root / "thing.sh").write_text(text)
    done = thing.run("nice", "-n", "7", "bash", thing.script)
    assert done.returncode == 0, done.stderr
    if not group.read_text():
        pytest.skip("this kernel has no autogroups")
    assert group.read_text().split()[1:] == ["nice", "7"]

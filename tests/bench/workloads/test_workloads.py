# SPDX-License-Identifier: GPL-2.0-only
"""The workloads: every file says what it is, and every one runs on native Linux, tiny, and is believed only when it says so."""

import re
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).absolute().parent
sys.path.insert(0, str(HERE.parent / "harness"))

from native import NativeMachine      # noqa: E402  the path comes first

from harness.machine import BootRed, HostFault
from harness.topologies import Topology, uniform

pytestmark = pytest.mark.heavy

FILES = sorted(HERE.glob("*.sh"))
SETS = {"quick", "full"}
CPUS = "1 2 3 4"
# as the bench's machine in small: CPU 0 is left alone
TOPOLOGY = Topology("workloads", (2, 1, 1, 1), (1536, 512, 512, 512), uniform(4))


def header(text):
    """The header's fields: comment lines before the first other one."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line)
    return dict(re.findall(r"^# (\w+): (\S.*)$", "\n".join(lines), re.M))


def wrong(text):
    """What is wrong with a workload's file."""
    fields = header(text)
    faults = [f"no {name}:" for name in ("title", "from", "set", "class") if name not in fields]
    if not set(fields.get("set", "quick").split()) <= SETS:
        faults.append(f"set: {fields['set']}")
    if '. "$(dirname "$0")/common"' not in text:
        faults.append("does not take its parameters from common")
    if not text.endswith("\nok\n"):
        faults.append("does not end with its verdict")
    return faults


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_says_what_it_is(file):
    assert not wrong(file.read_text())


def test_every_set_has_workloads():
    for name in SETS:
        assert [file for file in FILES if name in header(file.read_text())["set"].split()]


@pytest.mark.parametrize("old, new, fault", [
    ("# title:", "# name:", "no title:"), ("# class:", "# klass:", "no class:"), ("quick full", "quick fast", "set: quick fast"),
    ("\nok\n", "\n", "does not end with its verdict"), ("/common", "/other", "does not take its parameters from common"),
])
def test_a_wrong_header_is_seen(old, new, fault):
    text = (HERE / "pattern-master.sh").read_text()
    assert old in text
    assert fault in wrong(text.replace(old, new))


@pytest.fixture(scope="module")
def native():
    machine = NativeMachine(TOPOLOGY)
    try:
        machine.boot()
        yield machine
        machine.finish()
    except HostFault:
        raise
    except BootRed as red:
        pytest.fail(str(red), pytrace=False)
    finally:
        machine.kill()


def soak_but(fast, names):
    return [name if name == fast else pytest.param(name, marks=pytest.mark.soak) for name in names]


def run(machine, name, **parameters):
    parameters = {"THREADS": "4", "CPUS": CPUS, "SIZE": "smoke", "PREFIX": ""} | parameters
    words = " ".join(f"{key}='{value}'" for key, value in parameters.items())
    return machine.run(f"{words} sh /workloads/{name}.sh", check=False)


@pytest.mark.parametrize("name", soak_but("pattern-master", [file.stem for file in FILES]))
def test_runs(native, name):
    result = run(native, name)
    assert result.status == 0, result.out + result.err
    assert result.out.splitlines()[-1] == f"workload: {name} ok"
    native.check_console()


@pytest.mark.parametrize("name", soak_but("pattern-master", ["pattern-master", "hpcc-stream", "key-value"]))
def test_takes_a_policy(native, name):
    """The prefix reaches the program: memory that no policy can give ends it."""
    assert run(native, name, PREFIX="numactl --interleave=all").status == 0
    refused = run(native, name, PREFIX="numactl --membind=9")
    assert refused.status != 0 and f"workload: {name} failed: " in refused.out


def pages_given(machine):
    """Pages that each node has given so far."""
    counts = machine.run("cat /sys/devices/system/node/node*/numastat | grep numa_hit").out
    return [int(line.split()[1]) for line in counts.splitlines()]


def test_the_policy_is_in_force(native):
    """`numactl --membind` has a workload's 8 MiB come from the node that it names; 2 of them would come from each other one."""
    before = pages_given(native)
    run(native, "pattern-partitioned", PREFIX="numactl --membind=3")
    pages = [new - old for old, new in zip(before, pages_given(native))]
    assert pages[3] >= 8 << 8 and max(pages[1:3]) < 2 << 8


@pytest.mark.parametrize("parameters, why", [
    ({"SIZE": "huge"}, "SIZE=huge is none of"), ({"THREADS": "3"}, "do not agree"), ({"CPUS": "1 2 3 77"}, "status 1"),
])
def test_bad_parameters_are_refused(native, parameters, why):
    result = run(native, "pattern-master", **parameters)
    assert result.status == 1
    assert result.out.splitlines()[-1].startswith("workload: pattern-master failed: ") and why in result.out


def pretend(machine, program, script):
    """The PATH with a program that is not what it says."""
    machine.run("mkdir -p /tmp/false\n"
                f"cat >/tmp/false/{program} <<'END'\n#!/bin/sh\n{script}\nEND\nchmod +x /tmp/false/{program}")
    return "/tmp/false:/usr/sbin:/usr/bin"


# what a program may say, and not mean
PRETENDED = {
    "pattern-random": ("patterns", "looks fine"), "page-storm": ("page-storm", "160 pages released by 3 threads"),
    "stress-memory": ("stress-ng", "info: [7] unsuccessful run completed"), "perf-numa": ("perf", ""),
}


@pytest.mark.parametrize("name", soak_but("pattern-random", PRETENDED))
def test_the_program_has_to_say_so(native, name):
    """A program that ends with 0 and does not give its verdict is no success."""
    program, output = PRETENDED[name]
    result = run(native, name, PATH=pretend(native, program, f'echo "{output}"'))
    native.run("rm -r /tmp/false")
    assert result.status == 1
    assert f'workload: {name} failed: its output has no "' in result.out


@pytest.mark.soak
def test_key_value_counts_what_was_read(native):
    """A client that leaves keys unread is found out by the server's count."""
    result = run(native, "key-value", PATH=pretend(native, "memcslap", 'exec /usr/bin/memcslap "$@" --execute-number=50'))
    native.run("rm -r /tmp/false")
    assert result.status == 1 and "workload: key-value failed: " in result.out


def test_region_gives_the_status_of_its_command(native):
    assert native.run("region 1 sh -c 'exit 7'", check=False).status == 7
    assert native.run("region 1 sh -c 'kill -9 $$'", check=False).status == 137
    for words in ("1", "x true", "32768 true", ""):
        refused = native.run(f"region {words}", check=False)
        assert refused.status == 2 and len(refused.err.splitlines()) == 1


@pytest.mark.soak
def test_hpcc_without_such_a_test_is_refused(native):
    native.run("sed 's/StarSTREAM/StarStraem/' /workloads/hpcc-stream.sh >/workloads/hpcc-straem.sh")
    result = run(native, "hpcc-straem")
    assert result.status == 1 and "HPCC_TEST names none of its tests" in result.out

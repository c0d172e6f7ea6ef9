# SPDX-License-Identifier: GPL-2.0-only
"""Progress: a bar on a terminal, lines elsewhere, objects for programs, nothing when quiet."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios

import pytest

from fake_machine import ERROR_FAIL, MIB, example
from numapolicy_build import environment

PAGES = MIB // 4096


def slow(rate=32):
    """1 GiB: the first half of it is at home, the other moves, at so many MiB a second."""
    machine = example()
    machine.memory = [("there", 512 * PAGES), ("moved", 512 * PAGES)]
    machine.speed = rate * MIB
    return machine


def test_lines(xl):
    """Not more than one in five seconds."""
    done = xl.run("rebalance", "3", machine=slow())
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "xl numa-policy: 65%, 160 MiB moved, 32.0 MiB/s, 0:02 left",
        "xl numa-policy: 81%, 320 MiB moved, 32.0 MiB/s, 0:02 left",
        "xl numa-policy: 96%, 480 MiB moved, 32.0 MiB/s, 0:00 left"]


def test_lines_of_a_dry_run(xl):
    done = xl.run("rebalance", "3", "--dry-run", machine=slow())
    assert " 160 MiB to move, " in done.stderr and "moved" not in done.stderr


@pytest.mark.parametrize("form", ["--raw", None])
def test_quiet(xl, form):
    assert xl.good(*filter(None, ["rebalance", "3", "--quiet", form]), machine=slow())


def test_json(xl):
    """About one a second, each a line, rising; nothing on stderr."""
    lines = [json.loads(line) for line in
             xl.good("rebalance", "3", "--json", machine=slow()).splitlines()]
    *progress, result = lines
    assert result["event"] == "result" and {line["event"] for line in progress} == {"progress"}
    assert 12 <= len(progress) <= 16
    times = [line["seconds"] for line in progress]
    assert all(b - a >= 0.9 for a, b in zip([0, *times], times))
    for key in "percent", "seen_bytes", "moved_bytes":
        values = [line[key] for line in progress]
        assert values == sorted(values)
    for line in progress:
        assert line["memory_bytes"] == 1024 * MIB and line["seen_bytes"] == 512 * MIB + line["moved_bytes"]
        assert line["percent"] == line["seen_bytes"] * 1000 // line["memory_bytes"] / 10
        assert line["bytes_per_second"] == pytest.approx(32 * MIB, rel=1e-3)
        assert line["seconds_left"] == pytest.approx(
            line["seconds"] * (line["memory_bytes"] - line["seen_bytes"]) / line["seen_bytes"], abs=0.2)


def test_json_and_quiet(xl):
    assert xl.good("rebalance", "3", "--json", "-q", machine=slow()).count("\n") == 1


def test_a_guest_that_grows(xl):
    """More memory than there was at the beginning: never above 100 percent."""
    machine = slow()
    machine.domains[1].usage = {0: (256, 0, 0)}
    lines = xl.good("rebalance", "3", "--json", machine=machine).splitlines()[:-1]
    assert {json.loads(line)["percent"] for line in lines} == {100.0}
    assert {json.loads(line)["seconds_left"] for line in lines} == {0.0}


def on_terminal(program, tmp_path, machine, columns, *args):
    """Exit status, stdout, and what a terminal at stderr gets, cut at each return to column 0."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([program, *args], env=environment(tmp_path, machine), stderr=slave,
                          stdout=subprocess.PIPE, text=True) as run:
        os.close(slave)
        got = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # nobody has it open any more
                break
            if not data:
                break
            got += data
        out = run.stdout.read()
    os.close(master)
    return run.returncode, out, got.decode().replace("\r\n", "\n").split("\r")


@pytest.mark.parametrize("columns", [1, 20, 50, 60, 80, 200, 0])
def test_bar(program, tmp_path, columns):
    status, out, parts = on_terminal(program, tmp_path, slow(), columns, "rebalance", "guest1")
    assert status == 0 and out.startswith("guest1 (id 3): 512M moved")
    shown = [part for part in parts if part.strip()]
    assert (len(shown) >= 32 or columns == 1) and "\n" not in "".join(parts)
    assert max(map(len, parts)) <= (columns or 80) - 1
    assert parts[-1] == "" and not parts[-2].strip()  # the line is blank, the cursor at its begin
    if columns >= 80 or not columns:
        found = [re.fullmatch(r" *(\d+)% \[(#*)(\.*)\] (\d+) MiB moved, (\d+\.\d) MiB/s, (\d+):(\d\d) left *",
                              part) for part in shown]
        assert all(found), shown
        percents = [int(match[1]) for match in found]
        assert percents == sorted(percents) and 50 <= percents[0] < 55 and percents[-1] >= 98
        for match in found:
            size = len(match[2]) + len(match[3])
            assert size <= 40 and abs(len(match[2]) / size - int(match[1]) / 100) <= 1 / size + 0.01


def test_bar_of_a_screen_line_that_gets_shorter_leaves_nothing(program, tmp_path):
    _, _, parts = on_terminal(program, tmp_path, slow(), 80, "rebalance", "guest1")
    screen = ""
    for part in parts:
        screen = part + screen[len(part):]
        assert re.search(r"left *$", screen) or not screen.strip(), screen
    assert not screen.strip()


def test_errors_have_a_line_of_their_own(program, tmp_path):
    machine = slow().fail("rebalance", ERROR_FAIL, "no luck", after=9)
    status, out, parts = on_terminal(program, tmp_path, machine, 80, "rebalance", "guest1")
    assert (status, out) == (1, "")
    assert parts[-1] == "xl numa-policy: cannot move the memory of VM 'guest1': no luck\n"


def test_stop_has_a_line_of_its_own(program, tmp_path):
    machine = slow()
    machine.signal = signal.SIGINT, 9
    status, _, parts = on_terminal(program, tmp_path, machine, 80, "rebalance", "guest1")
    assert status == 130 and parts[-1].startswith("xl numa-policy: stopped by SIGINT at ")


@pytest.mark.parametrize("args", [["--json"], ["--quiet"]])
def test_no_bar(program, tmp_path, args):
    status, _, parts = on_terminal(program, tmp_path, slow(), 80, "rebalance", "guest1", *args)
    assert (status, parts) == (0, [""])


def test_full_disk_ends_the_work(xl):
    """With the first object that cannot be written, not after all has moved."""
    with open("/dev/full", "w") as full:
        done = xl.run("rebalance", "3", "--json", machine=slow(), stdout=full)
    assert (done.returncode, done.stderr) == (
        1, "xl numa-policy: cannot write the output: No space left on device\n")
    assert len(xl.trace()) < 20

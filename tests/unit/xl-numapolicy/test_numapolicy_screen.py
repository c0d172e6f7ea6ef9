# SPDX-License-Identifier: GPL-2.0-only
"""What is shown on screens of any size and kind, and where there is nothing to show."""

import fcntl
import os
import pty
import struct
import termios
import threading

import pytest

from fake_machine import ERROR_FAIL, Domain, Machine, example
from test_numapolicy_carrefour import EXPLAIN, SHOW, WATCHED, daemon

CLEAR = "\x1b[H\x1b[J"


def on_screen(xl, *args, rows=24, columns=80, term="xterm", env=None, **options):
    """What a terminal of that size gets."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    parts = []

    def read():
        try:
            while part := os.read(master, 65536):
                parts.append(part)
        except OSError:     # the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    try:
        done = xl.run(*args, stdout=slave, env={**(env or {}), **({"TERM": term} if term is not None else {})}, **options)
    finally:
        os.close(slave)
        reader.join()
        os.close(master)
    assert (done.returncode, done.stderr) == (0, ""), done
    return b"".join(parts).decode().replace("\r\n", "\n")


def crowd(count):
    return Machine(2, domains=[Domain(n, f"vm{n}", weights={0: 1}, usage={0: (n, 0, 0)}) for n in range(1, count + 1)])


def test_top_begins_the_screen_anew(xl):
    text = on_screen(xl, "top", "--count", "3")
    assert text.count(CLEAR) == 3 and text.startswith(CLEAR) and text.count("guest1 ") == 3


@pytest.mark.parametrize("term", ["dumb", "", None])
def test_top_on_a_terminal_that_cannot(xl, term):
    """The tables follow each other, however long they are."""
    text = on_screen(xl, "top", "--count", "2", term=term, machine=crowd(60))
    assert "\x1b" not in text and text.count("\nvm60 ") == 2 and "more VMs" not in text
    assert text.count("\n\nNAME ") == 2 and "\n\n\n" not in text


@pytest.mark.parametrize("rows", [1, 6, 7, 10, 24, 63, 64, 65, 66, 1000])
def test_top_has_no_more_rows_than_the_screen(xl, rows):
    """Of those that it sorts to the top; it says how many more there are. A row of the screen is left for a long first line."""
    lines = on_screen(xl, "top", "--count", "1", "--sort", "memory", rows=rows, machine=crowd(60)).splitlines()
    names = [line.split()[0] for line in lines if line.startswith("vm")]
    assert names == [f"vm{n}" for n in range(60, 60 - len(names), -1)]
    if rows < 65:
        assert lines[-1] == f"and {60 - len(names)} more VMs" and len(names) == max(1, rows - 6)
        one = on_screen(xl, "top", "--count", "1", rows=rows, machine=crowd(2))
        assert rows > 6 or one.endswith("\nand 1 more VM\n")
    else:
        assert len(names) == 60 and "more" not in lines[-1]


def test_a_screen_of_unknown_size(xl):
    assert on_screen(xl, "top", "--count", "1", rows=0, machine=crowd(60)).count("\nvm") == 60


@pytest.mark.parametrize("columns, gone", [
    (200, ""), (80, "DROPPED MOVED CLASS SAMPLES"), (60, "DROPPED MOVED CLASS SAMPLES AT-HOME IMBALANCE"),
    (20, "DROPPED MOVED CLASS SAMPLES AT-HOME IMBALANCE"),
])
def test_top_leaves_columns_out(xl, tmp_path, columns, gone):
    with daemon(tmp_path, lambda *_: SHOW) as (env, _):
        text = on_screen(xl, "top", "--count", "1", columns=columns, env=env)
        piped = xl.good("top", env=env | {"COLUMNS": str(columns)})
        raw = xl.raw("top", env=env | {"COLUMNS": str(columns)})[0]
    head, *rows = text.split("\n\n")[1].splitlines()
    every = "NAME ID POLICY CARREFOUR AT-HOME MEMORY CLASS STATE SAMPLES LOCAL IMBALANCE MOVES MOVED DROPPED"
    assert head.split() == [name for name in every.split() if name not in gone.split()]
    assert len({len(line) for line in (head, *rows)}) == 1 and (len(head) <= columns or columns == 20)
    assert piped.split("\n\n")[1].splitlines()[0] == head and len(raw) == 15


@pytest.mark.parametrize("by", ["samples", "imbalance", "at-home", "moves"])
def test_top_shows_what_it_sorts_by(xl, tmp_path, by):
    """However narrow it is."""
    with daemon(tmp_path, lambda *_: SHOW) as (env, _):
        head = on_screen(xl, "top", "--count", "1", "--sort", by, columns=20, env=env).split("\n\n")[1].split()
    assert by.upper() in head and "DROPPED" not in head


def test_top_without_the_daemon_has_no_columns_of_it(xl):
    head = xl.good("top").split("\n\n")[1].splitlines()[0]
    assert head.split() == ["NAME", "ID", "POLICY", "CARREFOUR", "AT-HOME", "MEMORY"]
    assert "total_moved_bytes" in xl.raw("top")[0]


@pytest.mark.parametrize("command", [["list", "--brief"], ["top"]])
def test_nothing_has_its_titles_all_the_same(xl, command):
    """A program, and who reads a table, sees that there is none, and of what."""
    some, none = (xl.good(*command, "--raw", machine=machine).splitlines() for machine in (example(), Machine()))
    assert none == some[:1] and some[0].startswith("name id ")
    assert "NAME ID " in " ".join(xl.good(*command, machine=Machine()).split())
    assert xl.json(*command, machine=Machine()) == {"version": 1, "domains": []}


def test_no_decisions(xl, tmp_path):
    with daemon(tmp_path, lambda *_: EXPLAIN | {"decisions": [], "decisions_ever": 0}) as (env, _):
        assert xl.raw("explain", "guest1", env=env) == [["seconds_ago", "action", "text", "result"]]
        assert "\ndecisions   0 so far\n" in xl.good("explain", "guest1", env=env)


def test_columns_hold_for_all_nodes_of_the_largest_host(xl):
    """64 of them, 300 VMs, 20 columns: a line is as wide as it must be, and no VM is lost."""
    machine = Machine(64, domains=[Domain(n, f"vm{n}", weights=dict.fromkeys(range(64), 1),
                                          usage={i: (1000 + 30 * i, 0, 0) for i in range(64)}) for n in range(1, 301)])
    lines = on_screen(xl, "list", columns=20, machine=machine).splitlines()
    assert [line.split()[0] for line in lines[1:] if line[0] != " "] == [*(f"vm{n}" for n in range(1, 301)), "(free)", "(host)"]
    assert max(map(len, lines)) < 90


@pytest.mark.parametrize("args", [["explain", "guest1"], ["explain", "guest1", "--json"], ["explain", "guest1", "--raw"], ["top"],
                                  ["top", "--json"], ["show", "guest1", "--policy"], ["list", "--brief", "--raw"], ["--version"]])
def test_no_output_is_lost_silently(xl, tmp_path, args):
    """A full disk is told when it is written to, or when it is closed."""
    with daemon(tmp_path, lambda line, *_: EXPLAIN if line.startswith("explain") else SHOW) as (env, _):
        with open("/dev/full", "w") as full:
            done = xl.run(*args, stdout=full, env=env)
        assert (done.returncode, done.stderr) == (1, "xl numa-policy: cannot write the output: No space left on device\n")
        if args != ["--version"]:   # it asks the machine for nothing, nor whether closing is to fail
            done = xl.run(*args, env=env, machine=example().fail("close", ERROR_FAIL))
            assert (done.returncode, done.stderr) == (1, "xl numa-policy: cannot write the output: Disk quota exceeded\n")


def test_a_class_that_is_not_found_yet(xl, tmp_path):
    """Its column is there as long as there is room."""
    with daemon(tmp_path, lambda *_: SHOW | {"domains": [WATCHED | {"advice": None}]}) as (env, _):
        assert "CLASS" in xl.good("top", env=env | {"COLUMNS": "120"})

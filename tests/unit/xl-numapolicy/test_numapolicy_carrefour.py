# SPDX-License-Identifier: GPL-2.0-only
"""What is switched for carrefourd, and what it is asked: by a daemon that a thread here plays."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from itertools import takewhile

import pytest

from fake_machine import ERROR_DEVICE_EXISTS, ERROR_FAIL, Domain, Machine, example, following
from numapolicy_build import environment

WATCHED = {"id": 3, "name": "guest1", "policy": "round-4k", "home_nodes": [0, 1], "carrefour": True, "auto": "on",
           "sampling": "runs", "sampling_error": None, "period_faults": 9, "period_marked": 9, "period_sampling_ns": 5,
           "period_guest_ns": 1000, "state": "migrating", "samples": 1200, "local_percent": 81.5, "imbalance_percent": 12.0,
           "busiest_pair": [0, 1], "busiest_pair_percent": 40.1, "moves": 7, "moved_bytes": 28672, "frozen": 0,
           "splits_on_trial": 0, "backoff_ms": 0, "advice": {"class": "low", "policy": "first-touch", "carrefour": False},
           "totals": {"moves": 100, "moved_bytes": 3 << 20, "samples_dropped": 5}}
SHOW = {"version": 1, "nodes": 4, "period": 17, "period_ms": 1000, "domains": [WATCHED]}
EXPLAIN = WATCHED | {"version": 1, "last_period": "1200 samples, 81.5 % local", "auto_says": "low, as imbalance is 12.0 %",
                     "decisions_ever": 100, "decisions": [
                         {"period": 16, "seconds_ago": 1.5, "action": "migrate", "reason": "single", "gfn": 4660, "order": 0,
                          "from": 0, "to": 2, "result": "moved", "text": "migrate gfn 0x1234 4K from node 0 to 2"},
                         {"period": 12, "seconds_ago": 5.0, "action": "freeze", "reason": "ping-pong", "gfn": 1, "order": 0,
                          "from": 0, "to": 0, "result": None, "text": "freeze gfn 0x1"}]}

RECORDED = {"version": 1, "periods": 4, "samples": 99, "reconfigured": False}

# What show and top say of WATCHED.
COLUMNS = {"class": "low", "state": "migrating", "samples": 1200, "local_percent": 81.5,
           "imbalance_percent": 12.0, "moves": 7, "total_moved_bytes": 3 << 20, "total_samples_dropped": 5}
SILENT = "carrefourd runs, but has not answered for 5 seconds; "


@contextmanager
def daemon(tmp_path, answer):
    """Answers each request with what answer(line, file) returns: a document, or bytes."""
    path, asked = tmp_path / "socket", []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                data, files, _, _ = socket.recv_fds(connection, 4096, 1)
                asked.append(data.decode())
                said = answer(asked[-1].rstrip("\n"), connection, files)
                connection.sendall(said if isinstance(said, bytes) else json.dumps(said).encode() + b"\n")
                for file in files:
                    os.close(file)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield {"FAKE_CARREFOUR": str(path)}, asked
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        path.unlink()


def documents(text):
    """Of JSON, one after the other."""
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:]
    return found


def switched(xl):
    return [line for line in xl.trace() if line.startswith(("dynamic ", "set "))]


@pytest.mark.parametrize("args, wanted", [
    (["+carrefour"], "dynamic 3 carrefour 1"),
    (["-carrefour"], "dynamic 3 carrefour 0"),
    (["+auto"], "dynamic 3 auto on"),
    (["+auto=advise"], "dynamic 3 auto advise"),
    (["-auto", "+carrefour"], "dynamic 3 carrefour 1 auto off"),
    (["first-touch", "+carrefour"], "set 3 5 nodes weights carrefour 1"),
    (["first-touch,carrefour,auto=advise"], "set 3 5 nodes weights carrefour 1 auto advise"),
    (["round-4k,carrefour", "+carrefour", "-auto"], "set 3 2 nodes weights carrefour 1 auto off"),
    (["round-4k,auto=off"], "set 3 2 nodes weights auto off"),
    (["round-4k,auto=off", "-auto"], "set 3 2 nodes weights auto off"),
    (["+carrefour", "+carrefour"], "dynamic 3 carrefour 1"),
])
def test_switches(xl, args, wanted):
    xl.good("set", "guest1", *args, machine=following())
    assert switched(xl) == [wanted]


@pytest.mark.parametrize("args, words", [
    (["+carrefour", "-carrefour"], "'+carrefour' and '-carrefour' exclude each other; give one of them"),
    (["first-touch", "-auto", "+auto"], "'-auto' and '+auto' exclude each other"),
    (["+auto=advise", "+auto"], "'+auto=advise' and '+auto' exclude each other"),
    (["round-4k,carrefour", "-carrefour"], "'round-4k,carrefour' switches Carrefour one way, another word"),
    (["round-4k,auto", "+auto=advise"], "'round-4k,auto' switches auto one way, another word"),
    (["round-4k,auto=off", "+auto"], "'round-4k,auto=off' switches auto one way, another word"),
])
def test_switches_that_contradict_each_other(xl, args, words):
    assert words in xl.bad("set", "guest1", *args, status=2)
    assert not switched(xl)


def test_a_policy_with_switches_says_what_the_switches_alone_say(xl, tmp_path):
    """That they are on, and that nothing comes of it without carrefourd."""
    warning = "but carrefourd does not run: Carrefour and auto do nothing before 'systemctl start carrefourd'\n"
    said = xl.good("set", "guest1", "first-touch", "+carrefour", "-auto", machine=following())
    assert said.startswith("guest1 (id 3): first-touch on home nodes 0-3; carrefour on, auto off; the 1G it")
    assert said.endswith(warning)
    assert warning in xl.good("set", "guest1", "first-touch,auto", machine=following())
    assert "carrefourd" not in xl.good("set", "guest1", "first-touch", "-auto", machine=following())
    assert xl.good("set", "guest1", "round-2m", "+auto", "--rebalance", "-q").splitlines()[1] + "\n" == warning
    with daemon(tmp_path, lambda *_: SHOW) as (env, _):
        assert "carrefourd" not in xl.good("set", "guest1", "first-touch", "+carrefour", env=env)


@pytest.mark.parametrize("carrefour, auto, in_json, in_words, in_list", [
    ("", "", (False, "off"), "off, auto off", "off"),
    ("0", "0", (False, "off"), "off, auto off", "off"),
    ("1", "", (True, "off"), "on, auto off", "on"),
    ("1", "advise", (True, "advise"), "on, auto advise", "on+advise"),
    ("0", "1", (False, "on"), "off, auto on", "auto"),
    ("", "advise", (False, "advise"), "off, auto advise", "advise"),
    ("?", "1", (None, None), "unknown, auto unknown", "unknown"),
    ("yes", "2", (None, None), "unknown, auto unknown", "unknown"),
    ("advise", "", (None, None), "unknown, auto unknown", "unknown"),
])
def test_switches_are_those_of_xenstore(xl, carrefour, auto, in_json, in_words, in_list):
    """Whether carrefourd runs or not; what cannot be known is not called off."""
    machine = example()
    machine.domains[1].carrefour, machine.domains[1].auto = carrefour, auto
    for command in ["list"], ["top"], ["show", "guest1"]:
        row, = [row for row in xl.json(*command, machine=machine)["domains"] if row["name"] == "guest1"]
        assert (row["carrefour"], row["auto"]) == in_json, command
    assert f"\n  carrefour   {in_words}\n" in xl.good("show", "guest1", machine=machine)
    head, _, row, *_ = xl.good("list", machine=machine).splitlines()
    assert ("CARREFOUR" in head) == (in_list != "off")
    assert in_list == "off" or row.split()[head.split().index("CARREFOUR")] == in_list


def test_switches_without_xenstored(xl):
    machine = example().fail("getdynamic", ERROR_FAIL)
    assert [row["carrefour"] for row in xl.json("list", machine=machine)["domains"]] == [None] * 3
    assert "\n  carrefour   unknown, auto unknown\n" in xl.good("show", "guest1", machine=machine)


def test_set_tells_programs_what_is_switched(xl):
    row, = xl.json("set", "guest1", "+carrefour", "+auto=advise")["domains"]
    assert (row["carrefour"], row["auto"]) == (True, "advise")
    row, = xl.json("set", "guest1", "round-2m", "-carrefour")["domains"]
    assert (row["carrefour"], row["auto"]) == (False, "off")


def test_says_what_is_switched_and_whether_the_daemon_runs(xl, tmp_path):
    assert xl.good("set", "guest1", "+carrefour", "-auto") == (
        "guest1 (id 3): carrefour on, auto off\n"
        "but carrefourd does not run: Carrefour and auto do nothing before 'systemctl start carrefourd'\n")
    assert xl.good("set", "guest1", "-carrefour") == "guest1 (id 3): carrefour off\n"
    with daemon(tmp_path, lambda *_: SHOW) as (env, _):
        assert xl.good("set", "guest1", "+auto=advise", env=env) == "guest1 (id 3): auto advises only\n"


@pytest.mark.parametrize("args, words", [
    (["set", "guest1", "+carfour"], "no switch '+carfour'"),
    (["set", "guest1", "+auto", "--rebalance"], "--rebalance needs a policy, --nodes or --weights; "),
    (["show", "guest1", "+carrefour"], "'+carrefour' is a switch of set only"),
    (["list", "--seconds", "1"], "'--seconds' is an option of top and record only"),
    (["record", "guest1", "file", "--count", "1"], "'--count' is an option of top only"),
    (["top", "--count", "0"], "'0' is no value for --count; give 1 to 86400"),
    (["top", "--seconds", "1h"], "'1h' is no value for --seconds"),
])
def test_wrong_use(xl, args, words):
    assert words in xl.bad(*args, status=2)
    assert not switched(xl)


def test_refused(xl):
    machine = example().fail("dynamic", ERROR_DEVICE_EXISTS, "devices are or may be assigned")
    assert "devices are or may be assigned" in xl.bad("set", "guest1", "+carrefour", machine=machine)
    assert "'+carrefour' leaves the policy as it is" in xl.bad("set", "guest1", "carrefour")


def test_show(xl, tmp_path):
    with daemon(tmp_path, lambda *_: SHOW) as (env, asked):
        text = xl.good("show", "guest1", env=env)
        other = xl.good("show", "guest2", env=env)
    assert asked == ["show\n"] * 2
    assert "  carrefour   off, auto off: low\n" in text
    assert "  accesses    1200 samples in the last period, 81.5% of them local, imbalance 12.0%\n" in text
    assert "migrated    7 pages in the last period, 3M in all; 5 samples were dropped\n" in text
    assert "\n  accesses" not in other and "\n  accesses" not in xl.good("show", "guest1")


def test_show_for_programs(xl, tmp_path):
    with daemon(tmp_path, lambda *_: SHOW) as (env, _):
        watched, other = (xl.json("show", name, env=env) for name in ("guest1", "guest2"))
        tables = xl.good("show", "guest1", "--raw", env=env).split("\n\n")
        of_other = xl.good("show", "guest2", "--raw", env=env).split("\n\n")
    assert list(watched) == ["version", "domains", "nodes"] and watched["domains"][0] | COLUMNS == watched["domains"][0]
    for unwatched in other, xl.json("show", "guest1"):
        assert {name: unwatched["domains"][0][name] for name in COLUMNS} == dict.fromkeys(COLUMNS)
    head, row = (line.split(" ") for line in tables[0].splitlines())
    assert head[-8:] == list(COLUMNS) and row[-8:] == ["low", "migrating", "1200", "81.5", "12.0", "7", str(3 << 20), "5"]
    assert of_other[0].splitlines()[1].split(" ")[-8:] == ["-"] * 8


def test_top(xl, tmp_path):
    with daemon(tmp_path, lambda *_: SHOW) as (env, _):
        rows = xl.json("top", env=env)["domains"]
        twice = xl.raw("top", "--count", "2", "--seconds", "1", env=env)
        text = xl.good("top", env=env)
    assert [row["name"] for row in rows] == ["guest1", "guest2"]
    assert rows[0] | COLUMNS == rows[0]
    assert rows[1]["carrefour"] is False and {rows[1][name] for name in COLUMNS} == {None}
    assert sum(row[0] == "guest1" for row in twice) == 2
    assert "carrefourd: period 17 of 1.0 s, 1 VM watched" in text
    assert "carrefourd does not run: placement is static" in xl.good("top")


def asked_for_memory(xl):
    return [line for line in xl.trace() if line.startswith("usage ")]


def test_top_asks_for_memory_at_each_refresh(xl):
    xl.good("top", "--json", "--count", "3", "--seconds", "1")
    assert asked_for_memory(xl) == ["usage 3", "usage 4"] * 3
    assert [row["memory_bytes"] for row in xl.json("top")["domains"]] == [1 << 30, (2 << 30) + (3 << 12)]


def test_top_asks_again_what_it_was_not_told(xl):
    machine = example().fail("usage", ERROR_FAIL)
    assert xl.json("top", machine=machine)["domains"] == []


@pytest.mark.parametrize("by, order", [
    (None, [3, 4, 5, 6]), ("at-home", [6, 4, 3, 5]), ("memory", [4, 3, 6, 5]), ("local", [4, 3, 5, 6]),
    ("imbalance", [3, 4, 5, 6]), ("samples", [3, 4, 5, 6]), ("moves", [4, 3, 5, 6]),
])
def test_top_sorts(xl, tmp_path, by, order):
    """The worst first, and what is not known last, by id."""
    machine = example()
    machine.domains += [Domain(5, "empty", weights={0: 1}), Domain(6, "away", weights={0: 1}, usage={1: (512, 0, 0)})]
    other = WATCHED | {"id": 4, "name": "guest2", "samples": 9, "local_percent": 50.0, "moves": 8, "imbalance_percent": 1.0}
    with daemon(tmp_path, lambda *_: SHOW | {"domains": [WATCHED, other]}) as (env, _):
        rows = xl.json("top", *(["--sort", by] if by else []), machine=machine, env=env)["domains"]
    assert [row["id"] for row in rows] == order


@pytest.mark.parametrize("machine, names", [(example(), ["guest1", "guest2"]),
                                            (Machine(domains=[Domain(0, "Domain-0", "pv", "none")]), [])])
def test_top_is_a_document_a_refresh(xl, machine, names):
    refreshes = documents(xl.good("top", "--json", "--count", "3", "--seconds", "1", machine=machine))
    assert [[row["name"] for row in refresh["domains"]] for refresh in refreshes] == [names] * 3
    assert [list(refresh) for refresh in refreshes] == [["version", "domains"]] * 3


def test_top_finishes_a_document_before_it_waits(program, tmp_path):
    """For who reads them as they come."""
    env = environment(tmp_path, example())
    del env["FAKE_CLOCK"]
    with subprocess.Popen([program, "top", "--json", "--count", "2", "--seconds", "600"], text=True, env=env,
                          stdout=subprocess.PIPE) as process:
        limit = threading.Timer(30, process.kill)
        limit.start()
        lines = list(takewhile(lambda line: line != "}\n", process.stdout))
        assert process.poll() is None
        limit.cancel()
        process.kill()
    assert len(json.loads("".join(lines) + "}")["domains"]) == 2


def test_top_says_why_there_are_no_samples(xl, tmp_path):
    with daemon(tmp_path, lambda *_: SHOW | {"domains": [WATCHED | {"sampling": "refused", "samples": 0}]}) as (env, _):
        row = xl.json("top", env=env)["domains"][0]
    assert (row["state"], row["local_percent"]) == ("refused", None)
    unknown = {"state": None, "samples": 0, "local_percent": None, "imbalance_percent": None, "busiest_pair_percent": None}
    with daemon(tmp_path, lambda *_: SHOW | {"domains": [WATCHED | unknown]}) as (env, _):
        row = xl.json("top", env=env)["domains"][0]
        names, raw = xl.raw("top", env=env)[:2]
    assert (row["state"], row["local_percent"]) == (None, None)
    assert raw[names.index("state")] == "-"


@pytest.mark.parametrize("answer, words", [
    ({"version": 1, "error": "VM 3 is off; switch it on"}, "VM 3 is off; switch it on"),
    (b"", "carrefourd did not answer"),
    (b"{\"version\": 1", "carrefourd's answer makes no sense"),
    (b"what?", "carrefourd's answer makes no sense"),
])
def test_what_the_daemon_says_badly(xl, tmp_path, answer, words):
    with daemon(tmp_path, lambda *_: answer) as (env, _):
        assert words in xl.bad("explain", "guest1", env=env)
        # and what only adds to the rest goes without
        assert "\n  accesses" not in xl.run("show", "guest1", env=env).stdout


def test_without_a_daemon(xl):
    assert xl.bad("explain", "guest1") == "carrefourd does not run; 'systemctl start carrefourd' starts it"


def switched_on():
    machine = example()
    machine.domains[1].carrefour = "1"
    return machine


@pytest.mark.parametrize("carrefour, auto, says", [("", "0", True), ("0", "", True), ("1", "", False), ("", "advise", False),
                                                   ("?", "", False)])
def test_record_says_that_there_is_nothing_to_record(xl, tmp_path, carrefour, auto, says):
    """At the beginning, and goes on: it may be switched on meanwhile."""
    machine = example()
    machine.domains[1].carrefour, machine.domains[1].auto = carrefour, auto
    with daemon(tmp_path, lambda *_: RECORDED) as (env, _):
        done = xl.run("record", "guest1", tmp_path / "g.trace", machine=machine, env=env)
        every = xl.run("record", "all", tmp_path / "all.trace", machine=machine, env=env)
    assert (done.returncode, every.returncode, every.stderr) == (0, 0, "")
    assert done.stderr == ("xl numa-policy: neither Carrefour nor auto is on for VM 'guest1': nothing is recorded before "
                           "'xl numa-policy set guest1 +auto=advise'\n" if says else "")


@pytest.mark.parametrize("how", ["signal", "seconds", "daemon"])
def test_record(xl, program, tmp_path, how):
    """The file is passed; it ends by a signal, by time, or when the daemon says so."""
    def record(_line, connection, files):
        os.write(files[0], b"a trace")
        begun.set()
        if how != "daemon":
            assert connection.recv(1) == b""
        return RECORDED | {"reconfigured": how == "daemon"}

    begun, trace = threading.Event(), tmp_path / "guest1.trace"
    with daemon(tmp_path, record) as (env, asked):
        args = ["record", "guest1", trace, *(["--seconds", "1"] if how == "seconds" else [])]
        with subprocess.Popen([program, *map(str, args)], env=environment(tmp_path, switched_on()) | env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            begin = time.monotonic()
            assert begun.wait(20)
            if how == "signal":
                process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=90)
    assert (process.returncode, err) == (0, "")
    assert how != "seconds" or time.monotonic() - begin > 0.9
    assert out.startswith(f"{trace}: 4 periods, 99 samples") and ("another configuration" in out) == (how == "daemon")
    assert asked == ["record 3\n"] and trace.read_bytes() == b"a trace"
    assert "cannot make the file" in xl.bad("record", "guest1", trace, machine=switched_on())


@pytest.mark.parametrize("reconfigured", [False, True])
def test_record_for_programs(xl, tmp_path, reconfigured):
    recorded = RECORDED | {"reconfigured": reconfigured}
    with daemon(tmp_path, lambda *_: recorded) as (env, _):
        assert xl.json("record", "guest1", tmp_path / "1.trace", env=env, machine=switched_on()) == recorded
        rows = xl.raw("record", "all", tmp_path / "2.trace", env=env)
    assert rows == [["periods", "samples", "reconfigured"], ["4", "99", "yes" if reconfigured else "no"]]


def test_record_that_fails_leaves_no_empty_file(xl, tmp_path):
    """But it leaves what was recorded until then, and what was there before."""
    def record(line, _, files):
        if line.endswith("all"):
            os.write(files[0], b"a period")
        return {"version": 1, "error": "no space left"}

    trace = tmp_path / "guest1.trace"
    for _ in range(2):
        assert xl.bad("record", "guest1", trace, machine=switched_on()).startswith("carrefourd does not run")
    with daemon(tmp_path, record) as (env, _):
        assert xl.bad("record", "guest1", trace, env=env, machine=switched_on()) == "no space left"
        assert not trace.exists()
        assert xl.bad("record", "all", trace, env=env) == "no space left"
    assert trace.read_bytes() == b"a period"
    trace.write_bytes(b"")
    assert "cannot make the file" in xl.bad("record", "guest1", trace, machine=switched_on())
    assert trace.exists()


def test_a_daemon_that_does_not_answer(program, tmp_path):
    """It is waited for 5 seconds; where it only adds to the rest, that goes without. All at once, for the time's sake."""
    def start(name, *args, at=tmp_path / "stopped"):
        processes[name] = subprocess.Popen([program, *map(str, args)], env=machine | {"FAKE_CARREFOUR": str(at)}, text=True,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(name):
        out, err = processes[name].communicate(timeout=90)
        return processes[name].returncode, out, err.removeprefix("xl numa-policy: ")

    def late(*_):
        time.sleep(6)
        return RECORDED

    processes, machine = {}, environment(tmp_path, switched_on())
    dies = SILENT + "'journalctl -u carrefourd' may say why\n"
    without = SILENT + "going on without it\n"
    with socket.socket(socket.AF_UNIX) as stopped, socket.socket(socket.AF_UNIX) as full, \
            socket.socket(socket.AF_UNIX) as first, daemon(tmp_path, late) as (env, _):
        stopped.bind(str(tmp_path / "stopped"))
        stopped.listen(16)
        full.bind(str(tmp_path / "full"))
        full.listen(0)
        first.connect(str(tmp_path / "full"))
        begin = time.monotonic()
        try:
            start("explain", "explain", "guest1")
            start("full", "explain", "guest1", at=tmp_path / "full")
            start("show", "show", "guest1", "--json")
            start("set", "set", "guest1", "+carrefour")
            start("off", "set", "guest1", "-carrefour")
            start("top", "top", "--count", "2", "--seconds", "1")
            # one is recorded for as long as it takes, the other one has ended and is not answered
            start("record", "record", "guest1", tmp_path / "guest1.trace", at=env["FAKE_CARREFOUR"])
            start("recorded", "record", "guest1", tmp_path / "stopped.trace", "--seconds", "1")
            assert end("off") == (0, "guest1 (id 3): carrefour off\n", "")
            assert end("explain") == end("full") == (1, "", dies)
            assert time.monotonic() - begin > 4.9
            status, out, err = end("show")
            assert (status, json.loads(out)["domains"][0]["samples"], err) == (0, None, without)
            assert end("set") == (0, "guest1 (id 3): carrefour on\n", without)
            status, out, err = end("top")
            assert (status, out.count("carrefourd does not answer"), err) == (0, 2, without)
            assert end("record")[0] == 0
            assert end("recorded") == (1, "", dies) and not (tmp_path / "stopped.trace").exists()
        finally:
            for process in processes.values():
                process.kill()
                process.communicate()


@pytest.mark.parametrize("answer, why", [
    (b"{", "carrefourd's answer makes no sense; is it of another version? Going on without it"),
    (b"", "carrefourd did not answer: Connection reset by peer; going on without it"),
    ({"version": 1, "error": "no memory\x1b"}, "carrefourd says: no memory\\x1b; going on without it"),
])
def test_a_daemon_with_no_answer_of_use(xl, tmp_path, answer, why):
    """It runs all the same."""
    with daemon(tmp_path, lambda *_: answer) as (env, _):
        for args, words in ((["top", "--count", "2"], "  carrefourd does not answer\n"),
                            (["show", "guest1"], "carrefour   off, auto off\n"),
                            (["set", "guest1", "+auto"], "guest1 (id 3): auto on\n")):
            done = xl.run(*args, env=env)
            assert done.returncode == 0 and words in done.stdout and "does not run" not in done.stdout
            assert done.stderr == f"xl numa-policy: {why}\n"


def test_what_the_daemon_says_does_not_work_the_terminal(xl, tmp_path):
    said = EXPLAIN | {"auto_says": "a\x1b[31m", "last_period": "b\x1b[31m", "decisions": [
        {"seconds_ago": 1, "action": "c\x1b[31m", "text": "d\x1b[31m", "result": "e\x1b[31m"}]}
    with daemon(tmp_path, lambda *_: said) as (env, _):
        for options in [], ["--raw"], ["--json"]:
            text = xl.good("explain", "guest1", *options, env=env)
            assert "\x1b" not in text and "d\\" in text


def test_replay(xl, tmp_path):
    """It is carrefour-replay's work."""
    (tmp_path / "carrefour-replay").write_text("#!/bin/sh\necho \"$@\"\n")
    (tmp_path / "carrefour-replay").chmod(0o755)
    assert xl.good("replay", "some.trace", env={"PATH": f"{tmp_path}:/bin"}) == "--periods some.trace\n"
    for option in ("--json", "--raw", "--verbose"):
        assert f"'{option}' is no option of replay" in xl.bad("replay", "some.trace", option, status=2)
    assert "there is no carrefour-replay" in xl.bad("replay", "some.trace", env={"PATH": str(tmp_path / "nothing")})

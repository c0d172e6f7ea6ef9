# SPDX-License-Identifier: GPL-2.0-only
"""carrefourd as it runs, with a stand-in for Xen and xenstore: its socket, signals, files and what systemd is told."""

import contextlib
import json
import os
import re
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest


class Daemon:
    def __init__(self, built, directory, config="", **env):
        self.directory, self.config, self.path = directory, directory / "conf", directory / "socket"
        self.config.write_text(f"user = {os.getuid()}\n{config}")
        self.err = open(directory / "log", "w")
        self.process = subprocess.Popen([built / "carrefourd", "-c", self.config, "-s", self.path], stdin=subprocess.DEVNULL,
                                        stderr=self.err, env={"LC_ALL": "C.UTF-8"} | {key: str(env[key]) for key in env})
        self.until(lambda: self.log().count(" runs, a period of "))

    def log(self):
        return (self.directory / "log").read_text()

    def until(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            assert self.process.poll() is None and time.monotonic() < end, self.log()[-2000:]
            time.sleep(0.02)

    def ask(self, line):
        """The answer, and how long it took."""
        begun = time.monotonic()
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(str(self.path))
            s.sendall(line.encode() + b"\n")
            with s.makefile() as text:
                return json.loads(text.read()), time.monotonic() - begun

    def period(self):
        return self.ask("show")[0]["period"]

    def set(self, text):
        self.config.write_text(f"user = {os.getuid()}\n{text}")
        self.process.send_signal(signal.SIGHUP)

    def stop(self, sig=signal.SIGTERM):
        """How long that took."""
        begun = time.monotonic()
        self.process.send_signal(sig)
        assert self.process.wait(20) == 0, self.log()
        return time.monotonic() - begun


@pytest.fixture
def start(built, tmp_path):
    with contextlib.ExitStack() as stack:
        def begin(config="", **env):
            daemon = Daemon(built, tmp_path, config, **env)
            stack.callback(daemon.err.close)
            stack.callback(daemon.process.wait)
            stack.callback(daemon.process.kill)
            return daemon
        yield begin


def test_it_answers_while_memory_follows(start):
    """Of sixty guests, for as long as they like: no client gives up, and the end is no matter of patience."""
    daemon = start("period_ms = 6000\n", FAKE_GUESTS=60, FAKE_FOLLOWS=1, FAKE_REBALANCE_US=1000)
    daemon.until(lambda: daemon.ask("show")[0]["domains"][0]["state"] == "following")
    end, slowest = time.monotonic() + 7, 0
    while time.monotonic() < end:
        document, took = daemon.ask("show")
        assert len(document["domains"]) == 60
        slowest = max(slowest, took)
        time.sleep(0.05)
    # They may take a quarter of a period, which is 1.5 s. The aim is 100 ms; sanitizers, and others on this machine,
    # have their share.
    assert slowest < 1
    assert daemon.stop() < 2


def seconds_of_cpu(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_who_cannot_be_let_in_costs_nothing(start):
    """There is no descriptor for a client that waits: it waits, and the daemon sleeps."""
    daemon = start("period_ms = 500\n", FAKE_GUESTS=3)
    pid = daemon.process.pid
    free = min(set(range(1000)) - {int(fd) for fd in os.listdir(f"/proc/{pid}/fd")})
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (free, limits[1]))
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(str(daemon.path))
        s.sendall(b"show\n")
        before = seconds_of_cpu(pid)
        time.sleep(2)
        assert seconds_of_cpu(pid) - before < 0.5
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        with s.makefile() as text:
            assert len(json.loads(text.read())["domains"]) == 3
    assert daemon.stop() < 2


def test_heal_is_switched_while_it_runs(start):
    daemon = start("period_ms = 100\n", FAKE_GUESTS=3)
    nothing = {"actions": 0, "paid": 0, "lost": 0, "regretted": 0, "stopped": False, "entries": []}
    assert daemon.ask("heal")[0] == {"version": 1, "heal": "off", "seconds_ago": None, "domains": [], "tasks": [],
                                     "ledger": nothing}
    daemon.set("period_ms = 100\nheal = advise\n")
    daemon.until(lambda: len(daemon.ask("heal")[0]["domains"]) == 3)
    said = daemon.ask("heal")[0]
    assert said["heal"] == "advise" and {domain["result"] for domain in said["domains"]} == {"watched"}
    assert [domain["name"] for domain in said["domains"]] == ["vm1", "vm2", "vm3"]
    daemon.set("period_ms = 100\nheal = on\n")
    daemon.until(lambda: daemon.ask("heal")[0]["heal"] == "on")
    daemon.set("period_ms = 100\n")
    daemon.until(lambda: not daemon.ask("heal")[0]["domains"])


def test_what_takes_long_does_not_put_off_the_end(start):
    daemon = start(FAKE_GUESTS=200, FAKE_VCPUS_US=50000)
    time.sleep(2)
    assert daemon.ask("show")[1] < 2
    assert daemon.stop() < 2


def test_a_shorter_period_holds_at_once(start):
    daemon = start("period_ms = 60000\n")
    daemon.until(lambda: daemon.period() == 1)
    daemon.set("period_ms = 500\n")
    daemon.until(lambda: daemon.period() >= 3, seconds=5)
    assert "read again" in daemon.log()
    daemon.set("period_ms = 5\n")
    daemon.until(lambda: "the configuration stays as it was" in daemon.log())
    daemon.stop(signal.SIGINT)


def test_metrics_end_with_it(start, tmp_path):
    first, second = tmp_path / "first.prom", tmp_path / "second.prom"
    daemon = start(f"period_ms = 100\nmetrics = {first}\n")
    daemon.until(first.exists)
    daemon.set(f"period_ms = 100\nmetrics = {second}\n")
    daemon.until(second.exists)
    assert not first.exists()
    daemon.stop()
    assert not second.exists()


def test_a_name_forges_no_line(start):
    daemon = start(FAKE_NAME="x\n<0>kernel: fire\x1b[31m", FAKE_MOVE_ERROR=5, FAKE_GUESTS=1)
    daemon.until(lambda: "moving its pages" in daemon.log())
    daemon.stop()
    lines = daemon.log().splitlines()
    assert all(line.startswith("carrefourd: ") for line in lines) and "\x1b" not in daemon.log()
    assert len([line for line in lines if "moving its pages: Input/output error" in line]) == 1


def test_systemd_is_told(start, tmp_path):
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(str(path))
        s.settimeout(20)
        daemon = start("period_ms = 100\n", NOTIFY_SOCKET=path, WATCHDOG_USEC=200000)
        heard = ""

        def hear(what):
            nonlocal heard
            end = time.monotonic() + 20
            while not re.search(what, heard, re.M):
                assert time.monotonic() < end, heard
                heard += s.recv(4096).decode() + "\n"
            heard = ""
        hear("^READY=1$")
        hear(r"^STATUS=1 VMs, \d of them sampled, \d of 256 MiB$")
        hear("^WATCHDOG=1$")
        daemon.set("period_ms = 200\n")
        hear("^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]+$")
        hear("^READY=1$")
        daemon.process.send_signal(signal.SIGTERM)
        hear("^STOPPING=1$")
        assert daemon.process.wait(20) == 0


def test_a_recording_may_begin_before_its_domain(start, tmp_path):
    """So that it is whole: with all that was decided, and that carrefour-replay decides again."""
    daemon = start("period_ms = 100\n")
    daemon.until(lambda: daemon.period() >= 1)
    with open(tmp_path / "trace", "w") as file, socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(str(daemon.path))
        socket.send_fds(s, [b"record 77\n"], [file.fileno()])
        period = daemon.period()
        daemon.until(lambda: daemon.period() > period + 1)
        s.shutdown(socket.SHUT_WR)
        with s.makefile() as text:
            found = json.loads(text.read())
    assert found["periods"] >= 1 and found["samples"] == 0 and not found["reconfigured"]
    assert (tmp_path / "trace").read_text().endswith("\nend\n")
    daemon.stop()

# SPDX-License-Identifier: GPL-2.0-only
"""carrefourd as a program, as far as it goes without Xen: its command line, its configuration; and what it answers."""

import json
import os
import re

import pytest

from carrefour_build import SOURCE, run, run_daemon


@pytest.fixture
def daemon(built):
    def call(*args, status=0, **options):
        done = run(built / "carrefourd", *args, **options)
        assert done.returncode == status, done
        if not status:
            assert done.stderr == ""
            return done.stdout
        assert done.stdout == "" and done.stderr.count("\n") == 1, done
        return done.stderr.rstrip("\n")
    return call


def test_help(daemon):
    text = daemon("--help")
    assert text == daemon("-h") and text.startswith("Usage: carrefourd ")
    assert max(map(len, text.splitlines())) <= 88


@pytest.mark.parametrize("args, said", [
    (["x"], "'x' is an argument too many; it takes options only"),
    (["-x"], "unknown option '-x'"),
    (["--verbos", "--nope"], "unknown option '--nope'"),
    (["--config"], "option '--config' needs a value"),
    (["-n", "-u"], "option '-u' needs a value"),
    (["-n", "-c", ""], "'' is no file; name one for --config"),
])
def test_usage(daemon, args, said):
    assert daemon(*args, status=2) == f"carrefourd: {said}; see 'carrefourd --help'"


@pytest.mark.parametrize("option", ["-n", "--check-config"])
def test_a_good_configuration(daemon, tmp_path, option):
    path = SOURCE / "config/carrefour.conf"
    assert daemon(option, "-u", "root", "-c", path) == f"{path}: good\n"
    (tmp_path / "c").write_text("user = 12\nsample_source = ibs\nsample_ms = 10\nmetrics = /x\nheal = advise\n")
    assert daemon(option, "-v", "--config", tmp_path / "c") == f"{tmp_path}/c: good\n"


def test_a_user_that_is_not_there(daemon, tmp_path):
    """The unit's check before the start would otherwise be passed, and the start fail."""
    (tmp_path / "c").write_text("user = no-such-user\n")
    assert daemon("-n", "-c", tmp_path / "c", status=1) == (
        f"carrefourd: {tmp_path}/c: there is no user 'no-such-user'; create it, or name another one with user = or --user")


@pytest.mark.parametrize("text, said", [
    ("vm_moves = 0", "1: '0' is no value for vm_moves; give a whole number from 1 to 8192"),
    ("heal = Advise", "1: 'Advise' is no value for heal; give off, advise or on"),
    ("sample_source = pebs", "1: 'pebs' is no source of samples; give hint-faults or ibs"),
    ("\nsample_permille = 1001", "2: '1001' is no value for sample_permille; give a whole number from 1 to 1000"),
    ("sample_ms = 9", "1: '9' is no value for sample_ms; give a whole number from 10 to 60000"),
    ("user =", "1: '' is no user; give a name, or a number"),
    ("user = " + "x" * 64, f"1: '{'x' * 64}' is no user; give a name, or a number"),
    ("metrics = /a\nsample_source = ibs\nsample_source = ibs", "3: sample_source was set in line 2; set it once"),
    ("metrics = /a\nuser = b\nuser = b", "3: user was set in line 2; set it once"),
])
def test_a_wrong_configuration(daemon, tmp_path, text, said):
    (tmp_path / "c").write_text(text + "\n")
    assert daemon("-n", "-c", tmp_path / "c", status=1) == f"carrefourd: {tmp_path}/c:{said}"
    # and it does not begin with one
    assert daemon("-c", tmp_path / "c", status=1) == f"carrefourd: {tmp_path}/c:{said}"


@pytest.mark.parametrize("is_it", [True, False])
def test_the_journal_gets_priorities(built, tmp_path, is_it):
    """Only the journal: what a terminal's session has left in the environment says nothing of another file."""
    with open(tmp_path / "err", "w") as err:
        stat = os.fstat(err.fileno())
        stream = f"{stat.st_dev}:{stat.st_ino + (not is_it)}"
        done = run(built / "carrefourd", "-n", "-c", tmp_path / "none", capture_output=False, stderr=err,
                   env={"JOURNAL_STREAM": stream})
    assert done.returncode == 1
    assert (tmp_path / "err").read_text() == (
        f"{'<3>' if is_it else 'carrefourd: '}{tmp_path}/none: cannot open it: No such file or directory\n")


def test_version(daemon):
    version = (SOURCE.parent / "VERSION").read_text().strip()
    assert daemon("--version") == daemon("-V") == f"carrefourd {version}\n"


def test_metrics_that_cannot_be_written_are_no_good_configuration(daemon, tmp_path):
    (tmp_path / "c").write_text(f"user = root\nmetrics = {tmp_path}/none/x.prom\n")
    assert daemon("-n", "-c", tmp_path / "c", status=1) == (
        f"carrefourd: {tmp_path}/c: metrics: there is no directory '{tmp_path}/none'; make it, or name a file in another one")
    (tmp_path / "c").write_text("user = root\nmetrics = /dev/null\n")
    assert daemon("-n", "-c", tmp_path / "c", status=1) == (
        f"carrefourd: {tmp_path}/c: metrics: '/dev/null' is there, and is no regular file; name another one")


@pytest.mark.skipif(os.path.exists("/dev/xen/privcmd"), reason="there is Xen here")
def test_without_xen(carrefourd, tmp_path):
    """One line, and nothing is left."""
    done = run_daemon(carrefourd, "-c", SOURCE / "config/carrefour.conf", "-s", tmp_path / "socket")
    assert (done.returncode, done.stderr) == (1, "carrefourd: cannot talk to Xen: No such file or directory; run this in dom0\n")
    assert list(tmp_path.iterdir()) == []


# Documents

def document(built, *args):
    done = run(built / "documents", *args)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_show(built):
    doc = document(built, "show")
    assert {key: value for key, value in doc.items() if key != "domains"} == {
        "version": 1, "nodes": 4, "period": 1234, "period_ms": 1000, "memory_mb": 256, "memory_bytes": doc["memory_bytes"]}
    assert 3000 < doc["memory_bytes"] < 100000
    db, refused, web = doc["domains"]
    # a domain's name is any bytes, a document is UTF-8
    assert db["name"] == 'db "1" \\ \u00e9 \ufffd'
    assert (db["id"], db["policy"], db["home_nodes"], db["carrefour"], db["auto"]) == (3, "first-touch", [0, 1, 3], True, "off")
    assert (db["sampling"], db["sampling_error"], db["period_faults"], db["period_marked"]) == ("runs", None, 410, 900)
    assert (db["state"], db["samples"], db["local_percent"], db["imbalance_percent"]) == ("active", 400, 25.5, 170.6)
    assert (db["busiest_pair"], db["busiest_pair_percent"], db["moves"], db["moved_bytes"]) == ([0, 3], 40.1, 3, 12288)
    assert db["advice"] is None
    totals = db["totals"]
    assert (totals["periods"], totals["moves"], totals["samples_dropped"]) == (1, 3, 8)
    assert totals["results"]["in-use"] == 7 and totals["held"]["node-full"] == 2
    assert set(totals["results"]) == {"moved", "there", "no-page", "in-use", "unmovable", "no-room", "late",
                                      "no-table", "claimed", "not-tried"}
    assert (refused["auto"], refused["sampling"], refused["sampling_error"]) == ("advise", "refused", "EXDEV")
    assert (refused["policy"], refused["home_nodes"], refused["samples"]) == (None, [], 0)
    # shares of nothing
    assert {refused[key] for key in ("local_percent", "imbalance_percent", "busiest_pair", "busiest_pair_percent")} == {None}
    assert web["advice"] == {"class": "high", "policy": "round-4k", "carrefour": True, "imbalance_percent": 200.5,
                             "private_percent": 12.5, "expected_percent": 121.9, "came_percent": 143.0, "done": True}
    assert all(set(other) == set(db) for other in (refused, web))


def test_explain(built):
    doc = document(built, "explain", "3")
    assert doc["last_period"].startswith("active: 400 samples, local 25.5 %, imbalance 170.6 %")
    assert doc["auto_says"] is None and doc["decisions_ever"] == 70
    newest = doc["decisions"][0]
    assert len(doc["decisions"]) == 64 and newest["period"] == 1069 and doc["decisions"][-1]["period"] == 1006
    assert (newest["action"], newest["reason"], newest["result"], newest["seconds_ago"]) == ("freeze", "often", None, 20.0)
    assert newest["gfn"] == (1 << 40) + 69 and newest["text"].startswith("freeze gfn 0x10000000045 4K from node 0 to 3: ")
    assert (doc["decisions"][1]["action"], doc["decisions"][1]["result"]) == ("migrate", "in-use")
    other = document(built, "explain", "9")
    assert other["auto_says"].startswith("round-4k,carrefour: class high, imbalance 200.5 %")
    assert ", 12.5 % of accesses to private pages; " in other["auto_says"]
    assert other["last_period"] is None and other["decisions"] == []


def test_explain_what_heal_did(built):
    """Its entries of a VM, newest first; also of one that nothing else looks after."""
    db, idle, spread = (document(built, "explain", vm) for vm in ("3", "7", "8"))
    assert db["heal_says"] == "leaves it: Carrefour or auto looks after it"
    assert [(entry["name"], entry["state"]) for entry in db["heal_ledger"]] == [(db["name"], "open")]
    assert (idle["id"], idle["name"], idle["carrefour"], idle["auto"], idle["decisions"]) == (7, "idle", False, "off", [])
    assert idle["heal_says"] == "leaves it: it runs where its memory is, and its nodes have cores enough"
    assert [(entry["nodes_before"], entry["nodes"], entry["state"]) for entry in idle["heal_ledger"]] == [
        ([0], [1], "lost"), ([], [0], "paid")]
    assert spread["heal_says"].startswith("does: xl vcpu-pin spread all - nodes:1 && ") and spread["heal_ledger"] == []
    assert run(built / "documents", "explain", "6").returncode == 2


def test_heal(built):
    doc = document(built, "heal")
    assert doc["heal"] == "on" and doc["seconds_ago"] == 1
    assert [(entry["id"], entry["name"], entry["state"]) for entry in doc["ledger"]["entries"]] == [
        (3, 'db "1" \\ \u00e9 \ufffd', "open"), (7, "idle", "lost"), (6, None, "regretted"), (7, "idle", "paid")]
    assert {entry["seconds_ago"] for entry in doc["ledger"]["entries"]} == {30}


def test_the_manual_names_each_field(built):
    manual = (SOURCE / "man/carrefourd.pod").read_text()
    fields = set(document(built, "show")["domains"][0]) | set(document(built, "explain", "3")["decisions"][0])
    fields |= set(document(built, "explain", "7"))
    known = {"id", "name", "period", "version"}
    assert [field for field in sorted(fields - known) if not re.search(rf"C<{field}>", manual)] == []

# SPDX-License-Identifier: GPL-2.0-only
"""What carrefourd did, to a VM or for the host, as it is shown: a daemon that a thread here plays says it."""

import pytest

from test_numapolicy_carrefour import EXPLAIN, daemon


def test_explain(xl, tmp_path):
    with daemon(tmp_path, lambda *_: EXPLAIN) as (env, asked):
        text = xl.good("explain", "guest1", env=env)
        rows = xl.raw("explain", "guest1", env=env)
        assert xl.json("explain", "guest1", env=env) == EXPLAIN
    assert asked == ["explain 3\n"] * 3
    assert "last period 1200 samples, 81.5 % local\n" in text and "100 so far; of the last 2: 1 migrate, 1 freeze\n" in text
    assert [column.split()[:2] for column in text.splitlines()[-2:]] == [["1.5", "migrate"], ["5.0", "freeze"]]
    assert rows[1][1:3] == ["migrate", r"gfn\x200x1234\x204K\x20from\x20node\x200\x20to\x202"]
    assert [row[0] for row in rows] == ["seconds_ago", "1.5", "5.0"] and rows[2][-1] == "-"


def entry(id, name, why, before, nodes, state):
    return {"id": id, "name": name, "why": why, "seconds_ago": 61.5, "nodes_before": before, "nodes": nodes, "bytes": 3 << 30,
            "cost_ns": 2500000000, "predicted_cpus": 0.25, "brought_ns": 60000000, "state": state}


LEDGER = {"actions": 3, "paid": 1, "lost": 1, "regretted": 0, "stopped": False, "entries": [
    entry(3, "guest1", "gather", [], [1], "open"), entry(9, None, "relieve", [0, 1, 2], [70, 2, 3], "lost")]}
HEAL = {"version": 1, "heal": "on", "seconds_ago": 12.0, "domains": [], "tasks": [], "ledger": LEDGER}


def test_explain_what_heal_did(xl, tmp_path):
    of_it = {"heal_says": "leaves it: a move brings too little", "heal_ledger": LEDGER["entries"][:1]}
    with daemon(tmp_path, lambda *_: EXPLAIN | of_it) as (env, _):
        text = xl.good("explain", "guest1", env=env)
        raw = xl.good("explain", "guest1", "--raw", env=env)
    assert "\nheal        leaves it: a move brings too little\n" in text
    heading, row = text.splitlines()[-2:]
    assert heading.split() == ["SECONDS-AGO", "WHY", "FROM", "TO", "MOVED", "COST", "BROUGHT", "STATE"]
    assert row.split() == ["61.5", "gather", "-", "1", "3G", "2.500s", "0.060s", "open"]
    row = raw.split("\n\n")[1].splitlines()[1]
    assert row.split() == ["61.5", "gather", "-", "1", str(3 << 30), "2500000000", "60000000", "open"]


def test_explain_the_host(xl, tmp_path):
    with daemon(tmp_path, lambda *_: HEAL) as (env, asked):
        text = xl.good("explain", env=env)
        rows = xl.raw("explain", env=env)
        assert xl.json("explain", env=env) == HEAL
    assert asked == ["heal\n"] * 3
    assert text.startswith("heal        on, looked 12.0 seconds ago\n"
                           "actions     3 so far: 1 paid, 1 lost, 0 paid and regretted\n\n")
    assert [row.split()[1:6] for row in text.splitlines()[-2:]] == [
        ["guest1", "3", "gather", "-", "1"], ["-", "9", "relieve", "0-2", "2-3"]]
    assert rows[0] == ["seconds_ago", "name", "id", "why", "nodes_before", "nodes", "bytes", "cost_ns", "brought_ns", "state"]
    assert len(rows) == 3


@pytest.mark.parametrize("heal, words", [
    (HEAL | {"heal": "off", "seconds_ago": None, "ledger": LEDGER | {"actions": 0, "entries": []}},
     "heal        off\nactions     0 so far\n            'heal = advise' in carrefour.conf has carrefourd look at all VMs; "
     "see carrefour.conf(5)\n"),
    (HEAL | {"ledger": LEDGER | {"stopped": True}},
     "\nstopped     too many were lost; 'systemctl restart carrefourd' lets it go on\n"),
    # of another version
    ({"version": 1}, "actions     0 so far\n"),
])
def test_explain_a_host_that(xl, tmp_path, heal, words):
    with daemon(tmp_path, lambda *_: heal) as (env, _):
        assert words in xl.good("explain", env=env)


def test_explain_counts_by_action(xl, tmp_path):
    """Most want to know what it does, not to which page."""
    def decisions(*actions):
        return EXPLAIN | {"decisions": [EXPLAIN["decisions"][0] | {"action": action} for action in actions]}

    many = [f"action-{n}" for n in range(9)]
    for actions, said in ((["freeze"] * 3 + ["migrate"] * 60 + ["freeze"], "of the last 64: 4 freeze, 60 migrate"),
                          ([], "so far\n"), (many, "of the last 9: " + ", ".join(f"1 {name}" for name in many[:8]))):
        with daemon(tmp_path, lambda *_: decisions(*actions)) as (env, _):
            assert said in xl.good("explain", "guest1", env=env)

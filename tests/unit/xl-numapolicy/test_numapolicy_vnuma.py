# SPDX-License-Identifier: GPL-2.0-only
"""A guest that has been told where its memory is: it is shown, and what would undo it is refused in libxl's words."""

import pytest

from fake_machine import ERROR_VNUMA_CONFIG_INVALID, example

REASON = "The guest has vNUMA, and whatever libxl makes of it"


def with_vnuma(*functions):
    machine = example()
    machine.domains[1].policy = "vnuma"
    machine.domains[1].weights = {0: 1, 1: 1}
    for function in functions:
        machine.fail(function, ERROR_VNUMA_CONFIG_INVALID, REASON)
    return machine


def test_it_is_shown(xl):
    assert [row["policy"] for row in xl.json("list", machine=with_vnuma())["domains"]] == [None, "vnuma", "round-2m"]
    text = xl.good("show", "guest1", machine=with_vnuma())
    assert "policy      vnuma (the guest has been told where its memory is)\n" in text and "weights" not in text
    shown = xl.json("show", "guest1", machine=with_vnuma())
    assert shown["domains"][0]["policy"] == "vnuma"
    assert [node["weight"] for node in shown["nodes"]] == [None] * 4


@pytest.mark.parametrize("words, function, doing", [
    (["set", "guest1", "round-2m"], "set", "set the policy of"),
    (["set", "guest1", "round-2m", "--rebalance"], "movable", "move the memory of"),
    (["set", "guest1", "+auto"], "dynamic", "switch carrefour or auto of"),
    (["rebalance", "guest1"], "rebalance", "move the memory of"),
    (["rebalance", "guest1", "--dry-run"], "rebalance", "move the memory of"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else value)
def test_what_would_undo_it(xl, words, function, doing):
    assert xl.bad(*words, machine=with_vnuma(function)) == f"cannot {doing} VM 'guest1': {REASON}"

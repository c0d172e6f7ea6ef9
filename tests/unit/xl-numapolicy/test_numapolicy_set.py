# SPDX-License-Identifier: GPL-2.0-only
"""set: what it asks of libxl, and what it says then holds."""

import re

import pytest

from fake_machine import POLICIES, example, following

HINT = "'xl numa-policy rebalance guest1' moves its memory to where the policy wants it, while the VM runs\n"


def asked(xl):
    """The one request: policy, nodes and weights."""
    line, = [line for line in xl.trace() if line.startswith("set ")]
    head, weights = line.partition(" pause")[0].split(" weights")
    head, nodes = head.split(" nodes")
    _, domid, policy = head.split()
    return int(domid), POLICIES[int(policy)], [*map(int, nodes.split())], [*map(int, weights.split())]


@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "default"])
def test_policies(xl, policy):
    xl.good("set", "guest1", policy, machine=following())
    assert asked(xl) == (3, policy, [], [])


@pytest.mark.parametrize("args, nodes, weights", [
    (["--nodes", "1,3"], [1, 3], []),
    (["--nodes", "0-3,^1"], [0, 2, 3], []),
    (["--nodes", "all,^0"], [1, 2, 3], []),
    (["--nodes", "node:1,nodes:2-3,^node:3"], [1, 2], []),
    (["--nodes=2-3", "--weights=255:1"], [2, 3], [255, 1]),
    (["--weights", "4:3:2:1"], [], [4, 3, 2, 1]),
])
def test_nodes_and_weights(xl, args, nodes, weights):
    xl.good("set", 3, "round-1g", *args, machine=following())
    assert asked(xl) == (3, "round-1g", nodes, weights)


def test_what_is_not_named_is_kept(xl):
    """Home nodes, weights, and the limit, with any policy; and said."""
    machine = example()
    machine.domains[1].pause = 200
    assert xl.good("set", "guest1", "round-2m", machine=machine).startswith(
        "guest1 (id 3): round-2m on home nodes 0-1 (kept), weights 3:1 (kept), max-pause-us 200 (kept); the 1G it")
    assert asked(xl) == (3, "round-2m", [0, 1], [3, 1]) and any(line.endswith(" pause 200") for line in xl.trace())
    assert "home nodes" not in xl.good("set", "guest1", "none") and asked(xl) == (3, "none", [0, 1], [3, 1])


@pytest.mark.parametrize("args, asks, said", [
    (["--max-pause-us", "200"], ([0, 1], [3, 1]), "home nodes 0-1 (kept), weights 3:1 (kept), max-pause-us 200\n"),
    (["--max-pause-us", "20"], ([0, 1], [3, 1]), "home nodes 0-1 (kept), weights 3:1 (kept), max-pause-us 20, as before\n"),
    (["--max-pause-us", "0"], ([0, 1], [3, 1]), "home nodes 0-1 (kept), weights 3:1 (kept)\n"),
    (["--nodes", "affinity"], ([], []), "home nodes 0-3, max-pause-us 20 (kept); the 1G it already has stays"),
    (["--nodes", "2-3"], ([2, 3], []), "home nodes 2-3, max-pause-us 20 (kept); the 1G it already has stays"),
    (["--weights", "1:1"], ([0, 1], [1, 1]), "home nodes 0-1 (kept), max-pause-us 20 (kept); the 1G it already has stays"),
    (["--max-pause-us", "200", "+carrefour"], ([0, 1], [3, 1]),
     "home nodes 0-1 (kept), weights 3:1 (kept), max-pause-us 200; carrefour on\nbut "),
])
@pytest.mark.parametrize("policy", ["round-4k", "first-touch"])
def test_a_part_without_the_policy(xl, policy, args, asks, said):
    """The policy is kept as the rest is."""
    machine = example()
    machine.domains[1].pause, machine.domains[1].policy = 20, policy
    assert xl.good("set", "guest1", *args, machine=machine).startswith(f"guest1 (id 3): {policy} (kept) on {said}")
    assert asked(xl) == (3, policy, *asks)
    named = xl.json("set", "guest1", policy, *args, machine=machine)
    assert named == xl.json("set", "guest1", *args, machine=machine)
    assert named == xl.json("set", "guest1", "--dry-run", *args, machine=machine)


def test_a_part_of_policy_none(xl):
    """It has a limit, too; home nodes and weights mean something to the next policy."""
    machine = following()
    machine.domains[1].policy = "none"
    assert xl.good("set", "guest1", "--max-pause-us", "30", machine=machine) == "guest1 (id 3): none (kept), max-pause-us 30\n"
    assert asked(xl) == (3, "none", [], [])
    said = xl.bad("set", "guest1", "--nodes", "1", "--rebalance", machine=machine)
    assert said.startswith("policy none has no place for memory")


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
def test_a_part_of_what_has_no_policy(xl, dry_run):
    machine = example()
    machine.domains[1].policy = "vnuma"
    assert xl.bad("set", "guest1", "--max-pause-us", "30", *dry_run, machine=machine) == \
        "VM 'guest1' has virtual NUMA nodes, which place its memory; no policy can be set"


def test_a_part_and_then_the_memory(xl):
    machine = example()
    machine.memory = [("moved", 512)]
    said = xl.good("set", "guest1", "--nodes", "2-3", "--rebalance", machine=machine).splitlines()
    assert said[0] == "guest1 (id 3): round-4k (kept) on home nodes 2-3"
    assert said[1].startswith("guest1 (id 3): 2M moved by round-4k")


@pytest.mark.parametrize("name, word", [("web-1.x_Y", "web-1.x_Y"), ("with blank", "3"), ("a$(b)", "3"), ("-x", "3"),
                                        ("grüße", "3"), ("77", "3"), ("7a", "7a"), ("x;y", "3")])
def test_the_hint_can_be_typed(xl, name, word):
    """By the id, if the name is more than a word of the shell, or would be taken for something else."""
    machine = example()
    machine.domains[1].name = name
    assert f"'xl numa-policy rebalance {word}' moves it" in xl.good("set", "3", "round-2m", machine=machine)
    machine.domains[1].policy = "none"
    assert f"'xl numa-policy set {word} POLICY --rebalance'" in xl.bad("rebalance", "3", machine=machine)


@pytest.mark.parametrize("args, nodes, weights, said", [
    (["--nodes", "affinity"], [], [], "home nodes 0-3; "),
    (["--nodes", "affinity", "--weights", "1:2:3:4"], [], [1, 2, 3, 4], "home nodes 0-3, weights 1:2:3:4; "),
    (["--nodes", "2-3"], [2, 3], [], "home nodes 2-3; "),
    (["--nodes", "0-1"], [0, 1], [], "home nodes 0-1; "),
    (["--weights", "5:1"], [0, 1], [5, 1], "home nodes 0-1 (kept), weights 5:1; "),
])
def test_what_is_named_is_not_kept(xl, args, nodes, weights, said):
    """Weights were those of other nodes."""
    assert said in xl.good("set", "guest1", "round-2m", *args)
    assert asked(xl) == (3, "round-2m", nodes, weights)


def test_the_number_of_weights_is_that_of_the_nodes_that_are_kept(xl):
    assert xl.bad("set", "guest1", "round-2m", "--weights", "1:1:1") == "3 weights for 2 home nodes (0-1); give one a node"


def test_weights_of_nodes_that_follow_the_affinity_are_kept(xl):
    machine = following()
    machine.domains[1].weights[2] = 7
    assert "home nodes 0-3, weights 1:1:7:1 (kept); " in xl.good("set", "guest1", "round-2m", machine=machine)
    assert asked(xl) == (3, "round-2m", [], [1, 1, 7, 1])


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
def test_home_nodes_that_have_left_the_node_affinity(xl, dry_run):
    """xl has fixed it, and then the vCPUs were sent elsewhere: Xen says which they are."""
    machine = following()
    machine.domains[1].affinity, machine.domains[1].weights = 0b0011, {2: 1, 3: 1}
    for args, said in ((["round-2m"], "round-2m on home nodes 2-3"),
                       (["--weights", "1:2"], "round-4k (kept) on home nodes 2-3, weights 1:2")):
        assert said in xl.good("set", "guest1", *args, *dry_run, machine=machine)
    assert xl.bad("set", "guest1", "--weights", "1:2:3", *dry_run, machine=machine) == \
        "3 weights for 2 home nodes (2-3); give one a node"


def test_a_limit_is_kept_or_taken_away(xl):
    machine = following()
    machine.domains[1].pause = 200
    for args, said in ((["round-2m"], ", max-pause-us 200 (kept)"), (["round-2m", "--max-pause-us", "30"], ", max-pause-us 30"),
                       (["round-2m", "--max-pause-us", "0"], ""), (["round-2m,max-pause-us=0"], "")):
        assert xl.good("set", "guest1", *args, machine=machine).split("; ")[0].partition("0-3")[2] == said


@pytest.mark.parametrize("spec, args", [
    ("round-2m,nodes=0-1,weights=3:1", []),
    ("round-2m,weights=3:1", ["--nodes", "0-1"]),
    ("round-2m,nodes=0-1", ["--weights", "3:1"]),
])
def test_words_of_xl_cfg(xl, spec, args):
    xl.good("set", "guest1", spec, *args)
    assert asked(xl) == (3, "round-2m", [0, 1], [3, 1])


@pytest.mark.parametrize("args", [["round-2m", "--max-pause-us", "200"], ["round-2m,max-pause-us=200"]])
def test_limit_of_pauses(xl, args):
    assert "round-2m on home nodes 0-3, max-pause-us 200" in xl.good("set", "guest1", *args, machine=following())
    line, = [line for line in xl.trace() if line.startswith("set ")]
    assert line.endswith(" weights pause 200")
    assert xl.json("set", "guest1", *args)["domains"][0]["max_pause_us"] == 200


@pytest.mark.parametrize("args, status, reason", [
    (["round-2m,max-pause-us=200", "--max-pause-us", "200"], 2, "given twice"),
    (["round-2m,max-pause-us=-1"], 1, "from 0"),
    (["round-2m", "--max-pause-us", "1000001"], 1, "to 1000000"),
    (["round-2m,max-pause-us=20us"], 1, "from 0"),
    (["--max-pause-us", "1000001"], 1, "to 1000000"),
])
def test_no_limit_of_pauses(xl, args, status, reason):
    assert reason in xl.bad("set", "guest1", *args, status=status)
    assert not any(line.startswith("set ") for line in xl.trace())


def test_says_what_now_holds(xl):
    assert xl.good("set", "guest1", "round-2m", "--nodes", "1-2", "--weights", "3:1") == (
        "guest1 (id 3): round-2m on home nodes 1-2, weights 3:1; the 1G it already has stays "
        "where it is, 25.0% of it on home nodes\n" + HINT)


def test_says_that_nothing_changed(xl):
    assert xl.good("set", "guest1", "round-4k,nodes=0-1,weights=3:1") == (
        "guest1 (id 3): round-4k on home nodes 0-1, weights 3:1, as before\n")


def test_the_way_home_nodes_are_named_is_a_change(xl):
    """The same nodes and weights, but from now on they follow the affinity."""
    machine = example()
    machine.domains[1].weights = {2: 1, 3: 1}
    machine.domains[1].affinity = 0b1100
    assert "as before" not in xl.good("set", "guest1", "round-4k", "--nodes", "affinity", machine=machine)


def test_guest_without_memory(xl):
    machine = example()
    machine.domains[1].usage = {}
    assert xl.good("set", "3", "round-1g", "--nodes", "3", machine=machine) == (
        "guest1 (id 3): round-1g on home node 3\n")


def test_none(xl):
    assert xl.good("set", "guest2", "none") == \
        "guest2 (id 4): none; the 2G it already has stays where it is\n"


def test_equal_weights_go_without_saying(xl):
    assert xl.good("set", "guest1", "round-4k", "--nodes", "0,2", "--weights", "7:7") == (
        "guest1 (id 3): round-4k on home nodes 0,2; the 1G it already has stays where it is, "
        "75.0% of it on home nodes\n" + HINT)


def test_json_and_raw(xl):
    row, = xl.json("set", "guest1", "round-2m", "--nodes", "2-3")["domains"]
    assert (row["name"], row["id"], row["policy"], row["home_nodes"], row["weights"],
            row["follows_affinity"], row["at_home_percent"]) == \
        ("guest1", 3, "round-2m", [2, 3], [1, 1], False, 0.0)
    head, row = xl.raw("set", "guest1", "round-2m", "--nodes", "affinity")
    assert dict(zip(head, row))["follows_affinity"] == "yes"


@pytest.mark.parametrize("args", [["round-2m"], ["round-4k", "--nodes", "2-3", "--weights", "4:1"], ["none"],
                                  ["first-touch", "--nodes", "affinity"], ["round-1g,nodes=3", "+carrefour"],
                                  ["round-2m", "--max-pause-us", "30", "+auto=advise"], ["+carrefour", "-auto"]])
@pytest.mark.parametrize("machine", [example, following])
def test_dry_run(xl, args, machine):
    """Changes nothing, and says what set then says."""
    would = xl.json("set", "guest1", *args, "--dry-run", machine=machine())
    text = xl.good("set", "guest1", *args, "--dry-run", machine=machine())
    assert not [line for line in xl.trace() if line.startswith(("set ", "dynamic "))]
    assert would == xl.json("set", "guest1", *args, machine=machine())
    said = re.sub("^'xl numa-policy rebalance .*\n", "", xl.good("set", "guest1", *args, machine=machine()), flags=re.M)
    assert re.sub("would (be|have) ", "", text).replace("would stay", "stays") == said and "would " in text


@pytest.mark.parametrize("args, reason", [
    (["round-4k", "--nodes", "9"], "no node 9; this machine has 0-3"), (["round-5k"], "no policy 'round-5k'"),
    (["round-4k", "--weights", "1"], "1 weight for 2 home nodes"),
])
def test_dry_run_refuses(xl, args, reason):
    assert xl.bad("set", "guest1", "--dry-run", *args).startswith(reason)


def test_dry_run_of_a_guest_with_vnuma(xl):
    machine = example()
    machine.domains[1].policy = "vnuma"
    assert "virtual NUMA nodes" in xl.bad("set", "guest1", "round-2m", "--dry-run", machine=machine)


@pytest.mark.parametrize("args", [
    ["guest1", "round-4k", "--nodes", "9"],
    ["guest1", "round-5k"],
    ["guest1", "round-4k", "--weights", "1:1:1"],
    ["0", "round-4k"],
])
def test_refused_means_not_asked(xl, args):
    xl.bad("set", *args)
    assert not any(line.startswith("set ") for line in xl.trace())


@pytest.mark.parametrize("args, elsewhere", [
    (["round-2m", "--nodes", "0-1"], True),  # all at home, but by another grain
    (["round-4k", "--nodes", "0-1"], True),  # ... by other weights
    (["round-4k,nodes=0-1,weights=3:1"], False),  # as before
    (["round-2m", "--nodes", "0"], True),
    (["none"], False),
])
def test_hint(xl, args, elsewhere):
    """How to move the memory, where it may be elsewhere than the policy wants it."""
    assert (HINT in xl.good("set", "guest1", *args)) == elsewhere


@pytest.mark.parametrize("homes, elsewhere", [({0: 1}, False), ({1: 1}, True)])
def test_hint_with_one_home_node(xl, homes, elsewhere):
    """Where all of it is on that node, no policy would move any."""
    machine = example()
    machine.domains[1].usage = {0: (512, 0, 0)}
    text = xl.good("set", "guest1", "round-2m", "--nodes", *homes, machine=machine)
    assert (HINT in text) == elsewhere


def test_hint_when_nothing_changed_but_the_memory_is_elsewhere(xl):
    machine = example()
    machine.domains[1].usage = {3: (512, 0, 0)}
    assert xl.good("set", "guest1", "round-4k,nodes=0-1,weights=3:1", machine=machine) == (
        "guest1 (id 3): round-4k on home nodes 0-1, weights 3:1, as before\n" + HINT)


def test_no_hint_for_programs(xl):
    assert "rebalance" not in xl.good("set", "guest1", "round-2m", "--json")
    assert "rebalance" not in xl.good("set", "guest1", "round-2m", "--raw")

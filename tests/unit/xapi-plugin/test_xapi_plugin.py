# SPDX-License-Identifier: GPL-2.0-only
"""The XAPI plugin: what its calls ask of `xl numa-policy`, and what they answer."""

import ast
import json
import os
import re
import stat

import pytest
from xapi_host import PLUGIN, UUID, host

README = (PLUGIN.parent / "README.md").read_text()
CALLS = {name: set(re.findall(r"`([\w-]+)`", words)) for name, words in
         re.findall(r"^\| `(\w+)` \| ([^|]*)\|", README, re.M)}
VM = "00000000-0000-4000-8000-00000000000a"     # that no host has
HOSTILE = ["3", "guest1", "Domain-0", "", "--help", "-h", "+carrefour", UUID[3][:-1], UUID[3] + "0", UUID[3] + "\n", UUID[3] + " ",
           f"{UUID[3]}\n{UUID[4]}", f"$(touch shot){UUID[3]}", f"{UUID[3]};touch shot", "`touch shot`", "../" + UUID[3]]


def test_list(xapi):
    document = xapi.json("list")
    assert [(row["name"], row["id"], row["policy"], row["uuid"]) for row in document["domains"][1:]] == [
        ("guest1", 3, "round-4k", UUID[3]), ("guest2", 4, "round-2m", UUID[4])]
    assert document["version"] == 1 and len(document["host"]) == 4
    row, = xapi.json("list", vm_uuid=UUID[4])["domains"]
    assert row["id"] == 4
    assert "host" not in xapi.json("list", brief="true")


def test_show(xapi):
    document = xapi.json("show", vm_uuid=UUID[3].upper())
    assert document["domains"][0]["name"] == "guest1" and len(document["nodes"]) == 4


def test_set(xapi):
    """What holds, and what the next start will have."""
    document = xapi.json("set", vm_uuid=UUID[3], policy="round-2m", nodes="2-3", weights="3:1", max_pause_us="200")
    row, = document["domains"]
    assert (row["policy"], row["home_nodes"], row["weights"], row["max_pause_us"]) == ("round-2m", [2, 3], [3, 1], 200)
    words = "round-2m,nodes=2,3,weights=3:1,max-pause-us=200"
    assert xapi.kept(3) == words and f"other-config:numa-policy is '{words}'; fn=apply" in document["next_start"]
    assert xapi.kept(4) is None


@pytest.mark.parametrize("policy, kept", [("none", "none,nodes=0,1,weights=3:1"), ("round-1g,nodes=3", "round-1g,nodes=3")])
def test_what_set_keeps_is_what_holds(xapi, policy, kept):
    """With what the caller has not named."""
    xapi.json("set", vm_uuid=UUID[3], policy=policy)
    assert xapi.kept(3) == kept
    xapi.json("set", vm_uuid=UUID[3], policy="round-4k", nodes="affinity")
    assert xapi.kept(3) == "round-4k"


@pytest.mark.parametrize("args, said", [({"keep": "false"}, "is not kept"), ({"dry_run": "true"}, "nothing has changed")])
def test_set_may_keep_nothing(xapi, args, said):
    assert said in xapi.json("set", vm_uuid=UUID[3], policy="none", **args)["next_start"]
    assert xapi.kept(3) is None
    assert any(line.startswith("set 3") for line in xapi.trace()) == ("keep" in args)


def test_set_says_that_xapi_kept_nothing(xapi):
    line = xapi.bad("set", vm_uuid=UUID[3], policy="none", env={"STUB_READ_ONLY": "1"})
    assert line == ("the policy is set, but XAPI did not keep it in other-config:numa-policy: "
                    "RBAC_PERMISSION_DENIED vm.add_to_other_config")


@pytest.mark.parametrize("policy", ["round-2m,carrefour", "round-4k,auto", "first-touch,auto=advise"])
def test_carrefour_needs_libxl(xapi, policy):
    """Which has not made these VMs, and says so."""
    assert "another toolstack has made it, and libxl switches these only for its own" in xapi.bad(
        "set", vm_uuid=UUID[3], policy=policy)
    assert xapi.kept(3) is None


def test_rebalance(xapi):
    machine = host()
    machine.memory = [("moved", 1 << 18), ("in_use", 512)]
    machine.speed = 256 << 20       # long enough for progress
    result = xapi.json("rebalance", machine=machine, vm_uuid=UUID[3], max_mb_per_s="100")
    assert (result["event"], result["moved_bytes"], result["in_use_bytes"]) == ("result", 1 << 30, 2 << 20)
    assert xapi.json("rebalance", machine=machine, vm_uuid=UUID[3], dry_run="true")["dry_run"] is True
    assert "stays where it is" in xapi.bad("rebalance", machine=machine, vm_uuid=UUID[3], strict="true")


def test_errors_are_the_command_s(xapi):
    assert xapi.bad("show", vm_uuid=VM) == f"no VM '{VM}'; 'xl list' shows them"
    assert xapi.bad("set", vm_uuid=UUID[3], policy="round-5k").startswith("no policy 'round-5k'; there are ")
    assert xapi.bad("set", vm_uuid=UUID[3], policy="round-4k", nodes="9") == "no node 9; this machine has 0-3"
    assert xapi.bad("set", vm_uuid=UUID[3], policy="round-4k", nodes="x").startswith("'x' is no value for --nodes; give ")
    assert xapi.bad("list", machine=host().fail("get", -4)).startswith("this Xen has no NUMA placement policies")
    line = xapi.bad("list", env={"PATH": "/nowhere"})
    assert line.startswith("there is no xl in dom0's PATH") or "numa-policy" in line


@pytest.mark.parametrize("uuid", HOSTILE)
def test_no_uuid(xapi, tmp_path, uuid):
    for fn, args in ("list", {}), ("show", {}), ("set", {"policy": "none"}), ("rebalance", {}):
        line = xapi.bad(fn, vm_uuid=uuid, **args)
        assert line.endswith(" is no UUID of a VM; 'xe vm-list' shows them")
        assert xapi.calls() == []
    assert not (tmp_path / "shot").exists()


@pytest.mark.parametrize("policy", ["--rebalance", "--nodes=0", "-h", "--json", "+carrefour", "-auto", "", "none --rebalance",
                                    "$(touch shot)", "none;touch shot", "none\n", "r\u00f6und", "\u202enone"])
def test_no_policy_becomes_an_option(xapi, tmp_path, policy):
    xapi.bad("set", vm_uuid=UUID[3], policy=policy)
    assert xapi.calls() == [["set", "--json", "--", UUID[3], policy]] or "\n" in policy
    assert not [line for line in xapi.trace() if line.startswith(("set", "rebalance", "dynamic"))]
    assert not (tmp_path / "shot").exists() and xapi.kept(3) is None


@pytest.mark.parametrize("name", ["nodes", "weights", "max_pause_us"])
@pytest.mark.parametrize("value", ["--rebalance", "0 --rebalance", "0,carrefour", "-h", "$(touch shot)", "1\n"])
def test_no_value_becomes_an_option(xapi, tmp_path, name, value):
    xapi.bad("set", vm_uuid=UUID[3], policy="round-4k", **{name: value})
    assert not [line for line in xapi.trace() if line.startswith(("set", "rebalance", "dynamic"))]
    assert not (tmp_path / "shot").exists()


@pytest.mark.parametrize("fn, args, line", [
    ("show", {}, "args:vm-uuid= is missing"),
    ("set", {"vm_uuid": UUID[3]}, "args:policy= is missing"),
    ("set", {"vm_uuid": UUID[3], "policy": "none", "keep": "yes"}, "'yes' is no value for args:keep=; give true or false"),
    ("list", {"brief": ""}, "'' is no value for args:brief=; give true or false"),
    ("metrics", {"vm_uuid": UUID[3]}, "there is no args:vm-uuid= for this function; README.md of the plugin lists them"),
])
def test_arguments(xapi, fn, args, line):
    assert xapi.bad(fn, **args) == line and xapi.calls() == []


def test_what_the_caller_sends_stays_one_line(xapi):
    assert xapi.bad("list", **{"x\ny\x85": "1"}).startswith("there is no args:x\\x0ay\\x85= for")


def test_no_such_function(xapi):
    assert xapi.run("destroy")["ErrorDescription"] == ["UNKNOWN_XENAPI_PLUGIN_FUNCTION", "destroy"]


@pytest.mark.parametrize("name", ["B\u00fcro", "\u6f22\u5b57 \U0001f600", "a<b>&\"'", "bell\x07", "line\tbreak", "\ufffe"])
def test_names_in_any_script(xapi, name):
    """In an answer that XML can carry, although there is no locale."""
    machine = host()
    machine.domains[1].name = name
    assert xapi.json("list", machine=machine)["domains"][1]["name"] == name
    assert xapi.good("list", machine=machine).isascii()


def test_the_readme_has_each_call(xapi):
    """And each argument."""
    source = PLUGIN.read_text()
    functions = set(re.findall(r'"(\w+)": (?:as_json|metrics)', source))
    assert functions == set(CALLS) and CALLS["set"] >= {"vm-uuid", "policy", "keep"}
    for fn, names in CALLS.items():
        for name in names:
            said = xapi.run(fn, **{name: "?"})
            assert not (said["Status"] == "Failure" and "there is no args:" in str(said)), (fn, name)
    named = set(re.findall(r'(?:argument|flag|options)\(args, ([^)]*)\)', source))
    assert {name for text in named for name in re.findall(r'"([\w-]+)"', text)} - {"false", "true"} == set().union(*CALLS.values())


def test_metrics(xapi, tmp_path):
    """As they are, with what XML cannot carry replaced."""
    path = tmp_path / "carrefour.prom"
    line = "cannot read " + str(path)
    assert "does carrefourd run?" in xapi.bad("metrics")
    xapi.configuration.write_text("# metrics = /dev/null\nperiod_ms = 1000\n")
    assert xapi.bad("metrics") == f"carrefourd writes no metrics; set metrics = in {xapi.configuration}"
    xapi.configuration.write_text(f"period_ms = 1000\n  metrics\t= {path} \n")
    assert xapi.bad("metrics").startswith(line)
    path.write_bytes(b'a{domain="B\xc3\xbcro \xff \x01<&>"} 1\n')
    assert xapi.good("metrics") == 'a{domain="B\u00fcro \ufffd \ufffd<&>"} 1\n'


def applied(xapi, **options):
    return {row["id"]: row for row in xapi.json("apply", **options)["vms"]}


def test_apply(xapi):
    """What other-config says, for each VM that runs and has it; what it does not say is as in a new VM."""
    xapi.keep(v3="round-2m,nodes=1-2")
    row, = applied(xapi).values()
    assert (row["id"], row["policy"], row["set"], row["error"], row["moved_bytes"]) == (3, "round-2m,nodes=1-2", True, None, None)
    assert [line for line in xapi.trace() if line.startswith(("set", "rebalance"))] == ["set 3 3 nodes 1 2 weights"]


def test_apply_takes_what_set_has_kept(xapi):
    xapi.json("set", vm_uuid=UUID[3], policy="round-2m", nodes="1,3", weights="3:1", max_pause_us="200")
    asked = [line for line in xapi.trace() if line.startswith("set")]
    assert asked == ["set 3 3 nodes 1 3 weights 3 1 pause 200"] and applied(xapi)[3]["set"]
    assert [line for line in xapi.trace() if line.startswith("set")] == asked


def test_apply_takes_away_what_is_not_said(xapi):
    machine = host()
    machine.domains[1].pause = 100
    xapi.keep(v3="round-2m")
    assert applied(xapi, machine=machine)[3]["set"]
    assert [line for line in xapi.trace() if line.startswith("set")] == ["set 3 3 nodes weights"]


def test_apply_once_a_start(xapi):
    """What is set later by hand stays; another start, or other words, and it is applied again."""
    xapi.keep(v3="round-2m", v4="round-1g")
    assert all(row["set"] for row in applied(xapi).values())
    assert not any(row["set"] for row in applied(xapi).values())
    assert not [line for line in xapi.trace() if line.startswith("set")]
    again = host()
    again.domains[1].id = 9
    assert {number: row["set"] for number, row in applied(xapi, machine=again).items()} == {9: True, 4: False}
    xapi.keep(v3="round-2m", v4="round-4k")
    assert {number: row["set"] for number, row in applied(xapi, machine=again).items()} == {9: False, 4: True}


@pytest.mark.parametrize("content", ["", "{", "null", "[1]", "7"])
def test_apply_after_one_that_was_killed(xapi, content):
    xapi.keep(v3="round-2m")
    applied(xapi)
    xapi.applied.write_text(content)
    assert applied(xapi)[3]["set"]
    assert json.loads(xapi.applied.read_text()) == {UUID[3]: [3, "round-2m"]}


def test_apply_moves_memory(xapi):
    machine = host()
    machine.memory = [("moved", 512)]
    xapi.keep(v3="round-2m", v4="none")
    rows = applied(xapi, machine=machine, rebalance="true", max_mb_per_s="50")
    assert (rows[3]["moved_bytes"], rows[4]["moved_bytes"]) == (2 << 20, None)
    assert ["rebalance", "--json", "--quiet", "--max-mb-per-s=50", "--", UUID[3]] in xapi.calls()


def test_apply_goes_on_after_an_error(xapi):
    """And says which VM, and why; that one is tried again."""
    xapi.keep(v3="round-5k", v4="round-1g")
    line = xapi.bad("apply")
    assert line.startswith(f"VM {UUID[3]}: no policy 'round-5k'; there are ") and UUID[4] not in line
    assert any(line.startswith("set 4 4") for line in xapi.trace())
    xapi.keep(v3="round-4k", v4="round-1g")
    assert {number: row["set"] for number, row in applied(xapi).items()} == {3: True, 4: False}


def test_apply_leaves_vms_that_xapi_has_not_made(xapi):
    xapi.database.write_text("{}")
    assert xapi.json("apply") == {"version": 1, "busy": False, "vms": []}


def test_apply_fails_with_xapi(xapi):
    """Not as if no VM had a policy."""
    xapi.keep(v3="round-2m")
    assert xapi.run("apply", session="OpaqueRef:old")["ErrorDescription"] == [
        "XENAPI_PLUGIN_FAILURE", "apply", "Failure", "['SESSION_INVALID', 'OpaqueRef:old']"]
    assert applied(xapi)[3]["set"]


def test_apply_waits_for_no_other(xapi):
    import fcntl
    xapi.keep(v3="round-2m")
    with open(xapi.applied, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert xapi.json("apply") == {"version": 1, "busy": True, "vms": []}
    assert applied(xapi)[3]["set"]


def test_python_of_dom0():
    """3.6: its syntax, and nothing of subprocess and str that came later."""
    source = PLUGIN.read_text()
    ast.parse(source, feature_version=(3, 6))
    assert not re.search(r"capture_output|text=|removeprefix|removesuffix|\.isascii|dirs_exist_ok|missing_ok", source)
    assert source.startswith("#!/usr/bin/python3\n") and os.stat(PLUGIN).st_mode & stat.S_IXOTH

# SPDX-License-Identifier: GPL-2.0-only
"""What programs get: one name for one thing, of one type, in each document, and all of them described."""

import json
import re

import pytest

from fake_machine import example
from numapolicy_build import ROOT
from test_numapolicy_carrefour import SHOW, daemon

ARRAYS = {"domains", "nodes", "host", "pages", "accesses"}
UNITS = ("_bytes", "_pages", "_percent", "_ns", "_us", "_s")
COMMANDS = [["list"], ["list", "--brief"], ["show", "guest1"], ["top"], ["set", "guest1", "round-2m"],
            ["set", "guest1", "+carrefour"], ["where", "guest1", "0"], ["rebalance", "guest1", "-q"],
            ["rebalance", "guest1"], ["compact", "guest2", "-q"], ["set", "guest1", "round-2m", "--rebalance", "-q"],
            ["rebalance", "--all"], ["evacuate", "0", "--force"], ["watch", "guest2"]]


def busy():
    """Long enough for progress to be told."""
    machine = example()
    machine.memory, machine.speed = [("moved", 1 << 18)], 256 << 20
    machine.accesses = {(0, 1): 200}
    return machine


@pytest.fixture(scope="module")
def described():
    """The names in the tables of the document, and the type of each."""
    text = (ROOT / "docs/interfaces.md").read_text().split("\n## JSON of xl numa-policy\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*`) \| ([a-z ,]+) \|", text, re.M)
    return {name: kind for names, kind in rows for name in re.findall(r"`(\w+)`", names)}


def objects(document):
    """Each object of a document, and the document without its arrays of objects."""
    yield {name: value for name, value in document.items() if name not in ARRAYS}
    for name in ARRAYS & set(document):
        yield from document[name]


def kind(value):
    if isinstance(value, list):
        return "array of numbers"
    return {bool: "boolean", int: "number", float: "number", str: "text"}[type(value)]


def documents(xl, tmp_path, command):
    with daemon(tmp_path, lambda *_: SHOW) as (env, _):
        text = xl.run(*command, "--json", machine=busy(), env=env).stdout
    return [json.loads(text)] if text.startswith("{\n") else [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_each_name_is_described(xl, tmp_path, described, command):
    for document in documents(xl, tmp_path, command):
        assert document["version"] == 1 and list(document)[0] == "version"
        assert ARRAYS & set(document) or "event" in document
        for one in objects(document):
            for name, value in one.items():
                if isinstance(value, list) and name == "memory_by_node_bytes":
                    value = [part for part in value if part is not None]
                assert name in described, name
                assert value is None or kind(value) == described[name], name


def test_all_that_is_described_is_there(xl, tmp_path, described):
    there = {name for command in COMMANDS for document in documents(xl, tmp_path, command)
             for one in objects(document) for name in one}
    assert set(described) - there == set()


def test_raw_has_the_same_names(xl, described):
    """But that list has a column a node."""
    for command in COMMANDS:
        for table in xl.run(*command, "--raw", machine=example()).stdout.split("\n\n"):
            names = {name for name in table.splitlines()[0].split(" ") if not re.fullmatch(r"n\d+", name)}
            assert names <= set(described), command


def test_numbers_have_units(described):
    """In the name, unless they count what the name says, number something, or are of both kinds."""
    bare = {name for name, kind in described.items() if kind == "number" and not name.endswith(UNITS)}
    assert bare == {"version", "id", "node", "gfn", "weight", "samples", "moves", "total_samples_dropped", "move_batches",
                    "flush_rounds", "pauses_exceeded", "touches_4k", "touches_2m", "touches_by_others",
                    "release_flush_rounds", "page_events", "invalid_page_events", "nodes_in_use",
                    "nodes_needed", "from_node", "to_node", "pages_4k", "pages_2m", "pages_1g",
                    "percent", "seconds", "seconds_left", "bytes_per_second"}

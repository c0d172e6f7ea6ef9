# SPDX-License-Identifier: GPL-2.0-only
"""`xl numa-policy`, typed as people type it, on a machine with guests."""

import json

import pytest

from harness import checks, guests

pytestmark = pytest.mark.boot("n8")

HOMES = [0, 1, 2, 3]


@pytest.fixture
def two_guests(machine):
    guests.create(machine, "alpha", memory=64, policy="round-4k,nodes=0-3")
    guests.create(machine, "beta", memory=96, policy="round-2m,nodes=5-6,weights=3:1")
    return machine


def answer(machine, arguments):
    return json.loads(machine.run(f"xl numa-policy {arguments} --json").out)


def refusal(machine, arguments):
    """The one line on stderr; nothing on stdout."""
    result = machine.run(f"xl numa-policy {arguments}", check=False)
    assert result.status in (1, 2), result
    assert result.out == ""
    lines = result.err.splitlines()
    assert len(lines) == 1, result.err
    assert lines[0].startswith("xl numa-policy")
    return lines[0]


def test_list(two_guests):
    domains = {d["name"]: d for d in answer(two_guests, "list")["domains"]}
    assert set(domains) == {"Domain-0", "alpha", "beta"}
    alpha, beta = domains["alpha"], domains["beta"]
    assert (alpha["policy"], alpha["home_nodes"]) == ("round-4k", HOMES)
    assert (beta["policy"], beta["home_nodes"]) == ("round-2m", [5, 6])
    for name, entry in (("alpha", alpha), ("beta", beta)):
        pages = guests.dump(two_guests, name).usage_pages()
        assert entry["id"] == guests.domid(two_guests, name)
        assert entry["memory_by_node_bytes"] == [pages.get(node, 0) << 12 for node in range(8)]
        assert entry["memory_bytes"] == sum(pages.values()) << 12
        assert entry["at_home_percent"] == 100
        assert entry["fallback_pages"] == 0
    assert domains["Domain-0"]["policy"] is None


def test_list_table(two_guests):
    lines = two_guests.run("COLUMNS=200 xl numa-policy list").out.splitlines()
    assert lines[0].split()[:4] == ["NAME", "ID", "TYPE", "POLICY"]
    rows = {line.split()[0]: line.split() for line in lines[1:] if line}
    assert rows["alpha"][3:5] == ["round-4k", "0-3"]
    assert rows["beta"][3:5] == ["round-2m", "5-6"]
    assert rows["Domain-0"][3] == "-"


def test_raw(two_guests):
    """One line a row, one space between fields, as many fields as the heading has."""
    for command in ("list", "show alpha", "where alpha 0-3"):
        out = two_guests.run(f"xl numa-policy {command} --raw").out
        for table in out.strip().split("\n\n"):
            heading, *rows = table.splitlines()
            assert rows
            for row in rows:
                assert len(row.split(" ")) == len(heading.split(" ")), row


def test_show(two_guests):
    said = answer(two_guests, "show beta")
    assert said == answer(two_guests, f"show {guests.domid(two_guests, 'beta')}")
    dump = guests.dump(two_guests, "beta")
    domain = said["domains"][0]
    assert (domain["name"], domain["policy"]) == ("beta", "round-2m")
    assert (domain["home_nodes"], domain["weights"]) == ([5, 6], [3, 1])
    assert domain["follows_affinity"] is False
    assert (domain["placed_pages"], domain["fallback_pages"]) == (dump.placed, dump.fallback)
    for node in said["nodes"]:
        sizes = (node["pages_4k"], node["pages_2m"], node["pages_1g"])
        assert sizes == dump.usage.get(node["node"], (0, 0, 0))
        assert node["home"] is (node["node"] in (5, 6))


def test_show_for_people(two_guests):
    out = two_guests.run("xl numa-policy show beta").out
    assert "round-2m" in out
    assert "5-6" in out
    assert "3:1" in out


def test_where_tells_every_page(two_guests):
    """Of twice what beta's weights repeat after; the line to dom0 takes 2 ms a page."""
    dump = guests.dump(two_guests, "beta", 96)
    pages = answer(two_guests, "where beta 0-0xfff")["pages"]
    assert len(pages) == 0x1000
    said = {int(str(page["gfn"]), 0): page["node"] for page in pages}
    assert {gfn: node for gfn, node in said.items() if node is not None} == {
        gfn: node for gfn, (node, _) in dump.pages.items() if gfn < 0x1000}


def test_where_without_ram(two_guests):
    page, = answer(two_guests, "where alpha 0x7fffffff")["pages"]
    assert page["node"] is None


def test_set(two_guests):
    two_guests.run("xl numa-policy set alpha round-1g --nodes 0-4,^2 --weights 4:3:2:1")
    checks.check_policy(guests.dump(two_guests, "alpha"), "round-1g", [0, 1, 3, 4], [4, 3, 2, 1])
    identity = guests.domid(two_guests, "alpha")
    two_guests.run(f"xl numa-policy set {identity} round-4k,nodes=7")
    checks.check_policy(guests.dump(two_guests, "alpha"), "round-4k", [7])
    two_guests.run("xl numa-policy set alpha none")
    assert guests.dump(two_guests, "alpha").policy == "none"


REFUSALS = [
    ("show nosuch", ["nosuch", "xl list"]),
    ("show 4711", ["4711"]),
    ("show Domain-0", ["Domain-0", "PV"]),
    ("show 0", ["PV"]),
    ("set alpha round-3k", ["round-3k", "round-4k", "round-2m", "round-1g"]),
    ("set alpha round-4k --nodes 8", ["8", "0-7"]),
    ("set alpha round-4k --nodes 0-1 --weights 1:2:3", ["3 weights", "2 home nodes"]),
    ("set alpha round-4k --nodes 0-1 --weights 0:1", ["1"]),
    ("set alpha round-4k --nodes banana", ["banana"]),
    ("set Domain-0 round-4k", ["PV"]),
    ("where alpha 0xzz", ["0xzz"]),
    ("where alpha 9-3", ["9-3"]),
    ("where alpha", ["--help"]),
    ("frobnicate", ["frobnicate", "--help"]),
    ("list --xml", ["--help"]),
]


def test_refusals(two_guests):
    """One line each, that says what would be right; and nothing has changed."""
    before = guests.dump(two_guests, "alpha")
    for arguments, words in REFUSALS:
        line = refusal(two_guests, arguments)
        for word in words:
            assert word in line, f"{arguments}: {line}"
    assert guests.dump(two_guests, "alpha") == before


def test_help(machine):
    out = machine.run("xl numa-policy --help").out
    for command in ("list", "show", "set", "rebalance", "where"):
        assert command in out
        assert "xl numa-policy " + command in machine.run(f"xl numa-policy {command} --help").out


def test_xl_itself(machine):
    """xl offers the command; what is neither its own nor a program is refused as ever."""
    assert "numa-policy" in machine.run("xl help").out
    result = machine.run("xl no-such-thing", check=False)
    assert result.status != 0
    assert result.err == 'command "no-such-thing" not implemented\n'

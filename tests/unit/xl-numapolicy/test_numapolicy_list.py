# SPDX-License-Identifier: GPL-2.0-only
"""list: a row a domain, as a table, raw and in JSON."""

import json
import os
import pty

import pytest

from fake_machine import ERROR_DOMAIN_NOTFOUND, ERROR_FAIL, ERROR_INVAL, MIB, Domain, Machine, example

UUIDS = {d.id: d.uuid for d in example().domains}
EXAMPLE = """\
NAME     ID TYPE POLICY   HOME VCPUS NODES   NUMA AT-HOME FELL-BACK MEMORY   N0   N1  N2   N3
Domain-0  0 PV   -        -    -         -      -       -         -      -    -    -   -    -
guest1    3 PVH  round-4k 0-1  0         2 ~75.0%  100.0%        12     1G 768M 256M   0    0
guest2    4 HVM  round-2m 2-3  2-3       3 ~50.0%   50.0%         0     2G   1G    0 12K   1G
(free)    - -    -        -    -         -      -       -         -   1.2G    0 512M  1M 768M
(host)    - -    -        -    -         -      -       -         -     4G   1G   1G  1G   1G
"""


@pytest.mark.parametrize("command", [["list"], []])
def test_table(xl, command):
    assert xl.good(*command) == EXAMPLE


def test_json(xl):
    rows = xl.json("list")["domains"]
    assert rows[0] == {"name": "Domain-0", "id": 0, "type": "PV", "policy": None,
                       "home_nodes": None, "carrefour": None, "auto": None, "vcpu_nodes": None,
                       "nodes_in_use": None, "nodes_needed": None, "numa_percent": None, "numa_from": None,
                       "at_home_percent": None, "vcpu_local_percent": None, "fallback_pages": None, "advice": None,
                       "mapped_4k_bytes": None, "mapped_2m_bytes": None, "mapped_1g_bytes": None,
                       "uuid": UUIDS[0], "memory_bytes": None, "memory_by_node_bytes": None}
    assert rows[1] == {"name": "guest1", "id": 3, "type": "PVH", "policy": "round-4k",
                       "home_nodes": [0, 1], "carrefour": False, "auto": "off", "vcpu_nodes": [0],
                       "nodes_in_use": 2, "nodes_needed": 1, "numa_percent": 75.0, "numa_from": "estimate",
                       "at_home_percent": 100.0, "vcpu_local_percent": 75.0, "fallback_pages": 12, "advice": None,
                       "mapped_4k_bytes": 512 * MIB, "mapped_2m_bytes": 512 * MIB, "mapped_1g_bytes": 0,
                       "uuid": UUIDS[3], "memory_bytes": 1024 * MIB,
                       "memory_by_node_bytes": [768 * MIB, 256 * MIB, 0, 0]}
    assert rows[2]["memory_by_node_bytes"] == [1024 * MIB, 0, 3 * 4096, 1024 * MIB]
    assert rows[2]["memory_bytes"] == sum(rows[2]["memory_by_node_bytes"])
    assert len(rows) == 3
    assert xl.json("list")["host"] == [{"node": node, "total_bytes": 1 << 30, "free_bytes": free} for node, free in
                                        enumerate([0, 512 * MIB, MIB, 768 * MIB])]


def test_json_without_a_command(xl):
    assert xl.json() == xl.json("list")


def test_raw(xl):
    text, host = xl.good("list", "--raw").split("\n\n")
    rows = [line.split(" ") for line in text.splitlines()]
    assert host.splitlines()[:2] == ["node total_bytes free_bytes", f"0 {1 << 30} 0"] and len(host.splitlines()) == 5
    assert rows[0] == ["name", "id", "type", "policy", "home_nodes", "carrefour", "auto", "vcpu_nodes",
                       "nodes_in_use", "nodes_needed", "numa_percent", "numa_from", "at_home_percent", "vcpu_local_percent",
                       "fallback_pages", "mapped_4k_bytes", "mapped_2m_bytes", "mapped_1g_bytes", "memory_bytes", "uuid",
                       "advice", "n0", "n1", "n2", "n3"]
    assert rows[1] == ["Domain-0", "0", "PV"] + ["-"] * 16 + [UUIDS[0]] + ["-"] * 5
    assert rows[3] == ["guest2", "4", "HVM", "round-2m", "2-3", "no", "off", "2-3", "3", "3", "50.0", "estimate", "50.0", "50.0",
                       "0", "12288", str(1024 * MIB), str(1024 * MIB),
                       str(2 * 1024 * MIB + 12288), UUIDS[4], "-", str(1024 * MIB), "0", "12288",
                       str(1024 * MIB)]


@pytest.mark.parametrize("policy, homes, keeps", [
    ("none", 2, True), ("round-2m", 2, True), ("round-1g", 2, True), ("vnuma", 2, True), ("round-4k", 1, True),
    ("round-4k", 2, False), ("first-touch", 2, False), ("first-touch", 1, False)])
def test_lost_superpages(xl, policy, homes, keeps):
    """What AT-HOME does not show: memory that is where it should be, by 4 KiB although its policy keeps 2 MiB."""
    def lines(small):
        machine = Machine(2, domains=[
            Domain(1, "g", policy=policy, weights=dict.fromkeys(range(homes), 1), usage={0: (small, 95, 0)}),
            Domain(2, "h", weights={0: 1, 1: 1}, usage={0: (512 * 100, 0, 0)})])
        heading, row, other, *_ = (line.split() for line in xl.good("list", machine=machine).splitlines())
        return dict(zip(heading, row)), dict(zip(heading, other))

    assert "BY-4K" not in lines(4 * 512)[0]
    row, other = lines(5 * 512)
    assert (row.get("BY-4K"), row["AT-HOME"]) == ("10M" if keeps else None, "100.0%")
    assert other.get("BY-4K") == ("-" if keeps else None)


def test_no_domain_at_all(xl):
    assert xl.json("list", machine=Machine()) == {"version": 1, "domains": [], "host": [
        {"node": node, "total_bytes": 1 << 30, "free_bytes": 0} for node in range(4)]}
    xl.good("list", machine=Machine())


@pytest.mark.parametrize("sizes, text", [
    ((1, 0, 0), "4K"), ((255, 0, 0), "1020K"), ((256, 0, 0), "1M"), ((87381, 0, 0), "341.3M"),
    ((0, 0, 1023), "1023G"), ((0, 0, 1024), "1T"), ((1, 0, 4), "4G"), ((0, 256, 1), "1.5G")])
def test_sizes(xl, sizes, text):
    machine = Machine(1, domains=[Domain(1, "g", weights={0: 1}, usage={0: sizes})])
    assert xl.good("list", machine=machine).splitlines()[1].split()[-1] == text
    assert xl.raw("list", machine=machine)[1][-1] == str(machine.domains[0].bytes_on(0))


def test_share_is_rounded_down(xl):
    machine = Machine(2, domains=[
        Domain(1, "g", weights={0: 1}, usage={0: (99999, 0, 0), 1: (1, 0, 0)})])
    assert " 99.9% " in xl.good("list", machine=machine)


def test_guest_without_memory(xl):
    row, = xl.json("list", machine=Machine(1, domains=[Domain(1, "g", weights={0: 1})]))["domains"]
    assert row["memory_bytes"] == 0 and row["at_home_percent"] is None


def test_only_nodes_that_exist(xl):
    machine = example()
    machine.absent = [1, 2]
    machine.domains.pop()
    header = xl.good("list", machine=machine).splitlines()[0].split()
    assert header[-2:] == ["N0", "N3"] and "N1" not in header
    assert xl.json("list", machine=machine)["domains"][1]["memory_by_node_bytes"] == \
        [768 * MIB, None, None, 0]


def many_nodes(nodes, differ=False):
    """Guests that have as much on each node, or a little more on each than on the one before."""
    return Machine(nodes, domains=[
        Domain(n, f"guest-no-{n}", weights={i: 1 for i in range(nodes)},
               usage={i: (87381 + 256 * i * differ, 0, 0) for i in range(nodes)}) for n in (1, 2)])


@pytest.mark.parametrize("nodes, columns, differ",
                         [(8, 80, True), (8, 120, True), (16, 80, True), (64, 100, True),
                          (8, 80, False), (64, 80, False)])
def test_fits_the_screen(xl, nodes, columns, differ):
    lines = xl.good("list", machine=many_nodes(nodes, differ),
                    env={"COLUMNS": str(columns)}).splitlines()
    assert max(map(len, lines)) <= columns
    assert ("N7" in lines[0]) == ((nodes, columns) == (8, 120))
    text = " ".join(lines)
    if nodes == 8 and columns == 120:
        assert all(text.count(f" {341 + node}.3M") == 2 for node in range(nodes))
    elif nodes == 64 and differ:
        assert text.count("even over 14-50") == 2 and text.count(" 404.3M") == 2
    else:
        assert len(lines) == 5 and text.count(f"even over 0-{nodes - 1}") == 2


def test_narrow_table(xl):
    """One row a domain, over several lines."""
    machine = many_nodes(8)
    machine.domains[0].policy = machine.domains[1].policy = "first-touch"
    del machine.domains[0].usage[6]
    machine.domains[0].usage[2] = (1, 0, 0)
    machine.domains[1].usage = {5: (1, 0, 0)}
    text = xl.good("list", machine=machine, env={"COLUMNS": "80"})
    assert [line.rstrip() for line in text.splitlines()] == [
        "NAME       ID POLICY      HOME NUMA AT-HOME MEMORY BY NODE",
        "guest-no-1  1 first-touch 0-7     -  100.0%   1.9G n0-1 341.3M each, n2 4K",
        "                                                   n3-5 341.3M each, n7 341.3M",
        "guest-no-2  2 first-touch 0-7     -  100.0%     4K n5 4K",
        "(free)      - -           -       -       -      0 -",
        "(host)      - -           -       -       -     8G n0-7 1G each"]


def test_terminal_width_comes_from_the_terminal(xl):
    master, slave = pty.openpty()
    import fcntl
    import struct
    import termios
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 80, 0, 0))
    assert xl.run("list", machine=many_nodes(8), stdout=slave, env={"COLUMNS": "200"}).returncode == 0
    os.close(slave)
    text = os.read(master, 65536).decode()
    os.close(master)
    assert "BY NODE" in text


def test_raw_and_json_do_not_depend_on_the_screen(xl):
    machine = many_nodes(16)
    narrow = {"machine": machine, "env": {"COLUMNS": "20"}}
    assert len(xl.raw("list", **narrow)[1]) == 21 + 16
    assert len(xl.json("list", **narrow)["domains"][0]["memory_by_node_bytes"]) == 16


def test_dying_and_nameless_domains(xl):
    machine = example()
    machine.domains[1].dying = True
    machine.domains[2].name = "-"
    rows = xl.json("list", machine=machine)["domains"]
    assert rows[1]["name"] == "guest1" and rows[1]["policy"] is None
    assert rows[2]["name"] is None and rows[2]["policy"] == "round-2m"


@pytest.mark.parametrize("function", ["get", "usage"])
def test_domain_that_goes_away_meanwhile(xl, function):
    """The last domain: it is asked third (dom0 has no usage to ask for)."""
    after = {"get": 2, "usage": 1}[function]
    machine = example().fail(function, ERROR_DOMAIN_NOTFOUND, after=after)
    assert [row["id"] for row in xl.json("list", machine=machine)["domains"]] == [0, 3]


def test_domain_that_cannot_have_a_policy(xl):
    """PVH dom0, say: Xen knows better than we do."""
    machine = example().fail("get", ERROR_INVAL, after=1)
    rows = xl.json("list", machine=machine)["domains"]
    assert [row["policy"] for row in rows] == [None, None, None]


def test_what_deviates_from_even(xl):
    """Of many nodes, those that have what the policy gives them need no number each."""
    machine = many_nodes(16)
    machine.domains[0].usage[5] = (256, 0, 0)
    machine.domains[1].usage = {node: (1000 * (1 + node % 2), 0, 0) for node in range(16)}
    machine.domains[1].weights = {node: 1 + node % 2 for node in range(16)}
    text = " ".join(xl.good("list", machine=machine, env={"COLUMNS": "100"}).split())
    assert " even over 0-4,6-15, n5 1M guest-no-2 " in text and " as weighted over 0-15 (free) " in text
    # where most of them deviate, or the policy means no such thing, each is told
    machine.domains[0].usage = {node: (256 + 256 * node, 0, 0) for node in range(16)}
    machine.domains[1].policy = "first-touch"
    assert " over " not in xl.good("list", machine=machine, env={"COLUMNS": "100"})


def test_fits_80_columns_with_ordinary_names(xl):
    machine = many_nodes(8)
    for domain in machine.domains:
        domain.name, domain.fallback, domain.policy = f"db-{domain.id}", 70000, "round-1g"
    lines = xl.good("list", machine=machine, env={"COLUMNS": "80"}).splitlines()
    assert "FELL-BACK" in lines[0] and max(map(len, lines)) <= 80


def test_vcpus(xl):
    """Those that are online, on the nodes of their CPUs; what cannot be known is not 0."""
    machine = example()
    machine.domains[1].cpus, machine.domains[2].cpus = [4, ~0, 8, 5], [~0, ~4]
    rows = xl.json("list", machine=machine)["domains"]
    assert [(row["vcpu_nodes"], row["vcpu_local_percent"]) for row in rows] == [(None, None), ([1, 2], 25.0), ([], 0.0)]
    for function in "vcpus", "topology":
        rows = xl.json("list", machine=example().fail(function, ERROR_FAIL))["domains"]
        assert [(row["vcpu_nodes"], row["vcpu_local_percent"]) for row in rows] == [(None, None)] * 3


def test_some_domains(xl):
    rows = xl.json("list", "guest2", "0")["domains"]
    assert [row["name"] for row in rows] == ["guest2", "Domain-0"]
    assert not [line for line in xl.trace() if line in ("usage 3", "vcpus 3")]
    assert xl.bad("list", "guest2", "nobody") == "no VM 'nobody'; 'xl list' shows them"


def test_a_row_a_domain(xl):
    """However often it is named, and by whatever."""
    for words in ["guest2", "guest2"], ["4", "guest2", "4"]:
        assert [row["name"] for row in xl.json("list", *words)["domains"]] == ["guest2"]
    assert [row[0] for row in xl.raw("list", "3", "4", "guest1", "0", "3", "--brief")[1:]] == ["guest1", "guest2", "Domain-0"]


def test_brief(xl):
    """Asks neither for memory, for which Xen looks at each page, nor for vCPUs."""
    assert xl.raw("list", "--brief") == [
        ["name", "id", "type", "policy", "home_nodes", "carrefour", "auto", "fallback_pages", "uuid"],
        ["Domain-0", "0", "PV", "-", "-", "-", "-", "-", UUIDS[0]],
        ["guest1", "3", "PVH", "round-4k", "0-1", "no", "off", "12", UUIDS[3]],
        ["guest2", "4", "HVM", "round-2m", "2-3", "no", "off", "0", UUIDS[4]]]
    assert xl.trace() == []
    assert list(xl.json("list", "--brief")) == ["version", "domains"] and "TYPE" in xl.good("list", "--brief")
    xl.good("list")
    assert "usage 3" in xl.trace()


def test_no_column_that_has_nothing_to_tell(xl):
    """In the table; programs get all of them."""
    machine = example()
    for domain in machine.domains:
        domain.fallback = 0
    text = xl.good("list", machine=machine)
    assert "FELL-BACK" not in text and "CARREFOUR" not in text
    machine.domains[2].carrefour = "1"
    assert "CARREFOUR" in xl.good("list", machine=machine)


def test_hundreds_of_domains(xl):
    """More than libxl's stand-in once had room for."""
    machine = Machine(2, domains=[Domain(n, f"guest{n}", weights={0: 1}, usage={0: (n, 0, 0)}) for n in range(1, 1001)])
    rows = xl.json("list", machine=machine)["domains"]
    assert [(row["name"], row["memory_bytes"]) for row in rows] == [(f"guest{n}", n << 12) for n in range(1, 1001)]


@pytest.mark.parametrize("name, shown", [
    (b"a\xff\xfeb", "a\ufffd\ufffdb"),     # never
    (b"\xc0\xaf", "\ufffd\ufffd"),         # longer than it need be
    (b"\xed\xa0\x80x", "\ufffd\ufffd\ufffdx"),  # half of a pair
    (b"x\xe2\x82", "x\ufffd\ufffd"),       # cut off
    (b"\xf5\x80\x80\x80", "\ufffd" * 4),  # beyond the last
    ("grüße\N{EURO SIGN}\U0001f40b".encode(), "grüße\N{EURO SIGN}\U0001f40b"),
])
@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_names_that_are_no_utf_8(xl, name, shown, locale):
    """JSON is valid all the same."""
    machine = Machine(1, domains=[Domain(1, os.fsdecode(name), weights={0: 1})])
    for command in ["list"], ["show", "1"], ["set", "1", "none"], ["top"]:
        row, = xl.json(*command, machine=machine, env={"LC_ALL": locale})["domains"]
        assert row["name"] == shown, command
    assert json.loads(xl.good("rebalance", "1", "--json", machine=machine))["name"] == shown


@pytest.mark.parametrize("name, shown", [("x\x1b[31mRED", r"x\x1b[31mRED"), ("a\tb", r"a\x09b"), ("a\x7fb", r"a\x7fb"),
                                         ("a\x9b31mb", r"a\xc2\x9b31mb")])
def test_names_do_not_work_the_terminal(xl, name, shown):
    """In sentences, of results and of errors; the table's library sees to the rest."""
    machine = example()
    machine.domains[1].name = name
    for args in ["show", "3"], ["set", "3", "none"], ["set", "3", "+carrefour"], ["rebalance", "3"]:
        text = xl.good(*args, machine=machine)
        assert shown in text and name not in text, args
    assert xl.bad("show", name) == f"no VM '{shown}'; 'xl list' shows them"
    done = xl.run("rebalance", "3", machine=machine.fail("rebalance", ERROR_FAIL, name))
    assert name not in done.stderr and shown in done.stderr


def test_odd_names(xl):
    """What a toolstack other than xl may have put there."""
    machine = Machine(1, domains=[Domain(1, 'a "b" \\c', weights={0: 1}),
                                  Domain(2, "grüße", weights={0: 1})])
    assert [r["name"] for r in xl.json("list", machine=machine)["domains"]] == \
        ['a "b" \\c', "grüße"]
    assert len({len(row) for row in xl.raw("list", "--brief", machine=machine)}) == 1
    lines = xl.good("list", machine=machine).splitlines()
    assert lines[2].startswith("grüße ")
    assert len({len(line) for line in lines}) == 1

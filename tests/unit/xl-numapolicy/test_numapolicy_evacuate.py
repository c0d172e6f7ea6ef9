# SPDX-License-Identifier: GPL-2.0-only
"""evacuate: which VMs leave a node, where to, what becomes of their policies, and what stays and why."""

import errno
import json
import signal

import pytest

from fake_machine import (ERROR_DEVICE_EXISTS, ERROR_DOMAIN_NOTFOUND, ERROR_FAIL, ERROR_INVAL, MIB, POLICIES, Domain, Machine)

PAGES = MIB // 4096
NODES = 4


def vm(identity, memory, homes=(), follows=True, policy="round-4k", **fields):
    """memory: MiB by node."""
    weights = homes if isinstance(homes, dict) else dict.fromkeys(homes, 1)
    return Domain(identity, f"vm{identity}", policy=policy, weights=weights, follows=follows,
                  affinity=sum(1 << n for n in weights), **fields,
                  usage={node: (PAGES * size, 0, 0) for node, size in memory.items()})


def host(*domains, memory=(("moved", 512),), free=(1 << 30,) * NODES, **fields):
    return Machine(NODES, domains=[Domain(0, "Domain-0", "pv", "none"), *domains], memory=list(memory), free=list(free),
                   arrives=True, **fields)


def sets(xl):
    """Of each policy that was set: domain, policy, nodes, weights."""
    lines = [line.split(" weights") for line in xl.trace() if line.startswith("set ")]
    return [(int(one.split()[1]), POLICIES[int(one.split()[2])], [int(n) for n in one.split()[4:]],
             [int(w) for w in two.split("pause")[0].split()]) for one, two in lines]


def moved(xl):
    return [int(line.split()[1]) for line in xl.trace() if line.startswith("rebalance ")]


def test_table(xl):
    machine = host(vm(3, {1: 100, 2: 100}, [1, 2]), vm(4, {0: 50}, [0]), vm(5, {2: 8}, [2], follows=False),
                   free=[1 << 30, 1 << 30, 900 * MIB, 1 << 30])
    assert xl.good("evacuate", "2", machine=machine) == """\
NAME ID POLICY   HOME  WAS LEFT WHY
vm3   3 round-4k 1    100M    0 -
vm5   5 round-4k 2      8M    - its home nodes were named: --force changes them

Of node 2 124M of 1G are in use: 8M by these VMs, the rest by Xen, dom0 and other PV domains
"""
    assert sets(xl) == [(3, "round-4k", [1], [1])] and moved(xl) == [3]


@pytest.mark.parametrize("domain, options, wanted", [
    # the home nodes that are left keep their weights, with the limit of pauses
    (vm(3, {0: 10, 2: 10}, {0: 3, 1: 2, 2: 1}), [], ("round-4k", [0, 1], [3, 2])),
    (vm(3, {0: 10, 2: 10}, {0: 3, 2: 7}), ["--to", "3"], ("round-4k", [0, 3], [3, 7])),
    (vm(3, {0: 10, 2: 10}, {0: 3, 2: 7}), ["--to", "0"], ("round-4k", [0], [3])),
    (vm(3, {2: 10}, [2], policy="first-touch"), ["--to", "0-1"], ("first-touch", [0, 1], [1, 1])),
    (vm(3, {2: 10}, [2], follows=False), ["--to", "all,^2", "--force"], ("round-4k", [0, 1, 3], [1, 1, 1])),
    # none is left: the fewest that have room
    (vm(3, {2: 10}, [2]), [], ("round-4k", [3], [1])),
    (vm(3, {2: 700}, [2]), [], ("round-4k", [1, 3], [1, 1])),
    (vm(3, {2: 5000}, [2]), [], ("round-4k", [0, 1, 3], [1, 1, 1])),
    # its memory only fell back to that node
    (vm(3, {0: 10, 2: 10}, [0], follows=False), [], None),
    (vm(3, {0: 10, 2: 10}, [0]), ["--to", "1"], None),
])
def test_where_it_goes(xl, domain, options, wanted):
    machine = host(domain, free=[100 * MIB, 200 * MIB, 0, 600 * MIB])
    text = xl.good("evacuate", "2", "--strict", *options, machine=machine).splitlines()
    assert sets(xl) == ([(3, *wanted)] if wanted else []) and moved(xl) == [3]
    assert text[1].split()[-3:] == [f"{domain.usage[2][0] // PAGES}M".replace("5000M", "4.8G"), "0", "-"]


BLOCKS = 8      # of 2 MiB, each on the next node


def placeless(identity=3, follows=True, **fields):
    """A VM with policy none, in large pages."""
    domain = vm(identity, {}, range(NODES), follows, policy="none", pause=30)
    domain.usage = {node: (0, BLOCKS // NODES, 0) for node in range(NODES)}
    return host(domain, pages=512 * BLOCKS, order=9, memory=(), **fields)


def single_moves(xl):
    """(first gfn, entries, order, node) of each call."""
    return [tuple(int(line.split()[at]) for at in (2, 3, 6, 8)) for line in xl.trace() if line.startswith("move ")]


def left_of(xl, machine, *options):
    """The cells of its row behind the name of the policy."""
    return xl.good("evacuate", "2", *options, machine=machine).splitlines()[1].split(maxsplit=6)[3:]


@pytest.mark.parametrize("follows", [True, False])
def test_policy_none_stays(xl, follows):
    """What is on the node goes to where the VM has memory, in turn; nothing else moves, and no policy is ever another."""
    machine = placeless(follows=follows)
    assert left_of(xl, machine, "--strict") == ["0-1,3", "4M", "0", "-"]
    assert single_moves(xl) == [(2 * 512, 1, 9, 3), (6 * 512, 1, 9, 0)] and sets(xl) == moved(xl) == []
    assert left_of(xl, machine, "--dry-run") == ["0-1,3", "4M", "-", "-"]
    xl.good("evacuate", "2", "--to", "all,^2", "--strict", machine=machine)
    assert single_moves(xl)[-2:] == [(2 * 512, 1, 9, 3), (6 * 512, 1, 9, 0)]


@pytest.mark.parametrize("room, wanted", [
    ({3: 0}, [(1024, 1, 9, 3), (1024, 1, 9, 0), (3072, 1, 9, 0)]),
    # nowhere are 2 MiB in one piece
    ({0: 0, 1: -1, 3: 0}, [(1024, 1, 9, 3), (1024, 1, 9, 0), (1024, 1, 9, 1), (1024, 512, 0, 3),
                           (3072, 1, 9, 0), (3072, 1, 9, 1), (3072, 1, 9, 3), (3072, 512, 0, 0)])])
def test_policy_none_where_a_node_is_full(xl, room, wanted):
    assert left_of(xl, placeless(room=room), "--strict")[2:] == ["0", "-"]
    assert single_moves(xl) == wanted


def test_policy_none_where_all_are_full(xl):
    machine = placeless(room={0: -1, 1: -1, 3: -1})
    assert left_of(xl, machine)[2:] == ["4M", "its node is full"]
    said, = map(json.loads, xl.good("evacuate", "2", "-q", "--json", machine=machine).splitlines())
    assert (said["moved_bytes"], said["no_room_bytes"], said["there_bytes"]) == (0, 4 * MIB, 12 * MIB)
    assert (said["homes_changed"], said["complete"], said["policy"], said["policy_changed"]) == (False, True, "none", False)


def test_policy_none_by_small_pages(xl):
    """Only those that are on the node, and not those that others use."""
    machine = placeless(divided=[1024], busy=[1025])
    machine.domains[1].usage[2] = (512, 1, 0)
    assert left_of(xl, machine)[1:] == ["4M", "4K", "in use by others"]
    assert single_moves(xl) == [(1024, 512, 0, 3), (3072, 1, 9, 0)]
    machine = placeless(busy=[1025])
    assert left_of(xl, machine)[1:] == ["4M", "2M", "in use by others"]


def test_policy_none_stopped(xl):
    """Nothing is left to be put right; the same command goes on."""
    done = xl.run("evacuate", "2", "--max-mb-per-s", "1", machine=placeless(signal=(signal.SIGTERM, 0)))
    assert done.returncode == 143 and done.stderr.endswith("stopped by SIGTERM at VM 'vm3'; the same command goes on\n")
    assert "   2M not all was looked at" in done.stdout and sets(xl) == [] and len(single_moves(xl)) == 1


@pytest.mark.parametrize("function, error, words", [
    ("move", errno.EXDEV, "devices are or may be assigned to it"), ("move", errno.EOPNOTSUPP, "shadow paging"),
    ("maximum", errno.EPERM, "Xen does not tell how far its memory goes: Operation not permitted"),
    ("locate", ERROR_FAIL, "no luck"), ("xc_open", errno.EACCES, "Permission denied"), ("move", errno.ESRCH, None)])
def test_policy_none_refused(xl, function, error, words):
    text = xl.good("evacuate", "2", machine=placeless().fail(function, error, "no luck"))
    assert words in text if words else "vm3" not in text
    assert sets(xl) == []


def test_for_programs(xl):
    machine = host(vm(3, {2: 100}, [1, 2]), vm(5, {2: 8}, [2], follows=False), memory=[("moved", 512), ("in_use", 256)])
    one, two = map(json.loads, xl.good("evacuate", "2", "-q", "--json", machine=machine).splitlines())
    assert {name: one[name] for name in ("version", "event", "node", "name", "id", "was_bytes", "left_bytes", "homes_changed",
                                         "why", "complete", "moved_bytes", "in_use_bytes", "policy")} == {
        "version": 1, "event": "result", "node": 2, "name": "vm3", "id": 3, "was_bytes": 100 * MIB, "left_bytes": MIB,
        "homes_changed": True, "why": "in use by others", "complete": True, "moved_bytes": 2 * MIB, "in_use_bytes": MIB,
        "policy": "round-4k"}
    assert (two["left_bytes"], two["complete"], two["homes_changed"]) == (None, False, False)
    rows = xl.raw("evacuate", "2", "-q", machine=machine)
    assert rows[0][:8] == ["home_nodes", "node", "was_bytes", "left_bytes", "homes_changed", "name", "id", "policy"]
    assert rows[1][:8] == ["1", "2", str(100 * MIB), str(MIB), "yes", "vm3", "3", "round-4k"] and len(rows) == 3
    assert rows[2][3] == "-" and set(rows[0]) - {"home_nodes"} <= set(one)


@pytest.mark.parametrize("why, words", [
    ("in_use", "in use by others"), ("unmovable", "not plain memory"), ("no_room", "its node is full"),
    ("late", "--max-pause-us is too small")])
def test_what_stays_and_why(xl, why, words):
    machine = host(vm(3, {2: 100}, [1, 2]), memory=[("moved", 512), (why, 512), ("in_use", 1)])
    done, strict = xl.run("evacuate", "2", machine=machine), xl.run("evacuate", "2", "--strict", machine=machine)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.splitlines()[1].endswith(f" 100M   2M {words}")
    assert (strict.returncode, strict.stdout) == (1, done.stdout)
    assert strict.stderr == ("xl numa-policy: memory of 1 VM stays on node 2, or its policy was changed meanwhile, which "
                             "--strict makes a failure\n")


@pytest.mark.parametrize("function, rc, words", [
    ("movable", ERROR_DEVICE_EXISTS, "devices are or may be assigned to it"),
    ("movable", ERROR_INVAL, "shadow paging"), ("movable", ERROR_FAIL, "no luck"), ("set", ERROR_FAIL, "no luck")])
def test_one_that_xen_does_not_move(xl, function, rc, words):
    """Its home nodes stay; the others are moved."""
    machine = host(vm(3, {2: 100}, [1, 2]), vm(4, {2: 10}, [1, 2])).fail(function, rc, "no luck")
    rows = xl.good("evacuate", "2", machine=machine).splitlines()
    assert words in rows[1] and words in rows[2] and moved(xl) == []
    assert function == "set" or sets(xl) == []
    for row in map(json.loads, xl.good("evacuate", "2", "-q", "--json", machine=machine).splitlines()):
        assert (row["homes_changed"], row["left_bytes"]) == (False, None)
    assert [row.split()[3] for row in rows[1:3]] == ["1-2", "1-2"]
    assert xl.run("evacuate", "2", "--strict", machine=machine).returncode == 1


def test_refused_amid_the_move(xl):
    """Its home nodes are others by then."""
    machine = host(vm(3, {2: 100}, [1, 2])).fail("rebalance", ERROR_DEVICE_EXISTS)
    row = json.loads(xl.good("evacuate", "2", "-q", "--json", machine=machine))
    assert row["homes_changed"] is True and "devices" in row["why"] and sets(xl) == [(3, "round-4k", [1], [1])]


def test_vnuma(xl):
    text = xl.good("evacuate", "2", "--force", machine=host(vm(3, {2: 100}, [2], policy="vnuma")))
    assert "virtual NUMA nodes: the guest was told where its memory is" in text and sets(xl) == moved(xl) == []


def test_dry_run(xl):
    """Changes and moves nothing, and says what it would not do."""
    machine = host(vm(3, {2: 100}, [1, 2]), vm(5, {2: 8}, [2], follows=False))
    rows = xl.good("evacuate", "2", "--dry-run", machine=machine).splitlines()
    assert rows[1].split() == ["vm3", "3", "round-4k", "1", "100M", "-", "-"] and rows[2].endswith("--force changes them")
    assert sets(xl) == moved(xl) == []


def test_nothing_there(xl):
    text = xl.good("evacuate", "1", "--strict", machine=host(vm(3, {2: 100}, [1, 2])))
    assert text.splitlines()[0] == "NAME ID POLICY HOME WAS LEFT WHY" and "Of node 1 0 of 1G are in use: 0 by" in text
    assert xl.good("evacuate", "1", "--json", machine=host(vm(3, {2: 100}, [1, 2]))) == ""


def test_stopped(xl):
    """The others are not begun; the same command goes on, though now the home nodes are named."""
    machine = host(vm(3, {2: 100}, [1, 2]), vm(4, {2: 10}, [1, 2]), memory=[("moved", 512 * PAGES)], signal=(signal.SIGINT, 1))
    done = xl.run("evacuate", "2", machine=machine)
    assert done.returncode == 130 and set(moved(xl)) == {3} and "not all was looked at" in done.stdout
    assert done.stderr == "xl numa-policy: stopped by SIGINT at VM 'vm3'; the same command goes on\n"
    machine.domains[1].weights, machine.domains[1].follows, machine.signal = {1: 1}, False, None
    assert xl.run("evacuate", "2", "--strict", "-q", machine=machine).returncode == 0 and set(moved(xl)) == {3, 4}


@pytest.mark.parametrize("function, after", [("get", 0), ("usage", 0), ("movable", 0), ("rebalance", 0), ("usage", 1)])
def test_one_that_goes_away(xl, function, after):
    machine = host(vm(3, {2: 100}, [1, 2])).fail(function, ERROR_DOMAIN_NOTFOUND, after=after)
    assert len(xl.good("evacuate", "2", "--strict", machine=machine).splitlines()) == 3


@pytest.mark.parametrize("args, status, words", [
    ([], 2, "an argument is missing; it takes NODE"),
    (["x"], 2, "'x' is no node; give its number, of 0-2"),
    (["-1"], 2, "unknown option"),
    (["9"], 1, "no node 9; of this machine's nodes, 0-2 have memory"),
    (["99999999999999999999"], 1, "no node 99999999999999999999;"),
    (["3"], 1, "node 3 has no memory; of this machine's nodes, 0-2 have"),
    (["2", "--to", "1-2"], 1, "--to 1-2 names node 2, which is to be emptied; leave it out, as in 1-2,^2"),
    (["2", "--to", "3"], 1, "node 3 has no memory"),
    (["2", "--to", "9"], 1, "no node 9; this machine has 0-3"),
    (["2", "--to", "all"], 1, "--to all names node 2, which is to be emptied; leave it out, as in all,^2"),
    (["2", "--to", "x"], 2, "'x' is no value for --to; give numbers and ranges like 0-3,^1, or all,^N"),
    (["2", "--to", "1,^1"], 1, "no nodes '1,^1': "),
    (["2", "1"], 2, "an argument too many; it takes NODE"),
])
def test_wrong_use(xl, args, status, words):
    assert words in xl.bad("evacuate", *args, status=status, machine=host(vm(3, {2: 100}, [1, 2]), empty=[3]))
    assert sets(xl) == []


def test_only_one_node_has_memory(xl):
    text = xl.good("evacuate", "2", machine=host(vm(3, {2: 100}, [2]), empty=[0, 1, 3]))
    assert "no other node has memory and CPUs: name one with --to" in text and sets(xl) == []

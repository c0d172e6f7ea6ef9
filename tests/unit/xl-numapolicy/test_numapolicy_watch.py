# SPDX-License-Identifier: GPL-2.0-only
"""watch: what was sampled, and that nothing is left of it, however it ends."""

import errno
import signal

import pytest

from fake_machine import ERROR_DOMAIN_NOTFOUND, ERROR_FAIL, example
from test_numapolicy_carrefour import SHOW, WATCHED, daemon

ACCESSES = {(0, 0): 700, (0, 1): 200, (1, 0): 50, (2, 3): 50}
BEGIN = ["start 3", "map 3"]
END = ["stop 3", "unmap"]
LOCAL = WATCHED | {"local_percent": 70.0}


def machine_with(accesses=None, **fields):
    machine = example()
    machine.accesses = ACCESSES if accesses is None else accesses
    for name, value in fields.items():
        setattr(machine, name, value)
    return machine


def sampled(xl):
    """What was done to sample, without the looks."""
    return [line.removeprefix("sample ") for line in xl.trace() if line.startswith("sample ") and " get " not in line]


def looks(xl):
    return [line for line in xl.trace() if line.startswith("sample get ")]


def test_table(xl):
    assert xl.good("watch", "guest1", machine=machine_with()) == """\
guest1 (id 3): 1000 accesses sampled in 5.0 s, 70.0% of them local, imbalance 57.7%

FROM is the node of the CPU, TO that of the page:
FROM TO SAMPLES SHARE
   0  0     700 70.0%
   0  1     200 20.0%
   1  0      50  5.0%
   2  3      50  5.0%

What repairs it:
xl numa-policy set guest1 +auto  # most accesses are not local, which carrefourd may change
"""
    assert sampled(xl) == BEGIN + END and len(looks(xl)) == 25


def test_the_ring_is_emptied(xl):
    """Else Xen would end it."""
    xl.good("watch", "guest1", "2", machine=machine_with())
    said = looks(xl)
    assert len(said) == 10 and all(line.split()[4] == line.split()[6] for line in said) and said[9].endswith("900 of 900")


def test_for_programs(xl):
    document = xl.json("watch", "guest1", "7", machine=machine_with())
    assert document["domains"] == [{
        "name": "guest1", "id": 3, "policy": "round-4k", "home_nodes": [0, 1], "sampled_by": "xl", "complete": True,
        "seconds": 7.0, "samples": 1000, "local_percent": 70.0, "imbalance_percent": 57.7,
        "advice": "xl numa-policy set guest1 +auto"}]
    assert document["accesses"][1] == {"from_node": 0, "to_node": 1, "samples": 200, "share_percent": 20.0}
    assert len(document["accesses"]) == 4
    first, second = xl.good("watch", "guest1", "--raw", machine=machine_with()).split("\n\n")
    assert first.splitlines()[0].split() == list(document["domains"][0]) and second.splitlines()[2] == "0 1 200 20.0"


def test_no_samples(xl):
    """Of a VM that does nothing."""
    said = xl.good("watch", "guest1", machine=machine_with({}))
    assert said == ("guest1 (id 3): 0 accesses sampled in 5.0 s\n"
                    "That is too few to go by: let the VM work, or watch it for longer\n")
    row, = xl.json("watch", "guest1", machine=machine_with({}))["domains"]
    assert (row["samples"], row["local_percent"], row["imbalance_percent"], row["advice"]) == (0, None, None, None)


@pytest.mark.parametrize("count, few", [(99, True), (100, False)])
def test_too_few(xl, count, few):
    said = xl.good("watch", "guest1", machine=machine_with({(0, 1): count}))
    assert ("too few" in said) == few == ("+auto" not in said)


def test_the_nearest_memory_is_local(xl):
    """Nodes 2 and 3 have none.  Which nodes are home nodes does not matter."""
    accesses = {(2, 0): 100, (2, 1): 100, (3, 0): 100, (3, 1): 100}
    far = {(2, 0): 16, (2, 1): 32, (3, 0): 32, (3, 1): 16}
    row, = xl.json("watch", "guest1", machine=machine_with(accesses, distances=far, empty=[2, 3]))["domains"]
    assert row["local_percent"] == 50.0
    # what is as far as any memory is, is as good; also if Xen knows no distances
    row, = xl.json("watch", "guest1", machine=machine_with(accesses, empty=[2, 3]))["domains"]
    assert row["local_percent"] == 100.0
    row, = xl.json("watch", "guest1", machine=machine_with({(2, 1): 100, (1, 1): 300}, distances=far))["domains"]
    assert row["local_percent"] == 75.0


def test_all_local(xl):
    said = xl.good("watch", "guest1", machine=machine_with({(0, 0): 500, (1, 1): 500}))
    assert "100.0% of them local, imbalance 0.0%" in said and "What repairs it" not in said


def test_chance_is_no_imbalance(xl):
    """Of 100 samples on two equal nodes, 54 may well be on one; carrefourd says so, too."""
    said = xl.good("watch", "guest1", machine=machine_with({(0, 0): 54, (1, 1): 46}))
    assert "100.0% of them local, imbalance 0.0%" in said


def test_many_pairs(xl):
    """People see the busiest."""
    machine = machine_with({(one, other): 10 + one + 8 * other for one in range(8) for other in range(8)})
    machine.nodes = 8
    said = xl.good("watch", "guest1", machine=machine)
    assert "   7  7      73 " in said and said.count("%\n") == 21 and "\nand 44 more pairs of nodes\n" in said
    assert len(xl.json("watch", "guest1", machine=machine)["accesses"]) == 64


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped(xl, number, status):
    """It says what it saw until then, and leaves nothing."""
    done = xl.run("watch", "guest1", "60", machine=machine_with(interrupt=(number, 7)))
    assert done.returncode == status and "1000 accesses sampled in 1.6 s" in done.stdout
    assert done.stderr == f"xl numa-policy: stopped by {number.name} after 1.6 of 60 s\n"
    assert sampled(xl) == BEGIN + END
    document = xl.run("watch", "guest1", "60", "--json", machine=machine_with(interrupt=(number, 7))).stdout
    assert '"complete": false' in document


def test_the_daemon_samples_it(xl, tmp_path):
    """Then nothing is begun."""
    with daemon(tmp_path, lambda *_: SHOW | {"domains": [LOCAL]}) as (env, asked):
        said = xl.good("watch", "guest1", env=env, machine=machine_with())
        assert sampled(xl) == looks(xl) == [] and asked == ["show\n"]
        row, = xl.json("watch", "guest1", env=env, machine=machine_with())["domains"]
    assert said.startswith("guest1 (id 3): 1200 accesses sampled in carrefourd's last period of 1.0 s, 70.0% of them local, "
                           "imbalance 12.0%\ncarrefourd samples this VM, so that nobody else can: "
                           "'xl numa-policy explain guest1' has more of it\n")
    assert (row["sampled_by"], row["samples"], row["local_percent"], row["complete"]) == ("carrefourd", 1200, 70.0, True)


@pytest.mark.parametrize("domains", [[], [LOCAL | {"sampling": "not-yet"}], [LOCAL | {"id": 4}]])
def test_the_daemon_samples_others(xl, tmp_path, domains):
    with daemon(tmp_path, lambda *_: SHOW | {"domains": domains}) as (env, _):
        xl.good("watch", "guest1", "1", env=env, machine=machine_with())
    assert sampled(xl) == BEGIN + END


@pytest.mark.parametrize("function, error, words, done", [
    ("start", errno.EBUSY, "somebody else samples VM 'guest1'; wait until that is over", ["start 3"]),
    ("start", errno.EXDEV, "cannot sample VM 'guest1': devices are or may be assigned to it (passthrough)", ["start 3"]),
    ("start", errno.EOPNOTSUPP, "cannot sample VM 'guest1': it has virtual NUMA nodes, shadow paging,", ["start 3"]),
    ("start", errno.EEXIST, "cannot sample VM 'guest1': it has virtual NUMA nodes, shadow paging,", ["start 3"]),
    ("start", errno.ENOMEM, "cannot sample VM 'guest1': Xen does not begin: Cannot allocate memory", ["start 3"]),
    ("start", errno.ENOSYS, "this Xen has no NUMA placement policies", ["start 3"]),
    ("map", errno.ENOMEM, "cannot sample VM 'guest1': the ring of samples cannot be mapped: Cannot allocate", [*BEGIN, "stop 3"]),
    ("get_samples", errno.ENOMEM, "cannot sample VM 'guest1': Xen does not tell the counts: Cannot allocate", BEGIN + END),
    ("xc_open", errno.EACCES, "cannot sample VM 'guest1': no connection to Xen: Permission denied", []),
])
def test_refused(xl, function, error, words, done):
    """One line; what was begun is ended, what others have begun is not."""
    assert xl.bad("watch", "guest1", machine=machine_with().fail(function, error, "no luck")).startswith(words)
    assert sampled(xl) == done


def test_the_vm_goes_away(xl):
    machine = machine_with().fail("get_samples", errno.ESRCH, "gone", after=3)
    machine.fail("info", ERROR_DOMAIN_NOTFOUND, after=1)
    assert xl.bad("watch", "guest1", machine=machine) == "VM 'guest1' is gone; 'xl list' shows what runs"
    assert sampled(xl) == BEGIN + ["unmap"]


def test_the_vm_is_being_destroyed(xl):
    """Xen calls it dying when all its memory is free; until then it has it, and refuses."""
    machine = machine_with().fail("get_samples", errno.ESRCH, "gone", after=3)
    assert xl.bad("watch", "guest1", machine=machine) == "VM 'guest1' is being destroyed"
    assert sampled(xl) == BEGIN + ["unmap"]


@pytest.mark.parametrize("state, words, end", [
    ("OFF", "somebody else has ended the sampling of VM 'guest1'; repeat the command", ["unmap"]),
    ("UNREAD", "somebody else has ended the sampling of VM 'guest1'; repeat the command", ["unmap"]),
    ("UNFIT", "cannot sample VM 'guest1': it has virtual NUMA nodes, shadow paging,", END)])
def test_ended_meanwhile(xl, state, words, end):
    assert xl.bad("watch", "guest1", machine=machine_with(sampling=(state, 4))).startswith(words)
    assert sampled(xl) == BEGIN + end and len(looks(xl)) == 5


def test_what_stood_still_ends_nothing_of_others(xl):
    """Xen may have ended it, and carrefourd have begun."""
    line = xl.bad("watch", "guest1", machine=machine_with(gap=2))
    assert line == "this command stood still for 6 s, in which Xen may have ended the sampling; repeat it"
    assert sampled(xl) == BEGIN + ["unmap"]


def test_a_smaller_ring(xl):
    """The first one of the domain stays."""
    xl.good("watch", "guest1", machine=machine_with(frames=3))
    assert sampled(xl) == ["start 3", "start 3", "map 3", *END]


@pytest.mark.parametrize("args, status, words", [
    ([], 2, "an argument is missing; it takes DOM [SECONDS]"),
    (["guest1", "0"], 2, "'0' is no number of seconds; give 1 to 3600"),
    (["guest1", "3601"], 2, "'3601' is no number of seconds"), (["guest1", "1s"], 2, "'1s' is no number of seconds"),
    (["guest1", ""], 2, "'' is no number of seconds"), (["guest1", "1", "2"], 2, "an argument too many"),
    (["nobody"], 1, "no VM 'nobody'; 'xl list' shows them"), (["Domain-0"], 1, "'Domain-0' is a PV domain"),
    (["guest1", "99999999999999999999"], 2, "is no number of seconds")])
def test_wrong_use(xl, args, status, words):
    assert words in xl.bad("watch", *args, status=status, machine=machine_with())
    assert sampled(xl) == []


def test_nothing_is_begun_for_a_vm_that_cannot_be_asked_about(xl):
    assert "no luck" in xl.bad("watch", "guest1", machine=machine_with().fail("usage", ERROR_FAIL, "no luck"))
    assert sampled(xl) == []

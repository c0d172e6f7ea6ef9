# SPDX-License-Identifier: GPL-2.0-only
"""One line on stderr for each way to fail, and nothing on stdout."""

import errno
import os

import pytest

from fake_machine import (ERROR_DOMAIN_NOTFOUND, ERROR_FAIL, ERROR_INVAL, ERROR_NI, Machine, example,
                          following)

REST = "rebalance, compact, evacuate, where, explain, record, replay and help"
ONE_DOMAIN = [["show"], ["set", "round-4k"], ["set", "round-4k", "--rebalance"], ["rebalance"],
              ["where", "0x10"]]


def command(words, domain):
    return [words[0], domain, *words[1:]]


@pytest.mark.parametrize("words", ONE_DOMAIN, ids=" ".join)
@pytest.mark.parametrize("name", ["foo", "", "5", "32752", "4294967299", "99999999999999999999",
                                  "guest", "guest11", "3 ", "0x3"])
def test_no_such_domain(xl, words, name):
    assert xl.bad(*command(words, name)) == f"no VM '{name}'; 'xl list' shows them"


@pytest.mark.parametrize("words", ONE_DOMAIN, ids=" ".join)
@pytest.mark.parametrize("name", ["0", "Domain-0"])
def test_pv_domain(xl, words, name):
    assert xl.bad(*command(words, name)) == \
        f"'{name}' is a PV domain; only PVH and HVM VMs have a NUMA policy"


@pytest.mark.parametrize("words", ONE_DOMAIN, ids=" ".join)
def test_dying_domain(xl, words):
    machine = example()
    machine.domains[1].dying = True
    assert xl.bad(*command(words, "3"), machine=machine) == "VM '3' is being destroyed"


@pytest.mark.parametrize("words, function", [(["show"], "get"), (["show"], "usage"),
                                             (["set", "none"], "get"), (["set", "none"], "set"),
                                             (["set", "none"], "usage"), (["where", "1"], "locate"),
                                             (["show"], "stats"), (["set", "none"], "stats"),
                                             (["show"], "touches"), (["set", "none"], "touches"),
                                             (["rebalance"], "get"), (["rebalance"], "usage")])
def test_failures_of_libxl(xl, words, function):
    """The reason that libxl logs first, without its source line."""
    for rc in ERROR_FAIL, ERROR_INVAL:
        line = xl.bad(*command(words, "3"), machine=example().fail(function, rc, "no reason at all"))
        assert line.startswith("cannot ") and line.endswith(" VM 'guest1': no reason at all")
    assert xl.bad(*command(words, "3"), machine=example().fail(function, ERROR_NI)) == \
        "this Xen has no NUMA placement policies (needs CONFIG_NUMA_POLICY)"
    machine = example().fail(function, ERROR_DOMAIN_NOTFOUND).fail(
        "info", ERROR_DOMAIN_NOTFOUND, after=1)
    assert xl.bad(*command(words, "3"), machine=machine) == \
        "VM 'guest1' is gone; 'xl list' shows what runs"
    # its memory is being freed, for as long as which Xen does not call it dying
    assert xl.bad(*command(words, "3"), machine=example().fail(function, ERROR_DOMAIN_NOTFOUND)) == \
        "VM 'guest1' is being destroyed"


def test_domain_that_dies_meanwhile(xl):
    """It is asked for again when something goes wrong, as this explains anything."""
    machine = example().fail("get", ERROR_FAIL).fail("live", ERROR_FAIL, after=1)
    assert xl.bad("show", "3", machine=machine) == "VM 'guest1' is being destroyed"


def test_list_without_the_feature(xl):
    assert xl.bad("list", machine=example().fail("get", ERROR_NI)) == \
        "this Xen has no NUMA placement policies (needs CONFIG_NUMA_POLICY)"


@pytest.mark.parametrize("words, function", [
    (["list"], "numainfo"), (["list"], "list"), (["show", "3"], "numainfo"),
    (["show", "3"], "info"), (["set", "3", "none"], "numainfo"),
    (["set", "3", "round-4k", "--nodes", "affinity"], "affinity")])
def test_other_failures(xl, words, function):
    line = xl.bad(*words, machine=example().fail(function, ERROR_FAIL, "out of luck"))
    assert line.startswith("cannot ") and line.endswith(": out of luck")


@pytest.mark.parametrize("number, line", [
    (errno.EACCES, "no permission to talk to Xen; run this as root"),
    (errno.ENOENT, "cannot talk to Xen: no /dev/xen/privcmd here; run this in dom0"),
    (0, "cannot talk to Xen: cannot connect to xenstore"),
])
def test_no_way_to_xen(xl, number, line):
    machine = Machine(privcmd=number).fail("open", ERROR_FAIL, "cannot connect to xenstore")
    assert xl.bad("list", machine=machine) == line


def test_verbose_shows_what_libxl_says(xl):
    done = xl.run("show", "5", "-v")
    assert done.stderr.splitlines() == [
        "libxl: error: Getting domain info: No such process",
        "xl numa-policy: no VM '5'; 'xl list' shows them"]


@pytest.mark.parametrize("args, line", [
    (["round-5k"], "no policy 'round-5k'; there are none, round-4k, round-2m, round-1g"),
    (["default"], "'default' is for new VMs only; there are none, round-4k, round-2m, round-1g"),
    (["default,nodes=1"], "'default' is for new VMs only; "),
    (["round_4k"], "no policy 'round_4k'; there are "),
    (["round"], "no policy 'round'; there are "),
    ([""], "no policy ''; there are "),
    (["round-4k", "--nodes", "0,4"], "no node 4; this machine has 0-3"),
    (["round-4k,nodes=63"], "no node 63; this machine has 0-3"),
    (["round-4k", "--nodes", "0-1", "--weights", "1"], "1 weight for 2 home nodes (0-1); give one a node"),
    (["round-4k", "--nodes", "2", "--weights", "1:1"], "2 weights for 1 home node (2); give one a node"),
    (["round-4k", "--weights", "1:1"], "2 weights for 4 home nodes (0-3); give one a node"),
])
def test_values_of_set(xl, args, line):
    assert xl.bad("set", "guest1", *args, machine=following()).startswith(line)


@pytest.mark.parametrize("option, value, right", [
    *(("--nodes", value, "numbers and ranges like 0-3,^1, all, or affinity")
      for value in ("x", "0,carrefour", "0,nodes=1", "0,auto", "0 1", "affinity,1", "1;2", "1\n")),
    *(("--weights", value, "a number of 1 to 255 for each home node, like 3:1")
      for value in ("1:x", "-1", "1:1:1:1,auto", "1,nodes=1", "affinity")),
    *(("--max-pause-us", value, "microseconds, from 0 to 1000000")
      for value in ("-1", "20us", "0,carrefour", "1:2")),
])
def test_no_option_of_set_brings_others_along(xl, option, value, right):
    """They are parts of a setting in the words of xl.cfg, where a comma would begin the next part."""
    shown = value.replace("\n", "\\x0a")
    assert xl.bad("set", "guest1", "round-4k", option, value, status=2).startswith(
        f"'{shown}' is no value for {option}; give {right}; see ")
    assert not [line for line in xl.trace() if line.startswith("set ")]


@pytest.mark.parametrize("args", [
    ["--weights", "0:1"], ["--weights", "256:1"],
    ["--weights", ""], ["--weights", "1::1"], ["--nodes", ""],
    ["--nodes", "3-1"], ["--nodes", "99999"], ["--nodes", "1,^1"], ["--nodes", "1,"],
    ["--nodes", "100"], ["--nodes", "0", "--weights", ":".join(["1"] * 65)],
])
def test_values_that_libxlutil_refuses(xl, args):
    """The setting as a whole, and libxlutil's words without its prefix."""
    line = xl.bad("set", "guest1", "round-4k", *args)
    setting = "round-4k," + ",".join(
        f"{name[2:]}={value}" for name, value in zip(args[::2], args[1::2]))
    assert line.startswith(f"no policy setting '{setting}': ")
    assert len(line.split("': ", 1)[1]) > 10 and "numa_policy:" not in line
    assert not any(line.startswith("set ") for line in xl.trace())


def test_all_nodes_are_those_with_memory(xl):
    machine = example()
    machine.empty, machine.absent = [1], [2]
    assert "home nodes 0,3" in xl.good("set", "guest1", "round-4k", "--nodes", "all", machine=machine)
    assert xl.bad("set", "guest1", "round-4k", "--nodes", "all,^0,^3", machine=machine) == \
        "no policy setting 'round-4k,nodes=all,^0,^3': it leaves no home node that has memory"
    assert "'round-4k,nodes=^all': bad nodes" in xl.bad("set", "guest1", "round-4k,nodes=^all", machine=machine)


def test_node_that_is_absent(xl):
    machine = example()
    machine.absent = [1]
    assert xl.bad("set", "guest1", "round-4k", "--nodes", "0-1", machine=machine) == \
        "no node 1; this machine has 0,2-3"


def test_node_without_memory(xl):
    """It exists, but is no home; the affinity does not make it one either."""
    machine = example()
    machine.empty = [1]
    assert xl.bad("set", "guest1", "round-4k", "--nodes", "0-1", machine=machine) == \
        "node 1 has no memory; of this machine's nodes, 0,2-3 have"
    args = ["set", "guest1", "round-4k", "--nodes", "affinity", "--weights", "1:1:1:1"]
    assert xl.bad(*args, "--dry-run", machine=machine) == "4 weights for 3 home nodes (0,2-3); give one a node"
    # only Xen knows, until it has said which home nodes they are
    assert xl.bad(*args, machine=machine) == \
        "cannot set the policy of VM 'guest1': 4 weights given, but there is not that number of home nodes"
    assert "n1" in xl.raw("list", machine=machine)[0]


@pytest.mark.parametrize("args, line", [
    (["foo"], "no command 'foo'; there are list, show, top, watch, set, " + REST),
    (["help", "foo"], "no command 'foo'; there are list, show, top, watch, set, " + REST),
    (["help", "list", "show"], "help takes one command"),
    (["top", "guest1"], "an argument too many; it takes none"),
    (["top", "--sort", "name"], "cannot sort by 'name'; there are at-home, memory, local, imbalance, samples, moves"),
    (["top", "--sort", ""], "cannot sort by ''; there are at-home, memory, local, imbalance, samples, moves"),
    (["set", "3", "round-4k", "--strict"], "--strict needs --rebalance"),
    (["show"], "an argument is missing; it takes DOM"),
    (["show", "1", "2"], "an argument too many; it takes DOM"),
    (["set"], "an argument is missing; it takes DOM [POLICY] [SWITCH]..."),
    (["set", "3"], "nothing to set; give a policy, --nodes, --weights, --max-pause-us or a switch"),
    (["set", "3", "--dry-run"], "nothing to set; give a policy, --nodes, --weights, --max-pause-us or a switch"),
    (["set", "3", "--rebalance"], "--rebalance needs a policy, --nodes or --weights; 'xl numa-policy rebalance' moves memory by "
     "the policy that there is"),
    (["set", "3", "none", "0-1"], "an argument too many; it takes DOM [POLICY] [SWITCH]..."),
    (["where", "3"], "an argument is missing; it takes DOM GFN..."),
    (["list", "--jsn"], "unknown option '--jsn'"),
    (["--jsn"], "unknown option '--jsn'"),
    (["list", "-x"], "unknown option '-x'"),
    (["list", "-vx"], "unknown option '-x'"),
    (["list", "--json=1"], "option '--json' takes no value"),
    (["list", "--help=1"], "option '--help' takes no value"),
    (["list", "--json", "-xv"], "unknown option '-x'"),
    (["set", "3", "none", "--max", "1"], "unknown option '--max'"),
    (["list", "--json", "--raw"], "--json and --raw exclude each other"),
    (["show", "3", "--nodes", "1"], "'--nodes' is an option of set only"),
    (["rebalance", "3", "--weights", "1"], "'--weights' is an option of set only"),
    (["rebalance", "3", "--rebalance"], "'--rebalance' is an option of set only"),
    (["rebalance"], "no VM; give one, or --all"),
    (["rebalance", "3", "round-4k"], "an argument too many; it takes DOM|--all"),
    (["show", "3", "--max-mb-per-s", "1"], "'--max-mb-per-s' is no option of show"),
    (["where", "3", "1", "--dry-run"], "'--dry-run' is no option of where"),
    (["list", "-q"], "'-q' is no option of list"),
    (["set", "3", "round-4k", "--max-mb-per-s", "5"], "--max-mb-per-s needs --rebalance"),
    (["set", "3", "round-4k", "--quiet"], "--quiet needs --rebalance"),
    (["set", "3", "round-4k", "--rebalance", "--dry-run"],
     "--dry-run cannot tell what --rebalance would move, as Xen goes by the policy that is set"),
    (["top", "+carrefour"], "'+carrefour' is a switch of set only"),
    (["show", "-auto", "3"], "'-auto' is a switch of set only"),
    (["show", "3", "--alle", "--seconds=1"], "unknown option '--alle'"),
    (["show", "3", "--seconds=1"], "'--seconds' is an option of top and record only"),
    *((["rebalance", "3", f"--max-mb-per-s={rate}"],
       f"'{rate}' is no value for --max-mb-per-s; give MiB a second, 1 to 1000000")
      for rate in ["", "0", "-1", "1.5", "x", "5x", "1000001", "18446744073709551617"]),
    (["set", "3", "none", "--weights"], "option '--weights' needs a value"),
    (["set", "3", "none,nodes=1", "--nodes", "1"], "home nodes given twice, in 'none,nodes=1' and with --nodes"),
    (["set", "3", "none,weights=1", "--weights", "1"], "weights given twice, in 'none,weights=1' and with --weights"),
])
def test_usage(xl, args, line):
    """With where to read on."""
    text = xl.bad(*args, status=2)
    assert text.startswith(line + "; see 'xl numa-policy ") and text.endswith(" --help'")


@pytest.mark.parametrize("args", [["list"], ["list", "--json"], ["show", "3"], ["set", "3", "none"],
                                  ["where", "3", "0-9999"], ["help"], ["set", "--help"],
                                  ["rebalance", "3"], ["rebalance", "3", "--json"],
                                  ["set", "3", "round-4k", "--rebalance"]])
def test_full_disk(xl, args):
    with open("/dev/full", "w") as full:
        done = xl.run(*args, stdout=full)
    assert done.returncode == 1
    assert done.stderr == "xl numa-policy: cannot write the output: No space left on device\n"


def test_full_disk_ends_the_work(xl):
    """Not after four thousand million more pages."""
    with open("/dev/full", "w") as full:
        assert xl.run("where", "3", "0-0xffffffff", stdout=full).returncode == 1
    assert len(xl.trace()) < 10


def test_full_disk_known_at_the_end(xl):
    done = xl.run("list", machine=example().fail("close", ERROR_FAIL))
    assert done.returncode == 1
    assert done.stderr == "xl numa-policy: cannot write the output: Disk quota exceeded\n"


@pytest.mark.parametrize("args", [["list"], ["help"], ["where", "3", "0-9999"]])
def test_closed_pipe(xl, args):
    """Where the caller ignores SIGPIPE, it is an error like others; else the signal ends us."""
    for ignore in True, False:
        reader, writer = os.pipe()
        os.close(reader)
        done = xl.run(*args, stdout=writer, restore_signals=not ignore)
        os.close(writer)
        if ignore:
            assert (done.returncode, done.stderr) == (
                1, "xl numa-policy: cannot write the output: Broken pipe\n")
        else:
            assert done.returncode == -13


def test_closed_stdout(xl):
    done = xl.run("list", stdout=None, preexec_fn=lambda: os.close(1))
    assert done.returncode == 1
    assert done.stderr == "xl numa-policy: cannot write the output: Bad file descriptor\n"

# SPDX-License-Identifier: GPL-2.0-only
"""The help: everything that can be asked for is in it."""

import re

import pytest

from numapolicy_build import ROOT, SOURCE
from test_numapolicy_carrefour import EXPLAIN, RECORDED, SHOW, daemon, switched_on
from test_numapolicy_explain import HEAL

COMMANDS = ["list", "show", "top", "watch", "set", "rebalance", "compact", "evacuate", "where", "explain", "record", "replay"]


def test_overview(xl):
    text = xl.good("help")
    assert xl.good("--help") == xl.good("-h") == text
    for name in [*COMMANDS, "help"]:
        assert re.search(rf"^  {name} ", text, re.M)


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(xl, option):
    assert xl.good(option) == f"xl-numa-policy {(ROOT / 'VERSION').read_text()}"


@pytest.mark.parametrize("args, where", [(["--vershun"], "xl numa-policy --help"), (["-x"], "xl numa-policy --help"),
                                         (["show", "--vershun"], "xl numa-policy show --help")])
def test_a_wrong_option_names_the_help_to_read(xl, args, where):
    """Where nobody has named a command, nobody has heard of list."""
    assert xl.bad(*args, status=2).endswith(f"; see '{where}'")
    assert xl.run(*args).stderr.startswith(where.removesuffix(" --help") + ": ")


@pytest.mark.parametrize("name", COMMANDS)
def test_command(xl, name):
    text = xl.good("help", name)
    assert xl.good(name, "--help") == xl.good(name, "-h") == text
    assert text.startswith(f"Usage: xl numa-policy {name} ")
    assert ("--json" in text and "--raw" in text) == (name != "replay")
    assert f"Examples:\n  xl numa-policy {name}" in text


@pytest.mark.parametrize("args", [["help"], *(["help", name] for name in COMMANDS)])
def test_a_vm_is_called_a_vm(xl, args):
    """Domain is Xen's word, and libxl's; here it is for dom0 and those like it."""
    words = xl.good(*args).replace("PV domains", "").replace(".domains[]", "")
    words = words.replace("as the guest counts", "")    # its kernel does
    assert not re.search(r"\bdomains?\b|\bguests? ", words, re.I)


def test_explain_does_not_promise_all(xl):
    """Of a period, carrefourd writes the first ones to the journal."""
    text = xl.good("help", "explain")
    assert "has them all" not in text and "only if carrefour.conf says so: log_decisions" in text


def test_set_lists_the_switches(xl):
    text = xl.good("set", "--help").split("Switches:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in text.splitlines()] == ["+carrefour", "-carrefour", "+auto", "+auto=advise", "-auto"]


def test_set_lists_the_policies(xl):
    text = xl.good("set", "--help").split("Policies:\n")[1]
    for name in ["none", "round-4k", "round-2m", "round-1g", "first-touch"]:
        assert re.search(rf"^  {name} +\w", text, re.M)
    assert "default" not in text.split("\n\n")[0]


@pytest.mark.parametrize("args", [["help"], *(["help", name] for name in COMMANDS)])
def test_fits_80_columns(xl, args):
    assert max(map(len, xl.good(*args).splitlines())) <= 82


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_good(xl, name, tmp_path):
    """Those of one line, as far as our program is concerned; carrefourd and carrefour-replay are played."""
    lines = [line for line in xl.good("help", name).split("Examples:\n")[1].splitlines()
             if line.startswith("  xl ")]
    assert lines
    (tmp_path / "carrefour-replay").write_text("#!/bin/sh\n")
    (tmp_path / "carrefour-replay").chmod(0o755)
    answers = {"show": SHOW, "explain": EXPLAIN, "heal": HEAL, "record": RECORDED}
    with daemon(tmp_path, lambda line, *_: answers[line.split()[0]]) as (env, _):
        for line in lines:
            # once is enough of what refreshes
            words = re.sub(r"--count \d+", "--count 1", re.split("[|>]", line)[0]).split()[2:]
            xl.good(*(tmp_path / word if word.endswith(".trace") else word for word in words),
                    env=env | {"PATH": f"{tmp_path}:/bin"}, machine=switched_on())

"""The help: everything that can be asked for is in it."""

import re

import pytest

COMMANDS = ["list", "show", "set", "rebalance", "where"]


def test_overview(xl):
    text = xl.good("help")
    assert xl.good("--help") == xl.good("-h") == text
    for name in [*COMMANDS, "help"]:
        assert re.search(rf"^  {name} ", text, re.M)


@pytest.mark.parametrize("name", COMMANDS)
def test_command(xl, name):
    text = xl.good("help", name)
    assert xl.good(name, "--help") == xl.good(name, "-h") == text
    assert text.startswith(f"Usage: xl numa-policy {name} ")
    assert "--json" in text and "--raw" in text
    assert f"Examples:\n  xl numa-policy {name}" in text


def test_set_lists_the_policies(xl):
    text = xl.good("set", "--help").split("Policies:\n")[1]
    for name in ["none", "round-4k", "round-2m", "round-1g", "first-touch"]:
        assert re.search(rf"^  {name} +\w", text, re.M)
    assert "default" not in text.split("\n\n")[0]


@pytest.mark.parametrize("args", [["help"], *(["help", name] for name in COMMANDS)])
def test_fits_80_columns(xl, args):
    assert max(map(len, xl.good(*args).splitlines())) <= 82


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_good(xl, name):
    """Those of one line, as far as our program is concerned."""
    lines = [line for line in xl.good("help", name).split("Examples:\n")[1].splitlines()
             if line.startswith("  xl ")]
    assert lines
    for line in lines:
        xl.good(*line.split("|")[0].split()[2:])

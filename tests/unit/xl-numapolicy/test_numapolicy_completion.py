# SPDX-License-Identifier: GPL-2.0-only
"""Completion in a real, interactive bash: under xl, with xl's own completion, and by itself."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest

from numapolicy_build import SOURCE, XEN_TOOLS, environment
from fake_machine import Domain, example

COMMANDS = {"list", "show", "top", "watch", "set", "rebalance", "compact", "evacuate", "where", "explain", "record",
            "replay", "help"}
COMMON = {"--json", "--raw", "--verbose", "--help"}
MOVING = {"--max-mb-per-s", "--quiet", "--strict"}
SETTING = {"--dry-run", "--nodes", "--weights", "--max-pause-us", "--rebalance"}
GUESTS = {"guest1", "guest2", "web-1"}


OF_XL = XEN_TOOLS / "etc/bash_completion.d/xl"
LIBRARY = Path("/usr/share/bash-completion/bash_completion")


@contextmanager
def interactive(home, programs, *sources, **more):
    """A bash that has read these files, and has a key (C-x p) that prints the line as it stands."""
    machine = example()
    machine.domains += [Domain(5, "with blank", weights={0: 1}), Domain(6, "-", weights={0: 1}),
                        Domain(7, "web-1", weights={0: 1}), Domain(8, "$(touch${IFS}ran)", weights={0: 1}),
                        Domain(9, "it's", weights={0: 1}), Domain(10, "77", weights={0: 1})]
    env = environment(home, machine)
    env.update(PATH=f"{programs}:{env['PATH']}", HOME=str(home), TERM="dumb",
               INPUTRC="/dev/null", COLUMNS="200", **more)
    sourced = "\n".join(f"source {path}" for path in sources)
    (home / "rc").write_text(f"""
        PS1= PS2=
        bind 'set bell-style none' 'set enable-bracketed-paste off'
        bind -x '"\\C-xp": printf "<%s>" "$READLINE_LINE"'
        {sourced}
        echo ready
    """)
    child = pexpect.spawn("/bin/bash", ["--noprofile", "--rcfile", str(home / "rc"), "-i"], env=env,
                          cwd=str(home), encoding="utf-8", timeout=90, echo=False,
                          dimensions=(50, 500))
    child.expect("ready")
    child.trace = home / "trace"
    yield child
    child.close()


@pytest.fixture(scope="module")
def bash(program, tmp_path_factory):
    with interactive(tmp_path_factory.mktemp("bash"), program.parent, OF_XL, SOURCE / "xl-numa-policy.bash") as child:
        yield child


def line_after(bash, line, key):
    bash.send("\x01\x0b" + line + key + "\x18p")
    bash.expect("<([^<>]*)>")
    return bash.match[1]


def words_for(bash, line):
    """M-* replaces the word by all that it can become."""
    before = line[:line.rfind(" ") + 1]
    after = line_after(bash, line, "\x1b*")
    if after == line:
        return set()
    assert after.startswith(before)
    return set(after[len(before):].split())


@pytest.mark.parametrize("line, words", [
    ("", COMMANDS),
    ("s", {"show", "set"}),
    ("x", set()),
    ("-", COMMON | {"--brief", "--version"}),
    ("list -", COMMON | {"--brief"}),
    ("list --j", {"--json"}),
    ("list ", GUESTS),
    ("list guest1 w", {"web-1"}),
    ("--json ", GUESTS),
    ("--json s", set()),
    ("record ", GUESTS | {"all"}),
    ("record guest1 r", {"rc"}),
    ("replay r", {"rc"}),
    ("set guest1 none +", {"+carrefour", "+auto", "+auto=advise"}),
    ("set guest1 none -c", {"-carrefour"}),
    ("set guest1 -", COMMON | SETTING | MOVING | {"-carrefour", "-auto"}),
    ("show +", set()),
    ("top --", COMMON | {"--sort", "--seconds", "--count"}),
    ("top --seconds ", set()),
    ("show ", GUESTS),
    ("show w", {"web-1"}),
    ("show --json ", GUESTS),
    ("show guest1 ", set()),
    ("show guest1 --r", {"--raw"}),
    ("show guest1 --p", {"--policy"}),
    ("where g", {"guest1", "guest2"}),
    ("where guest1 ", set()),
    ("set ", GUESTS),
    ("set guest1 ", {"none", "round-4k", "round-2m", "round-1g", "first-touch"}),
    ("set guest1 round-1", {"round-1g"}),
    ("set --nodes 0-3 --weights 3:1:1:1 guest1 r", {"round-4k", "round-2m", "round-1g"}),
    ("set --nodes=0-3 --weights=3:1:1:1 guest1 n", {"none"}),
    ("set --nodes ", set()),
    ("set --weights 3:", set()),
    ("set --nodes=", set()),
    ("set --nodes=0", set()),
    ("set guest1 none --", COMMON | SETTING | MOVING),
    ("set --max-mb-per-s ", set()),
    ("set --max-mb-per-s 10 --rebalance g", {"guest1", "guest2"}),
    ("rebalance ", GUESTS),
    ("rebalance guest1 ", set()),
    ("rebalance --max-mb-per-s=10 w", {"web-1"}),
    ("rebalance guest1 --", COMMON | {"--dry-run", "--all"} | MOVING),
    ("rebalance --all ", GUESTS),
    ("compact ", GUESTS),
    ("compact guest1 ", set()),
    ("compact guest1 --", COMMON | {"--dry-run"} | MOVING),
    ("evacuate ", set()),
    ("w", {"where", "watch"}),
    ("watch g", {"guest1", "guest2"}),
    ("watch guest1 ", set()),
    ("watch guest1 -", COMMON),
    ("evacuate --to ", set()),
    ("evacuate 2 --", COMMON | {"--dry-run", "--to", "--force"} | MOVING),
    ("set guest1 none ", set()),
    ("help ", COMMANDS),
    ("help list ", set()),
    ("foo ", set()),
])
@pytest.mark.parametrize("start", ["xl numa-policy ", "xl-numa-policy "])
def test_words(bash, start, line, words):
    assert words_for(bash, start + line) == words


@pytest.mark.parametrize("line, completed", [
    ("xl numa-policy sho", "xl numa-policy show "),
    ("xl numa-policy show w", "xl numa-policy show web-1 "),
    ("xl-numa-policy set web-1 round-1", "xl-numa-policy set web-1 round-1g "),
    ("xl numa-policy set web-1 none --no", "xl numa-policy set web-1 none --nodes "),
])
def test_tab_ends_the_word(bash, line, completed):
    assert line_after(bash, line, "\t") == completed


XL = """#!/bin/sh
printf '%s\\n' 'Usage xl [-vfNtT] <subcommand> [args]' '' 'xl full list of subcommands:' '' \\
    ' create              Create a domain' ' numa-policy         See xl numa-policy --help'
"""


@pytest.mark.parametrize("place", ["etc", "share/bash-completion/completions"])
@pytest.mark.parametrize("first", ["xl numa-policy", "xl-numa-policy"])
def test_as_installed(make_double, tmp_path, place, first):
    """With bash-completion, which finds both: xl's is in /etc as Xen installs it, or beside ours as Debian has it."""
    if not LIBRARY.exists():
        pytest.skip("bash-completion is not installed")
    etc, prefix = tmp_path / "etc", tmp_path / "usr"
    make_double(f"PREFIX={prefix}", "install")
    etc.mkdir()
    shutil.copy(OF_XL, (etc if place == "etc" else prefix / place) / "xl")
    (prefix / "sbin/xl").write_text(XL)
    (prefix / "sbin/xl").chmod(0o755)
    with interactive(tmp_path, prefix / "sbin", LIBRARY, BASH_COMPLETION_COMPAT_DIR=str(etc),
                     XDG_DATA_DIRS=f"{prefix}/share") as child:
        # what is typed first loads what it needs
        for name in first, *({"xl numa-policy", "xl-numa-policy"} - {first}):
            assert line_after(child, f"{name} show w", "\t") == f"{name} show web-1 "
            assert line_after(child, f"{name} set web-1 round-1", "\t") == f"{name} set web-1 round-1g "
        assert words_for(child, "xl ") == {"create", "numa-policy"}
        # of xl's own commands, and of no name of a file, nothing is loaded
        assert line_after(child, "xl create r", "\t") == "xl create rc"
        assert line_after(child, "xl ../rc r", "\t") == "xl ../rc rc"


def test_asks_for_no_memory(bash):
    """Which Xen may take long to count, on a large host."""
    assert words_for(bash, "xl numa-policy show ") == GUESTS
    assert not [line for line in bash.trace.read_text().splitlines() if line.startswith(("usage ", "vcpus "))]


def test_a_name_is_no_program(bash):
    """compgen expands the words that it gets; a name may come with a VM from another host."""
    assert words_for(bash, "xl numa-policy show ") == GUESTS
    assert not (bash.trace.parent / "ran").exists()


def test_no_file_names(bash):
    """There is one, named rc."""
    assert line_after(bash, "xl numa-policy where guest1 r", "\t") == "xl numa-policy where guest1 r"


def test_other_commands_of_xl_are_left_alone(bash):
    assert line_after(bash, "xl create r", "\t") == "xl create rc"

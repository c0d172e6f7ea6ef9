# SPDX-License-Identifier: GPL-2.0-only
"""Shell scripts: what shellcheck warns of is red.  /.shellcheckrc tells what it need not say."""
import re
import subprocess

import pytest
from tiny_tree import REPO
from tracked import tracked

SHELL = re.compile(rb"#!\s*\S*/(env |busybox )?(ba|da|a)?sh\b")
DIRECTIVE = re.compile(rb"^# shellcheck shell=", re.M)

# kind: how it is checked.  Who sources a part has set what it reads, reads what it sets, and decides what a failure ends.
CHECKS = {
    "script": [],
    "script with its parts": ["--check-sourced", "--include=SC2154"],   # a variable that nobody sets
    "part": ["--exclude=SC2034,SC2154,SC2164"],
    "run by sh": ["--shell=dash"],
}


def kind(path):
    """What a file is for the shell, if it is anything."""
    text = path.read_bytes()
    if SHELL.match(text):
        return "script"
    if DIRECTIVE.search(text):
        return "part"
    return "run by sh" if path.suffix == ".sh" else None


def repository():
    """What of them may be a script."""
    return [REPO / name for name in tracked() if not name.endswith((".c", ".h", ".py"))]


def complaints(paths, *options):
    done = subprocess.run(["shellcheck", "--external-sources", "--severity=warning", "--format=gcc", *options, *paths],
                          cwd=REPO, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return "\n".join(sorted(set(done.stdout.splitlines())))


@pytest.mark.parametrize("checked", CHECKS)
def test_shellcheck_is_content(checked):
    paths = [path for path in repository() if kind(path) == checked.partition(" with")[0]]
    assert paths
    said = complaints(paths, *CHECKS[checked])
    assert not said, said


@pytest.mark.parametrize("checked, text, complaint", [
    ("script", "#!/bin/bash\nset -u\ncd /tmp || exit\nfirst=1\n", "first appears unused"),
    ("script", "#!/usr/bin/env bash\nrm -r $(ls)\n", "SC2046"),
    ("script", "#!/bin/sh\nlocal_only() { local x=1; [[ $x = 1 ]]; }\n", "SC2039|SC3010"),
    ("script", "#!/bin/busybox sh\ncd /nowhere\n", "SC2164"),
    ("part", "# shellcheck shell=bash\nif true; then\n", "error:"),
    ("run by sh", ". ./common\ncd /nowhere\n", "SC2164"),
])
def test_planted(tmp_path, checked, text, complaint):
    path = tmp_path / "planted.sh"
    path.write_text(text)
    assert kind(path) == checked
    assert re.search(complaint, complaints([path], *CHECKS[checked]))


def test_a_variable_that_nobody_sets_is_seen_in_a_part(tmp_path):
    (tmp_path / "part").write_text("# shellcheck shell=bash\necho \"$set_by_nobody $set_by_main\"\n")
    main = tmp_path / "main"
    main.write_text('#!/bin/bash\nset -u\nset_by_main=1\n# shellcheck source-path=SCRIPTDIR\n. "$(dirname "$0")/part"\n')
    said = complaints([main], *CHECKS["script with its parts"])
    assert "set_by_nobody is referenced" in said and "set_by_main" not in said


def test_scripts_of_every_kind_are_found():
    found = {str(path.relative_to(REPO)): kind(path) for path in repository()}
    for name, want in ((".ci/run", "script"), ("tests/boot/images/agent", "script"), ("tools/build/fetch.sh", "script"),
                       ("tools/build/lib.sh", "part"), ("tests/bench/workloads/common", "part"),
                       ("tests/bench/workloads/key-value.sh", "run by sh"), ("Makefile", None)):
        assert found[name] == want, name

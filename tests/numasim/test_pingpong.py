# SPDX-License-Identifier: GPL-2.0-only
"""Coherence in a QEMU: two CPUs that hand a word to and fro (pingpong.S), and what the check is worth."""

import json
import subprocess

import pytest

from test_numasim import PLUGIN, build, mistake

PROGRAM = "pingpong"
ROUNDS = 200
WORDS = "machine=none,link=0-1,node=0@0-0x4000000,node=1@0x4000000-0x8000000"
MUTANTS = {
    "lines have no machine address": ("numasim.c", "\tfilter_tag(cpu->l1, address, found >> LINE_SHIFT);\n", ""),
    "nobody's L1 loses a line": ("sharing.c", "filter_lose(other->l1, line);", ""),
    "nobody's L2 loses a line": ("sharing.c", "cache_take(other->l2, line);", ""),
}


def run(plugin, out, *more):
    """[misses of the word's node of each CPU], [those of lines that the other one wrote]"""
    done = subprocess.run(
        ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-machine", "q35", "-smp", "2", "-m", "128M", "-vga", "none",
         "-display", "none", "-monitor", "none", "-serial", "none", "-nic", "none", "-no-reboot", "-kernel", plugin / PROGRAM,
         "-plugin", f"{plugin}/numasim.so,{','.join([f'out={out}', WORDS, *more])}"],
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    [region] = [json.loads(line) for line in out.read_text().splitlines()]
    cpus = region["cpus"]
    return [cpu["misses"]["user"][1] for cpu in cpus], [cpu.get("handed_over", {}).get("user") for cpu in cpus]


def check_handed_over(misses, handed_over):
    """Each round each of them misses once.  The plugin sees an access after it was made, so a CPU may be quicker than that."""
    for number in (*misses, *handed_over):
        assert ROUNDS / 4 <= number <= ROUNDS * 3 / 2


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    out = tmp_path_factory.mktemp("pingpong")
    build(out, PLUGIN, PROGRAM)
    return out


def test_a_word_handed_to_and_fro_is_missed_each_time(plugin, tmp_path):
    check_handed_over(*run(plugin, tmp_path / "out.jsonl", "coherent=yes"))


def test_without_coherence_it_is_missed_once(plugin, tmp_path):
    assert run(plugin, tmp_path / "out.jsonl") == ([1, 1], [None, None])


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(plugin, tmp_path, name):
    found = run(mistake(plugin, tmp_path, *MUTANTS[name], PLUGIN, PROGRAM), tmp_path / "out.jsonl", "coherent=yes")
    with pytest.raises(AssertionError):
        check_handed_over(*found)

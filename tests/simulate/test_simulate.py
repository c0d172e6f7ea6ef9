# SPDX-License-Identifier: GPL-2.0-only
"""The closed loop: its parts in C, the program's words, and proof that the tests notice when the code is wrong."""

import json
import subprocess
from pathlib import Path

import pytest

import ctests

HERE = Path(__file__).absolute().parent
ROOT = HERE.parents[1]
SANITIZE = "CFLAGS=-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
SCENARIO = "nodes 8\nthreads 48\ncarrefour on\nseconds 5\narea a 8 blocks own\nuse 0 a 1 own 1\n"

# What is broken (file, from, to), and the test that has to see it.
MUTANTS = {
    "misses wait for half as long": (
        "clock.c", "misses[a * nodes + b] / m->stands_for",
        "misses[a * nodes + b] / m->stands_for / 2", "two_pages_by_hand"),
    "two misses at a time are one": ("clock.c", "/ m->stands_for * c->overlap", "/ m->stands_for", "two_pages_by_hand"),
    "all links are each node's": ("clock.c", "nodes != AMD48_NODES ||", "true ||", "amd48_is_the_papers"),
    "copies take no bandwidth": (
        "clock.c", "c->work[a].write_backs[a] += lines;\n\t\t\tc->work[a].write_backs[b] += lines;",
        "(void)lines;", "copies_take_bandwidth"),
    "a page counts where it came from": (
        "memory.c", "count(m, a, gfn, to, 1);\n\treturn true;", "return true;", "counts_are_those_of_pages"),
    "2 MiB leave their old node full": (
        "memory.c", "count(m, a, i, memory_node(m, i), -1);", "", "counts_are_those_of_pages"),
    "2 MiB stay divided": ("memory.c", ".state = WHOLE, .node = to", ".state = ALIKE, .node = to", "counts_are_those_of_pages"),
    "round-4k is round-2m": (
        "memory.c", "return gfn % m->nodes;", "return gfn / CHUNK % m->nodes;", "places_are_those_of_policies"),
    "who touches is the master": ("memory.c", "a->touched == TOUCH_OWN ?", "false ?", "places_are_those_of_policies"),
    "all means the owner": (
        "memory.c", "misses[i * m->nodes + h] += n / m->nodes;",
        "misses[m->node_of[t] * m->nodes + h] += n / m->nodes;", "figures_of_two_pages"),
    "the owner samples all": (
        "sampler.c", "default:\n\t\treturn chance_below",
        "default:\n\t\treturn memory_thread(m, a, gfn); return chance_below", "samples_are_of_who_accesses"),
    "an entry is marked twice": (
        "sampler.c", "if (s->slot[i] == word)\n\t\t\treturn false;",
        "if (s->slot[i] == word)\n\t\t\treturn true;", "a_page_is_sampled_once_a_period"),
    "moves change nothing": (
        "loop.c", "if (!memory_move(&l->memory, d->gfn, d->order, d->to)) {", "if (false) {", "what_is_remote_comes_home"),
    "nobody waits for moves": ("loop.c", "l->lost_moving_ns += batches", "l->lost_moving_ns += 0 * batches", "moves_cost_time"),
    "samples are lost": ("loop.c", ".nr_samples = l->sampler.nr", ".nr_samples = 0", "what_is_remote_comes_home"),
}


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("simulate")
    ctests.build(HERE, out, "simulate", "test-loop", flags=[f"XEN={ctests.tree('xen')}", SANITIZE])
    return out


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    """Without sanitizers: what mistakes are planted into."""
    out = tmp_path_factory.mktemp("simulate-plain")
    ctests.build(HERE, out, "test-loop", flags=[f"XEN={ctests.tree('xen')}", "CFLAGS=-O2"])
    return out


def simulate(built, text):
    return subprocess.run([built / "simulate", "-"], input=text, capture_output=True, text=True, timeout=300)


def test_loop(built):
    ctests.check_passed(ctests.run(built / "test-loop"))


def test_the_same_seed_says_the_same(built):
    first, again = (simulate(built, SCENARIO + "seed 7\n") for _ in range(2))
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == again.stdout != simulate(built, SCENARIO + "seed 8\n").stdout
    lines = [json.loads(line) for line in first.stdout.splitlines()]
    assert [line["second"] for line in lines[:-1]] == [1, 2, 3, 4, 5] and lines[-1]["seconds"] == 5


@pytest.mark.parametrize("line, complaint", [
    ("nodes 1", "1 should be a whole number from 2 to 32"),
    ("threads 49", "49 threads do not divide over 8 nodes evenly"),
    ("cpus 4", "cpus is no word of a scenario"),
    ("seconds 1 2", "seconds has 2 words after it, which are too many or too few"),
    ("policy round-8k", "round-8k should be one of first-touch, round-4k and so on"),
    ("area a 8 blocks own", "a is there twice"),
    ("area b 8 blocks 8", "8 should be a whole number from 0 to 7"),
    ("use 0 b 1 own 1", "b is no area that was named before"),
    ("use 0 a -1 own 1", "-1 should be a number from 0 to 1e+06"),
    ("use 0 a 1 own+48 1", "own+48 should be own or own+N, N less than the threads"),
    ("use 0 a 1 owner 1", "owner should be own or own+N, N less than the threads"),
    ("set local_pct 101", "local_pct"),
    ("set period_ms 500", "period_ms 500 should be 1000: a second is what is simulated at a time"),
    ("node_mib 0", "0 should be a whole number from 1 to"),
])
def test_a_bad_line(built, line, complaint):
    done = simulate(built, SCENARIO + line + "\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("simulate: -:") and done.stderr.count("\n") == 1 and complaint in done.stderr, done.stderr


def test_usage(built):
    done = subprocess.run([built / "simulate"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "usage: simulate SCENARIO\n")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(plain, tmp_path, name):
    file, old, new, test = MUTANTS[name]
    ctests.planted(HERE, file, old, new, tmp_path / "source")
    out = tmp_path / "out"
    for path in (plain.glob("*.o")):
        if path.name != Path(file).with_suffix(".o").name:
            out.mkdir(exist_ok=True)
            (out / path.name).symlink_to(path)
    subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-w", "-O2", "-Isource", f"-I{ROOT}/carrefour-user",
                    f"-I{ROOT}", f"-I{ROOT}/tests/numasim",
                    *subprocess.check_output(["pkg-config", "--cflags", "glib-2.0"], text=True).split(), "-c",
                    "-o", out / Path(file).with_suffix(".o").name, f"source/{file}"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-o", out / "test-loop", *(path for path in out.glob("*.o") if path.name != "simulate.o"),
                    plain / "carrefour/libcarrefour.a", "-lglib-2.0", "-lcmocka", "-lm"], check=True)
    # Chance may hide a mistake, so it is left out here.
    assert ctests.run(out / "test-loop", test, SEED="1").returncode != 0, f"nobody saw: {name}"

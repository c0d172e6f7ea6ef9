# SPDX-License-Identifier: GPL-2.0-only
"""The churn simulation: its parts in C, the program's words, what holds of a day, and proof that mistakes are seen."""

import json
import subprocess
from pathlib import Path

import pytest

import ctests

HERE = Path(__file__).absolute().parent
ROOT = HERE.parents[2]
SANITIZE = "CFLAGS=-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
PARTS = ("bound", "day", "healer", "world", "xl")

# What is broken: (file, from, to), and the test that has to see it.
MUTANTS = {
    "xl: most vCPUs": ("xl.c", "now.vcpus < best.vcpus", "now.vcpus > best.vcpus", "xl_prefers_few_vcpus_to_much_memory"),
    "xl: least memory": ("xl.c", "now.free > best.free", "now.free < best.free", "xl_takes_the_fewest_nodes"),
    "xl: memory alone": ("xl.c", "vm->mib + vm->vcpus + vm->mib / 128", "vm->mib", "xl_prefers_few_vcpus_to_much_memory"),
    "xl: cores": ("xl.c", "size * w->shape.threads", "size * w->shape.cores", "xl_takes_the_fewest_nodes"),
    "xl: any number of nodes": ("xl.c", "size <= nr && !best.nodes", "size <= nr", "xl_takes_the_fewest_nodes"),
    "memory comes from nowhere": ("world.c", "w->free[n] -= now;", "", "memory_is_taken_in_turn"),
    "all from the first node": ("world.c", "n = (n + 1) % w->shape.nodes) {", "n = without ? (n + 1) % w->shape.nodes : n) {",
                                "memory_is_taken_in_turn"),
    "memory stays when a VM goes": ("world.c", "w->free[n] += w->vm[i].on[n];", "", "memory_is_taken_in_turn"),
    "soft affinity is a must": ("world.c", "n = least_busy(w, all, load, false);", "", "vcpus_run_where_they_prefer"),
    "a move has no limit": ("world.c", "now = now < mib - moved ? now : mib - moved;", "",
                            "memory_gathers_as_far_as_there_is_room"),
    "a node has no end": ("world.c", "left / parts < room ? left / parts : room", "left / parts",
                          "memory_gathers_as_far_as_there_is_room"),
    "the bound is too low": ("bound.c", ": 1;\n}", ": 0.9;\n}", "nothing_is_above_the_bound"),
    "lifetimes": ("day.c", "- SIGMA * SIGMA / 2", "", "days_are_as_asked"),
}


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("churn")
    ctests.build(HERE, out, "churn", "test-churn", flags=[SANITIZE])
    return out


def churn(built, *words):
    return subprocess.run([built / "churn", *words], capture_output=True, text=True, timeout=300)


def day(built, *words):
    done = churn(built, *words)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines[:-1], lines[-1]


def test_parts(built):
    ctests.check_passed(ctests.run(built / "test-churn"))


def test_the_same_seed_says_the_same(built):
    first, again, other = (churn(built, "hours=2", "vms=60", f"seed={seed}").stdout for seed in (5, 5, 6))
    assert first == again != other


@pytest.mark.parametrize("words", [("seed=3",), ("seed=4", "node_gib=168", "per_hour=30"), ("seed=5", "drifted=1", "siblings=1"),
                                   ("seed=6", "strays_pct=50")])
def test_a_day(built, words):
    hours, whole = day(built, "hours=8", *words)
    assert [hour["hour"] for hour in hours] == list(range(9))
    assert whole["most_hour"] <= 0.01
    for hour in hours:
        assert 0 < hour["heal"] <= hour["bound"] <= 1 and hour["stock"] <= hour["bound"]
        assert sum(hour["left"].values()) == (hour["vms"] if hour["hour"] or "drifted=1" not in words else 0)
    if "strays_pct=50" in words:    # where affinity is not followed, nothing is done
        assert whole["entries"] == whole["moved_mib"] == 0
    else:
        assert whole["entries"] == whole["paid"] + whole["lost"] + whole["not_yet_paid"] > 0


@pytest.mark.parametrize("word, complaint", [
    ("vms=0", "0 should be a whole number from 1 to 2000 after vms="),
    ("vms=1.5", "1.5 should be a whole number from 1 to 2000 after vms="),
    ("per_hour=x", "x should be a number from 0.01 to 1000 after per_hour="),
    ("per_hour=nan", "nan should be a number from 0.01 to 1000 after per_hour="),
    ("speed=1", "speed=1 is no setting; there are vms= per_hour="),
])
def test_a_bad_word(built, word, complaint):
    done = churn(built, word)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"churn: {complaint}") and done.stderr.count("\n") == 1, done.stderr


# of which one is seen by its never ending
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.soak) if name == "memory stays when a VM goes" else name
                                  for name in MUTANTS])
def test_a_mistake_is_seen(built, tmp_path, name):
    file, old, new, test = MUTANTS[name]
    ctests.planted(HERE, file, old, new, tmp_path / "source")
    parts = [*PARTS, "test-churn"]
    for part in parts:
        subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-w", "-O1", "-Isource", f"-I{ROOT}/carrefour-user", f"-I{ROOT}",
                        "-fsanitize=address,undefined", "-c", f"source/{part}.c"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-fsanitize=address,undefined", "-o", "test-churn", *(f"{part}.o" for part in parts),
                    built / "carrefour/libcarrefour.a", "-lcmocka", "-lm"], cwd=tmp_path, check=True)
    # Chance may hide a mistake, so it is left out here. One may also have no end.
    try:
        done = subprocess.run([tmp_path / "test-churn", test], capture_output=True, env={"SEED": "1"}, timeout=60)
    except subprocess.TimeoutExpired:
        return
    assert done.returncode != 0, f"nobody saw: {name}"

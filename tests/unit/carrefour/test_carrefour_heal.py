# SPDX-License-Identifier: GPL-2.0-only
"""heal's decisions: the tests in C; and proof that they notice when the code is wrong."""

import subprocess

import pytest

import ctests
from carrefour_build import HERE, ROOT, SOURCE

PROGRAMS = ("test-heal", "test-heal-any")
SOURCES = [*sorted((SOURCE / "heal").glob("*.c")), SOURCE / "decide/nodes.c", HERE / "chance.c", HERE / "heal-host.c"]
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", f"-I{SOURCE}", f"-I{ROOT}", f"-I{HERE}"]
SANITIZE = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

# What is broken: (file, from, to), and the test that has to see it.
MUTANTS = {
    "near nodes are far": ("groups.c", "t && t->distance[a][b] <= rules->near_distance &&", "0 &&", "near_nodes_are_one"),
    "all nodes are near": ("rules.c", ".near_distance = 12", ".near_distance = 20", "a_vm_that_fits_is_gathered"),
    "threads are cores": ("groups.c", "g->cores[group] += node->cores", "g->cores[group] += node->cpus",
                          "cores_count_and_not_threads"),
    "a full node is filled": ("rules.c", ".full = 0.85", ".full = 2", "cores_count_and_not_threads"),
    "more vCPUs than cores": ("change.c", "return v->vcpus <= cores;", "return true;", "cores_count_and_not_threads"),
    "siblings cost nothing": ("worth.c", "flow.lost += lost_to_siblings(s, i);", "", "a_crowded_node_is_relieved_once"),
    "each is relieved at once": ("plan.c", "ns < s->rules->crowded_ns ? 0 : ns", "ns", "a_crowded_node_is_relieved_once"),
    "relief is a storm": ("plan.c", "s->state.groups.crowded_ns[i] = 0;", ";", "a_crowded_node_is_relieved_once"),
    "off is on": ("plan.c", "vm->off ? LEFT_OFF :", "", "some_are_left_alone"),
    "named nodes do not count": ("plan.c", "vm->named ? LEFT_NAMED :", "", "some_are_left_alone"),
    "a ledger of losses does not stop it": ("plan.c", "s->host->stopped ? LEFT_STOPPED :", "", "some_are_left_alone"),
    "nothing has to be paid back": ("plan.c", "return cost_ns <= gain * within;", "return true;", "what_is_not_paid_back_stays"),
    "a busy hour counts": ("plan.c", "if (vm->usual < vm->load)", "if (0)", "what_is_not_paid_back_stays"),
    "no cool-down": ("plan.c", "if (s->host->vm[v].calm_ns < s->rules->cooldown_ns) {", "if (0) {",
                     "another_home_waits_and_a_way_goes_on"),
    "bandwidth is no matter": ("plan.c", "if (is_alone(s, v))", "if (0)", "a_vm_with_all_bandwidth_keeps_it"),
    "the budget has no end": ("plan.c", "s->may_move -= s->action[i].bytes;", "", "what_holds_of_any_host"),
    "one VM twice": ("plan.c", "if (!s->acted[v])", "", "what_holds_of_any_host"),
    "room without end": ("change.c", "bytes[least] = share < room(s, vm, least) ? share : room(s, vm, least);",
                         "bytes[least] = share;", "what_holds_of_any_host"),
    "an hour of the clock": ("budget.c", "b->bytes[++b->minute % BUDGET_MINUTES] = 0;", "b->minute++;",
                             "any_hour_has_its_budget"),
    "an hour too short": ("budget.h", "#define BUDGET_MINUTES 61", "#define BUDGET_MINUTES 58", "any_hour_has_its_budget"),
    "no cost": ("ledger.c", "e->paid |= e->brought_ns >= e->cost_ns;", "e->paid = true;", "the_ledger_says_what_came_of_it"),
    "what is gone was paid": ("ledger.c", "l->lost += !e->paid;", "", "what_ends_early_is_lost"),
    "each part is an entry": ("ledger.c", "if (e && e->home == a->home) {", "if (0) {", "a_way_in_parts_is_one_entry"),
}


ANY = {"what_holds_of_any_host", "any_hour_has_its_budget", "the_ledger_says_what_came_of_it", "what_ends_early_is_lost",
       "a_way_in_parts_is_one_entry", "an_action_is_a_line"}


def build(out, program, sources, *flags):
    subprocess.run(["gcc", *FLAGS, *flags, "-o", out / program, HERE / f"{program}.c", *sources, "-lcmocka", "-lm"], check=True)
    return out / program


@pytest.mark.parametrize("program", PROGRAMS)
def test_heal(tmp_path, program):
    ctests.check_passed(ctests.run(build(tmp_path, program, SOURCES, "-Wall", "-Wextra", "-Werror", *SANITIZE)))


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    out = tmp_path_factory.mktemp("heal")
    for path in SOURCES:
        subprocess.run(["gcc", *FLAGS, "-O1", "-c", "-o", out / f"{path.parent.name}.{path.stem}.o", path], check=True)
    return out


def program_of(test):
    return PROGRAMS[test in ANY]


def test_every_named_test_is_there_and_green(objects, tmp_path):
    for program in PROGRAMS:
        path = build(tmp_path, program, objects.glob("*.o"))
        for test in {test for *_, test in MUTANTS.values() if program_of(test) == program}:
            ctests.check_passed(ctests.run(path, test, SEED="1"), count=r"PASSED\s+\] 1 test")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(objects, tmp_path, name):
    file, old, new, test = MUTANTS[name]
    room = tmp_path / "heal"
    room.mkdir()
    ctests.plant(SOURCE / "heal" / file, old, new, room / file)
    # A header is of all.
    sources = [room / file] if file.endswith(".c") else SOURCES
    others = [] if sources is SOURCES else [path for path in objects.glob("*.o") if path.name != f"heal.{file[:-2]}.o"]
    path = build(tmp_path, program_of(test), [*sources, *others], "-O1", "-w", "-iquote", tmp_path)
    # Chance may hide a mistake, so it is left out here.
    assert ctests.run(path, test, SEED="1").returncode != 0, f"nobody saw: {name}"

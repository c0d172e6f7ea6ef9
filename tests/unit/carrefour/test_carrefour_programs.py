"""The tests in C; and proof that they notice when the code is wrong."""

import os
import re
import shutil
import subprocess

import pytest

from carrefour_build import HERE, SOURCE, run

PROGRAMS = ("test-decide", "test-limits", "test-large", "test-random", "test-parts")
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-w"]

# What is broken (file, from, to), and the program and the test that have to see it.
MUTANTS = {
    "bytes of a VM unlimited": ("order.c", "p->left.bytes < bytes || ", "", "test-random", "bounds_hold"),
    "moves of a VM unlimited": ("order.c", " || !p->left.moves", "", "test-random", "bounds_hold"),
    "bytes are not taken off": ("order.c", "p->left.bytes -= bytes;", "", "test-random", "bounds_hold"),
    "a VM's own limit ignored": ("host.c", "if (share.moves > config->vm_moves)", "if (0)", "test-random", "bounds_hold"),
    "what a VM took is still there": ("host.c", "host->moves_left -= took.moves;", "", "test-random", "bounds_hold"),
    "the first takes all": ("host.c", "host->moves_left / parts", "host->moves_left", "test-parts", "shares_add_up"),
    "always the same one first": ("host.c", "(i + period % nr) % nr", "i", "test-parts", "all_are_first_in_turn"),
    "shares kept for the calm": ("host.c", "host->hungry_next += is_hungry;", "host->hungry_next++;", "test-limits",
                                 "unused_budget_is_for_others"),
    "any node": ("order.c", "!(p->in->home >> w->to & 1)", "0", "test-limits", "only_home_nodes"),
    "a full node": ("order.c", "p->host->room[w->to] < bytes", "0", "test-limits", "full_node_is_left_alone"),
    "room is not used up": ("order.c", "p->host->room[w->to] -= bytes;", "", "test-limits", "full_node_is_left_alone"),
    "no reserve": ("host.c", "config->node_reserve_mb * MIB", "0", "test-parts", "shares_add_up"),
    "no cool-down": ("order.c", "p->d->now < w->page->hold_until", "0", "test-decide", "alternation_is_detected_and_no_storm"),
    "no ping-pong detector": ("order.c", "if (w->to == page->from)", "if (0)", "test-decide",
                              "ping_pong_of_one_page_is_frozen"),
    "wandering is no ping-pong": ("order.c", "page->moves >= MOVES_MAX", "0", "test-decide", "wandering_page_is_frozen"),
    "frozen for ever": ("order.c", "page->hold_until = p->d->now + ms * MS", "page->hold_until = UINT64_MAX", "test-decide",
                        "phase_change_is_followed_and_then_quiet"),
    "no back-off": ("samples.c", "return d->now >= d->backoff_until;", "return true;", "test-decide",
                    "moves_that_do_not_help_end"),
    "back-off never longer": ("samples.c", "d->backoff_ns * 2", "d->backoff_ns", "test-decide", "moves_that_do_not_help_end"),
    "failures not counted": ("samples.c", "page->failures++", "page->failures", "test-limits",
                             "what_cannot_move_is_not_tried_forever"),
    "arrivals taken for failures": ("samples.c", "if (s->home == page->target) {\n\t\tpage->ordered",
                                    "if (0) {\n\t\tpage->ordered", "test-decide", "moves_that_do_not_help_end"),
    "chance taken for one node": ("pages.c", "&& !p->mixed", "", "test-decide", "master_slave_is_balanced_within_20_periods"),
    "mixed for ever": ("pages.c", "p->mixed = false;", ";", "test-parts", "window_remembers_the_last_samples"),
    "local pages moved on": ("decide.c", "(view.one_node && view.top == page->home)", "0", "test-decide",
                             "stable_partition_is_found_and_then_quiet"),
    "no migration": ("decide.c", "if (d->migrating)\n\t\t\torder_move", "if (0)\n\t\t\torder_move", "test-decide",
                     "page_of_one_remote_node_ends_there"),
    "migration ends at 95 %": ("decide.c", "d->migrating &= d->quiet < QUIET_PERIODS", "d->migrating = false", "test-decide",
                               "page_of_one_remote_node_ends_there"),
    "no interleaving": ("decide.c", "interleave(p, page);", ";", "test-decide", "master_slave_is_balanced_within_20_periods"),
    "calm guests, too": ("decide.c", "p->verdict->measure.samples < p->config->min_samples", "0", "test-limits",
                         "calm_guest_is_left_alone"),
    "always busy": ("decide.c", "return v->accesses_per_us >= p->config->min_accesses_per_us;", "return true;", "test-limits",
                    "intensity_decides_whether_to_act"),
    "always touched": ("decide.c", "return v->touched_pct >= p->config->min_touched_pct;", "return true;", "test-limits",
                       "hint_faults_tell_how_busy_it_is"),
    "where a vCPU happens to be": ("samples.c", "return node < p->d->nr_nodes ? node : s->node;", "return s->node;",
                                   "test-limits", "vcpu_that_runs_elsewhere_for_a_while"),
    "samples not checked": ("samples.c", "s->node < d->nr_nodes && s->home < d->nr_nodes &&", "", "test-random", "bounds_hold"),
    "one page in two orders": ("order.c", "else if (overlaps(p->d, w))", "else if (0)", "test-random", "bounds_hold"),
    "two domains, one chance": ("decide.c", "uint64_t z = d->random += 0x9e3779b97f4a7c15ULL;",
                                "static uint64_t c; uint64_t z = c += 0x9e3779b97f4a7c15ULL;", "test-limits",
                                "same_samples_give_same_decisions"),
    "the part of a divided page moves on": ("order.c", "if (part)\n\t\trest", "if (0)\n\t\trest", "test-large",
                                            "fought_over_pages_are_divided"),
    "never divided": ("large.c", "if (wish.to == NO_NODE ||", "if (!huge ||", "test-large", "fought_over_pages_are_divided"),
    "all divided at once": ("large.c", "p->d->nr_trials < p->config->splits", "p->d->nr_trials < SPLITS_MAX", "test-large",
                            "splits_on_trial_are_few"),
    "every trial is a success": ("large.c", "if (t->samples >= TRIAL_SAMPLES &&", "if (1 ||", "test-large",
                                 "useless_splits_are_taken_back"),
    "no trial is a success": ("large.c", "if (t->samples >= TRIAL_SAMPLES &&", "if (0 &&", "test-large",
                              "fought_over_pages_are_divided"),
    "failed trials repeated": ("large.c", "&& p->d->now >= p->d->split_pause_until", "", "test-large",
                               "useless_splits_are_taken_back"),
    "never together again": ("large.c", "range->streak >= ONE_NODE_STREAK", "0", "test-large", "fought_over_pages_are_divided"),
    "hot pages moved around": ("decide.c", "page->order == ORDER_2M && (hot || !d->interleaving)",
                               "page->order == ORDER_2M && !d->interleaving", "test-large", "hot_page_is_not_moved_around"),
    "a divided page that is whole": ("samples.c", "page_set_range(&d->pages, page, RANGE_WHOLE);\n\t\tnote_failure(p, page);",
                                     ";", "test-large", "stuck_page_is_not_divided_forever"),
    "the newest page goes": ("pages.c", "p = &t->page[t->oldest];", "p = &t->page[t->newest];", "test-parts",
                             "table_forgets_the_oldest"),
    "touching does not keep": ("pages.c", "unlink_age(t, p);\n\t\tlink_newest(t, p);\n\t} else", ";\n\t} else", "test-parts",
                               "table_forgets_the_oldest"),
    "coldest first": ("pages.c", "p->hits > q->hits ? -1 : 1", "p->hits > q->hits ? 1 : -1", "test-parts",
                      "hottest_pages_come_first"),
    "chance taken for imbalance": ("measure.c", "variance -= k / (sum * m->samples);", "", "test-parts",
                                   "chance_is_no_imbalance"),
    "imbalance of all nodes": ("measure.c", "if (home >> n & 1)\n\t\t\tvariance", "variance", "test-parts",
                               "measures_are_the_papers"),
    "no hysteresis": ("auto.c", "low += now == CLASS_LOW ? margin : -margin;", "", "test-parts", "auto_has_hysteresis"),
    "every phase a class": ("auto.c", "if (s->candidate_ns < c->auto_dwell_ms * MS)", "if (0)", "test-parts",
                            "auto_has_hysteresis"),
    "Carrefour's work taken for the guest's": ("auto.c", "|| (in->carrefour && class < s->class)", "", "test-parts",
                                               "auto_has_hysteresis"),
    "learns under any policy": ("auto.c", "if (!in->first_touch)", "if (0)", "test-parts", "auto_learns_under_first_touch_only"),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(built, program):
    done = run(built / program)
    assert done.returncode == 0, done.stdout + done.stderr
    # cmocka's own count, so that a program that runs nothing does not pass
    assert re.search(r"PASSED\s+\] [1-9]\d* test", done.stdout + done.stderr)


def compile_to(directory, *sources):
    subprocess.run(["gcc", *FLAGS, f"-I{SOURCE}", f"-I{HERE}", "-c", *map(str, sources)], cwd=directory, check=True)


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Without sanitizers, which would only make it slower."""
    out = tmp_path_factory.mktemp("objects")
    compile_to(out, *(path for path in SOURCE.glob("*.c") if path.name != "replay.c"),
               HERE / "world.c", *(HERE / f"{program}.c" for program in PROGRAMS))
    return out


def link(out, objects, program, mutant=None):
    parts = [path for path in objects.glob("*.o") if not path.name.startswith("test-") and path.stem != (mutant or "")]
    subprocess.run(["gcc", "-o", out / program, *parts, *out.glob("*.o"), objects / f"{program}.o", "-lcmocka", "-lm"],
                   check=True)
    return out / program


def test_every_named_test_is_there_and_green(objects, tmp_path):
    for program in PROGRAMS:
        path = link(tmp_path, objects, program)
        for test in {test for *_, other, test in MUTANTS.values() if other == program}:
            done = run(path, test, env={**os.environ, "SEED": "1"})
            assert done.returncode == 0 and re.search(r"PASSED\s+\] 1 test", done.stdout + done.stderr), done


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(objects, tmp_path, name):
    file, old, new, program, test = MUTANTS[name]
    text = (SOURCE / file).read_text()
    assert old in text, f"{file} has changed: {old!r} is gone"
    shutil.copy(SOURCE / file, tmp_path)
    (tmp_path / file).write_text(text.replace(old, new, 1))
    compile_to(tmp_path, file)
    path = link(tmp_path, objects, program, file.removesuffix(".c"))
    # Chance may hide a mistake, so it is left out here.
    assert run(path, test, env={**os.environ, "SEED": "1"}).returncode != 0, f"nobody saw: {name}"

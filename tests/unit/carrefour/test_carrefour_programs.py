# SPDX-License-Identifier: GPL-2.0-only
"""The tests in C; and proof that they notice when the code is wrong."""

import os
import subprocess

import pytest

import ctests
from carrefour_build import HERE, SOURCE, without_xen

PROGRAMS = ("test-decide", "test-limits", "test-large", "test-random", "test-parts", "test-auto", "test-ring", "test-daemon",
            "test-server")
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
    "a back-off for what led to the one before": ("samples.c", "page->moved_period > p->d->settled && ", "", "test-decide",
                                                  "phase_change_is_one_reason_to_back_off"),
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
    "chance taken for imbalance": ("measure.c", "variance -= k / (sum * samples);", "", "test-parts",
                                   "chance_is_no_imbalance"),
    "imbalance of all nodes": ("measure.c", "if (home >> n & 1)\n\t\t\tvariance", "variance", "test-parts",
                               "measures_are_the_papers"),
    "no hysteresis": ("auto.c", "low += now == CLASS_LOW ? margin : -margin;", "", "test-auto", "auto_has_hysteresis"),
    "all periods count alike": ("auto.c", "weighed.ns = weighed_ns(s, config, in);", "weighed_ns(s, config, in);", "test-auto",
                                "auto_weighs_by_activity"),
    "the busiest of all times": ("auto.c", "s->busiest += part_of", "s->busiest += 0 * part_of", "test-auto",
                                 "auto_weighs_by_activity"),
    "the busiest of now": ("auto.c", "BUSIEST_DWELLS * c->auto_dwell_ms", "c->auto_dwell_ms / 100", "test-auto",
                           "auto_weighs_by_activity"),
    "few samples tell how busy it was": ("auto.c", "if (in->samples < c->min_samples)\n\t\treturn 0;", "", "test-auto",
                                         "auto_weighs_by_activity"),
    "first period first": ("auto.c", "mean->ns += ns;", "mean->ns = dwell_ns;", "test-auto",
                           "auto_does_not_begin_with_a_prejudice"),
    "one vCPU is as busy as all": ("auto.c", "in->ns * in->nr_vcpus)", "in->ns)", "test-auto",
                                   "auto_knows_how_active_a_guest_is"),
    "late faults are all there are": ("auto.c", "in->marked && in->faults <= in->marked", "1", "test-auto",
                                      "auto_knows_how_active_a_guest_is"),
    "moves are forgotten with the page": ("pages.c", "remember_moves(t, p);", "", "test-parts", "moves_are_known_for_longer"),
    "chance is a gain": ("samples.c", "p->d->gained -= 1.0 / (nodes - 1);", ";", "test-decide",
                         "pages_that_do_not_fit_the_table_come_to_rest"),
    "an affinity that is not kept is a gain": ("samples.c", "else if (s->node == s->home)", "else if (node_of(p, s) == s->home)",
                                               "test-limits", "vcpu_that_never_comes_back"),
    "by chance one node's, at rest never": ("pages.c", "view.nodes == 1 && !p->mixed", "view.nodes == 1", "test-random",
                                            "stable_patterns_come_to_rest"),
    "what a period does not tell is all": ("auto.c", "if (now >= 0)\n\t\t*known = now;", "*known = now;", "test-auto",
                                           "auto_keeps_what_it_knew_of_activity"),
    "what was taken for all was all": ("auto.c", "if (ran || touched)\n\t\ts->busiest = 0;", "", "test-auto",
                                       "auto_keeps_what_it_knew_of_activity"),
    "no dwell time, no mean": ("auto.c", "else if (ns)", "else if (mean->ns)", "test-auto",
                               "auto_without_a_dwell_time_goes_by_each_period"),
    "every phase a class": ("auto.c", "if (s->candidate_ns < dwell_ns)", "if (0)", "test-auto",
                            "auto_has_hysteresis"),
    "Carrefour's work taken for the guest's": ("auto.c", "in->carrefour && class < s->class ? s->class : class", "class",
                                               "test-auto",
                                               "auto_has_hysteresis"),
    # The ring.
    "more than there can be is read": ("ring.c", "if (there > r->size)", "if (0)", "test-ring",
                                       "what_was_never_there_is_not_read"),
    "the header's size counts": ("ring.c", "(r->size - 1)]", "(r->header->size - 1)]", "test-ring", "any_bytes"),
    "the header's count is taken back": ("ring.c", "there = prod - r->cons;", "there = prod - (r->cons = r->header->cons);",
                                         "test-ring", "the_headers_count_is_not_believed"),
    "one too many is read": ("ring.c", "there && nr < max;", "there && nr <= max;", "test-ring", "any_bytes"),
    "Xen is not told what is read": ("ring.c", "__atomic_store_n(&r->header->cons, r->cons, __ATOMIC_RELEASE);", "", "test-ring",
                                     "each_sample_comes_once_and_in_order"),
    "a ring of any size": ("ring.c", " || (size & (size - 1))", "", "test-ring", "what_is_no_ring_is_refused"),
    "another layout": ("ring.c", "header.version != RING_VERSION", "0", "test-ring", "what_is_no_ring_is_refused"),
    "a size that is not that of the mapping": ("ring.c", "header.size != size", "0", "test-ring", "what_is_no_ring_is_refused"),
    "bits that mean nothing taken": ("ring.c", "return !s.pad && ", "return 1 || ", "test-ring", "bits_that_mean_nothing"),
    # What is remembered between periods.
    "counters that began anew": ("counters.c", "anew |= b[i] < a[i];", "", "test-daemon", "counters_of_a_period"),
    "counters since the beginning": ("counters.c", "(anew ? 0 : a[i])", "0", "test-daemon", "counters_of_a_period"),
    "the oldest decision first": ("history.c", "h->nr - 1 - i", "h->nr + i", "test-daemon", "the_last_decisions_are_kept"),
    "decisions that never were": ("history.c", " || i >= h->nr", "", "test-daemon", "the_last_decisions_are_kept"),
    "a wrong configuration is taken": ("reload.c", "\t\treturn false;", "\t\t;", "test-daemon",
                                       "bad_configuration_changes_nothing"),
    "sampling goes on as before": ("reload.c", "new.sample_ms != config->sample_ms", "0", "test-daemon",
                                   "bad_configuration_changes_nothing"),
    "what is switched off goes on": ("guests.c", "d->guest[i]->gone = true;", "", "test-daemon", "guests_follow_the_store"),
    "a guest twice": ("guests.c", "if (!guests_find(d, wish[i].id))", "if (1)", "test-daemon", "guests_follow_the_store"),
    "moves remembered beyond Carrefour": ("guest.c", "if (!wish->carrefour)\n\t\tforget_pages(g);", "", "test-daemon",
                                          "guests_follow_the_store"),
    "what auto has learnt by looking is lost": ("guest.c", "if (before == AUTO_OFF)", "if (1)", "test-daemon",
                                                "guests_follow_the_store"),
    "auto forgets at each write": ("guest.c", "if (wish->mode != before)", "if (1)", "test-daemon", "guests_follow_the_store"),
    "auto acts again after a restart": ("guest.c", "g->applied = wish->class != CLASS_UNKNOWN;", "g->applied = false;",
                                        "test-daemon", "guests_follow_the_store"),
    "a recording of all domains": ("record.c", "if (r->domid != RECORD_ALL)", "if (0)", "test-daemon",
                                   "recordings_are_whole_traces"),
    "a trace of two configurations": ("record.c", "r->end.error || r->end.reconfigured", "r->end.error", "test-daemon",
                                      "recordings_are_whole_traces"),
    "a trace that is cut": ("record.c", "trace_write_end(r->file);", "", "test-daemon", "recordings_are_whole_traces"),
    "a pipe is recorded to": ("record.c", "!S_ISREG(st.st_mode)", "0", "test-daemon",
                              "files_that_would_hold_up_all_are_refused"),
    # Needs root to be seen.
    "root for ever": ("privileges.c", "|| setresuid(uid, uid, uid)", "", "test-daemon", "root_is_given_up"),
    "root's groups": ("privileges.c", "setgroups(0, NULL) ||", "", "test-daemon", "root_is_given_up"),
    "the capability stays in effect": ("privileges.c", "if (dropped && set_capabilities(KEPT, 0))", "if (0)", "test-daemon",
                                       "root_is_given_up"),
    "xenstore cannot be opened again": ("privileges.c", "(void)!set_capabilities(KEPT, KEPT)", "", "test-daemon",
                                        "root_is_given_up"),
    "what is called may be more": ("privileges.c", "prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||", "", "test-daemon",
                                   "root_is_given_up"),
    # The socket.
    "anybody's socket": ("server.c", "umask(0177)", "umask(0)", "test-server", "a_line_is_answered_by_a_document"),
    "two daemons": ("server.c", "if (!flock(lock, LOCK_EX | LOCK_NB))", "if (1)", "test-server", "one_daemon_at_a_time"),
    "one that was killed is in the way": ("server.c", "if (unlink(path) && errno != ENOENT)", "if (0)", "test-server",
                                          "one_daemon_at_a_time"),
    "who stands still stays": ("server.c", "now - c->since > CLIENT_NS", "0", "test-server", "who_stands_still_is_left"),
    "a recording is left like others": ("server.c", "!c->held && now - c->since", "now - c->since", "test-server",
                                        "a_recording_lasts_as_long_as_its_client_wants"),
    "a client's end is not heard": ("server.c", "if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))\n\t\tend_held(c);", ";",
                                    "test-server", "a_recording_lasts_as_long_as_its_client_wants"),
    "what does not fit is lost": ("server.c", "if (c->written == c->size ||", "if (1 ||", "test-server",
                                  "who_does_not_listen_is_left"),
    "a second file stays open": ("server.c", "\t\t\telse\n\t\t\t\tclose(fd);", ";", "test-server",
                                 "files_that_are_not_asked_for_are_closed"),
    "a file that nobody wants stays open": ("requests.c", "if (fd >= 0)\n\t\tclose(fd);", "", "test-server",
                                            "files_that_are_not_asked_for_are_closed"),
    "a file with a wrong id stays open": ("requests.c", "close(fd);\n\t} else {", "} else {", "test-server",
                                          "files_that_are_not_asked_for_are_closed"),
    "a line is read on": ("server.c", "c->length == REQUEST_MAX - 1", "0", "test-server", "a_line_without_end_is_answered_too"),
    "a recording is cut by the end": ("server.c", "if (clients[c].held)\n\t\t\tend_held(&clients[c]);", "", "test-server",
                                      "the_end_of_the_daemon_ends_recordings"),
    "an id of any size": ("requests.c", " || n > UINT16_MAX", "", "test-server", "a_line_is_answered_by_a_document"),
    "quotes as they are": ("json.c", "*s == '\"' || *s == '\\\\'", "0", "test-server", "a_line_is_answered_by_a_document"),
    "bytes as they are": ("json.c", "if (!n)", "if (0)", "test-server", "a_line_is_answered_by_a_document"),
    "learns under any policy": ("auto.c", "if (!strcmp(in->policy, class_policy(CLASS_UNKNOWN)))", "if (1)", "test-auto",
                                "auto_learns_of_imbalance_under_first_touch_only"),
    "chance taken for private": ("auto.c", "1000 * (same - chance) / (1 - chance) : 0", "1000 * same : 0", "test-auto",
                                 "auto_comes_back_for_private_pages"),
    "what a master initializes": ("auto.c", "&& in->own_imbalance <= c->auto_high_pct * 10", "", "test-auto",
                                  "private_pages_of_one_node_are_no_way_back"),
    "imbalance by where memory is": ("measure.c", "imbalance(own, m.samples", "imbalance(m.load, m.samples", "test-parts",
                                     "measures_are_the_papers"),
    "to and fro for ever": ("auto.c", "<< s->returns;", ";", "test-auto", "auto_comes_back_for_private_pages"),
    "never comes back again": ("auto.c", "s->returns += s->returns < RETURNS_MAX;", "s->returns = 40;", "test-auto",
                               "auto_comes_back_for_private_pages"),
    "comes back with what it left for": ("auto.c", "s->mean = unknown;", "", "test-auto",
                                         "auto_comes_back_for_private_pages"),
    "what was private still is": ("auto.c", "s->private = unknown;", "", "test-auto", "auto_comes_back_for_private_pages"),
    "a handful is a way back": ("auto.c", "if (in->again < c->min_samples ||", "if (", "test-auto",
                                "few_samples_are_no_way_back"),
    "comes back from any policy": ("auto.c", "s->class == CLASS_HIGH && !strcmp(in->policy, class_policy(CLASS_HIGH))",
                                   "s->class == CLASS_HIGH", "test-auto", "few_samples_are_no_way_back"),
    "each page was sampled before": ("samples.c", "if (page->nr_window > 1) {", "if (1) {", "test-decide",
                                     "private_pages_are_counted"),
    "every node is the same": ("samples.c", "again_same += page->streak > 1;", "again_same += 1;", "test-decide",
                               "private_pages_are_counted"),
    # Memory that follows.
    "follows beyond the VM's budget": ("follow.c", "f->left -= least(bytes, f->left);", "", "test-auto",
                                       "memory_follows_within_budgets"),
    "follows beyond the host's budget": ("follow.c", "least(bytes, host->bytes_left), 0 }", "0, 0 }", "test-auto",
                                         "memory_follows_within_budgets"),
    "another guest fills the node": ("follow.c", "host->room[n] -= least(bytes, host->room[n]);", ";", "test-auto",
                                     "memory_follows_within_budgets"),
    "why a page stays is forgotten": ("pages.c", "t->now >= p->hold_until &&", "", "test-parts", "kept_pages_stay"),
    "a trial is forgotten": ("pages.c", " && p->range != RANGE_TRIED", "", "test-parts", "kept_pages_stay"),
    "a name of any bytes": ("metrics.c", "if (!n)", "if (0)", "test-daemon", "metrics_are_utf8"),
    "fills a node": ("follow.c", "f->left = least(f->left, host->room[n]);", ";", "test-auto", "memory_follows_within_budgets"),
    "goes on without room": ("follow.c", "if (!host->room[n])\n\t\t\treturn false;", "", "test-auto",
                             "memory_follows_within_budgets"),
    "a full node gives nothing away": ("follow.c", "if (host->room[n])\n\t\t\tf->nodes", "if (1)\n\t\t\tf->nodes", "test-auto",
                                       "memory_follows_within_budgets"),
    "follows after auto is off": ("guest.c", "g->follow = (struct follow){ .on = false };", "", "test-daemon",
                                  "memory_follows_until_auto_is_off"),
    "half the way is enough": ("guest.c", "g->follow.on = wish->mode == AUTO_ON && wish->follows;", "", "test-daemon",
                               "memory_follows_until_auto_is_off"),
    "what Carrefour knew is still true": ("guest.c", "\tforget_pages(g);\n\tg->follow", "\tg->follow", "test-daemon",
                                          "memory_follows_until_auto_is_off"),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(built, tmp_path, program):
    # where it makes its files: one that fails leaves them
    ctests.check_passed(ctests.run(built / program, cwd=tmp_path))


def compile_to(directory, *sources):
    subprocess.run(["gcc", *FLAGS, f"-I{SOURCE}", f"-I{HERE}", "-c", *map(str, sources)], cwd=directory, check=True)


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Without sanitizers, which would only make it slower."""
    out = tmp_path_factory.mktemp("objects")
    compile_to(out, *without_xen(), HERE / "world.c", HERE / "chance.c", *(HERE / f"{program}.c" for program in PROGRAMS))
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
            ctests.check_passed(ctests.run(path, test, cwd=tmp_path, SEED="1"), count=r"PASSED\s+\] 1 test")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_seen(objects, tmp_path, name):
    file, old, new, program, test = MUTANTS[name]
    if file == "privileges.c" and os.getuid():
        pytest.skip("only root has something to give up")
    ctests.plant(SOURCE / file, old, new, tmp_path / file)
    compile_to(tmp_path, file)
    path = link(tmp_path, objects, program, file.removesuffix(".c"))
    # Chance may hide a mistake, so it is left out here.
    assert ctests.run(path, test, cwd=tmp_path, SEED="1").returncode != 0, f"nobody saw: {name}"

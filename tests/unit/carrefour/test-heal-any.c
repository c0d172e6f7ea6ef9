/* SPDX-License-Identifier: GPL-2.0-only */
/* heal: what must hold of any host and of any hour, and what the ledger says. */
#include <math.h>
#include <string.h>

#include "heal-host.h"
#include "heal/budget.h"
#include "heal/change.h"
#include "heal/ledger.h"

static void any_hour_has_its_budget(void **unused)
{
	uint64_t now = 0, when[4000], bytes[4000], all = 1000 * GIB;
	struct heal_budget budget = { .minute = 0 };
	unsigned int i, k;

	(void)unused;
	test_seed();
	for (i = 0; i < 4000; i++) {
		uint64_t left, hour = 0;

		now += rnd64() % (240000 * MS);
		left = heal_budget_left(&budget, &heal_rules, now, all);
		when[i] = now;
		bytes[i] = left ? rnd64() % (left + 1) : 0;
		heal_budget_took(&budget, now, bytes[i]);
		for (k = 0; k <= i; k++)
			hour += now - when[k] <= HOUR ? bytes[k] : 0;
		assert_true(hour <= 10 * GIB);
		assert_true(heal_budget_hour(&budget, now) >= hour);
	}
	assert_int_equal(heal_budget_left(&budget, &heal_rules, now + 2 * HOUR, all), all / 1000 * 10);
}

static void random_host(void)
{
	unsigned int n, i;

	begin(2 + rnd64() % 7);
	for (n = 0; n < host.nr_nodes; n++) {
		if (!(rnd64() % 8))
			host.node[n].cpus = host.node[n].cores = 0;
		if (n && rnd64() % 2)
			topology.distance[n][n - 1] = topology.distance[n - 1][n] = 12;
		host.node[n].crowded_ns = rnd64() % (4 * HOUR);
	}
	host.may_move = rnd64() % (40 * GIB);
	while (host.nr_vms < VMS && rnd64() % 40) {
		struct heal_vm *v = add(rnd64() % (1 << host.nr_nodes));

		v->vcpus = 1 + rnd64() % 24;
		v->load = v->vcpus * (rnd(1001) / 1000.0);
		v->usual = v->vcpus * (rnd(1001) / 1000.0);
		v->peak = v->load + (rnd(1001) / 1000.0);
		v->age_ns = rnd64() % (100 * HOUR);
		v->off = !(rnd64() % 8);
		for (i = rnd64() % 4; i--; ) {
			uint64_t bytes = rnd64() % (8 * GIB);

			n = rnd64() % host.nr_nodes;
			if (host.node[n].free > bytes)
				has(v, n, bytes);
		}
	}
}

/* Carried out one after another, as the daemon does. */
static void check_plan(void)
{
	struct heal_state s;
	uint64_t moved = 0;
	unsigned int i, k, g;

	assert_true(heal_state_begin(&s, &host, &heal_rules));
	for (i = 0; i < plan.nr; i++) {
		const struct heal_action *a = &plan.action[i];
		struct heal_place place;
		uint64_t bytes = 0;

		assert_false(vm[a->vm].off);
		for (k = 0; k < i; k++)
			assert_int_not_equal(plan.action[k].vm, a->vm);
		if (a->bytes)
			place = heal_gathered(&s, a->vm, heal_groups_with(&s.groups, a->home), a->bytes, &bytes);
		else
			place = heal_following(&s, a->vm, heal_groups_with(&s.groups, a->home));
		assert_int_equal(bytes, a->bytes);
		/* What comes and what goes is the same, to a byte for each node. */
		assert_true(place.all + 64 > s.place[a->vm].all && place.all < s.place[a->vm].all + 64);
		heal_state_put(&s, a->vm, &place);
		for (g = 0; g < s.groups.nr; g++)
			assert_true(s.groups.free[g] + 64 < 1ULL << 62);
		assert_true(a->why == HEAL_MAKE_ROOM || a->gain > 0);
		assert_true(a->why == HEAL_MAKE_ROOM || a->why == HEAL_RELIEVE || a->local_after > a->local_before);
		moved += a->bytes;
	}
	assert_true(moved <= host.may_move);
	assert_true(plan.nr <= heal_rules.actions + 1);
	heal_state_end(&s);
}

static void what_holds_of_any_host(void **unused)
{
	unsigned int round, acted = 0, v;

	(void)unused;
	test_seed();
	for (round = 0; round < 400; round++) {
		struct heal_plan again;

		random_host();
		decide_all();
		check_plan();
		acted += plan.nr;
		assert_true(heal_plan(&again, &host, &heal_rules));
		assert_int_equal(again.nr, plan.nr);
		assert_true(!plan.nr || !memcmp(again.action, plan.action, plan.nr * sizeof(*plan.action)));
		for (v = 0; v < host.nr_vms; v++)
			assert_true(heal_left_name(plan.left[v]) != NULL);
		heal_plan_free(&again);
		heal_plan_free(&plan);
	}
	assert_true(acted > 400);
}

/* A plan is done: memory and affinity are as it says. */
static void done(struct heal_ledger *ledger, uint64_t now)
{
	decide_all();
	assert_int_equal(plan.nr, 1);
	heal_ledger_add(ledger, &host, &plan, now);
	heal_plan_free(&plan);
	vm[0].affinity = 1;
	vm[0].bytes[0] = 8 * GIB;
	vm[0].bytes[1] = 0;
}

static void the_ledger_says_what_came_of_it(void **unused)
{
	static struct heal_ledger l;
	const struct heal_entry *e;

	(void)unused;
	memset(&l, 0, sizeof(l));
	begin(4);
	spread();
	done(&l, 0);
	e = heal_ledger_get(&l, 0);
	assert_true(e && !heal_ledger_get(&l, 1));
	/* 0.2 a second: after 20 s 4 of 6.36 are back, after 40 s all. */
	assert_true(heal_ledger_look(&l, &host, &heal_rules, 20000 * MS, 20000 * MS));
	assert_true(!e->paid && fabs(e->brought_ns - 4000.0 * MS) < MS);
	assert_true(heal_ledger_look(&l, &host, &heal_rules, 40000 * MS, 20000 * MS));
	assert_true(e->paid && !e->closed && l.paid == 1);
	host.nr_vms = 0;
	assert_true(heal_ledger_look(&l, &host, &heal_rules, 60000 * MS, 20000 * MS));
	assert_true(e->closed && !l.lost && !l.regretted);
}

static void what_ends_early_is_lost(void **unused)
{
	static struct heal_ledger l;
	unsigned int i;

	(void)unused;
	memset(&l, 0, sizeof(l));
	for (i = 0; i < 4; i++) {
		assert_false(heal_ledger_stops(&l));
		begin(4);
		spread()->id = 100 + i;
		done(&l, i * HOUR);
		host.nr_vms = 0;
		assert_true(heal_ledger_look(&l, &host, &heal_rules, i * HOUR + 1, 1));
		assert_int_equal(l.lost, i + 1);
	}
	assert_true(heal_ledger_stops(&l));
	l.paid = 100;
	assert_false(heal_ledger_stops(&l));
}

static void a_way_in_parts_is_one_entry(void **unused)
{
	static struct heal_ledger l;

	(void)unused;
	memset(&l, 0, sizeof(l));
	begin(4);
	spread();
	host.may_move = GIB;
	decide_all();
	heal_ledger_add(&l, &host, &plan, 0);
	vm[0].affinity = 1;
	heal_plan_free(&plan);
	decide_all();
	heal_ledger_add(&l, &host, &plan, 1);
	heal_plan_free(&plan);
	assert_int_equal(l.nr, 1);
	assert_int_equal(l.entry[0].bytes, 2 * GIB);
	assert_int_equal(l.entry[0].home_before, 3);
	/* It never pays: lost, after its time. */
	vm[0].load = 0;
	assert_true(heal_ledger_look(&l, &host, &heal_rules, 100 * HOUR, HOUR));
	assert_true(l.entry[0].closed && l.lost == 1);
}

static void an_action_is_a_line(void **unused)
{
	const struct heal_action a = { .home = 5, .bytes = 3 * GIB, .why = HEAL_GATHER, .cost_ns = 4770 * MS, .pause_ns = MS,
				       .gain = 0.2, .local_before = 0.5, .local_after = 1 };
	static const char *const odd[] = { "12", "-v", "a b", "$(reboot)", "a;b", "", "x\ny" };
	static const char for_7[] = "xl vcpu-pin 7 all - nodes:0,nodes:2 && xl numa-policy set 7 round-2m --rebalance  # 3072";
	struct heal_action stays = a;
	char text[HEAL_TEXT];

	(void)unused;
	heal_describe(text, sizeof(text), &a, 7, "db1", true);
	assert_string_equal(text, "xl vcpu-pin db1 all - nodes:0,nodes:2 && xl numa-policy rebalance db1  # 3072 MiB move, as it fits "
			    "there: local accesses 50 % to 100 % (modelled), saves 200 ms of CPU time a second; costs 4.8 s of CPU "
			    "time, a pause is at most 1.0 ms");
	/* For a shell: a name that could be something else to it, or to xl, is no name. */
	for (unsigned int i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		heal_describe(text, sizeof(text), &a, 7, odd[i], false);
		assert_memory_equal(text, for_7, strlen(for_7));
	}
	stays.bytes = 0;
	heal_describe(text, sizeof(text), &stays, 7, "db1", false);
	assert_non_null(strstr(text, "all - nodes:0,nodes:2  # 0 MiB move, as"));
	stays.home = UINT64_MAX;
	heal_describe(text, sizeof(text), &stays, 7, "db1", false);
	assert_non_null(strstr(text, ",nodes:63  # 0 MiB move, as"));
	heal_describe(text, 10, &a, 7, "db1", true);
	assert_string_equal(text, "xl vcpu-p");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_hour_has_its_budget), cmocka_unit_test(what_holds_of_any_host),
		cmocka_unit_test(the_ledger_says_what_came_of_it), cmocka_unit_test(what_ends_early_is_lost),
		cmocka_unit_test(a_way_in_parts_is_one_entry), cmocka_unit_test(an_action_is_a_line),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("heal, any host", tests, NULL, NULL);
}

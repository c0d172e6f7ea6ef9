/* SPDX-License-Identifier: GPL-2.0-only */
/* heal: hosts that are small enough to decide by hand, and what must hold of any. A random test prints its seed for SEED=. */
#include <math.h>
#include <string.h>

#include "chance.h"
#include "heal/budget.h"
#include "heal/change.h"
#include "heal/ledger.h"

#define GIB (1024 * MIB)
#define HOUR (3600000 * MS)
#define VMS 64

static struct heal_vm vm[VMS];
static struct heal_host host;
static struct heal_plan plan;
static struct topology topology;

/* Nodes of 64 GiB, with 16 cores of two threads each. */
static void begin(unsigned int nodes)
{
	unsigned int n;

	memset(vm, 0, sizeof(vm));
	topology = topology_flat();
	host = (struct heal_host){ .nr_nodes = nodes, .topology = &topology, .vm = vm, .may_move = 100 * GIB };
	for (n = 0; n < nodes; n++)
		host.node[n] = (struct heal_node){ .bytes = 64 * GIB, .free = 64 * GIB, .cpus = 32, .cores = 16 };
}

/* Old, busy with two of four vCPUs; its memory is added by has(). */
static struct heal_vm *add(uint64_t affinity)
{
	struct heal_vm *v = &vm[host.nr_vms++];

	*v = (struct heal_vm){ .id = host.nr_vms, .vcpus = 4, .load = 2, .usual = 2, .peak = 2, .affinity = affinity,
			       .age_ns = 1000 * HOUR, .calm_ns = UINT64_MAX };
	return v;
}

static void has(struct heal_vm *v, unsigned int node, uint64_t bytes)
{
	v->bytes[node] += bytes;
	host.node[node].free -= bytes;
}

static void decide_all(void)
{
	assert_true(heal_plan(&plan, &host, &heal_rules));
}

static void assert_left(unsigned int v, enum heal_left left)
{
	decide_all();
	assert_string_equal(heal_left_name(plan.left[v]), heal_left_name(left));
	assert_int_equal(plan.nr, 0);
	heal_plan_free(&plan);
}

/* One action, for the first VM. */
static struct heal_action only(enum heal_why why, uint64_t home, uint64_t bytes)
{
	struct heal_action a;

	decide_all();
	assert_int_equal(plan.nr, 1);
	a = plan.action[0];
	assert_int_equal(a.vm, 0);
	assert_int_equal(plan.left[0], LEFT_ACTED);
	assert_string_equal(heal_why_name(a.why), heal_why_name(why));
	assert_int_equal(a.home, home);
	assert_int_equal(a.bytes, bytes);
	heal_plan_free(&plan);
	return a;
}

static struct heal_vm *spread(void)
{
	struct heal_vm *v = add(3);

	has(v, 0, 4 * GIB);
	has(v, 1, 4 * GIB);
	return v;
}

static void a_vm_that_fits_is_gathered(void **unused)
{
	struct heal_action a;

	(void)unused;
	begin(4);
	spread();
	a = only(HEAL_GATHER, 1, 4 * GIB);
	assert_true(fabs(a.local_before - 0.5) < 1e-9 && fabs(a.local_after - 1) < 1e-9);
	/* Half of a fifth of two CPUs; a GiB costs what the VM waits, too. */
	assert_true(fabs(a.gain - 0.2) < 1e-9);
	assert_int_equal(a.cost_ns, 4 * 3 * heal_rules.gib_ns);
	assert_true(a.pause_ns > 0 && a.pause_ns < 3 * MS);
}

static void vcpus_go_to_their_memory(void **unused)
{
	struct heal_vm *v;

	(void)unused;
	begin(4);
	v = add(0);
	has(v, 2, 8 * GIB);
	only(HEAL_FOLLOW, 4, 0);
	v->load = v->usual = 0.01;
	only(HEAL_FOLLOW, 4, 0);
	v->affinity = 4;
	assert_left(0, LEFT_GOOD);
}

static void some_are_left_alone(void **unused)
{
	struct heal_vm *v;

	(void)unused;
	begin(4);
	v = spread();
	v->off = true;
	assert_left(0, LEFT_OFF);
	v->off = false, v->named = true;
	assert_left(0, LEFT_NAMED);
	v->named = false, v->unmovable = true;
	assert_left(0, LEFT_UNMOVABLE);
	v->unmovable = false, v->watched = true;
	assert_left(0, LEFT_WATCHED);
	v->watched = false, host.stopped = true;
	assert_left(0, LEFT_STOPPED);
	host.stopped = false, v->age_ns = heal_rules.young_ns - 1;
	assert_left(0, LEFT_YOUNG);
	v->age_ns = 1000 * HOUR, v->strays = 0.31;
	assert_left(0, LEFT_STRAYS);
	v->strays = 0.29;
	only(HEAL_GATHER, 1, 4 * GIB);
}

static void what_is_not_paid_back_stays(void **unused)
{
	struct heal_vm *v;

	(void)unused;
	begin(4);
	v = spread();
	/* 6.36 s of CPU time at 0.2 a second: 31.8 s, which is a hundredth of 53 minutes. */
	v->age_ns = 52 * 60000 * MS;
	assert_left(0, LEFT_NOT_PAID);
	v->age_ns = 54 * 60000 * MS;
	only(HEAL_GATHER, 1, 4 * GIB);
	/* Busy now, and hardly ever. */
	v->usual = 0.1;
	assert_left(0, LEFT_NOT_PAID);
	v->age_ns = 1000 * HOUR;
	only(HEAL_GATHER, 1, 4 * GIB);
	v->load = v->usual = 0.001;
	assert_left(0, LEFT_NOT_PAID);
}

static void another_home_waits_and_a_way_goes_on(void **unused)
{
	struct heal_vm *v;

	(void)unused;
	begin(4);
	v = spread();
	v->calm_ns = HOUR - 1;
	assert_left(0, LEFT_COOLING);
	v->affinity = 1;
	only(HEAL_GATHER, 1, 4 * GIB);
	v->affinity = 3, v->calm_ns = HOUR;
	only(HEAL_GATHER, 1, 4 * GIB);
}

static void near_nodes_are_one(void **unused)
{
	struct heal_groups g;
	struct heal_vm *v;

	(void)unused;
	begin(4);
	v = add(1);
	has(v, 0, 4 * GIB);
	has(v, 1, 4 * GIB);
	topology.distance[0][1] = topology.distance[1][0] = topology.distance[2][3] = topology.distance[3][2] = 12;
	g = heal_groups_of(&host, &heal_rules);
	assert_int_equal(g.nr, 2);
	assert_int_equal(heal_nodes_of(&g, 1), 3);
	assert_int_equal(heal_groups_with(&g, 4), 2);
	assert_left(0, LEFT_GOOD);
	/* One socket of the first EPYC: near, and still worth it. */
	topology.distance[0][1] = topology.distance[1][0] = 16;
	only(HEAL_GATHER, 1, 4 * GIB);
}

/* Siblings are no cores: a node with work for all cores takes nobody more, however many CPUs are idle. */
static void cores_count_and_not_threads(void **unused)
{
	struct heal_vm *other;
	unsigned int n;

	(void)unused;
	begin(2);
	spread();
	for (n = 0; n < 2; n++) {
		other = add(1 << n);
		has(other, n, GIB);
		other->vcpus = 16, other->load = other->usual = other->peak = 13;
	}
	decide_all();
	assert_int_equal(plan.nr, 0);
	assert_int_equal(plan.left[0], LEFT_NO_ROOM);
	heal_plan_free(&plan);
	for (n = 0; n < 2; n++)
		host.node[n].cores = host.node[n].cpus = 32;
	only(HEAL_GATHER, 1, 4 * GIB);
	/* With more vCPUs than a node has CPUs it needs the other one, or both. */
	vm[0].vcpus = 20;
	host.node[0].cores = host.node[0].cpus = 18;
	only(HEAL_GATHER, 2, 4 * GIB);
	vm[0].vcpus = 33;
	decide_all();
	assert_int_equal(plan.nr, 0);
	heal_plan_free(&plan);
}

static void a_vm_with_all_bandwidth_keeps_it(void **unused)
{
	struct heal_vm *v, *other;

	(void)unused;
	begin(2);
	v = spread();
	v->vcpus = 16, v->load = v->usual = v->peak = 10;
	assert_left(0, LEFT_ALONE);
	other = add(2);
	has(other, 1, GIB);
	other->load = other->usual = other->peak = 4;
	only(HEAL_GATHER, 1, 4 * GIB);
}

static void a_crowded_node_is_relieved_once(void **unused)
{
	unsigned int i;

	(void)unused;
	begin(2);
	for (i = 0; i < 10; i++)
		has(add(1), 0, GIB);
	host.node[0].crowded_ns = heal_rules.crowded_ns - 1;
	assert_left(0, LEFT_GOOD);
	host.node[0].crowded_ns = heal_rules.crowded_ns;
	decide_all();
	assert_int_equal(plan.nr, 1);
	assert_int_equal(plan.action[0].why, HEAL_RELIEVE);
	assert_int_equal(plan.action[0].home, 2);
	assert_int_equal(plan.action[0].bytes, GIB);
	/* Two of four CPUs too many. */
	assert_true(fabs(plan.action[0].gain - 1.6) < 1e-9);
	heal_plan_free(&plan);
	/* Where work is no more than cores, there is nothing to end. */
	vm[0].load = vm[1].load = 0;
	assert_left(2, LEFT_GOOD);
}

static void room_is_made(void **unused)
{
	(void)unused;
	begin(3);
	spread();
	/* Its nodes are full, but for the reserve; the third one has room for 7 GiB and not for 8. */
	has(add(1), 0, 52 * GIB + 768 * MIB);
	has(add(1), 0, 7 * GIB);
	has(add(2), 1, 59 * GIB + 768 * MIB);
	has(add(4), 2, 56 * GIB + 256 * MIB);
	/* ... and cores for one that is less busy. */
	vm[4].load = vm[4].usual = vm[4].peak = 12.5;
	vm[2].load = vm[2].usual = vm[2].peak = 1;
	decide_all();
	assert_int_equal(plan.nr, 2);
	assert_int_equal(plan.action[0].why, HEAL_MAKE_ROOM);
	assert_int_equal(plan.action[0].vm, 2);
	assert_int_equal(plan.action[0].home, 4);
	assert_int_equal(plan.action[0].bytes, 7 * GIB);
	assert_int_equal(plan.action[1].why, HEAL_GATHER);
	assert_int_equal(plan.action[1].vm, 0);
	assert_int_equal(plan.action[1].home, 1);
	assert_int_equal(plan.action[1].bytes, 4 * GIB);
	heal_plan_free(&plan);
	/* Of two, none is done in part. */
	host.may_move = 11 * GIB;
	decide_all();
	assert_int_equal(plan.nr, 0);
	heal_plan_free(&plan);
	host.may_move = 100 * GIB;
	vm[2].off = true;
	assert_left(0, LEFT_NO_ROOM);
}

static void no_more_than_may_move(void **unused)
{
	struct heal_action a;

	(void)unused;
	begin(4);
	spread();
	host.may_move = GIB;
	a = only(HEAL_GATHER, 1, GIB);
	assert_true(fabs(a.local_after - 0.625) < 1e-6);
	host.may_move = 0;
	assert_left(0, LEFT_BUDGET);
}

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
	char text[600];

	(void)unused;
	heal_describe(text, sizeof(text), &a, "db1");
	assert_string_equal(text, "db1: prefer the CPUs of nodes 0,2 and move 3072 MiB there, as it fits there: local accesses 50 % to "
			    "100 % (modelled), saves 200 ms of CPU time a second; costs 4.8 s of CPU time, a pause is at most 1.0 ms");
	heal_describe(text, 10, &a, "db1");
	assert_string_equal(text, "db1: pref");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vm_that_fits_is_gathered), cmocka_unit_test(vcpus_go_to_their_memory),
		cmocka_unit_test(some_are_left_alone), cmocka_unit_test(what_is_not_paid_back_stays),
		cmocka_unit_test(another_home_waits_and_a_way_goes_on), cmocka_unit_test(near_nodes_are_one),
		cmocka_unit_test(cores_count_and_not_threads), cmocka_unit_test(a_vm_with_all_bandwidth_keeps_it),
		cmocka_unit_test(a_crowded_node_is_relieved_once), cmocka_unit_test(room_is_made),
		cmocka_unit_test(no_more_than_may_move), cmocka_unit_test(any_hour_has_its_budget),
		cmocka_unit_test(what_holds_of_any_host), cmocka_unit_test(the_ledger_says_what_came_of_it),
		cmocka_unit_test(what_ends_early_is_lost), cmocka_unit_test(a_way_in_parts_is_one_entry),
		cmocka_unit_test(an_action_is_a_line),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

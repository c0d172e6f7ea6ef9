/* SPDX-License-Identifier: GPL-2.0-only */
/* heal: hosts that are small enough to decide by hand. */
#include <math.h>
#include <string.h>

#include "heal-host.h"
#include "heal/groups.h"

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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vm_that_fits_is_gathered), cmocka_unit_test(vcpus_go_to_their_memory),
		cmocka_unit_test(some_are_left_alone), cmocka_unit_test(what_is_not_paid_back_stays),
		cmocka_unit_test(another_home_waits_and_a_way_goes_on), cmocka_unit_test(near_nodes_are_one),
		cmocka_unit_test(cores_count_and_not_threads), cmocka_unit_test(a_vm_with_all_bandwidth_keeps_it),
		cmocka_unit_test(a_crowded_node_is_relieved_once), cmocka_unit_test(room_is_made),
		cmocka_unit_test(no_more_than_may_move),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("heal", tests, NULL, NULL);
}

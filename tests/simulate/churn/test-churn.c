/* SPDX-License-Identifier: GPL-2.0-only */
/* The host of the churn simulation: libxl's placement by hand, memory that adds up, bounds that hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bound.h"
#include "day.h"
#include "decide/splitmix.h"
#include "xl.h"

static const struct shape four = { .nodes = 4, .cores = 8, .threads = 16, .node_mib = 16384, .dom0_mib = 1024 };
static struct world world;

static struct vm *put(uint64_t affinity, unsigned int vcpus, uint64_t mib)
{
	const struct vm vm = { .id = world.nr + 1, .vcpus = vcpus, .mib = mib, .affinity = affinity, .load = vcpus };

	return world_add(&world, &vm);
}

static uint64_t place(unsigned int vcpus, uint64_t mib)
{
	const struct vm vm = { .vcpus = vcpus, .mib = mib };

	return xl_place(&world, &vm);
}

static void xl_takes_the_fewest_nodes(void **unused)
{
	(void)unused;
	world_begin(&world, &four);
	/* Of nodes without vCPUs those with most free memory, and of these the first: node 0 has dom0. */
	assert_int_equal(place(2, 4096), 2);
	/* Too large for a node; then two, and without node 0. */
	assert_int_equal(place(2, 16384), 6);
	/* More vCPUs than a node has CPUs, threads counted. */
	assert_int_equal(place(16, 1024), 2);
	assert_int_equal(place(17, 1024), 6);
	/* More than the host has: no placement. */
	assert_int_equal(place(65, 1024), 0);
	assert_int_equal(place(1, 65536), 0);
}

static void xl_prefers_few_vcpus_to_much_memory(void **unused)
{
	(void)unused;
	world_begin(&world, &four);
	put(2, 2, 1024);
	put(4, 1, 8192);
	put(8, 2, 1024);
	/* Node 0 has no vCPUs, but dom0; then node 2, with the least memory. */
	assert_int_equal(place(1, 4096), 1);
	put(1, 4, 1024);
	assert_int_equal(place(1, 4096), 4);
	/* One without affinity counts everywhere: it changes nothing. */
	put(0, 9, 1024);
	assert_int_equal(place(1, 4096), 4);
	/* What libxl wants is somewhat more than the memory; 8192 MiB are free there. */
	assert_int_equal(place(1, 8100), 4);
	assert_int_equal(place(1, 8150), 2);
}

static void memory_is_taken_in_turn(void **unused)
{
	struct vm *vm;

	(void)unused;
	world_begin(&world, &four);
	vm = put(6, 2, 5 * 1024);
	assert_int_equal(vm->on[1], 3072);
	assert_int_equal(vm->on[2], 2048);
	/* What its nodes lack comes from others. */
	vm = put(2, 2, 16 * 1024);
	assert_int_equal(vm->on[1], 13 * 1024);
	assert_int_equal(vm->on[0] + vm->on[2] + vm->on[3], 3 * 1024);
	assert_int_equal(world.free[1], 0);
	world_remove(&world, 0);
	world_remove(&world, 0);
	assert_int_equal(world_free(&world), 4 * 16384 - 1024);
}

static void vcpus_run_where_they_prefer(void **unused)
{
	struct vm *vm;

	(void)unused;
	world_begin(&world, &four);
	vm = put(6, 4, 4096);
	world_run(&world);
	assert_true(fabs(vm->ran[1] - 0.5) < 1e-9 && fabs(vm->ran[2] - 0.5) < 1e-9);
	assert_true(fabs(world_local(&world) - 0.5) < 1e-9);
	/* 16 CPUs are full: the rest runs elsewhere. */
	vm = put(8, 32, 1024);
	world_run(&world);
	assert_true(fabs(vm->ran[3] - 0.5) < 1e-9);
	assert_int_equal(world.crowded[3], 1);
	world_run(&world);
	assert_int_equal(world.crowded[3], 2);
	world.shape.strays = 0.2;
	world_run(&world);
	assert_true(fabs(vm->ran[3] - 0.45) < 1e-9);
}

static void memory_gathers_as_far_as_there_is_room(void **unused)
{
	struct vm *vm;

	(void)unused;
	world_begin(&world, &four);
	vm = put(6, 2, 8192);
	assert_int_equal(world_spans(&world), 1);
	assert_int_equal(world_gather(&world, vm, 2, 1024), 1024);
	assert_int_equal(world_gather(&world, vm, 2, 1 << 20), 3072);
	assert_int_equal(vm->on[1], 8192);
	assert_int_equal(world_spans(&world), 0);
	put(8, 1, 16384 - 2048);
	assert_int_equal(world_gather(&world, vm, 8, 1 << 20), 2048);
	/* It spans, and would fit; more vCPUs than cores do not. */
	assert_int_equal(world_spans(&world), 1);
	vm->vcpus = 9;
	assert_int_equal(world_spans(&world), 0);
}

/* Whatever is where: the bound is no less than any placement, and memory adds up. */
static void nothing_is_above_the_bound(void **unused)
{
	const char *env = getenv("SEED");
	uint64_t random = env ? strtoull(env, NULL, 0) : (uint64_t)time(NULL);
	unsigned int round, n;

	(void)unused;
	printf("replay with SEED=%llu\n", (unsigned long long)random);
	for (round = 0; round < 200; round++) {
		uint64_t all = 0;

		world_begin(&world, &four);
		while (world_free(&world) > 24 * 1024)
			put(splitmix_next(&random) % 16, 1 + splitmix_next(&random) % 40, 1 + splitmix_next(&random) % 24576);
		for (n = 0; n < world.nr; n++) {
			world_gather(&world, &world.vm[n], 1 + splitmix_next(&random) % 15, splitmix_next(&random) % 9999);
			all += world.vm[n].mib;
		}
		world_run(&world);
		assert_int_equal(world_free(&world) + all, 4 * 16384 - 1024);
		assert_true(world_local(&world) <= bound_local(&world) + 1e-9);
		assert_true(bound_repacked(&world) <= bound_local(&world) + 1e-9);
	}
}

static void days_are_as_asked(void **unused)
{
	struct day day = { .random = 7, .vms = 200, .per_hour = 10 };
	double left, minutes = 0, arrivals = 0;
	unsigned int i;
	struct vm vm;

	(void)unused;
	for (i = 0; i < 200000; i++)
		arrivals += day_arrivals(&day);
	/* 33,333 arrivals: within 5 sigma. */
	assert_true(fabs(arrivals - 200000 / 6.0) < 5 * sqrt(200000 / 6.0));
	for (i = 0; i < 200000; i++) {
		vm = day_next(&day, i, &left);
		minutes += left / 200000;
		assert_true(vm.mib >= 1024 && vm.vcpus >= 1 && left > 0);
	}
	/* A lognormal's standard deviation is 2.9 times its mean. */
	assert_true(fabs(minutes / 1200 - 1) < 5 * 2.9 / sqrt(200000));
	assert_true(day_load(&vm, 77) == day_load(&vm, 77) && day_load(&vm, 77) <= 1.3 * vm.vcpus);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xl_takes_the_fewest_nodes), cmocka_unit_test(xl_prefers_few_vcpus_to_much_memory),
		cmocka_unit_test(memory_is_taken_in_turn), cmocka_unit_test(vcpus_run_where_they_prefer),
		cmocka_unit_test(memory_gathers_as_far_as_there_is_room), cmocka_unit_test(nothing_is_above_the_bound),
		cmocka_unit_test(days_are_as_asked),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("churn", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Machines whose nodes are not alike: distances, nodes that are memory alone, home nodes that no vCPU is on. */
#include <string.h>

#include "decide/auto.h"
#include "decide/nodes.h"
#include "world.h"

/* Two sockets of four nodes: 16 within, 32 across. */
static struct topology two_sockets(void)
{
	struct topology t = topology_flat();
	unsigned int a, b;

	for (a = 0; a < 8; a++)
		for (b = 0; b < 8; b++)
			t.distance[a][b] = a == b ? 10 : a / 4 == b / 4 ? 16 : 32;
	return t;
}

static uint8_t from_6(struct guest *g, unsigned int page)
{
	(void)g, (void)page;
	return 6;
}

static uint8_t from_0(struct guest *g, unsigned int page)
{
	(void)g, (void)page;
	return 0;
}

static unsigned int pages_on(const struct guest *g, uint8_t node)
{
	unsigned int i, nr = 0;

	for (i = 0; i < g->nr_pages; i++)
		nr += g->node[i] == node;
	return nr;
}

static void each_node_wants_the_nearest_home(void **unused)
{
	struct topology t = two_sockets();
	struct nodes n = nodes_of(&t, 8, 1 << 1 | 1 << 5);
	unsigned int from, on, of_0 = 0;

	(void)unused;
	for (from = 0; from < 8; from++) {
		assert_int_equal(n.wanted[from], from < 4 ? 1 : 5);
		for (on = 0; on < 8; on++)
			assert_int_equal(nodes_local(&n, from, on), on == from || (on / 4 == from / 4 && from % 4 != 1));
	}
	/* As near as each other: both are, and neither is wanted by all. */
	n = nodes_of(NULL, 8, 1 << 0 | 1 << 5);
	for (from = 0; from < 8; from++) {
		of_0 += n.wanted[from] == 0;
		assert_true(from % 5 == 0 || (nodes_local(&n, from, 0) && nodes_local(&n, from, 5)));
	}
	assert_true(of_0 >= 3 && of_0 <= 5 && !nodes_local(&n, 0, 5));
	/* Beyond the last node there is none; without home nodes every node is its own. */
	n = nodes_of(&t, 8, 1ULL << 40);
	assert_true(!n.home && n.wanted[3] == 3 && nodes_local(&n, 3, 3) && !nodes_local(&n, 3, 2));
}

static void only_nodes_with_cpus_are_judged(void **unused)
{
	struct topology t = world_slow_memory();
	struct nodes n = nodes_of(&t, 4, 0xf);
	uint64_t matrix[16] = { [0] = 500000, [5] = 500000 };

	(void)unused;
	assert_int_equal(n.with_cpus, 0x3);
	assert_int_equal(measure(matrix, &n).imbalance, 0);
	assert_int_equal(measure(matrix, &n).local, 1000);
	/* Half of what is interleaved is at 21 instead of 10. */
	assert_int_equal(measure(matrix, &n).spread, 550);
	matrix[5] = 0;
	assert_int_equal(measure(matrix, &n).imbalance, 1000);
	/* A domain has slow memory alone. */
	n = nodes_of(&t, 4, 0xc);
	assert_int_equal(n.with_cpus, 0xc);
	assert_int_equal(n.wanted[1], 3);
}

static void memory_comes_as_near_as_it_can(void **unused)
{
	struct topology t = two_sockets();
	struct world w;
	struct guest *far, *near;

	(void)unused;
	test_seed();
	world_begin(&w, 8, 1);
	w.host.topology = &t;
	far = world_add(&w, 256, 5, ORDER_4K, from_0);
	near = world_add(&w, 256, 5, ORDER_4K, from_6);
	far->home = near->home = 1 << 1 | 1 << 5;
	world_steps(&w, 40);
	assert_int_equal(pages_on(far, 1), 256);
	assert_true(far->all_moves == 256 && far->last.measure.local == 1000 && far->last.state == STATE_BALANCED);
	assert_int_equal(near->all_moves, 0);
	assert_int_equal(near->last.measure.local, 1000);
	world_end(&w);
}

/* A home node is full: what cannot come nearer stays, and is told. */
static void no_home_node_has_room(void **unused)
{
	struct topology t = two_sockets();
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 8, 1);
	w.host.topology = &t;
	w.free[1] = 0;
	g = world_add(&w, 256, 5, ORDER_4K, from_0);
	g->home = 1 << 1 | 1 << 5;
	world_steps(&w, 20);
	assert_int_equal(g->all_moves, 0);
	assert_true(g->last.held[HELD_FULL] > 0);
	world_end(&w);
}

static void shared_pages_keep_off_slow_memory(void **unused)
{
	struct topology t = world_slow_memory();
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 1);
	w.host.topology = &t;
	pattern_nodes = 2;
	g = world_add(&w, 512, 0, ORDER_4K, shared);
	world_steps(&w, 60);
	assert_true(g->all_actions[ACTION_INTERLEAVE] > 100);
	assert_int_equal(pages_on(g, 0) + pages_on(g, 1), 512);
	assert_true(world_imbalance(&w, g) < 400);
	world_end(&w);
}

/* Nodes 4 and 5 share pages: they go to the other nodes of their socket before any goes across. */
static uint8_t by_4_and_5(struct guest *g, unsigned int page)
{
	(void)g, (void)page;
	return 4 + rnd(2);
}

static void shared_pages_stay_near(void **unused)
{
	struct topology t = two_sockets();
	unsigned int node, across = 0;
	struct world w;
	struct guest *g;

	(void)unused;
	test_seed();
	world_begin(&w, 8, 1);
	w.host.topology = &t;
	g = world_add(&w, 4096, 4, ORDER_4K, by_4_and_5);
	g->samples = 1000;
	while (pages_on(g, 4) > 3300)
		world_step(&w);
	assert_true(pages_on(g, 4) > 2600);
	for (node = 0; node < 4; node++)
		across += pages_on(g, node);
	/* Samples are few: now and then a near node seems to have its share already. By chance alone it were 4 of 7. */
	assert_true(across * 5 < pages_on(g, 5) + pages_on(g, 6) + pages_on(g, 7));
	assert_true(pages_on(g, 5) > 300);
	world_end(&w);
}

/* A third of node 0's accesses at each of three distances. */
static void the_way_is_told_by_distance(void **unused)
{
	struct topology t = world_slow_memory();
	struct nodes n = nodes_of(&t, 4, 0xf);
	uint64_t matrix[16] = { 1000, 1000, 1000 };

	(void)unused;
	assert_int_equal(measure(matrix, &n).detour, 500);
	/* It has only memory that is slow, and half of it is near: at 14, and 24. */
	n = nodes_of(&t, 4, 0xc);
	assert_int_equal(measure((uint64_t[16]){ [2] = 1000, [3] = 1000 }, &n).detour, 357);
}

/* All that the guest accesses is local, and even over the nodes that have CPUs. */
static void a_local_guest_has_the_class_low(void **unused)
{
	struct topology t = world_slow_memory();
	struct auto_state s = auto_begin();
	struct config c = config_defaults();
	struct advice advice = { .class = CLASS_UNKNOWN };
	struct auto_input in;
	struct world w;
	struct guest *g;
	unsigned int i;

	(void)unused;
	test_seed();
	world_begin(&w, 4, 1);
	w.host.topology = &t;
	pattern_nodes = 2;
	g = world_add(&w, 1024, 0, ORDER_4K, partitioned);
	for (i = 512; i < 1024; i++)
		g->node[i] = 1;
	for (i = 0; i < 2 * c.auto_dwell_ms / c.period_ms; i++) {
		world_step(&w);
		in = auto_input_of(&(struct input){ .ns = c.period_ms * MS, .home = g->home }, &g->last, "first-touch", true);
		advice = auto_step(&s, &c, &in);
	}
	assert_int_equal(g->all_moves, 0);
	assert_int_equal(advice.class, CLASS_LOW);
	world_end(&w);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_node_wants_the_nearest_home), cmocka_unit_test(only_nodes_with_cpus_are_judged),
		cmocka_unit_test(the_way_is_told_by_distance),
		cmocka_unit_test(memory_comes_as_near_as_it_can), cmocka_unit_test(no_home_node_has_room),
		cmocka_unit_test(shared_pages_keep_off_slow_memory), cmocka_unit_test(shared_pages_stay_near),
		cmocka_unit_test(a_local_guest_has_the_class_low),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("nodes", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Parameters: what the preset is, what can be changed, what is refused. */
#include "test.h"

static int link_from_to(const struct machine *m, int from, int to)
{
	for (unsigned int i = 0; i < m->links; i++)
		if (m->link[i].from == from && m->link[i].to == to)
			return i;
	fail_msg("no link from %d to %d", from, to);
	return -1;
}

static void amd48_has_16_links_and_two_hops(void **state)
{
	struct machine m = test_machine(NULL);
	unsigned int links_of[8] = { 0 }, hops[3] = { 0 };

	(void)state;
	assert_int_equal(m.links, 2 * 16);
	for (unsigned int i = 0; i < m.links; i++) {
		links_of[m.link[i].from]++;
		assert_true(m.link[i].bandwidth == 6);
	}
	for (unsigned int a = 0; a < 8; a++) {
		assert_int_equal(links_of[a], 4);
		for (unsigned int b = 0; b < 8; b++) {
			const struct route *r = &m.route[a][b];

			hops[r->hops]++;
			if (r->hops) {
				assert_int_equal(m.link[r->link[0]].from, a);
				assert_int_equal(m.link[r->link[r->hops - 1]].to, b);
			}
			if (r->hops == 2) {
				assert_int_equal(m.link[r->link[0]].to, m.link[r->link[1]].from);
				assert_int_equal(m.link[r->link[0]].to, b ^ 1);
			}
		}
	}
	assert_int_equal(hops[0], 8);
	assert_int_equal(hops[1], 32);
	assert_int_equal(hops[2], 24);
	assert_int_equal(m.l2.sets * m.l2.ways * LINE_BYTES, 512 << 10);
	assert_true(m.watched[0] && m.watched[7]);
	machine_free(&m);
}

static void everything_can_be_changed(void **state)
{
	char *words[] = {
		"machine=none", "out=a=b", "node=0+3-4@0-0x100000", "node=1@0x100000-0x200000+0x400000-0x500000", "node=2@",
		"node=@0x200000-0x300000", "link=0-1:2.5", "link=1-2", "link=0-2", "link=2-3", "link=1-3",
		"route=0:1:2", "watch=0-1+4",
		"l1=32K:8", "l2=1M", "l3=853K", "hit=10:20", "latency=1:2:3", "loaded=4:5.5:6", "loaded-threads=2", "controller=20.5",
		"cpu-hz=3e9", "epoch=5000", "stands-for=7", "idle=0xffff82d040320000-0xffff82d040320130:0xffff82d040325000",
	};
	struct machine m;
	char *wrong = machine_parse(&m, G_N_ELEMENTS(words), words, 6);

	(void)state;
	if (wrong)
		fail_msg("%s", wrong);
	assert_string_equal(m.name, "none");
	assert_string_equal(m.out, "a=b");
	assert_int_equal(m.nodes, 4);
	assert_int_equal(m.node_of_cpu[0], 0);
	assert_int_equal(m.node_of_cpu[1], 1);
	assert_int_equal(m.node_of_cpu[4], 0);
	assert_int_equal(m.node_of_cpu[5], NO_NODE);
	assert_int_equal(m.node[1].ranges, 2);
	assert_int_equal(m.node[1].range[1].from, 0x400000);
	assert_int_equal(m.node[1].range[1].to, 0x500000);
	assert_int_equal(m.node[2].ranges, 0);
	assert_true(m.watched[0] && m.watched[1] && m.watched[4] && !m.watched[2] && !m.watched[3] && !m.watched[5]);
	assert_true(m.link[link_from_to(&m, 1, 0)].bandwidth == 2.5 && m.link[link_from_to(&m, 2, 1)].bandwidth == 6);
	assert_int_equal(m.route[0][2].hops, 2);
	assert_int_equal(m.route[2][0].hops, 1);
	assert_int_equal(m.route[0][2].link[0], link_from_to(&m, 0, 1));
	assert_int_equal(m.route[0][3].link[0], link_from_to(&m, 0, 2));	/* the neighbour of 3 closest to it */
	assert_int_equal(m.l1.ways, 8);
	assert_int_equal(m.l2.bytes, 1 << 20);
	assert_int_equal(m.l3.sets, 853);
	assert_true(m.hit[0] == 10 && m.hit[1] == 20 && m.alone[2] == 3 && m.loaded[1] == 5.5 && m.loaded_threads == 2);
	assert_true(m.controller == 20.5 && m.cpu_hz == 3e9 && m.epoch == 5000 && m.stands_for == 7);
	assert_true(m.idle.from == 0xffff82d040320000 && m.idle.to == 0xffff82d040320130 && m.idle.awake == 0xffff82d040325000);
	machine_free(&m);
}

/* One of the preset's links gets another bandwidth and stays one link. */
static void a_link_of_the_preset_can_be_changed(void **state)
{
	struct machine m = test_machine("link=0-2:3", "route=0:1:3", NULL);

	(void)state;
	assert_int_equal(m.links, 32);
	assert_true(m.link[link_from_to(&m, 0, 2)].bandwidth == 3 && m.link[link_from_to(&m, 2, 0)].bandwidth == 3);
	assert_int_equal(m.route[0][3].link[0], link_from_to(&m, 0, 1));
	machine_free(&m);
}

/* Two sockets of four nodes: near in one, far between them, each by a link of its own. */
static void a_server_of_two_sockets(void **state)
{
	struct machine m = test_machine("machine=xeon", "tlb=xeon", "coherent=yes", NULL);

	(void)state;
	assert_string_equal(m.name, "xeon");
	assert_string_equal(m.translation->name, "xeon");
	assert_true(m.coherent);
	assert_int_equal(m.links, 8 * 7);
	for (unsigned int a = 0; a < 8; a++)
		for (unsigned int b = 0; b < 8; b++) {
			assert_int_equal(m.route[a][b].hops, a != b);
			assert_int_equal(m.route[a][b].class, a == b ? 0 : a / 4 == b / 4 ? 1 : 2);
		}
	assert_int_equal(m.l3.sets * m.l3.ways * LINE_BYTES, 105 * MIB / 4);
	machine_free(&m);
}

static void the_presets_have_their_tlbs(void **state)
{
	struct machine m = test_machine("tlb=none", NULL);

	(void)state;
	assert_null(m.translation);
	assert_false(m.coherent);
	machine_free(&m);
	m = test_machine("tlb=amd48", NULL);
	assert_string_equal(m.translation->name, "amd48");
	assert_int_equal(m.route[0][3].class, 2);
	assert_int_equal(m.route[0][2].class, 1);
	machine_free(&m);
}

/* A bit for each in a word. */
static void coherence_is_for_so_many(void **state)
{
	char *words[] = { "out=x", "machine=none", "node=0-31@0-0x100000", "coherent=yes", "watch=0-30" };
	struct machine m;
	char *wrong = machine_parse(&m, 4, words, 32);

	(void)state;
	assert_string_equal(wrong, "coherent=yes: for at most 31 CPUs, more are watched");
	g_free(wrong);
	assert_null(machine_parse(&m, 5, words, 32));
	machine_free(&m);
}

static void bad_words_are_refused(void **state)
{
	static const char *const words[] = {
		"", "nonsense", "nonsense=1", "node", "node=0", "node=9@0x200000000-0x210000000", "node=@0x200000000-0x210000000",
		"node=0@0x200000000-0x210000000", "watch=8", "watch=", "watch=3-1", "watch=x", "watch=1-", "watch=0-99999999999",
		"machine=amd", "machine=none", "machine=", "tlb=", "tlb=amd", "coherent=", "coherent=1",
		"link=0-0", "link=0-8", "link=0-1:", "link=0-1:0", "link=0-1:x", "link=0:1", "link=",
		"link=0-4294967297", "route=0:1", "route=0:1:2:3", "route=0:7:3", "route=0:2:8", "route=0:2:0", "route=0:1.5:3",
		"l1=", "l1=96:2", "l1=96K:2", "l2=100", "l2=512K:0", "l2=512K:65", "l2=512KB", "l3=5M:48", "l3=-1", "l3=0",
		"hit=1", "hit=1:2:3", "latency=1:2", "latency=0:1:2", "latency=800:900:1000", "loaded=1:2:3", "loaded=a:b:c",
		"controller=0", "controller=-1", "controller=inf", "controller=nan", "cpu-hz=", "cpu-hz=0", "epoch=0", "epoch=1.5",
		"epoch=1e13", "stands-for=0", "stands-for=1001", "stands-for=0.5", "loaded-threads=0", "out=",
		"idle=", "idle=1-2", "idle=1-2:", "idle=2-2:3", "idle=1-2:3-4", "idle=1:2",
	};

	(void)state;
	for (unsigned int i = 0; i < G_N_ELEMENTS(words); i++) {
		char *all[EIGHT_WORDS + 1] = { EIGHT_NODES };
		struct machine m;
		char *wrong;

		all[EIGHT_WORDS] = (char *)words[i];
		wrong = machine_parse(&m, EIGHT_WORDS + 1, all, 8);
		if (!wrong)
			fail_msg("\"%s\" was taken", words[i]);
		assert_null(strchr(wrong, '\n'));
		g_free(wrong);
	}
}

static void bad_nodes_are_refused(void **state)
{
	static const char *const nodes[] = {
		"node=0-1@0-0x100001", "node=0-1@0x100000-0x100000", "node=0-1@0x200000-0x100000", "node=0-1@0-0x2000100000", "node=0-1@0",
		"node=0-1@0-0x100000+", "node=0-1@0-0x200000+0x100000-0x300000", "node=0-2@0-0x100000", "node=0-0+0-@0-0x100000",
	};
	char *fine[] = { "out=x", "machine=none", "node=0-1@0-0x100000" };
	char *twice[] = { "out=x", "machine=none", "link=0-1", "node=0-1@0-0x100000", "node=1@0x100000-0x200000" };
	struct machine m;
	char *wrong;

	(void)state;
	assert_null(machine_parse(&m, 3, fine, 2));
	machine_free(&m);
	wrong = machine_parse(&m, G_N_ELEMENTS(twice), twice, 2);
	assert_string_equal(wrong, "node=1@0x100000-0x200000: CPU 1 is in node 0, too");
	g_free(wrong);
	for (unsigned int i = 0; i < G_N_ELEMENTS(nodes); i++) {
		char *all[] = { "out=x", "machine=none", (char *)nodes[i] };

		wrong = machine_parse(&m, 3, all, 2);
		if (!wrong)
			fail_msg("\"%s\" was taken", nodes[i]);
		g_free(wrong);
	}
	for (unsigned int words = 0; words < 3; words++) {	/* each of the three is needed */
		wrong = machine_parse(&m, words, fine, 2);
		assert_non_null(wrong);
		g_free(wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amd48_has_16_links_and_two_hops),
		cmocka_unit_test(everything_can_be_changed),
		cmocka_unit_test(a_link_of_the_preset_can_be_changed),
		cmocka_unit_test(a_server_of_two_sockets),
		cmocka_unit_test(the_presets_have_their_tlbs),
		cmocka_unit_test(coherence_is_for_so_many),
		cmocka_unit_test(bad_words_are_refused),
		cmocka_unit_test(bad_nodes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

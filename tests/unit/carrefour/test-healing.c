/* SPDX-License-Identifier: GPL-2.0-only */
/* The daemon looks at the whole host for heal: what it asks, what it says once, and that it does nothing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake-memory.h"
#include "heal-spread.h"
#include "periods.h"

static void off_asks_nothing(void **unused)
{
	(void)unused;
	begin_spread(3);
	d.config.heal = HEAL_OFF;
	periods(130);
	assert_int_equal(fake.call[CALL_DOMAINS].calls + fake.call[CALL_MEMORY].calls + fake.call[CALL_LOAD].calls +
			 fake.call[CALL_NODES].calls, 0);
	assert_view("{\"version\": 1, \"heal\": \"off\", \"seconds_ago\": null, \"domains\": [], "
		    "\"tasks\": [], \"ledger\": {\"actions\": 0, \"paid\": 0, \"lost\": 0, "
		    "\"regretted\": 0, \"stopped\": false, \"entries\": []}}");
	end();
}

/* Half an hour is old enough: 2 GiB of moves are paid back within a hundredth of it. */
static void advice_is_said_once_and_nothing_is_done(void **unused)
{
	(void)unused;
	begin_spread(4);
	periods(110);
	assert_int_equal(lines("heal advises"), 0);
	assert_view("\"name\": \"vm1\", \"load_cpus\": 2.000, \"result\": \"young\", \"action\": null");
	periods(7200);
	assert_int_equal(lines("heal advises: xl vcpu-pin vm1 all - nodes:"), 1);
	assert_int_equal(lines("heal advises"), 1);
	assert_view("\"result\": \"acted\", \"action\": {\"why\": \"gather\", \"nodes\": [");
	assert_view("\"bytes\": 1073741824, ");
	assert_view("\"name\": \"vm2\", \"load_cpus\": 0.000, \"result\": \"good\", \"action\": null");
	assert_int_equal(fake.call[CALL_MOVE].calls + fake.call[CALL_REBALANCE].calls + fake.call[CALL_POLICY_SET].calls +
			 fake.call[CALL_WRITE].calls + fake.call[CALL_PREFER].calls + fake.call[CALL_GATHER].calls, 0);
	assert_view("\"tasks\": [], \"ledger\": {\"actions\": 0, ");
	/* Once a minute, and of each domain once. */
	assert_in_range(fake.call[CALL_NODES].calls, 115, 124);
	assert_in_range(fake.call[CALL_LOAD].calls, 4 * 115, 4 * 124);
	/* It went away, and is there again. */
	fake_guest(1)->bytes[1] = 0;
	fake_guest(1)->prefers = 1;
	periods(200);
	assert_view("\"name\": \"vm1\", \"load_cpus\": 2.000, \"result\": \"good\", \"action\": null");
	fake_guest(1)->bytes[1] = GIB;
	fake_guest(1)->prefers = 3;
	periods(200);
	assert_int_equal(lines("heal advises"), 2);
	end();
}

static const char *result_of(void (*change)(struct fake_guest *guest))
{
	static char text[32];

	begin_spread(2);
	change(fake_guest(1));
	periods(7000);
	assert_in_range(d.healing.nr, 1, 2);
	strcpy(text, heal_left_name(d.healing.vm[0].left));
	end();
	return text;
}

static void names_nodes(struct fake_guest *g) { g->policy.follows_affinity = false; }
static void is_pinned(struct fake_guest *g) { g->may = 2; }
static void has_vnuma(struct fake_guest *g) { g->vnuma = true; }
static void is_pv(struct fake_guest *g) { g->pv = true; }
static void is_idle(struct fake_guest *g) { g->load = 0.0001; }
static void keeps_off(struct fake_guest *g) { g->keeps_off = true; }
static void is_watched(struct fake_guest *g) { g->switches.carrefour = true; }

static void who_is_left_alone(void **unused)
{
	(void)unused;
	assert_string_equal(result_of(names_nodes), "named");
	assert_string_equal(result_of(is_pinned), "named");
	assert_string_equal(result_of(has_vnuma), "unmovable");
	assert_string_equal(result_of(is_pv), "unmovable");
	assert_string_equal(result_of(is_idle), "not-paid");
	assert_string_equal(result_of(is_watched), "watched");
	assert_string_equal(result_of(keeps_off), "off");
}

static void trouble_is_said_once(void **unused)
{
	(void)unused;
	begin_spread(3);
	fake.call[CALL_LOAD].error = EPERM;
	fake.call[CALL_LOAD].of = 2;
	periods(300);
	assert_int_equal(lines("heal cannot look at the host: Operation not permitted; tried again each minute"), 1);
	fake.call[CALL_LOAD].error = 0;
	periods(7000);
	assert_int_equal(lines("heal advises"), 1);
	fake.call[CALL_NODES].error = ENOMEM;
	periods(200);
	assert_int_equal(lines("heal cannot look"), 2);
	end();
}

/* One that is gone is forgotten; a new one of its number begins anew. */
static void domains_come_and_go(void **unused)
{
	(void)unused;
	begin_spread(3);
	periods(7000);
	assert_int_equal(d.healing.nr, 3);
	/* After the list was made. */
	fake.call[CALL_LOAD].error = ESRCH;
	fake.call[CALL_LOAD].of = 3;
	periods(70);
	assert_int_equal(d.healing.nr, 2);
	assert_int_equal(lines("heal cannot look"), 0);
	fake.call[CALL_LOAD].error = 0;
	fake_guest(2)->gone = true;
	periods(70);
	assert_int_equal(d.healing.nr, 2);
	assert_int_equal(d.healing.vm[1].id, 3);
	fake_guest(1)->load = 0.0005;
	periods(70);
	assert_string_equal(heal_left_name(d.healing.vm[0].left), "young");
	d.config.heal = HEAL_OFF;
	periods(1);
	assert_int_equal(d.healing.nr, 0);
	assert_null(d.healing.vm);
	end();
}

/* Of a daemon that looks for a minute, each allocation fails once: all goes on, and nothing is left half. */
static void memory_fails_anywhere(void **unused)
{
	unsigned int after, failed = 1;

	(void)unused;
	for (after = 0; failed; after++) {
		begin_spread(3);
		memory_fails(after, 1);
		periods(70);
		failed = memory_failed();
		memory_fails(0, 0);
		periods(130);
		assert_int_equal(d.healing.nr, 3);
		assert_int_equal(d.healing.error, 0);
		end();
	}
	assert_true(after > 5);
}

static void loads_are_averages(void **unused)
{
	struct healing_vm vm = { .id = 1 };
	unsigned int minute;

	(void)unused;
	healing_used(&vm, 5000, 60000 * MS);
	assert_false(vm.known);
	healing_used(&vm, 5000 + 120000 * MS, 120000 * MS);
	assert_true(vm.known && vm.load == 2 && vm.peak == 2 && vm.used_ns == 120000 * MS);
	for (minute = 3; minute < 3 + 15; minute++)
		healing_used(&vm, vm.cpu_ns, minute * 60000 * MS);
	/* e^-1 of it is left, or nearly. */
	assert_true(vm.load > 0.6 && vm.load < 0.8 && vm.peak == 2);
	/* Less than before: another domain. */
	healing_used(&vm, 0, 3600000 * MS);
	assert_true(!vm.known && vm.seen_at == 3600000 * MS && !vm.used_ns && !vm.peak);
}

static void a_node_is_crowded_by_work_and_not_by_threads(void **unused)
{
	struct healing h = { .nr = 0 };
	struct xen_node_load load[NODES_MAX] = { { .cpus = 8, .cores = 4 }, { .cpus = 8, .cores = 4 } };
	unsigned int minute;

	(void)unused;
	for (minute = 1; minute <= 4; minute++) {
		healing_nodes(&h, load, 2, minute * 60000 * MS);
		/* Five are busy, and three. */
		load[0].idle_ns += 3 * 60000 * MS;
		load[1].idle_ns += 5 * 60000 * MS;
	}
	assert_int_equal(h.crowded_ns[0], 3 * 60000 * MS);
	assert_int_equal(h.crowded_ns[1], 0);
	/* CPUs have gone: it is not known. */
	load[0].idle_ns = 0;
	healing_nodes(&h, load, 2, 5 * 60000 * MS);
	assert_int_equal(h.crowded_ns[0], 0);
	healing_free(&h);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(off_asks_nothing), cmocka_unit_test(advice_is_said_once_and_nothing_is_done),
		cmocka_unit_test(who_is_left_alone), cmocka_unit_test(trouble_is_said_once), cmocka_unit_test(domains_come_and_go),
		cmocka_unit_test(memory_fails_anywhere), cmocka_unit_test(loads_are_averages),
		cmocka_unit_test(a_node_is_crowded_by_work_and_not_by_threads),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("healing", tests, NULL, NULL);
}

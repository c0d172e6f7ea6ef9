/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of metrics as carrefourd writes them on many hosts, from a seed: fleet SEED HOSTS FILES BEGAN writes
 * 0/host-0000.prom … FILES-1/…, a minute apart, the first one a minute after BEGAN (seconds since 1970). The daemon is the
 * real one, Xen the stand-in. Of every 20 hosts the first 9 have a trouble each, for the alerts to find.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/tell.h"
#include "periods.h"
#include "process/clock.h"

#define KINDS 20
#define PERIOD_MS 10000
#define PERIODS 6		/* between two files */
#define REPAIR 20		/* the file after which memory comes home */
#define STEP (96 * MIB)

enum trouble {
	NODE_FULL, RELOAD_FAILED, LATE, REFUSED, DROPPED, AWAY, REMOTE, RESTARTED, GONE
};

static const char *const policies[] = { "none", "round-4k", "round-2m", "round-1g", "first-touch" };

static void make_dom0(struct fake_guest *g)
{
	g->pv = true;
	g->switches.carrefour = false;
	memset(g->uuid, 0, sizeof(g->uuid));
	strcpy(g->switches.name, "Domain-0");
}

static void make_guest(struct fake_guest *g, unsigned int host)
{
	static const char *const kinds[] = { "db", "web", "cache", "build", "mail", "queue" };
	uint64_t all = (1ULL << fake.nr_nodes) - 1, gib = 4ULL << rnd(5);
	unsigned int i, nodes = 0;

	for (i = 0; i < sizeof(g->uuid); i++)
		g->uuid[i] = rnd(256);
	snprintf(g->switches.name, sizeof(g->switches.name), "%s-%u-%u", kinds[rnd(6)], host, g->switches.id);
	g->policy.name = policies[rnd(5)];
	g->policy.home = rnd(3) ? all : 1ULL << rnd(fake.nr_nodes);
	g->policy.follows_affinity = rnd(2);
	for (i = 0; i < fake.nr_nodes; i++)
		nodes += g->policy.home >> i & 1;
	for (i = 0; i < fake.nr_nodes; i++)
		g->bytes[i] = g->policy.home >> i & 1 ? (gib << 30) / nodes : 0;
	g->policy.placed = gib << (30 - PAGE_SHIFT);
	g->switches.carrefour = rnd(2);
	g->switches.mode = rnd(4) ? AUTO_OFF : AUTO_ADVISE;
	g->samples = 200 + rnd(400);
	g->span = 1 << (10 + rnd(3));
}

/* What does not change as time passes. */
static void make_trouble(enum trouble t)
{
	struct fake_guest *g = fake_guest(2);
	unsigned int i;

	g->switches.carrefour = true;
	if (t == NODE_FULL)
		fake.free[0] = 1ULL << 30;
	if (t == LATE)
		fake.call[CALL_HOST].us = (PERIOD_MS + 1) * 1000;
	if (t == REFUSED)
		fake.call[CALL_START].error = EXDEV;
	/* More than any ring has room for. */
	if (t == DROPPED)
		g->samples = 100000;
	if (t == REMOTE) {
		fake.call[CALL_MOVE].error = EIO;
		g->policy.home = (1ULL << fake.nr_nodes) - 1;
	}
	if (t == AWAY) {
		g->policy.home = 1;
		for (i = 0; i < fake.nr_nodes; i++)
			g->bytes[i] = 1ULL << 30;
	}
}

static void change(enum trouble t, unsigned int file)
{
	unsigned int i;

	if (t == NODE_FULL)
		fake_guest(2)->policy.fallback += 1 << 16;
	d.metrics.reload_failed = t == RELOAD_FAILED && file;
	/* After a while somebody has it moved home. */
	for (i = 1; t == AWAY && file > REPAIR && i < fake.nr_nodes; i++) {
		uint64_t part = fake_guest(2)->bytes[i] < STEP ? fake_guest(2)->bytes[i] : STEP;

		fake_guest(2)->bytes[i] -= part;
		fake_guest(2)->bytes[0] += part;
		fake_guest(2)->moves[RESULT_DONE] += part >> PAGE_SHIFT;
	}
	if (t == RESTARTED)
		d.metrics.begun_at = clock_wall_ns();
	for (i = 2; i <= fake.nr; i++)
		fake_guest(i)->moves[RESULT_DONE] += rnd(3) ? 0 : rnd(20000);
	for (i = 0; i < fake.nr_nodes; i++)
		if (t != NODE_FULL || i)
			fake.free[i] += rnd(2) ? 1ULL << 30 : -(1ULL << 30);
}

static void make_host(unsigned int host, unsigned int files, uint64_t began)
{
	static const unsigned int nodes[] = { 2, 2, 2, 4, 4, 8 };
	enum trouble trouble = host % KINDS;
	unsigned int i;
	char path[300];

	begin(nodes[rnd(6)], 2 + rnd(7));
	fake.began = began * 1000 * MS - fake.now;
	d.metrics.begun_at = clock_wall_ns();
	d.version = rnd(10) ? "0.2.0" : "0.1.0";
	d.config.period_ms = d.config.metrics_ms = PERIOD_MS;
	snprintf(d.config.metrics, sizeof(d.config.metrics), "host-%04u.prom", host);
	make_dom0(fake_guest(1));
	for (i = 2; i <= fake.nr; i++)
		make_guest(fake_guest(i), host);
	for (i = 0; i < fake.nr_nodes; i++)
		fake.free[i] = (64ULL + rnd(256)) << 30;
	if (trouble <= GONE)
		make_trouble(trouble);
	for (i = 0; i < files; i++) {
		change(trouble, i);
		periods(PERIODS);
		snprintf(path, sizeof(path), "%u/%s", i, d.config.metrics);
		if (trouble != GONE || !i)
			assert_int_equal(rename(d.config.metrics, path), 0);
	}
	tell_no_metrics(&d);
	end();
}

int main(int argc, char **argv)
{
	unsigned int hosts, files, i;
	char path[16];

	if (argc != 5)
		return 2;
	test_begin(strtoull(argv[1], NULL, 0));
	hosts = atoi(argv[2]);
	files = atoi(argv[3]);
	for (i = 0; i < files; i++) {
		snprintf(path, sizeof(path), "%u", i);
		if (mkdir(path, 0755))
			return 1;
	}
	for (i = 0; i < hosts; i++)
		make_host(i, files, strtoull(argv[4], NULL, 0));
	unlink("said");
	return 0;
}

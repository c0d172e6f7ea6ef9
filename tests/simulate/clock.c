/* SPDX-License-Identifier: GPL-2.0-only */
#include <glib.h>

#include "clock.h"
#include "model.h"

#define AMD48_CPUS 6	/* a node */
#define AMD48_NODES 8
#define CONTROLLER 13.0	/* GiB/s, for so many CPUs */
#define LINK 6.0

struct clock {
	struct machine machine;
	struct model model;
	struct work work[MAX_NODES];
	struct totals totals;
	double overlap;
};

static void add_links(GPtrArray *words, unsigned int nodes, double bandwidth)
{
	for (unsigned int a = 0; a < nodes; a++)
		for (unsigned int b = a + 1; b < nodes; b++)
			if (nodes != AMD48_NODES || (b - a) % 2 == 0 || a / 2 == b / 2)
				g_ptr_array_add(words, g_strdup_printf("link=%u-%u:%.9g", a, b, bandwidth));
}

struct clock *clock_new(unsigned int nodes, unsigned int cpus, unsigned int overlap)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	double scale = (double)cpus / AMD48_CPUS;
	struct clock *c = g_new0(struct clock, 1);
	char *wrong;

	g_ptr_array_add(words, g_strdup("out=/dev/null"));
	g_ptr_array_add(words, g_strdup("machine=none"));
	for (unsigned int n = 0; n < nodes; n++)
		g_ptr_array_add(words, g_strdup_printf("node=%u@%#x-%#x", n, n << 20, (n + 1) << 20));
	add_links(words, nodes, scale * LINK);
	g_ptr_array_add(words, g_strdup_printf("controller=%.9g", scale * CONTROLLER));
	/* The latencies under load are of AMD48's 48 CPUs: as many a controller, whatever the number of nodes. */
	g_ptr_array_add(words, g_strdup_printf("loaded-threads=%u", MAX(1, cpus * AMD48_NODES / nodes)));
	g_ptr_array_add(words, g_strdup_printf("stands-for=%u", cpus * overlap));
	wrong = machine_parse(&c->machine, words->len, (char *const *)words->pdata, nodes);
	if (!wrong)
		wrong = model_init(&c->model, &c->machine);
	if (wrong)
		g_error("no machine of %u nodes with %u CPUs: %s", nodes, cpus, wrong);
	c->overlap = overlap;
	return c;
}

void clock_free(struct clock *c)
{
	machine_free(&c->machine);
	g_free(c);
}

/*
 * One CPU of the model stands for all of a node. One with two misses at a time is as two, of which each has half of the misses
 * and all of the instructions.
 */
struct pace clock_pace(struct clock *c, const double *instructions, const double *misses, const double *copied)
{
	const struct machine *m = &c->machine;
	unsigned int nodes = m->nodes;

	memset(c->work, 0, sizeof(c->work));
	memset(&c->totals, 0, sizeof(c->totals));
	for (unsigned int a = 0; a < nodes; a++) {
		c->work[a].instructions = instructions[a] / m->stands_for * c->overlap;
		for (unsigned int b = 0; b < nodes; b++) {
			double lines = copied[a * nodes + b] / LINE_BYTES / m->stands_for;

			c->work[a].misses[b] = misses[a * nodes + b] / m->stands_for;
			/* Read there, written here: nobody of the guest waits for either. */
			c->work[a].write_backs[a] += lines;
			c->work[a].write_backs[b] += lines;
		}
	}
	model_epoch(&c->model, c->work, &c->totals);
	if (!(c->totals.duration > 0))
		return (struct pace){ 0, 0 };
	return (struct pace){ c->totals.duration, c->totals.busiest_link / c->totals.duration };
}

double clock_hz(const struct clock *c)
{
	return c->machine.cpu_hz;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Free memory of each node, when nothing more of domains that are gone comes back. */
#include "bare.h"

#define LOOKS 1000		/* for memory that comes back late */

static void get_free(unsigned long pages[], unsigned int nodes)
{
	for (unsigned int node = 0; node < nodes; node++)
		pages[node] = free_pages(node, 0);
}

/*
 * What is left of a domain is freed after an RCU grace period, for which Xen waits for CPUs that sleep
 * (default_idle() does not tell RCU): they are woken.
 */
void pass_cpus(void)
{
	for (unsigned int cpu = online_cpus(); cpu--;) {
		pin_vcpu(0, 0, cpu);
		yield();
	}
}

static bool same(const unsigned long a[], const unsigned long b[], unsigned int nodes)
{
	for (unsigned int node = 0; node < nodes; node++)
		if (a[node] != b[node])
			return false;
	return true;
}

void await_rest(unsigned long pages[], unsigned int nodes)
{
	unsigned long now[MOST_NODES];

	get_free(pages, nodes);
	for (int alike = 0; alike < LOOKS; alike++) {
		pass_cpus();
		get_free(now, nodes);
		if (same(now, pages, nodes))
			continue;
		alike = 0;
		get_free(pages, nodes);
	}
}

static bool comes_back(const unsigned long before[], long missing[], unsigned int nodes, long kept)
{
	bool back = true;

	for (unsigned int node = 0; node < nodes; node++) {
		missing[node] = before[node] - free_pages(node, 0);
		back &= missing[node] >= 0 && missing[node] <= kept;
	}
	return back;
}

void await_free(const unsigned long before[], long missing[], unsigned int nodes, long kept)
{
	for (int i = 0; i < LOOKS && !comes_back(before, missing, nodes, kept); i++)
		pass_cpus();
}

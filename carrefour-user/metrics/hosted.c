/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics of every domain of the host. */
#include <inttypes.h>

#include "metrics/families.h"

static void print_info(FILE *f, const struct metrics_domain *domain, unsigned int nr)
{
	char nodes[NODES_SIZE], more[NODES_SIZE + 100];
	unsigned int i;

	family(f, "xen_numa_domain_info", "gauge", "A domain of the host.");
	for (i = 0; i < nr; i++) {
		snprintf(more, sizeof(more), "domid=\"%u\",type=\"%s\"", domain[i].hosted->xen.id,
			 domain[i].hosted->xen.pv ? "pv" : "hvm");
		sample_of(f, "xen_numa_domain_info", &domain[i], more);
		value_integer(f, 1);
	}
	family(f, "xen_numa_domain_policy_info", "gauge", "Policy and home nodes.");
	for (i = 0; i < nr; i++) {
		const struct xen_policy *p = &domain[i].hosted->policy;

		if (!domain[i].hosted->has_policy)
			continue;
		nodes_text(nodes, p->home);
		snprintf(more, sizeof(more), "policy=\"%s\",home_nodes=\"%s\",home_nodes_from=\"%s\"", p->name, nodes,
			 p->follows_affinity ? "affinity" : "policy");
		sample_of(f, "xen_numa_domain_policy_info", &domain[i], more);
		value_integer(f, 1);
	}
}

static void print_memory(FILE *f, const struct metrics_domain *domain, unsigned int nr, unsigned int nr_nodes)
{
	unsigned int i, n;
	char more[32];

	family(f, "xen_numa_domain_memory_bytes", "gauge", "Memory of the domain on a node.");
	for (i = 0; i < nr; i++)
		for (n = 0; domain[i].hosted->has_memory && n < nr_nodes; n++) {
			snprintf(more, sizeof(more), "node=\"%u\"", n);
			sample_of(f, "xen_numa_domain_memory_bytes", &domain[i], more);
			value_integer(f, domain[i].hosted->bytes[n]);
		}
}

static void print_home(FILE *f, const struct metrics_domain *domain, unsigned int nr)
{
	unsigned int i, n;

	family(f, "xen_numa_domain_home_ratio", "gauge", "Share of the memory of the domain that is on its home nodes.");
	for (i = 0; i < nr; i++) {
		const struct hosted *h = domain[i].hosted;
		uint64_t all = 0, home = 0;

		for (n = 0; n < NODES_MAX; n++) {
			all += h->bytes[n];
			home += h->policy.home >> n & 1 ? h->bytes[n] : 0;
		}
		/* Of no memory, or without home nodes, there is no share. */
		if (!h->has_memory || !h->has_policy || !h->policy.home || !all)
			continue;
		sample_of(f, "xen_numa_domain_home_ratio", &domain[i], NULL);
		fprintf(f, "%.6f\n", (double)home / all);
	}
}

static void print_placed(FILE *f, const char *name, const char *help, const struct metrics_domain *domain, unsigned int nr,
			 size_t offset)
{
	unsigned int i;

	family(f, name, "counter", help);
	for (i = 0; i < nr; i++)
		if (domain[i].hosted->has_policy) {
			sample_of(f, name, &domain[i], NULL);
			value_integer(f, *(const uint64_t *)((const char *)&domain[i].hosted->policy + offset) << PAGE_SHIFT);
		}
}

static void print_moves(FILE *f, const struct metrics_domain *domain, unsigned int nr)
{
	unsigned int i, k;
	char more[64];

	family(f, "xen_numa_domain_moves_bytes_total", "counter",
	       "Memory that was to move, whoever asked for it, by what became of it.");
	for (i = 0; i < nr; i++)
		for (k = 0; domain[i].hosted->has_moves && k < NR_RESULTS; k++) {
			/* Which of them Xen was not asked for, it does not know. */
			if (k == RESULT_NOT_TRIED)
				continue;
			snprintf(more, sizeof(more), "result=\"%s\"", result_name(k));
			sample_of(f, "xen_numa_domain_moves_bytes_total", &domain[i], more);
			value_integer(f, domain[i].hosted->moves[k] << PAGE_SHIFT);
		}
}

void print_hosted(FILE *f, const struct metrics_domain *domain, unsigned int nr, unsigned int nr_nodes)
{
	print_info(f, domain, nr);
	print_memory(f, domain, nr, nr_nodes);
	print_home(f, domain, nr);
	print_placed(f, "xen_numa_domain_placed_bytes_total", "Memory that went to the node that the policy named.", domain, nr,
		     offsetof(struct xen_policy, placed));
	print_placed(f, "xen_numa_domain_fallback_bytes_total", "Memory that went to another node, as that one was full.", domain,
		     nr, offsetof(struct xen_policy, fallback));
	print_moves(f, domain, nr);
}

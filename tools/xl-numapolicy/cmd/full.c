/* SPDX-License-Identifier: GPL-2.0-only */
/* Which nodes are full, and whose memory that is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "cmd/full.h"
#include "cmd/guest.h"
#include "print/format.h"

void append_name(char text[NAMES_TEXT], const char *more)
{
	strncat(text, more, NAMES_TEXT - 1 - strlen(text));
}

/* Bytes on these nodes; false if it cannot be told. */
static bool add_memory_of(const struct domain *domain, const bool on[NODES_MAX], uint64_t *bytes)
{
	struct usage usage;
	struct stats stats;
	unsigned int node;

	/* What it still has is told by nobody. */
	if (domain->dying || backend_usage(domain->id, &usage) != RESULT_OK || backend_stats(domain->id, &stats) != RESULT_OK)
		return false;
	for (node = 0; node < NODES_MAX; node++)
		if (on[node])
			*bytes += usage_of_node(&usage, node) + stats.touches.reserve[node] * PAGE_BYTES;
	return true;
}

/*
 * What no VM has of these nodes, though it is not free: dom0's, other PV domains' and Xen's own. Xen does not tell the node of
 * memory of PV domains, but that of all other. 0 if it cannot be told, either.
 */
static uint64_t find_rest(const bool on[NODES_MAX], bool *other_pv)
{
	uint64_t used = 0, of_vms = 0;
	struct domain *domains;
	struct nodes nodes;
	unsigned int nr, i;
	bool known = true;

	*other_pv = false;
	if (backend_nodes(&nodes) != RESULT_OK || backend_domains(&domains, &nr) != RESULT_OK)
		return 0;
	for (i = 0; i < NODES_MAX; i++)
		if (on[i])
			used += nodes.bytes[i] - nodes.free[i];
	for (i = 0; i < nr; i++) {
		if (domains[i].id && domains[i].pv)
			*other_pv = true;
		else if (domains[i].id && known)
			known = add_memory_of(&domains[i], on, &of_vms);
		free(domains[i].name);
	}
	free(domains);
	return known && used > of_vms ? used - of_vms : 0;
}

/* If it is as much as has no room. */
static void append_rest(char text[NAMES_TEXT], const bool full[NODES_MAX], uint64_t wanted)
{
	char size[NUMBER_TEXT], part[64];
	bool other_pv;
	uint64_t rest = find_rest(full, &other_pv);

	if (rest < wanted)
		return;
	snprintf(part, sizeof(part), "; dom0%s and Xen have %s there", other_pv ? ", PV VMs" : "", format_bytes(size, rest));
	append_name(text, part);
}

const char *name_full_nodes(char text[NAMES_TEXT], const struct domain *domain, uint64_t pages)
{
	char size[NUMBER_TEXT], part[64];
	bool full[NODES_MAX] = { false };
	struct policy policy;
	struct usage usage;
	unsigned int node;
	uint64_t sum = 0, total;

	*text = '\0';
	if (backend_get(domain->id, &policy) != RESULT_OK || backend_usage(domain->id, &usage) != RESULT_OK ||
	    !strcmp(policy.name, "first-touch"))
		return text;
	for (node = 0; node < NODES_MAX; node++)
		sum += policy.weight[node];
	total = usage_total(&usage);
	for (node = 0; node < NODES_MAX; node++) {
		uint64_t wanted = sum ? total / sum * policy.weight[node] : 0, there = usage_of_node(&usage, node);

		if (wanted < there + PAGE_BYTES)
			continue;
		wanted -= there;
		if (wanted > pages * PAGE_BYTES)
			wanted = pages * PAGE_BYTES;
		full[node] = true;
		snprintf(part, sizeof(part), "%snode %u has no room for %s", *text ? ", " : " (", node,
			 format_bytes(size, wanted));
		append_name(text, part);
	}
	if (*text) {
		append_rest(text, full, pages * PAGE_BYTES);
		append_name(text, ")");
	}
	return text;
}

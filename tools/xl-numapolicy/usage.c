/* Questions about a guest that more than one subcommand asks. */
#include <string.h>

#include "command.h"
#include "errors.h"

void find_guest(const char *which, struct domain *domain)
{
	enum result result = backend_find(which, domain);

	if (result == RESULT_NO_DOMAIN)
		die("no domain '%s'; 'xl list' shows them", which);
	check(result, "look up the domain");
	if (domain->dying)
		die("domain '%s' is being destroyed", which);
	if (domain->pv)
		die("domain '%s' is PV; only PVH and HVM guests have a NUMA policy",
		    which);
}

bool policy_places(const struct policy *policy)
{
	return !policy->vnuma && strcmp(policy->name, "none");
}

bool policy_same(const struct policy *a, const struct policy *b)
{
	return !strcmp(a->name, b->name) &&
	       !memcmp(a->weight, b->weight, sizeof(a->weight)) &&
	       a->follows_affinity == b->follows_affinity;
}

bool weights_equal(const struct policy *policy)
{
	uint32_t seen = 0;
	unsigned int node;

	for (node = 0; node < NODES_MAX; node++) {
		if (policy->weight[node] && seen && policy->weight[node] != seen)
			return false;
		if (policy->weight[node])
			seen = policy->weight[node];
	}
	return true;
}

uint64_t usage_of_node(const struct usage *usage, unsigned int node)
{
	uint64_t pages = 0;
	unsigned int size;

	for (size = 0; size < PAGE_SIZES; size++)
		pages += usage->mappings[node][size] << (9 * size);
	return pages * PAGE_BYTES;
}

uint64_t usage_total(const struct usage *usage)
{
	uint64_t bytes = 0;
	unsigned int node;

	for (node = 0; node < NODES_MAX; node++)
		bytes += usage_of_node(usage, node);
	return bytes;
}

uint64_t usage_at_home(const struct usage *usage, const struct policy *policy)
{
	uint64_t bytes = 0;
	unsigned int node;

	for (node = 0; node < NODES_MAX; node++)
		if (policy->weight[node])
			bytes += usage_of_node(usage, node);
	return bytes;
}

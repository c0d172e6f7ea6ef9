/* SPDX-License-Identifier: GPL-2.0-only */
/* Questions about a guest that more than one subcommand asks. */
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "ask/switches.h"
#include "base/errors.h"
#include "cmd/guest.h"

#define MOVES(member) stats.moves.member
#define TOUCHES(member) stats.touches.member

static const struct field fields[] = {
	FACT("NAME", "name", CELL_TEXT, domain.name),
	FACT("ID", "id", CELL_NUMBER32, domain.id),
	FACT("UUID", "uuid", CELL_CHARACTERS, domain.uuid),
	FACT("TYPE", "type", CELL_TEXT, domain.type),
	FACT("POLICY", "policy", CELL_TEXT, policy.name),
	FACT("HOME", "home_nodes", CELL_NODES, policy.weight),
	FACT("WEIGHTS", "weights", CELL_WEIGHTS, policy.weight),
	FACT("FOLLOWS", "follows_affinity", CELL_BOOL, policy.follows_affinity),
	FACT("MAX-PAUSE", "max_pause_us", CELL_NUMBER32, policy.max_pause_us),
	KNOWN("CARREFOUR", "carrefour", CELL_BOOL, carrefour, has_carrefour),
	FACT("AUTO", "auto", CELL_TEXT, automatic),
	KNOWN("VCPUS", "vcpu_nodes", CELL_NODES, vcpus, has_vcpus),
	FACT("AT-HOME", "at_home_percent", CELL_SHARE, at_home),
	KNOWN("LOCAL", "vcpu_local_percent", CELL_SHARE, local, has_vcpus),
	FACT("PLACED", "placed_pages", CELL_NUMBER, policy.placed),
	FACT("FELL-BACK", "fallback_pages", CELL_NUMBER, policy.fallback),
	FACT("MEMORY", "memory_bytes", CELL_BYTES, memory),
	FACT("4K", "mapped_4k_bytes", CELL_BYTES, mapped[SIZE_4K]),
	FACT("2M", "mapped_2m_bytes", CELL_BYTES, mapped[SIZE_2M]),
	FACT("1G", "mapped_1g_bytes", CELL_BYTES, mapped[SIZE_1G]),
	FACT("MOVED", "moved_pages", CELL_NUMBER, MOVES(pages.moved)),
	FACT("IN-USE", "in_use_pages", CELL_NUMBER, MOVES(pages.in_use)),
	FACT("UNMOVABLE", "unmovable_pages", CELL_NUMBER, MOVES(pages.unmovable)),
	FACT("NO-ROOM", "no_room_pages", CELL_NUMBER, MOVES(pages.no_room)),
	FACT("LATE", "late_pages", CELL_NUMBER, MOVES(pages.late)),
	FACT("NO-TABLE", "no_table_pages", CELL_NUMBER, MOVES(pages.no_table)),
	FACT("CLAIMED", "claimed_pages", CELL_NUMBER, MOVES(pages.claimed)),
	FACT("BATCHES", "move_batches", CELL_NUMBER, MOVES(batches)),
	FACT("FLUSHES", "flush_rounds", CELL_NUMBER, MOVES(flush_rounds)),
	FACT("LOCKED", "locked_ns", CELL_NUMBER, MOVES(locked_ns)),
	FACT("LONGEST", "longest_locked_ns", CELL_NUMBER, MOVES(longest_ns)),
	FACT("PAUSE", "longest_pause_ns", CELL_NUMBER, MOVES(pause_ns)),
	FACT("EXCEEDED", "pauses_exceeded", CELL_NUMBER, MOVES(exceeded)),
	FACT("AGAIN", "copied_again_pages", CELL_NUMBER, MOVES(copied_again)),
	FACT("UNTOUCHED", "untouched_pages", CELL_NUMBER, TOUCHES(untouched)),
	FACT("TOUCHES-4K", "touches_4k", CELL_NUMBER, TOUCHES(small)),
	FACT("TOUCHES-2M", "touches_2m", CELL_NUMBER, TOUCHES(large)),
	FACT("BY-OTHERS", "touches_by_others", CELL_NUMBER, TOUCHES(by_others)),
	FACT("EXCHANGED", "exchanged_pages", CELL_NUMBER, TOUCHES(exchanged)),
	FACT("RELEASED", "released_pages", CELL_NUMBER, TOUCHES(released)),
	FACT("REL-FLUSHES", "release_flush_rounds", CELL_NUMBER, TOUCHES(flush_rounds)),
	FACT("REL-IN-USE", "release_in_use_pages", CELL_NUMBER, TOUCHES(in_use)),
	FACT("REL-UNFIT", "release_unfit_pages", CELL_NUMBER, TOUCHES(unfit)),
	FACT("REL-ABSENT", "release_absent_pages", CELL_NUMBER, TOUCHES(absent)),
	FACT("REL-NO-TABLE", "release_no_table_pages", CELL_NUMBER, TOUCHES(no_table)),
	FACT("EVENTS", "page_events", CELL_NUMBER, TOUCHES(events)),
	FACT("INVALID", "invalid_page_events", CELL_NUMBER, TOUCHES(invalid)),
};

/* Of show alone: the others do not ask what is sampled. */
static const struct field fit_fields[] = {
	KNOWN("NUMA", "numa_percent", CELL_LOCALITY, numa, has_fit),
	KNOWN("NUMA-FROM", "numa_from", CELL_TEXT, numa_from, has_fit),
	KNOWN("OVERLAP", "overlap_percent", CELL_SHARE, fit.overlap, has_fit),
	KNOWN("EVEN", "even_use_percent", CELL_SHARE, fit.even, has_fit),
	KNOWN("IMBALANCE", "memory_imbalance_percent", CELL_SHARE, fit.imbalance, has_fit),
	KNOWN("NODES", "nodes_in_use", CELL_NUMBER32, fit.in_use, has_fit),
	KNOWN("NEEDED", "nodes_needed", CELL_NUMBER32, fit.needed, has_fit),
};

void get_switches(struct facts *facts)
{
	static const char *const modes[] = { NULL, "off", "on", "advise" };
	/* By carrefour, then by auto: as an administrator would say it in a word. */
	static const char *const words[][4] = {
		[SWITCH_UNSET] = { "unknown", "unknown", "auto", "unknown" },
		[SWITCH_OFF] = { "unknown", "off", "auto", "advise" },
		[SWITCH_ON] = { "on", "on", "auto", "on+advise" },
	};
	struct dynamic dynamic;

	backend_get_dynamic(facts->domain.id, &dynamic);
	/* No toolstack writes that; what it means is carrefourd's to say. */
	if (dynamic.carrefour == SWITCH_ADVISE)
		dynamic.carrefour = SWITCH_UNSET;
	facts->has_carrefour = dynamic.carrefour != SWITCH_UNSET;
	facts->carrefour = dynamic.carrefour == SWITCH_ON;
	facts->automatic = modes[dynamic.automatic];
	facts->switches = words[dynamic.carrefour][dynamic.automatic];
}

void complete_facts(struct facts *facts)
{
	unsigned int size;

	facts->memory = usage_total(&facts->usage);
	for (size = 0; size < PAGE_SIZES; size++)
		facts->mapped[size] = usage_by_size(&facts->usage, size);
	facts->keeps_large = policy_keeps_large(&facts->policy);
	facts->at_home = (struct share){ usage_at_home(&facts->usage, &facts->policy), facts->memory };
	facts->local = (struct share){ usage_of_nodes(&facts->usage, facts->vcpus), facts->memory };
}

void judge_locality(struct facts *facts, const struct watched *watched, const struct nodes *nodes)
{
	unsigned int node;

	for (node = 0; node < NODES_MAX; node++) {
		facts->placement.memory[node] = usage_of_node(&facts->usage, node);
		facts->placement.vcpus[node] = facts->vcpus[node];
	}
	facts->has_fit = facts->has_vcpus && fit_of(&facts->fit, &facts->placement, nodes);
	if (!facts->has_fit)
		return;
	if (watched && watched->samples >= SAMPLES_LEAST)
		facts->numa = (struct locality){ { watched->local, 1000 }, false };
	else
		facts->numa = (struct locality){ facts->fit.estimate, true };
	facts->numa_from = facts->numa.estimated ? "estimate" : "samples";
}

bool has_lost_large(const struct facts *facts)
{
	/* A guest always has some pages that cannot be part of 2 MiB. */
	return facts->keeps_large && facts->mapped[SIZE_4K] && facts->mapped[SIZE_4K] >= facts->memory / 20;
}

void look_closely(struct facts *facts)
{
	const struct domain *domain = &facts->domain;

	check_domain(backend_usage(domain->id, &facts->usage), domain, "ask for the memory of");
	check_domain(backend_stats(domain->id, &facts->stats), domain, "ask for the statistics of");
	get_switches(facts);
	facts->has_vcpus = backend_vcpus(domain->id, facts->vcpus, facts->may_run) == RESULT_OK;
	complete_facts(facts);
}

void print_facts(const struct facts *facts, const struct watched_row *watched)
{
	struct column *columns = check_alloc(calloc(NR(fields) + NR(fit_fields) + nr_watched_fields, sizeof(*columns)));
	unsigned int n = fields_to_columns(fields, NR(fields), columns);
	struct table *table;

	if (watched) {
		n += fields_to_columns(fit_fields, NR(fit_fields), columns + n);
		n += fields_to_columns(watched_fields, nr_watched_fields, columns + n);
	}
	table = table_new("domains", columns, n);
	free(columns);
	table_row(table);
	put_fields(table, fields, NR(fields), facts);
	if (watched) {
		put_fields(table, fit_fields, NR(fit_fields), facts);
		put_fields(table, watched_fields, nr_watched_fields, watched);
	}
	table_print(table, true);
	table_free(table);
}

void find_domain(const char *which, struct domain *domain)
{
	enum result result = backend_find(which, domain);

	if (result == RESULT_NO_DOMAIN)
		die("no VM '%s'; 'xl list' shows them", which);
	check(result, "look up the VM");
}

void find_guest(const char *which, struct domain *domain)
{
	find_domain(which, domain);
	if (domain->dying)
		die("VM '%s' is being destroyed", which);
	if (domain->pv)
		die("'%s' is a PV domain; only PVH and HVM VMs have a NUMA policy", which);
}

bool policy_places(const struct policy *policy)
{
	return !policy->vnuma && strcmp(policy->name, "none");
}

bool policy_divides(const struct policy *policy)
{
	unsigned int node, homes = 0;

	for (node = 0; node < NODES_MAX; node++)
		homes += policy->weight[node] != 0;
	/* One home node is no reason to divide anything. */
	return !strcmp(policy->name, "round-4k") && homes > 1;
}

bool policy_keeps_large(const struct policy *policy)
{
	/* A touch maps what was released by 4 KiB. */
	return strcmp(policy->name, "first-touch") && !policy_divides(policy);
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

uint64_t usage_by_size(const struct usage *usage, enum page_size size)
{
	uint64_t pages = 0;
	unsigned int node;

	for (node = 0; node < NODES_MAX; node++)
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

uint64_t usage_of_nodes(const struct usage *usage, const uint32_t weight[NODES_MAX])
{
	uint64_t bytes = 0;
	unsigned int node;

	for (node = 0; node < NODES_MAX; node++)
		if (weight[node])
			bytes += usage_of_node(usage, node);
	return bytes;
}

uint64_t usage_at_home(const struct usage *usage, const struct policy *policy)
{
	return usage_of_nodes(usage, policy->weight);
}

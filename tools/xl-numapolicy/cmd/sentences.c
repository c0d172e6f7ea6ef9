/* SPDX-License-Identifier: GPL-2.0-only */
/* What show says of a domain: a sentence a line, in groups, and nothing of what there is none of. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ask/check.h"
#include "cmd/advice.h"
#include "cmd/sentences.h"
#include "print/format.h"

#define LABEL "  %-11s "

/* "pages that are in use": a number, and what it counts. */
struct part {
	uint64_t number;
	const char *of;
};

#define PARTS(...) (const struct part[]){ __VA_ARGS__ }, NR(((const struct part[]){ __VA_ARGS__ }))

/* Those that are not 0, and no line if all are. */
static void print_parts(const char *label, const struct part *parts, unsigned int nr)
{
	bool any = false;

	for (; nr--; parts++) {
		if (!parts->number)
			continue;
		if (!any)
			printf(LABEL, label);
		printf("%s%" PRIu64 " %s", any ? ", " : "", parts->number, parts->of);
		any = true;
	}
	if (any)
		putchar('\n');
}

static void print_policy(const struct policy *policy)
{
	char list[LIST_TEXT];

	printf("\nPolicy:\n" LABEL "%s%s\n", "policy", policy->name,
	       policy->vnuma ? " (the guest has been told where its memory is)" : "");
	if (*format_nodes(list, policy->weight))
		printf(LABEL "%s (%s)\n", "home nodes", list, policy->follows_affinity ?
		       "follow the vCPUs" : "set with the policy");
	if (policy_places(policy))
		printf(LABEL "%s\n", "weights", weights_equal(policy) ? "equal" :
		       format_weights(list, policy->weight));
	if (policy->max_pause_us)
		printf(LABEL "no write is to wait for more than %.3f ms\n", "limit", policy->max_pause_us / 1e3);
}

/* A large mapping that was lost costs each access that misses the TLB, wherever the memory is. */
static void print_mapped(const struct facts *facts)
{
	static const char *const names[] = { "4 KiB", "2 MiB", "1 GiB" };
	char bytes[NUMBER_TEXT];
	unsigned int size;
	bool any = false;

	for (size = 0; size < PAGE_SIZES; size++) {
		if (!facts->mapped[size])
			continue;
		if (!any)
			printf(LABEL, "mapped");
		printf("%s%s by %s", any ? ", " : "", format_bytes(bytes, facts->mapped[size]), names[size]);
		any = true;
	}
	if (any)
		putchar('\n');
	if (has_lost_large(facts))
		printf(LABEL "'xl numa-policy compact %s' puts what is mapped by 4 KiB together by 2 MiB\n", "",
		       domain_argument(&facts->domain));
}

static void print_memory(const struct facts *facts)
{
	char list[LIST_TEXT], share[NUMBER_TEXT], size[NUMBER_TEXT];

	printf("\nMemory:\n" LABEL "%s, %s%% of it on home nodes\n", "memory", format_bytes(size, facts->memory),
	       format_share(share, facts->at_home.part, facts->memory));
	if (facts->has_vcpus && *format_nodes(list, facts->vcpus))
		printf(LABEL "run on node%s %s, where %s%% of the memory is\n", "vCPUs",
		       list[strspn(list, "0123456789")] ? "s" : "", list,
		       format_share(share, facts->local.part, facts->memory));
	print_mapped(facts);
	print_parts("placed", PARTS({ facts->policy.placed, "pages of 4 KiB, where the policy wants them" }));
	print_parts("fell back", PARTS({ facts->policy.fallback, "pages of 4 KiB, as that node was full" }));
}

static void print_fit(const struct facts *facts, const struct nodes *nodes)
{
	char text[NUMBER_TEXT], even[NUMBER_TEXT], imbalance[NUMBER_TEXT], command[ADVICE_TEXT], why[ADVICE_TEXT];
	const struct fit *fit = &facts->fit;

	if (!facts->has_fit)
		return;
	printf("\nLocality:\n");
	format_share(text, facts->numa.share.part, facts->numa.share.whole);
	if (facts->numa.estimated)
		printf(LABEL "~%s%%, estimated by where vCPUs and memory are\n", "numa", text);
	else
		printf(LABEL "%s%% of the sampled accesses are local\n", "numa", text);
	printf(LABEL "of memory and vCPUs: %s%%\n", "overlap", format_share(text, fit->overlap.part, fit->overlap.whole));
	printf(LABEL "%s%% of the accesses are local, if all vCPUs use all memory\n", "even use",
	       format_share(even, fit->even.part, fit->even.whole));
	if (fit->imbalance.whole && fit->imbalance.part)
		printf(LABEL "of memory between the nodes with vCPUs: %s%%\n", "imbalance",
		       format_share(imbalance, fit->imbalance.part, fit->imbalance.whole));
	printf(LABEL "%u in use, %u would do on an empty host\n", "nodes", fit->in_use, fit->needed);
	if (find_advice(facts, nodes, command, why))
		printf(LABEL "%s  # %s\n", "repair", command, why);
}

static void print_moves(const struct move_stats *stats)
{
	const struct moves *pages = &stats->pages;

	/* It may have tried, and moved none. */
	if (!stats->batches && !moves_left(pages) && !pages->moved)
		return;
	printf("\nMoves:\n" LABEL "%" PRIu64 " pages of 4 KiB, in %" PRIu64 " batches with %" PRIu64
	       " rounds of TLB flushes\n", "moved", pages->moved, stats->batches, stats->flush_rounds);
	print_parts("not moved", PARTS({ pages->in_use, "pages in use" }, { pages->unmovable, "not movable" },
				       { pages->no_room, "as the node was full" }, { pages->late, "for the limit" },
				       { pages->no_table, "for want of a page table" },
				       { pages->claimed, "as their memory was claimed" }));
	if (stats->locked_ns)
		printf(LABEL "%.3f ms in all, %.3f ms at the longest\n", "locked", stats->locked_ns / 1e6,
		       stats->longest_ns / 1e6);
	if (stats->pause_ns)
		printf(LABEL "waited for %.3f ms at the longest\n", "writes", stats->pause_ns / 1e6);
	print_parts("beyond", PARTS({ stats->exceeded, "times the limit" }));
	print_parts("again", PARTS({ stats->copied_again, "pages, written while they were copied" }));
}

static void print_touches(const struct touch_stats *stats)
{
	/* Only of interest where there was ever such a page. */
	if (!stats->untouched && !stats->small && !stats->large && !stats->events)
		return;
	printf("\nFirst-touch:\n" LABEL "%" PRIu64 " pages of 4 KiB\n", "untouched", stats->untouched);
	print_parts("touches", PARTS({ stats->small, "mapped 4 KiB" }, { stats->large, "mapped 2 MiB" },
				     { stats->by_others, "were of others than its vCPUs" }));
	print_parts("exchanged", PARTS({ stats->exchanged, "pages of 4 KiB with the heap of a node" }));
	print_parts("released", PARTS({ stats->released, "pages of 4 KiB" }, { stats->flush_rounds, "rounds of TLB flushes" }));
	print_parts("kept", PARTS({ stats->in_use, "pages in use" }, { stats->unfit, "not plain memory" },
				  { stats->absent, "not there" }, { stats->no_table, "without room for a page table" }));
	print_parts("events", PARTS({ stats->events, "of the guest" }, { stats->invalid, "of them invalid" }));
}

static void print_carrefour(const struct facts *facts, const struct watched *watched)
{
	printf("\nCarrefour:\n" LABEL "%s, auto %s%s%s\n", "carrefour",
	       !facts->has_carrefour ? "unknown" : facts->carrefour ? "on" : "off",
	       facts->automatic ? facts->automatic : "unknown", watched && *watched->class ? ": " : "",
	       watched ? watched->class : "");
	print_watched(watched);
}

void print_sentences(const struct facts *facts, const struct watched *watched, const struct nodes *nodes)
{
	const struct domain *domain = &facts->domain;

	printf("%s (id %u, %s)\n", domain->name ? domain_name(domain) : "-", domain->id, domain->type);
	print_policy(&facts->policy);
	print_memory(facts);
	print_fit(facts, nodes);
	print_moves(&facts->stats.moves);
	print_touches(&facts->stats.touches);
	print_carrefour(facts, watched);
	putchar('\n');
}

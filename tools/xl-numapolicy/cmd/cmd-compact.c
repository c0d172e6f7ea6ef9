/* SPDX-License-Identifier: GPL-2.0-only */
/* compact: 2 MiB that are mapped by 4 KiB become one page again, of a VM or of all that have some on a node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "base/alloc.h"
#include "base/errors.h"
#include "cmd/command.h"
#include "cmd/guest.h"

#define NODE_WORD "node:"
#define PAGES_2M 512

static unsigned int read_node(const char *text, const struct nodes *nodes)
{
	char *end;
	unsigned long node = strtoul(text, &end, 10);

	if (!*text || strspn(text, "0123456789") != strlen(text) || *end || node >= nodes->nr || !nodes->exists[node])
		die("no node '%s'; 'xl numa-policy' shows the nodes", text);
	return node;
}

/* Why nothing is done for a VM that has small pages there, or NULL. */
static const char *why_not(const struct domain *domain, const struct policy *policy)
{
	if (policy_divides(policy))
		return "its policy round-4k places memory by 4 KiB";
	if (policy->vnuma)
		return "it has virtual NUMA nodes, which place its memory";
	return backend_may_move(domain->id, true) == RESULT_OK ? NULL :
	       "Xen does not move its memory: see 'xl numa-policy compact' for that VM";
}

/* Those that go away meanwhile, and those that have no 2 MiB there to be put together, are not spoken of. */
static bool is_wanted(const struct domain *domain, unsigned int node)
{
	struct policy policy;
	struct usage usage;
	const char *why;

	if (domain->pv || domain->dying || backend_get(domain->id, &policy) != RESULT_OK ||
	    backend_usage(domain->id, &usage) != RESULT_OK || usage.mappings[node][SIZE_4K] < PAGES_2M)
		return false;
	why = why_not(domain, &policy);
	if (why)
		say("VM '%s' is left out: %s", domain_name(domain), why);
	return !why;
}

static void compact_node(const struct options *options, const char *text)
{
	struct domain *domains;
	struct nodes nodes;
	unsigned int i, node, nr, done = 0;

	output_begin(FORMAT_TABLE);
	check(backend_nodes(&nodes), "ask for the NUMA nodes");
	node = read_node(text, &nodes);
	check(backend_domains(&domains, &nr), "list the VMs");
	for (i = 0; i < nr; i++) {
		if (is_wanted(&domains[i], node)) {
			compact(options, &domains[i], false);
			done++;
		}
		free(domains[i].name);
	}
	free(domains);
	if (!done && options->format == FORMAT_TABLE)
		printf("no VM has memory on node %u that could be put together by 2 MiB\n", node);
	output_end();
}

static void run(const struct options *options, int argc, char **argv)
{
	struct domain domain = { 0 };

	(void)argc;
	if (!strncmp(argv[0], NODE_WORD, strlen(NODE_WORD))) {
		compact_node(options, argv[0] + strlen(NODE_WORD));
		return;
	}
	find_guest(argv[0], &domain);
	compact(options, &domain, true);
	free(domain.name);
}

static const struct option_spec options_compact[] = {
	{ "max-mb-per-s", 0, "N", "move no more than N MiB a second", RIGHT_RATE, OPTION(max_mb_per_s) },
	{ "dry-run", .help = "move nothing, say how much would move", OPTION(dry_run) },
	{ "strict", .help = "status 1 if any of it stays by 4 KiB that need not", OPTION(strict) },
	{ "quiet", 'q', .help = "show no progress", OPTION(quiet) },
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_compact = {
	.name = "compact",
	.arguments = "DOM|node:N",
	.summary = "put memory that is mapped by 4 KiB together again, by 2 MiB",
	.options = options_compact,
	.help =
"The VM goes on running. 512 pages of 4 KiB, where they are all there, are copied\n"
"to one free page of 2 MiB: on the node that the policy names, or without one on\n"
"the node where most of them are. node:N stands for all VMs that have such pages\n"
"on that node. Nothing moves out of the way, and nothing becomes 1 GiB. Ctrl-C\n"
"stops between two steps; the same command then goes on.\n"
"\n"
"Examples:\n"
"  xl numa-policy compact guest2 --dry-run\n"
"  xl numa-policy compact guest2 --max-mb-per-s 200\n"
"  xl numa-policy compact node:2\n",
	.min_arguments = 1,
	.max_arguments = 1,
	.run = run,
};

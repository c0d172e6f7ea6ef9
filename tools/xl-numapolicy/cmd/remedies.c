/* SPDX-License-Identifier: GPL-2.0-only */
/* Why memory stays where it is, and what helps: each cause has a remedy of its own, which would not help against another. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "cmd/full.h"
#include "cmd/guest.h"
#include "cmd/remedies.h"
#include "print/format.h"

/* False, and nothing is printed, if there is no such memory. */
static bool print_size(uint64_t pages)
{
	char size[NUMBER_TEXT];

	if (pages)
		printf("%11s ", format_bytes(size, pages * PAGE_BYTES));
	return pages;
}

/* " ('db2' 1.5G)": those that claim memory now; nothing if that is over. */
static const char *name_claims(char text[NAMES_TEXT])
{
	struct domain *domains;
	unsigned int nr, i;
	char size[NUMBER_TEXT];

	*text = '\0';
	if (backend_domains(&domains, &nr) != RESULT_OK)
		return text;
	for (i = 0; i < nr; i++) {
		if (domains[i].claimed) {
			append_name(text, *text ? ", '" : " ('");
			append_name(text, domain_name(&domains[i]));
			append_name(text, "' ");
			append_name(text, format_bytes(size, domains[i].claimed));
		}
		free(domains[i].name);
	}
	free(domains);
	if (*text)
		append_name(text, ")");
	return text;
}

/* MiB that let each 2 MiB be divided, and leave what Xen does not take for that: an eighth; and 2 for larger tables. */
static uint64_t shadow_memory(const struct domain *domain)
{
	struct usage usage;

	return backend_usage(domain->id, &usage) == RESULT_OK ? usage_total(&usage) / MIB / 448 + 2 : 0;
}

static void print_in_use(const struct domain *domain, const struct moves *moves)
{
	if (print_size(moves->in_use))
		printf("stays, in use by another domain or by Xen: repeat the command later%s\n",
		       strcmp(domain->type, "HVM") ? "" :
		       "; what the VM's device model keeps mapped stays until the VM is restarted");
}

static void print_late(const struct moves *moves)
{
	if (print_size(moves->late))
		puts("stays, as the guest would have waited for too long: set a larger --max-pause-us");
}

static void print_claimed(const struct moves *moves)
{
	char text[NAMES_TEXT];

	if (print_size(moves->claimed))
		printf("stays, as VMs that are being made have claimed the free memory%s: repeat the command when they run\n",
		       name_claims(text));
}

void print_remedies(const struct domain *domain, const struct moves *moves)
{
	char text[NAMES_TEXT];

	print_in_use(domain, moves);
	if (print_size(moves->unmovable))
		puts("stays, as it is not plain memory: a restart of the VM places it");
	if (print_size(moves->no_room))
		printf("stays, as its node is full%s: make room there, or name other home nodes\n",
		       name_full_nodes(text, domain, moves->no_room));
	print_late(moves);
	if (print_size(moves->no_table))
		printf("stays, as the VM has too few pages left for page tables: choose a policy that keeps 2 MiB, or set "
		       "shadow_memory=%" PRIu64 " or more in its xl.cfg and restart it\n", shadow_memory(domain));
	print_claimed(moves);
}

/* " (free: 300M on node 2)": of home nodes. */
static const char *name_free(char text[NAMES_TEXT], const struct domain *domain)
{
	char size[NUMBER_TEXT], part[64];
	struct nodes nodes;
	struct policy policy;
	unsigned int node;

	*text = '\0';
	if (backend_get(domain->id, &policy) != RESULT_OK || backend_nodes(&nodes) != RESULT_OK)
		return text;
	for (node = 0; node < NODES_MAX; node++) {
		if (!policy.weight[node])
			continue;
		snprintf(part, sizeof(part), "%s%s on node %u", *text ? ", " : " (free: ",
			 format_bytes(size, nodes.free[node]), node);
		append_name(text, part);
	}
	if (*text)
		append_name(text, ")");
	return text;
}

void print_remedies_of_compact(const struct domain *domain, const struct moves *moves)
{
	char text[NAMES_TEXT];

	print_in_use(domain, moves);
	if (print_size(moves->unmovable))
		puts("stays by 4 KiB, as the 2 MiB around it are not all there, or not all plain memory");
	if (print_size(moves->no_room))
		printf("stays by 4 KiB, as its node has no free 2 MiB in one piece%s: move other VMs off that node, or end "
		       "some, and repeat the command\n", name_free(text, domain));
	print_late(moves);
	print_claimed(moves);
}

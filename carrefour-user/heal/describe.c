/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>

#include "heal/heal.h"

/* Numbers with commas; as many as there is room for. */
static void nodes_text(char *buf, size_t size, uint64_t nodes)
{
	size_t at = 0;
	unsigned int n;

	*buf = '\0';
	for (n = 0; n < NODES_MAX && at < size; n++)
		if (nodes >> n & 1)
			at += snprintf(buf + at, size - at, "%s%u", at ? "," : "", n);
}

void heal_describe(char *buf, size_t size, const struct heal_action *a, const char *name)
{
	static const char *const because[] = {
		[HEAL_FOLLOW] = "its memory is there", [HEAL_GATHER] = "it fits there",
		[HEAL_RELIEVE] = "its nodes have more work than cores", [HEAL_MAKE_ROOM] = "this makes room for the VM that is next",
	};
	char nodes[200];

	nodes_text(nodes, sizeof(nodes), a->home);
	snprintf(buf, size, "%s: prefer the CPUs of nodes %s and move %llu MiB there, as %s: local accesses %.0f %% to %.0f %% "
		 "(modelled), saves %.0f ms of CPU time a second; costs %.1f s of CPU time, a pause is at most %.1f ms",
		 name, nodes, a->bytes / MIB, because[a->why], 100 * a->local_before, 100 * a->local_after, 1000 * a->gain,
		 a->cost_ns / 1e9, a->pause_ns / 1e6);
}

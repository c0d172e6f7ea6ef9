/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>

#include "heal/heal.h"

const char *heal_left_text(enum heal_left left)
{
	static const char *const text[NR_HEAL_LEFT] = {
		[LEFT_ACTED] = "it is to be moved",
		[LEFT_GOOD] = "it runs where its memory is, and its nodes have cores enough",
		[LEFT_OFF] = "it has auto=off, or xenstore does not answer",
		[LEFT_NAMED] = "its nodes or CPUs are named",
		[LEFT_UNMOVABLE] = "Xen does not move its memory",
		[LEFT_WATCHED] = "Carrefour or auto looks after it",
		[LEFT_STOPPED] = "too many actions were lost; restart carrefourd to go on",
		[LEFT_YOUNG] = "it was seen for less than two minutes",
		[LEFT_COOLING] = "its nodes were changed recently",
		[LEFT_STRAYS] = "the scheduler does not follow its affinity",
		[LEFT_ALONE] = "it is busy and has its nodes to itself",
		[LEFT_NO_GAIN] = "a move brings too little",
		[LEFT_NO_ROOM] = "no nodes have enough free memory and cores",
		[LEFT_NOT_PAID] = "the cost of a move does not come back soon enough",
		[LEFT_BUDGET] = "the memory that may move in an hour is used up",
		[LEFT_LATER] = "other VMs come first",
	};

	return text[left];
}

#define ARGUMENT 63		/* a longer name may have been cut */

/* As xl vcpu-pin takes them, to which a number alone is a CPU; as many as there is room for. */
static void nodes_text(char *buf, size_t size, uint64_t nodes)
{
	size_t at = 0;
	unsigned int n;

	*buf = '\0';
	for (n = 0; n < NODES_MAX && at < size; n++)
		if (nodes >> n & 1)
			at += snprintf(buf + at, size - at, "%snodes:%u", at ? "," : "", n);
}

/* What a shell and xl take for the VM: its name, if that is harmless; a number is an id, always. */
static void argument(char buf[ARGUMENT], unsigned int id, const char *name)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	bool fits = strlen(name) < ARGUMENT && *name != '-' && !name[strspn(name, plain)] && name[strspn(name, "0123456789")];

	if (fits)
		strcpy(buf, name);
	else
		snprintf(buf, ARGUMENT, "%u", id);
}

void heal_describe(char *buf, size_t size, const struct heal_action *a, unsigned int id, const char *name, bool placed)
{
	static const char *const because[] = {
		[HEAL_FOLLOW] = "its memory is there", [HEAL_GATHER] = "it fits there",
		[HEAL_RELIEVE] = "its nodes have more work than cores", [HEAL_MAKE_ROOM] = "this makes room for the VM that is next",
	};
	char nodes[9 * NODES_MAX], vm[ARGUMENT], follow[2 * ARGUMENT] = "";

	nodes_text(nodes, sizeof(nodes), a->home);
	argument(vm, id, name);
	/* Where the policy has no place for memory, it gets one that has, and keeps large pages. */
	if (a->bytes)
		snprintf(follow, sizeof(follow), placed ? " && xl numa-policy rebalance %s" :
			 " && xl numa-policy set %s round-2m --rebalance", vm);
	snprintf(buf, size, "xl vcpu-pin %s all - %s%s  # %llu MiB move, as %s: local accesses %.0f %% to %.0f %% (modelled), "
		 "saves %.0f ms of CPU time a second; costs %.1f s of CPU time, a pause is at most %.1f ms", vm, nodes, follow,
		 a->bytes / MIB, because[a->why], 100 * a->local_before, 100 * a->local_after, 1000 * a->gain, a->cost_ns / 1e9,
		 a->pause_ns / 1e6);
}

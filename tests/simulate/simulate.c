/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest in a closed loop: it works as fast as its memory lets it; Xen samples it; carrefourd's own code decides; what is moved
 * takes time, and changes what follows. simulate SCENARIO prints a line of JSON each so many seconds, and one for all.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "scenario.h"

static void print_second(const struct loop *l, unsigned int second)
{
	const struct state_of_second *now = &l->now;

	printf("{\"second\": %u, \"work\": %.6g, \"local\": %.4f, \"imbalance\": %.4f, \"link\": %.4f, \"seen_local\": %.3f, "
	       "\"seen_imbalance\": %.3f, \"moves\": %" PRIu64
	       ", \"moved_mib\": %.3f, \"lost\": %.6f, \"samples\": %u, \"state\": \"%s\", \"policy\": \"%s\", \"carrefour\": %s}\n",
	       second, now->work, now->local, now->imbalance, now->link, now->seen_local,
	       now->seen_imbalance, now->moves, now->moved_mib, now->lost, now->samples, now->state,
	       now->policy, now->carrefour ? "true" : "false");
}

static void print_all(const struct loop *l)
{
	const struct totals_of_loop *t = &l->totals;

	printf("{\"seconds\": %u, \"work\": %.9g, \"moves\": %" PRIu64 ", \"moved_mib\": %.3f, \"migrated\": %" PRIu64
	       ", \"interleaved\": %" PRIu64 ", \"split\": %" PRIu64 ", \"collapsed\": %" PRIu64 ", \"frozen\": %" PRIu64
	       ", \"told\": %" PRIu64 ", \"lost\": %" PRIu64
	       ", \"followed\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"back\": %" PRIu64 ", \"samples\": %" PRIu64
	       ", \"marked\": %" PRIu64 ", \"lost_sampling\": %.6f, \"lost_moving\": %.6f, \"daemon_bytes\": %" PRIu64
	       ", \"policies\": %u}\n",
	       t->seconds, t->work, t->moves, t->moved_mib, t->action[ACTION_MIGRATE], t->action[ACTION_INTERLEAVE],
	       t->action[ACTION_SPLIT], t->action[ACTION_COLLAPSE], t->action[ACTION_FREEZE], t->told, t->lost,
	       t->followed, t->failed, t->back, t->samples, t->marked, t->lost_sampling / t->seconds, t->lost_moving / t->seconds, loop_bytes(l), t->policies);
}

int main(int argc, char **argv)
{
	static struct scenario scenario;
	static struct loop loop;
	char error[512];
	unsigned int second;
	FILE *file;

	if (argc != 2) {
		fprintf(stderr, "usage: simulate SCENARIO\n");
		return 2;
	}
	file = strcmp(argv[1], "-") ? fopen(argv[1], "re") : stdin;
	if (!file) {
		fprintf(stderr, "simulate: %s: cannot open it: %s\n", argv[1], strerror(errno));
		return 1;
	}
	if (!scenario_read(&scenario, file, argv[1], error, sizeof(error))) {
		fprintf(stderr, "simulate: %s\n", error);
		return 1;
	}
	if (!loop_begin(&loop, &scenario)) {
		fprintf(stderr, "simulate: out of memory\n");
		return 1;
	}
	for (second = 0; second < scenario.seconds; second++) {
		if (!loop_second(&loop)) {
			fprintf(stderr, "simulate: out of memory\n");
			return 1;
		}
		if (!((second + 1) % scenario.every))
			print_second(&loop, second + 1);
	}
	print_all(&loop);
	loop_end(&loop);
	if (file != stdin)
		fclose(file);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "simulate: cannot write the output: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}

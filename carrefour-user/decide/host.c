/* SPDX-License-Identifier: GPL-2.0-only */
/* Divides what the host may move between those who want to. */
#include "decide/host.h"

/* Of one period; what was not used is lost, or a calm minute would end in a burst. */
static uint64_t bytes_a_period(const struct config *config, unsigned int mb_per_s)
{
	return mb_per_s * MIB * config->period_ms / 1000;
}

void host_next_period(struct host *host, const struct config *config, const uint64_t *free, int64_t accesses_per_us)
{
	uint64_t reserve = config->node_reserve_mb * MIB;
	unsigned int n;

	for (n = 0; n < host->nr_nodes; n++)
		host->room[n] = free[n] > reserve ? free[n] - reserve : 0;
	host->bytes_left = bytes_a_period(config, config->host_mb_per_s);
	host->moves_left = config->host_moves;
	host->hungry_left = host->hungry_next;
	host->hungry_next = 0;
	host->accesses_per_us = accesses_per_us;
}

struct budget host_share(const struct host *host, const struct config *config, bool hungry)
{
	unsigned int parts = host->hungry_left + (hungry && host->hungry_left ? 0 : 1);
	struct budget share = { host->bytes_left / parts, host->moves_left / parts };
	uint64_t vm = bytes_a_period(config, config->vm_mb_per_s);

	if (share.bytes > vm)
		share.bytes = vm;
	if (share.moves > config->vm_moves)
		share.moves = config->vm_moves;
	return share;
}

void host_took(struct host *host, struct budget took, bool was_hungry, bool is_hungry)
{
	host->bytes_left -= took.bytes;
	host->moves_left -= took.moves;
	/* Domains come and go: it is a count of those of a period ago. */
	if (was_hungry && host->hungry_left)
		host->hungry_left--;
	host->hungry_next += is_hungry;
}

unsigned int host_turn(uint64_t period, unsigned int i, unsigned int nr)
{
	return (i + period % nr) % nr;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a toolstack may ask of placement, at random: as it should be, or garbage in every field. */
#ifndef BARE_RANDOM_DOMCTL_H
#define BARE_RANDOM_DOMCTL_H

#include <stdbool.h>
#include <stdint.h>

#include <xen/xen.h>

#include "random.h"

#define DOMCTLS(DOMCTL) \
	DOMCTL(SET, "set") \
	DOMCTL(GET, "get") \
	DOMCTL(USAGE, "usage") \
	DOMCTL(LOCATE, "locate") \
	DOMCTL(MOVE, "move") \
	DOMCTL(REBALANCE, "rebalance") \
	DOMCTL(STATS, "stats") \
	DOMCTL(TOUCHES, "touches") \
	DOMCTL(SAMPLE_START, "sample, start") \
	DOMCTL(SAMPLE_STOP, "sample, stop") \
	DOMCTL(SAMPLE_GET, "sample, get") \
	DOMCTL(GARBAGE, "garbage") \
	DOMCTL(COMPACT, "compact") \
	DOMCTL(ACQUIRE, "acquire the ring") \
	DOMCTL(AFFINITY, "setnodeaffinity") \
	DOMCTL(PAUSE, "pausedomain") \
	DOMCTL(POPULATE_OTHER, "populate for it") \
	DOMCTL(RELEASE_OTHER, "decrease for it")

#define DOMCTL_INDEX(index, name) DOMCTL_##index,
enum { DOMCTLS(DOMCTL_INDEX) NR_DOMCTLS };

/* Before the first one. */
void prepare_domctls(unsigned int nodes);
/* Whether it was accepted. */
bool random_domctl(struct random *random, unsigned int which, domid_t domid);

#endif

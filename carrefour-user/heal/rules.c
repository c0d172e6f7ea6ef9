/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What heal's rules are, and why. [XAPI]: xen-api's CA-420968, a loss of 40 to 75 % on sibling threads for a gain of some 20 %
 * by locality. [Nutanix]: acts above 85 %, each 15 minutes. [ESXi]: acts from 10 % of imbalance on. All others are ours, and
 * estimates.
 */
#include "heal/heal.h"

const struct heal_rules heal_rules = {
	/* 11 and 12 are within a socket under SNC and NPS. 16 is, too, on AMD's first EPYC, where it costs more. */
	.near_distance = 12,
	.remote_cost = 0.20,			/* [XAPI] */
	/* [XAPI]'s least: two threads that each lose 40 % make 1.2 of a core. */
	.sibling_worth = 0.20,
	.full = 0.85,				/* [Nutanix] */
	.least_gain = 0.10,			/* [ESXi] */
	.least_relief = 0.25,
	.crowded_ns = 900000 * MS,		/* [Nutanix] looks as often */
	.strays = 0.30,
	.alone = 0.10,
	/* docs/results/move-cost.md: 2,952 instructions for 4 KiB, at one a cycle of 2.2 GHz 0.35 s; and half as long for caches. */
	.gib_ns = 530 * MS,
	/*
	 * How long a VM will live on, or a node be crowded, nobody knows; of those that have been so for some time, one in a hundred
	 * ends before it has been so for a hundredth more. So no more than that many moves are lost.
	 */
	.age_part = 100,
	.payback_ns = 1800000 * MS,
	.young_ns = 120000 * MS,
	.cooldown_ns = 3600000 * MS,
	.reserve = 256 * MIB,
	.hour_permille = 10,
	.actions = 8,
};

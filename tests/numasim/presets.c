/* SPDX-License-Identifier: GPL-2.0-only */
/* AMD48, the paper's machine, and a server with two sockets of four nodes each. */
#include <string.h>

#include "presets.h"

/* All even nodes with one another, all odd ones, and 2k with 2k + 1: four links a node, 16 in all. */
static unsigned int amd48_link(int a, int b)
{
	return (b - a) % 2 == 0 || a / 2 == b / 2;
}

/* Each with each: within a socket of four, and between the two. */
static unsigned int xeon_link(int a, int b)
{
	return a / 4 == b / 4 ? 1 : 2;
}

#define AMD48								\
	.l1 = { 64 << 10, 2, 0 },					\
	.l2 = { 512 << 10, 16, 0 },					\
	.l3 = { 5 << 20, 16, 0 },					\
	.hit = { 16, 48 },						\
	.alone = { 156, 276, 383 },					\
	.loaded = { 697, 740, 863 },					\
	.loaded_threads = 6,						\
	.controller = 13,						\
	.cpu_hz = 2.2e9,						\
	.stands_for = 1,						\
	.epoch = 1000000

static const struct preset presets[] = {
	{ .machine = { .name = "amd48", AMD48 }, .nodes = 8, .link = 6, .link_class = amd48_link },
	{ .machine = { .name = "none", AMD48 }, .link = 6 },
	{
		.machine = {
			.name = "xeon",
			.l1 = { 48 << 10, 12, 0 },
			.l2 = { 2 << 20, 16, 0 },
			.l3 = { 105 << 18, 15, 0 },
			.hit = { 16, 70 },
			.alone = { 202, 235, 394 },
			.loaded = { 270, 303, 462 },
			.loaded_threads = 12,
			.controller = 57.2,
			.cpu_hz = 2.1e9,
			.stands_for = 1,
			.epoch = 1000000,
		},
		.nodes = 8, .link = 52.5, .link_class = xeon_link,
	},
};

const struct preset *preset_of(const char *name)
{
	for (const struct preset *p = presets; p < presets + sizeof(presets) / sizeof(*presets); p++)
		if (!strcmp(p->machine.name, name))
			return p;
	return NULL;
}

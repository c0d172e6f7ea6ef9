/* What access sampling tells of one access: struct xen_numa_sample without its padding. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdint.h>

#define NODES_MAX 64	/* Xen's MAX_NUMNODES */
#define ORDER_4K 0
#define ORDER_2M 9
#define ORDER_1G 18
#define PAGE_SHIFT 12
#define MIB (1ULL << 20)
#define MS 1000000ULL	/* ns */

#define SAMPLE_WRITE 1U
#define SAMPLE_IBS 2U	/* else a hint fault */
#define SAMPLE_FLAGS (SAMPLE_WRITE | SAMPLE_IBS)

struct sample {
	uint64_t gfn;	/* the first page of the p2m entry */
	uint16_t vcpu;
	uint8_t order;	/* of the p2m entry */
	uint8_t node;	/* of the CPU that accessed it */
	uint8_t home;	/* of the page when it was accessed */
	uint8_t flags;
};

#endif

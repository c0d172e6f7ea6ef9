/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine that harness.h promises, and what a test may ask of it. */
#ifndef MACHINE_H
#define MACHINE_H

#include "harness.h"

#define NODE_PAGES 16384UL	/* span of a node, in frames */
#define P2M_PAGES  65536UL

/* What the p2m says of a gfn. */
struct p2m_entry { bool present; unsigned long mfn; unsigned int order; bool untouched; };
extern struct p2m_entry p2m[P2M_PAGES];

/* Nodes without pages are there, but have no memory. */
void machine_reset(unsigned int nodes, const unsigned long pages[]);
nodeid_t machine_node_of(unsigned long mfn);
/* The first frames of node 0, which MEMF_no_dma leaves alone. */
extern unsigned long machine_dma_pages;
/* Free pages that are claimed, of them by the domain itself; and how often it has asked for some. */
extern unsigned long machine_claimed, machine_own_claim;
extern unsigned long machine_asked;
/* Take a random share of a node's frames away, for good. */
void machine_fragment(nodeid_t node, unsigned int percent);
/* Frames that belong to the domain, mapped or not. */
unsigned long machine_owned(void);
/* Is there a free naturally aligned block of this order? */
bool machine_has_block(nodeid_t node, unsigned int order);

/* What another CPU does while one asks whether to be preempted. */
extern void (*machine_meanwhile)(void);
extern unsigned int machine_preempt_percent;	/* how often to be preempted */
extern unsigned int machine_p2m_fail_percent;	/* how often a page cannot be mapped, in 1/1000 */
extern int machine_p2m_pages;			/* how many superpages can be divided, negative for all */
/*
 * At the how maniest allocation or mapping the domain dies, 0 for none: its pages are freed, and somebody else gets some of them.
 * Xen may not touch those.
 */
extern unsigned int machine_dies_in;
bool machine_somebody_is_unharmed(void);
/* All that is its own goes, whatever refers to it. */
void machine_destroy(struct domain *d);
extern bool machine_reuses;		/* another vCPU gets pages for the domain that have just been freed */
extern bool machine_stays_mapped;	/* nothing can be unmapped */

extern bool machine_one_by_one;		/* no 512 pages at once */
extern unsigned int machine_filled;	/* how often it was done */

extern int machine_may_be_untouched;	/* 0, or why not */
extern bool machine_may_use_altp2m;

/* A seeded generator, so that a failure can be replayed with SEED=. */
uint64_t test_seed(void);
unsigned int rnd(unsigned int below);

#endif /* MACHINE_H */

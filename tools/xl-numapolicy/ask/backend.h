/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the commands may ask of Xen. Only the files of this room know libxl; nothing
 * here or above it may include a Xen header.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "ask/types.h"

/* *domains is malloc()ed; each name in it, too. */
enum result backend_domains(struct domain **domains, unsigned int *nr);
/* which: a name, or a number or a UUID (then taken as such, whatever the names are). */
enum result backend_find(const char *which, struct domain *domain);
enum result backend_nodes(struct nodes *nodes);
enum result backend_affinity(uint32_t domid, bool node[NODES_MAX]);

enum result backend_set(uint32_t domid, const struct request *request);
enum result backend_get(uint32_t domid, struct policy *policy);
enum result backend_usage(uint32_t domid, struct usage *usage);
/*
 * How many vCPUs run on each node, or last did, and how many are to run there by their affinity, soft where that leaves a CPU;
 * those that are offline do not count.
 */
enum result backend_vcpus(uint32_t domid, uint32_t vcpus[NODES_MAX], uint32_t may_run[NODES_MAX]);
enum result backend_locate(uint32_t domid, struct page *pages, unsigned int nr);

/* Beyond the last gfn: all memory has been looked at. */
#define REBALANCE_END UINT64_MAX
/*
 * One step, from *gfn on, which becomes where to go on. It may move some more than
 * max_pages, but not many; dry_run: none, but counts them; compact: only to put 2 MiB of
 * small pages together.
 */
enum result backend_rebalance(uint32_t domid, uint64_t *gfn, unsigned int max_pages,
			      bool dry_run, bool compact, struct moves *moves);
/*
 * One step, too: what is on a node leaves it, and all else stays. No policy is asked, none is changed. It looks at no more
 * than LEAVE_STEP pages.
 */
#define LEAVE_STEP (1U << 18)
enum result backend_leave(uint32_t domid, uint64_t *gfn, unsigned int max_pages, const struct leave *leave, struct moves *moves);
/* Whether Xen would do that now, by its refusal or RESULT_OK. */
enum result backend_may_move(uint32_t domid, bool compact);
enum result backend_stats(uint32_t domid, struct stats *stats);

#endif

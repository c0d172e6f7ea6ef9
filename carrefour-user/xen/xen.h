/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the daemon asks of Xen, in plain types: only xen/ knows libxenctrl, libxenforeignmemory and
 * Xen's headers. All that can fail return 0 or an errno; ESRCH is a domain that is gone or dying.
 */
#ifndef XEN_H
#define XEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decide/decide.h"
#include "xen/counters.h"
#include "xen/result.h"

/* Opens all devices, so that it needs no rights afterwards. */
int xen_open(void);
void xen_close(void);

/* Nodes of the host: the highest number + 1, at most NODES_MAX. Never changes. */
unsigned int xen_nodes(void);
/* Their distances, which never change, and which of them have CPUs, as of when the host was looked at last. */
const struct topology *xen_topology(void);

/* What may change from period to period: free bytes of each node, and which CPU is on which. */
int xen_look_at_host(uint64_t free[NODES_MAX]);
/* Bytes of each node, free or not, as of then; 0: it has none. */
void xen_host_memory(uint64_t bytes[NODES_MAX]);

/* A domain of the host. */
struct xen_domain {
	unsigned int id;
	uint8_t uuid[16];
	bool pv;	/* Xen keeps no p2m for it, and it has no policy */
};

/* All that are not dying, dom0 too, in the order of ids; *domain is malloc()ed, or grown. */
int xen_domains(struct xen_domain **domain, unsigned int *nr);

/* Its memory by node; Xen keeps count of it. EOPNOTSUPP: Xen keeps no p2m for it. */
int xen_memory(unsigned int domid, uint64_t bytes[NODES_MAX]);

/* The node that the affinity of each vCPU names, or NO_NODE; *vcpu_node is malloc()ed, or grown. */
int xen_vcpu_nodes(unsigned int domid, uint8_t **vcpu_node, unsigned int *nr);

/*
 * Of each node: CPUs that were online when the host was looked at, their cores, and for how long they have been idle since they
 * were, all together.
 */
struct xen_node_load {
	unsigned int cpus, cores;
	uint64_t idle_ns;
};

int xen_node_loads(struct xen_node_load load[NODES_MAX]);

/* Of a domain: what it has used of CPUs ever, and the nodes of the CPUs that its vCPUs may run on, and prefer. */
struct xen_domain_load {
	unsigned int vcpus;		/* that are online */
	uint64_t cpu_ns, may, prefers;
	uint64_t each;			/* ... and those that each of them may run on */
	bool vnuma;			/* it has been told of nodes of its own */
};

int xen_domain_load(unsigned int domid, struct xen_domain_load *load);

/* All vCPUs prefer the CPUs of these nodes; what they may do is as it was. On an error some of them may already. */
int xen_prefer(unsigned int domid, uint64_t nodes);

struct xen_policy {
	const char *name;	/* as xl.cfg has it */
	uint64_t home;		/* a bit for each home node */
	bool follows_affinity;
	uint32_t max_pause_us;
	unsigned int nr_weights;
	uint32_t weight[NODES_MAX];	/* of each home node, in ascending order */
	/* Pages of 4 KiB that went where the policy wants them, and elsewhere as that was full, since the domain was created. */
	uint64_t placed, fallback;
};

int xen_policy_get(unsigned int domid, struct xen_policy *policy);
/* Another name; all else stays. EINVAL also for a name that is none. */
int xen_policy_set(unsigned int domid, const struct xen_policy *policy, const char *name);

/*
 * Memory from *gfn on goes to where the policy wants it, until some @pages have moved or a part of a second has passed;
 * *gfn is XEN_REBALANCED when all of it was looked at. Pages that moved, and that could not, are added.
 */
#define XEN_REBALANCED UINT64_MAX
int xen_rebalance(unsigned int domid, uint64_t *gfn, unsigned int pages, uint64_t *moved, uint64_t *stays);

/*
 * For a domain that has no policy: memory from *gfn on that is elsewhere goes to that of @nodes which has most room[],
 * until some @pages have moved or a part was looked at; else as xen_rebalance(). What moves there is taken off; in bytes.
 * ENOSPC: it has less than 2 MiB.
 */
int xen_gather(unsigned int domid, uint64_t nodes, uint64_t *gfn, uint64_t pages, uint64_t room[NODES_MAX], uint64_t *moved,
	       uint64_t *stays);

/* Access sampling. */
struct xen_sampling {
	unsigned int entries, period_ms, permille, pages;
	bool ibs;		/* else by hint faults */
};

struct xen_ring {
	void *base;
	size_t bytes;
	void *resource;		/* sampling.c's */
};

enum xen_state { XEN_OFF, XEN_RUNNING, XEN_UNREAD, XEN_UNFIT };

/*
 * Has Xen begin, and maps the ring. EBUSY: somebody has it sampled, or has IBS's interrupts; EOPNOTSUPP: no such domain,
 * or there is no IBS. On errors nothing is left.
 */
int xen_sample_start(unsigned int domid, const struct xen_sampling *settings, struct xen_ring *ring);
/* Ends it, whoever began; the ring is unmapped if there is one. */
void xen_sample_stop(unsigned int domid, struct xen_ring *ring);
/* Unmaps only: what has ended, or a domain that is gone. */
void xen_sample_drop(struct xen_ring *ring);
/* counters->matrix has room for xen_nodes() squared. */
int xen_sample_get(unsigned int domid, struct counters *counters, enum xen_state *state);

/*
 * Carries out decisions, in bounded lists; freezes are none. result[] of each, also of an error:
 * what came after it is RESULT_NOT_TRIED.
 */
int xen_move(unsigned int domid, const struct decision *decision, size_t nr, enum result *result);

/* Pages of 4 KiB that anybody has had moved since the domain was created, by what became of them. */
int xen_moves(unsigned int domid, uint64_t pages[NR_RESULTS]);

#endif

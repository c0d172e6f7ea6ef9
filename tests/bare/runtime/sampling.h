/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access sampling by hint faults, and the ring from which its samples are read: hypercalls that stock Xen has not. */
#ifndef BARE_SAMPLING_H
#define BARE_SAMPLING_H

#include "bare.h"

long try_start_sampling(domid_t domid, uint32_t entries, uint32_t period_ms, uint32_t frames);
/* With a ring of RING_FRAMES, which is mapped then. */
void start_sampling(domid_t domid, uint32_t entries, uint32_t period_ms);
void stop_sampling(domid_t domid);
/* [accessing node * MOST_NODES + home] */
void get_sampling(domid_t domid, struct xen_domctl_numa_policy_sample *counters, uint64_t samples[MOST_NODES * MOST_NODES]);

extern struct xen_numa_sample_ring *sample_ring;
/* 0, or what Xen says. */
long ring_frames(domid_t domid, xen_pfn_t frames[RING_FRAMES]);
void unmap_ring(void);
/* Whether there was one. */
bool take_sample(struct xen_numa_sample *sample);

#endif

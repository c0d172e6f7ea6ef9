/* SPDX-License-Identifier: GPL-2.0-only */
/* The nodes that `xl create` gives a VM. */
#ifndef CHURN_XL_H
#define CHURN_XL_H

#include "world.h"

/*
 * libxl's automatic placement (libxl_numa.c, libxl__get_numa_candidate(), and numa_cmpf() in libxl_dom.c): the fewest nodes with
 * enough free memory and CPUs; of these, those with the fewest vCPUs that may run there; of these, those with most free memory;
 * of these, the first. 0: there are none, and it gets no affinity. xl creates one VM at a time, under a lock.
 */
uint64_t xl_place(const struct world *world, const struct vm *vm);

#endif

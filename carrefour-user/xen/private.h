/* SPDX-License-Identifier: GPL-2.0-only */
/* What xen*.c share; the handles are theirs alone. */
#ifndef XEN_PRIVATE_H
#define XEN_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include <xenctrl.h>
#include <xenforeignmemory.h>

extern xc_interface *xen_xc;
extern xenforeignmemory_handle *xen_fmem;

/* As of when the host was looked at last; host.c's. */
struct xen_cpus {
	xc_cputopo_t *topology;
	unsigned int nr;
};

extern struct xen_cpus xen_cpus;

/* The nodes of those of its CPUs that are online. */
uint64_t xen_nodes_of_map(xc_cpumap_t map);

/* The nodes of the CPUs that a vCPU may run on, and prefers. False: there is none of this number. */
bool xen_vcpu_affinity(unsigned int domid, unsigned int vcpu, uint64_t *may, uint64_t *prefers);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of domctl-probe share. */
#ifndef DOMCTL_PROBE_H
#define DOMCTL_PROBE_H

#include <stdint.h>

#include <xenctrl.h>
#include <xen/domctl.h>

#define PAGES 1024              /* of the domain that is probed */
#define NODES 64
#define OPS (XEN_DOMCTL_NUMA_POLICY_SAMPLE + 1)

#define NR(array) (sizeof(array) / sizeof((array)[0]))
#define NR_NO_HANDLES 8

extern struct xen_domctl *domctl;               /* hypercall-safe */
extern void *const no_handles[NR_NO_HANDLES];   /* addresses that nobody may read or write */

/* Makes *domctl a valid call of `op`, for the caller to change a part of it. */
struct xen_domctl_numa_policy *prepare(uint32_t op);
/* Issues it: 0 or errno. */
int call(void);
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void expect_good(const char *what);
void expect_refusal(const char *what);

void probe_fields(void);
void probe_random(uint64_t seed);

#endif

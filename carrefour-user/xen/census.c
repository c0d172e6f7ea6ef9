/* SPDX-License-Identifier: GPL-2.0-only */
/* Which domains there are, and where their memory is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xen/xen.h"
#include "xen/private.h"

#define AT_A_TIME 256

static bool add(struct xen_domain **all, unsigned int *nr, const xc_domaininfo_t *info)
{
	struct xen_domain *new;

	if (info->flags & XEN_DOMINF_dying)
		return true;
	new = realloc(*all, (*nr + 1) * sizeof(*new));
	if (!new)
		return false;
	*all = new;
	new[*nr] = (struct xen_domain){ .id = info->domain, .pv = !(info->flags & XEN_DOMINF_hvm_guest) };
	memcpy(new[(*nr)++].uuid, info->handle, sizeof(new->uuid));
	return true;
}

int xen_domains(struct xen_domain **domain, unsigned int *nr)
{
	static xc_domaininfo_t info[AT_A_TIME];
	unsigned int next = 0;
	int got, i;

	*nr = 0;
	do {
		got = xc_domain_getinfolist(xen_xc, next, AT_A_TIME, info);
		if (got < 0)
			return errno;
		for (i = 0; i < got; i++)
			if (!add(domain, nr, &info[i]))
				return ENOMEM;
		if (got)
			next = info[got - 1].domain + 1;
	} while (got == AT_A_TIME);
	return 0;
}

_Static_assert(XEN_NUMA_USAGE_4K == 0 && XEN_NUMA_USAGE_2M == 1 && XEN_NUMA_USAGE_1G == 2, "each has 9 more bits");

int xen_memory(unsigned int domid, uint64_t bytes[NODES_MAX])
{
	static uint64_t counts[NODES_MAX * XEN_NUMA_USAGE_SIZES];
	unsigned int n, size;

	if (xc_domain_numa_usage(xen_xc, domid, counts, NODES_MAX))
		return errno;
	for (n = 0; n < NODES_MAX; n++)
		for (size = 0, bytes[n] = 0; size < XEN_NUMA_USAGE_SIZES; size++)
			bytes[n] += counts[n * XEN_NUMA_USAGE_SIZES + size] << (PAGE_SHIFT + 9 * size);
	return 0;
}

_Static_assert(RESULT_NOT_TRIED == XEN_NUMA_MOVE_RESULTS, "Xen knows all others");

int xen_moves(unsigned int domid, uint64_t pages[NR_RESULTS])
{
	struct xen_domctl_numa_policy_stats stats;

	if (xc_domain_numa_move_stats(xen_xc, domid, &stats))
		return errno;
	memcpy(pages, stats.pages, sizeof(stats.pages));
	pages[RESULT_NOT_TRIED] = 0;
	return 0;
}

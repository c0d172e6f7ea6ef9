/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which domains there are, and where their memory is. Counting goes by the hypercall itself: libxenctrl repeats it until all
 * was counted, which with a terabyte is a second or more, and the daemon has others to serve.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xencall.h>

#include "xen/xen.h"
#include "xen/private.h"

#define AT_A_TIME 256

static xencall_handle *call;
/* Memory that a hypercall may read and write. */
static struct counting {
	struct xen_domctl domctl;
	uint64_t counts[NODES_MAX * XEN_NUMA_USAGE_SIZES];
} *counting;

int xen_census_open(void)
{
	call = xencall_open(NULL, 0);
	counting = call ? xencall_alloc_buffer(call, sizeof(*counting)) : NULL;
	return counting ? 0 : errno;
}

void xen_census_close(void)
{
	if (counting)
		xencall_free_buffer(call, counting);
	if (call)
		xencall_close(call);
	counting = NULL;
	call = NULL;
}

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

_Static_assert(XEN_COUNTED == XEN_NUMA_USAGE_END && XEN_NUMA_USAGE_4K == 0 && XEN_NUMA_USAGE_2M == 1 &&
	       XEN_NUMA_USAGE_1G == 2, "one meaning");

int xen_count_memory(unsigned int domid, uint64_t *gfn, uint64_t bytes[NODES_MAX])
{
	struct xen_domctl_numa_policy_usage *usage = &counting->domctl.u.numa_policy.u.usage;
	unsigned int n, size;

	memset(counting, 0, sizeof(*counting));
	counting->domctl.interface_version = XEN_DOMCTL_INTERFACE_VERSION;
	counting->domctl.cmd = XEN_DOMCTL_numa_policy;
	counting->domctl.domain = domid;
	counting->domctl.u.numa_policy.op = XEN_DOMCTL_NUMA_POLICY_USAGE;
	usage->gfn = *gfn;
	usage->nr_nodes = NODES_MAX;
	set_xen_guest_handle_raw(usage->counts, counting->counts);
	if (xencall1(call, __HYPERVISOR_domctl, (uintptr_t)&counting->domctl))
		return errno;
	*gfn = usage->gfn;
	for (n = 0; n < NODES_MAX; n++)
		for (size = 0; size < XEN_NUMA_USAGE_SIZES; size++)
			bytes[n] += counting->counts[n * XEN_NUMA_USAGE_SIZES + size] << (PAGE_SHIFT + 9 * size);
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

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * numa-unmovable DOMID altp2m|sharing|paging|vnuma: switches on for a domain, of one vCPU, what keeps Xen from moving its memory.
 * numa-unmovable DOMID move: asks to move its first page to node 1, and prints the error's number, 0 if there is none.
 * numa-unmovable iommu: creates a domain of 1 MiB that devices may be assigned to, and prints its number.  libxl creates such
 * ones as HVM guests only, which need a device model that dom0 has not.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xenctrl.h>

#define PAGES 256
#define POOL_BYTES (4 << 20)		/* for its p2m, more than enough */

static int create(xc_interface *xch)
{
	struct xen_domctl_createdomain config = {
		.flags = XEN_DOMCTL_CDF_hvm | XEN_DOMCTL_CDF_hap | XEN_DOMCTL_CDF_iommu,
		.max_vcpus = 1,
		.max_evtchn_port = -1,
		.max_grant_frames = 4,
		.max_maptrack_frames = 4,
		.grant_opts = XEN_DOMCTL_GRANT_version(1),
		.arch.emulation_flags = XEN_X86_EMU_LAPIC,
	};
	uint32_t domid = 0;
	xen_pfn_t gfns[PAGES];

	for (unsigned int i = 0; i < PAGES; i++)
		gfns[i] = i;
	if (xc_domain_create(xch, &domid, &config) ||
	    xc_domain_max_vcpus(xch, domid, 1) ||
	    xc_set_paging_mempool_size(xch, domid, POOL_BYTES) ||
	    xc_domain_setmaxmem(xch, domid, PAGES * 4) ||
	    xc_domain_populate_physmap_exact(xch, domid, PAGES, 0, 0, gfns))
		return -1;
	printf("%" PRIu32 "\n", domid);
	return 0;
}

static int move(xc_interface *xch, uint32_t domid)
{
	xen_numa_move_t list = { .gfn = 0, .node = 1 };
	uint32_t done = 0;
	int rc = xc_domain_numa_move(xch, domid, &list, 1, &done);

	printf("%d\n", rc ? errno : 0);
	return 0;
}

/* As a PVH guest cannot have it from libxl. */
static int tell_vnuma(xc_interface *xch, uint32_t domid)
{
	xen_vmemrange_t ranges[] = { { .start = 0, .end = 16 << 20, .nid = 0 }, { .start = 16 << 20, .end = 32 << 20, .nid = 1 } };
	unsigned int distances[] = { 10, 20, 20, 10 }, vcpu_to_vnode[] = { 0 }, vnode_to_pnode[] = { 0, 1 };

	return xc_domain_setvnuma(xch, domid, 2, 2, 1, ranges, distances, vcpu_to_vnode, vnode_to_pnode);
}

int main(int argc, char **argv)
{
	xc_interface *xch = xc_interface_open(NULL, NULL, 0);
	const char *what = argc > 1 ? argv[argc - 1] : "";
	uint32_t domid = argc == 3 ? atoi(argv[1]) : 0, port;
	int rc;

	if (!xch)
		rc = -1;
	else if (argc == 2 && !strcmp(what, "iommu"))
		rc = create(xch);
	else if (argc == 3 && !strcmp(what, "altp2m"))
		rc = xc_altp2m_set_domain_state(xch, domid, true);
	else if (argc == 3 && !strcmp(what, "sharing"))
		rc = xc_memshr_control(xch, domid, 1);
	else if (argc == 3 && !strcmp(what, "paging"))
		rc = xc_mem_paging_enable(xch, domid, &port);
	else if (argc == 3 && !strcmp(what, "vnuma"))
		rc = tell_vnuma(xch, domid);
	else if (argc == 3 && !strcmp(what, "move"))
		rc = move(xch, domid);
	else {
		fprintf(stderr, "usage: numa-unmovable DOMID altp2m|sharing|paging|vnuma|move\n       numa-unmovable iommu\n");
		return 2;
	}
	if (rc) {
		fprintf(stderr, "numa-unmovable: %s: %s\n", what, strerror(errno));
		return 1;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "watch.h"

#include <xen/hvm/hvm_op.h>
#include <xen/hvm/params.h>

#include "hypercall.h"

static void shadow_op(struct xen_domctl *op, uint32_t what, domid_t domid)
{
	long result;

	op->u.shadow_op.op = what;
	result = do_domctl(op, XEN_DOMCTL_shadow_op, domid);
	if (result)
		die_of("log-dirty mode of d%d, operation %u: %ld", domid, what, result);
}

void log_dirty(domid_t domid, bool on)
{
	struct xen_domctl op = { 0 };

	shadow_op(&op, on ? XEN_DOMCTL_SHADOW_OP_ENABLE_LOGDIRTY : XEN_DOMCTL_SHADOW_OP_OFF, domid);
}

void take_dirty(domid_t domid, uint8_t *bitmap, unsigned long pages)
{
	struct xen_domctl op = { .u.shadow_op.pages = pages };

	set_xen_guest_handle(op.u.shadow_op.dirty_bitmap, bitmap);
	shadow_op(&op, XEN_DOMCTL_SHADOW_OP_CLEAN, domid);
	if (op.u.shadow_op.pages != pages)
		die_of("log-dirty mode tells of %lu pages", (unsigned long)op.u.shadow_op.pages);
}

static void monitor_op(domid_t domid, uint32_t what)
{
	struct xen_domctl op = { .u.vm_event_op = { .op = what, .mode = XEN_DOMCTL_VM_EVENT_OP_MONITOR } };
	long result = do_domctl(&op, XEN_DOMCTL_vm_event_op, domid);

	if (result)
		die_of("monitor of d%d, operation %u: %ld", domid, what, result);
}

void begin_monitor(domid_t domid, unsigned long ring_gfn)
{
	struct xen_hvm_param ring = { .domid = domid, .index = HVM_PARAM_MONITOR_RING_PFN, .value = ring_gfn };

	if (hypercall(__HYPERVISOR_hvm_op, HVMOP_set_param, (uintptr_t)&ring, 0, 0))
		die_of("d%d has no ring for a monitor", domid);
	monitor_op(domid, XEN_VM_EVENT_ENABLE);
}

void end_monitor(domid_t domid)
{
	monitor_op(domid, XEN_VM_EVENT_DISABLE);
}

static xenmem_access_t access_op(domid_t domid, uint8_t what, unsigned long gfn, unsigned long nr, xenmem_access_t access)
{
	struct xen_mem_access_op op = { .op = what, .access = access, .domid = domid, .nr = nr, .pfn = gfn };
	long result = memory_op(XENMEM_access_op, &op);

	if (result)
		die_of("access of gfn 0x%lx of d%d, operation %u: %ld", gfn, domid, what, result);
	return op.access;
}

void set_access(domid_t domid, unsigned long gfn, unsigned long nr, xenmem_access_t access)
{
	access_op(domid, XENMEM_access_op_set_access, gfn, nr, access);
}

xenmem_access_t get_access(domid_t domid, unsigned long gfn)
{
	return access_op(domid, XENMEM_access_op_get_access, gfn, 1, XENMEM_access_n);
}

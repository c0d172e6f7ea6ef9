// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocations of Xen's that fail: of a hypervisor with fault/alloc-fault.patch. */
#include "bare.h"
#include "hypercall.h"

/* of XENMEM_, in that patch alone; above it, as of an extent, which one fails */
#define ALLOC_FAULT 63
#define ALLOC_FAULT_SHIFT 6

static unsigned long fault_op(domid_t domid, unsigned long nth, bool rest)
{
	long result = hypercall(__HYPERVISOR_memory_op, ALLOC_FAULT | (nth << 1 | rest) << ALLOC_FAULT_SHIFT, domid, 0, 0);

	if (result < 0)
		die_of("this Xen cannot fail on purpose: %ld", result);
	return result;
}

unsigned long arm_fault(domid_t domid, unsigned long nth, bool rest)
{
	return fault_op(domid, nth, rest);
}

unsigned long disarm_fault(void)
{
	return fault_op(0, 0, false);
}

unsigned long small_memory(void)
{
	return fault_op(DOMID_INVALID, 0, false);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The second vCPU of dom0: it has the first one's memory, and a stack of its own. */
#include <stdint.h>
#include <string.h>

#include <xen/vcpu.h>

#include "bare.h"
#include "hypercall.h"

#define STACK 16384

static char stack[STACK] __attribute__((aligned(16)));
static void (*work_of_second)(void);

void start_second(void);
void second_cpu(void) __attribute__((noreturn));

void second_cpu(void)
{
	work_of_second();
	crash("the second vCPU has nothing to do any more");
}

void start_second_cpu(void (*work)(void))
{
	static struct vcpu_guest_context context;
	unsigned long table = ((const unsigned long *)start_info->mfn_list)[start_info->pt_base >> PAGE_SHIFT];
	struct cpu_user_regs *regs = &context.user_regs;

	work_of_second = work;
	context.flags = VGCF_in_kernel;
	context.kernel_ss = FLAT_KERNEL_SS;
	context.kernel_sp = (uintptr_t)&stack[STACK];
	context.ctrlreg[3] = table << PAGE_SHIFT;
	regs->rip = (uintptr_t)start_second;
	regs->rsp = (uintptr_t)&stack[STACK];
	regs->cs = FLAT_KERNEL_CS;
	regs->ss = regs->ds = regs->es = FLAT_KERNEL_SS;
	if (hypercall(__HYPERVISOR_vcpu_op, VCPUOP_initialise, 1, (uintptr_t)&context, 0) ||
	    hypercall(__HYPERVISOR_vcpu_op, VCPUOP_up, 1, 0, 0))
		crash("dom0 has no second vCPU");
}

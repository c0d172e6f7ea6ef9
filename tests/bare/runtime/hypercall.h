/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hypercalls, by the page that Xen fills: of a PV kernel as of a PVH guest. */
#ifndef BARE_HYPERCALL_H
#define BARE_HYPERCALL_H

#include <stdint.h>

#include <xen/xen.h>

extern char hypercall_page[];

static inline long hypercall(unsigned long number, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	register unsigned long fourth __asm__("r10") = d;
	long result;

	__asm__ volatile("call *%[entry]"
			 : "=a"(result), "+D"(a), "+S"(b), "+d"(c), "+r"(fourth)
			 : [entry] "r"(hypercall_page + number * 32)
			 : "rcx", "r11", "memory", "cc");
	return result;
}

static inline long memory_op(unsigned long op, void *argument)
{
	return hypercall(__HYPERVISOR_memory_op, op, (uintptr_t)argument, 0, 0);
}

static inline void pause_cpu(void)
{
	__asm__ volatile("pause" : : : "memory");
}

#endif

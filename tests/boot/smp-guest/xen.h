/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Xen gives a guest that has nothing else: hypercalls, event channels, a clock. */
#ifndef SMP_GUEST_XEN_H
#define SMP_GUEST_XEN_H

#include <stdint.h>

#include <xen/xen.h>
#include <xen/event_channel.h>

extern char hypercall_page[];

/* One of two arguments: what, and where more about it is. */
static inline long hypercall(unsigned long number, unsigned long what, void *argument)
{
	long result;

	__asm__ volatile("call *%[entry]"
			 : "=a"(result), "+D"(what), "+S"(argument)
			 : [entry] "r"(hypercall_page + number * 32)
			 : "memory", "cc");
	return result;
}

static inline long vcpu_op(unsigned long what, unsigned long vcpu, void *argument)
{
	long result;

	__asm__ volatile("call *%[entry]"
			 : "=a"(result), "+D"(what), "+S"(vcpu), "+d"(argument)
			 : [entry] "r"(hypercall_page + __HYPERVISOR_vcpu_op * 32)
			 : "memory", "cc");
	return result;
}

static inline void write_msr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

/* Before anything else here. */
void start_xen(void);

uint64_t hvm_parameter(unsigned int index);

/* A port by which others wake this vCPU. */
evtchn_port_t new_port(long cpu);
void notify(evtchn_port_t port);

/* Waits until the port has been notified since the last time; who waits looks then whether that is what it waits for. */
void wait_event(evtchn_port_t port);

/* By the clock of now(). */
void wait_until(uint64_t ns);

void shut_down(unsigned int reason) __attribute__((noreturn));

#endif

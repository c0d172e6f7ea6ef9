// SPDX-License-Identifier: GPL-2.0-or-later
#include "xen.h"

#include <xen/hvm/hvm_op.h>
#include <xen/hvm/params.h>
#include <xen/memory.h>
#include <xen/sched.h>

#include "guest.h"

#define CPUID_HYPERCALL_PAGE 0x40000002		/* xen/include/public/arch-x86/cpuid.h */
#define SHARED_INFO_GFN 0xfe000UL		/* no RAM of a PVH guest, nor anything else that it has */
#define WORD_BITS (8 * sizeof(xen_ulong_t))

static struct shared_info *const shared = (struct shared_info *)(SHARED_INFO_GFN << 12);

void start_xen(void)
{
	struct xen_add_to_physmap map = { .domid = DOMID_SELF, .space = XENMAPSPACE_shared_info, .gpfn = SHARED_INFO_GFN };
	uint32_t pages = CPUID_HYPERCALL_PAGE, msr, features[2];

	__asm__("cpuid" : "+a"(pages), "=b"(msr), "=c"(features[0]), "=d"(features[1]));
	write_msr(msr, (uintptr_t)hypercall_page);
	if (hypercall(__HYPERVISOR_memory_op, XENMEM_add_to_physmap, &map))
		die_of("there is no shared_info");
	/* nobody is interrupted by an event; who waits for one asks Xen for it */
	for (size_t i = 0; i < sizeof(shared->evtchn_mask) / sizeof(shared->evtchn_mask[0]); i++)
		shared->evtchn_mask[i] = -1UL;
}

uint64_t hvm_parameter(unsigned int index)
{
	struct xen_hvm_param param = { .domid = DOMID_SELF, .index = index };

	if (hypercall(__HYPERVISOR_hvm_op, HVMOP_get_param, &param))
		die_of("there is no HVM parameter %u", index);
	return param.value;
}

evtchn_port_t new_port(long cpu)
{
	struct evtchn_bind_ipi bind = { .vcpu = cpu };

	if (hypercall(__HYPERVISOR_event_channel_op, EVTCHNOP_bind_ipi, &bind))
		die_of("there is no port for vCPU %ld", cpu);
	return bind.port;
}

void notify(evtchn_port_t port)
{
	struct evtchn_send send = { .port = port };

	if (hypercall(__HYPERVISOR_event_channel_op, EVTCHNOP_send, &send))
		die_of("port %u cannot be notified", port);
}

void wait_event(evtchn_port_t port)
{
	struct sched_poll poll = { .nr_ports = 1 };
	xen_ulong_t *word = &shared->evtchn_pending[port / WORD_BITS], bit = 1UL << port % WORD_BITS;

	set_xen_guest_handle(poll.ports, &port);
	while (!(__atomic_fetch_and(word, ~bit, __ATOMIC_SEQ_CST) & bit))
		hypercall(__HYPERVISOR_sched_op, SCHEDOP_poll, &poll);
}

uint64_t now(void)
{
	const volatile struct vcpu_time_info *time = &shared->vcpu_info[this_cpu()].time;
	uint64_t ns, tsc;
	uint32_t version;

	do {
		version = time->version;
		__asm__ volatile("lfence; rdtsc; shl $32, %%rdx; or %%rdx, %%rax" : "=a"(tsc) : : "rdx", "memory");
		tsc -= time->tsc_timestamp;
		tsc = time->tsc_shift < 0 ? tsc >> -time->tsc_shift : tsc << time->tsc_shift;
		ns = time->system_time + ((unsigned __int128)tsc * time->tsc_to_system_mul >> 32);
	} while (version & 1 || version != time->version);
	return ns;
}

void wait_until(uint64_t ns)
{
	struct sched_poll poll = { .timeout = ns };

	while (now() < ns)
		hypercall(__HYPERVISOR_sched_op, SCHEDOP_poll, &poll);
}

void open_page_events(void)
{
}

int page_events(void *argument)
{
	return hypercall(__HYPERVISOR_memory_op, XENMEM_page_events, argument);
}

void shut_down(unsigned int reason)
{
	struct sched_shutdown shutdown = { .reason = reason };

	for (;;)
		hypercall(__HYPERVISOR_sched_op, SCHEDOP_shutdown, &shutdown);
}

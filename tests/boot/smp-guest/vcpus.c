// SPDX-License-Identifier: GPL-2.0-or-later
/* All vCPUs at work: main() is on the first; the others wait for what it gives them. */
#include "guest.h"

#include <xen/hvm/hvm_vcpu.h>
#include <xen/vcpu.h>

#include "xen.h"

#define STACK 16384
#define SECOND UINT64_C(1000000000)
#define MSR_GS_BASE 0xc0000101

struct vcpu {
	long cpu;		/* GS points here: see this_cpu() */
	evtchn_port_t port;	/* wakes it */
	void (*_Atomic work)(long cpu);
	char stack[STACK] __attribute__((aligned(16)));
};

static struct vcpu vcpus[MOST_CPUS];
static long count;
static void (*forever_step)(long cpu);
static atomic_uint arrived, meetings;

extern char page_tables[];
void start_other(void);
void other_vcpu(struct vcpu *vcpu) __attribute__((noreturn));

long cpu_count(void)
{
	return count;
}

void set_this_cpu(long cpu)
{
	vcpus[cpu].cpu = cpu;
	write_msr(MSR_GS_BASE, (uintptr_t)&vcpus[cpu]);
}

void other_vcpu(struct vcpu *vcpu)
{
	long cpu = vcpu - vcpus;

	set_this_cpu(cpu);
	catch_exceptions();
	for (;;) {
		while (!vcpu->work)
			wait_event(vcpu->port);
		vcpu->work(cpu);
		vcpu->work = NULL;
		notify(vcpus[0].port);
	}
}

static void start(long cpu)
{
	struct vcpu_hvm_context context = { .mode = VCPU_HVM_MODE_64B };
	struct vcpu_hvm_x86_64 *at = &context.cpu_regs.x86_64;

	__asm__("mov %%cr0, %0" : "=r"(at->cr0));
	__asm__("mov %%cr4, %0" : "=r"(at->cr4));
	at->cr3 = (uintptr_t)page_tables;
	at->efer = 0x100;		/* LME */
	at->rflags = 2;			/* always set */
	at->rip = (uintptr_t)start_other;
	at->rsp = (uintptr_t)&vcpus[cpu].stack[STACK];
	at->rdi = (uintptr_t)&vcpus[cpu];
	if (vcpu_op(VCPUOP_initialise, cpu, &context) || vcpu_op(VCPUOP_up, cpu, NULL))
		die_of("vCPU %ld does not start", cpu);
}

void start_vcpus(void)
{
	for (count = 0; vcpu_op(VCPUOP_is_up, count, NULL) >= 0; count++) {
		if (count == MOST_CPUS)
			die_of("the guest has more than %d vCPUs", MOST_CPUS);
		vcpus[count].port = new_port(count);
		if (count)
			start(count);
	}
}

static void begin(long cpu, void (*work)(long cpu))
{
	vcpus[cpu].work = work;
	notify(vcpus[cpu].port);
}

static void wait_end(long cpu)
{
	while (vcpus[cpu].work)
		wait_event(vcpus[0].port);
}

void on_cpu(long cpu, void (*work)(long cpu))
{
	if (!cpu) {
		work(0);
		return;
	}
	begin(cpu, work);
	wait_end(cpu);
}

void on_each_cpu(void (*work)(long cpu))
{
	for (long cpu = 1; cpu < count; cpu++)
		begin(cpu, work);
	work(0);
	for (long cpu = 1; cpu < count; cpu++)
		wait_end(cpu);
}

static void step_for_ever(long cpu)
{
	for (;;)
		forever_step(cpu);
}

void for_ever(void (*step)(long cpu), void (*each_second)(unsigned int second))
{
	uint64_t next = now() + SECOND;

	forever_step = step;
	for (long cpu = 1; cpu < count; cpu++)
		begin(cpu, step_for_ever);
	for (unsigned int second = 1;;) {
		step(0);
		if (now() >= next) {
			each_second(second++);
			next = now() + SECOND;
		}
	}
}

void meet(void)
{
	unsigned int meeting = meetings;
	long cpu = this_cpu();

	if (atomic_fetch_add(&arrived, 1) + 1 < count) {
		while (meetings == meeting)
			wait_event(vcpus[cpu].port);
		return;
	}
	arrived = 0;
	meetings++;
	for (long other = 0; other < count; other++)
		if (other != cpu)
			notify(vcpus[other].port);
}

void leave(void)
{
	for (;;)
		vcpu_op(VCPUOP_down, this_cpu(), NULL);
}

unsigned int slowest(const atomic_uint passes[])
{
	unsigned int least = passes[0];

	for (long cpu = 1; cpu < count; cpu++)
		if (passes[cpu] < least)
			least = passes[cpu];
	return least;
}

void rest(unsigned int ms)
{
	wait_until(now() + ms * UINT64_C(1000000));
}

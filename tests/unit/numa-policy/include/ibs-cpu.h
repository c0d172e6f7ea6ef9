/* SPDX-License-Identifier: GPL-2.0-only */
/* The CPU that arch/x86/ibs.c runs on, where there is but one: its MSRs, its local APIC, its time.  What it does there is the test's. */
#ifndef IBS_CPU_H
#define IBS_CPU_H

#include "harness.h"

#include <asm/apicdef.h>
#include <asm/msr-index.h>
#include <asm/x86-vendors.h>

#define likely(x) (x)
#define DEFINE_PER_CPU(type, name) __typeof__(type) per_cpu_ ## name
#define __initcall(fn) int (*const test_ibs_init)(void) = (fn)

struct cpuinfo_x86 { unsigned char x86, x86_vendor; unsigned int extended_cpuid_level; };
extern struct cpuinfo_x86 boot_cpu_data;
#define X86_FEATURE_IBS     1
#define X86_FEATURE_EXTAPIC 2
#define boot_cpu_has(feature) ((feature) > 0)
unsigned int cpuid_eax(unsigned int leaf);

uint64_t test_rdmsr(unsigned int msr);
void test_wrmsr(unsigned int msr, uint64_t value);
#define rdmsrl(msr, value)     ((value) = test_rdmsr(msr))
#define rdmsr_safe(msr, value) ((value) = test_rdmsr(msr), 0)
#define wrmsrl(msr, value)     test_wrmsr(msr, value)

uint32_t apic_read(uint32_t reg);
void apic_write(uint32_t reg, uint32_t value);
int share_lapic_nmi(void);
void unshare_lapic_nmi(void);

extern unsigned int cpu_khz;
uint64_t rdtsc(void);

extern bool test_in_guest;
#define guest_mode(regs) (test_in_guest)
#define XEN_VIRT_START 0xffff82d040000000UL
#define XEN_VIRT_END   0xffff82d080000000UL

#define local_irq_save(flags)    ((flags) = 0)
#define local_irq_restore(flags) ((void)(flags))

typedef struct { unsigned long bits[1]; } cpumask_t;
extern cpumask_t cpu_online_map;
#define cpumask_of(cpu) (&cpu_online_map)
void on_selected_cpus(const cpumask_t *selected, void (*func)(void *info), void *info, int wait);

#endif

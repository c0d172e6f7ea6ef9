/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kernels of one page of C have in common, that walks-boot.S brings to long mode: page tables, and guests of SVM with nested
 * paging.  They are for programs whose walks the plugin is to see, and end QEMU with -no-reboot.
 */
#ifndef NUMASIM_BARE_H
#define NUMASIM_BARE_H

#include <stdint.h>

#define PRESENT 7u	/* and writable, and the user's: nested walks are a user's */
#define LARGE (1u << 7)
#define LEVELS 4

static void *page_at(uint64_t *next)
{
	uint64_t *page = (uint64_t *)*next;

	for (unsigned int i = 0; i < 512; i++)
		page[i] = 0;
	*next += 4096;
	return page;
}

/* `level` is that of the entry, from 0 for 4K to 2 for 1G */
static void map(uint64_t *root, uint64_t *next, uint64_t from, uint64_t to, unsigned int level)
{
	uint64_t *table = root;

	for (unsigned int at = LEVELS - 1; at > level; at--) {
		uint64_t *entry = &table[from >> (12 + 9 * at) & 511];

		if (!*entry)
			*entry = (uint64_t)page_at(next) | PRESENT;
		table = (uint64_t *)(*entry & ~4095ull);
	}
	table[from >> (12 + 9 * level) & 511] = to | PRESENT | (level ? LARGE : 0);
}

/* A triple fault, at which QEMU ends with -no-reboot.  What has run is known by its regions. */
static void end(void)
{
	static const struct { uint16_t limit; uint64_t base; } __attribute__((packed)) none;

	asm volatile("lidt %0; int3" : : "m"(none));
}

static void load_tables(uint64_t *root)
{
	asm volatile("mov %0, %%cr3" : : "r"(root) : "memory");
}

static void write_msr(uint32_t msr, uint64_t value)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

static uint64_t read_msr(uint32_t msr)
{
	uint32_t low, high;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

#define EFER 0xc0000080u
#define EFER_SVME (1u << 12)
#define VM_HSAVE_PA 0xc0010117u
#define VMEXIT_VMMCALL 0x81u

static uint8_t vmcb[4096] __attribute__((aligned(4096))), host_save[4096] __attribute__((aligned(4096)));
static uint8_t stack[4096] __attribute__((aligned(16)));

static void put(unsigned int offset, uint64_t value, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		vmcb[offset + i] = value >> 8 * i;
}

static uint64_t cr(unsigned int n)
{
	uint64_t value;

	if (n == 0)
		asm volatile("mov %%cr0, %0" : "=r"(value));
	else
		asm volatile("mov %%cr4, %0" : "=r"(value));
	return value;
}

/* AMD64 Architecture Programmer's Manual, volume 2, appendix B. */
static void run_as_guest(void (*what)(void), uint64_t *tables, uint64_t *nested)
{
	extern void guest_entry(void);

	for (unsigned int i = 0; i < sizeof(vmcb); i++)
		vmcb[i] = 0;
	put(0x00c, 1u << 31, 4);			/* shutdown exits, */
	put(0x010, 3, 4);				/* and VMRUN, and VMMCALL */
	put(0x058, 1, 4);				/* ASID */
	put(0x090, 1, 8);				/* nested paging */
	put(0x0b0, (uint64_t)nested, 8);
	for (unsigned int segment = 0x400; segment <= 0x430; segment += 16) {
		put(segment + 2, segment == 0x410 ? 0xa9b : 0xc93, 2);
		put(segment + 4, 0xffffffff, 4);
	}
	put(0x4d0, read_msr(EFER), 8);
	put(0x548, cr(4), 8);
	put(0x550, (uint64_t)tables, 8);
	put(0x558, cr(0), 8);
	put(0x570, 2, 8);
	put(0x578, (uint64_t)guest_entry, 8);
	put(0x5d8, (uint64_t)(stack + sizeof(stack)), 8);
	put(0x668, 0x0007040600070406, 8);
	asm volatile("vmrun" : : "a"(vmcb), "D"(what) : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
	if (vmcb[0x70] != VMEXIT_VMMCALL)
		end();
}

static void enable_guests(void)
{
	write_msr(EFER, read_msr(EFER) | EFER_SVME);
	write_msr(VM_HSAVE_PA, (uint64_t)host_save);
}

/* walks-boot.S's, of the first 3 GiB: while others are written */
extern uint64_t first_table[];

#endif

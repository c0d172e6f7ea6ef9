/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs whose walks of page tables are known by hand, for the plugin inside a real QEMU: natively, and as a guest of SVM under
 * nested paging, with pages of each size.  test_walks.py says what each region must come to.
 *
 * Node n has the 64 MiB from n * 64 MiB on.  The program's tables are in node 3, the hypervisor's in node 5, and each of its
 * pages is the same one, in node 2.  In a region it does nothing but load one word of each page, twice round.
 */
#include <stdint.h>

#define NODE(n) ((uint64_t)(n) << 26)
#define TABLES NODE(3)
#define NESTED_TABLES NODE(5)
#define DATA NODE(2)
#define WINDOW ((uint64_t)1 << 39)
#define ROUNDS "2"

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

/* Region ID: `pages` loads, STRIDE apart, and again. */
#define PROGRAM(name, id, pages, stride, offset)							\
	static void name(void)									\
	{											\
		asm volatile(".byte 0x0f, 0x1f, 0x80; .long 0x584e0000 | " #id " << 1\n\t"		\
			     "jmp 1f\n1:\tmov $" ROUNDS ", %%ecx\n2:\tmov %0, %%rsi\n\tmov $" #pages ", %%edx\n"	\
			     "3:\tmov (%%rsi), %%rax\n\tadd %1, %%rsi\n\tdec %%edx\n\tjnz 3b\n\tdec %%ecx\n\tjnz 2b\n\t" \
			     ".byte 0x0f, 0x1f, 0x80; .long 0x584e0000 | " #id " << 1 | 1\n\tjmp 4f\n4:"	\
			     : : "r"(WINDOW + (offset)), "r"((uint64_t)(stride)) : "rax", "rcx", "rdx", "rsi");	\
	}

/* id: ten times what is below (0: nothing, 1 to 3: nested 4K, 2M, 1G) and the size */
#define PROGRAMS(below)								\
	PROGRAM(small_##below, below##1, 1024, 1u << 12, 0)			\
	PROGRAM(large_##below, below##2, 256, 1u << 21, 0)			\
	PROGRAM(huge_##below, below##3, 64, 1u << 30, DATA)
PROGRAMS(0)
PROGRAMS(1)
PROGRAMS(2)
PROGRAMS(3)

static void (*const program[4][3])(void) = {
	{ small_0, large_0, huge_0 }, { small_1, large_1, huge_1 }, { small_2, large_2, huge_2 }, { small_3, large_3, huge_3 },
};
static const unsigned int pages[3] = { 1024, 256, 64 };

static uint64_t *program_tables(unsigned int size)
{
	uint64_t next = TABLES, *root = page_at(&next);

	for (uint64_t i = 0; i < pages[size]; i++)
		map(root, &next, WINDOW + (i << (12 + 9 * size)), size == 2 ? 0 : DATA, size);
	/* the code, in tables of its own */
	map(root, &next, 0, 0, 2);
	return root;
}

static uint64_t *nested_tables(unsigned int size)
{
	uint64_t next = NESTED_TABLES, *root = page_at(&next);

	for (uint64_t at = 0; at < NODE(9); at += 1ull << (12 + 9 * size))
		map(root, &next, at, at, size);
	return root;
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

/* Region 4: a page by one table, and by another one that says the same. */
static void change_tables(uint64_t *root)
{
	uint64_t next = TABLES + (1u << 20), *other = page_at(&next);

	for (unsigned int i = 0; i < 512; i++)
		other[i] = root[i];
	asm volatile(".byte 0x0f, 0x1f, 0x80; .long 0x584e0000 | 4 << 1\n\tjmp 1f\n1:\tmov (%0), %%rax\n\tmov %1, %%cr3\n\t"
		     "mov (%0), %%rax\n\t.byte 0x0f, 0x1f, 0x80; .long 0x584e0000 | 4 << 1 | 1\n\tjmp 2f\n2:"
		     : : "r"(WINDOW), "r"(other) : "rax", "memory");
}

static void load_tables(uint64_t *root)
{
	asm volatile("mov %0, %%cr3" : : "r"(root) : "memory");
}

void start_long(void)
{
	write_msr(EFER, read_msr(EFER) | EFER_SVME);
	write_msr(VM_HSAVE_PA, (uint64_t)host_save);
	for (unsigned int size = 0; size < 3; size++) {
		extern uint64_t first_table[];
		uint64_t *tables;

		load_tables(first_table);
		tables = program_tables(size);
		load_tables(tables);
		program[0][size]();
		if (!size) {
			change_tables(tables);
			load_tables(tables);
		}
		for (unsigned int nested = 0; nested < 3; nested++)
			run_as_guest(program[1 + nested][size], tables, nested_tables(nested));
	}
	end();
}

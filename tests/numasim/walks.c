/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs whose walks of page tables are known by hand, for the plugin inside a real QEMU: natively, and as a guest of SVM under
 * nested paging, with pages of each size.  test_walks.py says what each region must come to.
 *
 * Node n has the 64 MiB from n * 64 MiB on.  The program's tables are in node 3, the hypervisor's in node 5, and each of its
 * pages is the same one, in node 2.  In a region it does nothing but load one word of each page, twice round.
 */
#include "bare.h"

#define NODE(n) ((uint64_t)(n) << 26)
#define TABLES NODE(3)
#define NESTED_TABLES NODE(5)
#define DATA NODE(2)
#define WINDOW ((uint64_t)1 << 39)
#define ROUNDS "2"

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

static void load_once(void)
{
	(void)*(volatile uint64_t *)WINDOW;
}

/* Region 5: all of a guest's run, from a host whose tables have no such page. */
static void enter_and_exit(uint64_t *tables, uint64_t *nested)
{
	load_tables(first_table);
	asm volatile(".byte 0x0f, 0x1f, 0x80; .long 0x584e0000 | 5 << 1; jmp 1f; 1:" : : : "memory");
	run_as_guest(load_once, tables, nested);
	asm volatile(".byte 0x0f, 0x1f, 0x80; .long 0x584e0000 | 5 << 1 | 1; jmp 1f; 1:" : : : "memory");
	load_tables(tables);
}

void start_long(void)
{
	enable_guests();
	for (unsigned int size = 0; size < 3; size++) {
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
		if (!size)
			enter_and_exit(tables, (uint64_t *)NESTED_TABLES);
	}
	end();
}

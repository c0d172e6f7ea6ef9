/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that loads words at random, natively and as a guest, by each size of page and of nested page, from working sets of
 * three sizes; and with the hypervisor's tables on another node.  tests/bench/page_walks/sweep.py says which region is which.
 *
 * Node n has the 320 MiB from n * 320 MiB on.  Data and the program's tables are in node 0, where the CPU is.
 */
#include "bare.h"

#define MIB(n) ((uint64_t)(n) << 20)
#define NODE(n) MIB(320 * (n))
#define DATA MIB(64)			/* 256 MiB of them */
#define TABLES MIB(8)
#define NEAR_TABLES MIB(32)
#define FAR_NODE 7
#define WINDOW ((uint64_t)1 << 39)

/* The region's number is written into both markers. */
extern uint32_t marker_begin, marker_end;
void loads(uint64_t mask);

asm(".text\n\t.global loads, marker_begin, marker_end\nloads:\n\tmov $1, %eax\n\tmov $6364136223846793005, %r8\n"
    "\tmov $1442695040888963407, %r9\n\tmov $0x8000000000, %r10\n\tmov $300000, %ecx\n"
    "\t.byte 0x0f, 0x1f, 0x80\nmarker_begin:\n\t.long 0\n"
    "\tjmp 1f\n1:\timul %r8, %rax\n\tadd %r9, %rax\n\tmov %rax, %rsi\n\tshr $24, %rsi\n\tand %rdi, %rsi\n"
    "\tmov (%r10, %rsi), %rdx\n\tdec %ecx\n\tjnz 1b\n\t.byte 0x0f, 0x1f, 0x80\nmarker_end:\n\t.long 0\n\tjmp 2f\n2:\tret\n");

static const uint64_t sets[] = { MIB(4), MIB(32), MIB(256) };
static uint64_t mask;

static void body(void)
{
	loads(mask);
}

static uint64_t *program_tables(unsigned int size)
{
	uint64_t next = TABLES, *root = page_at(&next);

	for (uint64_t at = 0; at < MIB(256); at += 1ull << (12 + 9 * size))
		map(root, &next, WINDOW + at, DATA + at, size);
	/* the code, in tables of its own */
	map(root, &next, 0, 0, 2);
	return root;
}

static uint64_t *nested_tables(unsigned int size, uint64_t where)
{
	uint64_t *root = page_at(&where);

	for (uint64_t at = 0; at < NODE(1); at += 1ull << (12 + 9 * size))
		map(root, &where, at, at, size);
	return root;
}

/* hundreds: the working set; tens: 0 native, 1 to 3 nested 4K to 1G, 4 to 6 the same with far tables; units: the page */
static void number(unsigned int set, unsigned int nested, unsigned int size)
{
	uint32_t region = 0x584e0000 | (100 * (set + 1) + 10 * nested + size) << 1;

	mask = (sets[set] - 1) & ~63ull;
	*(volatile uint32_t *)&marker_begin = region;
	*(volatile uint32_t *)&marker_end = region | 1;
}

void start_long(void)
{
	enable_guests();
	for (unsigned int size = 0; size < 2; size++) {
		uint64_t *tables;

		load_tables(first_table);
		tables = program_tables(size);
		load_tables(tables);
		for (unsigned int nested = 0; nested < 7; nested++) {
			uint64_t *below;

			/* what is beyond the first GiB is not mapped by the program's */
			load_tables(first_table);
			below = nested ? nested_tables((nested - 1) % 3, nested > 3 ? NODE(FAR_NODE) : NEAR_TABLES) : 0;
			load_tables(tables);
			for (unsigned int set = 0; set < sizeof(sets) / sizeof(*sets); set++) {
				number(set, nested, size);
				if (nested)
					run_as_guest(body, tables, below);
				else
					body();
			}
		}
	}
	end();
}

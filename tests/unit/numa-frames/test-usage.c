/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much a domain has on each node, by tables as p2m-pt.c and p2m-ept.c change them at random, against a walk.  No heap: a frame is a
 * number, its node is by number, and Xen's own are known by theirs.  Seed: the first argument.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <unistd.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "harness.h"
#include <asm/p2m-numa.h>
#include "p2m-numa-walk.h"

#define TABLES 4096U		/* their frames are above all others */
#define EMPTY  (1UL << 63)	/* EPT's: suppress_ve; NPT's is 0 */
#define GFNS   (3UL << 18)
#define XEN_HEAP (NODE_PAGES - 512)	/* of each node, the last 2 MiB: no superpage has any */
#define TYPE(t) ((uint64_t)(t) << 52)

struct oom oom;
unsigned int machine_locks;
struct domain dom;
static struct p2m_domain *const p2m = &dom.p2m;
static uint64_t tables[TABLES][512], random_state, empty;
static unsigned int free_tables[TABLES], nr_free, mapped;
static bool ept;

nodeid_t mfn_to_nid(mfn_t mfn)
{
	assert(mfn_valid(mfn));
	return mfn.mfn / NODE_PAGES;
}

bool is_xen_heap_mfn(mfn_t mfn)
{
	return mfn_valid(mfn) && mfn.mfn % NODE_PAGES >= XEN_HEAP;
}

void *map_domain_page(mfn_t mfn)
{
	assert(mfn.mfn >= FRAMES && mfn.mfn < FRAMES + TABLES);
	mapped++;
	return tables[mfn.mfn - FRAMES];
}

void unmap_domain_page(const void *page)
{
	assert(mapped--);
}

static uint64_t any(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t new_table(void)
{
	unsigned int i;

	assert_true(nr_free);
	i = free_tables[--nr_free];
	for (unsigned int j = 0; j < 512; j++)
		tables[i][j] = empty;
	return (FRAMES + i) << PAGE_SHIFT | _PAGE_PRESENT;
}

static uint64_t *table_of(uint64_t raw)
{
	return tables[PFN_DOWN(raw & P2M_NUMA_MFN) - FRAMES];
}

static bool is_table(uint64_t raw, unsigned int level)
{
	return level > 1 && PFN_DOWN(raw & P2M_NUMA_MFN) >= FRAMES && (raw & _PAGE_PRESENT) && !(raw & _PAGE_PSE);
}

static void free_table(uint64_t raw, unsigned int level)
{
	if (!is_table(raw, level))
		return;
	for (unsigned int i = 0; i < 512; i++)
		free_table(table_of(raw)[i], level - 1);
	free_tables[nr_free++] = PFN_DOWN(raw & P2M_NUMA_MFN) - FRAMES;
}

/* As write_p2m_entry() and atomic_write_ept_entry() do. */
static void write_entry(uint64_t *entry, uint64_t new, unsigned int level)
{
	if ((*entry ^ new) & P2M_NUMA_COUNTED)
		p2m_numa_usage_change(p2m, *entry, new, level);
	*entry = new;
}

/* What a superpage is divided into, down to @target: all in tables that are not in use yet. */
static uint64_t divided(uint64_t raw, unsigned int level, unsigned int target)
{
	uint64_t table = new_table();

	for (unsigned int i = 0; i < 512; i++) {
		uint64_t part = (raw & ~(level == 2 ? _PAGE_PSE : 0)) + ((uint64_t)i << (PAGE_SHIFT + (level - 2) * 9));

		table_of(table)[i] = level - 1 > target ? divided(part, level - 1, target) : part;
	}
	return table;
}

/* As set_entry(): EPT divides all of a superpage as far as need be, NPT what is in the way. */
static void set(unsigned long gfn, unsigned int target, uint64_t leaf)
{
	uint64_t *entry, old, *table = table_of(mfn_to_maddr(p2m->phys_table));

	for (unsigned int level = 4; ; level--) {
		entry = &table[gfn >> (level - 1) * 9 & 511];
		if (level == target)
			break;
		if (!is_table(*entry, level)) {
			if (!(*entry << 1) || !(*entry & _PAGE_PSE))
				write_entry(entry, new_table(), level);
			else
				write_entry(entry, divided(*entry, level, ept ? target : level - 1), level);
		}
		table = table_of(*entry);
	}
	old = *entry;
	write_entry(entry, leaf, target);
	free_table(old, target);
}

/* What an entry may be: RAM of any type, untouched, Xen's, a hole. */
static uint64_t some_leaf(unsigned int level)
{
	static const p2m_type_t types[] = { p2m_ram_rw, p2m_ram_rw, p2m_ram_logdirty, p2m_ram_ro, p2m_populate_on_demand, p2m_mmio_dm };
	p2m_type_t type = types[any() % ARRAY_SIZE(types)];
	unsigned long mfn = (any() % NODES * NODE_PAGES + any() % (level < 3 ? XEN_HEAP : 1)) & ~((1UL << (level - 1) * 9) - 1);
	uint64_t raw = TYPE(type) | (level > 1 ? _PAGE_PSE : 0) | (any() & 0x7e);

	if (any() % 5 == 0)
		return empty;
	if (!p2m_is_ram(type))
		return raw | (any() % 2 ? P2M_NUMA_MFN : 0);
	if (any() % 8 == 0 && level == 1)
		mfn = any() % NODES * NODE_PAGES + XEN_HEAP + any() % 512;
	/* It was paged out. */
	if (any() % 16 == 0 && level == 1)
		return raw | P2M_NUMA_MFN;
	/* Without P, as with paging, it is RAM all the same. */
	return raw | mfn << PAGE_SHIFT | (any() % 8 || level > 1 || !mfn ? _PAGE_PRESENT : 0);
}

static void walk(uint64_t raw, unsigned int level, uint64_t counts[NODES][XEN_NUMA_USAGE_SIZES])
{
	mfn_t mfn = _mfn(PFN_DOWN(raw & P2M_NUMA_MFN));

	if (is_table(raw, level)) {
		for (unsigned int i = 0; i < 512; i++)
			walk(table_of(raw)[i], level - 1, counts);
		return;
	}
	if (raw << 1 && (level == 1 || raw & _PAGE_PSE) && p2m_is_ram(raw >> 52 & 0x3f) && mfn_valid(mfn) &&
	    !is_xen_heap_mfn(mfn))
		counts[mfn_to_nid(mfn)][level - 1]++;
}

static void compare(void)
{
	uint64_t told[NODES][XEN_NUMA_USAGE_SIZES], is[NODES][XEN_NUMA_USAGE_SIZES] = { 0 };

	for (unsigned int i = 0; i < 512; i++)
		walk(table_of(mfn_to_maddr(p2m->phys_table))[i], 4, is);
	p2m_numa_usage(&dom, told[0], NODES);
	assert_memory_equal(told, is, sizeof(is));
	assert_int_equal(mapped, 0);
	assert_int_equal(p2m->locked, 0);
}

static void begin(bool with_ept)
{
	ept = with_ept;
	empty = ept ? EMPTY : 0;
	nr_free = TABLES;
	for (unsigned int i = 0; i < TABLES; i++)
		free_tables[i] = i;
	dom = (struct domain){ .p2m.domain = &dom };
	p2m->phys_table = _mfn(PFN_DOWN(new_table() & P2M_NUMA_MFN));
	assert_int_equal(p2m_numa_usage_init(p2m), 0);
}

static void end(void)
{
	compare();
	p2m_numa_usage_check(p2m);
	p2m_numa_usage_free(p2m);
	assert_null(p2m->usage);
	assert_int_equal(oom.live, 0);
}

static void what_is_told_is_what_is_there(void **unused)
{
	for (unsigned int round = 0; round < 40; round++) {
		begin(round % 2);
		for (unsigned int i = 0; i < 400; i++) {
			unsigned int level = any() % 64 ? 1 + any() % 2 : 3;
			/* Few superpages, so that they meet what is there. */
			unsigned long gfn = (any() % GFNS & 3UL << 18) | (any() % 4 << 9) | any() % 8;

			/* Of EPT, 1 GiB to 4 KiB takes 513 tables. */
			if (level == 1 && nr_free < 1100)
				level = 3;
			set(gfn & ~((1UL << (level - 1) * 9) - 1), level, some_leaf(level));
			if (i % 16 == 0)
				compare();
		}
		end();
	}
}

/* A table that is filled before it is put in use: who fills it tells. */
static void what_a_filled_table_has(void **unused)
{
	uint64_t *entry, table;
	mfn_t mfns[512];

	begin(false);
	set(1UL << 9, 1, empty);	/* there is a table above */
	entry = table_of(table_of(table_of(mfn_to_maddr(p2m->phys_table))[0])[0]);
	table = new_table();
	for (unsigned int i = 0; i < 512; i++) {
		mfns[i] = _mfn(i % NODES * NODE_PAGES + i);
		table_of(table)[i] = mfn_to_maddr(mfns[i]) | _PAGE_PRESENT;
	}
	write_entry(entry, table, 2);
	p2m_numa_count_pages(p2m, mfns, 512);
	compare();
	write_entry(entry, empty, 2);
	end();
}

static void what_does_not_count(void **unused)
{
	uint64_t *entry, page = 5 * NODE_PAGES / 4 << PAGE_SHIFT | _PAGE_PRESENT;

	begin(false);
	set(0, 1, page);
	entry = table_of(table_of(table_of(table_of(mfn_to_maddr(p2m->phys_table))[0])[0])[0]);
	compare();
	write_entry(entry, page | 0x62, 1);
	write_entry(entry, page | TYPE(p2m_ram_logdirty), 1);
	compare();
	/* Of the same frame a type may say that it is no RAM, and then that it is. */
	write_entry(entry, page | TYPE(p2m_mmio_dm), 1);
	compare();
	write_entry(entry, page, 1);
	compare();
	end();
}

/* An entry that nobody was told of is found when the domain ends. */
static void what_was_forgotten_is_found(void **unused)
{
	int status;
	pid_t child;

	begin(false);
	set(0, 1, NODE_PAGES << PAGE_SHIFT | _PAGE_PRESENT);
	*table_of(table_of(table_of(table_of(mfn_to_maddr(p2m->phys_table))[0])[0])[0]) = empty;
	child = fork();
	if (!child) {
		freopen("/dev/null", "w", stderr);
		signal(SIGABRT, SIG_DFL);
		p2m_numa_usage_check(p2m);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	p2m_numa_usage_free(p2m);
}

static void without_memory_there_is_no_domain(void **unused)
{
	begin(false);
	end();
	oom_arm(OOM_XEN, 1, false);
	assert_int_equal(p2m_numa_usage_init(p2m), -ENOMEM);
	oom_disarm();
	assert_null(p2m->usage);
	p2m_numa_usage_check(p2m);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_told_is_what_is_there),
		cmocka_unit_test(what_a_filled_table_has),
		cmocka_unit_test(what_does_not_count),
		cmocka_unit_test(what_was_forgotten_is_found),
		cmocka_unit_test(without_memory_there_is_no_domain),
	};

	random_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	printf("seed %" PRIu64 "\n", random_state);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

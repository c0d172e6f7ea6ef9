// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest's RAM, from the large page behind the one that all that was loaded lies in, up to 4 GiB.  Nobody has touched any of it.
 */
#include "guest.h"

#include <xen/arch-x86/hvm/start_info.h>

#define LOADED LARGE_PAGE	/* all of it is below */

extern char image_end[];

static uintptr_t next = LOADED, end;

void start_memory(const struct hvm_start_info *start)
{
	const struct hvm_memmap_table_entry *map = (const void *)start->memmap_paddr;

	if ((uintptr_t)image_end > LOADED || (uintptr_t)start >= LOADED || start->cmdline_paddr >= LOADED || start->memmap_paddr >= LOADED)
		die_of("the guest was not loaded below 2 MiB");
	for (uint32_t i = 0; i < start->memmap_entries; i++)
		if (map[i].type == XEN_HVM_MEMMAP_TYPE_RAM && map[i].addr <= LOADED && map[i].addr + map[i].size > LOADED)
			end = map[i].addr + map[i].size;
}

char *allocate(size_t pages)
{
	uintptr_t at = next;

	if (next + pages * PAGE > end)
		die_of("no room for %zu pages", pages);
	next += pages * PAGE;
	return (char *)at;
}

void give_back(char *mem, size_t pages)
{
	if ((uintptr_t)mem + pages * PAGE != next)
		die_of("what was allocated last is given back first");
	next = (uintptr_t)mem;
}

char *allocate_large(size_t number)
{
	next += -next % LARGE_PAGE;
	return allocate(number * LARGE_PAGE / PAGE);
}

uint64_t ram_pages(void)
{
	return end / PAGE;
}

uint64_t gfn_of(const void *at)
{
	return (uintptr_t)at / PAGE;
}

/* What the compiler may call. */
void *memset(void *to, int byte, size_t bytes)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(byte) : "memory");
	return to;
}

void *memcpy(void *to, const void *from, size_t bytes)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
	return to;
}

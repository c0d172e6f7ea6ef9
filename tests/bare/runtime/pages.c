// SPDX-License-Identifier: GPL-2.0-or-later
/* Windows: pages of ours whose page table entries lead into other domains. */
#include "bare.h"
#include "hypercall.h"

#define LEVELS 4
#define INDEX_BITS 9
#define FRAME(entry) (((entry) & 0xffffffffff000UL) >> PAGE_SHIFT)
#define PRESENT_WRITABLE_USED 0x67UL		/* present, writable, user, accessed, dirty */

/* In it, a frame's pseudo-physical number: arch-x86/xen-x86_64.h. */
#define machine_to_phys ((const unsigned long *)HYPERVISOR_VIRT_START)

static char windows[WINDOWS][1 << PAGE_SHIFT] __attribute__((aligned(1 << PAGE_SHIFT)));

/* The entry that maps an address, as we see it; its machine address in `at`. */
static const volatile uint64_t *entry_of(const void *address, uint64_t *at)
{
	const volatile uint64_t *table = (const volatile uint64_t *)start_info->pt_base;
	unsigned long frame = ((const unsigned long *)start_info->mfn_list)[start_info->pt_base >> PAGE_SHIFT];

	for (int level = LEVELS - 1;; level--) {
		unsigned int index = (uintptr_t)address >> (PAGE_SHIFT + INDEX_BITS * level) & ((1 << INDEX_BITS) - 1);

		*at = (frame << PAGE_SHIFT) + index * sizeof(*table);
		if (!level)
			return &table[index];
		frame = FRAME(table[index]);
		table = (const volatile uint64_t *)(machine_to_phys[frame] << PAGE_SHIFT);
	}
}

static long set_entry(unsigned int window, uint64_t value, unsigned int how, domid_t domid)
{
	struct mmu_update update = { .val = value };
	unsigned int done = 0;
	uint64_t at;

	entry_of(windows[window], &at);
	update.ptr = at | how;
	return hypercall(__HYPERVISOR_mmu_update, (uintptr_t)&update, 1, (uintptr_t)&done, domid);
}

static void flush(unsigned int window)
{
	struct mmuext_op op = { .cmd = MMUEXT_INVLPG_LOCAL, .arg1.linear_addr = (uintptr_t)windows[window] };
	unsigned int done = 0;

	if (hypercall(__HYPERVISOR_mmuext_op, (uintptr_t)&op, 1, (uintptr_t)&done, DOMID_SELF))
		die_of("window %u cannot be flushed", window);
}

void *try_map_page(unsigned int window, domid_t domid, unsigned long gfn)
{
	if (set_entry(window, gfn << PAGE_SHIFT | PRESENT_WRITABLE_USED, MMU_NORMAL_PT_UPDATE, domid))
		return NULL;
	flush(window);
	return windows[window];
}

void *map_page(unsigned int window, domid_t domid, unsigned long gfn)
{
	void *page = try_map_page(window, domid, gfn);

	if (!page)
		die_of("gfn 0x%lx of d%d cannot be mapped", gfn, domid);
	return page;
}

void *map_frame(unsigned int window, domid_t domid, unsigned long frame)
{
	if (set_entry(window, frame << PAGE_SHIFT | PRESENT_WRITABLE_USED, MMU_PT_UPDATE_NO_TRANSLATE, domid))
		die_of("frame 0x%lx of d%d cannot be mapped", frame, domid);
	flush(window);
	return windows[window];
}

unsigned long frame_of(unsigned int window)
{
	uint64_t at;

	return FRAME(*entry_of(windows[window], &at));
}

unsigned long gfn_of_frame(unsigned long frame)
{
	return machine_to_phys[frame];
}

void clear_entry(unsigned int window)
{
	if (set_entry(window, 0, MMU_NORMAL_PT_UPDATE, DOMID_SELF))
		die_of("window %u cannot be cleared", window);
}

void unmap_page(unsigned int window)
{
	clear_entry(window);
	flush(window);
}

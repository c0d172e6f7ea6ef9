// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that 32-bit devices can reach is left alone while any node has other memory. */
#include "bare.h"

#define DMA_BITS 26		/* as cases.py has it in Xen's options */
#define MUCH (32UL << (20 - PAGE_SHIFT))
#define LITTLE (4UL << (20 - PAGE_SHIFT))

void program(void)
{
	domid_t domid = new_domain(900, 1);
	unsigned long dma = free_pages(0, DMA_BITS), taken = 0, left_elsewhere = 0;

	if (dma < MUCH)
		crash("there is no DMA zone to speak of");
	for (unsigned long gfn = 0; populate(domid, gfn, ORDER_2M, ANY_NODE) == 1; gfn += PAGES_2M) {
		unsigned long now = free_pages(0, DMA_BITS), elsewhere = free_pages(1, 0);

		if (elsewhere < MUCH)
			break;
		if (dma - now > taken) {
			taken = dma - now;
			left_elsewhere = elsewhere;
		}
	}
	if (free_pages(1, 0) > MUCH)
		crash("populating has ended while there was memory");
	note("pages of the DMA zone that were taken", taken);
	note("pages that another node had then", left_elsewhere);
	outcome("the DMA zone is used up early", taken > LITTLE);
}

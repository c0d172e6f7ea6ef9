/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a guest's parts are, and the page by which it and its maker in dom0 know of each other. */
#ifndef BARE_MAILBOX_H
#define BARE_MAILBOX_H

#include <stdint.h>

#define GUEST_IMAGE_GFN 0x100UL		/* linked there, and entered at its first byte */
#define GUEST_IMAGE_PAGES 16UL
#define GUEST_STACK_GFN 0x110UL		/* a page a vCPU */
#define GUEST_CPUS 2UL			/* of most guests */
#define GUEST_MOST_CPUS 8UL
#define GUEST_TABLES_GFN 0x118UL	/* of three levels, for the first GiB */
#define GUEST_TABLES 3UL
#define GUEST_MAILBOX_GFN 0x11bUL
#define GUEST_OWN_PAGES (GUEST_MAILBOX_GFN + 1 - GUEST_IMAGE_GFN)

#define GUEST_ENDED UINT32_MAX

struct mailbox {
	uint32_t state;			/* the guest counts up, GUEST_ENDED is the last */
	uint32_t go;			/* its maker lets it go on */
	uint64_t values[8];		/* the guest's results */
};

#endif

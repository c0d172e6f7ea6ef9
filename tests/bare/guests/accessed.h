/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest accesses, and how. */
#ifndef BARE_ACCESSED_H
#define BARE_ACCESSED_H

/* A vCPU: each reads some, and writes to some. */
#define SINGLES 32UL
#define READ_GFN 0x120UL
#define WRITTEN_GFN 0x160UL
#define UNTOUCHED_GFN 0x1a0UL		/* nobody does, of as many */
/* 2 MiB each, of which a page in so many is accessed, */
#define LARGE_STEP 64UL
#define LARGE_READ_GFN 0x200UL		/* by this vCPU */
#define LARGE_READ_BY 1
#define LARGE_WRITTEN_GFN 0x400UL
#define LARGE_WRITTEN_BY 0
#define END_GFN 0x600UL

#endif

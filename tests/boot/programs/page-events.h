/* SPDX-License-Identifier: GPL-2.0-or-later */
/* XENMEM_page_events, in batches. */
#ifndef PAGE_EVENTS_H
#define PAGE_EVENTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_EVENTS_MAX 1024
#define RELEASED (UINT64_C(1) << 63)
#define SPLIT (UINT64_C(1) << 62)

/* xen/include/public/memory.h */
struct page_events {
	const uint64_t *events;
	uint32_t nr, done;
};

struct batch {
	uint32_t nr;
	uint64_t events[PAGE_EVENTS_MAX];
};

/* Batches that Xen had no use for. */
extern atomic_ulong unwanted;

/* All of them: 0 or -errno. */
int tell(const uint64_t *events, uint32_t nr);

/* A full batch is told, and so is what is there at a flush. */
void add(struct batch *batch, uint64_t event);
void flush(struct batch *batch);

/* Releases pages, in runs as large as gfns allow, and flushes. */
void release(struct batch *batch, const char *mem, size_t pages);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Any bytes in a ring, and changed while it is read: bounded samples come out, of which nothing is more than was asked for. */
#include <stdlib.h>
#include <string.h>

#include "decide/decide.h"
#include "fuzz.h"
#include "xen/ring.h"

#define AT_ONCE 700

const char *const fuzz_words[] = { "\x01", "\xff\xff\xff\xff", "\x12", "\x09", NULL };

/* Four bytes of the input, as long as it lasts. */
static uint32_t next(const uint8_t **data, size_t *size)
{
	uint32_t n = 0;

	if (*size >= sizeof(n)) {
		memcpy(&n, *data, sizeof(n));
		*data += sizeof(n);
		*size -= sizeof(n);
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t matrix[16] = { 100, 300, 0, 7, 900 };
	const struct config config = config_defaults();
	size_t pages = 1 + (1U << next(&data, &size) % 4), bytes = pages * RING_PAGE, i, nr, all = 0;
	uint8_t *base = aligned_alloc(RING_PAGE, bytes);
	struct sample *sample = malloc(AT_ONCE * sizeof(*sample));
	struct ring_faults faults = { 0 };
	struct ring_header *header = (struct ring_header *)base;
	struct host host = { .nr_nodes = 4 };
	uint64_t free_bytes[NODES_MAX] = { 1ULL << 40, 1ULL << 40, 1ULL << 40, 1ULL << 40 };
	struct domain *domain = domain_new(1024, 4, 1);
	struct ring ring;
	const char *why;

	for (i = 0; i < bytes; i++)
		base[i] = size ? data[i % size] : 0;
	/* One that is none is refused. */
	if (!ring_open(&ring, base, bytes, &why))
		HOLDS(*why);
	header->version = RING_VERSION;
	header->size = (pages - 1) * RING_PER_PAGE;
	HOLDS(ring_open(&ring, base, bytes, &why));
	for (i = 0; i < 8; i++) {
		header->prod = i & 1 ? ring.cons + next(&data, &size) % (2 * ring.size) : next(&data, &size);
		/* What is for Xen to read is not read. */
		header->cons = next(&data, &size);
		header->size = next(&data, &size);
		nr = ring_read(&ring, sample, AT_ONCE, &faults);
		HOLDS(nr <= AT_ONCE && header->cons == ring.cons);
		all += nr;
		host_next_period(&host, &config, free_bytes, -1);
		decide(domain, &config, &host, &(struct input){
			.ns = 1000 * MS, .sample = sample, .nr_samples = nr, .matrix = matrix, .marked = 1, .faults = nr, .home = 15,
		});
	}
	HOLDS(all <= 8 * ring.size && faults.lost + faults.bad <= 16ULL * ring.size);
	domain_free(domain);
	free(sample);
	free(base);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* The reader of rings, against one that Xen fills, and against any bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "chance.h"
#include "xen/ring.h"

/* A mapping as Xen gives one, and behind it nothing that can be read. */
struct mapping {
	void *base;
	size_t bytes;
	struct ring_header *header;
	struct ring_sample *sample;
};

static struct mapping map(unsigned int pages)
{
	struct mapping m = { .bytes = pages * RING_PAGE };

	m.base = mmap(NULL, m.bytes + RING_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(m.base != MAP_FAILED);
	assert_int_equal(mprotect((char *)m.base + m.bytes, RING_PAGE, PROT_NONE), 0);
	m.header = m.base;
	m.sample = (void *)((char *)m.base + RING_PAGE);
	m.header->version = RING_VERSION;
	m.header->size = (pages - 1) * RING_PER_PAGE;
	return m;
}

static void unmap(struct mapping *m)
{
	munmap(m->base, m->bytes + RING_PAGE);
}

static struct ring open_ring(struct mapping *m)
{
	struct ring r;
	const char *why;

	assert_true(ring_open(&r, m->base, m->bytes, &why));
	return r;
}

/* As xen/common/numa-policy/sample-ring.c puts one in. */
static bool put(struct mapping *m, uint32_t *prod, struct ring_sample s)
{
	if (*prod - m->header->cons >= m->header->size) {
		m->header->dropped++;
		return false;
	}
	m->sample[(*prod)++ & (m->header->size - 1)] = s;
	m->header->prod = *prod;
	return true;
}

static struct ring_sample nth(uint64_t n)
{
	return (struct ring_sample){
		.gfn = n, .vcpu = n * 3, .order = n % 2 ? ORDER_2M : ORDER_4K, .node = n % 5, .home = n % 7, .flags = n % 4,
	};
}

static void check(const struct sample *s, uint64_t n)
{
	struct ring_sample as = nth(n);

	assert_int_equal(s->gfn, as.gfn);
	assert_int_equal(s->vcpu, as.vcpu);
	assert_int_equal(s->order, as.order);
	assert_int_equal(s->node, as.node);
	assert_int_equal(s->home, as.home);
	assert_int_equal(s->flags, as.flags);
}

static void each_sample_comes_once_and_in_order(void **unused)
{
	unsigned int pages = 2, round;

	(void)unused;
	test_seed();
	for (; pages <= RING_PAGES_MAX; pages = 2 * pages - 1) {
		struct mapping m = map(pages);
		struct ring r;
		struct ring_faults faults = { 0 };
		struct sample to[1000];
		/* Counts go around 2^32 after some. */
		uint32_t prod = m.header->prod = m.header->cons = UINT32_MAX - rnd(3000);
		uint64_t in = 0, out = 0;

		r = open_ring(&m);
		for (round = 0; round < 300; round++) {
			unsigned int nr = rnd(800);
			size_t n, i;

			while (nr-- && put(&m, &prod, nth(in)))
				in++;
			n = ring_read(&r, to, rnd(1000) + 1, &faults);
			for (i = 0; i < n; i++)
				check(&to[i], out++);
			assert_int_equal(m.header->cons, (uint32_t)(prod - (in - out)));
		}
		while ((round = ring_read(&r, to, 1000, &faults)))
			out += round;
		assert_int_equal(in, out);
		assert_true(in > 10000 && !faults.lost && !faults.bad);
		unmap(&m);
	}
}

static void a_full_ring_is_read_whole(void **unused)
{
	struct mapping m = map(2);
	struct ring r = open_ring(&m);
	struct ring_faults faults = { 0 };
	struct sample to[RING_PER_PAGE + 1];
	uint32_t prod = 0;

	(void)unused;
	while (put(&m, &prod, nth(prod)))
		;
	assert_int_equal(ring_read(&r, to, RING_PER_PAGE + 1, &faults), RING_PER_PAGE);
	check(&to[RING_PER_PAGE - 1], RING_PER_PAGE - 1);
	assert_true(put(&m, &prod, nth(7)));
	assert_int_equal(ring_read(&r, to, 1, &faults), 1);
	check(to, 7);
	assert_true(!faults.lost);
	unmap(&m);
}

static void what_is_no_ring_is_refused(void **unused)
{
	struct mapping m = map(3);
	const char *why;
	struct ring r;
	size_t bytes;

	(void)unused;
	for (bytes = 0; bytes <= m.bytes; bytes += 16)
		assert_int_equal(ring_open(&r, m.base, bytes, &why), bytes == 3 * RING_PAGE);
	m.header->size = RING_PER_PAGE;
	assert_false(ring_open(&r, m.base, m.bytes, &why));
	assert_string_equal(why, "it says that it has another size");
	assert_true(ring_open(&r, m.base, 2 * RING_PAGE, &why));
	m.header->version++;
	assert_false(ring_open(&r, m.base, 2 * RING_PAGE, &why));
	assert_string_equal(why, "its version is not known here");
	unmap(&m);
	/* No power of two, and more than there can be. */
	m = map(4);
	assert_false(ring_open(&r, m.base, m.bytes, &why));
	unmap(&m);
	m = map(513);
	assert_false(ring_open(&r, m.base, m.bytes, &why));
	unmap(&m);
}

/* Any bytes anywhere, at any time: nothing is read or written outside, and it goes on when they are right again. */
static void any_bytes(void **unused)
{
	unsigned int round;

	(void)unused;
	test_seed();
	for (round = 0; round < 2000; round++) {
		struct mapping m = map(rnd(2) ? 2 : 5);
		struct ring r = open_ring(&m);
		struct ring_faults faults = { 0 };
		uint32_t size = r.size, prod, *word = m.base;
		unsigned int step, room = 1 + rnd(700), i;
		struct sample *to = malloc(room * sizeof(*to));

		for (step = 0; step < 8; step++) {
			size_t n;

			for (i = 0; i < 6; i++)
				if (rnd(2))
					word[i] = rnd(3) ? (uint32_t)rnd64() : r.cons + rnd(2 * size);
			for (i = rnd(50); i; i--)
				word[rnd(m.bytes / sizeof(*word))] = rnd64();
			n = ring_read(&r, to, room, &faults);
			assert_true(n <= room && n <= size);
			assert_int_equal(r.size, size);
			assert_int_equal(m.header->cons, r.cons);
		}
		/* Xen's own count is what it was; one reading may be needed to find back to it. */
		m.header->size = size;
		prod = m.header->prod = rnd64();
		for (i = 0; i < 2 + size / room; i++)
			ring_read(&r, to, room, &faults);
		assert_int_equal(r.cons, prod);
		assert_true(put(&m, &prod, nth(round)));
		assert_int_equal(ring_read(&r, to, room, &faults), 1);
		check(to, round);
		free(to);
		unmap(&m);
	}
}

static void what_was_never_there_is_not_read(void **unused)
{
	struct mapping m = map(2);
	struct ring r = open_ring(&m);
	struct ring_faults faults = { 0 };
	struct sample to[8];

	(void)unused;
	m.header->prod = r.size + 1;
	assert_int_equal(ring_read(&r, to, 8, &faults), 0);
	assert_int_equal(faults.lost, r.size);
	m.header->prod = r.size;
	assert_int_equal(ring_read(&r, to, 8, &faults), 0);
	assert_int_equal(m.header->cons, r.size);
	unmap(&m);
}

/* Nobody but the reader writes it, and if somebody does, no sample comes twice. */
static void the_headers_count_is_not_believed(void **unused)
{
	struct mapping m = map(2);
	struct ring r = open_ring(&m);
	struct ring_faults faults = { 0 };
	struct sample to[8];
	uint32_t prod = 0;

	(void)unused;
	while (prod < 3)
		put(&m, &prod, nth(prod));
	assert_int_equal(ring_read(&r, to, 8, &faults), 3);
	m.header->cons = 1;
	assert_int_equal(ring_read(&r, to, 8, &faults), 0);
	assert_int_equal(m.header->cons, 3);
	assert_true(!faults.lost);
	unmap(&m);
}

static void bits_that_mean_nothing(void **unused)
{
	struct mapping m = map(2);
	struct ring r = open_ring(&m);
	struct ring_faults faults = { 0 };
	struct ring_sample s = nth(1);
	struct sample to[8];
	uint32_t prod = 0;

	(void)unused;
	s.pad = 1;
	put(&m, &prod, s);
	put(&m, &prod, nth(2));
	s = nth(3);
	s.flags |= 4;
	put(&m, &prod, s);
	assert_int_equal(ring_read(&r, to, 8, &faults), 1);
	check(to, 2);
	assert_int_equal(faults.bad, 2);
	assert_int_equal(m.header->cons, 3);
	unmap(&m);
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_sample_comes_once_and_in_order),
		cmocka_unit_test(a_full_ring_is_read_whole),
		cmocka_unit_test(what_is_no_ring_is_refused),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(what_was_never_there_is_not_read),
		cmocka_unit_test(the_headers_count_is_not_believed),
		cmocka_unit_test(bits_that_mean_nothing),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}

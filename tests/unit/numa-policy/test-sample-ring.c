/* SPDX-License-Identifier: GPL-2.0-only */
/* The ring of samples against a list of all that was put in, with a reader that keeps to the rules, and with one that does not. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "sample-ring.h"

#define FRAMES  3U
#define SIZE    (2 * (PAGE_SIZE / sizeof(struct xen_numa_sample)))

static struct sample_ring ring;
static struct xen_numa_sample_ring *head;
static struct xen_numa_sample *samples;

static void setup(unsigned int frames)
{
	/* the reader writes where it likes, Xen nowhere else */
	free(head);
	head = calloc(frames, PAGE_SIZE);
	samples = (void *)head + PAGE_SIZE;
	sample_ring_init(&ring, head, frames);
}

static void put(uint64_t gfn)
{
	struct xen_numa_sample sample = { .gfn = gfn, .vcpu = gfn % 7, .order = 9, .node = 1, .home = 2, .flags = 1 };

	sample_ring_put(&ring, &sample);
}

static void what_the_header_says(void **unused)
{
	(void)unused;
	for (unsigned int frames = 2; frames <= XEN_NUMA_SAMPLE_MAX_FRAMES; frames = 2 * frames - 1) {
		setup(frames);
		assert_int_equal(head->version, XEN_NUMA_SAMPLE_RING_VERSION);
		assert_int_equal(head->size, (frames - 1) * 256);
		assert_int_equal(head->size & (head->size - 1), 0);
		assert_int_equal(head->prod | head->cons | head->dropped, 0);
	}
}

static void nothing_is_lost_and_drops_are_counted(void **unused)
{
	uint64_t model[SIZE], put_in = 0, dropped = 0;
	uint32_t first = 0, nr = 0;

	(void)unused;
	test_seed();
	setup(FRAMES);
	/* the counters wrap */
	ring.prod = head->prod = head->cons = (uint32_t)(0 - 3 * SIZE / 2);
	for (int step = 0; step < 2000; step++) {
		for (unsigned int n = rnd(rnd(10) ? 100 : 2 * SIZE); n; n--) {
			put(put_in);
			if (nr < SIZE)
				model[(first + nr++) % SIZE] = put_in;
			else
				dropped++;
			put_in++;
		}
		assert_int_equal(head->dropped, dropped);
		assert_int_equal(head->prod - head->cons, nr);
		for (unsigned int n = rnd(nr + 1); n; n--) {
			const struct xen_numa_sample *s = &samples[head->cons & (head->size - 1)];

			assert_int_equal(s->gfn, model[first % SIZE]);
			assert_int_equal(s->vcpu, s->gfn % 7);
			assert_int_equal(s->order << 16 | s->node << 8 | s->home, 9 << 16 | 1 << 8 | 2);
			first++;
			nr--;
			head->cons++;
		}
	}
	assert_true(dropped > 1000 && put_in > 10 * dropped / 9);
}

/* Whatever is in the first page: no write beyond the ring (ASan), and a sample goes where the counters of Xen say, or is dropped. */
static void a_reader_that_lies(void **unused)
{
	uint32_t prod = 0;
	uint64_t dropped = 0;

	(void)unused;
	test_seed();
	setup(FRAMES);
	for (int i = 0; i < 100000; i++) {
		uint32_t cons = rnd(2) ? prod - rnd(2 * SIZE) + rnd(3) : rnd(UINT32_MAX);
		bool room = prod - cons < SIZE;

		*head = (struct xen_numa_sample_ring){
			.version = rnd(9), .size = rnd(UINT32_MAX), .prod = rnd(UINT32_MAX), .cons = cons, .dropped = rnd(9),
		};
		put(i);
		if (room) {
			assert_int_equal(samples[prod & (SIZE - 1)].gfn, i);
			assert_int_equal(head->prod, ++prod);
		} else {
			assert_int_equal(head->dropped, ++dropped);
		}
	}
	assert_true(dropped > 10000 && prod > 10000);
}

static void it_is_known_whether_it_is_read(void **unused)
{
	(void)unused;
	setup(FRAMES);
	assert_true(sample_ring_is_read(&ring));	/* there was nothing */
	put(1);
	put(2);
	assert_false(sample_ring_is_read(&ring));
	assert_false(sample_ring_is_read(&ring));
	head->cons = 1;
	assert_true(sample_ring_is_read(&ring));
	assert_false(sample_ring_is_read(&ring));
	head->cons = 2;
	assert_true(sample_ring_is_read(&ring));
	assert_true(sample_ring_is_read(&ring));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_header_says),
		cmocka_unit_test(nothing_is_lost_and_drops_are_counted),
		cmocka_unit_test(a_reader_that_lies),
		cmocka_unit_test(it_is_known_whether_it_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * IBS without the hardware: what is written to IbsOpCtl and read from the registers, against the bits of AMD's manual written down a second
 * time; the ring with a handler that comes in between, and as a thread; the rate on guests of random mood.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include <asm/ibs-op.h>

#define ALL_CAPS 0xfdU
#define SIZE 64U

s_time_t NOW(void)
{
	return 0;
}

static uint64_t rnd64(void)
{
	return (uint64_t)rnd(UINT32_MAX) << 32 ^ (uint64_t)rnd(UINT32_MAX) << 11 ^ rnd(UINT32_MAX);
}

static unsigned int some_interval(unsigned int caps)
{
	unsigned int longest = caps & 0x40 ? 0x7000000 : 0xe0000;

	return 0x10000 + rnd(4) * (uint64_t)rnd(longest - 0x10000 + 1) / 3;
}

/* IbsOpMaxCnt is bits 4 to 19 of the count in bits 0 to 15, and bits 20 to 26 in bits 20 to 26; IbsOpCurCnt is bits 32 to 58. */
static void what_is_written(void **unused)
{
	struct ibs_ring ring;
	uint64_t shorter = 0, longer = 0, low = 0;

	(void)unused;
	test_seed();
	for (int i = 0; i < 100000; i++) {
		unsigned int caps = 5 | (rnd(2) ? 0x40 : 0) | (rnd(2) ? 0x8 : 0), interval = some_interval(caps);
		uint64_t ctl, count;

		if (!(i % 100))
			ibs_ring_init(&ring, NULL, 0, rnd(3) ? rnd64() : 0);
		assert_true(ring.random);
		ring.interval = interval;
		ctl = ibs_ring_ctl(&ring, caps);
		count = (ctl & 0xffff) << 4 | (ctl & 0x7f00000);
		assert_true(ctl >> 17 & 1);
		assert_false(ctl & (1u << 18 | 1u << 16 | 1u << 19 | 0x1fu << 27));
		assert_int_equal(ctl >> 59, 0);
		/* counts smaller than 0x90 are undefined, as is one that begins beyond its end */
		assert_true(count >= 0x10000 - 0x2000 - 15 && count > ctl >> 32);
		assert_true(count + interval / 8 + 15 >= interval && count <= interval + interval / 8);
		assert_true(ctl >> 32 < 16);
		if (!(caps & 0x40))
			assert_false(ctl & 0x7f00000);
		if (!(caps & 0x8))
			assert_int_equal(ctl >> 32, 0);
		low |= ctl >> 32;
		shorter += count < interval - interval / 10;
		longer += count > interval + interval / 10;
	}
	assert_int_equal(low, 15);
	assert_true(shorter > 5000 && longer > 5000);
}

static void what_is_read(void **unused)
{
	unsigned int valid = 0;

	(void)unused;
	test_seed();
	for (int i = 0; i < 200000; i++) {
		unsigned int caps = rnd(2) ? ALL_CAPS : 5;
		struct ibs_op_regs regs = { .data = rnd64(), .data3 = rnd64(), .physad = rnd64() >> 12 };
		struct ibs_sample sample = { .node = 7 };
		bool load = regs.data3 & 1, store = regs.data3 >> 1 & 1, phys = regs.data3 >> 18 & 1;
		bool cached = !(regs.data3 >> 13 & 1) && !(regs.data3 >> 14 & 1);
		bool rip = !(caps >> 7 & 1) || !(regs.data >> 38 & 1), miss = regs.data3 >> 7 & 1;
		bool want = (load || store) && phys && cached && rip && miss;

		assert_int_equal(ibs_op_decode(&regs, caps, &sample), want);
		assert_int_equal(sample.node, 7);
		if (want) {
			assert_int_equal(sample.paddr, regs.physad);
			assert_int_equal(sample.write, store);
			valid++;
		}
	}
	assert_true(valid > 5000);
}

/* Grants, interrupts and reads in any order: what was granted is taken, what was put in comes out, once and in order. */
static void nothing_is_lost(void **unused)
{
	struct ibs_sample *samples = calloc(SIZE, sizeof(*samples)), sample;
	struct ibs_ring ring;
	uint64_t put = 0, got = 0, taken = 0, may = 0, full = 0;

	(void)unused;
	test_seed();
	ibs_ring_init(&ring, samples, SIZE, 1);
	assert_false(ibs_ring_wants(&ring));
	ring.prod = ring.cons = (uint32_t)(0 - 100);	/* they wrap */
	for (int step = 0; step < 200000; step++)
		switch (rnd(4)) {
		case 0:
			may = rnd(3) ? rnd(2 * SIZE) : 0;
			if (may > SIZE - (put - got)) {
				may = SIZE - (put - got);
				full++;
			}
			ibs_ring_grant(&ring, may == SIZE - (put - got) ? may + rnd(9) : may, 1000 + step);
			assert_int_equal(ring.interval, 1000 + step);
			break;
		case 1:
		case 2:
			assert_int_equal(ibs_ring_wants(&ring), may > 0);
			if (!may)
				break;
			may--;
			taken++;
			sample = (struct ibs_sample){ .paddr = put, .node = put % 5, .write = put % 3 == 0 };
			ibs_ring_put(&ring, rnd(4) ? (put++, &sample) : NULL);
			assert_int_equal(ring.taken, taken);
			break;
		default:
			for (unsigned int n = rnd(SIZE); n && ibs_ring_get(&ring, &sample); n--) {
				assert_int_equal(sample.paddr, got);
				assert_int_equal(sample.node, got % 5);
				assert_int_equal(sample.write, got % 3 == 0);
				got++;
			}
			if (got == put)
				assert_false(ibs_ring_get(&ring, &sample));
		}
	assert_true(got > 10000 && full > 1000);
	free(samples);
}

/* A handler that takes one although it was granted none does not write where there is no room. */
static void one_too_many(void **unused)
{
	struct ibs_sample *samples = calloc(SIZE, sizeof(*samples)), sample = {};
	struct ibs_ring ring;

	(void)unused;
	ibs_ring_init(&ring, samples, SIZE, 1);
	for (unsigned int i = 0; i < 3 * SIZE; i++) {
		sample.paddr = i;
		ibs_ring_put(&ring, &sample);
	}
	assert_int_equal(ring.taken, 3 * SIZE);
	for (unsigned int i = 0; i < SIZE; i++) {
		assert_true(ibs_ring_get(&ring, &sample));
		assert_int_equal(sample.paddr, i);
	}
	assert_false(ibs_ring_get(&ring, &sample));
	free(samples);
}

/* A reader that grants while the handler writes: at some of its barriers, all there is room for, and more. */
static struct ibs_ring *granted;

static void grant(void)
{
	if (!rnd(3))
		ibs_ring_grant(granted, 2 * SIZE, 1);
}

static void granted_meanwhile(void **unused)
{
	struct ibs_sample *samples = calloc(SIZE, sizeof(*samples)), sample = {};
	struct ibs_ring ring;
	uint64_t put = 0, got = 0;

	(void)unused;
	test_seed();
	granted = &ring;
	ibs_ring_init(&ring, samples, SIZE, 1);
	for (int i = 0; i < 100000; i++) {
		if (rnd(4) && ibs_ring_wants(&ring)) {
			sample.paddr = put++;
			machine_at_barrier = grant;
			ibs_ring_put(&ring, &sample);
			machine_at_barrier = NULL;
		}
		/* so rarely that it runs full */
		for (unsigned int n = rnd(100) ? 0 : rnd(SIZE); n && ibs_ring_get(&ring, &sample); n--)
			assert_int_equal(sample.paddr, got++);
		if (!rnd(50))
			grant();
	}
	while (ibs_ring_get(&ring, &sample))
		assert_int_equal(sample.paddr, got++);
	assert_int_equal(got, put);
	assert_true(put > 5000);
	free(samples);
}

#define MANY 100000U

static void *handler(void *data)
{
	struct ibs_ring *ring = data;

	for (uint64_t i = 0; i < MANY;) {
		struct ibs_sample sample = { .paddr = i * 0x9e3779b97f4a7c15, .node = i % 251, .write = i & 1 };

		if (ibs_ring_wants(ring)) {
			ibs_ring_put(ring, &sample);
			i++;
		} else {
			sched_yield();
		}
	}
	return NULL;
}

static void with_a_handler_beside(void **unused)
{
	struct ibs_sample *samples = calloc(SIZE, sizeof(*samples)), sample;
	struct ibs_ring ring;
	pthread_t thread;

	(void)unused;
	ibs_ring_init(&ring, samples, SIZE, 1);
	assert_int_equal(pthread_create(&thread, NULL, handler, &ring), 0);
	for (uint64_t i = 0; i < MANY;) {
		ibs_ring_grant(&ring, 1 + i % (2 * SIZE), 1);
		sched_yield();
		while (ibs_ring_get(&ring, &sample)) {
			assert_int_equal(sample.paddr, i * 0x9e3779b97f4a7c15);
			assert_int_equal(sample.node, i % 251);
			assert_int_equal(sample.write, i & 1);
			i++;
		}
	}
	pthread_join(thread, NULL);
	assert_int_equal(ring.taken, MANY);
	free(samples);
}

/*
 * Each vCPU runs for a part of a period of a billion cycles, and changes its mind from time to time.  No period has more than was wanted, and
 * one more for each vCPU; and when it has been the same for a while, at least half of it, as far as the shortest interval allows.
 */
static void the_rate_follows(void **unused)
{
	unsigned int settled = 0, paused = 0, steady = 0;

	(void)unused;
	test_seed();
	for (int guest = 0; guest < 300; guest++) {
		unsigned int caps = rnd(2) ? ALL_CAPS : 5, vcpus = 1 + rnd(rnd(2) ? 4 : 64), wanted = 1 + rnd(rnd(2) ? 100 : 5000);
		const unsigned int longest = caps & 0x40 ? 0x7000000 : 0xe0000;
		unsigned int interval = longest, same = 0, active = 1 + rnd(vcpus);
		uint64_t cycles[64] = {}, mine[64] = {}, taken = 0;

		for (int period = 0; period < 200; period++, same++) {
			uint64_t now[64], all = 0, could = 0, granted = 0;

			if (!rnd(60) || !period) {
				same = 0;
				for (unsigned int v = 0; v < vcpus; v++)
					cycles[v] = v < active ? 100000000 + rnd(900000000) : 0;
			}
			interval = ibs_op_interval(interval, taken, wanted, caps);
			assert_true(interval >= 0x10000 && interval <= longest);
			for (unsigned int v = 0; v < vcpus; v++) {
				unsigned int share = ibs_op_share(wanted, vcpus, mine[v], taken);

				assert_true(share > 0);
				granted += share;
				now[v] = min(cycles[v] / interval, (uint64_t)share);
				all += now[v];
				could += cycles[v] / 0x10000;
			}
			assert_true(granted <= wanted + vcpus);
			assert_true(all <= wanted + vcpus);
			if (same > 40 && wanted > 2 * vcpus) {
				/* vCPUs that had nothing to do have their part of one half all the same */
				assert_true(2 * all + vcpus >= min((uint64_t)wanted, could) / 2);
				settled++;
			}
			/* nobody has to pause for the rest of a period, if that can be had by a longer interval */
			if (same > 40 && wanted > 10 * vcpus && interval < longest && vcpus == 1) {
				paused += all >= wanted;
				steady++;
			}
			memcpy(mine, now, sizeof(mine));
			taken = all;
		}
	}
	assert_true(settled > 5000);
	assert_true(steady > 500 && paused < steady / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written),
		cmocka_unit_test(what_is_read),
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(one_too_many),
		cmocka_unit_test(granted_meanwhile),
		cmocka_unit_test(with_a_handler_beside),
		cmocka_unit_test(the_rate_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

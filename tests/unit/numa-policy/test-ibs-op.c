/* SPDX-License-Identifier: GPL-2.0-only */
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
	uint64_t shorter = 0, longer = 0, low = 0, first[4] = {};

	(void)unused;
	test_seed();
	for (int i = 0; i < 100000; i++) {
		unsigned int caps = 5 | (rnd(2) ? 0x40 : 0) | (rnd(2) ? 0x8 : 0), interval = some_interval(caps);
		bool begins = !rnd(3);
		uint64_t ctl, count;

		if (!(i % 100))
			ibs_ring_init(&ring, NULL, 0, rnd(3) ? rnd64() : 0);
		assert_true(ring.random);
		ring.interval = interval;
		ctl = ibs_ring_ctl(&ring, caps, begins);
		count = (ctl & 0xffff) << 4 | (ctl & 0x7f00000);
		assert_true(ctl >> 17 & 1);
		assert_false(ctl & (1u << 18 | 1u << 16 | 1u << 19 | 0x1fu << 27));
		assert_int_equal(ctl >> 59, 0);
		/* counts smaller than 0x90 are undefined, as is one that begins beyond its end */
		assert_true(count >= 0x90 && count > ctl >> 32);
		if (begins) {
			assert_true(count <= interval + 0x90);
			first[count * 4 / (interval + 0x91)]++;
		} else {
			assert_true(count + interval / 8 + 15 >= interval && count <= interval + interval / 8);
		}
		assert_true(ctl >> 32 < 16);
		if (!(caps & 0x40))
			assert_false(ctl & 0x7f00000);
		if (!(caps & 0x8))
			assert_int_equal(ctl >> 32, 0);
		low |= ctl >> 32;
		shorter += !begins && count < interval - interval / 10;
		longer += count > interval + interval / 10;
	}
	assert_int_equal(low, 15);
	/* a slice of any length has its chance */
	for (int i = 0; i < 4; i++)
		assert_in_range(first[i], 7500, 9200);
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
 * Each vCPU runs for a part of a period of a billion cycles, and changes its mind from time to time; some periods have no samples.  No period has
 * more than was wanted, and one more for each vCPU.  When it has been the same for a while, there are at least half as many, as far as the
 * shortest interval allows, and nobody has had enough before its part of the period is over.
 */
#define SETTLED 8U		/* periods with samples after which it has to be right */

static void the_rate_follows(void **unused)
{
	unsigned int settled = 0, paused = 0, steady = 0, throttled = 0;

	(void)unused;
	test_seed();
	for (int guest = 0; guest < 300; guest++) {
		unsigned int caps = rnd(2) ? ALL_CAPS : 5, vcpus = 1 + rnd(rnd(2) ? 4 : 64), wanted = 1 + rnd(rnd(2) ? 100 : 4000);
		unsigned int same = 0, active = 1 + rnd(vcpus), without = rnd(2) ? 0 : 2 + rnd(8);
		const unsigned int longest = caps & 0x40 ? 0x7000000 : 0xe0000;
		struct ibs_ring ring[64] = {};
		struct ibs_rate rate;
		uint64_t cycles[64] = {};

		ibs_rate_init(&rate);
		for (unsigned int v = 0; v < vcpus; v++)
			ibs_ring_init(&ring[v], NULL, 4096, v);
		for (int period = 0; period < 200; period++, same++) {
			unsigned int entries = without && period % without ? 0 : wanted;
			uint64_t all = 0, could = 0, granted = 0;

			if (!rnd(60) || !period) {
				unsigned int calm = rnd(2) ? 1 : 50;

				same = 0;
				for (unsigned int v = 0; v < vcpus; v++)
					cycles[v] = v < active ? (100000000 + rnd(900000000)) / calm : 0;
			}
			ibs_rate_begin(&rate, ring, vcpus, entries, caps);
			assert_true(rate.interval >= 0x10000 && rate.interval <= longest);
			throttled += !entries;
			for (unsigned int v = 0; v < vcpus; v++) {
				/* what is left of an interval has its chance, as what_is_written() shows */
				uint64_t can = cycles[v] / rate.interval + (rnd(rate.interval) < cycles[v] % rate.interval);
				uint64_t share = ring[v].until - ring[v].taken;

				assert_int_equal(ring[v].interval, rate.interval);
				assert_true(entries ? share > 0 : !share);
				granted += share;
				all += min(can, share);
				could += cycles[v] / 0x10000;
				/* nobody has to pause, if that can be had by a longer interval */
				if (entries && can && same > SETTLED * max(without, 1U) && wanted > 20 * vcpus && rate.interval < longest) {
					paused += can > share + 1;
					steady++;
				}
				for (uint64_t n = min(can, share); n; n--)
					ibs_ring_put(&ring[v], NULL);
			}
			assert_true(granted <= entries + vcpus);
			if (entries && same > SETTLED * max(without, 1U) && wanted > 2 * vcpus) {
				if ((wanted > 20 * vcpus ? 2 : 4) * all + 2 * vcpus < min((uint64_t)wanted, could))
					fail_msg("%u vCPUs, %u active, took %u of %u, could %u; interval %#x of %#x, since %u, without %u", vcpus,
						 active, (unsigned int)all, wanted, (unsigned int)could, rate.interval, longest, same, without);
				settled++;
			}
		}
	}
	assert_true(settled > 5000 && throttled > 5000);
	assert_true(steady > 5000);
	assert_int_equal(paused, 0);
}

/* A guest that slept is sampled no more often than it is at first when it wakes up, nor so rarely that it is missed. */
static void who_sleeps_is_not_forgotten(void **unused)
{
	for (int was = 0; was < 2; was++) {
		const uint64_t cycles = was ? 30000000000 : 3000000;
		struct ibs_ring ring[4] = {};
		struct ibs_rate rate;

		ibs_rate_init(&rate);
		for (int v = 0; v < 4; v++)
			ibs_ring_init(&ring[v], NULL, 4096, 1);
		for (int period = 0; period < 100; period++) {
			ibs_rate_begin(&rate, ring, 4, 400, ALL_CAPS);
			for (uint64_t n = period < 50 ? cycles / rate.interval : 0; n && ibs_ring_wants(&ring[1]); n--)
				ibs_ring_put(&ring[1], NULL);
			if (period == 50)
				assert_true(was ? rate.interval > 20 * 0xe0000 : rate.interval < 0x20000);
		}
		assert_true(was ? rate.interval == 0xe0000 : rate.interval < 0x20000);
	}
	(void)unused;
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
		cmocka_unit_test(who_sleeps_is_not_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

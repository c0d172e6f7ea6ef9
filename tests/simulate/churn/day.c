/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>

#include "day.h"
#include "decide/splitmix.h"

#define SIGMA 1.5		/* of the logarithm of lifetimes: most are short, few are very long */
#define PHASE 120		/* minutes that a VM is as busy as it is */
#define DAY (24 * 60)

/* Many small ones, few large ones. */
static const struct size {
	double part;
	unsigned int gib, vcpus;
} sizes[] = {
	{ 0.25, 1, 1 }, { 0.25, 2, 2 }, { 0.20, 4, 2 }, { 0.15, 8, 4 }, { 0.10, 16, 8 }, { 0.04, 32, 8 }, { 0.01, 64, 16 },
};

#define NR_SIZES (sizeof(sizes) / sizeof(*sizes))

static double normal(uint64_t *random)
{
	double u = 1 - splitmix_part(random), v = splitmix_part(random);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static struct vm of_a_size(struct day *d, unsigned int id)
{
	double part = splitmix_part(&d->random);
	unsigned int i;

	for (i = 0; i < NR_SIZES - 1 && part >= sizes[i].part; i++)
		part -= sizes[i].part;
	return (struct vm){
		.id = id, .vcpus = sizes[i].vcpus, .mib = sizes[i].gib * 1024ULL, .random = splitmix_next(&d->random),
	};
}

/* Lognormal. Of those that are there, long ones are more: the same distribution, later by the square of sigma. */
static double lifetime(struct day *d, double later)
{
	double mean = d->vms / d->per_hour * 60;

	return mean * exp(SIGMA * normal(&d->random) - SIGMA * SIGMA / 2 + later);
}

struct vm day_first(struct day *d, unsigned int id, double *left)
{
	struct vm vm = of_a_size(d, id);

	*left = lifetime(d, SIGMA * SIGMA) * splitmix_part(&d->random);
	return vm;
}

struct vm day_next(struct day *d, unsigned int id, double *left)
{
	struct vm vm = of_a_size(d, id);

	*left = lifetime(d, 0);
	return vm;
}

unsigned int day_arrivals(struct day *d)
{
	double limit = exp(-d->per_hour / 60), product = splitmix_part(&d->random);
	unsigned int nr = 0;

	for (; product > limit; nr++)
		product *= splitmix_part(&d->random);
	return nr;
}

/* Idle, at work or busy, for a phase; more by day than by night. */
double day_load(const struct vm *vm, unsigned int minute)
{
	uint64_t random = vm->random;
	unsigned int phase = (minute + splitmix_next(&random) % PHASE) / PHASE;
	double part, busy;

	random ^= phase * 0xd1342543de82ef95ULL;
	part = splitmix_part(&random);
	busy = part < 0.7 ? 0.02 : part < 0.9 ? 0.2 : 0.7;
	return vm->vcpus * busy * (1 - 0.3 * cos(2 * M_PI * minute / DAY));
}

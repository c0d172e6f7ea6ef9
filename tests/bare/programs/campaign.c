// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hostile guest makes calls at random, dom0 places, moves, samples, pauses and destroys at random,
 * and two victims look after their words.  calls=NUMBER of the hostile guest, seed=NUMBER for all that
 * is random; altp2m=1 if it may have that, warm=NUMBER of calls before it counts.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <xen/sched.h>

#include "bare.h"
#include "campaign.h"
#include "hypercall.h"
#include "random-domctl.h"

#define NODES 3			/* of the machine */
#define VICTIMS 2
#define HOSTILE_MIB 28
#define VICTIM_MIB 16
#define VICTIM_WEIGHT 32
#define PAGES_AT_FIRST (ARENA_PAGES / 2)
#define LIFE 4000		/* calls, at most, mostly */
#define ACTS 16			/* in a row */
#define CALLS_AT_ONCE (4 * LIFE)	/* meanwhile, at most */
#define WARM_UP 1000		/* calls */
#define IDLE 1000		/* rows of acts in which it makes no call that counts */

GUEST_IMAGE(hostile_image, "campaign-hostile.guest");
GUEST_IMAGE(victim_image, "campaign-victim.guest");

#define NAME(index, name) name,
static const char *const call_names[] = { CALLS(NAME) }, *const domctl_names[] = { DOMCTLS(NAME) };

static struct random random;
static struct count calls[NR_CALLS], calls_of_life[NR_CALLS], domctls[NR_DOMCTLS];
static domid_t hostile, victims[VICTIMS];
static unsigned long lives, deaths, idle_ends, calls_made;

static struct campaign *campaign_of(domid_t domid)
{
	return (struct campaign *)mailbox_of(domid);
}

static void give_pages(domid_t domid, unsigned long pages)
{
	for (unsigned long i = 0; i < pages; i += PAGES_2M)
		if (populate(domid, ARENA_GFN + i, ORDER_2M, ANY_NODE) != 1)
			die_of("there is no memory for d%d", domid);
}

static domid_t create(const char *image, const char *end, unsigned long mib, unsigned int vcpus,
		      unsigned long pages, uint32_t altp2m)
{
	domid_t domid = new_altp2m_domain(mib, vcpus, altp2m);
	struct campaign *campaign;

	load_guest(domid, image, end);
	/* the program's own are where they are */
	random_domctl(&random, DOMCTL_SET, domid);
	give_pages(domid, pages);
	give_native_tsc(domid);
	campaign = campaign_of(domid);
	campaign->seed = any(&random);
	campaign->domid = domid;
	campaign->bits = number_of("bits", 64);
	unmap_page(MAILBOX_WINDOW);
	start_guest(domid, vcpus);
	return domid;
}

static void create_hostile(void)
{
	hostile = create(hostile_image, hostile_image_end, HOSTILE_MIB, GUEST_CPUS, PAGES_AT_FIRST,
			 number_of("altp2m", 0) ? XEN_DOMCTL_ALTP2M_mixed : 0);
	memset(calls_of_life, 0, sizeof(calls_of_life));
	calls_made = 0;
	lives++;
}

static void add(struct count *sum, const struct count *count)
{
	sum->accepted += count->accepted;
	sum->refused += count->refused;
	sum->cycles += count->cycles;
	if (count->longest > sum->longest)
		sum->longest = count->longest;
}

/*
 * Hypercalls of this life.  Its own calls may take the page from it where they are counted, or write
 * over it: those since then do not count.
 */
static unsigned long count_calls(void)
{
	const struct campaign *campaign = try_map_page(MAILBOX_WINDOW, hostile, GUEST_MAILBOX_GFN);
	struct count now[NR_CALLS] = { 0 };
	unsigned long sum = 0;

	if (!campaign)
		return calls_made;
	for (int i = 0; i < NR_CALLS; i++) {
		for (unsigned int cpu = 0; cpu < GUEST_CPUS; cpu++)
			add(&now[i], &campaign->counts[cpu][i]);
		if (i != CALL_TOUCH)
			sum += now[i].accepted + now[i].refused;
	}
	unmap_page(MAILBOX_WINDOW);
	if (sum - calls_made <= CALLS_AT_ONCE) {
		calls_made = sum;
		memcpy(calls_of_life, now, sizeof(now));
	}
	return calls_made;
}

static unsigned long end_hostile(void)
{
	unsigned long made = count_calls();

	if (destroy_domain(hostile))
		die_of("d%d cannot be destroyed", hostile);
	for (int i = 0; i < NR_CALLS; i++)
		add(&calls[i], &calls_of_life[i]);
	return made;
}

static domid_t some_domain(void)
{
	if (one_in(&random, 16))
		return one_in(&random, 2) ? any(&random) : 0;
	return one_in(&random, 2) ? hostile : victims[below(&random, VICTIMS)];
}

static unsigned int some_order(void)
{
	switch (below(&random, 16)) {
	case 0 ... 3:
		return ORDER_2M;
	case 4:
		return ORDER_2M + 1 + below(&random, 64);
	default:
		return 0;
	}
}

static void act(void)
{
	unsigned long gfn = ARENA_GFN + below(&random, ARENA_PAGES);
	unsigned int which = below(&random, NR_DOMCTLS);
	domid_t domid = some_domain();
	uint64_t began;
	bool accepted;

	/* the victims' waits are to be others' faults */
	if (which == DOMCTL_PAUSE && (domid == victims[0] || domid == victims[1]))
		domid = hostile;
	began = cycles();
	if (which == DOMCTL_POPULATE_OTHER)
		accepted = populate(hostile, gfn, some_order(), ANY_NODE) == 1;
	else if (which == DOMCTL_RELEASE_OTHER)
		accepted = release_page(hostile, gfn) == 1;
	else
		accepted = random_domctl(&random, which, domid);
	count_one(&domctls[which], accepted, cycles() - began);
}

/* Until so many hypercalls were made. */
static unsigned long run(unsigned long wanted)
{
	unsigned long before = 0, now = 0;

	while (before + now < wanted) {
		unsigned long life = below(&random, LIFE), idle = 0;

		create_hostile();
		do {
			for (int i = 0; i < ACTS; i++)
				act();
			yield();
			idle = count_calls() == now ? idle + 1 : 0;
			now = calls_made;
		} while (now < life && before + now < wanted && idle < IDLE && domain_lives(hostile));
		deaths += !domain_lives(hostile);
		idle_ends += idle == IDLE;
		before += end_hostile();
		now = 0;
		say("bare: life %lu, calls %lu\n", lives, before);
	}
	return before;
}

static unsigned long passes(domid_t domid)
{
	unsigned long passes = campaign_of(domid)->passes;

	unmap_page(MAILBOX_WINDOW);
	return passes;
}

/* All their words, once from begin to end, after all that has happened. */
static void await_victims(void)
{
	for (int i = 0; i < VICTIMS; i++) {
		unsigned long then = passes(victims[i]);

		while (domain_lives(victims[i]) && passes(victims[i]) < then + 2)
			yield();
	}
}

/* What Xen has counted, at whatever has happened to them, is what there is. */
static void compare_usage(void)
{
	struct xen_domctl op = { 0 };
	char line[96];

	if (try_policy_op(&op, XEN_DOMCTL_NUMA_POLICY_GET, victims[0]))
		return;
	for (int i = 0; i < VICTIMS; i++) {
		stop_domain(victims[i]);
		snprintf(line, sizeof(line), "the nodes of victim %u are told as they are", i + 1);
		promise(line, usage_is_located(victims[i], ARENA_GFN + ARENA_PAGES));
	}
}

static void tell_counts(const char *const names[], const struct count counts[], unsigned int nr)
{
	char line[96];

	for (unsigned int i = 0; i < nr; i++) {
		snprintf(line, sizeof(line), "accepted: %s", names[i]);
		note(line, counts[i].accepted);
		snprintf(line, sizeof(line), "refused: %s", names[i]);
		note(line, counts[i].refused);
		snprintf(line, sizeof(line), "cycles: %s", names[i]);
		note(line, counts[i].cycles);
		snprintf(line, sizeof(line), "longest: %s", names[i]);
		note(line, counts[i].longest);
	}
}

static void tell_victims(void)
{
	unsigned long wrong = 0, alive = 0;
	char line[96];

	for (int i = 0; i < VICTIMS; i++) {
		const struct campaign *campaign = campaign_of(victims[i]);

		alive += domain_lives(victims[i]);
		wrong += campaign->wrong;
		snprintf(line, sizeof(line), "passes of victim %u", i + 1);
		note(line, campaign->passes);
		snprintf(line, sizeof(line), "longest wait of victim %u, cycles", i + 1);
		note(line, campaign->longest);
		unmap_page(MAILBOX_WINDOW);
	}
	outcome("victims that live", alive);
	outcome("words of theirs that were wrong", wrong);
}

static void start_victims(void)
{
	for (int i = 0; i < VICTIMS; i++) {
		victims[i] = create(victim_image, victim_image_end, VICTIM_MIB, 1, VICTIM_PAGES, 0);
		if (!wait_guest(victims[i], 1))
			die_of("victim %u does not start", i + 1);
		unmap_page(MAILBOX_WINDOW);
		/* it is busy all the time: the CPUs are for who is hostile, mostly */
		set_weight(victims[i], VICTIM_WEIGHT);
	}
}

static void destroy_victims(void)
{
	for (int i = 0; i < VICTIMS; i++)
		if (destroy_domain(victims[i]))
			die_of("victim %u cannot be destroyed", i + 1);
}

static void tell_missing(const unsigned long before[NODES])
{
	long missing[NODES];
	char line[96];

	await_free(before, missing, NODES, 0);
	for (int node = 0; node < NODES; node++) {
		snprintf(line, sizeof(line), "pages missing on node %u", node);
		outcome(line, missing[node]);
	}
}

void program(void)
{
	unsigned long wanted = number_of("calls", 1000), before[NODES], made;

	random.state = number_of("seed", 1);
	prepare_domctls(NODES);
	/* what Xen takes once, and keeps */
	start_victims();
	run(number_of("warm", WARM_UP));
	destroy_victims();
	memset(calls, 0, sizeof(calls));
	memset(domctls, 0, sizeof(domctls));
	lives = deaths = idle_ends = 0;
	await_rest(before, NODES);

	start_victims();
	made = run(wanted);
	await_victims();
	tell_victims();
	compare_usage();
	destroy_victims();
	tell_missing(before);
	outcome("as many calls as were wanted", made >= wanted);
	note("calls", made);
	note("lives of the hostile guest", lives);
	note("lives that Xen has ended", deaths);
	note("lives that made no more calls", idle_ends);
	tell_counts(call_names, calls, NR_CALLS);
	tell_counts(domctl_names, domctls, NR_DOMCTLS);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Access sampling by hint faults says what a guest does with its pages, and nothing else: each sample is true, each page that is
 * accessed is sampled, and counters are those of the samples.  What a monitor allows, and what log-dirty mode tells, is as without.
 * When it is stopped nothing is left of it but the ring, and that until the domain is gone.
 */
#include <errno.h>
#include <string.h>

#include "accessed.h"
#include "bare.h"
#include "mailbox.h"
#include "sampling.h"
#include "watch.h"

#define NODES 2
#define ALL_NODES (1UL << 0 | 1UL << 1)
#define CPUS 2
#define OTHER_GFN (GUEST_MAILBOX_GFN + 1)	/* a monitor's ring */
#define ENTRIES 256
#define PERIOD_MS 10
#define AT_ONCE 64		/* entries looked at while the p2m is locked */
#define FEW 8			/* of the pages that a monitor watches */
#define ROUNDS 3		/* of log-dirty mode */
#define KEPT 1			/* pages: stock Xen loses some 300 bytes, a struct sched_unit, of a domain that has had two vCPUs */
#define RING_SAMPLES ((1 << PAGE_SHIFT) / sizeof(struct xen_numa_sample))	/* a frame */

GUEST_IMAGE(image, "accessed.guest");

enum wrong { PLACE, SIZE, HOME, NODE, VCPU, WRITE, REST, NR_WRONG };
static const char *const promises[NR_WRONG] = {
	"what is sampled is accessed", "its size is told", "its node is told", "the accessing node is told", "the vCPU is told",
	"writes are told where they can be", "samples are of this source, and have nothing else in them",
};

struct use {
	bool accessed, by_any, written, read;
	unsigned int vcpu;
};

static domid_t domid;
static bool ept;
static struct mailbox *mailbox;
static struct xen_numa_page pages[END_GFN];		/* where they are */
static bool seen[END_GFN];
static bool sizes_change;		/* without anybody knowing when */
static unsigned long wrong[NR_WRONG], taken, of_nodes[NODES][NODES];
static struct xen_numa_sample first_wrong[NR_WRONG];

static bool is_intel(void)
{
	uint32_t leaf = 0, genu, ineI, ntel;

	__asm__("cpuid" : "+a"(leaf), "=b"(genu), "=d"(ineI), "=c"(ntel));
	return genu == 0x756e6547;	/* "Genu" */
}

static unsigned int node_of(unsigned int vcpu)
{
	/* that machine has all CPUs on one */
	return ept ? 0 : vcpu;
}

static bool in(unsigned long gfn, unsigned long first, unsigned long nr)
{
	return gfn >= first && gfn < first + nr;
}

static struct use use_of(unsigned long gfn, unsigned int order)
{
	bool large = order || gfn % LARGE_STEP == 0;

	if (in(gfn, READ_GFN, 2 * SINGLES))
		return (struct use){ .accessed = true, .read = true, .vcpu = (gfn - READ_GFN) / SINGLES };
	if (in(gfn, WRITTEN_GFN, 2 * SINGLES))
		return (struct use){ .accessed = true, .written = true, .vcpu = (gfn - WRITTEN_GFN) / SINGLES };
	if (in(gfn, LARGE_READ_GFN, PAGES_2M))
		return (struct use){ .accessed = large, .read = true, .vcpu = LARGE_READ_BY };
	if (in(gfn, LARGE_WRITTEN_GFN, PAGES_2M))
		return (struct use){ .accessed = large, .written = true, .vcpu = LARGE_WRITTEN_BY };
	if (in(gfn, GUEST_STACK_GFN, GUEST_CPUS))
		return (struct use){ .accessed = true, .vcpu = gfn - GUEST_STACK_GFN };
	if (in(gfn, GUEST_IMAGE_GFN, GUEST_IMAGE_PAGES) || in(gfn, GUEST_TABLES_GFN, GUEST_TABLES) || gfn == GUEST_MAILBOX_GFN)
		return (struct use){ .accessed = true, .by_any = true };
	return (struct use){ 0 };
}

static void check(enum wrong what, bool good, const struct xen_numa_sample *sample)
{
	if (!good && !wrong[what]++)
		first_wrong[what] = *sample;
}

static void check_sample(const struct xen_numa_sample *sample)
{
	bool there = sample->gfn < END_GFN;
	struct use use = there ? use_of(sample->gfn, sample->order) : (struct use){ 0 };
	bool write = sample->flags & XEN_NUMA_SAMPLE_WRITE;

	check(PLACE, use.accessed, sample);
	if (!use.accessed)
		return;
	seen[sample->gfn] = true;
	check(SIZE, sizes_change || sample->order == pages[sample->gfn].order, sample);
	check(HOME, sample->home == pages[sample->gfn].node, sample);
	check(VCPU, sample->vcpu < GUEST_CPUS && (use.by_any || sample->vcpu == use.vcpu), sample);
	check(NODE, sample->node == node_of(sample->vcpu), sample);
	if (ept)
		check(WRITE, !write, sample);
	else if (use.read || use.written)
		check(WRITE, write == use.written, sample);
	check(REST, !(sample->flags & ~XEN_NUMA_SAMPLE_WRITE) && !sample->pad, sample);
}

/* What there is. */
static void take_samples(void)
{
	struct xen_numa_sample sample;

	while (take_sample(&sample)) {
		check_sample(&sample);
		taken++;
		if (sample.node < NODES && sample.home < NODES)
			of_nodes[sample.node][sample.home]++;
	}
}

static unsigned long singles_seen(unsigned long first, unsigned long nr)
{
	unsigned long count = 0;

	for (unsigned long i = 0; i < nr; i++)
		count += seen[first + i];
	return count;
}

/* Of 2 MiB, the first page at least. */
static bool all_seen(void)
{
	return singles_seen(READ_GFN, GUEST_CPUS * SINGLES) == GUEST_CPUS * SINGLES &&
		singles_seen(WRITTEN_GFN, GUEST_CPUS * SINGLES) == GUEST_CPUS * SINGLES && seen[LARGE_READ_GFN] && seen[LARGE_WRITTEN_GFN];
}

static void wait_all_seen(void)
{
	/* what is sampled as another may never be */
	while (!all_seen() && !wrong[PLACE])
		take_samples();
}

/* What is seen is seen from now on. */
static void see_anew(void)
{
	take_samples();
	memset(seen, 0, sizeof(seen));
}

static void locate(struct xen_numa_page to[END_GFN])
{
	for (unsigned long gfn = 0; gfn < END_GFN; gfn++)
		to[gfn].gfn = gfn;
	locate_pages(domid, to, END_GFN);
}

static uint64_t passes_of(unsigned int vcpu)
{
	return __atomic_load_n(&mailbox->values[vcpu], __ATOMIC_SEQ_CST);
}

/* Each vCPU accesses all that it does, from now on. */
static void wait_passes(void)
{
	uint64_t passes[GUEST_CPUS];

	for (unsigned int vcpu = 0; vcpu < GUEST_CPUS; vcpu++)
		passes[vcpu] = passes_of(vcpu);
	for (unsigned int vcpu = 0; vcpu < GUEST_CPUS; vcpu++)
		while (passes_of(vcpu) < passes[vcpu] + 2)
			take_samples();
}

static struct xen_domctl_numa_policy_sample counters(void)
{
	uint64_t samples[MOST_NODES * MOST_NODES];
	struct xen_domctl_numa_policy_sample now;

	get_sampling(domid, &now, samples);
	return now;
}

static void check_truth(void)
{
	static struct xen_numa_page after[END_GFN];
	uint64_t samples[MOST_NODES * MOST_NODES];
	struct xen_domctl_numa_policy_sample now;
	bool stay = true, sums = true, homes[NODES] = { false };

	wait_all_seen();

	/* Nothing comes any more, and all that came is read. */
	stop_domain(domid);
	take_samples();
	get_sampling(domid, &now, samples);
	locate(after);

	for (unsigned long gfn = 0; gfn < END_GFN; gfn++)
		stay &= after[gfn].node == pages[gfn].node && after[gfn].order == pages[gfn].order;
	promise("pages stay where they are, and as large", stay);
	for (unsigned int node = 0; node < NODES; node++)
		for (unsigned int home = 0; home < NODES; home++) {
			sums &= samples[node * MOST_NODES + home] == of_nodes[node][home];
			homes[home] |= of_nodes[node][home];
		}
	promise("pages of both nodes are sampled", homes[0] && homes[1]);
	promise("all samples are counted", sums && now.faults == taken && !now.dropped && !sample_ring->dropped);
	promise("sampling goes on", now.state == XEN_NUMA_SAMPLE_RUNNING);
	promise("what was asked for is told", now.sources == 1U << XEN_NUMA_SAMPLE_HINT_FAULT && now.entries == ENTRIES &&
		now.period_ms == PERIOD_MS && now.frames == RING_FRAMES && now.nr_nodes == NODES);
	promise("nothing faults that was not marked", now.marked >= now.faults && now.periods);
	promise("few entries are looked at in a row", now.most_entries && now.most_entries <= AT_ONCE);
	promise("the time that it takes is told", now.longest_ns && now.longest_ns < now.ns && now.guest_ns);
	note("samples", taken);
	note("periods", now.periods);
	note("throttled", now.throttled);
	finish_creation(domid);
}

/* What a monitor has made read-only. */
static void check_access(void)
{
	bool stays = true, comes_back = true;

	begin_monitor(domid, OTHER_GFN);
	set_access(domid, READ_GFN, SINGLES, XENMEM_access_r);
	see_anew();
	while (singles_seen(READ_GFN, SINGLES) < FEW)
		take_samples();
	for (unsigned long i = 0; i < SINGLES; i++)
		stays &= get_access(domid, READ_GFN + i) == XENMEM_access_r;
	set_access(domid, READ_GFN, SINGLES, XENMEM_access_rwx);
	see_anew();
	while (singles_seen(READ_GFN, SINGLES) < FEW)
		take_samples();
	for (unsigned long i = 0; i < SINGLES; i++)
		comes_back &= get_access(domid, READ_GFN + i) == XENMEM_access_rwx;
	end_monitor(domid);
	promise("what a monitor has made read-only stays so, and is sampled", stays);
	promise("and what it has made writable again", comes_back);
}

static bool is_dirty(const uint8_t *bitmap, unsigned long gfn)
{
	return bitmap[gfn / 8] >> gfn % 8 & 1;
}

static void check_log_dirty(void)
{
	static uint8_t bitmap[END_GFN / 8];
	struct xen_domctl_numa_policy_sample before, now;
	bool all = true, no_more = true, runs = true;

	sizes_change = true;
	log_dirty(domid, true);
	take_dirty(domid, bitmap, END_GFN);
	before = counters();
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct xen_domctl_numa_policy_sample begin = counters();

		wait_passes();
		do {
			take_samples();
			now = counters();
			runs &= now.state == XEN_NUMA_SAMPLE_RUNNING;
		} while (runs && now.periods < begin.periods + 2);
		take_dirty(domid, bitmap, END_GFN);
		for (unsigned long gfn = 0; gfn < END_GFN; gfn++) {
			struct use use = use_of(gfn, 0);

			if (use.accessed && use.written)
				all &= is_dirty(bitmap, gfn);
			else if (use.read || !use.accessed)
				no_more &= !is_dirty(bitmap, gfn);
		}
	}
	promise("all that is written is told in log-dirty mode", all);
	promise("and no more", no_more);
	promise("nothing is marked meanwhile", now.marked == before.marked);
	promise("and sampling goes on", runs);
	log_dirty(domid, false);
	/* what it has divided stays so */
	see_anew();
	sizes_change = false;
	locate(pages);
	wait_all_seen();
	now = counters();
	promise("no sample is lost", !now.dropped);
	promise("afterwards all is sampled as before", now.state == XEN_NUMA_SAMPLE_RUNNING && now.faults > before.faults);
}

static void check_stop(void)
{
	xen_pfn_t before[RING_FRAMES], after[RING_FRAMES];
	struct xen_domctl_numa_policy_sample now;
	unsigned long before_stop;
	bool same = true;

	if (ring_frames(domid, before))
		crash("there is no ring");
	stop_sampling(domid);
	take_samples();
	before_stop = taken;
	wait_passes();
	now = counters();
	promise("when it is stopped nothing is sampled", taken == before_stop);
	promise("and no counter is left", now.state == XEN_NUMA_SAMPLE_OFF && !now.sources && !now.faults && !now.ns && !now.guest_ns &&
		!now.marked && !now.dropped && !now.periods && !now.throttled && !now.longest_ns && !now.most_entries);
	stop_sampling(domid);
	promise("a larger ring is refused", try_start_sampling(domid, ENTRIES, PERIOD_MS, 2 * RING_FRAMES - 1) == -ENOSPC);
	if (ring_frames(domid, after))
		crash("the ring has gone");
	for (unsigned int i = 0; i < RING_FRAMES; i++)
		same &= before[i] == after[i];
	promise("the ring stays", same && sample_ring->version == XEN_NUMA_SAMPLE_RING_VERSION);
	promise("and begins anew", !try_start_sampling(domid, ENTRIES, PERIOD_MS, RING_FRAMES));
	see_anew();
	while (!seen[LARGE_READ_GFN])
		take_samples();
	stop_sampling(domid);
}

static void begin_life(void)
{
	domid = new_domain(64, GUEST_CPUS);
	set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, ALL_NODES, NULL, 0);
	load_guest(domid, image, image_end);
	for (unsigned long gfn = OTHER_GFN; gfn < UNTOUCHED_GFN + SINGLES; gfn++)
		if (populate(domid, gfn, 0, ANY_NODE) != 1)
			crash("there is no memory");
	set_policy(domid, XEN_NUMA_POLICY_ROUND_2M, ALL_NODES, NULL, 0);
	for (unsigned long gfn = LARGE_READ_GFN; gfn < END_GFN; gfn += PAGES_2M)
		if (populate(domid, gfn, ORDER_2M, ANY_NODE) != 1)
			crash("there are no 2 MiB");
	mailbox = mailbox_of(domid);
	locate(pages);
	if (pages[LARGE_READ_GFN].order != ORDER_2M || pages[LARGE_WRITTEN_GFN].order != ORDER_2M || pages[READ_GFN].order)
		crash("pages are not of the sizes that are wanted");
	for (unsigned int vcpu = 0; vcpu < GUEST_CPUS; vcpu++)
		pin_vcpu(domid, vcpu, vcpu);
	start_guest(domid, GUEST_CPUS);
	start_sampling(domid, ENTRIES, PERIOD_MS);
}

/* Whatever Xen keeps once it had it; and a domain that is sampled can be destroyed. */
static void warm_up(void)
{
	begin_life();
	while (!taken)
		take_samples();
	if (ept) {
		begin_monitor(domid, OTHER_GFN);
		set_access(domid, READ_GFN, SINGLES, XENMEM_access_r);
		end_monitor(domid);
	}
	log_dirty(domid, true);
	log_dirty(domid, false);
	unmap_page(MAILBOX_WINDOW);
	if (destroy_domain(domid))
		crash("a domain that is sampled cannot be destroyed");
	unmap_ring();
	memset(seen, 0, sizeof(seen));
	memset(of_nodes, 0, sizeof(of_nodes));
	taken = 0;
}

void program(void)
{
	unsigned long before[NODES];
	long missing[NODES];

	ept = is_intel();
	note("EPT", ept);
	warm_up();
	await_rest(before, NODES);

	begin_life();
	promise("the ring is as it is declared", sample_ring->version == XEN_NUMA_SAMPLE_RING_VERSION &&
		sample_ring->size == (RING_FRAMES - 1) * RING_SAMPLES);
	check_truth();
	if (ept)
		check_access();
	check_log_dirty();
	check_stop();
	for (unsigned int i = 0; i < NR_WRONG; i++) {
		const struct xen_numa_sample *sample = &first_wrong[i];

		if (wrong[i])
			say("bare: %lu times not: %s; first gfn 0x%lx, order %u, vCPU %u, node %u, home %u, flags 0x%x\n", wrong[i], promises[i],
			    (unsigned long)sample->gfn, sample->order, sample->vcpu, sample->node, sample->home, sample->flags);
		promise(promises[i], !wrong[i]);
	}

	__atomic_store_n(&mailbox->go, 1, __ATOMIC_SEQ_CST);
	wait_guest(domid, GUEST_ENDED);
	unmap_page(MAILBOX_WINDOW);
	promise("it can be destroyed", !destroy_domain(domid));
	promise("the ring is there while somebody has it mapped", sample_ring->version == XEN_NUMA_SAMPLE_RING_VERSION);
	unmap_ring();
	await_free(before, missing, NODES, KEPT);
	note("pages missing of node 0", missing[0]);
	note("pages missing of node 1", missing[1]);
	promise("all memory comes back", missing[0] >= 0 && missing[0] <= KEPT && missing[1] >= 0 && missing[1] <= KEPT);
}

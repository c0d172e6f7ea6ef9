// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * numa-sample DOMID start ENTRIES PERIOD-MS BUDGET FRAMES [SOURCES]: has Xen sample the accesses of a domain, by hint faults (1) if
 *	nothing else is said.
 * numa-sample DOMID read SECONDS: maps the ring, takes samples out of it for so long, and says each second what has come.
 * numa-sample DOMID hold SECONDS: maps it and does nothing.
 * numa-sample DOMID lie SECONDS: maps it, and writes nonsense all over its first page.
 * numa-sample DOMID stop
 * numa-sample DOMID get: what the three above say at their end, too.
 *
 * A refusal is status 1 and the errno's name on stderr.  What there is to say:
 *
 *	sample GFN-IN-HEX ORDER VCPU NODE HOME r|w SOURCE COUNT        those of a second that were alike are one line
 *	read SAMPLES DROPPED					       since it began
 *	get WHAT=NUMBER…
 *	samples NODE HOME COUNT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xenctrl.h>
#include <xenforeignmemory.h>
#include <xen/domctl.h>
#include <xen/memory.h>

#define NODES 64
#define PAGE 4096
#define KEPT (1u << 20)         /* samples of a second */

static xc_interface *xch;
static uint32_t domid;

static int fail(const char *what)
{
	fprintf(stderr, "numa-sample: %s: %s\n", what, strerrorname_np(errno) ?: "?");
	return 1;
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct xen_numa_sample));
}

static int print_samples(struct xen_numa_sample *s, size_t nr)
{
	qsort(s, nr, sizeof(*s), compare);
	for (size_t i = 0, count; i < nr; i += count) {
		for (count = 1; i + count < nr && !compare(&s[i], &s[i + count]); count++)
			;
		if (s[i].pad || s[i].flags & ~7) {
			fprintf(stderr, "numa-sample: padding %u, flags %#x\n", s[i].pad, s[i].flags);
			return 1;
		}
		printf("sample %" PRIx64 " %u %u %u %u %c %u %zu\n", s[i].gfn, s[i].order, s[i].vcpu, s[i].node, s[i].home,
		       s[i].flags & XEN_NUMA_SAMPLE_WRITE ? 'w' : 'r', XEN_NUMA_SAMPLE_SOURCE(s[i].flags), count);
	}
	return 0;
}

static int read_ring(volatile struct xen_numa_sample_ring *ring, time_t seconds)
{
	const struct xen_numa_sample *samples = (void *)ring + PAGE;
	struct xen_numa_sample *kept = malloc(KEPT * sizeof(*kept));
	time_t begin = time(NULL), told = begin, now;
	size_t nr = 0, all = 0;

	if (ring->version != XEN_NUMA_SAMPLE_RING_VERSION) {
		fprintf(stderr, "numa-sample: ring of version %u\n", ring->version);
		return 1;
	}
	do {
		uint32_t prod = ring->prod, cons = ring->cons;

		__sync_synchronize();
		for (; cons != prod && nr < KEPT; cons++)
			kept[nr++] = samples[cons & (ring->size - 1)];
		__sync_synchronize();
		ring->cons = cons;
		usleep(20000);
		now = time(NULL);
		if (now == told)
			continue;
		if (print_samples(kept, nr))
			return 1;
		printf("read %zu %" PRIu64 "\n", all += nr, ring->dropped);
		fflush(stdout);
		nr = 0;
		told = now;
	} while (now < begin + seconds);
	return 0;
}

static void lie(volatile uint32_t *words, time_t seconds)
{
	uint64_t state = 88172645463325252u;

	for (time_t end = time(NULL) + seconds; time(NULL) < end; usleep(1000))
		for (unsigned int i = 0; i < PAGE / 4; i++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			words[i] = state >> 20;
		}
}

static int get(void)
{
	static const char *const states[] = { "off", "running", "unread", "unfit" };
	struct xen_domctl_numa_policy_sample s;
	uint64_t samples[NODES * NODES] = {};

	if (xc_domain_numa_sample_get(xch, domid, &s, samples, NODES))
		return fail("get");
	printf("state %s\n", s.state < 4 ? states[s.state] : "?");
	printf("get sources=%u entries=%u period_ms=%u budget=%u frames=%u faults=%" PRIu64 " ns=%" PRIu64 " guest_ns=%" PRIu64
	       " marked=%" PRIu64 " dropped=%" PRIu64 " periods=%" PRIu64 " throttled=%" PRIu64 " longest_ns=%" PRIu64
	       " most_entries=%" PRIu64 "\n",
	       s.sources, s.entries, s.period_ms, s.budget, s.frames, s.faults, s.ns, s.guest_ns, s.marked, s.dropped, s.periods,
	       s.throttled, s.longest_ns, s.most_entries);
	for (unsigned int node = 0; node < NODES; node++)
		for (unsigned int home = 0; home < NODES; home++)
			if (samples[node * NODES + home])
				printf("samples %u %u %" PRIu64 "\n", node, home, samples[node * NODES + home]);
	return 0;
}

static int with_ring(const char *how, time_t seconds)
{
	xenforeignmemory_handle *fmem = xenforeignmemory_open(NULL, 0);
	xenforeignmemory_resource_handle *res;
	void *ring = NULL;
	size_t bytes;
	int rc = 0;

	if (!fmem || xenforeignmemory_resource_size(fmem, domid, XENMEM_resource_numa_samples, 0, &bytes))
		return fail("size of the ring");
	res = xenforeignmemory_map_resource(fmem, domid, XENMEM_resource_numa_samples, 0, 0, bytes / PAGE, &ring, 3, 0);
	if (!res)
		return fail("map");
	if (!strcmp(how, "read"))
		rc = read_ring(ring, seconds);
	else if (!strcmp(how, "lie"))
		lie(ring, seconds);
	else
		sleep(seconds);
	/* while it is mapped, and sampling goes on */
	rc = rc ?: get();
	xenforeignmemory_unmap_resource(fmem, res);
	xenforeignmemory_close(fmem);
	return rc;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";

	xch = xc_interface_open(NULL, NULL, 0);
	if (!xch)
		return fail("xc_interface_open");
	domid = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	if (!strcmp(what, "start") && (argc == 7 || argc == 8))
		return xc_domain_numa_sample_start(xch, domid, argc == 8 ? atoi(argv[7]) : 1 << XEN_NUMA_SAMPLE_HINT_FAULT,
						   atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), atoi(argv[6])) ? fail(what) : 0;
	if ((!strcmp(what, "read") || !strcmp(what, "hold") || !strcmp(what, "lie")) && argc == 4)
		return with_ring(what, atoi(argv[3]));
	if (!strcmp(what, "stop"))
		return xc_domain_numa_sample_stop(xch, domid) ? fail(what) : 0;
	if (!strcmp(what, "get"))
		return get();
	fprintf(stderr, "usage: see numa-sample.c\n");
	return 2;
}

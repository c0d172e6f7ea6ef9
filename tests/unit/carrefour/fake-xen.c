/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fake-xen.h"
#include "process/clock.h"

struct fake fake;

uint64_t clock_ns(void)
{
	struct timespec t;

	if (!fake.real)
		return fake.now += fake.tick;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

uint64_t clock_wall_ns(void)
{
	return fake.real ? (uint64_t)time(NULL) * 1000 * MS : fake.began + fake.now;
}

static bool is_domctl(enum fake_call call)
{
	return call != CALL_HOST && call != CALL_DOMAINS && call != CALL_NODES && call != CALL_STORE && call != CALL_WRITE &&
	       call != CALL_NAME;
}

int fake_enter(enum fake_call call, unsigned int id)
{
	struct fake_trouble *c = &fake.call[call];

	c->calls++;
	fake.domctls += is_domctl(call);
	if (fake.between)
		fake.between(call, id);
	if (fake.real && c->us)
		usleep(c->us);
	fake.now += c->us * 1000ULL;
	return !c->of || c->of == id ? c->error : 0;
}

struct fake_guest *fake_guest(unsigned int id)
{
	return id && id <= fake.nr ? &fake.guest[id - 1] : NULL;
}

int fake_enter_guest(enum fake_call call, unsigned int id, struct fake_guest **g)
{
	int error = fake_enter(call, id);

	*g = fake_guest(id);
	return error ? error : !*g || (*g)->gone ? ESRCH : 0;
}

void fake_begin(unsigned int nr_nodes, unsigned int nr)
{
	unsigned int i;

	memset(&fake, 0, sizeof(fake));
	fake.nr_nodes = nr_nodes;
	fake.nr = nr;
	fake.random = 1;
	fake.now = 1000 * MS;
	fake.began = 1700000000000 * MS;
	fake.changed = true;
	fake.guest = calloc(nr + 1, sizeof(*fake.guest));
	for (i = 0; i < nr_nodes; i++) {
		fake.bytes[i] = 1ULL << 39;
		fake.free[i] = 1ULL << 38;
	}
	for (i = 0; i < nr; i++) {
		struct fake_guest *g = &fake.guest[i];

		g->switches = (struct switches){ .id = i + 1, .carrefour = true };
		snprintf(g->switches.name, sizeof(g->switches.name), "vm%u", i + 1);
		g->policy = (struct xen_policy){ .name = "first-touch", .home = nr_nodes < 64 ? (1ULL << nr_nodes) - 1 : ~0ULL,
						 .follows_affinity = true };
		g->uuid[14] = (i + 1) >> 8;
		g->uuid[15] = i + 1;
		g->bytes[0] = 4ULL << 30;
		g->nr_vcpus = 4;
		g->samples = 1000;
		g->span = 4096;
		g->gfns = 1 << 20;
		g->class = -1;
	}
}

/* As what Xen has, it is no memory of the daemon; zero. */
static void *of_xen(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static size_t matrix_bytes(void)
{
	return sizeof(uint64_t) * fake.nr_nodes * fake.nr_nodes;
}

void fake_end(void)
{
	unsigned int i;

	for (i = 0; i < fake.nr; i++) {
		struct fake_guest *g = &fake.guest[i];

		if (!g->ring)
			continue;
		munmap(g->ring, g->ring_bytes);
		munmap(g->home, g->span);
		munmap(g->counters.matrix, matrix_bytes());
	}
	free(fake.guest);
	memset(&fake, 0, sizeof(fake));
}

unsigned long fake_number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

/* For carrefourd with this in the place of Xen. */
int xen_open(void)
{
	static const char *const calls[NR_CALLS] = {
		"HOST", "VCPUS", "POLICY_GET", "POLICY_SET", "REBALANCE", "START", "GET", "MOVE", "STORE", "WRITE",
		"DOMAINS", "COUNT", "STATS", "NAME", "NODES", "LOAD"
	};
	unsigned int i, follows = fake_number("FAKE_FOLLOWS", 0);
	char name[64];

	fake_begin(fake_number("FAKE_NODES", 4), fake_number("FAKE_GUESTS", 1));
	fake.real = true;
	for (i = 0; i < NR_CALLS; i++) {
		snprintf(name, sizeof(name), "FAKE_%s_ERROR", calls[i]);
		fake.call[i].error = fake_number(name, 0);
		snprintf(name, sizeof(name), "FAKE_%s_US", calls[i]);
		fake.call[i].us = fake_number(name, 0);
	}
	for (i = 0; i < fake.nr; i++) {
		struct fake_guest *g = &fake.guest[i];

		g->samples = fake_number("FAKE_SAMPLES", 1000);
		g->nr_vcpus = fake_number("FAKE_VCPUS", 4);
		g->span = fake_number("FAKE_SPAN", 4096);
		if (follows) {
			g->switches.mode = AUTO_ON;
			g->switches.class = CLASS_HIGH;
			g->switches.follows = true;
			g->policy.name = "round-4k";
			g->gfns = 1ULL << 40;
		}
		if (getenv("FAKE_NAME"))
			snprintf(g->switches.name, sizeof(g->switches.name), "%s", getenv("FAKE_NAME"));
	}
	return 0;
}

void xen_close(void)
{
	fake_end();
}

unsigned int xen_nodes(void)
{
	return fake.nr_nodes;
}

const struct topology *xen_topology(void)
{
	return NULL;
}

int xen_look_at_host(uint64_t free[NODES_MAX])
{
	int error = fake_enter(CALL_HOST, 0);

	if (!error)
		memcpy(free, fake.free, sizeof(fake.free));
	return error;
}

int xen_vcpu_nodes(unsigned int domid, uint8_t **vcpu_node, unsigned int *nr)
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_VCPUS, domid, &g);
	uint8_t *new;

	if (error)
		return error;
	new = realloc(*vcpu_node, g->nr_vcpus + 1);
	if (!new)
		return ENOMEM;
	memset(new, NO_NODE, g->nr_vcpus);
	/* Beside the domain, each of them is asked for. */
	fake.domctls += g->nr_vcpus;
	*vcpu_node = new;
	*nr = g->nr_vcpus;
	return 0;
}

int xen_policy_get(unsigned int domid, struct xen_policy *policy)
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_POLICY_GET, domid, &g);

	if (!error && g->pv)
		error = EOPNOTSUPP;
	if (!error)
		*policy = g->policy;
	return error;
}

int xen_policy_set(unsigned int domid, const struct xen_policy *policy, const char *name)
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_POLICY_SET, domid, &g);

	if (!error) {
		g->policy = *policy;
		g->policy.name = name;
	}
	return error;
}

/* Pages that did, of as many as may. */
static uint64_t come_home(struct fake_guest *g, uint64_t pages)
{
	unsigned int home = __builtin_ctzll(g->prefers), n;
	uint64_t left = pages << PAGE_SHIFT;

	for (n = 0; n < fake.nr_nodes; n++) {
		uint64_t bytes = g->prefers >> n & 1 ? 0 : g->bytes[n] < left ? g->bytes[n] : left;

		g->bytes[n] -= bytes;
		g->bytes[home] += bytes;
		left -= bytes;
	}
	return pages - (left >> PAGE_SHIFT);
}

int xen_rebalance(unsigned int domid, uint64_t *gfn, unsigned int pages, uint64_t *moved, uint64_t *stays)
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_REBALANCE, domid, &g);

	(void)stays;
	if (error)
		return error;
	*gfn += pages;
	if (g->moves_a_page)
		*moved += come_home(g, (pages + g->moves_a_page - 1) / g->moves_a_page) * g->moves_a_page;
	if (*gfn >= g->gfns)
		*gfn = XEN_REBALANCED;
	return 0;
}

static struct ring_header *header_of(struct fake_guest *g)
{
	return (struct ring_header *)g->ring;
}

int xen_sample_start(unsigned int domid, const struct xen_sampling *s, struct xen_ring *ring)
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_START, domid, &g);

	if (error)
		return error;
	if (g->state == XEN_RUNNING)
		return EBUSY;
	if (!g->ring) {
		g->ring_bytes = (size_t)s->pages * RING_PAGE;
		g->ring = of_xen(g->ring_bytes);
		g->home = of_xen(g->span);
		g->counters.matrix = of_xen(matrix_bytes());
		header_of(g)->version = RING_VERSION;
		header_of(g)->size = (s->pages - 1) * RING_PER_PAGE;
	}
	counters_clear(&g->counters, fake.nr_nodes);
	g->state = XEN_RUNNING;
	*ring = (struct xen_ring){ .base = g->ring, .bytes = g->ring_bytes, .resource = g };
	return 0;
}

void xen_sample_drop(struct xen_ring *ring)
{
	*ring = (struct xen_ring){ 0 };
}

void xen_sample_stop(unsigned int domid, struct xen_ring *ring)
{
	struct fake_guest *g = fake_guest(domid);

	xen_sample_drop(ring);
	if (g && !g->gone)
		g->state = XEN_OFF;
}

/* xorshift64*, Marsaglia and Vigna. */
static uint64_t draw(void)
{
	fake.random ^= fake.random >> 12;
	fake.random ^= fake.random << 25;
	fake.random ^= fake.random >> 27;
	return fake.random * 2685821657736338717ULL >> 20;
}

void fake_sample(struct fake_guest *g)
{
	struct ring_header *h = header_of(g);
	struct ring_sample *ring = (struct ring_sample *)(g->ring + RING_PAGE);
	unsigned int i, page;

	for (i = 0; i < g->samples; i++) {
		page = draw() % g->span;
		g->counters.matrix[(uint64_t)page * fake.nr_nodes / g->span * fake.nr_nodes + g->home[page]]++;
		if (h->prod - h->cons >= h->size) {
			g->counters.dropped++;
			continue;
		}
		ring[h->prod & (h->size - 1)] = (struct ring_sample){
			.gfn = page, .vcpu = draw() % g->nr_vcpus, .node = (uint64_t)page * fake.nr_nodes / g->span,
			.home = g->home[page],
		};
		__atomic_store_n(&h->prod, h->prod + 1, __ATOMIC_RELEASE);
	}
	g->counters.faults += g->samples;
	g->counters.marked += 2 * g->samples;
	g->counters.ns += g->samples * 1000;
	g->counters.guest_ns += 500 * MS;
}

int xen_sample_get(unsigned int domid, struct counters *counters, enum xen_state *state)
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_GET, domid, &g);
	uint64_t *matrix = counters->matrix;

	counters_clear(counters, fake.nr_nodes);
	if (error)
		return error;
	*state = g->state;
	if (g->state != XEN_RUNNING)
		return 0;
	if (!fake.by_hand)
		fake_sample(g);
	*counters = g->counters;
	counters->matrix = matrix;
	memcpy(matrix, g->counters.matrix, matrix_bytes());
	return 0;
}

int xen_move(unsigned int domid, const struct decision *decision, size_t nr, enum result *result)
{
	struct fake_guest *g;
	int error = fake_enter_guest(CALL_MOVE, domid, &g);
	size_t i;

	for (i = 0; i < nr; i++)
		result[i] = RESULT_NOT_TRIED;
	for (i = 0; !error && i < nr; i++) {
		if (decision[i].action == ACTION_FREEZE)
			continue;
		g->home[decision[i].gfn] = decision[i].to;
		g->moved++;
		g->moves[RESULT_DONE] += 1 << decision[i].order;
		result[i] = RESULT_DONE;
	}
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A libxl for tests of xl numa-policy without Xen: a machine read from the file
 * that FAKE_XEN names (see fake_machine.py), calls written down in the file that
 * FAKE_TRACE names. What moves memory is in fake-rebalance.c. What needs no Xen (bitmaps, the IDL's types, libxlutil)
 * stays the real library's; these definitions come before it when linking.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libxl.h>
#include <libxl_utils.h>
#include <xenstore.h>
#include <xentoollog.h>

#include "fake.h"

#define MAX 128		/* nodes, of what a weight or memory is counted for */
#define DOMAINS 1024
#define VNUMA (LIBXL_NUMA_POLICY_FIRST_TOUCH + 1)	/* fake_machine.py's, of no libxl */

struct fake_domain {
	unsigned int id;
	char name[64], type[8];
	char carrefour[8], automatic[8];	/* as in xenstore; "": not there, "?": not to be read */
	int dying, follows;
	int foreign;			/* made without libxl, which thus has no JSON of it */
	libxl_uuid uuid;
	unsigned int policy;
	uint32_t max_pause_us;
	uint64_t placed, fallback, affinity, claim;
	int cpu[MAX], nr_vcpus;		/* where each vCPU is; ~CPU: was, as it is offline */
	uint64_t hard, soft;		/* nodes of their affinity; 0: the CPU where each is */
	uint32_t weight[MAX];
	libxl_numa_node_usage usage[MAX];
	int nr_usage;
};

struct failure {
	char function[32], message[200];
	int rc, after;		/* after so many good calls */
};

static struct {
	unsigned int nodes, pages, order;
	uint64_t free[MAX];
	uint64_t absent, empty;
	uint32_t distance[MAX][MAX];	/* 0: there is none */
	int privcmd;
	struct fake_domain domain[DOMAINS];
	struct failure failure[8];
	int nr_domains, nr_failures;
} machine;

static xentoollog_logger *logger;

static struct fake_domain *domain(unsigned int id)
{
	int i;

	for (i = 0; i < machine.nr_domains; i++)
		if (machine.domain[i].id == id)
			return &machine.domain[i];
	return NULL;
}

void trace(const char *format, ...)
{
	const char *path = getenv("FAKE_TRACE");
	FILE *f = path ? fopen(path, "a") : NULL;
	va_list ap;

	if (!f)
		return;
	va_start(ap, format);
	vfprintf(f, format, ap);
	va_end(ap);
	fclose(f);
}

int fails(const char *function)
{
	int i;

	for (i = 0; i < machine.nr_failures; i++) {
		struct failure *f = &machine.failure[i];

		if (strcmp(f->function, function) || f->after-- > 0)
			continue;
		f->after = 0;
		xtl_log(logger, XTL_ERROR, -1, "xc", "what lies below");
		xtl_log(logger, XTL_ERROR, -1, "libxl",
			"libxl_fake.c:1:%s:Domain 3:%s", function, f->message);
		xtl_log(logger, XTL_DEBUG, -1, "libxl", "of no interest");
		return f->rc;
	}
	return 0;
}

unsigned int *policy_of(uint32_t domid)
{
	return &domain(domid)->policy;
}

void arrive_home(uint32_t domid, uint64_t stay)
{
	struct fake_domain *d = domain(domid);
	int node, home = 0;

	while (!d->weight[home])
		home++;
	for (node = 0; node < MAX; node++) {
		libxl_numa_node_usage *u = &d->usage[node];
		uint64_t pages = u->nr_4k + (u->nr_2m << 9) + (u->nr_1g << 18), left = pages < stay ? pages : stay;

		if (d->weight[node])
			continue;
		*u = (libxl_numa_node_usage){ .nr_4k = left };
		d->usage[home].nr_4k += pages - left;
	}
	if (home >= d->nr_usage)
		d->nr_usage = home + 1;
}

unsigned int homes_of(uint32_t domid)
{
	unsigned int i, homes = 0;

	for (i = 0; i < MAX; i++)
		homes += domain(domid)->weight[i] != 0;
	return homes;
}

static void read_line(const char *line)
{
	struct fake_domain *d;
	struct failure *f;
	unsigned int id, node;
	char word[16], *list;
	int at = 0;

	if (sscanf(line, "%15s%n", word, &at) < 1 ||
	    read_rebalance_line(word, line + at) || read_sampling_line(word, line + at) ||
	    read_leave_line(word, line + at))
		return;
	line += at;
	if (!strcmp(word, "nodes")) {
		sscanf(line, "%u", &machine.nodes);
	} else if (!strcmp(word, "absent")) {
		sscanf(line, "%u", &node);
		machine.absent |= 1ULL << node;
	} else if (!strcmp(word, "empty")) {
		sscanf(line, "%u", &node);
		machine.empty |= 1ULL << node;
	} else if (!strcmp(word, "distance")) {
		sscanf(line, "%u %u %n", &node, &id, &at);
		machine.distance[node][id] = strtoul(line + at, NULL, 10);
	} else if (!strcmp(word, "free")) {
		sscanf(line, "%u %n", &node, &at);
		machine.free[node] = strtoull(line + at, NULL, 10);
	} else if (!strcmp(word, "pages")) {
		sscanf(line, "%u %u", &machine.pages, &machine.order);
	} else if (!strcmp(word, "privcmd")) {
		sscanf(line, "%d", &machine.privcmd);
	} else if (!strcmp(word, "fail")) {
		f = &machine.failure[machine.nr_failures++];
		sscanf(line, "%31s %d %d %199[^\n]", f->function, &f->rc,
		       &f->after, f->message);
	} else if (!strcmp(word, "domain")) {
		assert(machine.nr_domains < DOMAINS);
		d = &machine.domain[machine.nr_domains++];
		sscanf(line, "%u %7s %d %lx %63[^\n]", &d->id, d->type, &d->dying,
		       &d->affinity, d->name);
	} else if (sscanf(line, "%u%n", &id, &at) < 1 || !(d = domain(id))) {
		abort();
	} else if (!strcmp(word, "policy")) {
		if (sscanf(line + at, "%u %d %lu %lu %15s%n", &d->policy, &d->follows,
			   &d->placed, &d->fallback, word, &at) < 5)
			abort();
		list = strrchr(line, ' ') + 1;
		for (node = 0; node < MAX && *list; node++)
			d->weight[node] = strtoul(list, &list, 10), list += *list == ',';
	} else if (!strcmp(word, "vcpu")) {
		assert(d->nr_vcpus < MAX);
		sscanf(line + at, "%d", &d->cpu[d->nr_vcpus++]);
	} else if (!strcmp(word, "pin")) {
		sscanf(line + at, "%lx %lx", &d->hard, &d->soft);
	} else if (!strcmp(word, "foreign")) {
		d->foreign = 1;
	} else if (!strcmp(word, "uuid")) {
		if (libxl_uuid_from_string(&d->uuid, line + at + 1))
			abort();
	} else if (!strcmp(word, "pause")) {
		sscanf(line + at, "%u", &d->max_pause_us);
	} else if (!strcmp(word, "carrefour")) {
		sscanf(line + at, "%7s", d->carrefour);
	} else if (!strcmp(word, "auto")) {
		sscanf(line + at, "%7s", d->automatic);
	} else if (!strcmp(word, "claim")) {
		d->claim = strtoull(line + at, NULL, 10);
	} else if (!strcmp(word, "usage")) {
		libxl_numa_node_usage u;

		if (sscanf(line + at, "%u %lu %lu %lu", &node, &u.nr_4k, &u.nr_2m,
			   &u.nr_1g) < 4)
			abort();
		d->usage[node] = u;
		if ((int)node >= d->nr_usage)
			d->nr_usage = node + 1;
	} else {
		abort();
	}
}

int __wrap_access(const char *path, int mode)
{
	trace("access %s %d\n", path, mode);
	errno = machine.privcmd;
	return errno ? -1 : 0;
}

/* A file system that tells of a full disk when the file is closed. */
int __wrap_fclose(FILE *f)
{
	bool full = f == stdout && fails("close");
	int rc = __real_fclose(f);

	errno = full ? EDQUOT : errno;
	return full ? EOF : rc;
}

int libxl_ctx_alloc(libxl_ctx **ctx, int version, unsigned int flags,
		    xentoollog_logger *lg)
{
	static char context;
	char line[1024];
	FILE *f = fopen(getenv("FAKE_XEN"), "r");

	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		read_line(line);
	}
	fclose(f);
	logger = lg;
	*ctx = (libxl_ctx *)&context;
	return version != LIBXL_VERSION || flags ? ERROR_VERSION : fails("open");
}

int libxl_ctx_free(libxl_ctx *ctx)
{
	(void)ctx;
	return 0;
}

static void fill(libxl_dominfo *info, const struct fake_domain *d)
{
	libxl_dominfo_init(info);
	info->domid = d->id;
	info->uuid = d->uuid;
	info->dying = d->dying || fails("live");
	info->outstanding_memkb = d->claim;
	/* As libxl does: from Xen, which does not tell PVH from HVM. */
	info->domain_type = !strcmp(d->type, "pv") ? LIBXL_DOMAIN_TYPE_PV :
			    !strcmp(d->type, "pvh") || !strcmp(d->type, "hvm") ?
			    LIBXL_DOMAIN_TYPE_HVM : LIBXL_DOMAIN_TYPE_INVALID;
}

/* The records that libxl keeps in xenstore. */
struct xs_handle *xs_open(unsigned long flags)
{
	(void)flags;
	if (fails("xs_open")) {
		errno = ENOENT;
		return NULL;
	}
	return (struct xs_handle *)&machine;
}

void xs_close(struct xs_handle *h)
{
	assert(h == (struct xs_handle *)&machine);
}

void *xs_read(struct xs_handle *h, xs_transaction_t t, const char *path,
	      unsigned int *len)
{
	const struct fake_domain *d;
	const char *value = "";
	unsigned int domid;
	char key[32];

	assert(h == (struct xs_handle *)&machine && t == XBT_NULL && !len);
	assert(sscanf(path, "/libxl/%u/%31s", &domid, key) == 2);
	d = domain(domid);
	if (!strcmp(key, "type"))
		value = d && !d->foreign ? d->type : "";
	else
		abort();
	errno = ENOENT;
	return *value ? strdup(value) : NULL;
}

libxl_dominfo *libxl_list_domain(libxl_ctx *ctx, int *nr)
{
	libxl_dominfo *info = calloc(DOMAINS, sizeof(*info));
	int i;

	(void)ctx;
	if (fails("list")) {
		free(info);
		return NULL;
	}
	for (i = 0; i < machine.nr_domains; i++)
		fill(&info[i], &machine.domain[i]);
	*nr = machine.nr_domains;
	return info;
}

int libxl_domain_info(libxl_ctx *ctx, libxl_dominfo *info, uint32_t domid)
{
	const struct fake_domain *d = domain(domid);
	int rc = fails("info");

	(void)ctx;
	if (rc)
		return rc;
	if (!d) {
		errno = ESRCH;
		xtl_log(logger, XTL_ERROR, errno, "libxl", "Getting domain info");
		return ERROR_DOMAIN_NOTFOUND;
	}
	fill(info, d);
	return 0;
}

char *libxl_domid_to_name(libxl_ctx *ctx, uint32_t domid)
{
	const struct fake_domain *d = domain(domid);

	(void)ctx;
	return d && strcmp(d->name, "-") ? strdup(d->name) : NULL;
}

libxl_numainfo *libxl_get_numainfo(libxl_ctx *ctx, int *nr)
{
	libxl_numainfo *info;
	unsigned int i, j;

	(void)ctx;
	if (fails("numainfo"))
		return NULL;
	info = calloc(machine.nodes, sizeof(*info));
	for (i = 0; i < machine.nodes; i++)
		info[i].size = machine.absent & (1ULL << i) ?
			       LIBXL_NUMAINFO_INVALID_ENTRY :
			       machine.empty & (1ULL << i) ? 0 : 1ULL << 30;
	for (i = 0; i < machine.nodes; i++) {
		info[i].free = machine.free[i];
		info[i].num_dists = machine.nodes;
		info[i].dists = calloc(machine.nodes, sizeof(*info[i].dists));
		for (j = 0; j < machine.nodes; j++)
			info[i].dists[j] = machine.distance[i][j] ? machine.distance[i][j] : LIBXL_NUMAINFO_INVALID_ENTRY;
	}
	*nr = machine.nodes;
	return info;
}

int libxl_numa_policy_nodes_of_host(libxl_ctx *ctx, libxl_numa_policy_params *params)
{
	libxl_numainfo *info;
	int node, nr;

	if (!libxl_bitmap_test(&params->nodes, LIBXL_NUMA_POLICY_ALL_NODES))
		return 0;
	info = libxl_get_numainfo(ctx, &nr);
	if (!info)
		return ERROR_FAIL;
	libxl_for_each_set_bit(node, params->nodes)
		if (node >= nr || !info[node].size || info[node].size == LIBXL_NUMAINFO_INVALID_ENTRY)
			libxl_bitmap_reset(&params->nodes, node);
	libxl_numainfo_list_free(info, nr);
	return libxl_bitmap_is_empty(&params->nodes) ? ERROR_INVAL : 0;
}

/* Of each node that there is. */
#define CPUS 4

libxl_cputopology *libxl_get_cpu_topology(libxl_ctx *ctx, int *nr)
{
	libxl_cputopology *cpus;
	unsigned int i;

	(void)ctx;
	if (fails("topology"))
		return NULL;
	*nr = CPUS * machine.nodes;
	cpus = calloc(*nr, sizeof(*cpus));
	for (i = 0; i < CPUS * machine.nodes; i++) {
		bool absent = machine.absent & (1ULL << i / CPUS);

		cpus[i].core = cpus[i].socket = cpus[i].node = absent ? LIBXL_CPUTOPOLOGY_INVALID_ENTRY : i / CPUS;
	}
	return cpus;
}

/* Without an affinity of its own, a vCPU may run where it is. */
static void allow(libxl_bitmap *map, uint64_t nodes, uint32_t own)
{
	uint32_t cpu;

	libxl_bitmap_alloc(NULL, map, CPUS * machine.nodes);
	for (cpu = 0; cpu < CPUS * machine.nodes; cpu++)
		if (nodes ? nodes >> cpu / CPUS & 1 : cpu == own)
			libxl_bitmap_set(map, cpu);
}

/* As libxl does, online or not. */
libxl_vcpuinfo *libxl_list_vcpu(libxl_ctx *ctx, uint32_t domid, int *nr_vcpus, int *nr_cpus)
{
	const struct fake_domain *d = domain(domid);
	libxl_vcpuinfo *info;
	int i;

	(void)ctx;
	trace("vcpus %u\n", domid);
	if (fails("vcpus"))
		return NULL;
	info = calloc(d->nr_vcpus + 1, sizeof(*info));
	for (i = 0; i < d->nr_vcpus; i++) {
		libxl_vcpuinfo_init(&info[i]);
		info[i].vcpuid = i;
		info[i].online = d->cpu[i] >= 0;
		/* Xen has one of an offline vCPU, too: where it was last. */
		info[i].cpu = d->cpu[i] >= 0 ? d->cpu[i] : ~d->cpu[i];
		allow(&info[i].cpumap, d->hard, info[i].cpu);
		allow(&info[i].cpumap_soft, d->soft ? d->soft : d->hard, info[i].cpu);
	}
	*nr_vcpus = d->nr_vcpus;
	*nr_cpus = CPUS * machine.nodes;
	return info;
}

int libxl_bitmap_alloc(libxl_ctx *ctx, libxl_bitmap *map, int bits)
{
	(void)ctx;
	map->size = (bits + 7) / 8;
	map->map = calloc(map->size, 1);
	return 0;
}

int libxl_node_bitmap_alloc(libxl_ctx *ctx, libxl_bitmap *map, int max)
{
	return libxl_bitmap_alloc(ctx, map, max ? max : (int)machine.nodes);
}

int libxl_domain_get_nodeaffinity(libxl_ctx *ctx, uint32_t domid,
				  libxl_bitmap *map)
{
	unsigned int i;

	(void)ctx;
	for (i = 0; i < machine.nodes; i++)
		if (domain(domid)->affinity & (1ULL << i))
			libxl_bitmap_set(map, i);
	return fails("affinity");
}

/* As libxl does: in xenstore, where carrefourd looks. */
static const char *const modes[] = { "", "0", "1", "advise" };

static void write_dynamic(struct fake_domain *d, const libxl_numa_policy_params *params)
{
	if (!libxl_defbool_is_default(params->carrefour))
		sprintf(d->carrefour, "%d", libxl_defbool_val(params->carrefour));
	if (params->auto_mode != LIBXL_NUMA_AUTO_UNSET)
		strcpy(d->automatic, modes[params->auto_mode]);
}

/* Before it changes anything: its JSON would tell of devices. */
static int check_json(const struct fake_domain *d, const libxl_numa_policy_params *params)
{
	bool unset = libxl_defbool_is_default(params->carrefour) && params->auto_mode == LIBXL_NUMA_AUTO_UNSET;

	return d->foreign && !unset ? ERROR_JSON_CONFIG_EMPTY : 0;
}

static void trace_dynamic(const libxl_numa_policy_params *params)
{
	if (!libxl_defbool_is_default(params->carrefour))
		trace(" carrefour %d", libxl_defbool_val(params->carrefour));
	if (params->auto_mode != LIBXL_NUMA_AUTO_UNSET)
		trace(" auto %s", libxl_numa_auto_to_string(params->auto_mode));
	trace("\n");
}

int libxl_domain_numa_policy_set(libxl_ctx *ctx, uint32_t domid,
				 const libxl_numa_policy_params *params)
{
	struct fake_domain *d = domain(domid);
	int rc = fails("set"), home = 0;
	uint32_t weight[MAX];
	bool follows, followed;
	unsigned int i;

	(void)ctx;
	trace("set %u %d nodes", domid, params->policy);
	for (i = 0; i < MAX; i++)
		if (libxl_bitmap_test(&params->nodes, i))
			trace(" %u", i);
	trace(" weights");
	for (i = 0; (int)i < params->num_weights; i++)
		trace(" %u", params->weights[i]);
	if (params->max_pause_us)
		trace(" pause %u", params->max_pause_us);
	trace_dynamic(params);
	if (!rc)
		rc = check_json(d, params);
	if (rc)
		return rc;
	followed = d->follows;
	follows = libxl_bitmap_is_empty(&params->nodes);
	for (i = 0; i < MAX; i++) {
		/* Those that are followed already are where the vCPUs are to run, which here nobody changes. */
		bool in = !follows ? libxl_bitmap_test(&params->nodes, i) : followed ? d->weight[i] != 0 :
			  i < 64 && d->affinity >> i & 1 && !(machine.empty >> i & 1);

		weight[i] = !in ? 0 : home < params->num_weights ? params->weights[home] : 1;
		home += in;
	}
	if (params->num_weights && params->num_weights != home) {
		xtl_log(logger, XTL_ERROR, -1, "libxl", "Domain %u:%d weights given, but there is not that number of home nodes",
			domid, params->num_weights);
		return ERROR_INVAL;
	}
	write_dynamic(d, params);
	d->policy = params->policy;
	d->max_pause_us = params->max_pause_us;
	d->follows = follows;
	memcpy(d->weight, weight, sizeof(weight));
	return 0;
}

int libxl_domain_numa_dynamic_set(libxl_ctx *ctx, uint32_t domid,
				  const libxl_numa_policy_params *params)
{
	int rc = fails("dynamic");

	(void)ctx;
	trace("dynamic %u", domid);
	trace_dynamic(params);
	if (!rc)
		rc = check_json(domain(domid), params);
	if (!rc)
		write_dynamic(domain(domid), params);
	return rc;
}

/* Not there is off; what cannot be read, or has another value, is an error. */
static int read_mode(const char *value, libxl_numa_auto last, libxl_numa_auto *mode)
{
	for (*mode = LIBXL_NUMA_AUTO_OFF; *mode <= last; ++*mode)
		if (!strcmp(value, modes[*mode]))
			return 0;
	*mode = LIBXL_NUMA_AUTO_OFF;
	return *value ? ERROR_FAIL : 0;
}

int libxl_domain_numa_dynamic_get(libxl_ctx *ctx, uint32_t domid,
				  libxl_numa_policy_params *params)
{
	const struct fake_domain *d = domain(domid);
	libxl_numa_auto carrefour, automatic;

	(void)ctx;
	if (fails("getdynamic"))
		return ERROR_FAIL;
	if (!d)
		return ERROR_DOMAIN_NOTFOUND;
	if (read_mode(d->carrefour, LIBXL_NUMA_AUTO_ON, &carrefour) ||
	    read_mode(d->automatic, LIBXL_NUMA_AUTO_ADVISE, &automatic))
		return ERROR_FAIL;
	libxl_defbool_set(&params->carrefour, carrefour == LIBXL_NUMA_AUTO_ON);
	params->auto_mode = automatic;
	return 0;
}

int libxl_domain_numa_policy_get(libxl_ctx *ctx, uint32_t domid,
				 libxl_numa_policy_info *info)
{
	const struct fake_domain *d = domain(domid);
	int rc = fails("get");
	unsigned int i;

	(void)ctx;
	if (rc)
		return rc;
	info->vnuma = d->policy == VNUMA;
	info->policy = info->vnuma ? LIBXL_NUMA_POLICY_NONE : d->policy;
	info->follows_affinity = d->follows;
	info->max_pause_us = d->max_pause_us;
	info->placed = d->placed;
	info->fallback = d->fallback;
	libxl_bitmap_alloc(ctx, &info->nodes, MAX);
	info->weights = calloc(MAX, sizeof(*info->weights));
	for (i = 0; i < MAX; i++) {
		if (!d->weight[i])
			continue;
		libxl_bitmap_set(&info->nodes, i);
		info->weights[info->num_weights++] = d->weight[i];
	}
	return 0;
}

int libxl_domain_numa_usage_get(libxl_ctx *ctx, uint32_t domid,
				libxl_numa_usage *usage)
{
	const struct fake_domain *d = domain(domid);
	int rc = fails("usage");

	(void)ctx;
	trace("usage %u\n", domid);
	if (rc)
		return rc;
	if (!strcmp(d->type, "pv"))
		return ERROR_INVAL;
	usage->num_nodes = d->nr_usage;
	usage->nodes = calloc(MAX, sizeof(*usage->nodes));
	memcpy(usage->nodes, d->usage, sizeof(d->usage));
	return 0;
}

/* RAM below machine.pages, on the nodes in turn. */
void where_is(uint64_t gfn, uint32_t *node, uint32_t *order)
{
	bool ram = gfn < machine.pages;

	*node = ram ? (gfn >> machine.order) % machine.nodes : LIBXL_NUMA_NO_NODE;
	*order = ram ? machine.order : 0;
	if (ram)
		where_now(gfn, node, order);
}

uint64_t last_gfn(void)
{
	return machine.pages - 1;
}

void divide(uint32_t domid, unsigned int node)
{
	domain(domid)->usage[node].nr_2m--;
	domain(domid)->usage[node].nr_4k += 512;
}

void change_usage(uint32_t domid, unsigned int from, unsigned int to, unsigned int order)
{
	struct fake_domain *d = domain(domid);

	*(order ? &d->usage[from].nr_2m : &d->usage[from].nr_4k) -= 1;
	*(order ? &d->usage[to].nr_2m : &d->usage[to].nr_4k) += 1;
	if ((int)to >= d->nr_usage)
		d->nr_usage = to + 1;
}

int libxl_domain_numa_locate(libxl_ctx *ctx, uint32_t domid,
			     libxl_numa_page *pages, unsigned int nr)
{
	int rc = fails("locate");
	unsigned int i;

	(void)ctx;
	trace("locate %u %u\n", domid, nr);
	for (i = 0; !rc && i < nr; i++) {
		where_is(pages[i].gfn, &pages[i].node, &pages[i].order);
	}
	return rc;
}

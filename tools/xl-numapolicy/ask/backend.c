/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls libxl, and copies its answers into plain types. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxl.h>
#include <libxl_utils.h>

#include "ask/backend.h"
#include "ask/context.h"
#include "ask/spec.h"
#include "base/foreign.h"

#define DOMID_LIMIT 0x7ff0	/* DOMID_FIRST_RESERVED */

/* To Xen a PVH domain is HVM; what it was built as is in libxl's own records. */
static bool built_as_pvh(uint32_t domid)
{
	char path[32], *type;
	bool pvh;

	if (!xs)
		return false;
	snprintf(path, sizeof(path), "/libxl/%u/type", domid);
	type = xs_read(xs, XBT_NULL, path, NULL);
	pvh = type && !strcmp(type, "pvh");
	free(type);
	return pvh;
}

static void fill_domain(struct domain *domain, const libxl_dominfo *info)
{
	domain->id = info->domid;
	snprintf(domain->uuid, sizeof(domain->uuid), LIBXL_UUID_FMT, LIBXL_UUID_BYTES(info->uuid));
	domain->name = text_repair(libxl_domid_to_name(ctx, info->domid));
	domain->dying = info->dying;
	domain->claimed = info->outstanding_memkb * 1024;
	domain->pv = info->domain_type == LIBXL_DOMAIN_TYPE_PV;
	switch (info->domain_type) {
	case LIBXL_DOMAIN_TYPE_PV:
		domain->type = "PV";
		break;
	case LIBXL_DOMAIN_TYPE_PVH:
		domain->type = "PVH";
		break;
	case LIBXL_DOMAIN_TYPE_HVM:
		domain->type = built_as_pvh(info->domid) ? "PVH" : "HVM";
		break;
	default:
		domain->type = "?";
	}
}

enum result backend_domains(struct domain **domains, unsigned int *nr)
{
	libxl_dominfo *info;
	int i, n;

	forget_reason();
	info = libxl_list_domain(ctx, &n);
	if (!info)
		return RESULT_FAILED;

	*domains = calloc(n ? n : 1, sizeof(**domains));
	if (!*domains) {
		libxl_dominfo_list_free(info, n);
		return RESULT_FAILED;
	}
	for (i = 0; i < n; i++)
		fill_domain(&(*domains)[i], &info[i]);
	*nr = n;
	libxl_dominfo_list_free(info, n);
	return RESULT_OK;
}

static bool is_uuid(const char *text)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	unsigned int i;

	for (i = 0; form[i]; i++)
		if (form[i] == '-' ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
	return !text[i];
}

/* Of two, as during a reboot or a migration to the same host, the newer one. */
static enum result find_uuid(const char *uuid, struct domain *domain)
{
	enum result result = RESULT_NO_DOMAIN;
	libxl_uuid wanted;
	libxl_dominfo *info;
	int i, n, newest = -1;

	info = libxl_list_domain(ctx, &n);
	if (!info)
		return RESULT_FAILED;
	if (libxl_uuid_from_string(&wanted, uuid))
		n = 0;
	for (i = 0; i < n; i++)
		if (!libxl_uuid_compare(&info[i].uuid, &wanted) && (newest < 0 || info[i].domid > info[newest].domid))
			newest = i;
	if (newest >= 0) {
		fill_domain(domain, &info[newest]);
		result = RESULT_OK;
	}
	libxl_dominfo_list_free(info, n);
	return result;
}

enum result backend_find(const char *which, struct domain *domain)
{
	libxl_dominfo info;
	enum result result;
	uint32_t domid;

	forget_reason();
	if (!*which)
		return RESULT_NO_DOMAIN;
	if (is_uuid(which))
		return find_uuid(which, domain);
	/* libxl_domain_qualifier_to_domid() lets numbers wrap around. */
	if (which[strspn(which, "0123456789")]) {
		if (libxl_name_to_domid(ctx, which, &domid))
			return RESULT_NO_DOMAIN;
	} else {
		unsigned long long id;

		/* What does not fit becomes the largest number. */
		id = strtoull(which, NULL, 10);
		if (id >= DOMID_LIMIT)
			return RESULT_NO_DOMAIN;
		domid = id;
	}

	libxl_dominfo_init(&info);
	result = result_of(libxl_domain_info(ctx, &info, domid));
	if (result == RESULT_OK)
		fill_domain(domain, &info);
	libxl_dominfo_dispose(&info);
	return result;
}

static void copy_distances(uint8_t to[NODES_MAX], const libxl_numainfo *info)
{
	int i;

	for (i = 0; i < info->num_dists && i < NODES_MAX; i++)
		if (info->dists[i] >= DISTANCE_OWN && info->dists[i] <= UINT8_MAX)
			to[i] = info->dists[i];
}

enum result backend_nodes(struct nodes *nodes)
{
	libxl_numainfo *info;
	int i, nr;

	memset(nodes, 0, sizeof(*nodes));
	memset(nodes->distance, DISTANCE_OTHER, sizeof(nodes->distance));
	for (i = 0; i < NODES_MAX; i++)
		nodes->distance[i][i] = DISTANCE_OWN;
	forget_reason();
	info = libxl_get_numainfo(ctx, &nr);
	if (!info)
		return RESULT_FAILED;
	for (i = 0; i < nr && i < NODES_MAX; i++) {
		if (info[i].size == LIBXL_NUMAINFO_INVALID_ENTRY)
			continue;
		nodes->exists[i] = true;
		nodes->memory[i] = info[i].size != 0;
		nodes->bytes[i] = info[i].size;
		nodes->free[i] = info[i].free;
		copy_distances(nodes->distance[i], &info[i]);
		nodes->nr = i + 1;
	}
	libxl_numainfo_list_free(info, nr);
	count_cpus(nodes->cpus);
	return RESULT_OK;
}

enum result backend_affinity(uint32_t domid, bool node[NODES_MAX])
{
	libxl_bitmap map;
	int rc;

	forget_reason();
	libxl_bitmap_init(&map);
	rc = libxl_node_bitmap_alloc(ctx, &map, 0);
	if (!rc)
		rc = libxl_domain_get_nodeaffinity(ctx, domid, &map);
	if (!rc)
		copy_nodes(node, &map);
	libxl_bitmap_dispose(&map);
	return result_of(rc);
}

enum result backend_set(uint32_t domid, const struct request *request)
{
	libxl_numa_policy_params params;
	int i, rc = 0;

	forget_reason();
	libxl_numa_policy_params_init(&params);
	params.policy = request->policy;
	params.max_pause_us = request->max_pause_us;
	switches_to_params(&request->dynamic, &params);
	if (request->has_nodes) {
		rc = libxl_bitmap_alloc(ctx, &params.nodes, NODES_MAX);
		for (i = 0; !rc && i < NODES_MAX; i++)
			if (request->node[i])
				libxl_bitmap_set(&params.nodes, i);
	}
	if (!rc && request->nr_weights) {
		size_t size = request->nr_weights * sizeof(*params.weights);

		params.weights = malloc(size);
		if (params.weights) {
			memcpy(params.weights, request->weight, size);
			params.num_weights = request->nr_weights;
		} else {
			rc = ERROR_NOMEM;
		}
	}
	if (!rc)
		rc = libxl_domain_numa_policy_set(ctx, domid, &params);
	libxl_numa_policy_params_dispose(&params);
	return result_of(rc);
}

enum result backend_get(uint32_t domid, struct policy *policy)
{
	libxl_numa_policy_info info;
	int i, rc, home = 0;

	memset(policy, 0, sizeof(*policy));
	forget_reason();
	libxl_numa_policy_info_init(&info);
	rc = libxl_domain_numa_policy_get(ctx, domid, &info);
	if (!rc) {
		policy->vnuma = info.vnuma;
		policy->name = info.vnuma ? "vnuma" : spec_policy_name(info.policy);
		policy->follows_affinity = info.follows_affinity;
		policy->max_pause_us = info.max_pause_us;
		policy->placed = info.placed;
		policy->fallback = info.fallback;
		for (i = 0; i < NODES_MAX; i++) {
			if (!libxl_bitmap_test(&info.nodes, i))
				continue;
			policy->weight[i] = home < info.num_weights ?
					    info.weights[home] : 1;
			home++;
		}
	}
	libxl_numa_policy_info_dispose(&info);
	return result_of(rc);
}

enum result backend_usage(uint32_t domid, struct usage *usage)
{
	libxl_numa_usage all;
	int i, rc;

	memset(usage, 0, sizeof(*usage));
	forget_reason();
	libxl_numa_usage_init(&all);
	rc = libxl_domain_numa_usage_get(ctx, domid, &all);
	for (i = 0; !rc && i < all.num_nodes && i < NODES_MAX; i++) {
		usage->mappings[i][SIZE_4K] = all.nodes[i].nr_4k;
		usage->mappings[i][SIZE_2M] = all.nodes[i].nr_2m;
		usage->mappings[i][SIZE_1G] = all.nodes[i].nr_1g;
	}
	libxl_numa_usage_dispose(&all);
	return result_of(rc);
}

enum result backend_locate(uint32_t domid, struct page *pages, unsigned int nr)
{
	libxl_numa_page *asked;
	unsigned int i;
	int rc;

	forget_reason();
	asked = calloc(nr ? nr : 1, sizeof(*asked));
	if (!asked)
		return RESULT_FAILED;
	for (i = 0; i < nr; i++)
		asked[i].gfn = pages[i].gfn;
	rc = libxl_domain_numa_locate(ctx, domid, asked, nr);
	for (i = 0; !rc && i < nr; i++) {
		pages[i].node = asked[i].node == LIBXL_NUMA_NO_NODE ?
				NO_NODE : asked[i].node;
		pages[i].order = asked[i].order;
	}
	free(asked);
	return result_of(rc);
}

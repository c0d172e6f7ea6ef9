/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies in the words of xl.cfg, which libxlutil understands. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <libxl.h>
#include <libxl_utils.h>
#include <libxlutil.h>

#include "ask/context.h"
#include "ask/spec.h"

const char *spec_policy_name(unsigned int policy)
{
	const char *name = xlu_numa_policy_name(policy);

	return name ? name : "?";
}

const char *backend_policy_name(unsigned int policy)
{
	/* Only a domain that is yet to be created can have the default. */
	return xlu_numa_policy_name(LIBXL_NUMA_POLICY_DEFAULT + 1 + policy);
}

static enum result fill_request(struct request *request,
				libxl_numa_policy_params *params,
				char *reason, size_t size)
{
	unsigned int node;

	switch (libxl_numa_policy_nodes_of_host(ctx, params)) {
	case 0:
		break;
	case ERROR_INVAL:
		snprintf(reason, size, "it leaves no home node that has memory");
		return RESULT_REFUSED;
	default:
		return RESULT_FAILED;
	}
	libxl_for_each_set_bit(node, params->nodes) {
		if (node < NODES_MAX)
			continue;
		snprintf(reason, size, "no node %u, Xen knows at most %d nodes",
			 node, NODES_MAX);
		return RESULT_REFUSED;
	}
	if (params->num_weights > NODES_MAX) {
		snprintf(reason, size, "%d weights are more than Xen has nodes",
			 params->num_weights);
		return RESULT_REFUSED;
	}

	request->policy = params->policy;
	if (!libxl_defbool_is_default(params->carrefour))
		request->dynamic.carrefour = libxl_defbool_val(params->carrefour) ? SWITCH_ON : SWITCH_OFF;
	request->dynamic.automatic = switch_of(params->auto_mode);
	request->has_nodes = !libxl_bitmap_is_empty(&params->nodes);
	copy_nodes(request->node, &params->nodes);
	request->max_pause_us = params->max_pause_us;
	request->nr_weights = params->num_weights;
	if (params->num_weights)
		memcpy(request->weight, params->weights,
		       params->num_weights * sizeof(*params->weights));
	return RESULT_OK;
}

enum result backend_parse(const char *spec, struct request *request,
			  char *reason, size_t size)
{
	/* How reports begin; of no use where there is no file and no other option. */
	static const char source[] = "setting", prefix[] = "setting: numa_policy: ";
	libxl_numa_policy_params params;
	enum result result = RESULT_FAILED;
	XLU_Config *cfg;
	FILE *f;
	int rc;

	memset(request, 0, sizeof(*request));
	memset(reason, 0, size);
	f = fmemopen(reason, size - 1, "w");
	if (!f)
		return RESULT_FAILED;
	cfg = xlu_cfg_init(f, source);
	if (!cfg) {
		fclose(f);
		return RESULT_FAILED;
	}

	libxl_numa_policy_params_init(&params);
	rc = xlu_numa_policy_parse(cfg, spec, &params);
	xlu_cfg_destroy(cfg);
	fclose(f);

	if (!rc) {
		result = fill_request(request, &params, reason, size);
	} else if (rc == EINVAL) {
		result = RESULT_REFUSED;
		reason[strcspn(reason, "\n")] = '\0';
		/* By its size: what lies beyond the end is zeroes. */
		if (size > sizeof(prefix) && !strncmp(reason, prefix, strlen(prefix)))
			memmove(reason, reason + strlen(prefix), size - strlen(prefix));
	}
	libxl_numa_policy_params_dispose(&params);
	return result;
}

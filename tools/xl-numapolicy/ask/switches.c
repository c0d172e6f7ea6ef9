/* SPDX-License-Identifier: GPL-2.0-only */
/* What carrefourd is to do with a domain, as libxl has it in xenstore. */
#include <libxl.h>

#include "ask/context.h"
#include "ask/switches.h"

void switches_to_params(const struct dynamic *dynamic, libxl_numa_policy_params *params)
{
	static const libxl_numa_auto modes[] = {
		[SWITCH_UNSET] = LIBXL_NUMA_AUTO_UNSET, [SWITCH_OFF] = LIBXL_NUMA_AUTO_OFF,
		[SWITCH_ON] = LIBXL_NUMA_AUTO_ON, [SWITCH_ADVISE] = LIBXL_NUMA_AUTO_ADVISE,
	};

	if (dynamic->carrefour != SWITCH_UNSET)
		libxl_defbool_set(&params->carrefour, dynamic->carrefour == SWITCH_ON);
	params->auto_mode = modes[dynamic->automatic];
}

enum result backend_set_dynamic(uint32_t domid, const struct dynamic *dynamic)
{
	libxl_numa_policy_params params;
	int rc;

	forget_reason();
	libxl_numa_policy_params_init(&params);
	switches_to_params(dynamic, &params);
	rc = libxl_domain_numa_dynamic_set(ctx, domid, &params);
	libxl_numa_policy_params_dispose(&params);
	return result_of(rc);
}

unsigned int switch_of(libxl_numa_auto mode)
{
	switch (mode) {
	case LIBXL_NUMA_AUTO_OFF:
		return SWITCH_OFF;
	case LIBXL_NUMA_AUTO_ON:
		return SWITCH_ON;
	case LIBXL_NUMA_AUTO_ADVISE:
		return SWITCH_ADVISE;
	default:
		return SWITCH_UNSET;
	}
}

void backend_get_dynamic(uint32_t domid, struct dynamic *dynamic)
{
	libxl_numa_policy_params params;

	forget_reason();
	dynamic->carrefour = dynamic->automatic = SWITCH_UNSET;
	libxl_numa_policy_params_init(&params);
	if (!libxl_domain_numa_dynamic_get(ctx, domid, &params)) {
		dynamic->carrefour = libxl_defbool_val(params.carrefour) ? SWITCH_ON : SWITCH_OFF;
		dynamic->automatic = switch_of(params.auto_mode);
	}
	libxl_numa_policy_params_dispose(&params);
}

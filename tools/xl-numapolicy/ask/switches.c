/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What carrefourd is to do with a domain. libxl sets it and writes it to xenstore, but has no function that
 * gets it: it is read there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxl.h>
#include <xenstore.h>

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

/* Not there is off, as carrefourd sees it; what cannot be read or understood is unset. */
static unsigned int read_switch(uint32_t domid, const char *key)
{
	static const struct {
		const char *text;
		unsigned int state;
	} values[] = { { "0", SWITCH_OFF }, { "1", SWITCH_ON }, { "advise", SWITCH_ADVISE } };
	unsigned int i, state = SWITCH_UNSET;
	char path[64], *text;

	snprintf(path, sizeof(path), "/libxl/%u/numa-policy/%s", domid, key);
	text = xs ? xs_read(xs, XBT_NULL, path, NULL) : NULL;
	if (!text)
		return xs && errno == ENOENT ? SWITCH_OFF : SWITCH_UNSET;
	for (i = 0; i < sizeof(values) / sizeof(*values); i++)
		if (!strcmp(text, values[i].text))
			state = values[i].state;
	free(text);
	return state;
}

void backend_get_dynamic(uint32_t domid, struct dynamic *dynamic)
{
	dynamic->carrefour = read_switch(domid, "carrefour");
	dynamic->automatic = read_switch(domid, "auto");
}

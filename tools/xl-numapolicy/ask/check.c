/* SPDX-License-Identifier: GPL-2.0-only */
/* One clear line for each way in which Xen or libxl says no. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/check.h"
#include "ask/connection.h"
#include "base/errors.h"
#include "base/foreign.h"

void check(enum result result, const char *doing)
{
	const char *reason = backend_reason();

	switch (result) {
	case RESULT_OK:
		return;
	case RESULT_NO_RIGHTS:
		die("no permission to talk to Xen; run this as root");
	case RESULT_NO_XEN:
		die("cannot talk to Xen: no /dev/xen/privcmd here; run this in dom0");
	case RESULT_NO_FEATURE:
		die("this Xen has no NUMA placement policies (needs CONFIG_NUMA_POLICY)");
	default:
		die("cannot %s%s%s", doing, *reason ? ": " : "", reason);
	}
}

const char *domain_name(const struct domain *domain)
{
	static char *last;
	char *name;

	if (domain->name)
		name = text_escape(domain->name);
	else if (asprintf(&name, "%u", domain->id) < 0)
		name = check_alloc(NULL);
	/* The same domain's may be in use, in the same sentence. */
	if (last && !strcmp(last, name)) {
		free(name);
	} else {
		free(last);
		last = name;
	}
	return last;
}

const char *domain_argument(const struct domain *domain)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	const char *name = domain->name;
	static char id[16];

	/* A number is an id, always. */
	if (name && *name != '-' && !name[strspn(name, plain)] && name[strspn(name, "0123456789")])
		return domain_name(domain);
	snprintf(id, sizeof(id), "%u", domain->id);
	return id;
}

void check_domain(enum result result, const struct domain *domain,
		  const char *doing)
{
	struct domain now = { 0 };
	char id[16];
	const char *name = domain_name(domain);

	if (result == RESULT_OK)
		return;
	/* A domain may go away under our hands; that explains any failure. */
	if (result != RESULT_NO_FEATURE) {
		char why[256];

		snprintf(why, sizeof(why), "%s", backend_reason());
		snprintf(id, sizeof(id), "%u", domain->id);
		switch (backend_find(id, &now)) {
		case RESULT_NO_DOMAIN:
			die("VM '%s' is gone; 'xl list' shows what runs", name);
		case RESULT_OK:
			/* Xen calls it dying only when its memory is free: until then it does, and refuses. */
			if (now.dying || result == RESULT_NO_DOMAIN)
				die("VM '%s' is being destroyed", name);
			if (result == RESULT_FOREIGN)
				die("cannot %s VM '%s': another toolstack has made it, and libxl switches these only "
				    "for its own; a policy can be set", doing, name);
			/* fall through */
		default:
			die("cannot %s VM '%s'%s%s", doing, name,
			    *why ? ": " : "", why);
		}
	}
	check(result, doing);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* From POLICY, options and what the domain has to the policy that is asked for. */
#ifndef SETTING_H
#define SETTING_H

#include "cmd/options.h"

/* What is taken over from the policy that the domain has, as nobody said otherwise. */
struct kept {
	bool policy, nodes, weights, max_pause_us;
};

/* What the command line asks for. Exits with the reason if it makes no sense, whatever the domain is. */
void read_setting(const char *policy, const struct options *options, struct request *request);

/* Home nodes, weights and limit stay as they were where the command line names none; unless it asks for the affinity's. */
struct kept keep_rest(const struct options *options, const struct policy *before, struct request *request);

/*
 * The home nodes that it comes to. False: a guess, by the node affinity. Where the command line asks for home nodes that
 * nobody names, Xen finds them, by where vCPUs are to run, too.
 */
bool find_homes(const struct request *request, const struct policy *before, const struct domain *domain, bool home[NODES_MAX]);

/* Exits with the reason if it is not for these home nodes on this machine. home: NULL if only Xen knows them. */
void check_setting(const struct request *request, const bool *home, const struct nodes *nodes);

void print_policies(void);

#endif

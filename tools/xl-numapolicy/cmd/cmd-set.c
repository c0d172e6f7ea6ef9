/* SPDX-License-Identifier: GPL-2.0-only */
/* set: change the policy of a running domain, or parts of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/carrefour.h"
#include "ask/check.h"
#include "ask/spec.h"
#include "ask/switches.h"
#include "base/errors.h"
#include "cmd/command.h"
#include "cmd/guest.h"
#include "cmd/setting.h"
#include "print/format.h"

static void print_homes(const struct policy *policy, const struct kept *kept)
{
	char list[LIST_TEXT];

	format_nodes(list, policy->weight);
	printf(" on home node%s %s%s", list[strspn(list, "0123456789")] ? "s" : "", list, kept->nodes ? " (kept)" : "");
	if (!weights_equal(policy))
		printf(", weights %s%s", format_weights(list, policy->weight), kept->weights ? " (kept)" : "");
}

/* "carrefour on, auto off"; what is unset is not spoken of. */
static void print_switches(const struct dynamic *dynamic)
{
	static const char *const words[] = { "", "off", "on", "advises only" };

	if (dynamic->carrefour)
		printf("carrefour %s", words[dynamic->carrefour]);
	if (dynamic->automatic)
		printf("%sauto %s", dynamic->carrefour ? ", " : "", words[dynamic->automatic]);
}

static void print_name(const struct domain *domain)
{
	printf("%s (id %u): ", domain->name ? domain_name(domain) : "-", domain->id);
}

/* Whether something comes of what is switched on is for carrefourd to say. */
static void warn_without_daemon(const struct dynamic *dynamic)
{
	bool on = dynamic->carrefour >= SWITCH_ON || dynamic->automatic >= SWITCH_ON;
	struct watching watching = { 0 };

	if (on && !carrefour_show(&watching) && !watching.mute)
		printf("but carrefourd does not run: Carrefour and auto do nothing before 'systemctl start carrefourd'\n");
	free(watching.watched);
}

/* All that there is to say of a change. */
struct change {
	bool dry_run;		/* now is what would be */
	struct facts now;
	struct policy before;
	struct request request;
	struct kept kept;
};

static void print_now(const struct change *change)
{
	const struct policy *now = &change->now.policy;
	const struct dynamic *dynamic = &change->request.dynamic;

	print_name(&change->now.domain);
	printf("%s%s%s", change->dry_run ? "would be " : "", now->name, change->kept.policy ? " (kept)" : "");
	if (policy_places(now))
		print_homes(now, &change->kept);
	if (now->max_pause_us)
		printf(", max-pause-us %u%s", now->max_pause_us, change->kept.max_pause_us ? " (kept)" : "");
	if (policy_same(&change->before, now) && change->before.max_pause_us == now->max_pause_us)
		printf(", as before");
	if (dynamic->carrefour || dynamic->automatic)
		printf("; ");
	print_switches(dynamic);
}

/* Whether a page may be elsewhere than the policy would put it, without a look. */
static bool may_be_elsewhere(const struct policy *before, const struct policy *now,
			     const struct usage *usage)
{
	unsigned int node, homes = 0;

	for (node = 0; node < NODES_MAX; node++)
		homes += now->weight[node] != 0;
	return usage_at_home(usage, now) < usage_total(usage) ||
	       (homes > 1 && usage_total(usage) && !policy_same(before, now));
}

static void print_memory(const struct domain *domain, const struct policy *before,
			 const struct policy *now, const struct usage *usage, bool dry_run)
{
	char size[NUMBER_TEXT], share[NUMBER_TEXT];
	uint64_t total = usage_total(usage);

	if (total && !policy_same(before, now)) {
		printf("; the %s it already has %s where it is",
		       format_bytes(size, total), dry_run ? "would stay" : "stays");
		if (policy_places(now))
			printf(", %s%% of it on home nodes",
			       format_share(share, usage_at_home(usage, now), total));
	}
	putchar('\n');
	if (!dry_run && policy_places(now) && may_be_elsewhere(before, now, usage))
		printf("'xl numa-policy rebalance %s' moves its memory to where the policy "
		       "wants it, while the VM runs\n", domain_argument(domain));
}

static void pretend_switches(struct facts *facts, const struct dynamic *dynamic)
{
	static const char *const modes[] = { NULL, "off", "on", "advise" };

	if (dynamic->carrefour) {
		facts->has_carrefour = true;
		facts->carrefour = dynamic->carrefour == SWITCH_ON;
	}
	if (dynamic->automatic)
		facts->automatic = modes[dynamic->automatic];
}

/* What holds; and the memory stays. */
static void print(enum format format, struct change *change)
{
	struct facts *now = &change->now;

	look_closely(now);
	if (change->dry_run)
		pretend_switches(now, &change->request.dynamic);
	output_begin(format);
	if (format == FORMAT_TABLE) {
		print_now(change);
		print_memory(&now->domain, &change->before, &now->policy, &now->usage, change->dry_run);
		warn_without_daemon(&change->request.dynamic);
	} else {
		print_facts(now, NULL);
	}
	output_end();
}

static void switch_only(const struct options *options, struct change *change)
{
	const struct domain *domain = &change->now.domain;

	change->request.dynamic = options->dynamic;
	if (!change->dry_run)
		check_domain(backend_set_dynamic(domain->id, &options->dynamic), domain, "switch carrefour or auto of");
	if (options->format == FORMAT_TABLE) {
		output_begin(options->format);
		print_name(domain);
		if (change->dry_run)
			printf("would have ");
		print_switches(&options->dynamic);
		putchar('\n');
		warn_without_daemon(&options->dynamic);
		output_end();
	} else {
		check_domain(backend_get(domain->id, &change->now.policy), domain, "ask for the policy of");
		print(options->format, change);
	}
}

/* What Xen would say of the policy that is asked for. */
static void pretend(struct change *change, const bool home[NODES_MAX], const struct nodes *nodes)
{
	const struct request *request = &change->request;
	struct policy *would = &change->now.policy;
	unsigned int node, nr = 0;

	*would = change->before;
	would->name = spec_policy_name(request->policy);
	would->follows_affinity = !request->has_nodes;
	would->max_pause_us = request->max_pause_us;
	for (node = 0; node < NODES_MAX; node++)
		would->weight[node] = !home[node] || !nodes->memory[node] ? 0 :
				      request->nr_weights ? request->weight[nr++] : 1;
}

/* policy: NULL keeps the one that there is. */
static void set_policy(const struct options *options, const char *policy, struct change *change)
{
	const struct domain *domain = &change->now.domain;
	bool home[NODES_MAX], known;
	struct nodes nodes;

	check(backend_nodes(&nodes), "ask for the NUMA nodes");
	check_domain(backend_get(domain->id, &change->before), domain,
		     "ask for the policy of");
	if (change->before.vnuma && (change->dry_run || !policy))
		die("VM '%s' has virtual NUMA nodes, which place its memory; no policy can be set", domain_name(domain));
	if (!policy)
		read_setting(change->before.name, options, &change->request);
	change->kept = keep_rest(options, &change->before, &change->request);
	change->kept.policy = !policy;
	known = find_homes(&change->request, &change->before, domain, home);
	check_setting(&change->request, known || change->dry_run ? home : NULL, &nodes);
	if (options->rebalance)
		check_movable(domain);

	if (change->dry_run) {
		pretend(change, home, &nodes);
	} else {
		check_domain(backend_set(domain->id, &change->request), domain,
			     "set the policy of");
		/* Say what holds, not what was asked for. */
		check_domain(backend_get(domain->id, &change->now.policy), domain,
			     "ask for the policy of");
	}

	if (!options->rebalance) {
		print(options->format, change);
		return;
	}
	/* Programs get what rebalance prints, and nothing before it. */
	if (options->format == FORMAT_TABLE) {
		print_now(change);
		putchar('\n');
		warn_without_daemon(&change->request.dynamic);
		output_check();
	}
	rebalance(options, domain);
}

static void run(const struct options *options, int argc, char **argv)
{
	const struct dynamic *dynamic = &options->dynamic;
	bool any_part = options->nodes || options->weights || options->max_pause_us;
	struct change change = { 0 };

	if (argc == 1 && !any_part && options->rebalance)
		die_usage("set", "--rebalance needs a policy, --nodes or --weights; 'xl numa-policy rebalance' moves "
			  "memory by the policy that there is");
	if (argc == 1 && !any_part && !dynamic->carrefour && !dynamic->automatic)
		die_usage("set", "nothing to set; give a policy, --nodes, --weights, --max-pause-us or a switch");
	if (options->dry_run && options->rebalance)
		die_usage("set", "--dry-run cannot tell what --rebalance would move, as Xen goes by the policy that is set");
	change.dry_run = options->dry_run;
	/* All of the command line first. */
	if (argc > 1)
		read_setting(argv[1], options, &change.request);
	find_guest(argv[0], &change.now.domain);
	if (argc > 1 || any_part)
		set_policy(options, argv[1], &change);
	else
		switch_only(options, &change);
	free(change.now.domain.name);
}

static const struct option_spec options_set[] = {
	{ "nodes", 0, "LIST", "home nodes, like 0-3,^1; affinity: those of the VM's\nnode affinity where its vCPUs are to run",
	  OPTION_TEXT, OPTION(nodes), "0123456789,^-:adelnos", "numbers and ranges like 0-3,^1, all, or affinity",
	  .word = "affinity" },
	{ "weights", 0, "W:W...", "a weight of 1 to 255 for each home node,\nlowest node first",
	  OPTION_TEXT, OPTION(weights), "0123456789:", "a number of 1 to 255 for each home node, like 3:1" },
	{ "max-pause-us", 0, "N", "let no write to memory that moves wait for more\nthan N microseconds; 0: no limit",
	  OPTION_TEXT, OPTION(max_pause_us), "0123456789", "microseconds, from 0 to 1000000" },
	{ "dry-run", .help = "change nothing, say what would hold", OPTION(dry_run) },
	{ "rebalance", .help = "move the memory that the VM has, too", OPTION(rebalance) },
	{ "max-mb-per-s", 0, "N", "move no more than N MiB a second", RIGHT_RATE, OPTION(max_mb_per_s), .needs = "rebalance" },
	{ "strict", .help = "status 1 if any of it stays where it is", OPTION(strict), .needs = "rebalance" },
	{ "quiet", 'q', .help = "show no progress", OPTION(quiet), .needs = "rebalance" },
	OPTIONS_OF_OUTPUT,
	{ "+carrefour", .help = "carrefourd moves pages to the node that accesses them",
	  .kind = OPTION_SWITCH, OPTION(dynamic.carrefour), .value = SWITCH_ON },
	{ "-carrefour", .help = "it does not", .kind = OPTION_SWITCH, OPTION(dynamic.carrefour), .value = SWITCH_OFF },
	{ "+auto", .help = "carrefourd chooses the policy, and whether Carrefour",
	  .kind = OPTION_SWITCH, OPTION(dynamic.automatic), .value = SWITCH_ON },
	{ "+auto=advise", .help = "it only says what it would choose",
	  .kind = OPTION_SWITCH, OPTION(dynamic.automatic), .value = SWITCH_ADVISE },
	{ "-auto", .help = "it does neither", .kind = OPTION_SWITCH, OPTION(dynamic.automatic), .value = SWITCH_OFF },
	{ NULL }
};

const struct command cmd_set = {
	.name = "set",
	.arguments = "DOM [POLICY] [SWITCH]...",
	.summary = "give a running VM another policy, switch Carrefour or auto",
	.options = options_set,
	.print_words = print_policies,
	.help =
"POLICY may also be a whole setting in the words of xl.cfg, as in the last example.\n"
"What you do not name stays as it was: the policy, the home nodes, the weights, the\n"
"limit of --max-pause-us. Home nodes that you name without weights weigh the same.\n"
"The policy is for memory that the VM gets from now on, and for its next start.\n"
"Memory that it has stays where it is, unless you add --rebalance.\n"
"\n"
"Examples:\n"
"  xl numa-policy set guest1 round-2m\n"
"  xl numa-policy set guest1 round-4k --nodes 0-3,^1 --weights 2:1:1\n"
"  xl numa-policy set guest1 --nodes 0-3,^2 --rebalance\n"
"  xl numa-policy set guest1 --max-pause-us 200\n"
"  xl numa-policy set guest1 round-4k --nodes affinity\n"
"  xl numa-policy set guest1 first-touch +carrefour\n"
"  xl numa-policy set guest1 -carrefour\n"
"  xl numa-policy set 3 round-1g,nodes=0-1,weights=3:1\n",
	.min_arguments = 1,
	.max_arguments = 2,
	.run = run,
};

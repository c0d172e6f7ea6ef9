/* SPDX-License-Identifier: GPL-2.0-only */
/* watch: samples the accesses of one VM for some seconds, and says what it saw. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/backend.h"
#include "ask/carrefour.h"
#include "ask/check.h"
#include "ask/sampling.h"
#include "base/errors.h"
#include "base/pace.h"
#include "cmd/advice.h"
#include "cmd/command.h"
#include "cmd/outcome.h"
#include "common/imbalance.h"

#define SECOND 1000000000ULL
#define SECONDS 5		/* if none are given */
#define SECONDS_MOST 3600
#define READ_NS (SECOND / 5)
#define PAIRS_SHOWN 20		/* to people */

/* Accesses from the CPUs of a node to pages on a node. */
struct pair {
	uint32_t from, to;
	uint64_t samples;
	struct share share;
};

struct seen {
	struct facts facts;
	const char *source;		/* "xl" or "carrefourd" */
	uint64_t samples, elapsed;	/* ns */
	struct share local, imbalance;
	int signal;
	bool complete, has_advice;
	const char *advice;
	char command[ADVICE_TEXT], why[ADVICE_TEXT];
	struct pair pairs[NODES_MAX * NODES_MAX];
	unsigned int nr_pairs;
};

#define SEEN(key, cell, member) { "", key, cell, offsetof(struct seen, member) }
#define PAIR(title, key, cell, member) { title, key, cell, offsetof(struct pair, member) }

static const struct field fields[] = {
	SEEN("name", CELL_TEXT, facts.domain.name),
	SEEN("id", CELL_NUMBER32, facts.domain.id),
	SEEN("policy", CELL_TEXT, facts.policy.name),
	SEEN("home_nodes", CELL_NODES, facts.policy.weight),
	SEEN("sampled_by", CELL_TEXT, source),
	SEEN("complete", CELL_BOOL, complete),
	SEEN("seconds", CELL_SECONDS, elapsed),
	SEEN("samples", CELL_NUMBER, samples),
	SEEN("local_percent", CELL_SHARE, local),
	SEEN("imbalance_percent", CELL_SHARE, imbalance),
	SEEN("advice", CELL_TEXT, advice),
};

static const struct field pair_fields[] = {
	PAIR("FROM", "from_node", CELL_NUMBER32, from),
	PAIR("TO", "to_node", CELL_NUMBER32, to),
	PAIR("SAMPLES", "samples", CELL_NUMBER, samples),
	PAIR("SHARE", "share_percent", CELL_SHARE, share),
};

static void __attribute__((noreturn)) refuse(enum result result, const struct domain *domain)
{
	const char *name = domain_name(domain);

	switch (result) {
	case RESULT_BUSY:
		die("somebody else samples VM '%s'; wait until that is over", name);
	case RESULT_HAS_DEVICE:
		die("cannot sample VM '%s': devices are or may be assigned to it (passthrough)", name);
	case RESULT_REFUSED:
		die("cannot sample VM '%s': it has virtual NUMA nodes, shadow paging, altp2m, nested guests, memory sharing or "
		    "memory paging", name);
	default:
		check_domain(result, domain, "sample");
		abort();
	}
}

static int more_samples_first(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	return a->samples != b->samples ? (a->samples > b->samples ? -1 : 1) : a->from != b->from ? (int)a->from - (int)b->from :
	       (int)a->to - (int)b->to;
}

/* As carrefourd judges it: of accesses to home nodes with CPUs. */
static void find_imbalance(struct seen *seen, const struct accesses *accesses, const struct nodes *nodes)
{
	uint64_t on[NODES_MAX] = { 0 }, judged = 0, sum = 0;
	unsigned int from, to;

	for (to = 0; to < NODES_MAX; to++) {
		if (!seen->facts.policy.weight[to] || !nodes->cpus[to])
			continue;
		judged |= 1ULL << to;
		for (from = 0; from < NODES_MAX; from++)
			on[to] += accesses->count[from][to];
		sum += on[to];
	}
	if (sum)
		seen->imbalance = (struct share){ imbalance(on, judged), 1000 };
}

/*
 * On the node of the CPU, or on one with memory that is as near to it as any: no placement could bring it nearer. That it is on
 * a home node is no excuse, as carrefourd has it: home nodes can be the mistake.
 */
static bool is_local(const struct nodes *nodes, unsigned int from, unsigned int to)
{
	unsigned int node, least = UINT8_MAX;

	for (node = 0; node < nodes->nr; node++)
		if (nodes->memory[node] && nodes->distance[from][node] < least)
			least = nodes->distance[from][node];
	return from == to || nodes->distance[from][to] <= least;
}

static void judge(struct seen *seen, const struct accesses *accesses, const struct nodes *nodes)
{
	unsigned int from, to, i;

	for (from = 0; from < NODES_MAX; from++)
		for (to = 0; to < NODES_MAX; to++) {
			uint64_t samples = accesses->count[from][to];

			seen->samples += samples;
			seen->local.part += is_local(nodes, from, to) ? samples : 0;
			if (samples)
				seen->pairs[seen->nr_pairs++] = (struct pair){ .from = from, .to = to, .samples = samples };
		}
	seen->local.whole = seen->samples;
	for (i = 0; i < seen->nr_pairs; i++)
		seen->pairs[i].share = (struct share){ seen->pairs[i].samples, seen->samples };
	qsort(seen->pairs, seen->nr_pairs, sizeof(*seen->pairs), more_samples_first);
	find_imbalance(seen, accesses, nodes);
}

/* Nothing of it is left when this returns, or the program ends. */
static void sample(struct seen *seen, uint64_t ns, const struct nodes *nodes)
{
	const struct domain *domain = &seen->facts.domain;
	enum sampling_state state = SAMPLING_RUNS;
	static struct accesses accesses;
	uint64_t last = 0;
	struct pace pace;
	enum result result;

	seen->source = "xl";
	/* Before there is something that a signal would leave behind. */
	pace_begin(&pace, 0);
	atexit(sampling_end);
	result = sampling_begin(domain->id);
	if (result != RESULT_OK)
		refuse(result, domain);
	while (state == SAMPLING_RUNS && seen->elapsed < ns && !seen->signal) {
		seen->signal = pace_wait(&pace, ns - seen->elapsed < READ_NS ? ns - seen->elapsed : READ_NS);
		seen->elapsed = pace_elapsed(&pace);
		if (seen->elapsed - last > SAMPLING_GAP_NS) {
			sampling_give_up();
			die("this command stood still for %.0f s, in which Xen may have ended the sampling; repeat it",
			    (seen->elapsed - last) / 1e9);
		}
		last = seen->elapsed;
		result = sampling_read(&accesses, &state);
		if (result != RESULT_OK) {
			/* What has gone took the sampling with it. */
			if (result == RESULT_NO_DOMAIN)
				sampling_give_up();
			check_domain(result, domain, "sample");
		}
	}
	if (state == SAMPLING_ENDED) {
		sampling_give_up();
		die("somebody else has ended the sampling of VM '%s'; repeat the command", domain_name(domain));
	}
	sampling_end();
	if (state == SAMPLING_UNFIT)
		refuse(RESULT_REFUSED, domain);
	seen->complete = !seen->signal;
	judge(seen, &accesses, nodes);
}

/* False: it does not sample this one. */
static bool ask_daemon(struct seen *seen)
{
	struct watching watching = { 0 };
	const struct watched *watched;
	bool samples;

	carrefour_show(&watching);
	watched = carrefour_find(&watching, seen->facts.domain.id);
	samples = watched && !strcmp(watched->sampling, "runs");
	if (samples) {
		seen->source = "carrefourd";
		seen->complete = true;
		seen->elapsed = watching.period_ms * 1000000;
		seen->samples = watched->samples;
		if (watched->samples) {
			seen->local = (struct share){ watched->local, 1000 };
			seen->imbalance = (struct share){ watched->imbalance, 1000 };
		}
	}
	free(watching.watched);
	return samples;
}

/* By what was seen, if that is enough to go by. */
static void find_command(struct seen *seen, const struct nodes *nodes)
{
	struct facts *facts = &seen->facts;

	judge_locality(facts, NULL, nodes);
	if (!facts->has_fit)
		return;
	if (seen->samples >= SAMPLES_LEAST)
		facts->numa = (struct locality){ seen->local, false };
	seen->has_advice = find_advice(facts, nodes, seen->command, seen->why);
	seen->advice = seen->has_advice ? seen->command : NULL;
}

static void print_pairs(const struct seen *seen)
{
	struct table *table = table_of_fields("accesses", pair_fields, NR(pair_fields));
	bool all = output_format() != FORMAT_TABLE;
	unsigned int i;

	for (i = 0; i < seen->nr_pairs && (all || i < PAIRS_SHOWN); i++) {
		table_row(table);
		put_fields(table, pair_fields, NR(pair_fields), &seen->pairs[i]);
	}
	table_print(table, true);
	table_free(table);
	if (i < seen->nr_pairs)
		printf("and %u more pairs of nodes\n", seen->nr_pairs - i);
}

static void print_text(const struct seen *seen)
{
	char local[NUMBER_TEXT], imbalance[NUMBER_TEXT];
	bool by_daemon = !strcmp(seen->source, "carrefourd");

	printf("%s (id %u): %" PRIu64 " accesses sampled in %s%.1f s", domain_name(&seen->facts.domain), seen->facts.domain.id,
	       seen->samples, by_daemon ? "carrefourd's last period of " : "", seen->elapsed / 1e9);
	if (seen->local.whole)
		printf(", %s%% of them local", format_share(local, seen->local.part, seen->local.whole));
	if (seen->imbalance.whole)
		printf(", imbalance %s%%", format_share(imbalance, seen->imbalance.part, seen->imbalance.whole));
	putchar('\n');
	if (by_daemon)
		printf("carrefourd samples this VM, so that nobody else can: 'xl numa-policy explain %s' has more of it\n",
		       domain_argument(&seen->facts.domain));
	if (seen->samples < SAMPLES_LEAST)
		printf("That is too few to go by: let the VM work, or watch it for longer\n");
	if (seen->nr_pairs) {
		printf("\nFROM is the node of the CPU, TO that of the page:\n");
		print_pairs(seen);
	}
	if (seen->has_advice)
		printf("\nWhat repairs it:\n%s  # %s\n", seen->command, seen->why);
}

static void print(const struct seen *seen)
{
	struct table *table;

	if (output_format() == FORMAT_TABLE) {
		print_text(seen);
		return;
	}
	table = table_of_fields("domains", fields, NR(fields));
	table_row(table);
	put_fields(table, fields, NR(fields), seen);
	table_print(table, true);
	table_free(table);
	if (output_format() == FORMAT_RAW)
		putchar('\n');
	print_pairs(seen);
}

static uint64_t read_seconds(const char *word)
{
	unsigned long number = strtoul(word, NULL, 10);

	if (!*word || word[strspn(word, "0123456789")] || number < 1 || number > SECONDS_MOST)
		die_usage("watch", "'%s' is no number of seconds; give 1 to %d", word, SECONDS_MOST);
	return number;
}

static void run(const struct options *options, int argc, char **argv)
{
	static struct seen seen;
	struct facts *facts = &seen.facts;
	uint64_t seconds = argc > 1 ? read_seconds(argv[1]) : SECONDS;
	struct nodes nodes;

	find_guest(argv[0], &facts->domain);
	check(backend_nodes(&nodes), "ask for the NUMA nodes");
	check_domain(backend_get(facts->domain.id, &facts->policy), &facts->domain, "ask for the policy of");
	look_closely(facts);
	if (!ask_daemon(&seen))
		sample(&seen, seconds * SECOND, &nodes);
	find_command(&seen, &nodes);
	output_begin(options->format);
	print(&seen);
	output_end();
	if (seen.signal) {
		say("stopped by %s after %.1f of %" PRIu64 " s", signal_name(seen.signal), seen.elapsed / 1e9, seconds);
		exit(128 + seen.signal);
	}
	free(facts->domain.name);
}

static const struct option_spec options_watch[] = {
	OPTIONS_OF_OUTPUT,
	{ NULL }
};

const struct command cmd_watch = {
	.name = "watch",
	.arguments = "DOM [SECONDS]",
	.summary = "sample the accesses of a VM for some seconds",
	.options = options_watch,
	.help =
"Xen samples which CPUs access which pages of the VM, for 5 seconds or as many as\n"
"you give. Then the command says how many of the accesses were local, from which\n"
"node to which they went, and what would repair it. Nothing is left of it, also\n"
"when you stop it with Ctrl-C. It needs no carrefourd. If carrefourd samples the VM\n"
"already, the command says at once what that saw in its last period.\n"
"\n"
"Examples:\n"
"  xl numa-policy watch guest1\n"
"  xl numa-policy watch guest1 30\n"
"  xl numa-policy watch guest1 --json | jq '.domains[].local_percent'\n",
	.min_arguments = 1,
	.max_arguments = 2,
	.run = run,
};

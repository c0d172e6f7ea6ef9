/* What a subcommand is, and what the subcommands share. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>

#include "output.h"

struct options {
	enum format format;
	bool verbose;
	const char *nodes, *weights, *max_pause_us;	/* NULL if not given */
	struct dynamic dynamic;		/* +carrefour, -auto ... */
	bool rebalance, dry_run, quiet;
	uint64_t max_mb_per_s, seconds, count;	/* 0: not given */
};

struct command {
	const char *name;
	const char *arguments;
	const char *summary;
	const char *help;	/* what there is to say beyond the options, examples */
	bool sets_policy;	/* takes --nodes and the like, lists the policies */
	bool moves;		/* takes the options of moving memory */
	bool records, refreshes; /* takes --seconds; the latter --count, too */
	bool offline;		/* needs no Xen */
	int min_arguments, max_arguments;	/* max < 0: any number */
	/* Returns if all went well; argv holds the arguments alone. */
	void (*run)(const struct options *options, int argc, char **argv);
};

extern const struct command cmd_list, cmd_show, cmd_top, cmd_set, cmd_rebalance, cmd_where, cmd_explain, cmd_record,
	cmd_replay;

/* A domain that can have a policy; exits with the reason if it cannot. */
void find_guest(const char *which, struct domain *domain);

/* Exits with the reason if its memory cannot be moved whatever its policy is. */
void check_movable(const struct domain *domain);

/* Moves its memory and says what became of it; does not return when stopped. */
void rebalance(const struct options *options, const struct domain *domain);

/* What show says of a domain as a whole in RAW and JSON; set says it, too. */
void print_domain_row(const struct domain *domain, const struct policy *policy,
		      const struct usage *usage, const struct stats *stats);

/* True if the policy is one that places by home nodes and weights. */
bool policy_places(const struct policy *policy);
bool policy_same(const struct policy *a, const struct policy *b);
bool weights_equal(const struct policy *policy);
uint64_t usage_of_node(const struct usage *usage, unsigned int node);	/* bytes */
uint64_t usage_total(const struct usage *usage);
uint64_t usage_at_home(const struct usage *usage, const struct policy *policy);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recorded periods as text, a word after another, so that a trace can be read, cut and
 * written by hand. carrefour-replay(1) has the format.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "decide/decide.h"

#define TRACE_SAMPLES_MAX (1U << 20)	/* of a domain, in a period */
#define TRACE_DOMAINS_MAX 4096		/* in a period */
#define TRACE_VCPUS_MAX 8192
#define TRACE_POLICY_MAX 32
#define TRACE_PAGES_LEAST 1024
#define TRACE_PAGES_MAX 4194304

struct trace_domain {
	unsigned int id;
	char policy[TRACE_POLICY_MAX];	/* the static one, as xl.cfg names it */
	bool carrefour;			/* what was decided was done */
	uint32_t pages;			/* that could be remembered of it; 0: as the configuration says */
	struct input in;		/* points to what follows */
	struct sample *sample;
	uint64_t *matrix;
	uint8_t *vcpu_node;
	bool decided;			/* decisions were recorded, if only none */
	struct decision *decision;	/* action, why, gfn, order, from and to only */
	size_t nr_decisions, room_samples, room_decisions;
};

struct trace_period {
	uint64_t ns;
	int64_t accesses_per_us;	/* -1: unknown */
	uint64_t free[NODES_MAX];
	bool has_turn;
	uint64_t turn;			/* as host_turn() takes it; not known: as if there were no periods before the trace */
	struct trace_domain *domain;
	unsigned int nr;
};

struct trace {
	FILE *file;
	const char *name;
	struct config config;		/* what the trace was recorded with */
	unsigned int nr_nodes;
	struct topology topology;
	/* Of the reader. */
	unsigned int line;
	char *text, *first, *rest;	/* a line, its first word, what has not been taken yet */
	bool ahead;			/* that line is the next one, too */
	char error[600];		/* one line, with file and line */
};

/*
 * Reads what comes before the first period. False: trace->error. trace_close() in any case;
 * the file remains the caller's.
 */
bool trace_open(struct trace *trace, FILE *file, const char *name);
void trace_close(struct trace *trace);

/* 1: a period, to be freed; 0: the end; -1: trace->error. */
int trace_read(struct trace *trace, struct trace_period *period);
void trace_free(struct trace_period *period);

/* Writers; whether all was written ferror() tells. */
void trace_write_begin(FILE *file, const struct config *config, const struct host *host);
/* The lines of a period, and a domain in it: trace_write_period() is both, for all of its domains. */
void trace_write_head(FILE *file, unsigned int nr_nodes, const struct trace_period *period);
void trace_write_domain(FILE *file, unsigned int nr_nodes, const struct trace_domain *domain);
void trace_write_period(FILE *file, unsigned int nr_nodes, const struct trace_period *period);
void trace_write_end(FILE *file);

#endif

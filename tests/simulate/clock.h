/* SPDX-License-Identifier: GPL-2.0-only */
/* How long a guest's work takes where its memory is: numasim's model, of AMD48 or of what is like it with more CPUs a node. */
#ifndef SIMULATE_CLOCK_H
#define SIMULATE_CLOCK_H

struct clock;

/*
 * @cpus of each node work alike, each with @overlap misses at a time. With eight nodes the links are AMD48's, else each node
 * has one to each other. Controllers and links are of AMD48 for each of its 6 CPUs. Does not return without one.
 */
struct clock *clock_new(unsigned int nodes, unsigned int cpus, unsigned int overlap);
void clock_free(struct clock *clock);

struct pace {
	double cycles;	/* of the slowest node's CPUs */
	double link;	/* use of the busiest link, 0 to 1 */
};

/*
 * Of all CPUs of node a together: instructions[a], misses[a * nodes + node of the memory]; copied[a * nodes + b] are bytes that
 * others copy from a to b meanwhile.
 */
struct pace clock_pace(struct clock *clock, const double *instructions, const double *misses, const double *copied);

double clock_hz(const struct clock *clock);

#endif

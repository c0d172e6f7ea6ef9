/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPUs may have a line, so that what one writes is no more in the caches of the others.
 *
 * A CPU that drops a line by itself does not say so: a bit too many costs only a look.
 */
#ifndef NUMASIM_SHARING_H
#define NUMASIM_SHARING_H

#include "sim.h"

#define MAX_SHARERS MAX_COHERENT

struct sharing;

/* For lines below `lines` of these CPUs, at most MAX_SHARERS. */
struct sharing *sharing_new(uint64_t lines);
void sharing_free(struct sharing *sharing);
/* Nobody has anything. */
void sharing_clear(struct sharing *sharing);
void sharing_add(struct sharing *sharing, struct sim_cpu *cpu);

/*
 * A CPU reads or writes a line, of which its L1 knows by now.  Returns whether another CPU wrote it last; whatever that one
 * had, it has no more after a write, and clean after a read.  Called by the CPU's own thread.
 */
bool sharing_read(struct sharing *sharing, struct sim_cpu *cpu, uint32_t line);
bool sharing_write(struct sharing *sharing, struct sim_cpu *cpu, uint32_t line);
/* It wrote past all caches. */
void sharing_stream(struct sharing *sharing, struct sim_cpu *cpu, uint32_t line);

#endif

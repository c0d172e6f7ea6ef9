/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's own parts, and what it offers to its programs beside platform.h. */
#ifndef SMP_GUEST_H
#define SMP_GUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform.h"

struct hvm_start_info;

void start_console(void);
void start_memory(const struct hvm_start_info *start);
void start_vcpus(void);

/* Of the vCPU that asks, on which exceptions are caught from then on. */
void set_this_cpu(long cpu);
void catch_exceptions(void);

static inline long this_cpu(void)
{
	long cpu;

	__asm__ volatile("mov %%gs:0, %0" : "=r"(cpu));
	return cpu;
}

void write_console(const char *text, size_t length);
void wait_written(void);

/* The guest ends as one that has crashed; these are its last words, for its console and for Xen's. */
void crash(const char *why) __attribute__((noreturn));

/* Whether a line has come from the console, which is gone then. */
bool line_came(void);

/* The least of what each vCPU has done. */
unsigned int slowest(const atomic_uint passes[]);

/* Waits until each vCPU is there. */
void meet(void);

/* The vCPU goes, and does not come back. */
void leave(void) __attribute__((noreturn));

#endif

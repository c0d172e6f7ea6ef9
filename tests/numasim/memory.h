/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine's memory, as far as page tables are read in it: where the emulator has each MiB. */
#ifndef NUMASIM_MEMORY_H
#define NUMASIM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"

#define MIB_SHIFT 20
#define MIB_MASK ((UINT64_C(1) << MIB_SHIFT) - 1)

struct memory {
	uint64_t mibs;
	const uint8_t *mib[];	/* NULL: no memory */
};

struct memory *memory_new(uint64_t mibs);
/* Finds the memory of all nodes in this process; returns NULL, or why it is not there, to be freed with g_free(). */
char *memory_attach(struct memory *memory, const struct machine *machine);

/* Eight bytes at a machine address, a multiple of eight; false: there is no memory. */
static inline bool memory_read(const struct memory *memory, uint64_t address, uint64_t *value)
{
	const uint8_t *mib = address >> MIB_SHIFT < memory->mibs ? memory->mib[address >> MIB_SHIFT] : NULL;

	if (!mib)
		return false;
	/* CPUs that are emulated meanwhile may write it */
	*value = __atomic_load_n((const uint64_t *)(mib + (address & MIB_MASK)), __ATOMIC_RELAXED);
	return true;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What a VM could change to: another home, with its memory or without, and what that needs. */
#ifndef HEAL_CHANGE_H
#define HEAL_CHANGE_H

#include "heal/worth.h"

/* A bit for each group that has more than a trifle of its memory. */
uint64_t heal_spans(const struct heal_state *state, unsigned int vm);
/* So many groups it needs by its size, on a host without others. */
unsigned int heal_needs(const struct heal_state *state, unsigned int vm);
/* Cores for all of its vCPUs, and for the work there when it is as busy as it ever was; @vm is there already. */
bool heal_cores_do(const struct heal_state *state, unsigned int vm, uint64_t home);

/* Bytes that its memory on @home lacks of room there; 0: it fits. */
uint64_t heal_lacks(const struct heal_state *state, unsigned int vm, uint64_t home);
/* Its memory evenly on @home, as far as there is room, for at most @most bytes that move; *bytes: those that do. */
struct heal_place heal_gathered(const struct heal_state *state, unsigned int vm, uint64_t home, uint64_t most, uint64_t *bytes);
/* The same memory, with another home. */
struct heal_place heal_following(const struct heal_state *state, unsigned int vm, uint64_t home);

/* @size groups that have CPUs, @first among them, the others those with most of its memory, and then with most room. */
uint64_t heal_set(const struct heal_state *state, unsigned int vm, unsigned int first, unsigned int size);

#endif

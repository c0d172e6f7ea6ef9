/* SPDX-License-Identifier: GPL-2.0-only */
/* A host of VMs for tests of heal. */
#ifndef HEAL_HOST_H
#define HEAL_HOST_H

#include "chance.h"
#include "heal/heal.h"

#define GIB (1024 * MIB)
#define HOUR (3600000 * MS)
#define VMS 64

extern struct heal_vm vm[VMS];
extern struct heal_host host;
extern struct heal_plan plan;
extern struct topology topology;

/* Nodes of 64 GiB, with 16 cores of two threads each, and no VM. */
void begin(unsigned int nodes);
/* Old, busy with two of four vCPUs, and without memory. */
struct heal_vm *add(uint64_t affinity);
void has(struct heal_vm *v, unsigned int node, uint64_t bytes);
/* 4 GiB on each of nodes 0 and 1. */
struct heal_vm *spread(void);
/* To plan, which is the caller's to free. */
void decide_all(void);

#endif

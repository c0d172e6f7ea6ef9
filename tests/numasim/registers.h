/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * By which page tables each CPU translates, as far as a plugin can know.
 *
 * QEMU tells a plugin CR3, but not whether a guest of SVM runs, and by which nested tables.  So VMRUN is watched, which says
 * where the guest's control block is, and the instruction behind it, where each exit arrives.  Registers are read anew when
 * they may have changed.
 */
#ifndef NUMASIM_REGISTERS_H
#define NUMASIM_REGISTERS_H

#include <qemu-plugin.h>

#include "machine.h"
#include "walk.h"

struct registers {
	struct paging now;		/* but if: */
	bool stale;
	bool guest;			/* a VMRUN has not come back */
	uint64_t vmcb;			/* of that, by machine address */
};
extern struct registers registers[MAX_CPUS];

/* When the plugin is installed. */
void registers_init(qemu_plugin_id_t id);
/* As a region begins; returns NULL, or why nothing will be known. */
const char *registers_begin(const struct memory *memory);
/* Of each block, in regions (`inside`) and out of them. */
void registers_watch(struct qemu_plugin_tb *tb, bool inside);
/* Is it a VMRUN?  What it accesses, it does half in one world and half in the other, so no access of it may come to be seen. */
bool registers_vmrun(const struct qemu_plugin_insn *insn);
/* Reads them, by the CPU's own thread. */
void registers_read(struct registers *of);

#endif

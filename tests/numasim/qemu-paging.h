/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tests/boot/qemu/plugin-paging.patch adds to QEMU for plugins, as that says it, and what the registers hold.  Debian's QEMU
 * has none of it: then these functions are NULL.
 */
#ifndef QEMU_PAGING_H
#define QEMU_PAGING_H

#include <stdbool.h>
#include <stdint.h>

#define CR0_PG (UINT64_C(1) << 31)
#define CR4_LA57 (1u << 12)
#define EFER_LMA (1u << 10)

struct qemu_plugin_x86_paging {
	const uint64_t *cr0, *cr3, *cr4, *efer, *nested_cr3;
	const uint32_t *flags;
	uint32_t nested;
};

__attribute__((weak)) bool qemu_plugin_x86_paging(unsigned int vcpu_index, struct qemu_plugin_x86_paging *paging);
__attribute__((weak)) void *qemu_plugin_machine_memory(uint64_t address, uint64_t *length);

#endif

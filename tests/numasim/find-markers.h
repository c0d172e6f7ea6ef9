/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a plugin of QEMU's translator finds the markers of tests/bench/programs/marker.h: ID << 1 | (1 at the end of a region). */
#ifndef FIND_MARKERS_H
#define FIND_MARKERS_H

#include <glib.h>
#include <stdint.h>
#include <string.h>

#include <qemu-plugin.h>

#define MARKER 0x584e0000u
#define MARKER_SIZE 7
#define IS_END 1u

/* Has each marker of a block call on_marker, with what it says, as it is executed. */
static void find_markers(struct qemu_plugin_tb *tb, size_t instructions, qemu_plugin_vcpu_udata_cb_t on_marker)
{
	static const uint8_t nopl_rax[] = { 0x0f, 0x1f, 0x80 };

	for (size_t i = 0; i < instructions; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint8_t bytes[MARKER_SIZE];
		uint32_t displacement;

		if (qemu_plugin_insn_size(insn) != MARKER_SIZE ||
		    qemu_plugin_insn_data(insn, bytes, MARKER_SIZE) != MARKER_SIZE ||
		    memcmp(bytes, nopl_rax, sizeof(nopl_rax)))
			continue;
		memcpy(&displacement, bytes + sizeof(nopl_rax), sizeof(displacement));
		if ((displacement & 0xffff0000u) == MARKER)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker, QEMU_PLUGIN_CB_NO_REGS,
							       GUINT_TO_POINTER(displacement & 0xffffu));
	}
}

#endif

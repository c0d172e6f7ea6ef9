/* SPDX-License-Identifier: GPL-2.0-only */
/* Control registers, VMRUN and exits. */
#include <glib.h>
#include <string.h>

#include "registers.h"

#define CR0_PG (UINT64_C(1) << 31)
#define CR4_LA57 (UINT64_C(1) << 12)
#define EFER_LMA (UINT64_C(1) << 10)
/* of a VMCB: AMD64 Architecture Programmer's Manual, volume 2, appendix B */
#define NESTED_CONTROL 0x90
#define NESTED_ENABLED 1u
#define NESTED_CR3 0xb0
#define MAX_VMRUNS 16u		/* in the code of all that has been translated */

struct registers registers[MAX_CPUS];

enum name { RAX, CR0, CR3, CR4, EFER, NAMES };
static const char *const names[NAMES] = { "rax", "cr0", "cr3", "cr4", "efer" };
static struct qemu_plugin_register *handle[NAMES];
static const struct memory *memory;
static uint64_t behind[MAX_VMRUNS];	/* the instruction after each VMRUN */
static unsigned int vmruns;

static uint64_t read_register(enum name name)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	uint64_t value = 0;
	int size = qemu_plugin_read_register(handle[name], bytes);

	if (size > 0)
		memcpy(&value, bytes->data, MIN((size_t)size, sizeof(value)));
	return value;
}

static void on_vcpu(qemu_plugin_id_t id, unsigned int vcpu)
{
	g_autoptr(GArray) all = qemu_plugin_get_registers();

	(void)id;
	/* all CPUs have the same */
	for (unsigned int i = 0; i < all->len && !vcpu; i++) {
		const qemu_plugin_reg_descriptor *one = &g_array_index(all, qemu_plugin_reg_descriptor, i);

		for (enum name name = 0; name < NAMES; name++)
			if (!strcmp(one->name, names[name]))
				handle[name] = one->handle;
	}
}

void registers_init(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
}

const char *registers_begin(const struct memory *tables)
{
	memory = tables;
	for (unsigned int cpu = 0; cpu < MAX_CPUS; cpu++)
		registers[cpu].stale = true;
	for (enum name name = 0; name < NAMES; name++)
		if (!handle[name])
			return "this QEMU does not tell the registers of paging";
	if (vmruns > MAX_VMRUNS)
		return "there are too many VMRUNs";
	return NULL;
}

static void on_vmrun(unsigned int vcpu, void *data)
{
	(void)data;
	registers[vcpu] = (struct registers){ .stale = true, .guest = true, .vmcb = read_register(RAX) };
}

static void on_exit_of_guest(unsigned int vcpu, void *data)
{
	(void)data;
	registers[vcpu].guest = false;
	registers[vcpu].stale = true;
}

static void on_change(unsigned int vcpu, void *data)
{
	(void)data;
	registers[vcpu].stale = true;
}

/* 0F 22: MOV to a control register; a prefix may be before it. */
static bool writes_control_register(const uint8_t *bytes, size_t size)
{
	return (size == 3 && bytes[0] == 0x0f && bytes[1] == 0x22) || (size == 4 && bytes[1] == 0x0f && bytes[2] == 0x22);
}

static void know(uint64_t address)
{
	for (unsigned int i = 0; i < MIN(vmruns, MAX_VMRUNS); i++)
		if (behind[i] == address)
			return;
	if (vmruns < MAX_VMRUNS)
		behind[vmruns] = address;
	vmruns++;
}

bool registers_vmrun(const struct qemu_plugin_insn *insn)
{
	static const uint8_t vmrun[] = { 0x0f, 0x01, 0xd8 };
	uint8_t bytes[sizeof(vmrun)];

	return qemu_plugin_insn_size(insn) == sizeof(vmrun) &&
		qemu_plugin_insn_data(insn, bytes, sizeof(bytes)) == sizeof(bytes) && !memcmp(bytes, vmrun, sizeof(vmrun));
}

void registers_watch(struct qemu_plugin_tb *tb, bool inside)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		size_t size = qemu_plugin_insn_size(insn);
		uint8_t bytes[4];

		for (unsigned int k = 0; k < MIN(vmruns, MAX_VMRUNS); k++)
			if (behind[k] == address)
				qemu_plugin_register_vcpu_insn_exec_cb(insn, on_exit_of_guest, QEMU_PLUGIN_CB_NO_REGS, NULL);
		if (registers_vmrun(insn)) {
			know(address + size);
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_vmrun, QEMU_PLUGIN_CB_R_REGS, NULL);
		}
		if (!inside || size > sizeof(bytes) || qemu_plugin_insn_data(insn, bytes, size) != size)
			continue;
		if (writes_control_register(bytes, size))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_change, QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static uint64_t of_vmcb(const struct registers *r, unsigned int offset)
{
	uint64_t value = 0;

	memory_read(memory, r->vmcb + offset, &value);
	return value;
}

void registers_read(struct registers *r)
{
	uint64_t cr3 = read_register(CR3) & FRAME;

	r->now.paged = read_register(CR0) & CR0_PG;
	/* long mode with four levels is all that is walked */
	if (r->now.paged && (!(read_register(EFER) & EFER_LMA) || read_register(CR4) & CR4_LA57))
		cr3 = NO_TABLE;
	r->now.root = cr3;
	r->now.nested_root = NOT_NESTED;
	if (r->guest && of_vmcb(r, NESTED_CONTROL) & NESTED_ENABLED)
		r->now.nested_root = of_vmcb(r, NESTED_CR3) & FRAME;
	r->stale = false;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU TCG plugin: for how many instructions a CPU of Xen holds a lock of the p2m, and does not look for softirqs.
 *
 *   -plugin hold.so,out=FILE,exit=ADDRESS,entry=ADDRESS,level=ADDRESS,offsets=ADDRESS,pending=ADDRESS,flush=ADDRESS
 *                   [,softirq=FROM-TO…][,wait=FROM-TO…]
 *
 * Locks are known by mm_lock_level, which Xen keeps for each CPU (level=, where __per_cpu_offset is added, which is offsets=):
 * it rises when one is taken, and falls back when that is given up.  A look for softirqs is a load of irq_stat[cpu] (pending=)
 * that is no part of a change.  What begins in Xen after a VM exit of a guest (exit=) counts, until the next VM entry, or until
 * softirqs run (softirq=).  What a CPU executes where it waits for others (wait=) does not count.  Calls of flush= are counted.
 *
 * Regions are marked as for ../create_cost/count.c, and reported as lines of JSON, too.
 */
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <qemu-plugin.h>

#include "../../numasim/find-markers.h"

#define XEN_AREA 0xffff82d000000000u		/* 512 GiB that belong to Xen; its text is a part */
#define XEN_AREA_END 0xffff830000000000u
#define HYPERVISOR_VIRT_START 0xffff800000000000u
#define CPUS_MAX 64u
#define DEPTH_MAX 8u
#define PAGE_MASK 0xfffu
#define IRQ_STAT_SIZE 128u			/* SMP_CACHE_BYTES */
#define NOBODY UINT32_MAX

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* What is looked at, and of locks the level: xen/arch/x86/mm/mm-locks.h.  A control domain's have another one. */
enum what { P2M, POD, STRETCH, WHATS };
static const char *const names[] = { [P2M] = "p2m", [POD] = "pod", [STRETCH] = "stretch" };
static const uint32_t levels[] = { [P2M] = 16, [POD] = 48 };

struct begin {
	uint64_t instructions, flushes, at;
	uint32_t level;
};

struct longest {
	uint64_t number, instructions, flushes, from, to;
};

static struct cpu {
	bool open;				/* since a VM exit */
	unsigned int depth;
	struct begin held[DEPTH_MAX];
	struct begin stretch, stretch_before;
	struct longest longest[WHATS];
} cpus[CPUS_MAX];

struct range {
	uint64_t from, to;
};

struct ranges {
	unsigned int number;
	struct range range[64];
};

static struct ranges waits, softirqs;
static uint64_t vm_exit, vm_entry, level, offsets, pending, flush;
static uint64_t level_of[CPUS_MAX];
static unsigned int levels_known;
static struct qemu_plugin_scoreboard *counters;		/* of struct counts */
static GMutex lock;
static unsigned int region = NOBODY;
static const char *wrong;
static FILE *out;

struct counts {
	uint64_t instructions, flushes;
};

static qemu_plugin_u64 instructions_of(void)
{
	return (qemu_plugin_u64){ counters, offsetof(struct counts, instructions) };
}

static qemu_plugin_u64 flushes_of(void)
{
	return (qemu_plugin_u64){ counters, offsetof(struct counts, flushes) };
}

static bool is_in(const struct ranges *ranges, uint64_t address)
{
	for (unsigned int i = 0; i < ranges->number; i++)
		if (address >= ranges->range[i].from && address < ranges->range[i].to)
			return true;
	return false;
}

static struct begin now(unsigned int vcpu, uint64_t at)
{
	return (struct begin){ qemu_plugin_u64_get(instructions_of(), vcpu), qemu_plugin_u64_get(flushes_of(), vcpu), at, 0 };
}

static void ended(unsigned int vcpu, enum what what, const struct begin *begin, uint64_t at)
{
	struct longest *longest = &cpus[vcpu].longest[what];
	struct begin end = now(vcpu, at);

	longest->number++;
	if (end.instructions - begin->instructions <= longest->instructions)
		return;
	longest->instructions = end.instructions - begin->instructions;
	longest->flushes = end.flushes - begin->flushes;
	longest->from = begin->at;
	longest->to = at;
}

static void on_level(unsigned int vcpu, uint32_t value, uint64_t at)
{
	struct cpu *cpu = &cpus[vcpu];

	while (cpu->depth && cpu->held[cpu->depth - 1].level > value) {
		const struct begin *begin = &cpu->held[--cpu->depth];

		for (enum what what = P2M; what <= POD; what++)
			if (cpu->open && begin->level == levels[what])
				ended(vcpu, what, begin, at);
	}
	if (!value || (cpu->depth && cpu->held[cpu->depth - 1].level == value))
		return;
	if (cpu->depth == DEPTH_MAX) {
		wrong = "locks are taken without end";
		return;
	}
	cpu->held[cpu->depth] = now(vcpu, at);
	cpu->held[cpu->depth++].level = value;
}

static void on_look(unsigned int vcpu, uint64_t at)
{
	struct cpu *cpu = &cpus[vcpu];

	if (!cpu->open)
		return;
	if (is_in(&softirqs, at)) {
		cpu->open = false;
		return;
	}
	ended(vcpu, STRETCH, &cpu->stretch, at);
	cpu->stretch_before = cpu->stretch;
	cpu->stretch = now(vcpu, at);
}

/* A load that is part of a change was no look. */
static void on_change(unsigned int vcpu, uint64_t at)
{
	struct cpu *cpu = &cpus[vcpu];

	if (cpu->open && cpu->stretch.at == at)
		cpu->stretch = cpu->stretch_before;
}

static void add_cpu(uint64_t offset)
{
	uint64_t address = level + offset;

	g_mutex_lock(&lock);
	/* what a CPU that is not there has is no address */
	if (levels_known < CPUS_MAX && address >= HYPERVISOR_VIRT_START)
		level_of[levels_known++] = address;
	g_mutex_unlock(&lock);
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	uint64_t at = (uintptr_t)data;
	bool is_store = qemu_plugin_mem_is_store(info);

	if (is_store && (address & PAGE_MASK) == (level & PAGE_MASK)) {
		for (unsigned int i = 0; i < levels_known; i++)
			if (level_of[i] == address)
				on_level(vcpu, qemu_plugin_mem_get_value(info).data.u32, at);
	} else if (is_store && address - offsets < CPUS_MAX * sizeof(uint64_t)) {
		add_cpu(qemu_plugin_mem_get_value(info).data.u64);
	} else if (address - pending < CPUS_MAX * IRQ_STAT_SIZE && !((address - pending) % IRQ_STAT_SIZE)) {
		if (is_store)
			on_change(vcpu, at);
		else
			on_look(vcpu, at);
	}
}

static void on_vm_exit(unsigned int vcpu, void *data)
{
	cpus[vcpu].open = true;
	cpus[vcpu].stretch = now(vcpu, (uintptr_t)data);
	/* what Xen did for others on this CPU may have ended otherwise */
	cpus[vcpu].depth = 0;
}

static void on_vm_entry(unsigned int vcpu, void *data)
{
	struct cpu *cpu = &cpus[vcpu];

	if (cpu->open)
		ended(vcpu, STRETCH, &cpu->stretch, (uintptr_t)data);
	if (cpu->depth)
		wrong = "a guest is entered with a lock held";
	cpu->open = false;
}

static void print(enum what what)
{
	struct longest all = { 0 };

	for (int vcpu = 0; vcpu < qemu_plugin_num_vcpus(); vcpu++) {
		const struct longest *one = &cpus[vcpu].longest[what];
		uint64_t number = all.number + one->number;

		if (one->instructions > all.instructions)
			all = *one;
		all.number = number;
	}
	fprintf(out, ", \"%s\": {\"number\": %" PRIu64 ", \"instructions\": %" PRIu64 ", \"flushes\": %" PRIu64
		", \"from\": %" PRIu64 ", \"to\": %" PRIu64 "}", names[what], all.number, all.instructions, all.flushes, all.from, all.to);
}

static void on_marker(unsigned int vcpu, void *data)
{
	unsigned int marker = GPOINTER_TO_UINT(data), id = marker >> 1;

	(void)vcpu;
	g_mutex_lock(&lock);
	if (marker & IS_END) {
		if (id != region)
			wrong = "a region ends that did not begin";
		if (wrong)
			fprintf(out, "{\"error\": \"region %u: %s\"}\n", id, wrong);
		else {
			fprintf(out, "{\"region\": %u", id);
			for (enum what what = 0; what < WHATS; what++)
				print(what);
			fputs("}\n", out);
		}
		region = NOBODY;
		fflush(out);
	} else {
		if (region != NOBODY)
			wrong = "a region begins inside another";
		region = id;
		for (unsigned int i = 0; i < CPUS_MAX; i++)
			memset(cpus[i].longest, 0, sizeof(cpus[i].longest));
	}
	g_mutex_unlock(&lock);
}

/* rep stos and the like: a store is as much as an instruction. */
static bool is_repeated(const uint8_t *bytes, size_t size)
{
	bool rep = false;
	size_t i = 0;

	for (; i < size && (bytes[i] == 0xf2 || bytes[i] == 0xf3 || bytes[i] == 0x66 || (bytes[i] & 0xf0) == 0x40); i++)
		rep |= bytes[i] == 0xf2 || bytes[i] == 0xf3;
	return rep && i < size && (bytes[i] == 0xa4 || bytes[i] == 0xa5 || bytes[i] == 0xaa || bytes[i] == 0xab);
}

static void translate_xen(struct qemu_plugin_tb *tb, size_t instructions)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);

	if (!is_in(&waits, address))
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, instructions_of(), instructions);
	/* who is called begins a block */
	if (address == flush)
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, flushes_of(), 1);
	for (size_t i = 0; i < instructions; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		void *at = (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn);
		uint8_t bytes[16];
		size_t size = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));

		if ((uintptr_t)at == vm_exit)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_vm_exit, QEMU_PLUGIN_CB_NO_REGS, at);
		else if ((uintptr_t)at == vm_entry)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_vm_entry, QEMU_PLUGIN_CB_NO_REGS, at);
		if (is_repeated(bytes, size))
			qemu_plugin_register_vcpu_mem_inline_per_vcpu(insn, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_INLINE_ADD_U64,
								      instructions_of(), 1);
		else
			qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, at);
	}
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);

	(void)id;
	if (address >= XEN_AREA && address < XEN_AREA_END)
		translate_xen(tb, qemu_plugin_tb_n_insns(tb));
	else
		find_markers(tb, qemu_plugin_tb_n_insns(tb), on_marker);
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	if (region != NOBODY)
		fprintf(out, "{\"error\": \"region %u has no end\"}\n", region);
	fclose(out);
}

static bool add_range(struct ranges *ranges, const char *text)
{
	unsigned int i = ranges->number++;
	char *end;

	if (i >= G_N_ELEMENTS(ranges->range))
		return false;
	ranges->range[i].from = g_ascii_strtoull(text, &end, 0);
	ranges->range[i].to = *end == '-' ? g_ascii_strtoull(end + 1, NULL, 0) : 0;
	return ranges->range[i].from < ranges->range[i].to;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	static const struct { const char *name; uint64_t *address; } addresses[] = {
		{ "exit=", &vm_exit }, { "entry=", &vm_entry }, { "level=", &level }, { "offsets=", &offsets },
		{ "pending=", &pending }, { "flush=", &flush },
	};
	bool right = info->system_emulation && info->system.max_vcpus <= (int)CPUS_MAX;
	const char *path = NULL;

	for (int i = 0; i < argc; i++) {
		for (size_t j = 0; j < G_N_ELEMENTS(addresses); j++)
			if (g_str_has_prefix(argv[i], addresses[j].name))
				*addresses[j].address = g_ascii_strtoull(argv[i] + strlen(addresses[j].name), NULL, 0);
		if (g_str_has_prefix(argv[i], "out="))
			path = argv[i] + strlen("out=");
		else if (g_str_has_prefix(argv[i], "softirq="))
			right &= add_range(&softirqs, argv[i] + strlen("softirq="));
		else if (g_str_has_prefix(argv[i], "wait="))
			right &= add_range(&waits, argv[i] + strlen("wait="));
	}
	for (size_t j = 0; j < G_N_ELEMENTS(addresses); j++)
		right &= !!*addresses[j].address;
	if (!right || !path) {
		fputs("hold.so: needs out=FILE, and addresses: see hold.c\n", stderr);
		return -1;
	}
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		return -1;
	}
	/* the first CPU's is where it is linked */
	add_cpu(0);
	counters = qemu_plugin_scoreboard_new(sizeof(struct counts));
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU TCG plugin: how often each of Xen's translation blocks is executed between two markers.
 *
 *   -plugin count.so,out=FILE,start=ADDRESS,end=ADDRESS      addresses of Xen's text
 *                    [,exit=ADDRESS,entry=ADDRESS,sleep=ADDRESS+ADDRESS…,kind=…,kind=…][,idle=FROM-TO…]
 *
 * A marker is `nopl DISP(%rax)` executed anywhere below Xen, DISP = 0x584e0000 | ID << 1 | (1 at the end of a region).
 * At the end of a region one line of JSON is appended to FILE; what is wrong with the markers gives a line with "error".
 *
 * Every block has one counter a vCPU (QEMU's word for what is a CPU to Xen), added to inline by the translated code, all
 * the time: a region is the difference of two readings.  A block counts as all its instructions, although a fault in the
 * middle ends it early, and a repeated string instruction counts once, however long the string is.
 *
 * With the others given, spans are counted, too: all that a CPU executes in Xen from a VM exit to the next VM entry, if it
 * came through a function of one of the kinds.  A kind is a list of addresses where functions begin; in those of sleep= a CPU
 * goes to sleep, which ends a span, and begins the next one.  What lies in an idle range is not counted in spans.
 */
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qemu-plugin.h>

#include "../../numasim/find-markers.h"

#define SLOTS (1u << 17)
#define XEN_AREA 0xffff82d000000000u	/* 512 GiB that belong to Xen; its text is a part */
#define XEN_AREA_END 0xffff830000000000u

#define KINDS_MAX 2u
#define MASKS (1u << KINDS_MAX)
#define SLEEP MASKS		/* among the kinds' bits */

/*
 * The first slots count instructions, by where they are; then of spans that came through these kinds (a mask) instructions and
 * how many there were; the others count executions of a block.
 */
enum { USER, KERNEL, XEN_OTHER, XEN_BUSY, SPANS, FIRST_BLOCK = SPANS + 2 * MASKS };

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct block {
	uint64_t address;
	uint32_t instructions;
};

static struct block blocks[SLOTS];
static unsigned int used = FIRST_BLOCK;
static bool full;
static GHashTable *slot_of;	/* a block's struct -> slot */
static GMutex lock;
static struct qemu_plugin_scoreboard *counters;
static uint64_t *before;	/* what the counters were when the region began, a vCPU after the other */
static gint64 began;		/* by the host's clock, us */
static unsigned int region = UINT32_MAX;
static uint64_t xen_start, xen_end;
static FILE *out;

static struct {
	uint64_t exit, entry;		/* instructions */
	unsigned int kinds, idles;
	GHashTable *kind_of;		/* address -> bit */
	struct { uint64_t from, to; } idle[256];
} spans;
static struct span {
	bool open;
	unsigned int mask;
	uint64_t begin;			/* XEN_BUSY at the exit */
} span_of[64];				/* by vCPU */

static guint block_hash(gconstpointer key)
{
	const struct block *block = key;

	return (guint)(block->address * 31 + block->instructions);
}

static gboolean block_equal(gconstpointer a, gconstpointer b)
{
	const struct block *x = a, *y = b;

	return x->address == y->address && x->instructions == y->instructions;
}

static qemu_plugin_u64 counter(unsigned int slot)
{
	return (qemu_plugin_u64){ counters, slot * sizeof(uint64_t) };
}

static uint64_t since(unsigned int slot, int vcpu)
{
	return qemu_plugin_u64_get(counter(slot), vcpu) - before[(size_t)vcpu * SLOTS + slot];
}

static void print_counts(unsigned int slot)
{
	for (int vcpu = 0; vcpu < qemu_plugin_num_vcpus(); vcpu++)
		fprintf(out, "%s%" PRIu64, vcpu ? "," : "", since(slot, vcpu));
}

static void print_spans(void)
{
	fputs(", \"spans\": [", out);
	for (unsigned int mask = 1; spans.exit && mask < 1u << spans.kinds; mask++) {
		fprintf(out, "%s[%u,[", mask > 1 ? "," : "", mask);
		print_counts(SPANS + 2 * mask);
		fputs("],[", out);
		print_counts(SPANS + 2 * mask + 1);
		fputs("]]", out);
	}
	fputs("]", out);
}

static void region_begin(unsigned int id)
{
	int vcpus = qemu_plugin_num_vcpus();

	if (region != UINT32_MAX)
		fprintf(out, "{\"error\": \"region %u begins inside region %u\"}\n", id, region);
	region = id;
	began = g_get_monotonic_time();
	before = g_realloc_n(before, (size_t)vcpus * SLOTS, sizeof(*before));
	for (int vcpu = 0; vcpu < vcpus; vcpu++)
		for (unsigned int slot = 0; slot < SLOTS; slot++)
			before[(size_t)vcpu * SLOTS + slot] = qemu_plugin_u64_get(counter(slot), vcpu);
}

static void region_end(unsigned int id)
{
	static const char *const ranges[] = { [USER] = "user", [KERNEL] = "kernel", [XEN_OTHER] = "xen_other" };
	const char *comma = "";

	if (id != region) {
		fprintf(out, "{\"error\": \"region %u ends, but did not begin\"}\n", id);
	} else if (full) {
		fprintf(out, "{\"error\": \"more than %u blocks\"}\n", SLOTS);
	} else {
		fprintf(out, "{\"region\": %u, \"seconds\": %.3f", id, (g_get_monotonic_time() - began) / 1e6);
		for (unsigned int slot = 0; slot < XEN_BUSY; slot++) {
			fprintf(out, ", \"%s\": [", ranges[slot]);
			print_counts(slot);
			fputs("]", out);
		}
		print_spans();
		fputs(", \"blocks\": [", out);
		for (unsigned int slot = FIRST_BLOCK; slot < used; slot++) {
			bool ran = false;

			for (int vcpu = 0; vcpu < qemu_plugin_num_vcpus(); vcpu++)
				ran |= since(slot, vcpu) != 0;
			if (!ran)
				continue;
			fprintf(out, "%s[%" PRIu64 ",%" PRIu32 ",[", comma, blocks[slot].address, blocks[slot].instructions);
			print_counts(slot);
			fputs("]]", out);
			comma = ",";
		}
		fputs("]}\n", out);
	}
	region = UINT32_MAX;
	fflush(out);
}

static void on_marker(unsigned int vcpu, void *data)
{
	unsigned int marker = GPOINTER_TO_UINT(data);

	(void)vcpu;
	g_mutex_lock(&lock);
	if (marker & IS_END)
		region_end(marker >> 1);
	else
		region_begin(marker >> 1);
	g_mutex_unlock(&lock);
}

static void end_span(unsigned int vcpu)
{
	struct span *span = &span_of[vcpu];
	unsigned int slot = SPANS + 2 * span->mask;

	if (span->open && span->mask) {
		qemu_plugin_u64_add(counter(slot), vcpu, qemu_plugin_u64_get(counter(XEN_BUSY), vcpu) - span->begin);
		qemu_plugin_u64_add(counter(slot + 1), vcpu, 1);
	}
	span->open = false;
}

static void begin_span(unsigned int vcpu)
{
	span_of[vcpu] = (struct span){ .open = true, .begin = qemu_plugin_u64_get(counter(XEN_BUSY), vcpu) };
}

static void on_vm_exit(unsigned int vcpu, void *data)
{
	(void)data;
	begin_span(vcpu);
}

static void on_vm_entry(unsigned int vcpu, void *data)
{
	(void)data;
	end_span(vcpu);
}

static void on_kind(unsigned int vcpu, void *data)
{
	unsigned int kind = GPOINTER_TO_UINT(data);

	if (kind != SLEEP) {
		span_of[vcpu].mask |= kind;
	} else if (span_of[vcpu].open) {
		end_span(vcpu);
		begin_span(vcpu);
	}
}

/* Where spans begin, end and get their kinds. */
static void watch_spans(struct qemu_plugin_tb *tb, uint64_t address, size_t instructions)
{
	gpointer kind = g_hash_table_lookup(spans.kind_of, &address);
	bool idle = false;

	for (unsigned int i = 0; i < spans.idles; i++)
		idle |= address >= spans.idle[i].from && address < spans.idle[i].to;
	if (!idle)
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, counter(XEN_BUSY), instructions);
	/* who is called begins a block */
	if (kind)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_kind, QEMU_PLUGIN_CB_NO_REGS, kind);
	for (size_t i = 0; i < instructions; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t at = qemu_plugin_insn_vaddr(insn);

		if (at == spans.exit)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_vm_exit, QEMU_PLUGIN_CB_NO_REGS, NULL);
		else if (at == spans.entry)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_vm_entry, QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static unsigned int find_slot(uint64_t address, size_t instructions)
{
	struct block wanted = { address, instructions };
	gpointer found;
	unsigned int slot = XEN_OTHER;

	g_mutex_lock(&lock);
	if (g_hash_table_lookup_extended(slot_of, &wanted, NULL, &found)) {
		slot = GPOINTER_TO_UINT(found);
	} else if (used == SLOTS) {
		full = true;
	} else {
		slot = used++;
		blocks[slot] = wanted;
		g_hash_table_insert(slot_of, &blocks[slot], GUINT_TO_POINTER(slot));
	}
	g_mutex_unlock(&lock);
	return slot;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	size_t instructions = qemu_plugin_tb_n_insns(tb);
	unsigned int slot;

	(void)id;
	if (address >= xen_start && address < xen_end) {
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64,
								  counter(find_slot(address, instructions)), 1);
		if (spans.exit)
			watch_spans(tb, address, instructions);
		return;
	}
	if (address >= XEN_AREA && address < XEN_AREA_END)
		slot = XEN_OTHER;
	else
		slot = address >> 63 ? KERNEL : USER;
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, counter(slot), instructions);
	find_markers(tb, instructions, on_marker);
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	if (region != UINT32_MAX)
		fprintf(out, "{\"error\": \"region %u has no end\"}\n", region);
	fclose(out);
}

static void add_addresses(const char *text, unsigned int kind)
{
	char **words = g_strsplit(text, "+", -1);

	for (char **word = words; *word; word++) {
		uint64_t *address = g_new(uint64_t, 1);

		*address = g_ascii_strtoull(*word, NULL, 0);
		g_hash_table_insert(spans.kind_of, address, GUINT_TO_POINTER(kind));
	}
	g_strfreev(words);
}

static bool add_kind(const char *text)
{
	if (spans.kinds == KINDS_MAX)
		return false;
	add_addresses(text, 1u << spans.kinds++);
	return true;
}

static bool add_idle(const char *text)
{
	unsigned int i = spans.idles++;
	char *end;

	if (i >= G_N_ELEMENTS(spans.idle))
		return false;
	spans.idle[i].from = g_ascii_strtoull(text, &end, 0);
	spans.idle[i].to = *end == '-' ? g_ascii_strtoull(end + 1, NULL, 0) : 0;
	return spans.idle[i].from < spans.idle[i].to;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const char *path = NULL;
	bool right = info->system_emulation && info->system.max_vcpus <= (int)G_N_ELEMENTS(span_of);

	spans.kind_of = g_hash_table_new(g_int64_hash, g_int64_equal);
	for (int i = 0; i < argc; i++) {
		if (g_str_has_prefix(argv[i], "out="))
			path = argv[i] + strlen("out=");
		else if (g_str_has_prefix(argv[i], "start="))
			xen_start = g_ascii_strtoull(argv[i] + strlen("start="), NULL, 0);
		else if (g_str_has_prefix(argv[i], "end="))
			xen_end = g_ascii_strtoull(argv[i] + strlen("end="), NULL, 0);
		else if (g_str_has_prefix(argv[i], "exit="))
			spans.exit = g_ascii_strtoull(argv[i] + strlen("exit="), NULL, 0);
		else if (g_str_has_prefix(argv[i], "entry="))
			spans.entry = g_ascii_strtoull(argv[i] + strlen("entry="), NULL, 0);
		else if (g_str_has_prefix(argv[i], "kind="))
			right &= add_kind(argv[i] + strlen("kind="));
		else if (g_str_has_prefix(argv[i], "sleep="))
			add_addresses(argv[i] + strlen("sleep="), SLEEP);
		else if (g_str_has_prefix(argv[i], "idle="))
			right &= add_idle(argv[i] + strlen("idle="));
	}
	right &= !spans.exit == !spans.entry && !spans.exit == !spans.kinds;
	if (!right || !path || xen_start < XEN_AREA || xen_end <= xen_start || xen_end > XEN_AREA_END) {
		fprintf(stderr, "count.so: needs out=FILE,start=ADDRESS,end=ADDRESS; and all of exit=, entry=, kind=, or none\n");
		return -1;
	}
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		return -1;
	}
	slot_of = g_hash_table_new(block_hash, block_equal);
	counters = qemu_plugin_scoreboard_new(SLOTS * sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}

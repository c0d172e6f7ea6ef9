/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A QEMU plugin that sees the memory accesses of a region of interest as a NUMA machine would: README.md.
 *
 * A region is marked from inside the guest by a long NOP whose displacement carries the region's number and whether it ends
 * there.  Outside of regions only that NOP is instrumented.  A marker resets the plugin: all CPUs stop, translated code is thrown
 * away, and what is translated from then on has callbacks or has none.  So a region begins and ends while nothing runs, and
 * what happens there needs no lock.
 */
#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include <qemu-plugin.h>

#include "find-markers.h"
#include "region.h"
#include "registers.h"
#include "streaming.h"

#define NO_REGION UINT32_MAX
#define KERNEL_HALF (UINT64_C(1) << 47)
#define XEN_AREA UINT64_C(0xffff82d000000000)	/* 512 GiB, Xen's text is in it */
#define XEN_AREA_END UINT64_C(0xffff830000000000)

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct machine machine;
static struct model model;
static struct region region;
static unsigned int current = NO_REGION;
static struct qemu_plugin_scoreboard *instructions;	/* MODES words a CPU */
static GArray *markers;		/* that no reset has dealt with */
static GMutex lock;		/* of `markers` */
static FILE *out;
static bool attached;		/* the page tables can be read */

static qemu_plugin_u64 instruction_counter(enum mode mode)
{
	return (qemu_plugin_u64){ instructions, mode * sizeof(uint64_t) };
}

static uint64_t count_instructions(unsigned int cpu, enum mode mode)
{
	return qemu_plugin_u64_get(instruction_counter(mode), cpu);
}

static enum mode mode_of(uint64_t code)
{
	if (code < KERNEL_HALF)
		return USER;
	return code >= XEN_AREA && code < XEN_AREA_END ? XEN : KERNEL;
}

/* The CPU of an access, which counts; NULL: not watched, or idle. */
static inline struct sim_cpu *accessing(unsigned int vcpu, enum mode mode)
{
	struct sim_cpu *cpu = region.sim->cpu[vcpu];

	if (!cpu)
		return NULL;
	count(cpu->idle ? &cpu->counts.idle : &cpu->counts.accesses[mode], 1);
	return cpu->idle ? NULL : cpu;
}

/* Its own thread says so. */
static void on_idle(unsigned int vcpu, void *idle)
{
	struct sim_cpu *cpu = region.sim->cpu[vcpu];

	if (cpu)
		cpu->idle = GPOINTER_TO_UINT(idle);
}

/* False: there is none, or no memory. */
static bool machine_address(struct sim_cpu *cpu, qemu_plugin_meminfo_t info, uint64_t address, uint64_t *found)
{
	struct qemu_plugin_hwaddr *hwaddr = qemu_plugin_get_hwaddr(info, address);

	if (!hwaddr) {
		count(&cpu->counts.unresolved, 1);
		return false;
	}
	*found = qemu_plugin_hwaddr_phys_addr(hwaddr);
	return !qemu_plugin_hwaddr_is_io(hwaddr);
}

static inline void translate(unsigned int vcpu, struct sim_cpu *cpu, enum mode mode, uint64_t address)
{
	struct registers *of = &registers[vcpu];

	if (!cpu->tlb)
		return;
	if (of->stale)
		registers_read(of);
	if (!tlb_is_recent(cpu->tlb, of->now.root, of->now.nested_root, address) &&
	    sim_translate(region.sim, cpu, mode, &of->now, address))
		region_look(&region);
}

static inline void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, enum mode mode, bool store)
{
	struct sim_cpu *cpu = accessing(vcpu, mode);
	uint64_t found;
	enum hit hit;

	if (!cpu)
		return;
	translate(vcpu, cpu, mode, address);
	hit = filter_use(cpu->l1, address, store);
	if (hit == HIT || !machine_address(cpu, info, address, &found))
		return;
	filter_tag(cpu->l1, address, found >> LINE_SHIFT);
	if (sim_beyond_l1(region.sim, cpu, hit, mode, found, store))
		region_look(&region);
}

static void on_load(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *mode)
{
	on_access(vcpu, info, address, GPOINTER_TO_UINT(mode), false);
}

static void on_store(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *mode)
{
	on_access(vcpu, info, address, GPOINTER_TO_UINT(mode), true);
}

static void on_streaming_store(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *mode)
{
	struct sim_cpu *cpu = accessing(vcpu, GPOINTER_TO_UINT(mode));
	uint64_t found;

	if (!cpu)
		return;
	translate(vcpu, cpu, GPOINTER_TO_UINT(mode), address);
	filter_drop(cpu->l1, address);
	if (machine_address(cpu, info, address, &found))
		sim_stream(region.sim, cpu, found);
}

/* Page tables are not there before a machine is. */
static void find_tables(unsigned int id)
{
	const char *unknown = registers_begin(region.sim->memory);
	g_autofree char *wrong = attached || unknown ? g_strdup(unknown) : memory_attach(region.sim->memory, &machine);

	if (wrong)
		fprintf(out, "{\"error\": \"region %u: tlb=%s: %s\"}\n", id, machine.translation->name, wrong);
	else
		attached = true;
}

static void begin(unsigned int id)
{
	if (current != NO_REGION)
		fprintf(out, "{\"error\": \"region %u begins inside region %u\"}\n", id, current);
	current = id;
	if (machine.translation)
		find_tables(id);
	for (int cpu = 0; cpu < qemu_plugin_num_vcpus(); cpu++)
		for (enum mode mode = 0; mode < MODES; mode++)
			qemu_plugin_u64_set(instruction_counter(mode), cpu, 0);
	region_begin(&region);
}

static void end(unsigned int id)
{
	if (id != current)
		fprintf(out, "{\"error\": \"region %u ends, but did not begin\"}\n", id);
	else
		region_end(&region, id, out);
	current = NO_REGION;
}

static void register_callbacks(qemu_plugin_id_t id);

/* All CPUs stand still. */
static void on_reset(qemu_plugin_id_t id)
{
	for (unsigned int i = 0; i < markers->len; i++) {
		unsigned int marker = g_array_index(markers, unsigned int, i);

		if (marker & IS_END)
			end(marker >> 1);
		else
			begin(marker >> 1);
	}
	fflush(out);
	g_array_set_size(markers, 0);
	register_callbacks(id);
}

static qemu_plugin_id_t plugin_id;

/* A reset that is on its way takes this marker along. */
static void on_marker(unsigned int vcpu, void *data)
{
	unsigned int marker = GPOINTER_TO_UINT(data);

	(void)vcpu;
	g_mutex_lock(&lock);
	g_array_append_val(markers, marker);
	g_mutex_unlock(&lock);
	qemu_plugin_reset(plugin_id, on_reset);
}

static void on_translation_outside(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	if (machine.translation)
		registers_watch(tb, false);
	find_markers(tb, qemu_plugin_tb_n_insns(tb), on_marker);
}

static bool streams(struct qemu_plugin_insn *insn)
{
	uint8_t bytes[INSTRUCTION_MAX];

	return is_streaming_store(bytes, qemu_plugin_insn_data(insn, bytes, sizeof(bytes)));
}

static void find_idle(struct qemu_plugin_insn *insn)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	bool idle = address >= machine.idle.from && address < machine.idle.to;

	if (idle || address == machine.idle.awake)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_idle, QEMU_PLUGIN_CB_NO_REGS, GUINT_TO_POINTER(idle));
}

static void on_translation_inside(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	enum mode mode = mode_of(qemu_plugin_tb_vaddr(tb));
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, instruction_counter(mode), n);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (machine.translation && registers_vmrun(insn))
			continue;
		qemu_plugin_register_vcpu_mem_cb(insn, on_load, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_R, GUINT_TO_POINTER(mode));
		qemu_plugin_register_vcpu_mem_cb(insn, streams(insn) ? on_streaming_store : on_store, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_W, GUINT_TO_POINTER(mode));
		find_idle(insn);
	}
	if (machine.translation)
		registers_watch(tb, true);
	find_markers(tb, n, on_marker);
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	if (current != NO_REGION)
		fprintf(out, "{\"error\": \"region %u has no end\"}\n", current);
	fclose(out);
}

static void register_callbacks(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, current == NO_REGION ? on_translation_outside : on_translation_inside);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
}

static int refuse(char *why)
{
	fprintf(stderr, "numasim: %s\n", why);
	g_free(why);
	return -1;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	char *wrong;

	if (!info->system_emulation)
		return refuse(g_strdup("is for system emulation only"));
	wrong = machine_parse(&machine, argc, argv, info->system.smp_vcpus);
	if (!wrong)
		wrong = model_init(&model, &machine);
	if (wrong)
		return refuse(wrong);
	out = fopen(machine.out, "a");
	if (!out)
		return refuse(g_strdup_printf("%s: %s", machine.out, g_strerror(errno)));
	plugin_id = id;
	if (machine.translation)
		registers_init(id);
	region_init(&region, sim_new(&machine), &model, count_instructions);
	instructions = qemu_plugin_scoreboard_new(MODES * sizeof(uint64_t));
	markers = g_array_new(FALSE, FALSE, sizeof(unsigned int));
	register_callbacks(id);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* A word for each line of memory: a bit for each CPU, and whether the only one of them has written it. */
#include <glib.h>
#include <sys/mman.h>

#include "sharing.h"

#define WRITTEN (1u << MAX_SHARERS)

struct sharing {
	uint32_t *state;
	size_t bytes;
	unsigned int cpus;
	struct sim_cpu *cpu[MAX_SHARERS];
};

struct sharing *sharing_new(uint64_t lines)
{
	struct sharing *s = g_new0(struct sharing, 1);

	/* of lines that nobody touches, there is no memory */
	s->bytes = lines * sizeof(*s->state);
	s->state = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->state == MAP_FAILED)
		g_error("numasim: no room for %zu bytes of address space", s->bytes);
	return s;
}

void sharing_free(struct sharing *s)
{
	if (!s)
		return;
	munmap(s->state, s->bytes);
	g_free(s);
}

void sharing_clear(struct sharing *s)
{
	madvise(s->state, s->bytes, MADV_DONTNEED);
}

void sharing_add(struct sharing *s, struct sim_cpu *cpu)
{
	cpu->bit = 1u << s->cpus;
	s->cpu[s->cpus++] = cpu;
}

static bool is_known(uint32_t state, uint32_t bit)
{
	return state & bit && (!(state & WRITTEN) || state == (bit | WRITTEN));
}

bool sharing_read(struct sharing *s, struct sim_cpu *cpu, uint32_t line)
{
	uint32_t *state = &s->state[line], others;

	if (is_known(__atomic_load_n(state, __ATOMIC_RELAXED), cpu->bit))
		return false;
	others = __atomic_fetch_or(state, cpu->bit, __ATOMIC_ACQ_REL);
	if (!(others & WRITTEN))
		return false;
	__atomic_fetch_and(state, ~WRITTEN, __ATOMIC_ACQ_REL);
	for (unsigned int i = 0; i < s->cpus; i++)
		if (others & ~cpu->bit & s->cpu[i]->bit)
			filter_clean(s->cpu[i]->l1, line);
	return true;
}

static uint32_t take(struct sharing *s, struct sim_cpu *cpu, uint32_t line, uint32_t becomes)
{
	uint32_t was = __atomic_exchange_n(&s->state[line], becomes, __ATOMIC_ACQ_REL);

	for (unsigned int i = 0; i < s->cpus; i++) {
		struct sim_cpu *other = s->cpu[i];

		if (other == cpu || !(was & other->bit))
			continue;
		filter_lose(other->l1, line);
		cache_take(other->l2, line);
		/* one that both use is where this CPU may find it */
		if (other->l3 != cpu->l3)
			cache_take(other->l3, line);
	}
	return was;
}

bool sharing_write(struct sharing *s, struct sim_cpu *cpu, uint32_t line)
{
	uint32_t mine = cpu->bit | WRITTEN;

	if (__atomic_load_n(&s->state[line], __ATOMIC_RELAXED) == mine)
		return false;
	return take(s, cpu, line, mine) & WRITTEN;
}

void sharing_stream(struct sharing *s, struct sim_cpu *cpu, uint32_t line)
{
	take(s, cpu, line, 0);
}

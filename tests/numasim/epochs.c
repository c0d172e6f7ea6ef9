/* SPDX-License-Identifier: GPL-2.0-only */
/* From windows of work to epochs. */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "epochs.h"

#define COMES_IN 0.02	/* of a CPU's work */
#define IDLE 0.01	/* of the busiest CPU's work: whoever has less never comes in */

static void add_work(struct work *to, const struct work *from, double share)
{
	to->instructions += from->instructions * share;
	to->l2_hits += from->l2_hits * share;
	to->l3_hits += from->l3_hits * share;
	to->tlb_hits += from->tlb_hits * share;
	for (unsigned int node = 0; node < MAX_NODES; node++) {
		to->misses[node] += from->misses[node] * share;
		to->write_backs[node] += from->write_backs[node] * share;
	}
}

void windows_init(struct windows *w, unsigned int cpus)
{
	*w = (struct windows){ .cpus = cpus, .work = g_new(struct work, (size_t)MAX_WINDOWS * cpus) };
	windows_clear(w);
}

void windows_free(struct windows *w)
{
	g_free(w->work);
}

void windows_clear(struct windows *w)
{
	w->used = w->pending = 0;
	w->merged = 1;
}

static struct work *window(const struct windows *w, unsigned int i)
{
	return &w->work[(size_t)i * w->cpus];
}

struct work *windows_next(struct windows *w)
{
	if (w->used && w->pending < w->merged) {
		w->pending++;
		return window(w, w->used - 1);
	}
	if (w->used == MAX_WINDOWS) {
		for (unsigned int i = 0; i < MAX_WINDOWS; i += 2) {
			memmove(window(w, i / 2), window(w, i), w->cpus * sizeof(struct work));
			for (unsigned int cpu = 0; cpu < w->cpus; cpu++)
				add_work(window(w, i / 2) + cpu, window(w, i + 1) + cpu, 1);
		}
		w->used /= 2;
		w->merged *= 2;
	}
	w->pending = 1;
	memset(window(w, w->used), 0, w->cpus * sizeof(struct work));
	return window(w, w->used++);
}

static double misses(const struct windows *w, unsigned int from, unsigned int to)
{
	double sum = 0;

	for (const struct work *work = window(w, from); work < window(w, to); work++)
		for (unsigned int node = 0; node < MAX_NODES; node++)
			sum += work->misses[node];
	return sum;
}

static double progress(const struct model *model, const struct windows *w, unsigned int cpu, unsigned int from, unsigned int to)
{
	double sum = 0;

	for (unsigned int i = from; i < to; i++)
		sum += window(w, i)[cpu].instructions + model_uncontended(model, cpu, window(w, i) + cpu);
	return sum;
}

/* Marks the windows with which a CPU comes in. */
static void mark_starts(const struct model *model, const struct windows *w, bool *start)
{
	g_autofree double *all = g_new(double, w->cpus);
	double most = 0;

	for (unsigned int cpu = 0; cpu < w->cpus; cpu++) {
		all[cpu] = progress(model, w, cpu, 0, w->used);
		most = MAX(most, all[cpu]);
	}
	for (unsigned int cpu = 0; cpu < w->cpus; cpu++) {
		double done = 0;

		if (all[cpu] <= IDLE * most)
			continue;
		for (unsigned int i = 0; i < w->used; i++) {
			done += progress(model, w, cpu, i, i + 1);
			if (done >= COMES_IN * all[cpu]) {
				start[i] = true;
				break;
			}
		}
	}
}

/* Cuts one CPU's work of a segment into equal parts. */
static void cut(const struct model *model, const struct windows *w, unsigned int cpu, unsigned int from, unsigned int to,
		struct work *part, unsigned int parts)
{
	double size = progress(model, w, cpu, from, to) / parts, at = 0;
	unsigned int now = 0;

	for (unsigned int i = from; i < to; i++) {
		double whole = progress(model, w, cpu, i, i + 1), left = whole;

		if (whole <= 0)
			add_work(&part[now * w->cpus + cpu], window(w, i) + cpu, 1);
		while (left > 0) {
			double room = now == parts - 1 ? left : MIN(left, (now + 1) * size - at);

			if (room > 0) {
				add_work(&part[now * w->cpus + cpu], window(w, i) + cpu, room / whole);
				at += room;
				left -= room;
			}
			if (left > 0)
				now++;
		}
	}
}

static void add_segment(const struct model *model, const struct windows *w, unsigned int from, unsigned int to,
			struct totals *totals)
{
	unsigned int parts = MAX(1, round(misses(w, from, to) / model->machine->epoch));
	g_autofree struct work *part = g_new0(struct work, (size_t)parts * w->cpus);

	for (unsigned int cpu = 0; cpu < w->cpus; cpu++)
		if (model->machine->watched[cpu])
			cut(model, w, cpu, from, to, part, parts);
	for (unsigned int i = 0; i < parts; i++)
		model_epoch(model, &part[(size_t)i * w->cpus], totals);
}

void epochs_add(const struct model *model, const struct windows *w, struct totals *totals)
{
	g_autofree bool *start = g_new0(bool, w->used);
	unsigned int from = 0, last = 0;

	mark_starts(model, w, start);
	for (unsigned int i = 0; i < w->used; i++) {
		if (!start[i])
			continue;
		/* the host lets them begin one shortly after the other: these come in together, with the first of them */
		if (i && misses(w, last, i) >= model->machine->epoch / 2) {
			add_segment(model, w, from, i, totals);
			from = i;
		}
		last = i;
	}
	if (from < w->used)
		add_segment(model, w, from, w->used, totals);
}

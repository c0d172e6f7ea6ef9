/* SPDX-License-Identifier: GPL-2.0-only */
/* Work that is queued, and what may sleep. */
#include "run.h"

void mutex_lock(struct mutex *m)
{
	MUST(can_sleep() && m->holder != this_cpu + 1);
	WAIT_WHILE(m->holder);
	m->holder = this_cpu + 1;
}

void mutex_unlock(struct mutex *m)
{
	MUST(m->holder == this_cpu + 1);
	m->holder = 0;
	cpu_switch();
}

void synchronize_rcu(void)
{
	MUST(can_sleep());
	for (unsigned int i = 0; i < NR_CPUS; i++)
		WAIT_WHILE(cpus[i].readers);
}

unsigned int rescheds;
bool pm_nosig_freezing;
static struct irq_work *kicks;

/* Anywhere, in NMI, too: no CPU goes on in between. */
bool irq_work_queue(struct irq_work *work)
{
	if (work->queued)
		return false;
	work->queued = true;
	work->next = kicks;
	kicks = work;
	return true;
}

bool run_kicks(void)
{
	struct irq_work *work = kicks;

	MUST(me->irqs_off && !me->in_nmi && !me->locks);
	if (!work)
		return false;
	kicks = work->next;
	work->queued = false;
	work->running = true;
	cpu_switch();
	work->func(work);
	work->running = false;
	return true;
}

void irq_work_sync(struct irq_work *work)
{
	MUST(can_sleep());
	WAIT_WHILE(work->queued || work->running);
}

static struct workqueue_struct freezable, unbound;
struct workqueue_struct *system_freezable_wq = &freezable, *system_unbound_wq = &unbound;

static bool enqueue(struct workqueue_struct *wq, struct work_struct *w)
{
	struct work_struct *known;

	/* a timer or a worker takes locks of its own */
	MUST(!me->in_nmi && !me->locks);
	cpu_switch();
	if (w->pending || w->canceled)
		return false;
	for (known = wq->all; known && known != w; known = known->next)
		;
	if (!known) {
		w->next = wq->all;
		wq->all = w;
	}
	w->pending = true;
	return true;
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *w)
{
	return enqueue(wq, w);
}

unsigned long last_delay;

bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *w, unsigned long delay)
{
	last_delay = delay;
	return enqueue(wq, &w->work);
}

bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *w, unsigned long delay)
{
	return !enqueue(wq, &w->work);
}

bool flush_delayed_work(struct delayed_work *w)
{
	MUST(can_sleep());
	WAIT_WHILE(w->work.pending || w->work.running);
	return true;
}

bool cancel_delayed_work_sync(struct delayed_work *w)
{
	MUST(can_sleep());
	w->work.canceled = true;
	w->work.pending = false;
	WAIT_WHILE(w->work.running);
	w->work.canceled = false;
	return true;
}

bool run_work(struct workqueue_struct *wq)
{
	for (struct work_struct *w = wq->all; w; w = w->next)
		if (w->pending) {
			w->pending = false;
			w->running = true;
			cpu_switch();
			w->func(w);
			MUST(can_sleep());
			w->running = false;
			return true;
		}
	return false;
}

bool work_is_left(void)
{
	for (struct work_struct *w = freezable.all; w; w = w->next)
		if (w->pending || w->running)
			return true;
	for (struct work_struct *w = unbound.all; w; w = w->next)
		if (w->pending || w->running)
			return true;
	return kicks;
}

unsigned int kmalloc_fails_percent;

void *kmalloc_array(size_t n, size_t size, int flags)
{
	MUST(can_sleep());
	return rnd(100) < kmalloc_fails_percent ? NULL : malloc(n * size);
}

int param_set_uint_minmax(const char *val, const struct kernel_param *kp, unsigned int lo, unsigned int hi)
{
	return -EINVAL;
}

int param_get_int(char *val, const struct kernel_param *kp)
{
	return -EINVAL;
}

void sg_init_table(struct scatterlist *sg, unsigned int nents)
{
	memset(sg, 0, sizeof(*sg) * nents);
	sg[nents - 1].last = true;
}

void sg_set_page(struct scatterlist *sg, struct page *page, unsigned int len, unsigned int offset)
{
	MUST(!sg->page && !offset);
	sg->page = page;
	sg->length = len;
}

struct scatterlist *sg_next(struct scatterlist *sg)
{
	return sg->last ? NULL : sg + 1;
}

struct page *sg_page(struct scatterlist *sg)
{
	MUST(sg->page);
	return sg->page;
}

unsigned int get_order(unsigned long size)
{
	unsigned int order = 0;

	while (PAGE_SIZE << order < size)
		order++;
	return order;
}

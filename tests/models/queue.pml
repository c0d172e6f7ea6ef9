/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest's queue of page events: numa-policy-queue.c, and the hooks of
 * numa-policy-pages.c.
 *
 * Two pages that are one block while both are free; of which Xen maps both when
 * one is touched and it has neither.  One CPU allocates and frees.  Another one
 * tells Xen of batches, and has interrupts that allocate and free, too.
 */
#define BATCHES 2
#define EVENTS  2
#define RESERVE 0
#define OVER    1       /* a mark whose batch is over, but which is one */
#define BOTH    3

bool zone_locked, is_free = true, owned[2], mapped[2] = true;

/*
 * A mark: the number of a batch, and whether that before it is meant, too.
 * mark[1] is that of the second page when it is no part of the block.
 */
byte mark[2] = OVER;
bool before[2];

/* struct page_event_queue; an event is a mask of pages, and what became of them */
byte filling = BATCHES + 1, busy = BATCHES, finished = BATCHES;
byte nr[BATCHES], event[BATCHES * EVENTS];
bool is_release[BATCHES * EVENTS];
bool told, irqs_off, in_irq;

byte left = 4, done;

#define SLOT(n)     ((n) % BATCHES)
#define EVENT(n, i) (SLOT(n) * EVENTS + (i))
#define IS_OPEN(n)  ((n) > finished && (n) <= filling)

inline append(to, pages, release)
{
	event[EVENT(to, nr[SLOT(to)])] = pages;
	is_release[EVENT(to, nr[SLOT(to)])] = release;
	nr[SLOT(to)]++
}

/* peq_mark_join() */
inline join(p, number, also_before)
{
	if
	:: mark[p] == number -> before[p] = before[p] || also_before
	:: mark[p] + 1 == number -> before[p] = true; mark[p] = number
	:: mark[p] == number + 1 -> before[p] = true
	:: mark[p] + 1 < number -> before[p] = also_before; mark[p] = number
	:: else
	fi
}

/* peq_released(); the mark of page @p has the release, too */
inline released(p, pages)
{
	d_step {
		n = 0;
		if
		:: nr[SLOT(filling)] < EVENTS - RESERVE -> n = filling
		:: nr[SLOT(filling)] >= EVENTS - RESERVE && filling - finished < BATCHES ->
			filling++;
			nr[SLOT(filling)] = 0;
			n = filling
		:: else
		fi;
		if
		:: n -> append(n, pages, true); join(p, n, false)
		:: else
		fi;
		n = 0
	}
}

/* Of a batch that is not over: wait for it, or take back what is in it. */
inline take_back(batch, pages)
{
	if
	:: !IS_OPEN(batch)
#ifndef TAKEN_BACK_FROM_BUSY
	:: IS_OPEN(batch) && batch == busy -> wait = true
	:: IS_OPEN(batch) && batch != busy ->
#else
	:: IS_OPEN(batch) ->
#endif
		if
		:: nr[SLOT(batch)] < EVENTS -> append(batch, pages, false)
		/* without its releases nothing needs taking back */
		:: else -> nr[SLOT(batch)] = 0
		fi
	fi
}

/* peq_allocated(), of the block that has mark[0] */
inline allocated(pages)
{
	pending = (mark[0] > finished);
	if
	:: pending ->
		d_step {
			take_back(mark[0], pages);
			if
			:: before[0] -> take_back((mark[0] - 1), pages)
			:: else
			fi
		};
#ifndef NOT_AWAITED
		if
		:: wait -> !told
		:: else
		fi;
#endif
		wait = false
	:: else
	fi
}

/* XENMEM_PAGE_EVENT_SPLIT */
inline hint() { mapped[0] = true }

inline allocate_both()
{
	allocated(BOTH);
	d_step { pending = false; mark[0] = OVER; before[0] = false; owned[0] = true; owned[1] = true };
	d_step { mapped[0] = true; mapped[1] = true }
}

inline allocate_first()
{
	d_step { mark[1] = mark[0]; before[1] = before[0] };
#ifdef HINT_TOO_EARLY
	hint();
	allocated(BOTH);
#else
	allocated(BOTH);
	hint();
#endif
	if
	:: pending ->
		d_step { pending = false; mark[0] = OVER; before[0] = false; mark[1] = OVER; before[1] = false };
		released(1, 2)
	:: else
	fi;
	owned[0] = true;
	/* else the other page goes where this one is touched */
	d_step { assert(mapped[0] || mapped[1]); mapped[0] = true }
}

inline lock_zone() { d_step { !zone_locked -> zone_locked = true } }

inline allocate_and_free()
{
	lock_zone();
	if
	:: !is_free -> zone_locked = false
	:: is_free ->
		is_free = false;
		allocate_both();
		zone_locked = false;

		lock_zone();
		d_step { owned[0] = false; owned[1] = false; mark[0] = 0; before[0] = false };
		released(0, BOTH);
		is_free = true;
		zone_locked = false
	:: is_free ->
		is_free = false;
		allocate_first();
		zone_locked = false;

		lock_zone();
		d_step { owned[0] = false; mark[0] = 0; before[0] = false };
		released(0, 1);
#ifndef MARK_NOT_JOINED
		d_step {
			if
			:: mark[1] -> join(0, mark[1], before[1])
			:: else
			fi
		};
#endif
		d_step { mark[1] = 0; before[1] = false; is_free = true };
		zone_locked = false
	fi
}

proctype cpu()
{
	byte n;
	bool pending, wait;

	do
	:: d_step { left -> left-- }; allocate_and_free()
	:: !left -> break
	od;
	done++
}

/* An interrupt of the CPU that tells. */
proctype interrupt()
{
	byte n;
	bool pending, wait;

	do
	:: d_step { left && !irqs_off -> left--; in_irq = true };
		allocate_and_free();
		in_irq = false
	:: !left -> break
	od;
	done++
}

/* peq_flush(), and Xen: of the events of a page the newest counts */
proctype flush() provided (!in_irq)
{
	byte number, i, seen, pages;

end:	do
	:: nr[SLOT(finished + 1)] ->
#ifndef INTERRUPTS_ON
		irqs_off = true;
#endif
		d_step { !told -> told = true };
		d_step {
			number = finished + 1;
			if
			:: number == filling -> filling++; nr[SLOT(filling)] = 0
			:: else
			fi;
			busy = number;
			i = nr[SLOT(number)]
		};
#ifdef DONE_TOO_EARLY
		finished = number;
#endif
		do
		:: i ->
			d_step {
				i--;
				pages = event[EVENT(number, i)] & ~seen;
				seen = seen | event[EVENT(number, i)];
				pages = (is_release[EVENT(number, i)] -> pages : 0)
			};
			if
			:: pages & 1 -> d_step { assert(!owned[0]); mapped[0] = false }
			:: else
			fi;
			if
			:: pages & 2 -> d_step { assert(!owned[1]); mapped[1] = false }
			:: else
			fi
		:: else -> break
		od;
		finished = number;
		told = false;
		irqs_off = false;
		d_step { seen = 0; pages = 0 }
	od
}

init
{
	atomic { run flush(); run cpu(); run interrupt() }
	done == 2
}

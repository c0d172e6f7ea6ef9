/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest tells Xen of free pages: mm/page_reporting.c of the series, with
 * numa-policy.c as its driver.
 *
 * Two pages that are one block while both are in the free lists.  A CPU
 * allocates and frees, and an NMI on it does, too.  Another CPU takes blocks
 * out of the free lists, tells Xen, and puts them back.
 */
#define USED     0
#define FREE     1      /* in the free lists */
#define ISOLATED 2

#define IDLE      0
#define REQUESTED 1
#define ACTIVE    2

bool zone_locked, told_locked;
byte page[2] = FREE;
bool mapped[2] = true;
bool reported[2];               /* of a block: that of its first page */
#define MERGED (page[0] == FREE && page[1] == FREE)

byte state = REQUESTED;
bool timer = true;              /* an irq_work, then a timer */

byte left = 5, done;
bool in_nmi;

inline lock_zone() { d_step { !zone_locked -> zone_locked = true } }

/* __page_reporting_request() */
inline request()
{
	if
	:: state == REQUESTED
	:: state != REQUESTED ->
		d_step {
			if
			:: state == IDLE -> timer = true
			:: else
			fi;
			state = REQUESTED
		}
	fi
}

/* From the free lists; what is left of a block is one that was not reported. */
inline take(p)
{
	d_step {
		if
		:: MERGED -> reported[0] = false; reported[1] = false
		:: else
#ifndef FLAG_KEPT
			-> reported[p] = false
#endif
		fi;
		page[p] = USED
	}
}

/* Into them; a block that has grown was not reported as a whole. */
inline give(p)
{
	d_step {
		page[p] = FREE;
		if
		:: MERGED -> reported[0] = false; reported[1] = false
		:: else
		fi
	}
}

/* page_reporting_drain() */
inline put_back()
{
	d_step {
		if
		:: out[0] -> page[0] = FREE
		:: else
		fi;
		if
		:: out[1] -> page[1] = FREE
		:: else
		fi;
		if
#ifdef REPORTED_THOUGH_MERGED
		:: MERGED -> reported[0] = true; reported[1] = true
#else
		:: MERGED && (out[0] || out[1]) -> reported[0] = whole; reported[1] = whole
		:: MERGED && !out[0] && !out[1]
#endif
		:: !MERGED && out[0] -> reported[0] = true
		:: !MERGED && !out[0] && out[1] -> reported[1] = true
		:: !MERGED && !out[0] && !out[1]
		fi
	}
}

inline choose(p)
{
	if
	:: page[0] == FREE -> p = 0
	:: page[1] == FREE -> p = 1
	:: page[0] != FREE && page[1] != FREE -> p = 2
	fi
}

inline allocate_and_free(p)
{
	choose(p);
	if
	:: p < 2 ->
		take(p);
		zone_locked = false;

		/* Xen maps what is touched */
		mapped[p] = true;

		lock_zone();
		give(p);
		request();
		zone_locked = false
	:: else -> zone_locked = false
	fi
}

proctype cpu() provided (!in_nmi)
{
	byte p;

	do
	:: d_step { left -> left-- }; lock_zone(); allocate_and_free(p)
	:: !left -> break
	od;
	done++
}

/* It never waits: what it cannot give back at once it keeps, here until its next time. */
proctype nmi()
{
	byte p;
	byte has = 2;

	do
	:: d_step { (left || has < 2) -> in_nmi = true };
#ifndef NMI_WAITS
		if
		:: d_step { !zone_locked -> zone_locked = true };
#else
		lock_zone();
		if
		:: true ->
#endif
			if
			:: has < 2 -> give(has); request(); has = 2
			:: has == 2 && left -> left--; choose(p);
				if
				:: p < 2 -> take(p); mapped[p] = true; has = p
				:: else
				fi
			:: else
			fi;
			zone_locked = false
#ifndef NMI_WAITS
		:: zone_locked
#endif
		fi;
		in_nmi = false
	:: !left && has == 2 -> break
	od;
	done++
}

/* page_reporting_process(), and Xen */
proctype report()
{
	byte i;
	bool whole, out[2];

end:	do
	:: timer ->
		timer = false;
#ifndef ACTIVE_TOO_LATE
		state = ACTIVE;
#endif
		lock_zone();
		d_step {
			/* a pass skips what was reported: Xen knows of it */
			assert(!(page[0] == FREE && reported[0] && mapped[0]));
			assert(!(page[1] == FREE && reported[1] && mapped[1]));
			whole = MERGED;
			out[0] = page[0] == FREE && !reported[0];
			out[1] = (whole -> out[0] : page[1] == FREE && !reported[1]);
#ifndef NOT_ISOLATED
			if
			:: out[0] -> page[0] = ISOLATED
			:: else
			fi;
			if
			:: out[1] -> page[1] = ISOLATED
			:: else
			fi
#endif
		};
#ifdef PUT_BACK_TOO_EARLY
		put_back();
#endif
#ifndef LOCK_HELD
		zone_locked = false;
#else
		told_locked = true;
#endif
		i = 0;
		do
		:: i < 2 && out[i] ->
			d_step { assert(page[i] != USED); assert(!told_locked); mapped[i] = false; i++ }
		:: i < 2 && !out[i] -> i++
		:: i == 2 -> break
		od;
#ifndef LOCK_HELD
		lock_zone();
#endif
#ifndef PUT_BACK_TOO_EARLY
		put_back();
#endif
		zone_locked = false;
		d_step { out[0] = false; out[1] = false; whole = false; i = 0 };
#ifdef ACTIVE_TOO_LATE
		state = ACTIVE;
#endif
		d_step {
			if
#ifdef REQUEST_LOST
			:: true -> state = IDLE
#else
			:: state == ACTIVE -> state = IDLE
			:: else -> timer = true
#endif
			fi
		}
	:: done == 2 && !timer && state == IDLE ->
		/* all that is free is told */
		d_step { assert(page[0] != FREE || !mapped[0]); assert(page[1] != FREE || !mapped[1]) };
		break
	od
}

init
{
	atomic { run report(); run cpu(); run nmi() }
	done == 2
}

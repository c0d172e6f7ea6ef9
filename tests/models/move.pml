/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moving a page: p2m-numa-batch.c, and what page_alloc.c does when a frame is
 * freed and allocated.
 *
 * One gfn of a domain, two frames.  Its CPUs cache what the p2m says, a PV
 * domain maps the frame under a reference and keeps a translation without one,
 * another domain takes what is free.  All go on for ever: the number of moves
 * has no bound.
 */
#define CPUS   2
#define FRAMES 2
#define NONE   FRAMES

mtype = { nobody, taken, guest, other };

/* the entry of the p2m */
byte entry = 0;
bool writable = true;
/* the D bit, which the guest's CPUs set and nobody else */
bool dirty = true;
bool locked;

byte tlb[CPUS] = NONE;
bool tlb_writable[CPUS];
/* and D is known to be set: this CPU writes without a look at the entry */
bool tlb_dirty[CPUS];
/* has seen that it may write, and is about to set D, whatever becomes of the entry */
bool walks[CPUS];
byte pv_tlb = NONE, pv_ref = NONE;

mtype owner[FRAMES] = nobody;
byte count[FRAMES];
bool need_tlbflush[FRAMES];
/* has what was written last, which is all that a read may see */
bool latest[FRAMES];

inline write(frame)
{
	latest[0] = false;
	latest[1] = false;
	latest[frame] = true
}

inline forget(cpu)
{
	d_step { !walks[cpu] -> tlb[cpu] = NONE; tlb_writable[cpu] = false; tlb_dirty[cpu] = false }
}

/* An interrupt to one of the guest's CPUs after the other, which takes it between two instructions. */
inline flush()
{
	forget(0);
	forget(1)
}

/* alloc_heap_pages(): whoever had the frame last cannot get at it any more */
inline alloc(frame, by)
{
	d_step {
		if
		:: owner[0] == nobody -> frame = 0
		:: owner[0] != nobody && owner[1] == nobody -> frame = 1
		fi;
		owner[frame] = by;
		if
		:: need_tlbflush[frame] && pv_tlb == frame -> pv_tlb = NONE
		:: else
		fi;
		need_tlbflush[frame] = false
	}
}

/* mark_page_free(); what was taken has no owner yet */
inline free(frame)
{
	d_step {
		need_tlbflush[frame] = (owner[frame] == guest || owner[frame] == other);
		owner[frame] = nobody
	}
}

/* A fault is no event of its own: it ends in a walk, as a lost translation does. */
proctype cpu_of_guest(byte me)
{
	do
	:: d_step { tlb[me] == NONE -> tlb[me] = entry; tlb_writable[me] = writable; tlb_dirty[me] = dirty }
	:: d_step { tlb[me] != NONE -> assert(latest[tlb[me]]) }
	/* a walk, in order to write */
	:: d_step { !tlb_dirty[me] && writable -> walks[me] = true; tlb[me] = entry };
		d_step { dirty = true; tlb_writable[me] = true; tlb_dirty[me] = true; write(tlb[me]); walks[me] = false }
	:: d_step { tlb_writable[me] && tlb_dirty[me] -> write(tlb[me]) }
	:: tlb[me] != NONE -> forget(me)
	od
}

/* A stub domain's: its foreign mapping is no business of a flush of the p2m. */
proctype pv_domain()
{
	do
	:: d_step { pv_ref == NONE && !locked && count[entry] -> count[entry]++; pv_ref = entry }
	:: d_step { pv_ref != NONE -> pv_tlb = pv_ref }
	:: d_step { pv_ref != NONE && pv_tlb == pv_ref -> assert(latest[pv_tlb]); write(pv_tlb) }
	/* unmapped, without a flush */
	:: d_step { pv_ref != NONE -> count[pv_ref]--; pv_ref = NONE }
	:: d_step { pv_tlb != NONE && pv_ref == NONE -> assert(owner[pv_tlb] != other) }
	:: d_step { pv_tlb != NONE -> pv_tlb = NONE }
	od
}

proctype other_domain()
{
	byte mine = NONE;

	do
	:: mine == NONE && (owner[0] == nobody || owner[1] == nobody) -> alloc(mine, other)
	:: d_step { mine != NONE -> assert(owner[mine] == other) }
	:: mine != NONE -> free(mine); mine = NONE
	od
}

inline free_old()
{
	d_step { assert(tlb[0] != old); assert(tlb[1] != old) };
	free(old)
}

inline copy()
{
	latest[new] = latest[old]
}

/* While all write: what is written from the moment on that D is clear, and known to be, sets it. */
inline copy_first()
{
	dirty = false;
#ifndef DIRTY_NOT_FLUSHED
	flush();
#endif
	copy()
}

inline stop_writes()
{
#ifdef DIRTY_OVERWRITTEN
	written = dirty;
	writable = false;
	dirty = written;
#else
	writable = false;
#endif
#ifdef DIRTY_READ_EARLY
	written = dirty;
#endif
#ifndef NO_FIRST_FLUSH
	flush();
#endif
#ifndef DIRTY_READ_EARLY
	written = dirty
#endif
}

proctype mover()
{
	byte old, new;
	bool written;

	do
	:: alloc(new, taken);
	d_step { !locked -> locked = true; old = entry };
#ifdef COPIED_BEFORE_FROZEN
	copy_first();
#endif

	if
#ifdef NOT_FROZEN
	:: true ->
#else
	:: d_step { count[old] == 1 -> count[old] = 0 };
#endif
#ifndef COPIED_BEFORE_FROZEN
		copy_first();
#endif
		stop_writes();
		if
		:: written -> copy()
		:: else
		fi;
		if
		/* it would take too long: the guest goes on with the page that it has */
		:: true ->
			d_step { count[old] = 1; writable = true };
			locked = false;
			free(new)
		:: d_step { owner[new] = guest; count[new] = 1 };
#ifdef WRITABLE_TOO_EARLY
			d_step { entry = new; writable = true };
#else
			entry = new;
#endif
#ifdef FREED_TOO_EARLY
			free_old();
#endif
#ifndef NO_SECOND_FLUSH
			flush();
#endif
			writable = true;
			locked = false;
#ifdef OWNER_CLEARED
			owner[old] = taken;
#endif
#ifndef FREED_TOO_EARLY
			free_old()
#endif
		fi
	:: else ->
		locked = false;
		free(new)
	fi;
	d_step { old = 0; new = 0; written = false }
	od
}

init
{
	atomic {
		owner[0] = guest;
		count[0] = 1;
		latest[0] = true;
		run cpu_of_guest(0);
		run cpu_of_guest(1);
		run pv_domain();
		run other_domain();
		run mover()
	}
}

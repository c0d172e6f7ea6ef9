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
bool locked;

byte tlb[CPUS] = NONE;
bool tlb_writable[CPUS];
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

/* An interrupt to one of the guest's CPUs after the other. */
inline flush()
{
	d_step { tlb[0] = NONE; tlb_writable[0] = false };
	d_step { tlb[1] = NONE; tlb_writable[1] = false }
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
	:: d_step { tlb[me] == NONE -> tlb[me] = entry; tlb_writable[me] = writable }
	:: d_step { tlb[me] != NONE -> assert(latest[tlb[me]]) }
	:: d_step { tlb_writable[me] -> write(tlb[me]) }
	:: d_step { tlb[me] != NONE -> tlb[me] = NONE; tlb_writable[me] = false }
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

proctype mover()
{
	byte old, new;

	do
	:: alloc(new, taken);
	d_step { !locked -> locked = true; old = entry };

	if
#ifdef NOT_FROZEN
	:: true ->
#else
	:: d_step { count[old] == 1 -> count[old] = 0 };
#endif
		writable = false;
#ifndef NO_FIRST_FLUSH
		flush();
#endif
		d_step {
			latest[new] = latest[old];
			owner[new] = guest;
			count[new] = 1
		};
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
	:: else ->
		locked = false;
		free(new)
	fi;
	d_step { old = 0; new = 0 }
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

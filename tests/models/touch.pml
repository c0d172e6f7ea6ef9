/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Release, touch and exchange: p2m-numa-release.c, p2m-reserve.c, p2m-touch.c, and what
 * page_alloc.c does when a frame is freed and allocated.
 *
 * A domain has one gfn and one frame, a second frame is the heap's.  Its CPUs
 * cache what the p2m says, a PV domain maps the gfn under a reference and keeps
 * a translation without one, another domain takes what is free.  All go on for
 * ever.
 */
#define CPUS   2
#define FRAMES 2
#define NONE   FRAMES

/* where a frame is; held: unmapped, but not flushed yet; out: with a fault that has no lock */
mtype = { heap, taken, other, held, reserve, out, in_p2m };

mtype where[FRAMES] = heap;
byte count[FRAMES];
bool need_tlbflush[FRAMES], is_owned[FRAMES];
/* has what somebody had in it */
bool used[FRAMES];

/* p2m and PoD lock are taken one after the other by all */
bool locked;
byte entry = NONE;

/* the CPU whose touch goes on without a lock, its frame, and whether that may be taken away */
byte flyer = NONE, flown = NONE;
bool ready;

byte tlb[CPUS] = NONE;
byte pv_tlb = NONE, pv_ref = NONE;

inline lock() { d_step { !locked -> locked = true } }

/* Until its release is over, a frame is the gfn's. */
inline access(frame)
{
	assert((where[frame] == in_p2m && entry == frame) || (where[frame] == held && entry == NONE));
	used[frame] = true
}

/* p2m_tlb_flush_sync(): an interrupt to one CPU after the other */
inline flush()
{
	tlb[0] = NONE;
	tlb[1] = NONE
}

/* alloc_heap_pages(): what was scrubbed when it was freed, is clean */
inline allocate(frame, as)
{
	d_step {
		frame = NONE;
		if
		:: where[0] == heap -> frame = 0
		:: where[0] != heap && where[1] == heap -> frame = 1
		:: else
		fi;
		if
		:: frame != NONE ->
			where[frame] = as;
			assert(!used[frame]);
			if
			:: need_tlbflush[frame] && pv_tlb == frame -> pv_tlb = NONE
			:: else
			fi;
			need_tlbflush[frame] = false
		:: else
		fi
	}
}

/* free_heap_pages(), with a scrub */
inline free(frame)
{
	d_step {
		need_tlbflush[frame] = is_owned[frame];
		is_owned[frame] = false;
#ifndef NOT_SCRUBBED
		used[frame] = false;
#endif
		where[frame] = heap
	}
}

/* any that waits */
inline waiting(frame)
{
	if
	:: where[0] == reserve -> frame = 0
	:: where[1] == reserve -> frame = 1
	fi
}

/* exchange(): one of the reserve's for one of the heap's */
inline exchange()
{
	allocate(new, taken);
	if
	:: new == NONE
	:: new != NONE ->
		waiting(old);
		/* part() */
		if
		:: d_step { count[old] == 1 -> count[old] = 0 };
			d_step { is_owned[new] = true; count[new] = 1; where[new] = reserve };
#ifdef OWNER_CLEARED
			is_owned[old] = false;
#endif
			free(old)
		:: else -> free(new)
		fi
	fi;
	d_step { old = 0; new = 0 }
}

/* swap(), without a lock */
inline exchange_out()
{
	allocate(new, taken);
	if
	:: new == NONE
	:: new != NONE ->
		old = flown;
		if
		:: d_step { count[old] == 1 -> count[old] = 0 };
			d_step { is_owned[new] = true; count[new] = 1; where[new] = out; flown = new };
#ifdef OWNER_CLEARED
			is_owned[old] = false;
#endif
			free(old)
		:: else -> free(new)
		fi
	fi;
	d_step { old = 0; new = 0 }
}

/* with the locks: what a fault has is taken away from it */
inline recall()
{
	if
	:: flyer != NONE ->
#ifndef TAKEN_TOO_EARLY
		ready;
#endif
		d_step {
			where[flown] = reserve;
#ifndef TAKEN_AND_USED
			flyer = NONE
#endif
		}
	:: else
	fi
}

/* p2m_touch_finish() of a vCPU's own fault; who finds that another one does it, comes again */
inline fault(me)
{
	lock();
	if
	:: entry == NONE && flyer == NONE ->
		waiting(frame);
		d_step { where[frame] = out; flown = frame; flyer = me; ready = false; frame = 0 };
		locked = false;
		if
		:: exchange_out()
		:: true
		fi;
		d_step {
			assert(where[flown] == out);
#ifndef NOT_CLEARED
			used[flown] = false
#endif
		};
		ready = true;
		lock();
		d_step {
			if
			:: flyer == me && entry == NONE ->
				assert(!used[flown]);
				flyer = NONE;
				where[flown] = in_p2m;
				entry = flown
			:: flyer == me && entry != NONE ->
				flyer = NONE;
				where[flown] = reserve
			:: else
			fi
		}
	:: else
	fi;
	locked = false
}

/* p2m_pod_demand_populate() for others, unless somebody was faster */
inline touch()
{
	if
	:: entry == NONE ->
		recall();
		if
		:: exchange()
		:: true
		fi;
		waiting(frame);
#ifndef NOT_CLEARED
		used[frame] = false;
#endif
		d_step {
			assert(!used[frame]);
			where[frame] = in_p2m;
			entry = frame;
			frame = 0
		}
	:: else
	fi
}

/* p2m_numa_release_begin() to p2m_numa_release_end() */
inline release()
{
	lock();
	d_step {
		frame = entry;
		if
#ifdef BUSY_RELEASED
		:: frame != NONE ->
#else
		:: frame != NONE && count[frame] == 1 ->
#endif
			entry = NONE; where[frame] = held
		:: else -> frame = NONE
		fi
	};
	if
	:: frame != NONE ->
#ifdef FLUSHED_TOO_LATE
		where[frame] = reserve;
		locked = false;
		flush()
#else
		flush();
		where[frame] = reserve;
		locked = false
#endif
	:: else -> locked = false
	fi;
	frame = 0
}

proctype cpu(byte me)
{
	byte frame, old, new;

	do
	:: d_step { tlb[me] != NONE -> access(tlb[me]) }
	:: d_step { tlb[me] != NONE -> tlb[me] = NONE }
	:: d_step { tlb[me] == NONE && entry != NONE -> tlb[me] = entry }
	:: fault(me)
	:: release()
	od
}

/* A stub domain's: its foreign mapping is no business of a flush of the p2m. */
proctype pv_domain()
{
	byte frame, old, new;

	do
	:: pv_ref == NONE ->
		lock();
		touch();
		d_step { pv_ref = entry; count[pv_ref]++; locked = false }
	:: d_step { pv_ref != NONE -> pv_tlb = pv_ref }
	:: d_step { pv_ref != NONE && pv_tlb == pv_ref -> assert(where[pv_tlb] == in_p2m); used[pv_tlb] = true }
	/* unmapped, without a flush */
	:: d_step { pv_ref != NONE -> count[pv_ref]--; pv_ref = NONE }
	:: d_step { pv_tlb != NONE && pv_ref == NONE -> assert(where[pv_tlb] != other) }
	:: d_step { pv_tlb != NONE -> pv_tlb = NONE }
	od
}

proctype other_domain()
{
	byte mine = NONE;

	do
	:: mine == NONE ->
		allocate(mine, other);
		if
		:: d_step { mine != NONE -> is_owned[mine] = true; used[mine] = true }
		:: mine == NONE
		fi
	:: d_step { mine != NONE -> assert(where[mine] == other) }
	:: mine != NONE -> free(mine); mine = NONE
	od
}

init
{
	atomic {
		d_step {
			count[0] = 1;
			is_owned[0] = true;
			where[0] = reserve;
			used[0] = true
		};
		run cpu(0);
		run cpu(1);
		run pv_domain();
		run other_domain()
	}
}

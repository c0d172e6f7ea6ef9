/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Populating against destroying: populate.c's map(), give_back() and
 * free_page(), relinquish_memory(), and the references of a frame.
 *
 * One frame that a domain may have, and another domain, too.  Two callers
 * populate a gfn each and fail at times, another one does for the guest what a
 * balloon does, and one destroys.
 */
mtype = { nobody, taken, ours, other };

/* the frame; @listed: on the domain's list of pages, @mapped: has a gfn */
mtype owner = nobody;
byte count;
bool allocated, listed, mapped;

/* the p2m's entries have the frame */
bool entry[2];
bool p2m_locked, list_locked, dying;
byte pages, left = 3, done;

inline lock_p2m() { d_step { !p2m_locked -> p2m_locked = true } }
inline lock_list() { d_step { !list_locked -> list_locked = true } }

/* The last reference is gone.  @has: the caller has the list's lock. */
inline free(has)
{
	if
	:: owner == ours && !has -> lock_list()
	:: else
	fi;
	d_step {
		assert(owner == ours || owner == other);
		assert(!count && !allocated);
		if
		:: owner == ours -> pages--; listed = false; list_locked = has
		:: else
		fi;
		owner = nobody;
		mapped = false
	}
}

inline put(has)
{
	d_step { assert(count); count--; last = !count };
	if
	:: last -> last = false; free(has)
	:: else
	fi
}

/* get_page(): the owner is looked at when the reference is there */
inline get(by, has)
{
	d_step { got = (count > 0); count = count + got };
	if
	:: got && owner != by -> got = false; put(has)
	:: else
	fi
}

/* put_page_alloc_ref(), with its BUG_ON() */
inline put_alloc(has)
{
	d_step { had = allocated; allocated = false };
	if
	:: had -> had = false; assert(count > 1); put(has)
	:: else
	fi
}

inline free_page()
{
#ifdef NO_OWN_REFERENCE
	put_alloc(false);
#else
#ifdef OWNER_NOT_CHECKED
	get(owner, false);
#else
	get(ours, false);
#endif
	if
	:: got -> got = false; put_alloc(false); put(false)
	:: else
	fi
#endif
}

/* assign_pages() */
inline assign()
{
	lock_list();
	d_step {
		if
		:: dying -> owner = nobody
		:: else ->
			owner = ours;
			count = 1;
			allocated = true;
			listed = true;
			pages++;
			has = true
		fi;
		list_locked = false
	}
}

/* What has no gfn nobody can have found by one. */
inline give_back()
{
	d_step {
		if
		:: entry[gfn] -> entry[gfn] = false; mapped = false
		:: else
		fi;
		unmapped = !mapped
	};
	if
	:: unmapped -> unmapped = false; free_page()
	:: else
	fi
}

proctype populate(byte gfn)
{
	bool has, got, had, last, unmapped;

	do
	:: d_step { left && owner == nobody -> left--; owner = taken };
		assign();
		if
		:: !has
		/* another piece of the block was not to be had */
		:: has -> free_page()
		:: has ->
			lock_p2m();
			/* but for who destroys, nobody can know of it */
			d_step { assert(dying || owner == ours); entry[gfn] = true; mapped = true };
			if
			/* the IOMMU's tables failed, say */
			:: true ->
#ifdef GFN_LOCKED_TOO_LATE
				p2m_locked = false;
				lock_p2m();
#endif
				give_back()
			:: true
			fi;
			p2m_locked = false
		fi;
		has = false
	:: break
	od;
	done++
}

/* guest_remove_page(), of either gfn */
proctype balloon()
{
	bool has, got, had, last;

	do
	:: lock_p2m();
		d_step {
			has = (entry[0] || entry[1]);
			entry[0] = false;
			entry[1] = false;
			mapped = mapped && !has
		};
		if
		:: has ->
			get(ours, false);
			if
			:: got -> got = false; put_alloc(false); put(false)
			:: else
			fi
		:: else
		fi;
		has = false;
		p2m_locked = false
	:: break
	od;
	done++
}

/* domain_kill() */
proctype destroy()
{
	bool got, had, last;

	dying = true;
	lock_list();
	if
	:: listed ->
		get(ours, true);
		if
		:: got -> got = false; put_alloc(true); put(true)
		/* somebody else is freeing it */
		:: else
		fi
	:: else
	fi;
	list_locked = false;
	done++
}

proctype another()
{
	bool got, had, last;

end:	do
	:: d_step { owner == nobody -> owner = other; count = 1; allocated = true };
		/* its own until it gives it away */
		do
		:: d_step { assert(owner == other && count && allocated) }
		:: break
		od;
		get(other, false);
		assert(got);
		got = false;
		put_alloc(false);
		put(false)
	od
}

init
{
	atomic {
		run populate(0);
		run populate(1);
		run balloon();
		run destroy();
		run another()
	}
	done == 4 -> assert(!pages && owner != ours)
}

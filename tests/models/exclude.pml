/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * First-touch and what it does not go together with, both of which can be
 * switched on while the domain runs, by callers that share no lock:
 * p2m_numa_untouched_init(), and altp2m, memory sharing or memory paging.
 * Whoever comes sets its own mark first, and looks for the other's then.
 * First-touch's is that there is a reserve, for altp2m, and for the other two
 * that it is there for any time: one that populating on demand alone has made
 * is none, and becomes one as this one does.
 */
bool reserve, other, locked, granted;
byte busy, done;

inline begin() { busy++ }
inline end_of_it() { d_step { busy--; assert(busy || !(reserve && other)) } }

/* Two may ask for it.  To whom it is granted, for him there is a reserve, for ever. */
proctype first_touch()
{
	bool sure;

	do
	:: atomic { !granted -> begin(); sure = false };
#ifdef BELIEVED_WITHOUT_THE_LOCK
		sure = reserve;
#endif
		if
		:: sure
		:: else ->
			atomic { !locked -> locked = true };
			if
			:: reserve || other
			:: else ->
				reserve = true;
#ifndef FIRST_TOUCH_LOOKS_ONCE
				if
				:: other -> reserve = false
				:: else
				fi
#endif
			fi;
			sure = reserve;
			locked = false
		fi;
		granted = granted || sure;
		end_of_it()
	:: break
	od;
	done++
}

proctype switch_on()
{
	do
	:: atomic { !other -> begin() };
#ifdef OTHER_LOOKS_FIRST
		if
		:: !reserve -> other = true
		:: else
		fi;
#else
		other = true;
		if
		:: reserve -> other = false
		:: else
		fi;
#endif
		end_of_it()
	:: other -> other = false
	:: break
	od;
	done++
}

init
{
	atomic {
		run first_touch();
		run first_touch();
		run switch_on()
	}
	done == 3 -> assert(!(reserve && other) && (!granted || reserve))
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starting and stopping to sample: sample-control.c, sampling.c, and
 * sample-pages.c for the ring.
 *
 * Two callers start and stop as they like, the sampling works and may end by
 * itself, a reader maps the ring, somebody destroys the domain.  What is done
 * under the lock of struct numa_policy is one step.
 */
#define STARTS 3
#define SIZE   4        /* a sampling is known by its number, from 1 on */
#define CALLS  2

/* struct numa_policy */
byte sampling, pages;
bool starts;

/* struct access_sampling, by number */
bool alive[SIZE], stopping[SIZE], ended[SIZE];
bool set[SIZE], killed[SIZE], working[SIZE];

/* which one the p2m knows; which ring there is */
byte attached, ring;

byte numbers, rings, done;
bool dying;

inline free_ring(which)
{
	d_step { assert(ring == which); ring = 0; which = 0 }
}

/* numa_sampling_end(), with what the timer and the tasklet wait for */
inline free_sampling(s)
{
	if
	:: s ->
		killed[s] = true;
#ifndef TASKLET_NOT_AWAITED
		!working[s];
#endif
		d_step {
			assert(alive[s]);
			if
			:: !ended[s] -> assert(attached == s); attached = 0
			:: else
			fi;
			alive[s] = false;
			s = 0
		}
#ifdef RING_ENDS_WITH_SAMPLING
		;
		d_step { pages = 0; ring = 0 }
#endif
	:: else
	fi
}

inline start()
{
	d_step {
		old = sampling;
#ifdef TWO_STARTS
		busy = (old && !ended[old]);
#else
		busy = (starts || (old && !ended[old]));
#endif
		if
		:: busy -> old = 0
		:: else -> sampling = 0; starts = true
		fi
	};
	if
	:: !busy ->
		free_sampling(old);

		/* that of before, or one that nobody is told of yet; a dying domain gets none */
		if
		:: !pages ->
			d_step {
				if
				:: !dying -> assert(!ring); rings++; ring = rings; mine = ring
				:: else
				fi
			}
		:: else -> mine = pages
		fi;

		/* new_sampling(): clears the first page, attaches the source */
		if
		:: mine ->
			d_step {
				assert(ring == mine);
				if
				:: !attached && numbers < STARTS ->
					numbers++;
					s = numbers;
					alive[s] = true;
					attached = s
				:: else
				fi
			}
		:: else
		fi;

		d_step {
			starts = false;
#ifdef DEATH_NOT_SEEN
			failed = !s;
#else
			failed = (!s || dying);
			if
			:: dying -> pages = 0
			:: else
			fi;
#endif
			if
			:: !failed -> assert(!sampling); sampling = s; set[s] = true; s = 0; pages = mine
			:: else
			fi;
			if
			:: mine == pages -> mine = 0
			:: else
			fi
		};
		free_sampling(s);
		if
		:: mine -> free_ring(mine)
		:: else
		fi
	:: else
	fi;
	d_step { old = 0; busy = false; failed = false; s = 0; mine = 0 }
}

/* What was there at first is waited for: nothing else may be stopped, or freed. */
inline look()
{
	s = sampling;
#ifndef STOP_FORGETS_WHICH
	s = (s == asked -> s : 0);
#endif
	assert(!s || s == asked);
	if
	:: s && ended[s] -> old = s; sampling = 0; s = 0
	:: s && !ended[s] && !stopping[s] -> stopping[s] = true
	:: else
	fi
}

inline stop()
{
	d_step {
		asked = sampling;
		look()
	};
	/* each time round is a continuation */
	do
	:: s -> d_step { look() }
	:: else -> break
	od;
	free_sampling(old);
	asked = 0
}

proctype caller()
{
	byte calls = CALLS, s, old, asked, mine;
	bool busy, failed;

	do
	:: d_step { calls && !dying -> calls-- };
		if
		:: true -> start()
		:: true -> stop()
		fi
	:: break
	od;
	calls = 0;
	done++
}

/* timer_fn() and work() */
proctype work(byte me)
{
end:	do
	:: d_step { set[me] && !killed[me] && !ended[me] -> working[me] = true };
		d_step { assert(alive[me] && ring && attached == me) };
		if
		/* unfit, or unread */
		:: d_step { !stopping[me] -> stopping[me] = true }
		:: !stopping[me]
		:: d_step { stopping[me] -> assert(attached == me); attached = 0 };
			ended[me] = true
		fi;
		working[me] = false
	od
}

/* Told of frames, it may map them at any time. */
proctype reader()
{
	byte told;

	do
	:: d_step { pages && !dying -> told = pages };
		assert(dying || ring == told);
		told = 0
	:: dying -> break
	od;
	done++
}

/* domain_kill(): numa_sampling_teardown() */
proctype destroy()
{
	byte s, mine;

	dying = true;
	d_step {
		s = sampling;
		sampling = 0;
#ifndef RING_TAKEN_FROM_START
		if
		:: !starts -> mine = pages; pages = 0
		:: else
		fi
#else
		mine = pages;
		pages = 0
#endif
	};
	free_sampling(s);
	if
	:: mine -> free_ring(mine)
	:: else
	fi;
	done++
}

init
{
	atomic {
		run caller();
		run caller();
		run work(1);
		run work(2);
		run work(3);
		run reader();
		run destroy()
	}
	done == 4 ->
	d_step {
		assert(!sampling && !pages && !ring && !attached);
		assert(!alive[1] && !alive[2] && !alive[3])
	}
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals are waited for instead of handled: none is missed, none comes amid a step. */
#include <time.h>

#include "base/pace.h"

#define SECOND 1000000000ULL

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

void pace_begin(struct pace *pace, uint64_t limit)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct sigaction action;
	unsigned int i;

	pace->limit = limit;
	pace->begin = pace->step = pace->due = now();

	sigemptyset(&pace->stop);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		/* Who started us in the background may not want us to be stopped. */
		if (!sigaction(signals[i], NULL, &action) &&
		    action.sa_handler != SIG_IGN)
			sigaddset(&pace->stop, signals[i]);
	sigprocmask(SIG_BLOCK, &pace->stop, NULL);
}

int pace_wait(struct pace *pace, uint64_t ns)
{
	struct timespec wait = { ns / SECOND, ns % SECOND };
	int signal = sigtimedwait(&pace->stop, NULL, &wait);

	return signal > 0 ? signal : 0;
}

int pace_step(struct pace *pace, uint64_t bytes)
{
	uint64_t t, wait = 0;
	int signal;

	if (pace->limit) {
		t = now();
		/* Time that was not used is lost: making up for it is a burst. */
		if (pace->due < pace->step)
			pace->due = pace->step;
		pace->due += bytes * SECOND / pace->limit;
		if (pace->due > t)
			wait = pace->due - t;
	}
	signal = pace_wait(pace, wait);
	pace->step = now();
	return signal;
}

uint64_t pace_elapsed(const struct pace *pace)
{
	return now() - pace->begin;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded to Debian's hpcc: runs one of its tests, and marks it for the emulator plugin.
 *
 *   HPCC_TEST=StarSTREAM LD_PRELOAD=hpcc-choose.so hpcc
 *
 * hpcc runs all its tests one after the other, for minutes on an emulated machine.  It has a flag for each (RunHPL and so on in
 * HPCC_Params), and sets them all, without a way to say otherwise.  So they are set here: in every process, at the first barrier
 * after they have been filled in, which is before the first test.  The tests themselves run as they are.
 *
 * Process 0 writes "Begin of NAME section." and its end into the results; there the markers are executed.  hpcc's summary says
 * of the tests that did not run that they gave -1.
 *
 * A process of MPI that waits for another one calls sched_yield() in a loop.  Here it sleeps instead: an emulator has fewer CPUs
 * than it emulates, and a loop that waits would take them from those that are waited for, and be counted as work.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "marker.h"

#define REGION 1

typedef struct ompi_communicator_t *communicator;
int PMPI_Barrier(communicator group);
int MPI_Barrier(communicator group);

/* In the order of the flags in HPCC_Params; FLAGS ones, and three -1 behind them. */
static const char *const tests[] = {
	"HPL", "StarDGEMM", "SingleDGEMM", "PTRANS", "StarSTREAM", "SingleSTREAM",
	"MPIRandomAccess_LCG", "StarRandomAccess_LCG", "SingleRandomAccess_LCG",
	"MPIRandomAccess", "StarRandomAccess", "SingleRandomAccess",
	"StarFFT", "SingleFFT", "MPIFFT", "LatencyBandwidth",
};
#define FLAGS (sizeof(tests) / sizeof(*tests))
#define BEHIND 3

static __attribute__((noreturn)) void give_up(const char *why)
{
	dprintf(2, "hpcc-choose: %s\n", why);
	_exit(2);
}

/* HPCC_Params is a local variable of main(): on the stack, between here and the words of the command line. */
static int *find_flags(void)
{
	int *end = (int *)((uintptr_t)program_invocation_name & ~(sizeof(int) - 1)) - FLAGS - BEHIND;

	for (int *at = __builtin_frame_address(0); at < end; at++) {
		size_t i = 0;

		while (i < FLAGS && at[i] == 1)
			i++;
		while (i >= FLAGS && i < FLAGS + BEHIND && at[i] == -1)
			i++;
		if (i == FLAGS + BEHIND)
			return at;
	}
	return NULL;
}

static const char *chosen(void)
{
	const char *name = getenv("HPCC_TEST");

	return name ? name : "";
}

int MPI_Barrier(communicator group)
{
	static bool done;
	int *flags = done ? NULL : find_flags();

	if (flags) {
		bool known = false;

		for (size_t i = 0; i < FLAGS; i++) {
			flags[i] = !strcmp(tests[i], chosen());
			known |= flags[i];
		}
		if (!known)
			give_up("HPCC_TEST names none of its tests");
		done = true;
	}
	return PMPI_Barrier(group);
}

int sched_yield(void)
{
	static const struct timespec moment = { .tv_nsec = 100000 };

	return nanosleep(&moment, NULL);
}

/* Whether a text is "WORD of NAME section." of the chosen test. */
static bool is_section(const char *text, size_t length, const char *word)
{
	char wanted[80];
	int size = snprintf(wanted, sizeof(wanted), "%s of %s section.\n", word, chosen());

	return size == (int)length && !memcmp(text, wanted, length);
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *file)
{
	static bool begun;

	if (!begun && is_section(data, size * count, "Begin")) {
		begun = true;
		new_marker(REGION, 0)();
	} else if (begun && is_section(data, size * count, "End")) {
		new_marker(REGION, 1)();
	}
	return fwrite_unlocked(data, size, count, file);
}

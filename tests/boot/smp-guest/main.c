// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * smp-guest: a PVH guest without an operating system, that uses its memory with all its vCPUs as a program does that is named on its
 * command line.  A guest-physical address is a virtual one, and nothing is touched but by the program: see memory.c.
 */
#include "guest.h"

#include <string.h>

#include <xen/arch-x86/hvm/start_info.h>

#include "xen.h"

#define WORDS 8

int memory_access(int argc, char **argv);
int memory_events(int argc, char **argv);
int memory_shift(int argc, char **argv);
int memory_touch(int argc, char **argv);

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} programs[] = {
	{ "memory-access", memory_access },
	{ "memory-events", memory_events },
	{ "memory-shift", memory_shift },
	{ "memory-touch", memory_touch },
};

void first_vcpu(const struct hvm_start_info *start) __attribute__((noreturn));

static int split(char *line, char *words[WORDS + 1])
{
	int count = 0;

	for (; *line; line++) {
		if (*line == ' ')
			continue;
		if (count == WORDS)
			die_of("more than %d words", WORDS);
		words[count++] = line;
		while (line[1] && line[1] != ' ')
			line++;
		if (line[1])
			*++line = '\0';
	}
	words[count] = NULL;
	return count;
}

void first_vcpu(const struct hvm_start_info *start)
{
	char *words[WORDS + 1];
	int count;

	set_this_cpu(0);
	catch_exceptions();
	start_xen();
	start_console();
	start_memory(start);
	start_vcpus();
	count = split((char *)start->cmdline_paddr, words);
	for (size_t i = 0; count && i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(words[0], programs[i].name)) {
			programs[i].main(count, words);
			die_of("%s has ended", words[0]);
		}
	die_of("no program '%s'", count ? words[0] : "");
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* From Xen's start_info to the program, and what the compiler takes for granted. */
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "hypercall.h"
#include "report.h"

#define PAGE_FAULT 14
#define WORDS 16

const struct start_info *start_info;

static char words_of[MAX_GUEST_CMDLINE];
static const char *words[WORDS];
static int count;

void first_cpu(const struct start_info *start) __attribute__((noreturn));
void unexpected_page_fault(unsigned long rip) __attribute__((noreturn));
void page_fault(void);

void *memset(void *to, int c, size_t size)
{
	for (char *at = to; size--; at++)
		*at = c;
	return to;
}

void *memcpy(void *to, const void *from, size_t size)
{
	const char *source = from;

	for (char *at = to; size--; at++)
		*at = *source++;
	return to;
}

void unexpected_page_fault(unsigned long rip)
{
	die_of("page fault at 0x%lx", rip);
}

static bool starts_with(const char *word, const char *start)
{
	while (*start && *word == *start) {
		word++;
		start++;
	}
	return !*start;
}

bool argument(const char *word)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(words[i], word))
			return true;
	return false;
}

unsigned long number_of(const char *name, unsigned long otherwise)
{
	size_t length = strlen(name);

	for (int i = 0; i < count; i++)
		if (starts_with(words[i], name) && words[i][length] == '=')
			return strtoul(words[i] + length + 1, NULL, 0);
	return otherwise;
}

static void split(void)
{
	bool between = true;

	for (char *at = words_of; *at; at++) {
		if (*at == ' ') {
			*at = '\0';
			between = true;
		} else if (between) {
			if (count == WORDS)
				crash("too many words");
			words[count++] = at;
			between = false;
		}
	}
}

void first_cpu(const struct start_info *start)
{
	struct trap_info traps[] = { { PAGE_FAULT, 0, FLAT_KERNEL_CS, (uintptr_t)page_fault }, { 0 } };

	start_info = start;
	memcpy(words_of, start->cmd_line, sizeof(words_of) - 1);
	split();
	if (!count)
		crash("there is no nonce on the command line");
	begin_report(words[0]);
	if (hypercall(__HYPERVISOR_set_trap_table, (uintptr_t)traps, 0, 0, 0))
		crash("page faults cannot be caught");
	program();
	end_report();
}

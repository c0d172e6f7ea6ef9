/* SPDX-License-Identifier: GPL-2.0-only */
/* What the unit tests share: cmocka, and machines from words. */
#ifndef NUMASIM_TEST_H
#define NUMASIM_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>
#include <string.h>

#include "machine.h"

#define MIB (1u << 20)
#define GIB (1u << 30)

/* Node n of eight has CPU n and the GiB number n. */
#define EIGHT_NODES \
	"out=/dev/null", "node=0@0-0x40000000", "node=1@0x40000000-0x80000000", "node=2@0x80000000-0xc0000000", \
	"node=3@0xc0000000-0x100000000", "node=4@0x100000000-0x140000000", "node=5@0x140000000-0x180000000", \
	"node=6@0x180000000-0x1c0000000", "node=7@0x1c0000000-0x200000000"
#define EIGHT_WORDS 9

/* The amd48 of eight CPUs, with up to four more words. */
static inline struct machine test_machine(const char *word, ...)
{
	char *words[EIGHT_WORDS + 4] = { EIGHT_NODES };
	int n = EIGHT_WORDS;
	struct machine m;
	char *wrong;
	va_list more;

	va_start(more, word);
	for (; word; word = va_arg(more, const char *)) {
		assert_true(n < EIGHT_WORDS + 4);
		words[n++] = (char *)word;
	}
	va_end(more);
	wrong = machine_parse(&m, n, words, 8);
	if (wrong)
		fail_msg("%s", wrong);
	return m;
}

#endif

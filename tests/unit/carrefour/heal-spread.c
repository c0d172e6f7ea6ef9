/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "control/heal.h"
#include "heal-spread.h"
#include "periods.h"

void begin_spread(unsigned int nr)
{
	unsigned int i;

	begin(2, nr);
	d.config.heal = HEAL_ADVISE;
	for (i = 1; i <= nr; i++) {
		fake_guest(i)->switches.carrefour = false;
		fake_guest(i)->bytes[0] = 0;
		fake_guest(i)->bytes[i % 2] = GIB;
		fake_guest(i)->prefers = 1 << i % 2;
	}
	fake_guest(1)->bytes[0] = fake_guest(1)->bytes[1] = GIB;
	fake_guest(1)->load = 2;
	fake_guest(1)->prefers = 3;
}

static char *view(void)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	heal_view(f, &d);
	fclose(f);
	return text;
}

void assert_view(const char *what)
{
	char *text = view();

	if (!strstr(text, what))
		fail_msg("no %s in %s", what, text);
	free(text);
}

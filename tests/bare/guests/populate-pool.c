// SPDX-License-Identifier: GPL-2.0-or-later
/* Uses up the tables of its own p2m, and asks for an extent that needs one more. */
#include "hostile.h"

static void guest(unsigned long cpu)
{
	unsigned long pages = 0;

	if (cpu)
		return;
	reach(1);
	while (populate(PAGES_1G * (pages + 1), 0) == 1)
		pages++;
	mailbox->values[0] = pages;
	reach(2);
	mailbox->values[1] = populate(1000 * PAGES_1G + PAGES_2M / 2 + 1, 1);
	mailbox->values[2] = populate(1, 1);
	reach(GUEST_ENDED);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Populates where four levels of tables have no place. */
#include "hostile.h"

#define BEYOND (1UL << 36)
#define ALIAS (1UL << 63 | 0x1291)

static void guest(unsigned long cpu)
{
	if (cpu)
		return;
	mailbox->values[0] = populate(BEYOND, 0);
	mailbox->values[1] = populate(~0UL, 0);
	mailbox->values[2] = populate(ALIAS, 0);
	mailbox->values[3] = populate(ALIAS & -PAGES_2M, 9);
	reach(GUEST_ENDED);
}

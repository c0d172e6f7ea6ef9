// SPDX-License-Identifier: GPL-2.0-or-later
/* For test_bare_boot.py: each of these ends must be red, though all that came before was well. */
#include "bare.h"

#include <stdint.h>

#include <xen/sched.h>

#include "hypercall.h"

void program(void)
{
	struct sched_shutdown shutdown = { .reason = SHUTDOWN_reboot };

	outcome("it goes well", 1);
	if (argument("fault"))
		*(volatile char *)-(1UL << 12) = 0;
	if (argument("leave"))
		hypercall(__HYPERVISOR_sched_op, SCHEDOP_shutdown, (uintptr_t)&shutdown, 0, 0);
	if (argument("die"))
		die_of("%s", "what it was");
}

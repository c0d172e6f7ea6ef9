// SPDX-License-Identifier: GPL-2.0-or-later
/* The guest's console, on which xenconsoled logs all that is said, and writes lines that somebody in dom0 has for the guest. */
#include "guest.h"

#include <xen/hvm/params.h>
#include <xen/io/console.h>

#include "xen.h"

static struct xencons_interface *ring;
static evtchn_port_t port;

void start_console(void)
{
	ring = (struct xencons_interface *)(hvm_parameter(HVM_PARAM_CONSOLE_PFN) * PAGE);
	port = hvm_parameter(HVM_PARAM_CONSOLE_EVTCHN);
}

static XENCONS_RING_IDX load(const XENCONS_RING_IDX *index)
{
	return __atomic_load_n(index, __ATOMIC_ACQUIRE);
}

void write_console(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		while (ring->out_prod - load(&ring->out_cons) == sizeof(ring->out)) {
			notify(port);
			wait_event(port);
		}
		ring->out[MASK_XENCONS_IDX(ring->out_prod, ring->out)] = text[i];
		__atomic_store_n(&ring->out_prod, ring->out_prod + 1, __ATOMIC_RELEASE);
	}
	if (length && text[length - 1] == '\n')
		notify(port);
}

void wait_written(void)
{
	while (load(&ring->out_cons) != ring->out_prod)
		wait_event(port);
}

bool line_came(void)
{
	while (ring->in_cons != load(&ring->in_prod)) {
		char c = ring->in[MASK_XENCONS_IDX(ring->in_cons, ring->in)];

		__atomic_store_n(&ring->in_cons, ring->in_cons + 1, __ATOMIC_RELEASE);
		if (c == '\n') {
			notify(port);
			return true;
		}
	}
	return false;
}

void wait_for_go(const char *reached)
{
	say("%s\n", reached);
	while (!line_came())
		wait_event(port);
}

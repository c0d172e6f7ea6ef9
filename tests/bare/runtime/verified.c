// SPDX-License-Identifier: GPL-2.0-or-later
/* The maker's side of guests/verified.c. */
#include <stdint.h>

#include "bare.h"
#include "mailbox.h"
#include "verified.h"

struct mailbox *start_verified(domid_t domid, unsigned long first, unsigned long pages, unsigned int cpu)
{
	struct mailbox *mailbox = mailbox_of(domid);

	mailbox->values[VERIFIED_FIRST] = first;
	mailbox->values[VERIFIED_PAGES] = pages;
	for (unsigned int vcpu = 0; vcpu < GUEST_CPUS; vcpu++)
		pin_vcpu(domid, vcpu, cpu + vcpu);
	start_guest(domid, GUEST_CPUS);
	return mailbox;
}

static uint64_t rounds_of(const struct mailbox *mailbox, unsigned int vcpu)
{
	return __atomic_load_n(&mailbox->values[VERIFIED_ROUNDS + vcpu], __ATOMIC_SEQ_CST);
}

void wait_rounds(domid_t domid, const struct mailbox *mailbox, unsigned int rounds)
{
	uint64_t had[GUEST_CPUS];

	for (unsigned int vcpu = 0; vcpu < GUEST_CPUS; vcpu++)
		had[vcpu] = rounds_of(mailbox, vcpu);
	for (unsigned int vcpu = 0; vcpu < GUEST_CPUS; vcpu++)
		while (rounds_of(mailbox, vcpu) < had[vcpu] + rounds) {
			if (!domain_lives(domid))
				die_of("d%d is no more", domid);
			yield();
		}
}

unsigned long wrong_of_guest(const struct mailbox *mailbox)
{
	return mailbox->values[VERIFIED_WRONG] + mailbox->values[VERIFIED_WRONG + 1];
}

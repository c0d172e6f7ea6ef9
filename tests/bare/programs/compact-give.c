// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * 2 MiB of a guest are put together, divided, and put together again, by each policy that keeps them, while the guest gives its pages back
 * and takes others in their place: each word is what it has written, no page is lost, and what is told of its nodes is what is there.
 * times=NUMBER that something becomes one, by each policy.
 */
#include <stdint.h>

#include "bare.h"
#include "give-take.h"
#include "random.h"

GUEST_IMAGE(image, "give-take.guest");

#define NODES 2
#define MIB 16
#define XMALLOC_KEEPS 16		/* pages, for the next time */

static const uint32_t policies[] = { XEN_NUMA_POLICY_NONE, XEN_NUMA_POLICY_ROUND_2M, XEN_NUMA_POLICY_FIRST_TOUCH };
#define NR_POLICIES (sizeof(policies) / sizeof(*policies))

static domid_t domid;
static struct mailbox *mailbox;

static void create(void)
{
	domid = new_domain(MIB, GUEST_CPUS);
	set_policy(domid, XEN_NUMA_POLICY_NONE, 0, NULL, 0);
	load_guest(domid, image, image_end);
	for (unsigned long i = 0; i < TAKEN_PAGES; i++)
		if (populate(domid, TAKEN_GFN + i, 0, i % NODES) != 1)
			crash("there is no memory");
	mailbox = mailbox_of(domid);
	mailbox->values[SEED] = number_of("seed", 1);
	for (unsigned int cpu = 0; cpu < GUEST_CPUS; cpu++)
		pin_vcpu(domid, cpu, online_cpus() - GUEST_CPUS + cpu);
	start_guest_program(domid, GUEST_CPUS);
}

/* Until something became one so many times. */
static unsigned long put_together(uint32_t policy, unsigned long wanted)
{
	unsigned long pages = 0, times = 0;

	while (times < wanted) {
		unsigned long joined;

		set_policy(domid, XEN_NUMA_POLICY_ROUND_4K, 0x3, NULL, 0);
		rebalance(domid);
		set_policy(domid, policy, policy ? 0x1 << times % NODES : 0, NULL, 0);
		for (unsigned int i = 0; i < 4; i++) {
			joined = compact(domid);
			pages += joined;
			times += !!joined;
			yield();
		}
		if (!domain_lives(domid))
			die_of("the guest is no more");
	}
	return pages;
}

void program(void)
{
	unsigned long before[NODES], had, has, pages = 0, given, released, wrong;
	long lost[NODES];

	for (unsigned int node = 0; node < NODES; node++)
		before[node] = free_pages(node, 0);
	create();
	had = total_pages(domid);
	for (unsigned int i = 0; i < NR_POLICIES; i++)
		pages += put_together(policies[i], number_of("times", 16));
	note("pages that became one", pages);
	__atomic_store_n(&mailbox->go, 1, __ATOMIC_SEQ_CST);
	promise("the guest comes to its end", wait_guest(domid, GUEST_ENDED));
	given = mailbox->values[GIVEN] + mailbox->values[GIVEN + 1];
	released = mailbox->values[RELEASED] + mailbox->values[RELEASED + 1];
	wrong = mailbox->values[WRONG_WORDS] + mailbox->values[WRONG_WORDS + 1];
	note("pages that it gave back", given);
	note("pages that it said were free", released);
	promise("it has given pages back meanwhile", given && released);
	promise("each word is what it has written", !wrong);
	has = total_pages(domid);
	note("pages more than before", (long)(has - had));
	promise("it has as many pages as before", has == had);
	promise("its nodes are told as they are", usage_is_located(domid, TAKEN_GFN + TAKEN_PAGES));
	unmap_page(MAILBOX_WINDOW);
	promise("it can be destroyed", !destroy_domain(domid));
	await_free(before, lost, NODES, XMALLOC_KEEPS);
	note("pages less on node 0", lost[0]);
	note("pages less on node 1", lost[1]);
	promise("each node has the free memory that it had", lost[0] <= XMALLOC_KEEPS && lost[1] <= XMALLOC_KEEPS);
}

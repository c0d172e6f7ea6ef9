/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program that is the whole of dom0 has: its report, domains, their pages, guests, and a second vCPU. */
#ifndef BARE_H
#define BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xen/xen.h>
#include <xen/domctl.h>

#include "guest.h"		/* of tests/boot/smp-guest, for its text.c: say(), die_of(), strcmp(), … */

#define PAGE_SHIFT 12
#define ORDER_2M 9
#define PAGES_2M (1UL << ORDER_2M)
#define PAGES_1G (1UL << 18)
#define ANY_NODE (-1)
#define MOST_NODES 4

/* Each program has this; the report is complete when it returns. */
void program(void);

/* Whether a word is on the command line. */
bool argument(const char *word);
/* The number of a word name=number there. */
unsigned long number_of(const char *name, unsigned long otherwise);

/* report.c.  What is the same on stock Xen; what a Xen with the series promises; what is good to know. */
void outcome(const char *name, long value);
void promise(const char *name, bool kept);
void note(const char *name, long value);

/* domain.c.  What fails there and is not the question is the end of the program. */
domid_t new_domain(unsigned long mib, unsigned int vcpus);
/* One that altp2m may be switched on for: `mode` of XEN_DOMCTL_ALTP2M_, or 0. */
domid_t new_altp2m_domain(unsigned long mib, unsigned int vcpus, uint32_t mode);
/* The first step of it, which may fail; without memory and vCPUs. */
long create_domain(domid_t *domid, unsigned int vcpus);
void set_max_pages(domid_t domid, unsigned long pages);
void finish_creation(domid_t domid);
long destroy_domain(domid_t domid);
bool domain_lives(domid_t domid);
void get_domain_info(domid_t domid, struct xen_domctl_getdomaininfo *info);
unsigned long total_pages(domid_t domid);
void set_affinity(domid_t domid, unsigned long nodes);
/* Its clock is the processor's own: to read it costs no exit. */
void give_native_tsc(domid_t domid);
/* Of the CPUs, where they are not enough, under sched=credit: all others have 256. */
void set_weight(domid_t domid, unsigned int weight);
void pin_vcpu(domid_t domid, unsigned int vcpu, unsigned int cpu);
/* finish_creation() lets it go on. */
void stop_domain(domid_t domid);
/* The others of this CPU have it. */
void yield(void);
long do_domctl(struct xen_domctl *op, uint32_t cmd, domid_t domid);
/* Extents populated, 0 or 1. */
long populate(domid_t domid, unsigned long gfn, unsigned int order, int node);
/* So many blocks of 2 MiB that have so many pages altogether, of a domain that has no memory yet. */
void begin_on_demand(domid_t domid, unsigned long gfn, unsigned long blocks, unsigned long pages);
/* Of all that is free, for the domain to get later; 0: no more. */
long claim_pages(domid_t domid, unsigned long pages);
long release_page(domid_t domid, unsigned long gfn);
/* Single pages at the first gfns of GiB after GiB, from `from` on, until one is not populated: how many were.  Each takes a table. */
unsigned long use_up_tables(domid_t domid, unsigned long from);
/* In pages, below 2^bits if bits are not 0. */
unsigned long free_pages(unsigned int node, unsigned int bits);
unsigned int online_cpus(void);

/* free.c */
/* dom0's first vCPU is on each CPU once: RCU lets go of a domain then. */
void pass_cpus(void);
/* Of each node, as soon as it stays the same. */
void await_rest(unsigned long pages[], unsigned int nodes);
/* Of each node what is less than before, as soon as that is at most `kept`, or when nothing comes back any more. */
void await_free(const unsigned long before[], long missing[], unsigned int nodes, long kept);

/* pages.c.  Windows into the memory of a domain. */
#define MAILBOX_WINDOW 3		/* mailbox_of() */
#define RING_WINDOW 6			/* sampling.h, and all behind it */
#define RING_FRAMES 65
#define WINDOWS (RING_WINDOW + RING_FRAMES)
/* NULL: there is no such page. */
void *try_map_page(unsigned int window, domid_t domid, unsigned long gfn);
void *map_page(unsigned int window, domid_t domid, unsigned long gfn);
/* A frame that is a domain's, but in its memory nowhere. */
void *map_frame(unsigned int window, domid_t domid, unsigned long frame);
unsigned long frame_of(unsigned int window);
/* Of whom a frame is, Xen knows where it has it. */
unsigned long gfn_of_frame(unsigned long frame);
void unmap_page(unsigned int window);
/* The entry is cleared, the TLB is not told. */
void clear_entry(unsigned int window);
/* false: a page fault. */
bool peek(const volatile void *address, uint64_t *value);

/* policy.c: hypercalls that stock Xen has not. */
void set_policy(domid_t domid, uint32_t policy, unsigned long nodes, const uint32_t *weights, unsigned int nr_weights);
/* No batch of pages that move stops writes for longer; 0: no limit. */
void set_limited_policy(domid_t domid, uint32_t policy, unsigned long nodes, uint32_t max_pause_us);
void get_stats(domid_t domid, struct xen_domctl_numa_policy_stats *stats);
void get_weights(domid_t domid, uint32_t *weights, unsigned int room);
unsigned int move_extent(domid_t domid, unsigned long gfn, unsigned int order, unsigned int node);
unsigned int move_page(domid_t domid, unsigned long gfn, unsigned int node);
/* Pages moved, or that would be. */
unsigned long rebalance(domid_t domid);
unsigned long would_rebalance(domid_t domid);
/* Only to put 2 MiB together. */
unsigned long compact(domid_t domid);
unsigned long would_compact(domid_t domid);
struct node_usage {
	uint64_t pages[XEN_NUMA_USAGE_SIZES];
};
void get_usage(domid_t domid, struct node_usage usage[MOST_NODES]);
/* Of 2 MiB. */
unsigned long superpages_of(domid_t domid);
bool is_same_usage(const struct node_usage a[MOST_NODES], const struct node_usage b[MOST_NODES]);
/* Whether that is what is told of each page below @end.  Nothing may change meanwhile. */
bool usage_is_located(domid_t domid, unsigned long end);
unsigned int node_of_page(domid_t domid, unsigned long gfn);
void locate_pages(domid_t domid, struct xen_numa_page *pages, unsigned int nr);
uint32_t get_policy(domid_t domid);
void get_touches(domid_t domid, struct xen_domctl_numa_policy_touches *touches);
/* In the reserve. */
unsigned long untouched_pages(domid_t domid);
/* What may fail. */
long try_policy_op(struct xen_domctl *op, uint32_t what, domid_t domid);
long try_set_policy(domid_t domid, uint32_t policy, unsigned long nodes, const uint32_t *weights, unsigned int nr_weights);

/* fault.c: what a hypervisor with fault/alloc-fault.patch has. */
/* The nth allocation of Xen for a vCPU of the domain fails, and `rest`: all that follow.  Says how many there were since the last call. */
unsigned long arm_fault(domid_t domid, unsigned long nth, bool rest);
unsigned long disarm_fault(void);
/* Bytes that Xen has of what it allocates in less than pages. */
unsigned long small_memory(void);

/* guest.c.  PVH guests, whose programs are in guests/. */
#define GUEST_IMAGE(symbol, file) \
	__asm__(".pushsection .rodata\n" #symbol ": .incbin \"" file "\"\n" #symbol "_end:\n.popsection"); \
	extern const char symbol[], symbol##_end[]
void load_guest(domid_t domid, const char *image, const char *end);
void start_guest(domid_t domid, unsigned int vcpus);
/* Until the guest has come so far, or is no more: false. */
bool wait_guest(domid_t domid, uint32_t state);
struct mailbox *mailbox_of(domid_t domid);
/* Starts it, until its program has come to state 1. */
struct mailbox *start_guest_program(domid_t domid, unsigned int vcpus);

/* verified.c.  A guest whose program is guests/verified.c; its vCPUs are on this CPU and the next one. */
struct mailbox *start_verified(domid_t domid, unsigned long first, unsigned long pages, unsigned int cpu);
/* Each vCPU has written to all pages so often since, or this waits for ever. */
void wait_rounds(domid_t domid, const struct mailbox *mailbox, unsigned int rounds);
unsigned long wrong_of_guest(const struct mailbox *mailbox);

/* cpus.c.  Runs on the second vCPU of dom0 from then on, and does not return. */
void start_second_cpu(void (*work)(void));

/* main.c */
extern const struct start_info *start_info;

#endif

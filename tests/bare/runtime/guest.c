// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts a PVH guest without firmware or kernel: its program lies in memory, and vCPUs begin there in 64-bit mode. */
#include <stdint.h>
#include <string.h>

#include <xen/hvm/save.h>
#include <xen/sched.h>

#include "bare.h"
#include "hypercall.h"
#include "mailbox.h"

#define WINDOW 2		/* for what is loaded; the mailbox keeps MAILBOX_WINDOW */

#define PRESENT_WRITABLE 0x3UL
#define LARGE 0x80UL
#define CR0_PE_ET_PG 0x80000011UL
#define CR4_PAE 0x20UL
#define EFER_LME_LMA 0x500UL
/* Bochs preempts no guest that has interrupts off; there are none. */
#define RFLAGS_RESERVED_IF 0x202UL
/* of segments, as a VMCB has them: xen/include/public/arch-x86/hvm/save.h */
#define CODE64 0xa9b
#define DATA 0xc93
#define TSS 0x8b
#define TSS_LIMIT 0x67
#define DR6_RESET 0xffff0ff0UL
#define DR7_RESET 0x400UL

struct cpu_record {
	struct hvm_save_descriptor descriptor;
	HVM_SAVE_TYPE(CPU) cpu;
} __attribute__((packed));

/* What XEN_DOMCTL_sethvmcontext takes: a header, vCPUs, an end. */
struct context {
	struct hvm_save_descriptor header_descriptor;
	HVM_SAVE_TYPE(HEADER) header;
	struct cpu_record cpus[GUEST_MOST_CPUS];
	struct hvm_save_descriptor end_descriptor;
	HVM_SAVE_TYPE(END) end;
} __attribute__((packed));

static void load_page(domid_t domid, unsigned long gfn, const void *from, size_t size)
{
	char *to = map_page(WINDOW, domid, gfn);

	memset(to, 0, 1 << PAGE_SHIFT);
	memcpy(to, from, size);
	unmap_page(WINDOW);
}

static void load_tables(domid_t domid)
{
	uint64_t table[512] = { (GUEST_TABLES_GFN + 1) << PAGE_SHIFT | PRESENT_WRITABLE };

	load_page(domid, GUEST_TABLES_GFN, table, sizeof(table));
	table[0] = (GUEST_TABLES_GFN + 2) << PAGE_SHIFT | PRESENT_WRITABLE;
	load_page(domid, GUEST_TABLES_GFN + 1, table, sizeof(table));
	for (unsigned long i = 0; i < 512; i++)
		table[i] = i << (PAGE_SHIFT + ORDER_2M) | LARGE | PRESENT_WRITABLE;
	load_page(domid, GUEST_TABLES_GFN + 2, table, sizeof(table));
}

void load_guest(domid_t domid, const char *image, const char *end)
{
	for (unsigned long i = 0; i < GUEST_OWN_PAGES; i++)
		if (populate(domid, GUEST_IMAGE_GFN + i, 0, ANY_NODE) != 1)
			die_of("there is no memory for a guest");
	for (unsigned long gfn = GUEST_IMAGE_GFN; image < end; gfn++, image += 1 << PAGE_SHIFT)
		load_page(domid, gfn, image, end - image < 1 << PAGE_SHIFT ? end - image : 1 << PAGE_SHIFT);
	load_tables(domid);
	load_page(domid, GUEST_MAILBOX_GFN, "", 0);
}

struct mailbox *mailbox_of(domid_t domid)
{
	return map_page(MAILBOX_WINDOW, domid, GUEST_MAILBOX_GFN);
}

static HVM_SAVE_TYPE(CPU) cpu_state(unsigned long number)
{
	return (HVM_SAVE_TYPE(CPU)){
		.rip = GUEST_IMAGE_GFN << PAGE_SHIFT,
		/* as if it had been called */
		.rsp = ((GUEST_STACK_GFN + number + 1) << PAGE_SHIFT) - 8,
		.rdi = number,
		.rflags = RFLAGS_RESERVED_IF,
		.cr0 = CR0_PE_ET_PG,
		.cr3 = GUEST_TABLES_GFN << PAGE_SHIFT,
		.cr4 = CR4_PAE,
		.msr_efer = EFER_LME_LMA,
		.cs_limit = UINT32_MAX, .ds_limit = UINT32_MAX, .es_limit = UINT32_MAX, .ss_limit = UINT32_MAX,
		.cs_arbytes = CODE64, .ds_arbytes = DATA, .es_arbytes = DATA, .ss_arbytes = DATA,
		.tr_limit = TSS_LIMIT, .tr_arbytes = TSS,
		.dr6 = DR6_RESET,
		.dr7 = DR7_RESET,
	};
}

void start_guest(domid_t domid, unsigned int vcpus)
{
	static struct context context;
	struct xen_domctl op = { 0 };
	uint32_t rest;
	char *at;

	memset(&context, 0, sizeof(context));
	context.header_descriptor = (struct hvm_save_descriptor){ HVM_SAVE_CODE(HEADER), 0, HVM_SAVE_LENGTH(HEADER) };
	context.header = (HVM_SAVE_TYPE(HEADER)){ .magic = HVM_FILE_MAGIC, .version = HVM_FILE_VERSION };
	__asm__("cpuid" : "=a"(context.header.cpuid) : "a"(1) : "ebx", "ecx", "edx");
	for (unsigned int i = 0; i < vcpus; i++) {
		context.cpus[i].descriptor = (struct hvm_save_descriptor){ HVM_SAVE_CODE(CPU), i, HVM_SAVE_LENGTH(CPU) };
		context.cpus[i].cpu = cpu_state(i);
	}
	/* the end is behind the last vCPU that there is */
	at = (char *)&context.cpus[vcpus];
	memcpy(at, &(struct hvm_save_descriptor){ HVM_SAVE_CODE(END), 0, HVM_SAVE_LENGTH(END) }, sizeof(struct hvm_save_descriptor));
	rest = at + sizeof(struct hvm_save_descriptor) + HVM_SAVE_LENGTH(END) - (char *)&context;

	op.u.hvmcontext.size = rest;
	set_xen_guest_handle(op.u.hvmcontext.buffer, (uint8_t *)&context);
	if (do_domctl(&op, XEN_DOMCTL_sethvmcontext, domid))
		die_of("the vCPUs of d%d cannot be set", domid);
	finish_creation(domid);
}

bool wait_guest(domid_t domid, uint32_t state)
{
	const struct mailbox *mailbox = mailbox_of(domid);
	struct xen_domctl_getdomaininfo info;

	while (__atomic_load_n(&mailbox->state, __ATOMIC_ACQUIRE) < state) {
		get_domain_info(domid, &info);
		if (info.flags & (XEN_DOMINF_dying | XEN_DOMINF_shutdown))
			return false;
		yield();
	}
	return true;
}

struct mailbox *start_guest_program(domid_t domid, unsigned int vcpus)
{
	start_guest(domid, vcpus);
	if (!wait_guest(domid, 1))
		die_of("the guest is no more");
	return mailbox_of(domid);
}

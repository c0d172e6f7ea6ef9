// SPDX-License-Identifier: GPL-2.0-or-later
/* What goes wrong is seen at once: the guest says what it was, and ends as crashed. */
#include "guest.h"

#include <string.h>

#include <xen/sched.h>

#include "xen.h"

#define VECTORS 32
#define STUB 16			/* bytes of start.S for each */
#define XEN_LOG 0xe9		/* port */

struct gate {
	uint16_t offset_low, selector, type, offset_middle;
	uint32_t offset_high, reserved;
};

/* As start.S and the processor leave it. */
struct frame {
	uint64_t vector, error, rip, cs, rflags, rsp, ss;
};

extern char exceptions[];
void exception(const struct frame *frame) __attribute__((noreturn));

static struct gate gates[VECTORS];

void catch_exceptions(void)
{
	struct __attribute__((packed)) { uint16_t limit; uint64_t base; } idt = { sizeof(gates) - 1, (uintptr_t)gates };

	for (int i = 0; i < VECTORS; i++) {
		uintptr_t to = (uintptr_t)exceptions + i * STUB;

		gates[i] = (struct gate){ .offset_low = to, .selector = 8, .type = 0x8e00, .offset_middle = to >> 16 };
	}
	__asm__ volatile("lidt %0" : : "m"(idt));
}

void exception(const struct frame *frame)
{
	uint64_t cr2;

	__asm__("mov %%cr2, %0" : "=r"(cr2));
	die_of("exception %lu, error 0x%lx, at 0x%lx, cr2 0x%lx, rsp 0x%lx, vCPU %ld", frame->vector, frame->error, frame->rip, cr2,
	       frame->rsp, this_cpu());
}

static void log_to_xen(const char *text)
{
	for (; *text; text++)
		__asm__ volatile("outb %0, %1" : : "a"(*text), "Nd"((uint16_t)XEN_LOG));
}

void crash(const char *why)
{
	static bool crashed;

	/* the console's fault, it may be */
	if (__atomic_exchange_n(&crashed, true, __ATOMIC_SEQ_CST))
		shut_down(SHUTDOWN_crash);
	log_to_xen("BUG: smp-guest: ");
	log_to_xen(why);
	log_to_xen("\n");
	write_console("smp-guest: ", strlen("smp-guest: "));
	write_console(why, strlen(why));
	write_console("\n", 1);
	wait_written();
	shut_down(SHUTDOWN_crash);
}

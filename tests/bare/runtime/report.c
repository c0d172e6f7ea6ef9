// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report goes to the second serial line, which Xen is not given: each line with the nonce of this boot, and the last one, which
 * counts the others, when the program has returned.  What is said goes to Xen's console, beside Xen's own lines.
 */
#include "report.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <xen/physdev.h>
#include <xen/sched.h>

#include "bare.h"
#include "hypercall.h"

#define COM2 0x2f8
#define LINE_CONTROL (COM2 + 3)
#define EIGHT_BITS 3
#define LINE_STATUS (COM2 + 5)
#define CAN_TAKE_ONE 0x20
#define LINE 160

static const char *nonce;
static unsigned long lines;

static uint8_t in8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static void out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static void send(const char *line)
{
	for (; *line; line++) {
		while (!(in8(LINE_STATUS) & CAN_TAKE_ONE))
			pause_cpu();
		out8(COM2, *line);
	}
}

static void report(const char *kind, const char *name, long value)
{
	char line[LINE];

	snprintf(line, sizeof(line), "%s %s %ld %s\n", nonce, kind, value, name);
	send(line);
	say("bare: %s %ld: %s\n", kind, value, name);
	lines++;
}

void outcome(const char *name, long value)
{
	report("outcome", name, value);
}

void promise(const char *name, bool kept)
{
	report("promise", name, kept);
}

void note(const char *name, long value)
{
	report("note", name, value);
}

void write_console(const char *text, size_t length)
{
	hypercall(__HYPERVISOR_console_io, CONSOLEIO_write, length, (uintptr_t)text, 0);
}

static void shut_down(unsigned int reason)
{
	struct sched_shutdown shutdown = { .reason = reason };

	for (;;)
		hypercall(__HYPERVISOR_sched_op, SCHEDOP_shutdown, (uintptr_t)&shutdown, 0, 0);
}

void begin_report(const char *of_boot)
{
	struct physdev_set_iopl iopl = { .iopl = 1 };

	nonce = of_boot;
	if (hypercall(__HYPERVISOR_physdev_op, PHYSDEVOP_set_iopl, (uintptr_t)&iopl, 0, 0))
		crash("the serial line cannot be had");
	out8(LINE_CONTROL, EIGHT_BITS);
	say("bare: begins\n");
}

void end_report(void)
{
	report("end", "of the report", lines);
	/* with QEMU's -no-reboot, its end */
	shut_down(SHUTDOWN_reboot);
	__builtin_unreachable();
}

void crash(const char *why)
{
	write_console("bare: BUG: ", strlen("bare: BUG: "));
	write_console(why, strlen(why));
	write_console("\n", 1);
	shut_down(SHUTDOWN_reboot);
	__builtin_unreachable();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program needs that uses the memory of a guest with all its vCPUs.  There are two who offer that: platform-linux.c, and
 * ../smp-guest, which is a guest without anything else.  The program has a main(), which is on any CPU it likes under Linux,
 * and on vCPU 0 there.
 */
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#define PAGE 4096UL
#define LARGE_PAGE (PAGE << 9)
#define MOST_CPUS 8

/* Text for the console, which sees it at the end of a line at the latest. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void die_of(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Says what has been reached, and waits for a line from the console. */
void wait_for_go(const char *reached);

/* Memory of small pages, not touched yet; what was allocated last is given back first.  For main() alone. */
char *allocate(size_t pages);
void give_back(char *mem, size_t pages);

/* … of large pages. */
char *allocate_large(size_t number);

/* Where a page is that has been touched. */
uint64_t gfn_of(const void *at);

long cpu_count(void);

/* Work of a CPU, or of each at the same time, which ends; for main() alone. */
void on_cpu(long cpu, void (*work)(long cpu));
void on_each_cpu(void (*work)(long cpu));

/* Each CPU makes one step after the other, and once a second is told which that is, by main(). */
void for_ever(void (*step)(long cpu), void (*each_second)(unsigned int second)) __attribute__((noreturn));

uint64_t now(void);		/* ns */
void rest(unsigned int ms);

/* XENMEM_page_events with any argument: 0 or -errno.  Until it is opened, the kernel may move the program's pages. */
void open_page_events(void);
int page_events(void *argument);

uint64_t ram_pages(void);

#endif

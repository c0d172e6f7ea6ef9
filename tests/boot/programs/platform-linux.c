// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "platform-linux.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PFN_MASK ((UINT64_C(1) << 55) - 1)	/* Documentation/admin-guide/mm/pagemap.rst */

static int pagemap, privcmd;

void die(const char *what)
{
	perror(what);
	exit(2);
}

void die_of(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (strchr(format, '\n'))
		fflush(stdout);
}

static void open_pagemap(void)
{
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	if (pagemap < 0)
		die("pagemap");
}

uint64_t gfn_of(const void *at)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint64_t entry;

	pthread_once(&once, open_pagemap);
	if (pread(pagemap, &entry, sizeof(entry), (uintptr_t)at / PAGE * sizeof(entry)) != sizeof(entry))
		die("pagemap");
	return entry & PFN_MASK;
}

void wait_for_go(const char *reached)
{
	char line[16];

	say("%s\n", reached);
	if (!fgets(line, sizeof(line), stdin))
		die("nobody said that I may go on");
}

char *allocate(size_t pages)
{
	char *mem = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		die("mmap");
	madvise(mem, pages * PAGE, MADV_NOHUGEPAGE);
	return mem;
}

void give_back(char *mem, size_t pages)
{
	munmap(mem, pages * PAGE);
}

char *allocate_large(size_t number)
{
	char *mem = mmap(NULL, (number + 1) * LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		die("mmap");
	mem += -(uintptr_t)mem % LARGE_PAGE;
	madvise(mem, number * LARGE_PAGE, MADV_HUGEPAGE);
	return mem;
}

long cpu_count(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	if (count > MOST_CPUS)
		die_of("the guest has more than %d CPUs", MOST_CPUS);
	return count;
}

struct job {
	pthread_t thread;
	long cpu;
	void (*work)(long cpu);
};

static void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void *run(void *data)
{
	struct job *job = data;

	pin(job->cpu);
	job->work(job->cpu);
	return NULL;
}

static void begin(struct job *job, void *(*how)(void *job), long cpu, void (*work)(long cpu))
{
	job->cpu = cpu;
	job->work = work;
	if (pthread_create(&job->thread, NULL, how, job))
		die("pthread_create");
}

void on_cpu(long cpu, void (*work)(long cpu))
{
	struct job job;

	begin(&job, run, cpu, work);
	pthread_join(job.thread, NULL);
}

void on_each_cpu(void (*work)(long cpu))
{
	struct job jobs[MOST_CPUS];
	long count = cpu_count();

	for (long cpu = 0; cpu < count; cpu++)
		begin(&jobs[cpu], run, cpu, work);
	for (long cpu = 0; cpu < count; cpu++)
		pthread_join(jobs[cpu].thread, NULL);
}

static void *step_for_ever(void *data)
{
	struct job *job = data;

	pin(job->cpu);
	for (;;)
		job->work(job->cpu);
	return NULL;
}

void for_ever(void (*step)(long cpu), void (*each_second)(unsigned int second))
{
	static struct job jobs[MOST_CPUS];

	for (long cpu = 0; cpu < cpu_count(); cpu++)
		begin(&jobs[cpu], step_for_ever, cpu, step);
	for (unsigned int second = 1;; second++) {
		sleep(1);
		each_second(second);
	}
}

uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * UINT64_C(1000000000) + time.tv_nsec;
}

void rest(unsigned int ms)
{
	usleep(ms * 1000);
}

/* linux/include/uapi/xen/privcmd.h */
struct privcmd_hypercall {
	uint64_t op, arg[5];
};
#define IOCTL_PRIVCMD_HYPERCALL _IOC(_IOC_NONE, 'P', 0, sizeof(struct privcmd_hypercall))

/* xen/include/public/xen.h, memory.h */
#define HYPERVISOR_memory_op 12
#define XENMEM_page_events 29

void open_page_events(void)
{
	privcmd = open("/dev/xen/privcmd", O_RDWR);
	if (privcmd < 0)
		die("/dev/xen/privcmd");
	/* the kernel may move neither buffers nor pages meanwhile */
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		die("mlockall");
}

int page_events(void *argument)
{
	struct privcmd_hypercall hypercall = { HYPERVISOR_memory_op, { XENMEM_page_events, (uintptr_t)argument } };
	long rc = ioctl(privcmd, IOCTL_PRIVCMD_HYPERCALL, &hypercall);

	return rc < 0 ? -errno : rc;
}

uint64_t ram_pages(void)
{
	return sysconf(_SC_PHYS_PAGES);
}

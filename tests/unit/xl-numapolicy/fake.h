/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files of the libxl for tests. */
#ifndef FAKE_H
#define FAKE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

/* What the linker puts between the program and the C library. */
int __wrap_access(const char *path, int mode);
int __wrap_fclose(FILE *f);
int __real_fclose(FILE *f);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *timeout);
int __real_sigtimedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *timeout);
unsigned int __wrap_sleep(unsigned int seconds);
unsigned int __real_sleep(unsigned int seconds);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size);
int __real_connect(int fd, const struct sockaddr *address, socklen_t size);

void trace(const char *format, ...);
/* The error that the machine has for this call, or 0. */
int fails(const char *function);
unsigned int *policy_of(uint32_t domid);
unsigned int homes_of(uint32_t domid);

/* The memory of a domain that is on no home node goes to its first one, but for so many pages of each such node. */
void arrive_home(uint32_t domid, uint64_t stay);

/* Of the one domain with gfns: where a page is, ~0 being nowhere, and in how large a one; which is the last. */
void where_is(uint64_t gfn, uint32_t *node, uint32_t *order);
uint64_t last_gfn(void);
/* ... and what has become of them by moves, if anything. */
void where_now(uint64_t gfn, uint32_t *node, uint32_t *order);
/* A page of 2 MiB becomes 512; a page of that order changes its node. */
void divide(uint32_t domid, unsigned int node);
void change_usage(uint32_t domid, unsigned int from, unsigned int to, unsigned int order);

/* At each step of moving memory: what comes of the signal, and of the other who sets a policy. */
int step_of_moving(uint32_t domid);

/* For the clock that only tests move. */
void pass_time(unsigned int seconds);

/* Takes the lines of the machine about sampling. */
bool read_sampling_line(const char *word, const char *line);
/* Takes the lines of the machine about pages that move one by one. */
bool read_leave_line(const char *word, const char *line);
/* Takes the lines of the machine about moving memory. */
bool read_rebalance_line(const char *word, const char *line);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that are pinned, one on each CPU of a list, and wait for each other. */
#ifndef THREADS_H
#define THREADS_H

#define THREADS_MAX 255

/* CPUs of a list such as "1,2,5": their number, 0 if it is not such a list. */
unsigned int parse_cpus(const char *list, int *cpus);

/* Runs function(index) in a thread on each CPU; the calling thread is the first of them, and pinned as well. */
void run_threads(const int *cpus, unsigned int count, void (*function)(unsigned int index));

/* All threads of run_threads() meet here. */
void meet(void);

/* A number from 1 on, or a message and the end of the program. */
unsigned long number(const char *word, const char *what);

#endif

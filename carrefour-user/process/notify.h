/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What systemd is told of the daemon, by the protocol of sd_notify(3): where there is nobody to tell, nothing is. By hand, as
 * it is a line to a socket, and libsystemd is much to open privcmd for.
 */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <stdint.h>

/* Before rights are dropped. */
void notify_open(void);

/* Such as "STOPPING=1". */
void notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* It answers from here on, or again: after notify_reloading(). */
void notify_ready(void);
void notify_reloading(void);

/* It lives: as often as called, told as often as is needed. If it hangs, systemd ends it and starts another one. */
void notify_alive(uint64_t now);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who else watches what a domain does with its pages: log-dirty mode, and a monitor. */
#ifndef BARE_WATCH_H
#define BARE_WATCH_H

#include <stdint.h>

#include <xen/memory.h>

#include "bare.h"

void log_dirty(domid_t domid, bool on);
/* A bit a page below `pages`: written since it was asked last. */
void take_dirty(domid_t domid, uint8_t *bitmap, unsigned long pages);

/* Its ring is a page of the domain's. */
void begin_monitor(domid_t domid, unsigned long ring_gfn);
void end_monitor(domid_t domid);
void set_access(domid_t domid, unsigned long gfn, unsigned long nr, xenmem_access_t access);
xenmem_access_t get_access(domid_t domid, unsigned long gfn);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What xen*.c share; the handles are theirs alone. */
#ifndef XEN_PRIVATE_H
#define XEN_PRIVATE_H

#include <xenctrl.h>
#include <xenforeignmemory.h>

extern xc_interface *xen_xc;
extern xenforeignmemory_handle *xen_fmem;

/* Of census.c: 0 or an errno. */
int xen_census_open(void);
void xen_census_close(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What xen*.c share; the handles are theirs alone. */
#ifndef XEN_PRIVATE_H
#define XEN_PRIVATE_H

#include <xenctrl.h>
#include <xenforeignmemory.h>

extern xc_interface *xen_xc;
extern xenforeignmemory_handle *xen_fmem;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What guests/verified.c and its maker in dom0 have in common: which of the mailbox's values is what. */
#ifndef BARE_VERIFIED_H
#define BARE_VERIFIED_H

/* The first gfn and the number of the pages that it writes to; then one a vCPU each. */
enum { VERIFIED_FIRST, VERIFIED_PAGES, VERIFIED_WRONG, VERIFIED_ROUNDS = 4 };

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Streaming stores: those that go past the caches. */
#ifndef NUMASIM_STREAMING_H
#define NUMASIM_STREAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSTRUCTION_MAX 15	/* bytes, AMD64 */

/*
 * Whether an instruction of 64-bit code, @size bytes, is MOVNTI, MOVNTPS and its kind, or MOVNTQ and its kind, with or without
 * VEX.  Encodings: AMD64 Architecture Programmer's Manual, volumes 3 to 5.
 */
bool is_streaming_store(const uint8_t *bytes, size_t size);

#endif

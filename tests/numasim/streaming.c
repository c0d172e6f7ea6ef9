/* SPDX-License-Identifier: GPL-2.0-only */
/* Which instructions are streaming stores. */
#include <string.h>

#include "streaming.h"

#define VEX2 0xc5
#define VEX3 0xc4
#define ESCAPE 0x0f

static bool is_prefix(uint8_t byte)
{
	return memchr("\x66\xf2\xf3\x26\x2e\x36\x3e\x64\x65\x67\xf0", byte, 11);
}

bool is_streaming_store(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = bytes + size, *opcode;

	while (bytes < end && is_prefix(*bytes))
		bytes++;
	if (bytes < end && (*bytes & 0xf0) == 0x40)	/* REX */
		bytes++;
	if (end - bytes < 2)
		return false;
	opcode = bytes + 1;
	if (*bytes == VEX2)
		opcode = bytes + 2;
	else if (*bytes == VEX3 && (bytes[1] & 0x1f) == 1)	/* the map of opcodes that ESCAPE leads to */
		opcode = bytes + 3;
	else if (*bytes != ESCAPE)
		return false;
	if (opcode >= end)
		return false;
	return *opcode == 0x2b || *opcode == 0xe7 || (*opcode == 0xc3 && *bytes == ESCAPE);
}

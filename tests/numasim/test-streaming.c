/* SPDX-License-Identifier: GPL-2.0-only */
/* Which instructions are streaming stores, by bytes that an assembler made. */
#include "test.h"

#include "streaming.h"

struct instruction {
	const char *bytes;
	size_t size;
	const char *text;
};

#define INSTRUCTION(text, bytes) { bytes, sizeof(bytes) - 1, text }

static const struct instruction streaming[] = {
	INSTRUCTION("movnti %eax,(%rdi)", "\x0f\xc3\x07"),
	INSTRUCTION("movnti %rax,24(%rdi)", "\x48\x0f\xc3\x47\x18"),
	INSTRUCTION("movnti %r9,(%r8,%r10,8)", "\x4f\x0f\xc3\x0c\xd0"),
	INSTRUCTION("movnti %eax,(%edi)", "\x67\x0f\xc3\x07"),
	INSTRUCTION("movnti %eax,%gs:0x10", "\x65\x0f\xc3\x04\x25\x10\x00\x00\x00"),
	INSTRUCTION("movntps %xmm0,(%rdi)", "\x0f\x2b\x07"),
	INSTRUCTION("movntpd %xmm9,(%rdi)", "\x66\x44\x0f\x2b\x0f"),
	INSTRUCTION("movntss %xmm0,(%rdi)", "\xf3\x0f\x2b\x07"),
	INSTRUCTION("movntq %mm0,(%rdi)", "\x0f\xe7\x07"),
	INSTRUCTION("movntdq %xmm0,(%rdi)", "\x66\x0f\xe7\x07"),
	INSTRUCTION("vmovntdq %ymm0,(%rdi)", "\xc5\xfd\xe7\x07"),
	INSTRUCTION("every legacy prefix, movntdq", "\x66\xf2\xf3\x26\x2e\x36\x3e\x64\x65\x67\xf0\x0f\xe7\x07"),
	INSTRUCTION("vmovntdq %ymm0,(%r8)", "\xc4\xc1\x7d\xe7\x00"),
	INSTRUCTION("vmovntps %xmm0,(%r8)", "\xc4\xc1\x78\x2b\x00"),
};

static const struct instruction ordinary[] = {
	INSTRUCTION("mov %eax,(%rdi)", "\x89\x07"),
	INSTRUCTION("mov %eax,0xc3(%rdi)", "\x89\x87\xc3\x00\x00\x00"),
	INSTRUCTION("rep stosb", "\xf3\xaa"),
	INSTRUCTION("cmpps $0,%xmm1,%xmm0", "\x0f\xc2\xc1\x00"),
	INSTRUCTION("movaps %xmm0,(%rdi)", "\x0f\x29\x07"),
	INSTRUCTION("cvttpd2dq %xmm1,%xmm0", "\x66\x0f\xe6\xc1"),
	INSTRUCTION("nopl 0x584e2b0f(%rax)", "\x0f\x1f\x80\x0f\x2b\x4e\x58"),
	INSTRUCTION("vmovntdqa (%rdi),%xmm0", "\xc4\xe2\x79\x2a\x07"),
	INSTRUCTION("another map", "\xc4\xe2\x79\xe7\x07"),
	INSTRUCTION("vmovaps %xmm0,(%rdi)", "\xc5\xf8\x29\x07"),
	INSTRUCTION("vcmpps, whose opcode with VEX is not MOVNTI's", "\xc5\xf8\xc2\xc1\x00"),
	INSTRUCTION("VEX, 0xc3", "\xc5\xf8\xc3\x07"),
	INSTRUCTION("ret", "\xc3"),
	INSTRUCTION("cut", "\x0f"),
	INSTRUCTION("cut behind a prefix", "\x66\x48"),
	INSTRUCTION("VEX, cut", "\xc5\xfd"),
	INSTRUCTION("long VEX, cut", "\xc4\xc1\x78"),
	INSTRUCTION("nothing", ""),
};

static void check(const struct instruction *i, bool wanted)
{
	uint8_t *exact = malloc(i->size ? i->size : 1);		/* where a sanitizer sees what is read behind it */
	uint8_t followed[INSTRUCTION_MAX + 1];			/* by what would make it one */

	memcpy(exact, i->bytes, i->size);
	memset(followed, 0xe7, sizeof(followed));
	memcpy(followed, i->bytes, i->size);
	if (is_streaming_store(exact, i->size) != wanted || is_streaming_store(followed, i->size) != wanted)
		fail_msg("%s", i->text);
	free(exact);
}

static void streaming_stores_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(streaming) / sizeof(*streaming); i++)
		check(&streaming[i], true);
}

static void others_are_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ordinary) / sizeof(*ordinary); i++)
		check(&ordinary[i], false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streaming_stores_are_found),
		cmocka_unit_test(others_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

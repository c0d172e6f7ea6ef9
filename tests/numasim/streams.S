/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access streams whose counts are known by hand, for the plugin inside a real QEMU: a kernel without paging, so addresses are
 * machine addresses.  Node n has the 64 MiB from n * 64 MiB on.  test_numasim.py says what each region must come to.
 */
#define NODE(n)		((n) << 26)
#define LINES		65536		/* 4 MiB */

	.macro marker id, is_end
	.byte	0x0f, 0x1f, 0x80	/* nopl DISPLACEMENT(%eax), alone in its block so that it counts nowhere else */
	.long	0x584e0000 | \id << 1 | \is_end
	jmp	1f
1:
	.endm

	/* COUNT times INSTRUCTION, STRIDE bytes apart: 1 access and 4 instructions each */
	.macro stream base, stride, count, instruction:vararg
	mov	$\base, %esi
	mov	$\count, %ecx
2:	\instruction
	add	$\stride, %esi
	dec	%ecx
	jnz	2b
	.endm

	/* a call without a stack */
	.macro go where
	mov	$3f, %edi
	jmp	\where
3:
	.endm

	.section .note.Xen, "a", @note
	.long	4, 4, 18		/* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.long	start

	.text
	.code32
	.global start
start:
	cli

	/* loads of memory of node 2, each line once */
	marker	1, 0
	stream	NODE(2), 64, LINES, mov (%esi), %eax
	marker	1, 1

	/* stores to node 3: what the caches do not hold comes back as write-backs */
	marker	2, 0
	stream	NODE(3), 64, LINES, mov %eax, (%esi)
	marker	2, 1

	/* 16 words a line, 32 KiB four times: the lines miss once, all else is the L1's */
	marker	3, 0
	.rept	4
	stream	NODE(1), 4, 8192, mov (%esi), %eax
	.endr
	marker	3, 1

	/* 256 KiB twice: L2 hits the second time; 768 KiB twice: with 853 KiB of L3 beside the L2 all hit the second time */
	marker	4, 0
	.rept	2
	stream	NODE(5), 64, 4096, mov (%esi), %eax
	.endr
	marker	4, 1
	marker	5, 0
	.rept	2
	stream	NODE(6), 64, 12288, mov (%esi), %eax
	.endr
	marker	5, 1

	/* read and write in one instruction: a miss, dirty */
	marker	6, 0
	stream	NODE(7), 64, LINES, incl (%esi)
	marker	6, 1

	/* streaming stores, 16 words a line, to lines that were written before: they go to memory, and loads then miss */
	marker	12, 0
	stream	NODE(4), 64, 512, mov %eax, (%esi)
	stream	NODE(4), 4, 8192, movnti %eax, (%esi)
	stream	NODE(4), 64, 512, mov (%esi), %eax
	marker	12, 1

	/* 1000 loads while idle, in code that is called from there; awake, they count and miss */
	marker	13, 0
	go	idle
	go	awake
	stream	NODE(2), 64, 1000, mov (%esi), %eax
	marker	13, 1

	/* idle at the end of a region is not idle in the next one */
	marker	14, 0
	go	idle
	marker	14, 1
	marker	15, 0
	stream	NODE(2), 64, 1000, mov (%esi), %eax
	marker	15, 1

	/* what must be errors: an end without a beginning, a region in a region, memory of no node, no end */
	marker	7, 1
	marker	8, 0
	marker	9, 0
	marker	9, 1
	marker	10, 0
	stream	NODE(8), 64, 10, mov (%esi), %eax
	marker	10, 1
	marker	11, 0

	/* isa-debug-exit */
	mov	$0, %al
	outb	%al, $0xf4
4:	hlt
	jmp	4b

idle:
	nop
	jmp	idle_end
idle_end:
	stream	NODE(2), 64, 1000, mov (%esi), %eax
	jmp	*%edi
awake:
	jmp	*%edi

	.section .note.GNU-stack, "", @progbits

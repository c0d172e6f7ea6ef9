/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The smallest PVH guest: enters, halts for ever.  It lets a test build a domain of any size, page by page, without the
 * seconds that loading and booting Linux cost under emulation.  What a guest does with its memory is memory-pattern's part.
 */
	.section .note.Xen, "a", @note
	.long	4, 4, 18		/* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.long	start

	.text
	.code32
	.global start
start:
	cli
	hlt
	jmp	start

	.section .note.GNU-stack, "", @progbits

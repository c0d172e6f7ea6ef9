/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Boots walks.c and sweep.c: from a kernel's entry without paging to long mode, on tables of the first 3 GiB; and their guest's
 * first steps.
 */
	.section .note.Xen, "a", @note
	.long	4, 4, 18		/* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.long	start

	.section .boot, "ax"
	.code32
	.global start
start:
	cli
	mov	$first_stack, %esp
	movl	$first_table + 0x1007, first_table
	movl	$0x87, first_table + 0x1000
	movl	$0x40000087, first_table + 0x1008
	movl	$0x80000087, first_table + 0x1010
	mov	$0x20, %eax		/* CR4.PAE */
	mov	%eax, %cr4
	mov	$first_table, %eax
	mov	%eax, %cr3
	mov	$0xc0000080, %ecx	/* EFER.LME */
	rdmsr
	or	$0x100, %eax
	wrmsr
	mov	%cr0, %eax
	or	$0x80000001, %eax
	mov	%eax, %cr0
	lgdt	gdt_pointer
	ljmp	$8, $long_mode

	.code64
long_mode:
	mov	$16, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	call	start_long
1:	hlt
	jmp	1b

	.global guest_entry
guest_entry:
	call	*%rdi
	vmmcall

	.balign	8
gdt:
	.quad	0, 0x00af9b000000ffff, 0x00cf93000000ffff
gdt_pointer:
	.word	23
	.long	gdt

	.bss
	.balign	4096
	.global first_table
first_table:
	.skip	8192
	.skip	4096
first_stack:

	.section .note.GNU-stack, "", @progbits

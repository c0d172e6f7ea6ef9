/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two CPUs that hand a word to and fro, for the plugin inside a real QEMU: a kernel without paging, so addresses are machine
 * addresses.  test_pingpong.py says what must come of it.
 */
#define ROUNDS		200
#define WORD		0x4000000	/* node 1 begins there */
#define TRAMPOLINE	0x8000
#define ICR		0xfee00300
#define INIT_OTHERS	0xc4500
#define START_OTHERS	(0xc4600 | TRAMPOLINE >> 12)

	.macro marker id, is_end
	.byte	0x0f, 0x1f, 0x80	/* nopl DISPLACEMENT(%eax), alone in its block so that it counts nowhere else */
	.long	0x584e0000 | \id << 1 | \is_end
	jmp	1f
1:
	.endm

	/* until the word is %ecx */
	.macro await
2:	pause
	cmp	%ecx, (%esi)
	jne	2b
	.endm

	.section .note.Xen, "a", @note
	.long	4, 4, 18		/* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.long	start

	.section .text
	.code32
	.global start
start:
	cli
	mov	$WORD, %esi
	movl	$0, (%esi)
	/* where an AP begins, in real mode */
	mov	$first, %ebx
	mov	$TRAMPOLINE, %edi
3:	mov	(%ebx), %al
	mov	%al, (%edi)
	inc	%ebx
	inc	%edi
	cmp	$first_end, %ebx
	jb	3b
	movl	$INIT_OTHERS, ICR
	movl	$START_OTHERS, ICR
	movl	$START_OTHERS, ICR
	/* it says that it is there */
	mov	$-1, %ecx
	await

	marker	1, 0
	mov	$1, %ecx
4:	mov	%ecx, (%esi)		/* odd: this CPU's, even: the other's */
	inc	%ecx
	await
	inc	%ecx
	cmp	$2 * ROUNDS, %ecx
	jb	4b
	marker	1, 1

	lidt	no_idt
	int3

other:
	mov	$16, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	$WORD, %esi
	movl	$-1, (%esi)
	mov	$1, %ecx
5:	await
	inc	%ecx
	mov	%ecx, (%esi)
	inc	%ecx
	jmp	5b

	.code16
first:
	cli
	xor	%ax, %ax
	mov	%ax, %ds
	lgdtl	TRAMPOLINE + gdt_pointer - first
	mov	%cr0, %eax
	or	$1, %al
	mov	%eax, %cr0
	ljmpl	$8, $other
	.balign	8
gdt:
	.quad	0, 0x00cf9b000000ffff, 0x00cf93000000ffff
gdt_pointer:
	.word	23
	.long	TRAMPOLINE + gdt - first
first_end:

no_idt:
	.word	0
	.long	0

	.section .note.GNU-stack, "", @progbits

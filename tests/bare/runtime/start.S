/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How Xen starts a PV kernel, and page faults that a program expects.  A virtual address is a pseudo-physical one. */
#include <xen/elfnote.h>

	.section .note.Xen, "a", @note
	.macro	note type:req, value:vararg
	.balign	4
	.long	4, 2f - 1f, \type
	.asciz	"Xen"
1:	\value
2:
	.endm
	note	XEN_ELFNOTE_GUEST_OS, .asciz "bare"
	note	XEN_ELFNOTE_XEN_VERSION, .asciz "xen-3.0"
	note	XEN_ELFNOTE_LOADER, .asciz "generic"
	note	XEN_ELFNOTE_PAE_MODE, .asciz "yes"
	note	XEN_ELFNOTE_VIRT_BASE, .quad 0
	note	XEN_ELFNOTE_PADDR_OFFSET, .quad 0
	note	XEN_ELFNOTE_ENTRY, .quad start
	note	XEN_ELFNOTE_HYPERCALL_PAGE, .quad hypercall_page

	.text
	.global	start
start:
	mov	$stack_end, %esp
	mov	%rsi, %rdi		/* struct start_info */
	xor	%ebp, %ebp
	call	first_cpu
	ud2

	.global	start_second
start_second:
	call	second_cpu
	ud2

	/* bool peek(const volatile void *address, uint64_t *value) */
	.global	peek
peek:
	mov	%rsp, peek_stack
	mov	(%rdi), %rax
	movq	$0, peek_stack
	mov	%rax, (%rsi)
	mov	$1, %eax
	ret

	/* Xen has pushed a frame, which nobody goes back to: peek() returns instead, and nothing else may fault. */
	.global	page_fault
page_fault:
	cmpq	$0, peek_stack
	jz	1f
	mov	peek_stack, %rsp
	movq	$0, peek_stack
	xor	%eax, %eax
	ret
1:	mov	16 + 8(%rsp), %rdi	/* behind rcx, r11 and the error code: rip */
	and	$-16, %rsp
	call	unexpected_page_fault
	ud2

	.bss
	.balign	8
peek_stack:
	.skip	8
	.balign	4096
	.skip	65536
stack_end:

	.section .note.GNU-stack, "", @progbits

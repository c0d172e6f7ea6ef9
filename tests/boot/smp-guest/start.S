/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How vCPUs come here: the first as a PVH guest starts, in 32 bit; the others in 64 bit, as VCPUOP_initialise was told.
 * Virtual addresses are guest-physical ones, up to 4 GiB; nothing is at the first page, so that NULL faults.
 */
	.section .note.Xen, "a", @note
	.long	4, 4, 18		/* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.long	start

	.set	CR0_PE_PG, 0x80000001
	.set	CR4_PAE, 0x20
	.set	MSR_EFER, 0xc0000080
	.set	EFER_LME, 0x100
	.set	PRESENT_WRITABLE, 0x3
	.set	LARGE, 0x80
	.set	CODE64, 8		/* in the GDT */

	.text
	.code32
	.global	start
start:
	cli
	cld
	mov	$page_tables, %eax
	mov	%eax, %cr3
	mov	%cr4, %eax
	or	$CR4_PAE, %eax
	mov	%eax, %cr4
	mov	$MSR_EFER, %ecx
	rdmsr
	or	$EFER_LME, %eax
	wrmsr
	mov	%cr0, %eax
	or	$CR0_PE_PG, %eax
	mov	%eax, %cr0
	lgdt	gdt_register
	ljmp	$CODE64, $1f
	.code64
1:	mov	$first_stack_end, %esp
	mov	%ebx, %edi		/* struct hvm_start_info */
	xor	%eax, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	call	first_vcpu
	ud2

	/* with its stack, and its struct vcpu in %rdi */
	.global	start_other
start_other:
	lgdt	gdt_register
	call	other_vcpu
	ud2

	/* Of each exception, 16 bytes. */
	.balign	16
	.global	exceptions
exceptions:
	.set	vector, 0
	.rept	32
	.balign	16
	.if	vector != 8 && (vector < 10 || vector > 14) && vector != 17 && vector != 21 && vector != 29 && vector != 30
	push	$0			/* as an error code, which others have */
	.endif
	push	$vector
	jmp	1f
	.set	vector, vector + 1
	.endr
1:	mov	%rsp, %rdi
	and	$-16, %rsp
	call	exception

	.section .rodata
	.balign	8
gdt:	.quad	0, 0x00af9b000000ffff
gdt_register:
	.word	. - gdt - 1
	.quad	gdt

	.data
	.balign	4096
	.global	page_tables
page_tables:
	.quad	directories + PRESENT_WRITABLE
	.fill	511, 8, 0
directories:
	.set	table, large_pages
	.rept	4
	.quad	table + PRESENT_WRITABLE
	.set	table, table + 4096
	.endr
	.fill	508, 8, 0
large_pages:
	.quad	small_pages + PRESENT_WRITABLE
	.set	at, 0x200000
	.rept	2047
	.quad	at + LARGE + PRESENT_WRITABLE
	.set	at, at + 0x200000
	.endr
small_pages:
	.quad	0
	.set	at, 0x1000
	.rept	511
	.quad	at + PRESENT_WRITABLE
	.set	at, at + 0x1000
	.endr

	.bss
	.balign	16
	.skip	16384
first_stack_end:

	.section .note.GNU-stack, "", @progbits

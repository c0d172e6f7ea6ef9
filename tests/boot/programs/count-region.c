// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Marks a region for the emulator plugin tests/bench/count.c, and does something in it.  The marker is a long NOP whose
 * displacement carries the region's number, so it is put together here and executed.
 *
 *   count-region ID run COMMAND…     what a command does
 *   count-region ID loop N           2 x N instructions, and few more
 *   count-region ID hypercall N      N hypercalls that nobody else makes
 *   count-region ID unended          a region without an end
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xencall.h>
#include <xen/xen.h>

#define MARKER 0x584e0000u

static void *new_marker(unsigned int id, unsigned int is_end)
{
	static const unsigned char code[] = { 0x0f, 0x1f, 0x80, 0, 0, 0, 0, 0xc3 };	/* nopl 0(%rax); ret */
	uint32_t displacement = MARKER | id << 1 | is_end;
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (page == MAP_FAILED) {
		perror("count-region");
		exit(1);
	}
	memcpy(page, code, sizeof(code));
	memcpy(page + 3, &displacement, sizeof(displacement));
	return page;
}

static int run(char **command)
{
	int status;
	pid_t child = fork();

	if (!child) {
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	unsigned int id = argc > 2 ? strtoul(argv[1], NULL, 0) : 0;
	unsigned long n = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	void (*begin)(void), (*end)(void);
	xencall_handle *calls = xencall_open(NULL, 0);
	int status = 0;

	if (argc < 3 || id > 0x7fff || !calls || (argc < 4 && strcmp(argv[2], "unended"))) {
		fprintf(stderr, "count-region ID run COMMAND… | loop N | hypercall N | unended\n");
		return 2;
	}
	begin = new_marker(id, 0);
	end = new_marker(id, 1);

	begin();
	if (!strcmp(argv[2], "run"))
		status = run(argv + 3);
	else if (!strcmp(argv[2], "loop"))
		asm volatile ("1: dec %0; jnz 1b" : "+r" (n) : : "cc");
	else if (!strcmp(argv[2], "hypercall"))
		while (n--)
			xencall2(calls, __HYPERVISOR_kexec_op, ~0ul, 0);
	if (strcmp(argv[2], "unended"))
		end();

	xencall_close(calls);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Files such as QEMU has open for its memory, found in this process. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

#include "memory.h"

static int file_of(const char *name, uint64_t bytes)
{
	int fd = memfd_create(name, 0);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	return fd;
}

static void write_word(int fd, uint64_t offset, uint64_t value)
{
	assert_int_equal(pwrite(fd, &value, sizeof(value), offset), sizeof(value));
}

static uint64_t word(const struct memory *memory, uint64_t address)
{
	uint64_t value;

	assert_true(memory_read(memory, address, &value));
	return value;
}

static struct machine two_nodes(void)
{
	char *words[] = { "out=x", "machine=none", "link=0-1", "node=0@0-0x200000+0x800000-0xa00000", "node=1@0xa00000-0xc00000" };
	struct machine m;

	assert_null(machine_parse(&m, G_N_ELEMENTS(words), words, 2));
	return m;
}

static void nodes_are_files_in_order(void **state)
{
	struct machine m = two_nodes();
	struct memory *memory = memory_new(13);
	int first = file_of("memory-backend-memfd", 4 * MIB), other = file_of("something else", 2 * MIB);
	int second = file_of("memory-backend-memfd", 2 * MIB);
	uint64_t value;

	(void)state;
	assert_null(memory_attach(memory, &m));
	write_word(first, 0, 10);
	write_word(first, 2 * MIB - 8, 11);
	write_word(first, 2 * MIB, 12);
	write_word(first, 3 * MIB + 8, 13);
	write_word(second, 4096, 20);
	assert_int_equal(word(memory, 0), 10);
	assert_int_equal(word(memory, 2 * MIB - 8), 11);
	assert_int_equal(word(memory, 8 * MIB), 12);
	assert_int_equal(word(memory, 9 * MIB + 8), 13);
	assert_int_equal(word(memory, 10 * MIB + 4096), 20);
	/* in a hole, behind the last node, behind all */
	assert_false(memory_read(memory, 2 * MIB, &value));
	assert_false(memory_read(memory, 12 * MIB, &value));
	assert_false(memory_read(memory, 13 * MIB, &value));
	close(first);
	close(other);
	close(second);
	g_free(memory);
	machine_free(&m);
}

static void others_are_refused(void **state)
{
	struct machine m = two_nodes();
	struct memory *memory = memory_new(12);
	int first = file_of("memory-backend-memfd", 4 * MIB), second;
	g_autofree char *missing = memory_attach(memory, &m), *small = NULL;

	(void)state;
	assert_string_equal(missing, "the memory of node 1 is no memory-backend-memfd");
	second = file_of("memory-backend-memfd", MIB);
	small = memory_attach(memory, &m);
	assert_string_equal(small, "node 1 has 2097152 bytes, the emulator's memory 1048576");
	close(first);
	close(second);
	g_free(memory);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_files_in_order),
		cmocka_unit_test(others_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

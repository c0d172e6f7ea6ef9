/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inputs by chance: driver SEED COUNT SECONDS [FILE]... makes so many of the files and the target's words, until the
 * time is over. The one that is tried is in ./input, so that it is there after a crash; with COUNT 0 the files are tried
 * as they are.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define INPUT_MAX 65536

static uint8_t input[INPUT_MAX];
static size_t size;
static uint64_t state;

/* xorshift64*, Marsaglia and Vigna. */
static unsigned int below(unsigned int n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return n ? (state * 2685821657736338717ULL >> 33) % n : 0;
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, input, INPUT_MAX);

	if (n < 0) {
		perror(path);
		exit(2);
	}
	close(fd);
	size = n;
}

static void put(size_t at, const void *bytes, size_t n)
{
	if (n > INPUT_MAX - size)
		n = INPUT_MAX - size;
	memmove(input + at + n, input + at, size - at);
	memcpy(input + at, bytes, n);
	size += n;
}

static void take(size_t at, size_t n)
{
	memmove(input + at, input + at + n, size - at - n);
	size -= n;
}

static void put_word(size_t at)
{
	unsigned int nr = 0;

	while (fuzz_words[nr])
		nr++;
	if (nr) {
		const char *word = fuzz_words[below(nr)];

		put(at, word, strlen(word));
	}
}

static void change(void)
{
	static const char *const numbers[] = { "0", "1", "-1", "65535", "65536", "4294967296", "18446744073709551615", "9e9", "0x10" };
	uint8_t copy[512], byte = below(256);
	size_t at = below(size + 1), n = below(size - at + 1 < 256 ? size - at + 1 : 256);

	switch (below(8)) {
	case 0:
		if (at < size)
			input[at] ^= 1 << below(8);
		break;
	case 1:
		if (at < size)
			input[at] = byte;
		break;
	case 2:
		take(at, n);
		break;
	case 3:
		memcpy(copy, input + at, n);
		put(below(size + 1), copy, n);
		break;
	case 4:
		put(at, &byte, 1);
		break;
	case 5:
		put(at, numbers[below(9)], strlen(numbers[below(9)]) > 3 ? 2 : 1);
		break;
	case 6:
		put_word(at);
		break;
	default:
		/* A whole word for a whole word. */
		while (at > 0 && input[at - 1] > ' ')
			at--;
		for (n = 0; at + n < size && input[at + n] > ' '; n++)
			;
		take(at, n);
		if (below(2)) {
			const char *number = numbers[below(9)];

			put(at, number, strlen(number));
		} else {
			put_word(at);
		}
	}
}

static void try(void)
{
	int fd = open("input", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	/* A copy of its size: what is beyond it is seen by the sanitizer. */
	uint8_t *copy = malloc(size ? size : 1);

	if (fd >= 0) {
		(void)!write(fd, input, size);
		close(fd);
	}
	memcpy(copy, input, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

int main(int argc, char **argv)
{
	unsigned long count, i, seconds;
	unsigned int changes;
	time_t end;

	if (argc < 4)
		return 2;
	state = strtoull(argv[1], NULL, 0) | 1;
	count = strtoul(argv[2], NULL, 10);
	seconds = strtoul(argv[3], NULL, 10);
	end = time(NULL) + seconds;
	if (!count)
		for (i = 4; i < (unsigned long)argc; i++) {
			load(argv[i]);
			try();
		}
	for (i = 0; i < count && (!seconds || time(NULL) < end); i++) {
		size = 0;
		if (argc > 4 && below(8))
			load(argv[4 + below(argc - 4)]);
		/* A part of it is enough, and sooner read. */
		if (size > 4096 && below(4))
			size = 4096 + below(4096) < size ? 4096 + below(4096) : size;
		for (changes = 1 + below(12); changes; changes--)
			change();
		try();
	}
	printf("%lu inputs\n", i);
	unlink("input");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guest-programs: all programs that run in a guest, as one that is each of them by the name that it is called by: ten copies of libc
 * would be most of a guest's initial file system, which an emulator takes long to unpack.  The Makefile names them in PROGRAMS.
 */
#include <stdio.h>
#include <string.h>

#define PROGRAM(name) int main_of_##name(int argc, char **argv);
PROGRAMS
#undef PROGRAM

static const struct {
	const char *name;	/* with _ for - */
	int (*main)(int argc, char **argv);
} programs[] = {
#define PROGRAM(name) { #name, main_of_##name },
	PROGRAMS
#undef PROGRAM
};

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	char name[32];

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : argv[0]);
	for (char *dash = name; (dash = strchr(dash, '-')); )
		*dash = '_';
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (!strcmp(programs[i].name, name))
			return programs[i].main(argc, argv);
	fprintf(stderr, "guest-programs: there is no program %s\n", argv[0]);
	return 2;
}

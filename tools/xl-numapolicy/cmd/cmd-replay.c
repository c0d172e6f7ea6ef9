/* SPDX-License-Identifier: GPL-2.0-only */
/* replay: carrefour-replay(1), under the name that goes with record. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/errors.h"
#include "cmd/command.h"

static void run(const struct options *options, int argc, char **argv)
{
	(void)argc;
	(void)options;
	execlp("carrefour-replay", "carrefour-replay", "--periods", argv[0], NULL);
	die(errno == ENOENT ? "there is no carrefour-replay; it comes with carrefourd" : "cannot run carrefour-replay: %s",
	    strerror(errno));
}

static const struct option_spec options_replay[] = {
	{ NULL }
};

const struct command cmd_replay = {
	.name = "replay",
	.arguments = "FILE",
	.summary = "what carrefourd decides from a recorded trace",
	.options = options_replay,
	.help =
"Needs neither Xen nor carrefourd. carrefour-replay(1) can do more: decide by\n"
"another configuration, or compare with the decisions that were recorded.\n"
"\n"
"Examples:\n"
"  xl numa-policy replay guest1.trace\n",
	.offline = true,
	.min_arguments = 1,
	.max_arguments = 1,
	.run = run,
};

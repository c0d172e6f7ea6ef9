/* SPDX-License-Identifier: GPL-2.0-only */
/* Any bytes are a configuration, or a line that says why not; and then nothing has changed. */
#include <string.h>

#include "config/config.h"
#include "fuzz.h"

const char *const fuzz_words[] = {
	"period_ms = 500\n", "vm_moves", "host_moves = 1", "metrics = /x", "sample_source = ibs\n", "user = 0\n", "memory_mb = 16",
	" = ", "\n", "#", "imbalance_stop_pct = 36\n", "log_decisions", "pages = 1024\n", "\r\n", NULL
};

static void again(void *to, const char *key, const char *value)
{
	char error[1024];

	HOLDS(config_set(to, key, value, error, sizeof(error)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config = config_defaults(), copy = config_defaults(), before = config_defaults();
	FILE *file = fuzz_file(data, size);
	char error[1024] = "";
	const char *keys[2];

	if (config_read(&config, file, "name", error, sizeof(error))) {
		HOLDS(config_consistent(&config, keys, error, sizeof(error)));
		config_changed(&config, again, &copy);
		/* What is no number is not in a trace. */
		strcpy(copy.metrics, config.metrics);
		strcpy(copy.user, config.user);
		copy.sample_ibs = config.sample_ibs;
		HOLDS(!memcmp(&copy, &config, offsetof(struct config, metrics)));
		HOLDS(!strcmp(copy.metrics, config.metrics) && !strcmp(copy.user, config.user));
	} else {
		HOLDS(!memcmp(&config, &before, sizeof(config)));
		HOLDS(!strncmp(error, "name:", 5) && strlen(error) > 6 && !strchr(error, '\n'));
	}
	fclose(file);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the configuration, strictly: what is not understood is refused, with what would be right. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "common/units.h"

struct setting {
	const char *key;
	size_t offset;
	unsigned int value, min, max;
};

#define SETTING(key, value, min, max) { #key, offsetof(struct config, key), value, min, max }

/*
 * Sources: [C] Carrefour, Dashti et al., ASPLOS 2013; [LP] Carrefour-LP, Gaud et al.,
 * USENIX ATC 2014; [X] Voron et al., EuroSys 2017; the others are ours, docs/design.md says why.
 */
static const struct setting settings[] = {
	SETTING(period_ms, 1000, 100, 60000),		/* [C] */
	SETTING(min_accesses_per_us, 50, 0, 1000000),	/* [C] */
	SETTING(min_touched_pct, 1, 0, 100),
	SETTING(min_samples, 64, 1, 1000000),
	SETTING(imbalance_pct, 35, 1, 1000),		/* [C] */
	SETTING(imbalance_stop_pct, 20, 0, 1000),
	SETTING(local_pct, 80, 1, 100),			/* [C] */
	SETTING(local_stop_pct, 95, 1, 100),
	SETTING(page_samples, 2, 1, 8),			/* [C] */
	SETTING(cooldown_ms, 10000, 0, 3600000),
	SETTING(pingpong_ms, 60000, 0, 3600000),
	SETTING(freeze_ms, 60000, 0, 3600000),
	SETTING(vm_mb_per_s, 128, 1, 1000000),
	SETTING(vm_moves, 4096, 1, VM_MOVES_MAX),
	SETTING(host_mb_per_s, 256, 1, 1000000),
	SETTING(host_moves, 8192, 1, 1000000),
	SETTING(efficiency_pct, 10, 0, 100),		/* [LP] */
	SETTING(backoff_ms, 5000, 0, 3600000),		/* [LP] */
	SETTING(backoff_max_ms, 320000, 0, 3600000),
	SETTING(hot_page_pct, 6, 1, 100),		/* [LP] */
	SETTING(split_gain_pct, 5, 0, 100),		/* [LP] */
	SETTING(split_ms, 30000, 1000, 3600000),
	SETTING(splits, 8, 0, SPLITS_MAX),
	SETTING(node_reserve_mb, 256, 0, 1000000),
	SETTING(pages, 65536, 1024, 4194304),
	SETTING(memory_mb, 256, 16, 65536),
	SETTING(auto_gain_pct, 5, 0, 100),
	SETTING(auto_dwell_ms, 30000, 0, 3600000),
	SETTING(auto_private_pct, 80, 1, 100),
	SETTING(auto_return_ms, 300000, 0, 3600000),
	SETTING(sample_entries, 1024, 1, 65536),
	SETTING(sample_ms, 100, 10, 60000),
	SETTING(sample_permille, 15, 1, 1000),
	SETTING(log_decisions, 0, 0, VM_MOVES_MAX),
	SETTING(metrics_ms, 5000, 100, 3600000),
};

#define NR_SETTINGS (sizeof(settings) / sizeof(*settings))

static unsigned int *field(struct config *config, const struct setting *s)
{
	return (unsigned int *)((char *)config + s->offset);
}

struct config config_defaults(void)
{
	struct config config = { 0 };
	unsigned int i;

	for (i = 0; i < NR_SETTINGS; i++)
		*field(&config, &settings[i]) = settings[i].value;
	strcpy(config.user, "carrefour");
	return config;
}

static bool set_path(struct config *config, const char *value, char *error, size_t size)
{
	if (*value != '/' || strlen(value) >= sizeof(config->metrics)) {
		snprintf(error, size, "'%.300s' is no path for metrics; give an absolute one of less than %zu characters",
			 value, sizeof(config->metrics));
		return false;
	}
	strcpy(config->metrics, value);
	return true;
}

static bool set_user(struct config *config, const char *value, char *error, size_t size)
{
	if (!*value || strlen(value) >= sizeof(config->user)) {
		snprintf(error, size, "'%.300s' is no user; give a name, or a number", value);
		return false;
	}
	strcpy(config->user, value);
	return true;
}

static bool set_source(struct config *config, const char *value, char *error, size_t size)
{
	config->sample_ibs = !strcmp(value, "ibs");
	if (config->sample_ibs || !strcmp(value, "hint-faults"))
		return true;
	snprintf(error, size, "'%.300s' is no source of samples; give hint-faults or ibs", value);
	return false;
}

const char *heal_mode_name(enum heal_mode mode)
{
	static const char *const modes[NR_HEAL_MODES] = { "off", "advise", "on" };

	return modes[mode];
}

static bool set_heal(struct config *config, const char *value, char *error, size_t size)
{
	unsigned int mode;

	for (mode = 0; mode < NR_HEAL_MODES; mode++)
		if (!strcmp(value, heal_mode_name(mode))) {
			config->heal = mode;
			return true;
		}
	snprintf(error, size, "'%.300s' is no value for heal; give off, advise or on", value);
	return false;
}

/* Those that are no numbers. */
static const struct word_setting {
	const char *key;
	bool (*set)(struct config *config, const char *value, char *error, size_t size);
} word_settings[] = {
	{ "heal", set_heal },
	{ "metrics", set_path },
	{ "sample_source", set_source },
	{ "user", set_user },
};

#define NR_WORD_SETTINGS (sizeof(word_settings) / sizeof(*word_settings))

bool config_set(struct config *config, const char *key, const char *value, char *error, size_t size)
{
	unsigned int i;

	for (i = 0; i < NR_WORD_SETTINGS; i++)
		if (!strcmp(key, word_settings[i].key))
			return word_settings[i].set(config, value, error, size);
	for (i = 0; i < NR_SETTINGS; i++) {
		const struct setting *s = &settings[i];
		unsigned long n;

		if (strcmp(key, s->key))
			continue;
		errno = 0;
		n = strtoul(value, NULL, 10);
		if (!*value || value[strspn(value, "0123456789")] || errno || n < s->min || n > s->max) {
			snprintf(error, size, "'%.300s' is no value for %s; give a whole number from %u to %u",
				 value, key, s->min, s->max);
			return false;
		}
		*field(config, s) = n;
		return true;
	}
	snprintf(error, size, "there is no setting '%.300s'; carrefour.conf(5) lists all", key);
	return false;
}

static bool below(unsigned int a, unsigned int b, const char *first, const char *second, const char *key[2],
		  char *error, size_t size)
{
	if (a <= b)
		return true;
	key[0] = first;
	key[1] = second;
	snprintf(error, size, "%s is %u and %s is %u; the first may not be above the second", first, a, second, b);
	return false;
}

/* A rate that leaves no room for one 2 MiB page in a period would never move any. */
static bool rate_moves(const struct config *config, unsigned int rate, const char *name, const char *key[2],
		       char *error, size_t size)
{
	unsigned int least = (2000 + config->period_ms - 1) / config->period_ms;

	if (rate >= least)
		return true;
	key[0] = name;
	key[1] = "period_ms";
	snprintf(error, size, "%s is %u, less than a page of 2 MiB in a period of %u ms; give %u or more",
		 name, rate, config->period_ms, least);
	return false;
}

bool config_consistent(const struct config *c, const char *key[2], char *error, size_t size)
{
	return below(c->imbalance_stop_pct, c->imbalance_pct, "imbalance_stop_pct", "imbalance_pct", key, error, size) &&
	       below(c->local_pct, c->local_stop_pct, "local_pct", "local_stop_pct", key, error, size) &&
	       below(c->cooldown_ms, c->pingpong_ms, "cooldown_ms", "pingpong_ms", key, error, size) &&
	       below(c->backoff_ms, c->backoff_max_ms, "backoff_ms", "backoff_max_ms", key, error, size) &&
	       rate_moves(c, c->vm_mb_per_s, "vm_mb_per_s", key, error, size) &&
	       rate_moves(c, c->host_mb_per_s, "host_mb_per_s", key, error, size);
}

void config_changed(const struct config *config, void (*print)(void *to, const char *key, const char *value),
		    void *to)
{
	struct config copy = *config;
	char value[16];
	unsigned int i;

	for (i = 0; i < NR_SETTINGS; i++) {
		unsigned int now = *field(&copy, &settings[i]);

		if (now == settings[i].value)
			continue;
		snprintf(value, sizeof(value), "%u", now);
		print(to, settings[i].key, value);
	}
}

static char *strip(char *text)
{
	char *end;

	text += strspn(text, " \t\r\n");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r\n", end[-1]))
		*--end = '\0';
	return text;
}

/* In which line each setting was set; 0: in none. */
struct places {
	unsigned int number[NR_SETTINGS], word[NR_WORD_SETTINGS];
};

/* Of a key that there is. */
static unsigned int *place_of(struct places *places, const char *key)
{
	unsigned int i;

	for (i = 0; i < NR_SETTINGS; i++)
		if (!strcmp(key, settings[i].key))
			return &places->number[i];
	for (i = 0; strcmp(key, word_settings[i].key); i++)
		;
	return &places->word[i];
}

/* One line of the file, which is taken apart in place. */
static bool read_line(struct config *config, struct places *places, unsigned int number, char *text,
		      char *error, size_t size)
{
	char *equals, *key;
	unsigned int *place;

	text = strip(text);
	if (!*text || *text == '#')
		return true;
	equals = strchr(text, '=');
	if (!equals) {
		snprintf(error, size, "'%.300s' is no setting; write KEY = VALUE, or # before a comment", text);
		return false;
	}
	*equals = '\0';
	key = strip(text);
	if (!config_set(config, key, strip(equals + 1), error, size))
		return false;
	place = place_of(places, key);
	if (*place) {
		snprintf(error, size, "%s was set in line %u; set it once", key, *place);
		return false;
	}
	*place = number;
	return true;
}

bool config_read(struct config *config, FILE *file, const char *name, char *error, size_t size)
{
	struct config new = config_defaults();
	struct places places = { 0 };
	const char *keys[2];
	char *line = NULL, reason[600];
	size_t room = 0;
	unsigned int number = 0;
	bool good = true;
	ssize_t length;

	errno = 0;
	while (good && (length = getline(&line, &room, file)) >= 0) {
		number++;
		good = strlen(line) == (size_t)length;
		if (!good)
			snprintf(reason, sizeof(reason), "a byte of value 0; this is to be a text file");
		else
			good = read_line(&new, &places, number, line, reason, sizeof(reason));
	}
	free(line);
	if (good && ferror(file)) {
		snprintf(error, size, "%s: cannot read it: %s", name, strerror(errno));
		return false;
	}
	if (good && !config_consistent(&new, keys, reason, sizeof(reason))) {
		good = false;
		number = *place_of(&places, keys[0]);
		if (!number)
			number = *place_of(&places, keys[1]);
	}
	if (!good)
		snprintf(error, size, "%s:%u: %s", name, number, reason);
	else
		*config = new;
	return good;
}

bool config_load(struct config *config, const char *path, char *error, size_t size)
{
	FILE *file = fopen(path, "re");
	bool good;

	if (!file) {
		snprintf(error, size, "%s: cannot open it: %s", path, strerror(errno));
		return false;
	}
	good = config_read(config, file, path, error, size);
	fclose(file);
	return good;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration. What each setting is for, its bounds and where its default
 * comes from are in one table in config.c; carrefour.conf tells the same to people.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define VM_MOVES_MAX 8192
#define SPLITS_MAX 64

/* The whole host: nothing is looked at; or it is told what would be better; or that is done, too. */
enum heal_mode { HEAL_OFF, HEAL_ADVISE, HEAL_ON, NR_HEAL_MODES };

const char *heal_mode_name(enum heal_mode mode);

struct config {
	unsigned int period_ms;
	unsigned int min_accesses_per_us, min_touched_pct, min_samples;
	unsigned int imbalance_pct, imbalance_stop_pct;
	unsigned int local_pct, local_stop_pct;
	unsigned int page_samples;
	unsigned int cooldown_ms, pingpong_ms, freeze_ms;
	unsigned int vm_mb_per_s, vm_moves, host_mb_per_s, host_moves;
	unsigned int efficiency_pct, backoff_ms, backoff_max_ms;
	unsigned int hot_page_pct, split_gain_pct, split_ms, splits;
	unsigned int node_reserve_mb;
	unsigned int pages, memory_mb;
	unsigned int auto_gain_pct, auto_dwell_ms, auto_private_pct, auto_return_ms;
	unsigned int sample_entries, sample_ms, sample_permille;
	bool sample_ibs;	/* where there is IBS; else hint faults */
	enum heal_mode heal;
	unsigned int log_decisions, metrics_ms;
	char metrics[256];	/* a path; empty: none are written */
	char user[64];		/* that the daemon becomes */
};

struct config config_defaults(void);

/*
 * Changes what the file sets and leaves the rest at its default. On an error false,
 * with one line in @error that names file, line, value and what would be right;
 * then *config is as it was.
 */
bool config_read(struct config *config, FILE *file, const char *name, char *error, size_t size);
bool config_load(struct config *config, const char *path, char *error, size_t size);

/* One setting, as a file or a trace has it; @error tells of the value, not of the place. */
bool config_set(struct config *config, const char *key, const char *value, char *error, size_t size);
/* What no setting can tell by itself. keys[] are the two that do not go together. */
bool config_consistent(const struct config *config, const char *keys[2], char *error, size_t size);

/* "key value" of each setting that differs from its default, for which @print is called. */
void config_changed(const struct config *config, void (*print)(void *to, const char *key, const char *value),
		    void *to);

#endif

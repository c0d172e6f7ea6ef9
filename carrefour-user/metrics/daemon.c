/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics of the daemon, and of the host's nodes. */
#include <inttypes.h>

#include "metrics/families.h"

static void single(FILE *f, const char *name, const char *type, const char *help)
{
	family(f, name, type, help);
	fprintf(f, "%s ", name);
}

static void print_periods(FILE *f, const struct daemon *d)
{
	const struct daemon_metrics *m = &d->metrics;

	single(f, "carrefour_period_seconds", "gauge", "Length of a period, as configured.");
	value_ns(f, d->config.period_ms * MS);
	family(f, "carrefour_period_duration_seconds", "summary", "Time that the work of a period took.");
	fputs("carrefour_period_duration_seconds_sum ", f);
	value_ns(f, m->period_ns);
	fprintf(f, "carrefour_period_duration_seconds_count %" PRIu64 "\n", m->periods);
	single(f, "carrefour_periods_late_total", "counter", "Periods whose work took longer than a period.");
	value_integer(f, m->late);
	if (m->ended_at) {
		single(f, "carrefour_last_period_timestamp_seconds", "gauge", "When the last period that is over was over.");
		value_ns(f, m->ended_at);
	}
}

static void print_guests_of(FILE *f, const struct daemon *d)
{
	unsigned int nr[NR_SAMPLINGS] = { 0 }, i;

	for (i = 0; i < d->nr; i++)
		nr[d->guest[i]->sampling]++;
	family(f, "carrefour_guests", "gauge", "Domains with Carrefour or auto on, by the state of sampling.");
	for (i = 0; i < NR_SAMPLINGS; i++)
		fprintf(f, "carrefour_guests{sampling=\"%s\"} %u\n", sampling_name(i), nr[i]);
}

void print_daemon(FILE *f, const struct daemon *d)
{
	family(f, "carrefour_build_info", "gauge", "The daemon that wrote this file.");
	fprintf(f, "carrefour_build_info{version=\"%s\"} 1\n", d->version);
	single(f, "carrefour_start_time_seconds", "gauge", "When the daemon was started.");
	value_ns(f, d->metrics.begun_at);
	single(f, "carrefour_config_last_reload_successful", "gauge", "Whether the configuration was good when it was read last.");
	value_integer(f, !d->metrics.reload_failed);
	print_periods(f, d);
	print_guests_of(f, d);
	single(f, "carrefour_memory_bytes", "gauge", "Memory for what the daemon knows of all domains.");
	value_integer(f, guests_bytes(d));
	single(f, "carrefour_memory_limit_bytes", "gauge", "What memory_mb allows for that.");
	value_integer(f, d->config.memory_mb * MIB);
}

static void print_nodes(FILE *f, const char *name, const char *help, const struct daemon *d, const uint64_t *bytes)
{
	unsigned int n;

	family(f, name, "gauge", help);
	/* A node without memory has none that is free. */
	for (n = 0; n < d->host.nr_nodes; n++)
		if (d->node_bytes[n])
			fprintf(f, "%s{node=\"%u\"} %" PRIu64 "\n", name, n, bytes[n]);
}

void print_host(FILE *f, const struct daemon *d)
{
	print_nodes(f, "xen_numa_node_memory_bytes", "Memory of a NUMA node, free or not.", d, d->node_bytes);
	print_nodes(f, "xen_numa_node_memory_free_bytes", "Memory of a node that no domain has.", d, d->node_free);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics of what Carrefour does, of domains that are watched. */
#include <inttypes.h>
#include <stddef.h>

#include "decide/explain.h"
#include "metrics/families.h"

enum unit { COUNT, SECONDS };

static const struct {
	const char *name, *help;
	size_t offset;
	enum unit unit;
} counters[] = {
	{ "carrefour_periods_total", "Periods that were looked at.", offsetof(struct domain_metrics, periods), COUNT },
	{ "carrefour_samples_total", "Accesses that were sampled.", offsetof(struct domain_metrics, samples), COUNT },
	{ "carrefour_move_orders_total", "Pages that were ordered to move; carrefour_moves_result_total has what became of them.",
	  offsetof(struct domain_metrics, moves), COUNT },
	{ "carrefour_move_ordered_bytes_total", "Bytes that were ordered to move.", offsetof(struct domain_metrics, bytes), COUNT },
	{ "carrefour_pages_frozen_total", "Pages that moved too often and stay for a while.",
	  offsetof(struct domain_metrics, frozen), COUNT },
	{ "carrefour_backoffs_total", "Times that moving stopped as it did not help.", offsetof(struct domain_metrics, backoffs),
	  COUNT },
	{ "carrefour_samples_strange_total", "Samples that make no sense.", offsetof(struct domain_metrics, strange), COUNT },
	{ "carrefour_samples_dropped_total", "Samples that found the ring full.", offsetof(struct domain_metrics, dropped), COUNT },
	{ "carrefour_samples_lost_total", "Samples in the ring that could not be read or kept.",
	  offsetof(struct domain_metrics, lost), COUNT },
	{ "carrefour_samples_untracked_total", "Samples that found the table of pages full.",
	  offsetof(struct domain_metrics, untracked), COUNT },
	{ "carrefour_sampling_seconds_total", "Time that Xen spent on sampling.", offsetof(struct domain_metrics, sampling_ns),
	  SECONDS },
	{ "carrefour_guest_seconds_total", "Time for which the vCPUs ran while sampled.", offsetof(struct domain_metrics, guest_ns),
	  SECONDS },
};

static void print_counters(FILE *f, const struct metrics_domain *domain, unsigned int nr)
{
	unsigned int c, i;

	for (c = 0; c < sizeof(counters) / sizeof(*counters); c++) {
		family(f, counters[c].name, "counter", counters[c].help);
		for (i = 0; i < nr; i++) {
			uint64_t value;

			if (!domain[i].carrefour)
				continue;
			value = *(const uint64_t *)((const char *)domain[i].carrefour + counters[c].offset);
			sample_of(f, counters[c].name, &domain[i], NULL);
			if (counters[c].unit == SECONDS)
				value_ns(f, value);
			else
				value_integer(f, value);
		}
	}
}

/* One family, with a label for what it is divided by. */
static void print_divided(FILE *f, const char *name, const char *help, const char *label, unsigned int kinds,
			  const char *(*name_of)(unsigned int), size_t offset, const struct metrics_domain *domain,
			  unsigned int nr)
{
	unsigned int i, k;
	char more[64];

	family(f, name, "counter", help);
	for (i = 0; i < nr; i++)
		for (k = 0; domain[i].carrefour && k < kinds; k++) {
			snprintf(more, sizeof(more), "%s=\"%s\"", label, name_of(k));
			sample_of(f, name, &domain[i], more);
			value_integer(f, ((const uint64_t *)((const char *)domain[i].carrefour + offset))[k]);
		}
}

static void print_ratio(FILE *f, const char *name, const char *help, const struct metrics_domain *domain, unsigned int nr,
			size_t offset)
{
	unsigned int i;

	family(f, name, "gauge", help);
	for (i = 0; i < nr; i++) {
		const struct domain_metrics *m = domain[i].carrefour;
		unsigned int permille;

		/* Without samples a share is not 0, it is not known. */
		if (!m || !m->known || !m->last.measure.samples)
			continue;
		permille = *(const unsigned int *)((const char *)&m->last.measure + offset);
		sample_of(f, name, &domain[i], NULL);
		fprintf(f, "%u.%03u\n", permille / 1000, permille % 1000);
	}
}

static void print_info(FILE *f, const struct metrics_domain *domain, unsigned int nr)
{
	unsigned int i;
	char more[96];

	family(f, "carrefour_guest_info", "gauge", "Whether Carrefour and auto are on, and accesses are sampled.");
	for (i = 0; i < nr; i++)
		if (domain[i].guest) {
			const struct guest *g = domain[i].guest;

			snprintf(more, sizeof(more), "carrefour=\"%s\",auto=\"%s\",sampling=\"%s\"",
				 g->switches.carrefour ? "on" : "off", auto_mode_name(g->switches.mode), sampling_name(g->sampling));
			sample_of(f, "carrefour_guest_info", &domain[i], more);
			value_integer(f, 1);
		}
}

static void print_states(FILE *f, const struct metrics_domain *domain, unsigned int nr)
{
	unsigned int i, s;
	char more[64];

	family(f, "carrefour_state", "gauge", "What the last period was found to be.");
	for (i = 0; i < nr; i++)
		for (s = 0; domain[i].carrefour && domain[i].carrefour->known && s < NR_STATES; s++) {
			snprintf(more, sizeof(more), "state=\"%s\"", state_name(s));
			sample_of(f, "carrefour_state", &domain[i], more);
			value_integer(f, domain[i].carrefour->last.state == s);
		}
}

void print_guests(FILE *f, const struct metrics_domain *domain, unsigned int nr)
{
	print_counters(f, domain, nr);
	print_divided(f, "carrefour_moves_held_total", "Moves that were wanted and not ordered.", "reason", NR_HELD, held_name,
		      offsetof(struct domain_metrics, held), domain, nr);
	print_divided(f, "carrefour_moves_result_total", "What became of pages that were ordered to move.", "result", NR_RESULTS,
		      result_name, offsetof(struct domain_metrics, results), domain, nr);
	print_ratio(f, "carrefour_local_ratio", "Share of the samples that were local.", domain, nr, offsetof(struct measure, local));
	print_ratio(f, "carrefour_imbalance_ratio", "Relative standard deviation of accesses between home nodes.", domain, nr,
		    offsetof(struct measure, imbalance));
	print_ratio(f, "carrefour_busiest_pair_ratio", "Share of the samples between the two nodes with most traffic.", domain, nr,
		    offsetof(struct measure, pair));
	print_states(f, domain, nr);
	print_info(f, domain, nr);
}

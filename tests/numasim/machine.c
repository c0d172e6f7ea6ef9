/* SPDX-License-Identifier: GPL-2.0-only */
/* Parameters of the machine: what a preset says, what the command line says, and whether that fits. */
#include <glib.h>
#include <string.h>

#include "machine.h"
#include "presets.h"
#include "words.h"

#define CLOSER(a, b, to) (ABS((a) - (to)) < ABS((b) - (to)))

static int find_link(const struct machine *m, int from, int to)
{
	for (unsigned int i = 0; i < m->links; i++)
		if (m->link[i].from == from && m->link[i].to == to)
			return i;
	return -1;
}

static void set_link(struct machine *m, int a, int b, double bandwidth, unsigned int class)
{
	for (int way = 0; way < 2; way++) {
		int found = find_link(m, way ? b : a, way ? a : b);

		if (found < 0) {
			found = m->links++;
			m->link[found] = (struct link){ way ? b : a, way ? a : b, 0, class };
		}
		m->link[found].bandwidth = bandwidth;
	}
}

static void preset_links(struct machine *m, const struct preset *preset)
{
	for (unsigned int a = 0; a < preset->nodes; a++)
		for (unsigned int b = a + 1; b < preset->nodes; b++)
			if (preset->link_class(a, b))
				set_link(m, a, b, preset->link, preset->link_class(a, b));
}

static char *parse_node(struct machine *m, const char *value)
{
	g_auto(GStrv) part = g_strsplit(value, "@", 2);
	g_auto(GStrv) range = NULL;
	struct node *node = &m->node[m->nodes];
	bool cpus[MAX_CPUS] = { false };

	if (!part[0] || !part[1])
		return g_strdup_printf("node=%s: should be CPUS@FROM-TO", value);
	if (m->nodes == MAX_NODES)
		return g_strdup_printf("more than %d nodes", MAX_NODES);
	if (*part[0] && !word_cpus(part[0], m->cpus, cpus))
		return g_strdup_printf("node=%s: \"%s\" are not CPUs of 0-%u", value, part[0], m->cpus - 1);
	for (unsigned int cpu = 0; cpu < m->cpus; cpu++) {
		if (!cpus[cpu])
			continue;
		if (m->node_of_cpu[cpu] != NO_NODE)
			return g_strdup_printf("node=%s: CPU %u is in node %d, too", value, cpu, m->node_of_cpu[cpu]);
		m->node_of_cpu[cpu] = m->nodes;
	}
	range = g_strsplit(part[1], "+", -1);
	for (unsigned int i = 0; range[i]; i++) {
		struct range *r = &node->range[node->ranges++];

		if (node->ranges > MAX_RANGES)
			return g_strdup_printf("node=%s: more than %d ranges", value, MAX_RANGES);
		if (!word_range(range[i], &r->from, &r->to))
			return g_strdup_printf("node=%s: \"%s\" is no range FROM-TO of whole MiB, below 128 GiB", value, range[i]);
		for (unsigned int other = 0; other <= m->nodes; other++)
			for (unsigned int k = 0; k < m->node[other].ranges; k++) {
				const struct range *o = &m->node[other].range[k];

				if (o != r && o->from < r->to && r->from < o->to)
					return g_strdup_printf("node=%s: \"%s\" overlaps memory of node %u", value, range[i], other);
			}
	}
	m->nodes++;
	return NULL;
}

/* link=A-B[:GiB/s] and route=A:C:B name nodes, so they wait until all are known. */
static char *parse_link(struct machine *m, double bandwidth, const char *value)
{
	unsigned int a, b;

	if (!word_link(value, &a, &b, &bandwidth) || a == b || a >= m->nodes || b >= m->nodes)
		return g_strdup_printf("link=%s: should be A-B or A-B:GIB/S, A and B different nodes below %u", value, m->nodes);
	if (find_link(m, a, b) < 0 && m->links + 2 > MAX_LINKS)
		return g_strdup_printf("more than %d links", MAX_LINKS / 2);
	set_link(m, a, b, bandwidth, 1);
	return NULL;
}

static char *parse_route(struct machine *m, const char *value)
{
	double number[3];
	int n[3], first, second;

	if (!word_numbers(value, 3, number))
		return g_strdup_printf("route=%s: should be A:C:B", value);
	for (unsigned int i = 0; i < 3; i++) {
		if (number[i] >= m->nodes || number[i] != (int)number[i])
			return g_strdup_printf("route=%s: \"%g\" is no node below %u", value, number[i], m->nodes);
		n[i] = number[i];
	}
	first = find_link(m, n[0], n[1]);
	second = find_link(m, n[1], n[2]);
	if (first < 0 || second < 0 || n[0] == n[2])
		return g_strdup_printf("route=%s: there are no such links", value);
	m->route[n[0]][n[2]] = (struct route){ 2, { first, second }, 2 };
	return NULL;
}

/* The direct link, or two of them by the neighbour of the target whose number is closest to the target's. */
static char *default_routes(struct machine *m)
{
	for (unsigned int a = 0; a < m->nodes; a++)
		for (unsigned int b = 0; b < m->nodes; b++) {
			int direct = find_link(m, a, b), best = -1;

			if (a == b)
				continue;
			if (direct >= 0) {
				m->route[a][b] = (struct route){ 1, { direct }, m->link[direct].class };
				continue;
			}
			for (int c = 0; c < (int)m->nodes; c++)
				if (find_link(m, a, c) >= 0 && find_link(m, c, b) >= 0 && (best < 0 || CLOSER(c, best, (int)b)))
					best = c;
			if (best < 0)
				return g_strdup_printf("no way of at most %d links from node %u to node %u", MAX_HOPS, a, b);
			m->route[a][b] = (struct route){ 2, { find_link(m, a, best), find_link(m, best, b) }, 2 };
		}
	return NULL;
}

static char *check_cache(const char *name, struct geometry *g, bool power_of_two)
{
	uint64_t lines = g->bytes / LINE_BYTES;

	if (!g->ways || !lines || g->bytes % ((uint64_t)LINE_BYTES * g->ways))
		return g_strdup_printf("%s=: %" G_GUINT64_FORMAT " bytes are not whole sets of %u lines", name, g->bytes, g->ways);
	g->sets = lines / g->ways;
	if (power_of_two && g->sets & (g->sets - 1))
		return g_strdup_printf("%s=: %u sets, should be a power of two", name, g->sets);
	return NULL;
}

/* Caches and numbers.  Returns NULL, or what is wrong. */
static char *parse_value(struct machine *m, const char *name, const char *value)
{
	const struct {
		const char *name;
		struct geometry *to;
	} caches[] = { { "l1", &m->l1 }, { "l2", &m->l2 }, { "l3", &m->l3 } };
	const struct {
		const char *name;
		unsigned int n;
		double *to, most;
		bool whole;
	} numbers[] = {
		{ "hit", 2, m->hit, 1e6, false },
		{ "latency", CLASSES, m->alone, 1e6, false },
		{ "loaded", CLASSES, m->loaded, 1e6, false },
		{ "loaded-threads", 1, &m->loaded_threads, 1000, true },
		{ "controller", 1, &m->controller, 1e6, false },
		{ "cpu-hz", 1, &m->cpu_hz, 1e12, false },
		{ "stands-for", 1, &m->stands_for, 1000, true },
		{ "epoch", 1, &m->epoch, 1e12, true },
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(caches); i++)
		if (!strcmp(name, caches[i].name))
			return word_cache(value, &caches[i].to->bytes, &caches[i].to->ways) ? NULL :
				g_strdup_printf("%s=%s: should be SIZE or SIZE:WAYS, such as 512K:16", name, value);
	for (unsigned int i = 0; i < G_N_ELEMENTS(numbers); i++) {
		if (strcmp(name, numbers[i].name))
			continue;
		if (!word_numbers(value, numbers[i].n, numbers[i].to))
			return g_strdup_printf("%s=%s: should be %u numbers with colons between", name, value, numbers[i].n);
		for (unsigned int k = 0; k < numbers[i].n; k++) {
			double number = numbers[i].to[k];

			if (number <= 0 || number > numbers[i].most || (numbers[i].whole && number != (uint64_t)number))
				return g_strdup_printf("%s=%s: should be %s above 0, at most %g", name, value,
						       numbers[i].whole ? "a whole number" : "numbers", numbers[i].most);
		}
		return NULL;
	}
	return g_strdup_printf("%s=: unknown parameter", name);
}

static char *check_machine(struct machine *m, const struct preset *preset, const char *watch)
{
	char *wrong;

	if (!m->out || !*m->out)
		return g_strdup("needs out=FILE");
	if (!m->nodes)
		return g_strdup("needs node=CPUS@FROM-TO, one for each node in order");
	if (preset->nodes && m->nodes != preset->nodes)
		return g_strdup_printf("machine=%s has %u nodes, there are %u; machine=none takes link=", m->name, preset->nodes, m->nodes);
	for (unsigned int cpu = 0; cpu < m->cpus; cpu++)
		m->watched[cpu] = m->node_of_cpu[cpu] != NO_NODE && !watch;
	if (watch && !word_cpus(watch, m->cpus, m->watched))
		return g_strdup_printf("watch=%s: are not CPUs of 0-%u", watch, m->cpus - 1);
	for (unsigned int cpu = 0; cpu < m->cpus; cpu++)
		if (m->watched[cpu] && m->node_of_cpu[cpu] == NO_NODE)
			return g_strdup_printf("watch=%s: CPU %u is in no node", watch, cpu);
	for (unsigned int cpu = 0, watched = 0; cpu < m->cpus && m->coherent; cpu++) {
		watched += m->watched[cpu];
		if (watched > MAX_COHERENT)
			return g_strdup_printf("coherent=yes: for at most %u CPUs, more are watched", MAX_COHERENT);
	}
	for (int hops = 0; hops < CLASSES; hops++)
		if (m->alone[hops] <= 0 || m->loaded[hops] < m->alone[hops])
			return g_strdup_printf("latency=, loaded=: %g cycles alone and %g under load cannot be",
					       m->alone[hops], m->loaded[hops]);
	wrong = check_cache("l1", &m->l1, true);
	if (!wrong)
		wrong = check_cache("l2", &m->l2, false);
	if (!wrong)
		wrong = check_cache("l3", &m->l3, false);
	return wrong;
}

/* Two passes: nodes and plain values first, then what speaks of nodes. */
char *machine_parse(struct machine *m, int words, char *const *word, unsigned int cpus)
{
	const struct preset *preset = preset_of("amd48");
	const char *watch = NULL;
	char *wrong = NULL;

	/* what other words say goes before it, wherever they are */
	for (int i = 0; i < words; i++) {
		if (!g_str_has_prefix(word[i], "machine="))
			continue;
		preset = preset_of(word[i] + strlen("machine="));
		if (!preset)
			return g_strdup_printf("%s: should be amd48, xeon or none", word[i]);
	}
	*m = preset->machine;
	m->cpus = cpus;
	if (cpus > MAX_CPUS)
		return g_strdup_printf("%u CPUs, at most %d can be", cpus, MAX_CPUS);
	for (unsigned int cpu = 0; cpu < MAX_CPUS; cpu++)
		m->node_of_cpu[cpu] = NO_NODE;
	for (int i = 0; i < words && !wrong; i++) {
		const char *equals = strchr(word[i], '=');
		g_autofree char *name = equals ? g_strndup(word[i], equals - word[i]) : g_strdup(word[i]);
		const char *value = equals ? equals + 1 : "";

		if (!strcmp(name, "node")) {
			wrong = parse_node(m, value);
		} else if (!strcmp(name, "out")) {
			g_free(m->out);
			m->out = g_strdup(value);
		} else if (!strcmp(name, "watch")) {
			watch = value;
		} else if (!strcmp(name, "idle")) {
			if (!word_idle(value, &m->idle.from, &m->idle.to, &m->idle.awake))
				wrong = g_strdup_printf("idle=%s: should be FROM-TO:AWAKE, addresses of code", value);
		} else if (!strcmp(name, "tlb")) {
			m->translation = translation_of(value);
			if (!m->translation && strcmp(value, "none"))
				wrong = g_strdup_printf("tlb=%s: should be amd48, xeon or none", value);
		} else if (!strcmp(name, "coherent")) {
			m->coherent = !strcmp(value, "yes");
			if (!m->coherent && strcmp(value, "no"))
				wrong = g_strdup_printf("coherent=%s: should be yes or no", value);
		} else if (strcmp(name, "machine") && strcmp(name, "link") && strcmp(name, "route")) {
			wrong = parse_value(m, name, value);
		}
	}
	if (!wrong)
		wrong = check_machine(m, preset, watch);
	if (!wrong)
		preset_links(m, preset);
	for (int i = 0; i < words && !wrong; i++)
		if (g_str_has_prefix(word[i], "link="))
			wrong = parse_link(m, preset->link, word[i] + strlen("link="));
	if (!wrong)
		wrong = default_routes(m);
	for (int i = 0; i < words && !wrong; i++)
		if (g_str_has_prefix(word[i], "route="))
			wrong = parse_route(m, word[i] + strlen("route="));
	if (wrong)
		machine_free(m);
	return wrong;
}

void machine_free(struct machine *m)
{
	g_free(m->out);
	m->out = NULL;
}

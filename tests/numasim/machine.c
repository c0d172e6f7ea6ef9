/* Parameters of the machine: what is set by default (AMD48 of the paper), what the command line says, and whether that fits. */
#include <glib.h>
#include <string.h>

#include "machine.h"
#include "words.h"

#define CLOSER(a, b, to) (ABS((a) - (to)) < ABS((b) - (to)))

static const struct machine amd48 = {
	.name = "amd48",
	.l1 = { 64 << 10, 2, 0 },
	.l2 = { 512 << 10, 16, 0 },
	.l3 = { 5 << 20, 16, 0 },
	.hit_l2 = 16,
	.hit_l3 = 48,
	.alone = { 156, 276, 383 },
	.loaded = { 697, 740, 863 },
	.loaded_threads = 6,
	.controller = 13,
	.cpu_hz = 2.2e9,
	.stands_for = 1,
	.epoch = 1000000,
};
static const double link_default = 6;	/* GiB/s */

static int find_link(const struct machine *m, int from, int to)
{
	for (unsigned int i = 0; i < m->links; i++)
		if (m->link[i].from == from && m->link[i].to == to)
			return i;
	return -1;
}

static void set_link(struct machine *m, int a, int b, double bandwidth)
{
	for (int way = 0; way < 2; way++) {
		int found = find_link(m, way ? b : a, way ? a : b);

		if (found < 0) {
			found = m->links++;
			m->link[found] = (struct link){ way ? b : a, way ? a : b, 0 };
		}
		m->link[found].bandwidth = bandwidth;
	}
}

/* All even nodes with one another, all odd ones, and 2k with 2k + 1: four links a node, 16 in all. */
static void amd48_links(struct machine *m)
{
	for (int a = 0; a < 8; a++)
		for (int b = a + 1; b < 8; b++)
			if ((b - a) % 2 == 0 || a / 2 == b / 2)
				set_link(m, a, b, link_default);
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
static char *parse_link(struct machine *m, const char *value)
{
	unsigned int a, b;
	double bandwidth = link_default;

	if (!word_link(value, &a, &b, &bandwidth) || a == b || a >= m->nodes || b >= m->nodes)
		return g_strdup_printf("link=%s: should be A-B or A-B:GIB/S, A and B different nodes below %u", value, m->nodes);
	if (find_link(m, a, b) < 0 && m->links + 2 > MAX_LINKS)
		return g_strdup_printf("more than %d links", MAX_LINKS / 2);
	set_link(m, a, b, bandwidth);
	return NULL;
}

static char *parse_route(struct machine *m, const char *value)
{
	double n[3];
	int first, second;

	if (!word_numbers(value, 3, n) || n[0] >= m->nodes || n[1] >= m->nodes || n[2] >= m->nodes)
		return g_strdup_printf("route=%s: should be A:C:B, nodes below %u", value, m->nodes);
	first = find_link(m, n[0], n[1]);
	second = find_link(m, n[1], n[2]);
	if (first < 0 || second < 0 || n[0] == n[2])
		return g_strdup_printf("route=%s: there are no such links", value);
	m->route[(int)n[0]][(int)n[2]] = (struct route){ 2, { first, second } };
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
				m->route[a][b] = (struct route){ 1, { direct } };
				continue;
			}
			for (int c = 0; c < (int)m->nodes; c++)
				if (find_link(m, a, c) >= 0 && find_link(m, c, b) >= 0 && (best < 0 || CLOSER(c, best, (int)b)))
					best = c;
			if (best < 0)
				return g_strdup_printf("no way of at most %d links from node %u to node %u", MAX_HOPS, a, b);
			m->route[a][b] = (struct route){ 2, { find_link(m, a, best), find_link(m, best, b) } };
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

static bool parse_simple(struct machine *m, const char *name, const char *value, bool *known)
{
	double number, pair[2];

	*known = true;
	if (!strcmp(name, "l1"))
		return word_cache(value, &m->l1.bytes, &m->l1.ways);
	if (!strcmp(name, "l2"))
		return word_cache(value, &m->l2.bytes, &m->l2.ways);
	if (!strcmp(name, "l3"))
		return word_cache(value, &m->l3.bytes, &m->l3.ways);
	if (!strcmp(name, "latency"))
		return word_numbers(value, CLASSES, m->alone);
	if (!strcmp(name, "loaded"))
		return word_numbers(value, CLASSES, m->loaded);
	if (!strcmp(name, "hit")) {
		if (!word_numbers(value, 2, pair))
			return false;
		m->hit_l2 = pair[0];
		m->hit_l3 = pair[1];
		return true;
	}
	*known = !strcmp(name, "controller") || !strcmp(name, "cpu-hz") || !strcmp(name, "epoch") ||
		!strcmp(name, "stands-for") || !strcmp(name, "loaded-threads");
	if (!word_numbers(value, 1, &number) || number <= 0)
		return false;
	if (!strcmp(name, "controller"))
		m->controller = number;
	else if (!strcmp(name, "cpu-hz"))
		m->cpu_hz = number;
	else if (number < 1 || number > 1e12 || number != (uint64_t)number)
		return false;
	else if (!strcmp(name, "epoch"))
		m->epoch = number;
	else if (number > 1000)
		return false;
	else if (!strcmp(name, "stands-for"))
		m->stands_for = number;
	else if (!strcmp(name, "loaded-threads"))
		m->loaded_threads = number;
	return true;
}

static char *check_machine(struct machine *m, bool preset, const char *watch)
{
	char *wrong;

	if (!m->out || !*m->out)
		return g_strdup("needs out=FILE");
	if (!m->nodes)
		return g_strdup("needs node=CPUS@FROM-TO, one for each node in order");
	if (preset && m->nodes != 8)
		return g_strdup_printf("machine=amd48 has 8 nodes, there are %u; machine=none takes link=", m->nodes);
	for (unsigned int cpu = 0; cpu < m->cpus; cpu++)
		m->watched[cpu] = m->node_of_cpu[cpu] != NO_NODE && !watch;
	if (watch && !word_cpus(watch, m->cpus, m->watched))
		return g_strdup_printf("watch=%s: are not CPUs of 0-%u", watch, m->cpus - 1);
	for (unsigned int cpu = 0; cpu < m->cpus; cpu++)
		if (m->watched[cpu] && m->node_of_cpu[cpu] == NO_NODE)
			return g_strdup_printf("watch=%s: CPU %u is in no node", watch, cpu);
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
	const char *watch = NULL;
	bool preset = true;
	char *wrong = NULL;

	*m = amd48;
	m->cpus = cpus;
	if (cpus > MAX_CPUS)
		return g_strdup_printf("%u CPUs, at most %d can be", cpus, MAX_CPUS);
	for (unsigned int cpu = 0; cpu < MAX_CPUS; cpu++)
		m->node_of_cpu[cpu] = NO_NODE;
	for (int i = 0; i < words && !wrong; i++) {
		g_auto(GStrv) part = g_strsplit(word[i], "=", 2);
		const char *value = part[0] && part[1] ? strchr(word[i], '=') + 1 : "";
		bool known;

		if (!strcmp(part[0], "node")) {
			wrong = parse_node(m, value);
		} else if (!strcmp(part[0], "out")) {
			g_free(m->out);
			m->out = g_strdup(value);
		} else if (!strcmp(part[0], "watch")) {
			watch = value;
		} else if (!strcmp(part[0], "machine")) {
			preset = !strcmp(value, "amd48");
			m->name = preset ? "amd48" : "none";
			if (!preset && strcmp(value, "none"))
				wrong = g_strdup_printf("machine=%s: only amd48 and none are known", value);
		} else if (strcmp(part[0], "link") && strcmp(part[0], "route") && !parse_simple(m, part[0], value, &known)) {
			wrong = known ? g_strdup_printf("%s: bad value", word[i]) : g_strdup_printf("%s: unknown parameter", word[i]);
		}
	}
	if (!wrong)
		wrong = check_machine(m, preset, watch);
	if (!wrong && preset)
		amd48_links(m);
	for (int i = 0; i < words && !wrong; i++)
		if (g_str_has_prefix(word[i], "link="))
			wrong = parse_link(m, word[i] + strlen("link="));
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

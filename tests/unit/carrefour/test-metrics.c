/* SPDX-License-Identifier: GPL-2.0-only */
/* The file of metrics: every domain of the host is in it, by what it is called, with what is known and no more. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/census.h"
#include "daemon/tell.h"
#include "metrics/families.h"
#include "periods.h"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A collector refuses the whole file for a series that is there twice. */
static unsigned int check_series(void)
{
	static char *series[20000];
	unsigned int nr = 0, i;
	char *line = NULL;
	size_t room = 0;
	FILE *f = fopen(FILE_NAME, "r");

	assert_non_null(f);
	while (getline(&line, &room, f) > 0) {
		char *value = strrchr(line, ' ');

		if (*line == '#')
			continue;
		assert_non_null(value);
		*value = '\0';
		series[nr++] = strdup(line);
	}
	free(line);
	fclose(f);
	qsort(series, nr, sizeof(*series), by_text);
	for (i = 1; i < nr; i++)
		assert_string_not_equal(series[i - 1], series[i]);
	for (i = 0; i < nr; i++)
		free(series[i]);
	return nr;
}

static void every_domain_is_told(void **unused)
{
	struct fake_guest *g;

	(void)unused;
	begin_with_metrics(4, 3);
	/* One with Carrefour, one without, one that is PV. */
	fake_guest(2)->switches.carrefour = false;
	fake_guest(3)->switches.carrefour = false;
	fake_guest(3)->pv = true;
	g = fake_guest(2);
	g->policy = (struct xen_policy){ .name = "round-2m", .home = 0xb, .placed = 3, .fallback = 2 };
	memcpy(g->bytes, (uint64_t[]){ 1 << 20, 2 << 20, 4 << 20, 1 << 20 }, 4 * sizeof(*g->bytes));
	g->moves[RESULT_NO_ROOM] = 5;
	periods(4);
	assert_true(check_series() > 90);
	assert_true(has(FILE_NAME, "\ncarrefour_build_info{version=\"test\"} 1\n"));
	assert_true(has(FILE_NAME, "\ncarrefour_start_time_seconds 1700000001.000000000\n"));
	assert_true(has(FILE_NAME, "\nxen_numa_node_memory_bytes{node=\"3\"} 549755813888\n"));
	assert_true(has(FILE_NAME, "\nxen_numa_node_memory_free_bytes{node=\"3\"} 274877906944\n"));
	assert_true(has(FILE_NAME, "\ncarrefour_guests{sampling=\"runs\"} 1\n"));
	assert_true(has(FILE_NAME, "_domain_info{" UUID("3") ",domain=\"vm3\",domid=\"3\",type=\"pv\"} 1\n"));
	assert_false(has(FILE_NAME, "_domain_policy_info{" UUID("3")));
	assert_false(has(FILE_NAME, "_memory_bytes{" UUID("3")));
	assert_false(has(FILE_NAME, "_moves_bytes_total{" UUID("3")));
	assert_true(has(FILE_NAME, "_policy_info{" UUID("2") ",domain=\"vm2\",policy=\"round-2m\",home_nodes=\"0-1,3\","
			"home_nodes_from=\"policy\"} 1\n"));
	assert_true(has(FILE_NAME, "_policy_info{" UUID("1") ",domain=\"vm1\",policy=\"first-touch\",home_nodes=\"0-3\","
			"home_nodes_from=\"affinity\"} 1\n"));
	assert_true(has(FILE_NAME, "_memory_bytes{" UUID("2") ",domain=\"vm2\",node=\"2\"} 4194304\n"));
	assert_true(has(FILE_NAME, "_memory_bytes{" UUID("1") ",domain=\"vm1\",node=\"2\"} 0\n"));
	assert_true(has(FILE_NAME, "_home_ratio{" UUID("2") ",domain=\"vm2\"} 0.500000\n"));
	assert_true(has(FILE_NAME, "_placed_bytes_total{" UUID("2") ",domain=\"vm2\"} 12288\n"));
	assert_true(has(FILE_NAME, "_fallback_bytes_total{" UUID("2") ",domain=\"vm2\"} 8192\n"));
	assert_true(has(FILE_NAME, "_moves_bytes_total{" UUID("2") ",domain=\"vm2\",result=\"no-room\"} 20480\n"));
	/* What Carrefour does is told of the one that has it. */
	assert_true(has(FILE_NAME, "\ncarrefour_guest_info{" UUID("1") ",domain=\"vm1\",carrefour=\"on\",auto=\"off\","
			"sampling=\"runs\"} 1\n"));
	assert_true(has(FILE_NAME, "\ncarrefour_local_ratio{" UUID("1") ",domain=\"vm1\"} "));
	assert_false(has(FILE_NAME, "\ncarrefour_periods_total{" UUID("2")));
	end_with_metrics();

	/* The same without Carrefour anywhere. */
	begin_with_metrics(2, 2);
	fake_guest(1)->switches.carrefour = fake_guest(2)->switches.carrefour = false;
	periods(2);
	assert_true(has(FILE_NAME, "_memory_bytes{" UUID("2") ",domain=\"vm2\",node=\"0\"} 4294967296\n"));
	assert_true(has(FILE_NAME, "\ncarrefour_guests{sampling=\"runs\"} 0\n"));
	end_with_metrics();
}

/* It is the same VM after a reboot, and after it was renamed; two are never one. */
static void it_is_known_again(void **unused)
{
	unsigned int i;

	(void)unused;
	begin_with_metrics(2, 3);
	for (i = 1; i <= 3; i++)
		fake_guest(i)->uuid[15] = 7;
	strcpy(fake_guest(3)->switches.name, "vm1");
	fake_guest(2)->gone = true;
	fake_guest(3)->gone = true;
	periods(2);
	assert_true(has(FILE_NAME, "carrefour_periods_total{" UUID("7") ",domain=\"vm1\"} "));
	/* While it is replaced, both may be there: the newer one counts. */
	fake_guest(3)->gone = false;
	fake.changed = true;
	periods(2);
	check_series();
	assert_true(has(FILE_NAME, "_info{" UUID("7") ",domain=\"vm1\",domid=\"3\""));
	assert_false(has(FILE_NAME, "domid=\"1\""));
	fake_guest(1)->gone = true;
	fake.changed = true;
	periods(2);
	assert_true(has(FILE_NAME, "carrefour_periods_total{" UUID("7") ",domain=\"vm1\"} "));
	/* Of another name it is another series, of the same UUID; everywhere at once. */
	strcpy(fake_guest(3)->switches.name, "db \"1\"\n");
	periods(61);
	check_series();
	assert_true(has(FILE_NAME, "carrefour_periods_total{" UUID("7") ",domain=\"db \\\"1\\\"\\n\"} "));
	assert_false(has(FILE_NAME, "domain=\"vm1\""));
	/* One whose memory is not counted, too. */
	fake_guest(3)->switches.carrefour = false;
	fake_guest(3)->pv = true;
	fake.changed = true;
	strcpy(fake_guest(3)->switches.name, "pv 1");
	periods(61);
	assert_true(has(FILE_NAME, "_info{" UUID("7") ",domain=\"pv 1\",domid="));
	fake_guest(3)->pv = false;
	strcpy(fake_guest(3)->switches.name, "db \"1\"\n");
	periods(61);
	/* While nobody tells names, one keeps its name; a new one is called by its number. */
	fake.call[CALL_NAME].error = EIO;
	fake_guest(2)->gone = false;
	periods(61);
	assert_true(has(FILE_NAME, "_memory_bytes{" UUID("7") ",domain=\"db \\\"1\\\"\\n\",node=\"0\"} "));
	assert_true(has(FILE_NAME, "_memory_bytes{" UUID("7") ",domain=\"2\",node=\"0\"} "));
	fake.call[CALL_NAME].error = 0;
	periods(2);
	assert_true(has(FILE_NAME, "_memory_bytes{" UUID("7") ",domain=\"vm2\",node=\"0\"} "));
	assert_false(has(FILE_NAME, "domain=\"2\"") || has(FILE_NAME, "domain=\"3\""));
	end_with_metrics();
}

static void what_is_not_known_is_left_out(void **unused)
{
	struct stat before, after;

	(void)unused;
	begin_with_metrics(2, 2);
	fake_guest(2)->switches.carrefour = false;
	fake.call[CALL_MEMORY].error = EIO;
	fake.call[CALL_POLICY_GET].error = ENOSYS;
	fake.call[CALL_POLICY_GET].of = 2;
	periods(2);
	assert_false(has(FILE_NAME, "_domain_memory_bytes{") || has(FILE_NAME, "_home_ratio{"));
	assert_true(has(FILE_NAME, "_domain_policy_info{" UUID("1")));
	assert_false(has(FILE_NAME, "_domain_policy_info{" UUID("2")) || has(FILE_NAME, "_placed_bytes_total{" UUID("2")));
	fake.call[CALL_MEMORY].error = 0;
	periods(1);
	assert_true(has(FILE_NAME, "_domain_memory_bytes{" UUID("2")));
	assert_false(has(FILE_NAME, "_home_ratio{" UUID("2")));
	/* A domain whose number was another one's is another one. */
	fake_guest(2)->uuid[15] = 9;
	strcpy(fake_guest(2)->switches.name, "new");
	fake.call[CALL_MEMORY].error = EIO;
	periods(1);
	assert_true(has(FILE_NAME, "_domain_info{" UUID("9") ",domain=\"new\","));
	assert_false(has(FILE_NAME, "_domain_memory_bytes{" UUID("2")) || has(FILE_NAME, "_domain_memory_bytes{" UUID("9")));
	/* Nobody tells which there are: what is there is seen to be old. */
	assert_int_equal(stat(FILE_NAME, &before), 0);
	fake.call[CALL_DOMAINS].error = EAGAIN;
	periods(20);
	assert_int_equal(lines("cannot ask which domains there are"), 1);
	assert_int_equal(stat(FILE_NAME, &after), 0);
	assert_true(before.st_ino == after.st_ino && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
	fake.call[CALL_DOMAINS].error = 0;
	periods(2);
	assert_int_equal(stat(FILE_NAME, &after), 0);
	assert_true(before.st_mtim.tv_nsec != after.st_mtim.tv_nsec || before.st_mtim.tv_sec != after.st_mtim.tv_sec);
	end_with_metrics();
}

/* As often as is asked for, however long a period is; and again as soon as it can. */
static void it_is_written_when_it_is_time(void **unused)
{
	unsigned int i, written = 0;

	(void)unused;
	begin_with_metrics(2, 1);
	d.config.metrics_ms = 5000;
	for (i = 0; i < 50; i++) {
		periods(1);
		written += is_there(FILE_NAME);
		unlink(FILE_NAME);
	}
	assert_int_equal(written, 10);
	strcpy(d.config.metrics, "none/m.prom");
	fake.call[CALL_DOMAINS].calls = 0;
	periods(20);
	assert_int_equal(lines("cannot write it: No such file"), 1);
	/* Nor is all asked for more often than that. */
	assert_int_equal(fake.call[CALL_DOMAINS].calls, 4);
	strcpy(d.config.metrics, FILE_NAME);
	periods(1);
	assert_true(is_there(FILE_NAME));
	/* The period before: it took as long as calls did. */
	fake.call[CALL_HOST].us = 1500000;
	d.config.metrics_ms = 100;
	periods(2);
	assert_true(has(FILE_NAME, "\ncarrefour_periods_late_total 1\n"));
	end_with_metrics();
}

/* Files in the directory whose names begin with that of the metrics. */
static unsigned int files_beside(void)
{
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *directory = opendir(".");

	assert_non_null(directory);
	while ((entry = readdir(directory)))
		nr += !strncmp(entry->d_name, FILE_NAME, strlen(FILE_NAME));
	closedir(directory);
	return nr;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* What lies beside it, by whatever name, is somebody else's: it neither goes nor is in the way. */
static void what_lies_beside_it_stays(void **unused)
{
	struct stat st;

	(void)unused;
	begin_with_metrics(2, 1);
	write_file(FILE_NAME ".new", "mine");
	assert_int_equal(symlink("victim", FILE_NAME ".XXXXXX"), 0);
	write_file("victim", "mine, too");
	periods(3);
	assert_true(has(FILE_NAME, "\ncarrefour_build_info{") && has(FILE_NAME ".new", "mine") && has("victim", "mine, too"));
	/* Whoever collects it may read it, and nothing else is there. */
	assert_true(!stat(FILE_NAME, &st) && (st.st_mode & 0777) == 0644);
	assert_int_equal(files_beside(), 3);
	end_with_metrics();
	unlink(FILE_NAME ".new");
	unlink(FILE_NAME ".XXXXXX");
	unlink("victim");
}

/* The old one is there until the new one is whole; what there was no room for leaves nothing behind. */
static void a_full_disk_is_no_half_file(void **unused)
{
	struct rlimit before, little;

	(void)unused;
	begin_with_metrics(2, 30);
	periods(1);
	assert_true(check_series() > 30);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	/* Enough for the log of this test, and for a part of the file only. */
	little = (struct rlimit){ 12000, before.rlim_max };
	setrlimit(RLIMIT_FSIZE, &little);
	fake_guest(30)->gone = true;
	periods(5);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(lines("cannot write it: File too large; tried again"), 1);
	assert_true(has(FILE_NAME, "domain=\"vm30\"") && check_series() > 30);
	assert_int_equal(files_beside(), 1);
	periods(2);
	assert_false(has(FILE_NAME, "domain=\"vm30\""));
	end_with_metrics();
}

static void nodes_are_text(void **unused)
{
	static const struct {
		uint64_t nodes;
		const char *text;
	} cases[] = {
		{ 0, "" }, { 1, "0" }, { 0xb, "0-1,3" }, { 1ULL << 63, "63" }, { ~0ULL, "0-63" }, { 0x8000000000000005, "0,2,63" },
	};
	char text[NODES_SIZE];
	unsigned int i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		nodes_text(text, cases[i].nodes);
		assert_string_equal(text, cases[i].text);
	}
	/* The longest. */
	nodes_text(text, 0x5555555555555555);
	assert_int_equal(strlen(text), 5 * 1 + 27 * 2 + 31);
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_domain_is_told), cmocka_unit_test(it_is_known_again),
		cmocka_unit_test(what_is_not_known_is_left_out),
		cmocka_unit_test(it_is_written_when_it_is_time), cmocka_unit_test(what_lies_beside_it_stays),
		cmocka_unit_test(a_full_disk_is_no_half_file), cmocka_unit_test(nodes_are_text),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}

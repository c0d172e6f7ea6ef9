/* SPDX-License-Identifier: GPL-2.0-only */
/* What the daemon remembers between periods: counters, decisions, guests, configuration. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chance.h"
#include "guests/daemon.h"
#include "metrics/metrics.h"
#include "process/privileges.h"
#include "control/server.h"
#include "config/reload.h"

static void counters_of_a_period(void **unused)
{
	uint64_t before[4] = { 1, 2, 3, 0 }, after[4] = { 1, 2, 3, 0 };
	struct counters then = { .faults = 10, .marked = 20, .matrix = before };
	struct counters now = { .faults = 10, .marked = 20, .matrix = after };

	(void)unused;
	counters_take(&then, &now, 2);
	assert_true(!now.faults && !now.marked && !after[2]);
	assert_true(then.faults == 10 && then.marked == 20 && before[2] == 3);
	now = (struct counters){ .faults = 15, .marked = 20, .matrix = after };
	memcpy(after, (uint64_t[]){ 1, 2, 10, 0 }, sizeof(after));
	counters_take(&then, &now, 2);
	assert_true(now.faults == 5 && !now.marked && !after[0] && after[2] == 7);
	/* Begun anew by others: what there is came since. */
	now = (struct counters){ .faults = 30, .matrix = after };
	memcpy(after, (uint64_t[]){ 0, 1, 0, 0 }, sizeof(after));
	counters_take(&then, &now, 2);
	assert_true(now.faults == 30 && !now.marked && after[1] == 1 && !after[2]);
	assert_true(then.faults == 30 && before[1] == 1 && !before[2]);
}

static void the_last_decisions_are_kept(void **unused)
{
	struct history h = { .nr = 0 };
	unsigned int n, i;

	(void)unused;
	for (n = 1; n < 3 * HISTORY_SIZE; n++) {
		history_add(&h, &(struct event){ .period = n });
		for (i = 0; i < n && i < HISTORY_SIZE; i++)
			assert_int_equal(history_get(&h, i)->period, n - i);
		assert_null(history_get(&h, i));
	}
}

static const char *file(const char *text)
{
	static char path[] = "carrefour-test-XXXXXX";
	static bool made;
	FILE *f;

	if (!made)
		close(mkstemp(path));
	made = true;
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	return path;
}

static void bad_configuration_changes_nothing(void **unused)
{
	struct config c = config_defaults(), before;
	struct reload what;
	char error[1024];
	const char *path = file("vm_moves = 5\nperiod_ms = 500\n");

	(void)unused;
	assert_true(reload(&c, path, &what, error, sizeof(error)));
	assert_true(c.vm_moves == 5 && c.period_ms == 500 && what.sampling && !what.user);
	before = c;
	file("vm_moves = 6\nvm_movs = 7\n");
	assert_false(reload(&c, path, &what, error, sizeof(error)));
	assert_non_null(strstr(error, ":2: there is no setting 'vm_movs'"));
	assert_memory_equal(&c, &before, sizeof(c));
	unlink(path);
	assert_false(reload(&c, path, &what, error, sizeof(error)));
	assert_non_null(strstr(error, "cannot open it"));
	assert_memory_equal(&c, &before, sizeof(c));
	/* What is not in the file is the default again; what Xen need not know, does not disturb sampling. */
	file("period_ms = 500\nuser = 17\nhost_moves = 9\n");
	assert_true(reload(&c, path, &what, error, sizeof(error)));
	assert_true(c.vm_moves == config_defaults().vm_moves && !what.sampling && what.user);
	file("period_ms = 500\nuser = 17\nsample_ms = 50\n");
	assert_true(reload(&c, path, &what, error, sizeof(error)));
	assert_true(what.sampling && !what.user);
	file("period_ms = 500\nuser = 17\nsample_ms = 50\nsample_source = ibs\n");
	assert_true(reload(&c, path, &what, error, sizeof(error)));
	assert_true(what.sampling && c.sample_ibs);
	file("period_ms = 500\nuser = 17\nsample_ms = 50\nsample_source = ibs\nhost_moves = 9\n");
	assert_true(reload(&c, path, &what, error, sizeof(error)));
	assert_false(what.sampling);
	file("period_ms = 500\nuser = 17\nsample_ms = 50\nsample_source = hint-faults\n");
	assert_true(reload(&c, path, &what, error, sizeof(error)));
	assert_true(what.sampling && !c.sample_ibs);
	unlink(path);
}

/* A collector refuses a whole file for one byte that is none. */
static void metrics_are_utf8(void **unused)
{
	const struct domain_metrics counts = { .periods = 1 };
	struct metrics_domain m = { .carrefour = &counts };
	const char *path = file("");
	char text[65536] = "";
	FILE *f;

	(void)unused;
	metrics_label(&m, "", "a\xc3\xa9\xff\xc3");
	assert_true(metrics_write(path, &m, 1, NULL));
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	assert_non_null(strstr(text, "{domain=\"a\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\""));
	assert_null(strchr(text, '\xff'));
	unlink(path);
}

static void guests_follow_the_store(void **unused)
{
	struct daemon d = { .config = config_defaults(), .host.nr_nodes = 2 };
	struct switches both[] = { { .id = 3, .carrefour = true }, { .id = 7, .mode = AUTO_ON, .class = CLASS_HIGH } };
	struct guest *g;

	(void)unused;
	assert_true(guests_sync(&d, both, 2));
	assert_true(d.nr == 2 && guests_find(&d, 3) == d.guest[0] && guests_find(&d, 7) == d.guest[1] && !guests_find(&d, 5));
	/* A class that is known was acted upon by who found it. */
	assert_true(d.guest[1]->applied && d.guest[1]->auto_state.class == CLASS_HIGH);
	assert_true(!d.guest[0]->applied);
	/* The one stays as it is; Carrefour off forgets its pages; auto only says so far, then does. */
	g = d.guest[0];
	g->domain = domain_new(d.config.pages, 2, 1);
	both[0].mode = AUTO_ADVISE;
	assert_true(guests_sync(&d, both, 2));
	assert_true(d.guest[0] == g && g->domain && g->switches.mode == AUTO_ADVISE);
	g->advised = g->applied = true;
	g->auto_state.class = CLASS_MODERATE;
	both[0].carrefour = false;
	both[0].mode = AUTO_ON;
	assert_true(guests_sync(&d, both, 2));
	assert_true(!g->domain && !g->advised && !g->applied && g->auto_state.class == CLASS_MODERATE);
	/* What auto writes itself is no beginning. */
	g->applied = g->advised = true;
	both[0].class = CLASS_LOW;
	assert_true(guests_sync(&d, both, 2));
	assert_true(g->applied && g->advised);
	/* Gone, but there until what Xen has of it is given back; and it can come again. */
	assert_true(guests_sync(&d, &both[1], 1));
	assert_true(d.nr == 2 && g->gone && !guests_find(&d, 3));
	assert_true(guests_sync(&d, both, 2));
	assert_true(d.nr == 3 && guests_find(&d, 3) != g);
	guests_drop_gone(&d);
	assert_true(d.nr == 2 && guests_find(&d, 3) && guests_find(&d, 7));
	assert_true(guests_sync(&d, both, 0));
	guests_drop_gone(&d);
	assert_int_equal(d.nr, 0);
	free(d.guest);
}

static void memory_follows_until_auto_is_off(void **unused)
{
	struct config c = config_defaults();
	struct switches switches = { .id = 7, .carrefour = true, .mode = AUTO_ON, .class = CLASS_HIGH, .follows = true };
	struct guest *g = guest_new(&switches);

	(void)unused;
	/* The daemon before this one had not done with it. */
	assert_true(g->follow.on && !g->follow.gfn);
	g->follow.gfn = 5;
	switches.name[0] = 'a';
	guest_update(g, &switches);
	assert_true(g->follow.on && g->follow.gfn == 5);
	switches.mode = AUTO_ADVISE;
	guest_update(g, &switches);
	assert_false(g->follow.on);
	guest_free(g);
	g = guest_new(&switches);
	assert_false(g->follow.on);
	/* From the beginning, and what Carrefour knows of the pages is forgotten. */
	g->domain = domain_new(c.pages, 2, 1);
	g->follow.gfn = 5;
	guest_follow(g);
	assert_true(g->follow.on && !g->follow.gfn && !g->domain);
	guest_free(g);
}

/* In a child, as it is for good. Returns what it says of itself. */
static int as_user(const char *user, int (*look)(void))
{
	char error[256];
	int status;
	pid_t child = fork();

	if (!child && setgroups(1, &(gid_t){ 5 }))
		_exit(7);
	if (!child)
		_exit(privileges_drop(user, error, sizeof(error)) ? look() : strstr(error, "there is no user '") ? 1 : 2);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char roots_file[] = "carrefour-root-XXXXXX";

static bool can_open(void)
{
	int fd = open(roots_file, O_RDWR);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int look(void)
{
	uid_t r, e, s;

	if (getresuid(&r, &e, &s) || r != 65534 || e != 65534 || s != 65534 || getgid() != 65534 || getgroups(0, NULL))
		return 3;
	if (can_open() || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0))
		return 4;
	privileges_raise();
	if (!can_open())
		return 5;
	privileges_lower();
	return can_open() || !setuid(0) ? 6 : 0;
}

static void root_is_given_up(void **unused)
{
	(void)unused;
	if (getuid())
		skip();
	close(mkstemp(roots_file));
	assert_int_equal(as_user("65534", look), 0);
	assert_int_equal(as_user("nobody-of-this-name", look), 1);
	assert_int_equal(as_user("-1", look), 1);
	assert_int_equal(as_user("4294967296", look), 1);
	unlink(roots_file);
}

/* -s for -c: a configuration is no socket. */
static void a_file_that_is_no_socket_stays(void **unused)
{
	const char *path = file("period_ms = 500\n");
	char error[512], lock[128];
	struct stat st;

	(void)unused;
	assert_false(server_open(path, NULL, error, sizeof(error)));
	assert_non_null(strstr(error, ": is there, and is no socket; name another one, or remove it"));
	assert_true(!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size > 0);
	server_close();
	snprintf(lock, sizeof(lock), "%s.lock", path);
	unlink(lock);
	unlink(path);
}

/* -s "$UNSET": the kernel takes that for a socket of the abstract name space, where anybody may ask. */
static void a_socket_has_a_path(void **unused)
{
	char error[512] = "";

	(void)unused;
	assert_false(server_open("", NULL, error, sizeof(error)));
	assert_string_equal(error, "'' is no path for a socket; give one");
	assert_int_equal(access(".lock", F_OK), -1);
	server_close();
}

/* One test alone: its name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_a_period),
		cmocka_unit_test(the_last_decisions_are_kept),
		cmocka_unit_test(bad_configuration_changes_nothing),
		cmocka_unit_test(metrics_are_utf8),
		cmocka_unit_test(guests_follow_the_store),
		cmocka_unit_test(memory_follows_until_auto_is_off),
		cmocka_unit_test(a_file_that_is_no_socket_stays),
		cmocka_unit_test(a_socket_has_a_path),
		cmocka_unit_test(root_is_given_up),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests_name("daemon", tests, NULL, NULL);
}

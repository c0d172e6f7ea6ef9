/* All that the daemon has, and its parts in the order in which a period needs them. */
#ifndef DAEMON_H
#define DAEMON_H

#include "guest.h"
#include "host.h"

/* How often rings are read, whatever a period is: Xen takes one that nobody reads for left. */
#define READ_MS 500

struct daemon {
	struct config config;
	struct host host;
	struct guest **guest;	/* by id */
	unsigned int nr;
	uint64_t period;	/* how many there were */
	uint64_t now, ns;	/* by the clock that never goes back; and since the last period */
	int host_error, metrics_error;	/* that were said */
};

/* carrefourd.c: the clock that never goes back. */
uint64_t clock_ns(void);

/* guests.c: which there are. Who is not in @wish any more, or gone, is only marked. False: out of memory. */
bool guests_sync(struct daemon *daemon, const struct wish *wish, unsigned int nr);
void guests_drop_gone(struct daemon *daemon);
struct guest *guests_find(const struct daemon *daemon, unsigned int id);

/* sampling.c: begins, goes on with, and ends the sampling of a guest. */
void sampling_keep(struct guest *guest, const struct config *config, uint64_t now);
void sampling_read(struct guest *guest);	/* what has come; often enough that no ring is full */
void sampling_read_all(struct daemon *d);
void sampling_end(struct guest *guest);

/* choice.c: what auto says of a period, and does. */
void choice_make(struct guest *guest, const struct config *config);
/* Of a guest in STATE_FOLLOWING: moves what may follow in this period, for a quarter of it at most. */
void choice_follow(struct daemon *daemon, struct guest *guest);

/* period.c */
void period_run(struct daemon *daemon);

/* view.c: documents for requests. */
void view_show(FILE *to, const struct daemon *daemon);
void view_explain(FILE *to, const struct daemon *daemon, const struct guest *guest);
void view_error(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* requests.c: what the server is asked. */
struct service;
const struct service *requests_begin(const struct daemon *daemon);

#endif

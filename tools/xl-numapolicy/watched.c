/* A domain that carrefourd watches, for show and top. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "watched.h"

void put_watched(struct table *table, const struct watched *w)
{
	unsigned int i;

	if (!w) {
		put_bool(table, false);
		for (i = 0; i < 8; i++)
			put_nothing(table);
		return;
	}
	put_bool(table, w->carrefour);
	if (*w->class) {
		char text[2 * WORD_TEXT + 4];

		snprintf(text, sizeof(text), "%s: %s", w->automatic, w->class);
		put_text(table, text);
	} else {
		put_text(table, w->automatic);
	}
	/* Without samples it is why there are none that counts. */
	put_text(table, strcmp(w->sampling, "runs") ? w->sampling : w->state);
	put_number(table, w->samples);
	if (w->samples) {
		put_share(table, w->local, 1000);
		put_share(table, w->imbalance, 1000);
	} else {
		put_nothing(table);
		put_nothing(table);
	}
	put_number(table, w->moves);
	put_bytes(table, w->all_bytes);
	put_number(table, w->all_dropped);
}

void print_watched(const struct watched *w)
{
	char local[NUMBER_TEXT], imbalance[NUMBER_TEXT], size[NUMBER_TEXT];

	if (!w)
		return;
	printf("carrefour   %s, auto %s%s%s\n", w->carrefour ? "on" : "off", w->automatic, *w->class ? ": " : "", w->class);
	if (strcmp(w->sampling, "runs"))
		printf("sampling    %s; 'xl numa-policy explain' says more\n", w->sampling);
	else
		printf("accesses    %" PRIu64 " samples in the last period, %s%% of them local, imbalance %s%%\n", w->samples,
		       format_share(local, w->local, 1000), format_share(imbalance, w->imbalance, 1000));
	printf("migrated    %" PRIu64 " pages in the last period, %s in all; %" PRIu64 " samples were dropped\n", w->moves,
	       format_bytes(size, w->all_bytes), w->all_dropped);
}

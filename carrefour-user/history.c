/* A ring. */
#include <stddef.h>

#include "history.h"

static const char *const results[NR_RESULTS] = {
	[RESULT_DONE] = "moved", [RESULT_THERE] = "there", [RESULT_NO_PAGE] = "no-page", [RESULT_BUSY] = "in-use",
	[RESULT_UNMOVABLE] = "unmovable", [RESULT_NO_ROOM] = "no-room", [RESULT_LATE] = "late", [RESULT_NOT_TRIED] = "not-tried",
};

const char *result_name(unsigned int result)
{
	return result < NR_RESULTS ? results[result] : NULL;
}

void history_add(struct history *h, const struct past *past)
{
	h->past[h->nr++ % HISTORY_SIZE] = *past;
}

const struct past *history_get(const struct history *h, unsigned int i)
{
	if (i >= HISTORY_SIZE || i >= h->nr)
		return NULL;
	return &h->past[(h->nr - 1 - i) % HISTORY_SIZE];
}

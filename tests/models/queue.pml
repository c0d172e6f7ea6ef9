/*
 * The guest's queue of page events: numa-policy-queue.c, and the hooks of
 * numa-policy-pages.c.
 *
 * Two pages that are one block while both are free; Xen would map both for a
 * touch if it has neither.  One CPU allocates and frees, another tells Xen of
 * batches and has interrupts that allocate.
 */
#define BATCHES 2
#define EVENTS  3
#define RESERVE 1
#define FREES   3
#define NR      (FREES * 2 + 4)

bool owned[2], mapped[2];
bool zone_locked;

/* the mark of each page: a batch, and whether the one before it is meant, too */
byte mark[2];
bool mark_before[2];

/* struct page_event_queue; an event is a mask of pages, and a release or not */
byte filling = BATCHES + 1, busy = BATCHES, finished = BATCHES;
bool told, irqs_off, in_irq;
byte nr[BATCHES];
byte event_pages[6];
bool event_released[6];

byte frees = FREES, done;

#define SLOT(number) ((number) % BATCHES)
#define EVENT(number, i) (SLOT(number) * EVENTS + (i))

inline append(number, mask, is_release)
{
	event_pages[EVENT(number, nr[SLOT(number)])] = mask;
	event_released[EVENT(number, nr[SLOT(number)])] = is_release;
	nr[SLOT(number)]++
}

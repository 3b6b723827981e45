/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NAND timing against schedules computed by hand, and against an event-driven
 * twin that knows nothing of reservations.
 */
#include <string.h>

#include "flash-small.h"

#define PAGE_NS     40960       /* 4 KiB at 100 MB/s */

static void check(int64_t got, int64_t want)
{
    /* the rate is rounded to 2^-20 */
    g_assert_cmpint(ABS(got - want), <=, 2);
}

static void test_schedule(void)
{
    ZdNand n;
    int64_t start;

    zd_nand_init(&n, &small_params, 8);
    /* two reads of one die, one of its neighbour on the channel, one beside */
    check(zd_nand_read(&n, 0, 0, 4096), 50000 + PAGE_NS);
    check(zd_nand_read(&n, 0, 0, 4096), 2 * (50000 + PAGE_NS));
    check(zd_nand_read(&n, 0, 1, 4096), 50000 + PAGE_NS);
    /* die 4 shares channel 0: its page is ready while die 0's moves */
    check(zd_nand_read(&n, 0, 4, 4096), 50000 + 2 * PAGE_NS);

    zd_nand_idle(&n);
    /* two planes move, then the lower page is programmed */
    check(zd_nand_program(&n, 0, 0, false, false, &start),
          2 * PAGE_NS + 500000);
    check(start, 0);
    check(zd_nand_program(&n, 0, 0, true, false, &start),
          4 * PAGE_NS + 500000 + 1500000);
    check(start, 2 * PAGE_NS + 500000);
    check(zd_nand_program(&n, 0, 1, false, true, &start),
          3000000 + 2 * PAGE_NS + 500000);

    /*
     * A read waits for the program that runs and passes the one behind it,
     * whose data keep their place on the channel.
     */
    check(zd_nand_read(&n, 1000, 0, 4096), 4 * PAGE_NS + 500000 + PAGE_NS);
    check(n.die[0].prog_end, 4 * PAGE_NS + 500000 + 1500000 + 3 * PAGE_NS);
    zd_nand_free(&n);
}

static void test_calendar(void)
{
    ZdCalendar c;

    zd_calendar_init(&c, 64, 10);
    g_assert_cmpint(zd_calendar_take(&c, 0, 5000), ==, 5000);
    g_assert_cmpint(zd_calendar_take(&c, 0, 5000), ==, 10000);
    /* far ahead, then into the gap before it */
    g_assert_cmpint(zd_calendar_take(&c, 40960, 1000), ==, 41960);
    g_assert_cmpint(zd_calendar_take(&c, 20480, 1000), ==, 21480);
    /* around the reservation from 20480 to 21480 */
    g_assert_cmpint(zd_calendar_take(&c, 19456, 2048), ==, 22504);
    /* before one that begins in the middle of its slot */
    g_assert_cmpint(zd_calendar_take(&c, 31232, 256), ==, 31488);
    g_assert_cmpint(zd_calendar_take(&c, 30720, 256), ==, 30976);
    g_assert_cmpint(zd_calendar_take(&c, 31232, 256), ==, 31744);
    /* much later: all of the ring is new */
    g_assert_cmpint(zd_calendar_take(&c, 1 << 30, 100), ==, (1 << 30) + 100);
    /* much earlier: as early as is known */
    g_assert_cmpint(zd_calendar_take(&c, 0, 100), >, (1 << 30) - 65 * 1024);
    zd_calendar_free(&c);
}

/* No slot is ever given twice. */
static void test_calendar_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(4);
    ZdCalendar c;
    int64_t sum = 0, last = 0;

    zd_calendar_init(&c, 1 << 14, 12);
    for (unsigned i = 0; i < 20000; i++) {
        int64_t t = g_rand_int_range(rand, 0, 20000000);
        int64_t amount = g_rand_int_range(rand, 1, 3000);
        int64_t end = zd_calendar_take(&c, t, amount);

        g_assert_cmpint(end, >=, t + amount);
        sum += amount;
        last = MAX(last, end);
    }
    g_assert_cmpint(last, >=, sum);
    for (unsigned i = 0; i < c.slots; i++) {
        g_assert_cmpuint(c.used[i].end, <=, 4096);
        g_assert_cmpuint(c.used[i].first, <=, c.used[i].end);
        sum -= c.used[i].end - c.used[i].first;
    }
    /* what was given is in use; a gap may be lost */
    g_assert_cmpint(sum, <=, 0);
    zd_calendar_free(&c);
}

/* The twin: dies and channels with queues, driven by events in time order. */

#define TWIN_READS  20000

typedef struct TwinEvent {
    int64_t time;
    unsigned read;
    enum { ARRIVE, SENSED, MOVED } what;
} TwinEvent;

static int compare(gconstpointer a, gconstpointer b, gpointer unused)
{
    const TwinEvent *x = a, *y = b;

    return x->time != y->time ? (x->time < y->time ? -1 : 1) :
           x->read != y->read ? (x->read < y->read ? -1 : 1) :
           (int)x->what - (int)y->what;
}

static void post(GSequence *events, int64_t time, unsigned read, int what)
{
    TwinEvent *event = g_new(TwinEvent, 1);

    *event = (TwinEvent) { time, read, what };
    g_sequence_insert_sorted(events, event, compare, NULL);
}

static void twin(const int64_t *arrive, const uint32_t *die, int64_t *end)
{
    GSequence *events = g_sequence_new(g_free);
    GQueue waiting[8] = { 0 }, channel[4] = { 0 };
    bool die_busy[8] = { false }, channel_busy[4] = { false };

    for (unsigned i = 0; i < TWIN_READS; i++) {
        post(events, arrive[i], i, ARRIVE);
    }
    while (!g_sequence_is_empty(events)) {
        GSequenceIter *at = g_sequence_get_begin_iter(events);
        TwinEvent e = *(TwinEvent *)g_sequence_get(at);
        unsigned d = die[e.read], c = d % 4;

        g_sequence_remove(at);
        switch (e.what) {
        case ARRIVE:
            g_queue_push_tail(&waiting[d], GUINT_TO_POINTER(e.read + 1));
            break;
        case SENSED:
            g_queue_push_tail(&channel[c], GUINT_TO_POINTER(e.read + 1));
            break;
        case MOVED:
            end[e.read] = e.time;
            die_busy[d] = channel_busy[c] = false;
            break;
        }
        if (!channel_busy[c] && channel[c].length) {
            unsigned read = GPOINTER_TO_UINT(g_queue_pop_head(&channel[c])) -
                            1;

            channel_busy[c] = true;
            post(events, e.time + PAGE_NS, read, MOVED);
        }
        if (!die_busy[d] && waiting[d].length) {
            unsigned read = GPOINTER_TO_UINT(g_queue_pop_head(&waiting[d])) -
                            1;

            die_busy[d] = true;
            post(events, e.time + 50000, read, SENSED);
        }
    }
    g_sequence_free(events);
}

/* From nearly idle to nearly full: mean latency within 5 % of the twin's. */
static void test_twin(void)
{
    static const double gaps[] = { 100000, 25000, 13000 };
    g_autofree int64_t *arrive = g_new(int64_t, TWIN_READS);
    g_autofree int64_t *end = g_new0(int64_t, TWIN_READS);
    g_autofree uint32_t *die = g_new(uint32_t, TWIN_READS);

    for (unsigned g = 0; g < G_N_ELEMENTS(gaps); g++) {
        g_autoptr(GRand) rand = g_rand_new_with_seed(11 + g);
        double ours = 0, theirs = 0;
        int64_t now = 0;
        ZdNand n;

        zd_nand_init(&n, &small_params, 8);
        for (unsigned i = 0; i < TWIN_READS; i++) {
            now += g_rand_double_range(rand, 0, 2 * gaps[g]);
            arrive[i] = now;
            die[i] = g_rand_int_range(rand, 0, 8);
            ours += zd_nand_read(&n, now, die[i], 4096) - now;
        }
        twin(arrive, die, end);
        for (unsigned i = 0; i < TWIN_READS; i++) {
            theirs += end[i] - arrive[i];
        }
        g_test_message("gap %.0f: model %.0f ns, twin %.0f ns", gaps[g],
                       ours / TWIN_READS, theirs / TWIN_READS);
        g_assert_cmpfloat(ABS(ours / theirs - 1), <, 0.05);
        zd_nand_free(&n);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flash/nand/schedule", test_schedule);
    g_test_add_func("/flash/nand/calendar", test_calendar);
    g_test_add_func("/flash/nand/calendar-random", test_calendar_random);
    g_test_add_func("/flash/nand/twin", test_twin);
    return g_test_run();
}

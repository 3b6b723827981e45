/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NAND timing against schedules computed by hand; test-flash-twin.c does the
 * same with random ones and an event-driven simulator.
 */
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flash/nand/schedule", test_schedule);
    g_test_add_func("/flash/nand/calendar", test_calendar);
    g_test_add_func("/flash/nand/calendar-random", test_calendar_random);
    return g_test_run();
}

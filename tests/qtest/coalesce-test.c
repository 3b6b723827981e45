/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts of completions: coalescing by count and by time (one unit of
 * INT_COAL_TMOUT is a microsecond of virtual time), and the acknowledge that
 * must not lose a completion.
 */
#include "qemu/osdep.h"
#include "zdrive-qtest.h"

#define US          1000ll

/* Commands end at the doorbell, so that time moves only when a test says. */
static ZtCard *boot(uint32_t count, uint32_t time)
{
    ZtCard *card = zt_boot(ZT_CARD ",timing=off");
    ZtCore *core = &card->core[0];

    zt_core_start(core);
    zt_core_write(core, MVS_INT_COAL, count);
    zt_core_write(core, MVS_INT_COAL_TMOUT, time);
    zt_write(card, MVS_GBL_PI, MVS_IRQ_SAS(0));
    return card;
}

/* One more completion, which the ring shows whatever the interrupt does. */
static void complete_one(ZtCore *core)
{
    ZtCmd cmd = zt_cheap(0, 0);

    zt_queue(core, &cmd);
    zt_doorbell(core);
    g_assert_true(zt_completed(core));
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD);
}

static bool done(ZtCore *core)
{
    bool set = zt_core_read(core, MVS_INT_STAT) & CINT_DONE;

    g_assert_true(zt_intx(core->card) == set);
    return set;
}

static void ack(ZtCore *core)
{
    zt_core_write(core, MVS_INT_STAT, CINT_DONE);
    g_assert_false(done(core));
}

static void test_disabled(void)
{
    ZtCard *card = boot(0x1ff, 0x1ffff);
    ZtCore *core = &card->core[0];
    unsigned i;

    for (i = 0; i < 3; i++) {
        complete_one(core);
        g_assert_true(done(core));
        ack(core);
    }
    zt_quit(card);
}

static void test_count(void)
{
    ZtCard *card = boot(RING_EN | 4, RING_EN);
    ZtCore *core = &card->core[0];
    unsigned i, round;

    for (round = 0; round < 3; round++) {
        for (i = 0; i < 3; i++) {
            complete_one(core);
            qtest_clock_step(card->qts, 1000000 * US);
            g_assert_false(done(core));
        }
        complete_one(core);
        g_assert_true(done(core));
        ack(core);
    }
    zt_quit(card);
}

static void test_time(void)
{
    ZtCard *card = boot(RING_EN | 0x1ff, RING_EN | 50);
    ZtCore *core = &card->core[0];
    unsigned round;

    for (round = 0; round < 3; round++) {
        complete_one(core);
        g_assert_false(done(core));
        qtest_clock_step(card->qts, 20 * US);
        /* the first one counts */
        complete_one(core);
        qtest_clock_step(card->qts, 30 * US - 1);
        g_assert_false(done(core));
        qtest_clock_step(card->qts, 1);
        g_assert_true(done(core));
        ack(core);
        /* nothing more waits */
        qtest_clock_step(card->qts, 200 * US);
        g_assert_false(done(core));
    }
    zt_quit(card);
}

/* As mvsas programs it: 511 completions or 128 us. */
static void test_mvsas(void)
{
    ZtCard *card = boot(0x101ff, 0x10080);
    ZtCore *core = &card->core[0];

    complete_one(core);
    qtest_clock_step(card->qts, 128 * US - 1);
    g_assert_false(done(core));
    qtest_clock_step(card->qts, 1);
    g_assert_true(done(core));
    zt_quit(card);
}

/* The count comes first; the time that was running is over with it. */
static void test_both(void)
{
    ZtCard *card = boot(RING_EN | 2, RING_EN | 100);
    ZtCore *core = &card->core[0];

    complete_one(core);
    qtest_clock_step(card->qts, 60 * US);
    complete_one(core);
    g_assert_true(done(core));
    ack(core);
    qtest_clock_step(card->qts, 60 * US);
    g_assert_false(done(core));

    /* a time of its own for the next batch */
    complete_one(core);
    qtest_clock_step(card->qts, 100 * US - 1);
    g_assert_false(done(core));
    qtest_clock_step(card->qts, 1);
    g_assert_true(done(core));
    zt_quit(card);
}

/* Enabled without any limit: nothing may wait for ever. */
static void test_no_limit(void)
{
    ZtCard *card = boot(RING_EN, RING_EN);
    ZtCore *core = &card->core[0];

    complete_one(core);
    g_assert_true(done(core));
    zt_quit(card);
}

/* mvs_94xx_tune_interrupt() while completions wait. */
static void test_retune(void)
{
    ZtCard *card = boot(RING_EN | 0x1ff, RING_EN | 0xffff);
    ZtCore *core = &card->core[0];

    complete_one(core);
    g_assert_false(done(core));
    zt_core_write(core, MVS_INT_COAL, 0);
    zt_core_write(core, MVS_INT_COAL_TMOUT, RING_EN);
    g_assert_true(done(core));
    ack(core);
    complete_one(core);
    g_assert_true(done(core));
    zt_quit(card);
}

/* A reset takes the waiting interrupt with it. */
static void test_reset(void)
{
    ZtCard *card = boot(RING_EN | 0x1ff, RING_EN | 100);
    ZtCore *core = &card->core[0];

    complete_one(core);
    zt_core_program(core);
    qtest_clock_step(card->qts, 1000 * US);
    g_assert_false(done(core));
    zt_quit(card);
}

/* The two cores coalesce by themselves. */
static void test_cores_apart(void)
{
    ZtCard *card = boot(RING_EN | 2, RING_EN);

    zt_core_start(&card->core[1]);
    complete_one(&card->core[0]);
    complete_one(&card->core[1]);
    g_assert_cmphex(zt_core_read(&card->core[0], MVS_INT_STAT), ==, 0);
    g_assert_cmphex(zt_core_read(&card->core[1], MVS_INT_STAT), ==,
                    CINT_DONE);
    g_assert_cmphex(zt_read(card, MVS_GBL_INT_STAT), ==, MVS_IRQ_SAS(1));
    g_assert_false(zt_intx(card));
    zt_quit(card);
}

/*
 * The interrupt handler of mvsas: acknowledge DONE, read, read, drain the
 * ring, write back what was read (mvs_94xx_isr_status, mvs_int_full).
 */
static void isr_begin(ZtCore *core)
{
    zt_core_write(core, MVS_INT_STAT, CINT_DONE);
    zt_core_read(core, MVS_INT_STAT);
}

static void test_handler(void)
{
    ZtCard *card = boot(0, RING_EN);
    ZtCore *core = &card->core[0];

    complete_one(core);
    isr_begin(core);
    zt_core_write(core, MVS_INT_STAT, zt_core_read(core, MVS_INT_STAT));
    g_assert_false(done(core));
    zt_quit(card);
}

/* One more completion comes after the drain, before the last write. */
static void test_handler_race(void)
{
    ZtCard *card = boot(0, RING_EN);
    ZtCore *core = &card->core[0];
    uint32_t stat;

    complete_one(core);
    isr_begin(core);
    stat = zt_core_read(core, MVS_INT_STAT);
    complete_one(core);
    zt_core_write(core, MVS_INT_STAT, stat | CINT_DONE);
    g_assert_true(done(core));
    /* next round of the handler */
    isr_begin(core);
    zt_core_write(core, MVS_INT_STAT, zt_core_read(core, MVS_INT_STAT));
    g_assert_false(done(core));
    zt_quit(card);
}

/* Before its first read of INT_STAT a driver cannot know of a completion. */
static void test_blind_ack(void)
{
    ZtCard *card = boot(0, RING_EN);
    ZtCore *core = &card->core[0];

    complete_one(core);
    zt_core_write(core, MVS_INT_STAT, CINT_DONE);
    g_assert_true(done(core));
    ack(core);
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "disabled", test_disabled },
    { "count", test_count },
    { "time", test_time },
    { "mvsas", test_mvsas },
    { "both", test_both },
    { "no-limit", test_no_limit },
    { "retune", test_retune },
    { "reset", test_reset },
    { "cores-apart", test_cores_apart },
    { "handler", test_handler },
    { "handler-race", test_handler_race },
    { "blind-ack", test_blind_ack },
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    zt_add_cases("coalesce", cases, ARRAY_SIZE(cases));
    return zt_run_tests();
}

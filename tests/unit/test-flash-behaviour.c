/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user would notice: the buffer fills up and drains, flush and write
 * through wait for NAND, used SSDs get slower as published, wear and its
 * throttle, memory that grows with what is touched.
 */
#include <string.h>

#include "flash-small.h"
#include "hw/zdrive/catalog.h"

#define PAGES       16384

/* Rates are rounded to 2^-20. */
static void check(int64_t got, int64_t want)
{
    g_assert_cmpint(got, >=, want - 3);
    g_assert_cmpint(got, <=, want + 3);
}

static ZdFlash *new_small(const ZdFlashParams *p)
{
    return zd_flash_new(p, PAGES * 8, 1, &small_options);
}

/* Command, firmware, link (equal to the data path here). */
static void test_latency(void)
{
    ZdFlash *f = new_small(&small_params);
    int64_t page = 4096 * 1000 / 600;

    check(small_write(f, 0, 31, 0),
          1000 + 20000 + page);
    /* still in the buffer: no NAND */
    check(small_read(f, 0, 1, 100000),
          100000 + 1000 + 10000 + page);
    /* later it is in NAND: tR and the bus, too */
    zd_flash_flush(f, 1000000);
    check(small_read(f, 0, 1, 100000000),
          100000000 + 11000 + 50000 + 40960 + page);
    /* never written */
    check(small_read(f, 9000, 1, 200000000),
          200000000 + 11000 + page);
    zd_flash_free(f);
}

static void test_buffer(void)
{
    ZdFlash *f = new_small(&small_params);
    int64_t now = 0, fast, end = 0;
    unsigned i;

    /* 128 KiB go in at the speed of the front end ... */
    for (i = 0; i < 32; i++) {
        end = small_write(f, i, 31, 0);
    }
    fast = end;
    g_assert_cmpint(fast, <, 32 * 20000 + 20000);
    /* ... but 8 dies program 8 KiB in 1.08 ms or more */
    for (; i < 1024; i++) {
        end = small_write(f, i, 31, 0);
    }
    g_assert_cmpint(end - fast, >, 992 / 2 / 8 * 1000000ll);
    g_assert_cmpint(f->buffer.used, <=, f->buffer.capacity);
    /* compressed, they fit */
    now = end + 100000000;
    for (i = 0; i < 32 * 7; i++) {
        end = small_write(f, i, 0, now);
    }
    g_assert_cmpint(end - now, <, 32 * 7 * 20000 + 40000);

    /* write through: not before the program has ended */
    zd_flash_settle(f);
    {
        ZdFlashCmd cmd = {
            .op = ZD_FLASH_WRITE, .through = true, .lba = 0, .sectors = 8,
            .class_all = 31,
        };

        g_assert_cmpint(zd_flash_submit(f, &cmd, 0), >=, 500000 + 20000);
    }
    zd_flash_free(f);
}

/* How many of @count programs are at @stage. */
static unsigned at_stage(ZdFlash *f, const uint64_t *programs, unsigned count,
                         int64_t now, ZdFlashStage stage)
{
    unsigned n = 0;

    zd_flash_advance(f, now);
    for (unsigned i = 0; i < count; i++) {
        n += zd_flash_stage(f, programs[i], now) == stage;
    }
    return n;
}

/* What a power cut can lose: nothing that was flushed, all that was not. */
static void test_stages(void)
{
    ZdFlash *f = new_small(&small_params);
    uint64_t programs[64];
    ZdFlashActivity activity;
    int64_t end = 0, flushed, middle;

    for (unsigned i = 0; i < 7; i++) {
        ZdFlashCmd cmd = {
            .op = ZD_FLASH_WRITE,
            .lba = (100 + i) * 8,
            .sectors = 8,
            .class_all = 20,
            .programs = &programs[i],
        };

        end = zd_flash_submit(f, &cmd, 0);
    }
    g_assert_cmpuint(at_stage(f, programs, 7, end, ZD_FLASH_IN_NAND), ==, 0);
    g_assert_cmpuint(zd_flash_first_unstable(f, end), ==, programs[0]);
    flushed = zd_flash_flush(f, end);
    g_assert_cmpint(flushed, >, end + 500000);
    zd_flash_activity(f, &activity);
    g_assert_cmpint(activity.program_end, ==, flushed);
    middle = (activity.program_start + activity.program_end) / 2;
    g_assert_cmpuint(at_stage(f, programs, 7, middle, ZD_FLASH_PROGRAMMING),
                     >, 0);
    g_assert_cmpuint(at_stage(f, programs, 7, flushed - 1, ZD_FLASH_IN_NAND),
                     <, 7);
    g_assert_cmpuint(at_stage(f, programs, 7, flushed, ZD_FLASH_IN_NAND), ==,
                     7);
    g_assert_cmpuint(zd_flash_first_unstable(f, flushed), >, programs[6]);

    /* a long write: each page is named by the program that ends it */
    {
        ZdFlashCmd cmd = {
            .op = ZD_FLASH_WRITE,
            .lba = 8000,
            .sectors = 64 * 8,
            .class_all = 31,
            .programs = programs,
        };

        end = zd_flash_submit(f, &cmd, flushed);
        for (unsigned i = 1; i < 64; i++) {
            g_assert_cmpuint(programs[i], >=, programs[i - 1]);
        }
        g_assert_cmpuint(programs[63], >, programs[0] + 4);
    }
    zd_flash_power_cut(f, end);
    g_assert_cmpuint(at_stage(f, programs, 64, end, ZD_FLASH_IN_NAND), ==,
                     64);

    /* without a flush the firmware writes a partial page by itself */
    end = small_write(f, 5, 20, end);
    g_assert_cmpint(zd_flash_next_event(f), >, end);
    zd_flash_activity(f, &activity);
    g_assert_cmpuint(at_stage(f, &activity.programs, 1, end,
                              ZD_FLASH_BUFFERED), ==, 1);
    g_assert_cmpuint(at_stage(f, &activity.programs, 1, end + 20000000,
                              ZD_FLASH_IN_NAND), ==, 1);
    zd_flash_free(f);
}

/* A catalogue profile on a small medium, as used in a state. */

typedef struct Used {
    ZdFlash *f;
    uint32_t pages;
    uint64_t seed;
} Used;

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return *seed >> 33;
}

static Used used(const ZdFlashParams *p, uint8_t class)
{
    uint64_t sectors = zd_catalog_idema_sectors(120);
    ZdFlashOptions options = { .dies = zd_flash_dies(p, sectors) };
    Used u = { .pages = 1 << 18, .seed = 3 };

    u.f = zd_flash_new(p, u.pages * 8ull, 1, &options);
    zd_flash_prefill(u.f, 0, u.pages * 8ull, class);
    for (uint32_t i = 0; i < u.pages; i++) {
        zd_flash_prefill(u.f, next(&u.seed) % u.pages * 8, 8, class);
    }
    zd_flash_settle(u.f);
    return u;
}

/* MB/s of sequential 128 KiB commands, 8 in flight, over 100 MB. */
static double speed(Used *u, ZdFlashOp op, uint8_t class)
{
    int64_t ring[8] = { 0 }, now = 0;
    unsigned count = 800;

    zd_flash_settle(u->f);
    for (unsigned i = 0; i < count; i++) {
        ZdFlashCmd cmd = {
            .op = op,
            .lba = i * 256ull,
            .sectors = 256,
            .class_all = class,
        };

        now = MAX(now, ring[i % 8]);
        ring[i % 8] = zd_flash_submit(u->f, &cmd, now);
    }
    return count * 131072.0 / (now / 1000.0);
}

static void test_torture_incompressible(void)
{
    static const char *const types[] = {
        "revodrive", "revodrive3-x2", "revodrive350", "zdrive-r4",
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(types); i++) {
        const ZdFlashParams *p = zd_catalog_next(types[i], NULL)->flash;
        Used u = used(p, 31);
        double dirty, trimmed, erased;

        dirty = speed(&u, ZD_FLASH_WRITE, 31);
        zd_flash_trim(u.f, 0, u.pages * 8ull, 0);
        trimmed = speed(&u, ZD_FLASH_WRITE, 31);
        zd_flash_secure_erase(u.f, 0);
        erased = speed(&u, ZD_FLASH_WRITE, 31);
        g_test_message("%s: dirty %.0f, after TRIM %.0f, erased %.0f MB/s",
                       p->name, dirty, trimmed, erased);
        g_assert_cmpfloat(dirty, <, 0.6 * erased);
        g_assert_cmpfloat(trimmed, <, 0.75 * erased);
        zd_flash_free(u.f);
    }
}

static void test_torture_compressible(void)
{
    const ZdFlashParams *p = zd_catalog_next("revodrive3-x2", NULL)->flash;
    uint64_t sectors = zd_catalog_idema_sectors(120);
    ZdFlashOptions options = { .dies = zd_flash_dies(p, sectors) };
    Used clean = { .pages = 1 << 18 }, u;
    uint8_t class;
    double read, write, dirty_read, dirty_write;

    clean.f = zd_flash_new(p, clean.pages * 8ull, 1, &options);
    class = zd_flash_class_of(clean.f, 0.22);
    write = speed(&clean, ZD_FLASH_WRITE, class);
    read = speed(&clean, ZD_FLASH_READ, class);
    u = used(p, class);
    dirty_read = speed(&u, ZD_FLASH_READ, class);
    dirty_write = speed(&u, ZD_FLASH_WRITE, class);
    g_test_message("read %.0f -> %.0f, write %.0f -> %.0f MB/s", read,
                   dirty_read, write, dirty_write);
    g_assert_cmpfloat(read, >, 390);
    g_assert_cmpfloat(dirty_read, >, 160);
    g_assert_cmpfloat(dirty_read, <, 210);
    g_assert_cmpfloat(dirty_write, >, 0.95 * write);
    zd_flash_free(clean.f);
    zd_flash_free(u.f);
}

/* Idle collection, where the firmware has it, makes room. */
static void test_idle(void)
{
    for (unsigned idle = 0; idle < 2; idle++) {
        ZdFlashParams p = small_params;
        ZdFlash *f;
        int64_t now = 0;
        uint32_t before;

        p.idle_collect = idle;
        f = new_small(&p);
        for (unsigned i = 0; i < 3 * PAGES; i++) {
            /* half of it hot, so that there are superblocks worth it */
            now = small_write(f, i % 2 ? i % PAGES : i % 512, 31, now);
        }
        before = f->free;
        zd_flash_advance(f, now + 60000000000);
        g_assert_true(idle ? f->free >= before : f->free == before);
        g_assert_true(!idle || f->now >= now);
        zd_flash_free(f);
    }
}

static void test_throttle(void)
{
    ZdFlashParams p = small_params;
    ZdFlashNand nand = small_nand;
    ZdFlash *f;
    int64_t now = 0;

    nand.endurance = 10;
    p.nand = &nand;
    p.life_throttle = true;
    f = new_small(&p);
    for (unsigned i = 0; i < 2 * PAGES; i++) {
        now = small_write(f, i % PAGES, 31, now);
    }
    g_assert_cmpuint(f->n.throttled_ns, >, 0);
    /* powered for years: it recovers */
    f->life_ns = 4ll * 365 * 86400 * 1000000000;
    f->n.throttled_ns = 0;
    small_write(f, 0, 31, now);
    g_assert_cmpuint(f->n.throttled_ns, ==, 0);
    zd_flash_free(f);
}

static void test_wear(void)
{
    ZdFlashParams p = small_params;
    ZdFlashCounters n;
    ZdFlash *f;

    p.wear_delta = 8;
    f = new_small(&p);
    /* cold data in most of it, one hot spot */
    zd_flash_prefill(f, 0, PAGES * 8, 31);
    for (unsigned i = 0; i < 100 * PAGES; i++) {
        zd_flash_prefill(f, i % 1024 * 8, 8, 31);
    }
    zd_flash_counters(f, &n);
    g_test_message("erases %u to %u, mean %.1f", n.erase_min, n.erase_max,
                   n.erase_mean);
    g_assert_cmpuint(n.wear_moves, >, 0);
    g_assert_cmpuint(n.erase_max, <, 3 * n.erase_mean);
    zd_flash_free(f);
}

/* Fresh and touched: 1.6 TB and what the issue allows. */
static void test_memory(void)
{
    const ZdFlashParams *p = zd_catalog_next("zdrive-r4", NULL)->flash;
    uint64_t sectors = zd_catalog_idema_sectors(200);
    ZdFlash *f = zd_flash_new(p, sectors, 1, NULL);
    ZdFlashCounters n;
    uint64_t fresh;

    zd_flash_counters(f, &n);
    fresh = n.memory_bytes;
    g_assert_cmpuint(fresh * 8, <, 8 << 20);
    zd_flash_prefill(f, 0, 8 << 20, 31);
    for (uint64_t i = 0, seed = 1; i < 3 << 20; i++) {
        zd_flash_prefill(f, next(&seed) % (1 << 20) * 8, 8, 31);
    }
    zd_flash_counters(f, &n);
    g_assert_cmpuint(n.mapped_pages, ==, 1 << 20);
    g_test_message("%.2f bytes per page", (double)(n.memory_bytes - fresh) /
                   n.mapped_pages);
    g_assert_cmpuint(n.memory_bytes - fresh, <, 8 * n.mapped_pages * 101 /
                     100);
    zd_flash_free(f);
}

static void test_card(void)
{
    const ZdFlashCardParams *p = zd_catalog_next("zdrive-r4", NULL)->card;
    ZdFlashCard *card = zd_flash_card_new(p, 0, 0);
    ZdFlashCard *narrow = zd_flash_card_new(p, 1, 250);

    g_assert_cmpuint(zd_flash_card_ceiling(card, ZD_FLASH_READ), ==,
                     p->read_mbps);
    g_assert_cmpuint(zd_flash_card_ceiling(narrow, ZD_FLASH_READ), ==,
                     250 * 128 / (128 + p->packet_bytes));
    /* two at once: one after the other through the processor */
    g_assert_cmpint(zd_flash_card_forward(card, ZD_FLASH_READ, 0), ==,
                    p->read_ns + p->latency_ns);
    g_assert_cmpint(zd_flash_card_forward(card, ZD_FLASH_READ, 0), ==,
                    2 * p->read_ns + p->latency_ns);
    /* an early command is not held up by one that ends late */
    g_assert_cmpint(zd_flash_card_finish(card, ZD_FLASH_READ, 4096, 9000000,
                                         9100000), ==, 9100000);
    g_assert_cmpint(zd_flash_card_finish(card, ZD_FLASH_READ, 4096, 100000,
                                         120000), ==, 120000);
    zd_flash_card_free(card);
    zd_flash_card_free(narrow);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flash/latency", test_latency);
    g_test_add_func("/flash/buffer", test_buffer);
    g_test_add_func("/flash/stages", test_stages);
    g_test_add_func("/flash/torture-incompressible",
                    test_torture_incompressible);
    g_test_add_func("/flash/torture-compressible",
                    test_torture_compressible);
    g_test_add_func("/flash/idle", test_idle);
    g_test_add_func("/flash/throttle", test_throttle);
    g_test_add_func("/flash/wear", test_wear);
    g_test_add_func("/flash/memory", test_memory);
    g_test_add_func("/flash/card", test_card);
    return g_test_run();
}

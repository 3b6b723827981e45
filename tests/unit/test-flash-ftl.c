/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The translation layer against a slow and obvious one that follows the same
 * rules with lists and searches, and against the closed form of greedy
 * collection (Xiang and Kurkoski; see docs/flash-model.rst).
 */
#include <math.h>
#include <string.h>

#include "flash-small.h"

#define PAGES       8192            /* 32 MiB */
#define ROUNDS      120000

/* The reference. */

typedef struct RefSb {
    enum { REF_FREE, REF_OPEN, REF_CLOSED, REF_VICTIM } state;
    unsigned erases;
    bool used;
} RefSb;

typedef struct RefStream {
    unsigned sb, unit, fill;
} RefStream;

typedef struct Ref {
    const ZdFlash *f;               /* for the geometry only */
    unsigned sb_of[PAGES];          /* 0: nowhere */
    uint8_t class_of[PAGES];
    RefSb *sb;
    RefStream host, moved;
    unsigned victim, cursor;
    bool active;
    uint64_t written, done, valid;  /* since the victim was chosen */
    uint64_t units, moves, collected;
} Ref;

static unsigned ref_free(const Ref *r)
{
    unsigned n = 0;

    for (unsigned i = 1; i < r->f->superblocks; i++) {
        n += r->sb[i].state == REF_FREE;
    }
    return n;
}

static uint64_t ref_valid(const Ref *r, unsigned sb)
{
    uint64_t n = 0;

    for (unsigned p = 0; p < PAGES; p++) {
        n += r->sb_of[p] == sb ? r->f->class_bytes[r->class_of[p]] : 0;
    }
    return n;
}

static void ref_open(Ref *r, RefStream *s)
{
    unsigned best = 0;

    for (unsigned i = 1; i < r->f->superblocks; i++) {
        bool better = s == &r->moved ?
                      r->sb[i].erases > r->sb[best].erases :
                      r->sb[i].erases < r->sb[best].erases;

        if (r->sb[i].state == REF_FREE && (!best || better)) {
            best = i;
        }
    }
    g_assert_cmpuint(best, !=, 0);
    r->sb[best].state = REF_OPEN;
    r->sb[best].erases += r->sb[best].used;
    *s = (RefStream) { .sb = best };
}

/* True when a unit became full. */
static bool ref_store(Ref *r, RefStream *s, unsigned page, uint8_t class)
{
    if (!s->sb) {
        ref_open(r, s);
    }
    r->sb_of[page] = s->sb;
    r->class_of[page] = class;
    s->fill += r->f->class_bytes[class];
    if (s->fill < r->f->unit_bytes) {
        return false;
    }
    s->fill -= r->f->unit_bytes;
    s->unit++;
    r->units++;
    if (s->unit == r->f->sb_units) {
        r->sb[s->sb].state = REF_CLOSED;
        r->sb[s->sb].used = true;
        *s = (RefStream) { 0 };
    }
    return true;
}

static void ref_collect(Ref *r)
{
    uint64_t size = r->f->sb_bytes, gain;

    if (!r->active && ref_free(r) > ZD_COLLECT_AT) {
        return;
    }
    r->active = true;
    r->written += r->f->unit_bytes;
    for (;;) {
        uint64_t part;

        if (!r->victim) {
            uint64_t least = UINT64_MAX;

            if (ref_free(r) >= ZD_COLLECT_AT + 2) {
                r->active = false;
                r->written = 0;
                return;
            }
            for (unsigned i = 1; i < r->f->superblocks; i++) {
                uint64_t v = r->sb[i].state == REF_CLOSED ?
                             ref_valid(r, i) : UINT64_MAX;

                if (v < least) {
                    least = v;
                    r->victim = i;
                }
            }
            g_assert_cmpuint(r->victim, !=, 0);
            r->sb[r->victim].state = REF_VICTIM;
            r->valid = least;
            r->done = r->cursor = 0;
        }
        gain = MAX(size - MIN(r->valid, size), size / 64);
        part = MIN(r->written, gain);
        while (r->cursor < PAGES &&
               (part == gain || r->done < r->valid * part / gain)) {
            unsigned page = r->cursor++;

            if (r->sb_of[page] == r->victim) {
                r->done += r->f->class_bytes[r->class_of[page]];
                r->moves++;
                ref_store(r, &r->moved, page, r->class_of[page]);
            }
        }
        if (part < gain) {
            return;
        }
        r->sb[r->victim].state = REF_FREE;
        r->victim = 0;
        r->collected++;
        r->written -= part;
    }
}

static void ref_write(Ref *r, unsigned page, uint8_t class)
{
    if (ref_store(r, &r->host, page, class)) {
        ref_collect(r);
    }
}

static void ref_pad(Ref *r)
{
    if (r->host.sb && r->host.fill) {
        r->host.fill = 0;
        r->host.unit++;
        r->units++;
        if (r->host.unit == r->f->sb_units) {
            r->sb[r->host.sb].state = REF_CLOSED;
            r->sb[r->host.sb].used = true;
            r->host = (RefStream) { 0 };
        }
        ref_collect(r);
    }
}

static void ref_compare(const Ref *r)
{
    const ZdFlash *f = r->f;

    for (unsigned p = 0; p < PAGES; p++) {
        uint32_t entry = zd_map_get(&f->map, p);

        g_assert_cmpuint(zd_entry_sb(entry), ==, r->sb_of[p]);
        g_assert_true(!r->sb_of[p] ||
                      zd_entry_class(entry) == r->class_of[p]);
    }
    for (unsigned i = 1; i < f->superblocks; i++) {
        g_assert_cmpuint(f->sb[i].valid, ==, ref_valid(r, i));
        g_assert_cmpuint(f->sb[i].erases, ==, r->sb[i].erases);
        g_assert_cmpuint(f->sb[i].state, ==, r->sb[i].state);
    }
    g_assert_cmpuint(f->free, ==, ref_free(r));
    g_assert_cmpuint(f->n.nand_data_bytes, ==, r->units * f->unit_bytes);
    g_assert_cmpuint(f->n.moved_pages, ==, r->moves);
    g_assert_cmpuint(f->n.collected_superblocks, ==, r->collected);
}

/* Class of data that is random, or compresses well. */
static void reference(unsigned class_min)
{
    ZdFlash *f = zd_flash_new(&small_params, PAGES * 8, 1, &small_options);
    g_autoptr(GRand) rand = g_rand_new_with_seed(class_min);
    g_autofree Ref *r = g_new0(Ref, 1);
    int64_t now = 0;

    r->f = f;
    r->sb = g_new0(RefSb, f->superblocks);
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned page = g_rand_int_range(rand, 0, PAGES);
        uint8_t class = g_rand_int_range(rand, class_min, ZD_FLASH_CLASSES);
        unsigned what = g_rand_int_range(rand, 0, 1000);

        if (what == 0) {
            unsigned count = MIN(PAGES - page, 200);

            zd_flash_trim(f, page * 8, count * 8, now);
            memset(&r->sb_of[page], 0, count * sizeof(r->sb_of[0]));
        } else if (what < 5) {
            zd_flash_flush(f, now);
            ref_pad(r);
        } else {
            small_write(f, page, class, now);
            ref_write(r, page, class);
        }
        /* no pause that would write a partial page */
        now += 100;
        if (i % 4000 == 0) {
            ref_compare(r);
        }
    }
    ref_compare(r);
    g_assert_cmpuint(r->collected, >, 0);
    g_free(r->sb);
    zd_flash_free(f);
}

static void test_reference_random(void)
{
    reference(ZD_FLASH_CLASSES - 1);
}

static void test_reference_mixed(void)
{
    reference(8);
}

/* Principal branch of Lambert's W for -1/e <= x < 0, by Newton's method. */
static double lambert(double x)
{
    double w = x;

    for (unsigned i = 0; i < 200; i++) {
        w -= (w * exp(w) - x) / (exp(w) * (w + 1));
    }
    return w;
}

static double closed_form(double a)
{
    return a / (a + lambert(-a * exp(-a)));
}

static double simulated(uint32_t spare_ppm, uint8_t class)
{
    /* 1,024 superblocks of 256 pages: the formula is for large ones */
    const uint32_t pages = 262144;
    ZdFlashNand nand = small_nand;
    ZdFlashParams params = small_params;
    ZdFlashOptions options = { .dies = 8, .spare_ppm = spare_ppm };
    g_autoptr(GRand) rand = g_rand_new_with_seed(spare_ppm);
    ZdFlashCounters n;
    ZdFlash *f;

    nand.pages_per_block = 16;
    params.nand = &nand;
    f = zd_flash_new(&params, pages * 8, 1, &options);
    g_assert_cmpuint(f->rows, ==, 16);

    zd_flash_prefill(f, 0, pages * 8, class);
    for (unsigned half = 0; half < 2; half++) {
        zd_flash_stats_reset(f);
        for (unsigned i = 0; i < 4 * pages; i++) {
            zd_flash_prefill(f, g_rand_int_range(rand, 0, pages) * 8ull, 8,
                             class);
        }
    }
    zd_flash_counters(f, &n);
    zd_flash_free(f);
    return n.write_amplification;
}

static void test_closed_form(void)
{
    static const double spares[] = { 0.07, 0.14, 0.28 };

    g_assert_cmpfloat(ABS(closed_form(1.28) - 2.48), <, 0.01);
    for (unsigned i = 0; i < G_N_ELEMENTS(spares); i++) {
        double want = closed_form(1 + spares[i]);
        double got = simulated(spares[i] * 1000000, ZD_FLASH_CLASSES - 1);

        g_test_message("spare %.0f %%: %.3f, closed form %.3f",
                       spares[i] * 100, got, want);
        g_assert_cmpfloat(ABS(got / want - 1), <, 0.03);
    }
}

/* Stored at fraction c: c * WA(a / c). */
static void test_compressed_spare(void)
{
    ZdFlash *f = zd_flash_new(&small_params, 8, 1, &small_options);
    uint8_t class = zd_flash_class_of(f, 0.9);
    double c = zd_flash_class_bytes(f, class) / 4096.0;
    double want = c * closed_form(1.07 / c);
    double got = simulated(70000, class);

    g_test_message("stored at %.3f: %.3f, closed form %.3f", c, got, want);
    g_assert_cmpfloat(ABS(got / want - 1), <, 0.03);
    zd_flash_free(f);
}

/* Logs: what goes in comes out, once and in order. */
static void test_log(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(9);
    g_autofree uint8_t *seen = g_malloc0(1 << 20);
    uint32_t pages[5000], page, last = 0, count = 0, distinct = 0;
    ZdLog log = { 0 };
    ZdLogReader reader;

    for (unsigned i = 0; i < G_N_ELEMENTS(pages); i++) {
        pages[i] = g_rand_int_range(rand, 0, i % 2 ? 1 << 20 : 300);
        distinct += !seen[pages[i]];
        seen[pages[i]] = 1;
    }
    zd_log_build(&log, pages, G_N_ELEMENTS(pages));
    g_assert_cmpuint(log.count, ==, distinct);
    zd_log_begin(&reader, &log);
    while (zd_log_next(&reader, &page)) {
        g_assert_true(seen[page] && (!count || page > last));
        last = page;
        count++;
    }
    g_assert_cmpuint(count, ==, distinct);
    zd_log_free(&log);
}

/* Runs: kept up to date as they would be counted. */
static void test_map(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(10);
    ZdMap m;

    zd_map_init(&m, 3000, 3);
    for (unsigned i = 0; i < 50000; i++) {
        uint32_t page = g_rand_int_range(rand, 0, 3000);
        uint32_t entry = zd_entry(g_rand_int_range(rand, 1, 3),
                                  g_rand_int_range(rand, 0, 12), 1);

        zd_map_set(&m, page, i % 7 ? entry : ZD_ENTRY_TRIMMED);
        if (i % 1000 == 0) {
            uint16_t breaks[3];
            uint64_t mapped = m.mapped;

            memcpy(breaks, m.breaks, sizeof(breaks));
            m.mapped = 0;
            for (unsigned leaf = 0; leaf < 3; leaf++) {
                zd_map_recount(&m, leaf);
                g_assert_cmpuint(m.breaks[leaf], ==, breaks[leaf]);
            }
            g_assert_cmpuint(m.mapped, ==, mapped);
        }
    }
    zd_map_free(&m);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flash/ftl/log", test_log);
    g_test_add_func("/flash/ftl/map", test_map);
    g_test_add_func("/flash/ftl/reference-random", test_reference_random);
    g_test_add_func("/flash/ftl/reference-mixed", test_reference_mixed);
    g_test_add_func("/flash/ftl/closed-form", test_closed_form);
    g_test_add_func("/flash/ftl/compressed-spare", test_compressed_spare);
    return g_test_run();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Power cuts against an oracle that knows nothing of how the medium does it: a
 * list of all writes of a history, and the rule.  After a cut, each page holds
 * one of the versions since the last that was safe, or cannot be read if it had
 * a version that was not; what is safe is what a flush or FUA has promised.
 *
 * A history is a few commands in random order with random ends, and a cut; the
 * next one begins with what the last has left.
 */
#include "qemu/osdep.h"
#include "block/aio-wait.h"
#include "hw/zdrive/catalog.h"
#include "hw/zdrive/media/internal.h"
#include "media-fakes.h"

#define HISTORIES       100000
#define PAGE_SECTORS    8
#define PAGES           24
#define SECTORS         (PAGES * PAGE_SECTORS)
#define IN_FLIGHT       8
#define OPS_MAX         40

/* QEMU's way of waiting: here, what one waits for has happened already. */
AioWait global_aio_wait;

AioContext *qemu_get_aio_context(void)
{
    return NULL;
}

AioContext *qemu_get_current_aio_context(void)
{
    return NULL;
}

bool aio_poll(AioContext *ctx, bool blocking)
{
    g_assert_not_reached();
}

/* The oracle */

typedef struct Op {
    uint32_t lba, sectors;
    uint32_t stamp;             /* 0: a trim */
    bool acked;
    bool safe;
} Op;

typedef struct History {
    Op op[OPS_MAX];
    unsigned count;
} History;

typedef struct Slot {
    ZdRequest *req;
    Op *op;                     /* NULL: a flush */
    unsigned covers;            /* a flush: so many ops */
    bool fua;
    bool busy;
} Slot;

static ZdMedia media;
static ZdFlashCard *bridge;
static History history;
static Slot slot[IN_FLIGHT];
static uint32_t base[SECTORS];  /* stamps before the history */
static uint32_t next_stamp;
static GRand *rng;

/* What came out, over all histories */
static struct {
    uint64_t newest, older, oldest, unreadable;
} seen;

static uint32_t below(uint32_t n)
{
    return g_rand_int_range(rng, 0, n);
}

static Slot *slot_of(const ZdRequest *req)
{
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        if (slot[i].req == req) {
            return &slot[i];
        }
    }
    g_assert_not_reached();
}

static unsigned busy_slots(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        n += slot[i].busy;
    }
    return n;
}

static void on_done(ZdRequest *req, int ret)
{
    Slot *s = slot_of(req);

    g_assert_cmpint(ret, ==, 0);
    s->busy = false;
    if (s->op) {
        s->op->acked = true;
        s->op->safe |= s->fua;
        return;
    }
    for (unsigned i = 0; i < s->covers; i++) {
        history.op[i].safe |= history.op[i].acked;
    }
}

static Slot *free_slot(void)
{
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        if (!slot[i].busy) {
            slot[i].busy = true;
            return &slot[i];
        }
    }
    return NULL;
}

/* The link starts a write of what is being written only after that. */
static bool overlaps(uint32_t lba, uint32_t sectors)
{
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        const Op *op = slot[i].op;

        if (slot[i].busy && (!op || (op->lba < lba + sectors &&
                                     lba < op->lba + op->sectors))) {
            return true;
        }
    }
    return false;
}

static void do_write(void)
{
    uint32_t lba = below(SECTORS), most = MIN(SECTORS - lba, 32);
    uint32_t sectors = 1 + below(most);
    Slot *s;
    Op *op;

    if (below(3)) {
        lba = lba / PAGE_SECTORS * PAGE_SECTORS;
        sectors = PAGE_SECTORS;
    }
    if (history.count == OPS_MAX || overlaps(lba, sectors)) {
        return;
    }
    s = free_slot();
    if (!s) {
        return;
    }
    op = &history.op[history.count++];
    *op = (Op) { lba, sectors, ++next_stamp };
    s->op = op;
    s->fua = below(8) == 0;
    for (uint32_t i = 0; i < sectors * 128; i++) {
        /* the first word of a sector is its stamp, the rest looks random */
        uint32_t word = op->stamp * 2654435761u + i * 2246822519u;

        stl_he_p(memory + (s - slot) * 16384 + i * 4,
                 i % 128 ? word ^ word >> 15 : op->stamp);
    }
    s->req->sg.sg[0].len = s->req->sg.size = sectors * 512;
    zd_media_write(&media, s->req, lba, sectors, s->fua, on_done);
}

/* Alone, as every command that is not queued. */
static void drain(void)
{
    while (busy_slots()) {
        while (npending) {
            store_end();
        }
        if (busy_slots()) {
            turn_clock(100000);
        }
    }
}

static void do_flush(void)
{
    Slot *s;

    drain();
    s = free_slot();
    s->op = NULL;
    s->covers = history.count;
    zd_media_flush(&media, s->req, on_done);
    if (below(4)) {
        drain();
    }
}

static void do_trim(void)
{
    uint32_t page = below(PAGES);
    ZdRange range = { page * PAGE_SECTORS, PAGE_SECTORS };
    Slot *s;

    drain();
    if (history.count == OPS_MAX) {
        return;
    }
    s = free_slot();
    s->op = &history.op[history.count++];
    s->fua = true;
    *s->op = (Op) { range.lba, range.sectors, 0, .safe = true };
    zd_media_trim(&media, s->req, &range, 1, on_done);
    drain();
}

static uint32_t stamp_at(uint32_t lba)
{
    return ldl_he_p(disk + lba * 512);
}

static bool same(const uint32_t stamp[PAGE_SECTORS], uint32_t lba)
{
    for (unsigned i = 0; i < PAGE_SECTORS; i++) {
        if (stamp_at(lba + i) != stamp[i]) {
            return false;
        }
    }
    return true;
}

/* Does @page hold what it may? */
static void check_page(uint32_t page, const ZdCutRules *rules)
{
    uint32_t lba = page * PAGE_SECTORS;
    uint32_t stamp[PAGE_SECTORS];
    bool legal, unsafe = false, first = true, newest;
    uint64_t bad;
    bool keeps = rules->loss == ZD_LOSS_NONE ||
                 (rules->capacitor && rules->health == 100);

    memcpy(stamp, base + lba, sizeof(stamp));
    legal = newest = same(stamp, lba);
    for (unsigned i = 0; i < history.count; i++) {
        const Op *op = &history.op[i];

        if (op->lba >= lba + PAGE_SECTORS || op->lba + op->sectors <= lba) {
            continue;
        }
        for (uint32_t n = MAX(op->lba, lba);
             n < MIN(op->lba + op->sectors, lba + PAGE_SECTORS); n++) {
            stamp[n - lba] = op->stamp;
        }
        if (op->safe || (keeps && op->acked)) {
            legal = unsafe = false;
        } else {
            unsafe = true;
        }
        first = false;
        newest = same(stamp, lba);
        legal |= newest;
    }
    if (zd_bad_find(&media.risk, lba, PAGE_SECTORS, &bad)) {
        g_assert_true(unsafe);
        seen.unreadable++;
        zd_bad_clear(&media.risk, lba, PAGE_SECTORS);
    } else {
        g_assert_true(legal);
        seen.newest += newest && !first;
        seen.older += !newest && !same(base + lba, lba);
        seen.oldest += !newest && same(base + lba, lba);
    }
    for (unsigned i = 0; i < PAGE_SECTORS; i++) {
        base[lba + i] = stamp_at(lba + i);
    }
}

static void cut(void)
{
    static const unsigned healths[] = { 0, 10, 50, 100 };
    ZdCutRules rules = {
        .loss = below(4),
        .capacitor = below(2),
        .health = healths[below(4)],
    };
    ZdCutReport report;

    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        if (slot[i].busy) {
            zd_media_cancel(&media, slot[i].req);
            slot[i].busy = false;
        }
    }
    g_assert_cmpuint(npending, ==, 0);
    at_once = true;
    zd_media_power_cut(&media, &rules, &report);
    g_assert_true(QTAILQ_EMPTY(&media.risk.writes));
    g_assert_cmpuint(media.risk.bytes, ==, 0);
    g_assert_cmpuint(media.risk.writing, ==, 0);
    for (uint32_t page = 0; page < PAGES; page++) {
        check_page(page, &rules);
    }
    history.count = 0;
}

static void one_history(void)
{
    unsigned steps = 1 + below(30);

    at_once = below(2);
    for (unsigned i = 0; i < steps; i++) {
        switch (below(24)) {
        case 0:
            do_flush();
            break;
        case 1:
            do_trim();
            break;
        case 2 ... 5:
            turn_clock(below(3000000));
            break;
        case 6 ... 9:
            if (npending) {
                store_end();
            }
            break;
        default:
            do_write();
            break;
        }
    }
    if (below(2)) {
        turn_clock(below(1000000));
    }
    cut();
}

static void setup(void)
{
    const ZdProduct *product = zd_catalog_find(NULL, "cm88");

    rng = g_rand_new_with_seed(20261130);
    bridge = zd_flash_card_new(product->card, 0, 0);
    g_assert_true(zd_media_init(&media, &(ZdMediaConfig) {
        .sectors = MEDIUM_SECTORS,
        .flash = product->flash,
        .dies = 8,
        .bridge = bridge,
        .stored = 1,
    }));
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        slot[i].req = g_new0(ZdRequest, 1);
        slot[i].req->sg.as = &address_space;
        slot[i].req->sg.sg = g_new0(ScatterGatherEntry, 1);
        slot[i].req->sg.sg[0].base = i * 16384;
        slot[i].req->sg.nsg = 1;
    }
}

static void teardown(void)
{
    zd_media_cleanup(&media);
    zd_flash_card_free(bridge);
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        g_free(slot[i].req->sg.sg);
        g_free(slot[i].req);
    }
    g_rand_free(rng);
}

static void test_histories(void)
{
    setup();
    for (unsigned i = 0; i < HISTORIES; i++) {
        one_history();
    }
    /* all that can be has been, and often */
    g_test_message("%u cuts: newest %" PRIu64 ", older %" PRIu64 ", oldest %"
                   PRIu64 ", unreadable %" PRIu64, HISTORIES, seen.newest,
                   seen.older, seen.oldest, seen.unreadable);
    g_assert_cmpuint(seen.newest, >, HISTORIES);
    g_assert_cmpuint(seen.older, >, HISTORIES / 100);
    g_assert_cmpuint(seen.oldest, >, HISTORIES / 10);
    g_assert_cmpuint(seen.unreadable, >, HISTORIES / 100);
    teardown();
}

/*
 * Two writes of one page at the same time, the first with FUA.  What stood
 * below the second is not known, so it must not be put back.
 */
static void test_race(void)
{
    ZdCutRules rules = { .loss = ZD_LOSS_ALL };
    ZdCutReport report;

    setup();
    at_once = false;
    for (unsigned i = 0; i < 2; i++) {
        memset(memory + i * 16384, 0xa0 + i, 4096);
        slot[i].req->sg.sg[0].len = slot[i].req->sg.size = 4096;
        slot[i].op = &history.op[i];
        slot[i].busy = true;
        zd_media_write(&media, slot[i].req, 0, 8, i == 0, on_done);
    }
    drain();
    at_once = true;
    zd_media_power_cut(&media, &rules, &report);
    g_assert_cmphex(disk[0], >=, 0xa0);
    teardown();
}

static unsigned writes_kept(void)
{
    const ZdWrite *w;
    unsigned n = 0;

    QTAILQ_FOREACH(w, &media.risk.writes, next) {
        n++;
    }
    return n;
}

static void start_write(unsigned n, uint64_t lba, uint32_t bytes, uint8_t value)
{
    Slot *s = &slot[n];

    memset(memory, value, bytes);
    s->req->sg.sg[0].base = 0;
    s->req->sg.sg[0].len = s->req->sg.size = bytes;
    s->op = &history.op[n];
    s->busy = true;
    zd_media_write(&media, s->req, lba, bytes / 512, false, on_done);
}

/* A host that trims and never flushes: what is kept has a bound. */
static void test_trims(void)
{
    ZdRange small[64], large = { 0, MEDIUM_SECTORS };

    setup();
    at_once = true;
    start_write(0, 0, 4096, 0xa0);
    drain();
    for (unsigned i = 0; i < ARRAY_SIZE(small); i++) {
        small[i] = (ZdRange) { 8 + i, 1 };
    }
    for (unsigned i = 0; i < 10000; i++) {
        slot[0].busy = true;
        zd_media_trim(&media, slot[0].req, small, ARRAY_SIZE(small), on_done);
        drain();
    }
    g_assert_cmpuint(writes_kept() * sizeof(ZdWrite), <=, ZD_VOLATILE_BYTES);

    /* the work of a cut has one, too */
    start_write(0, 0, 4096, 0xa1);
    drain();
    for (unsigned i = 0; i < 10000; i++) {
        slot[0].busy = true;
        zd_media_trim(&media, slot[0].req, &large, 1, on_done);
        drain();
    }
    g_assert_cmpuint(writes_kept() * (MEDIUM_SECTORS / PAGE_SECTORS) * 8, <=,
                     ZD_VOLATILE_BYTES);
    teardown();
}

/*
 * A write that takes very long, others meanwhile: what is kept has a bound, and
 * what counts as safe for it stays so.
 */
static void test_slow_write(void)
{
    const uint32_t bytes = 512 * 1024;
    ZdCutRules rules = { .loss = ZD_LOSS_ALL };
    ZdCutReport report;

    setup();
    at_once = true;
    memset(disk, 0, sizeof(disk));
    slot[0].req->media.extra_ns = INT64_MAX / 2;
    start_write(0, 0, 4096, 0xa0);
    start_write(1, 0, 4096, 0xa1);
    for (unsigned i = 0; i < 400; i++) {
        while (slot[1].busy) {
            turn_clock(100000);
        }
        start_write(1, 1024 + i % 2 * 1024, bytes, 0xb0);
        g_assert_cmpuint(media.risk.bytes, <=, ZD_VOLATILE_BYTES);
        g_assert_cmpuint(writes_kept(), <, 2 + ZD_VOLATILE_BYTES / bytes);
    }
    for (unsigned i = 0; i < 2; i++) {
        zd_media_cancel(&media, slot[i].req);
        slot[i].busy = false;
    }
    zd_media_power_cut(&media, &rules, &report);
    g_assert_cmphex(disk[0], ==, 0xa1);
    g_assert_cmpuint(media.risk.bytes, ==, 0);
    teardown();
}

/* Many large ones at the same time. */
static void test_large_writes(void)
{
    const uint32_t bytes = 512 * 1024;
    ZdRequest *req[64];

    setup();
    at_once = true;
    for (unsigned i = 0; i < ARRAY_SIZE(req); i++) {
        req[i] = g_new0(ZdRequest, 1);
        req[i]->sg.as = &address_space;
        req[i]->sg.sg = g_new0(ScatterGatherEntry, 1);
        req[i]->sg.nsg = 1;
        req[i]->sg.sg[0].len = req[i]->sg.size = bytes;
        zd_media_write(&media, req[i], 0, bytes / 512, false, on_done);
        g_assert_cmpuint(media.risk.bytes, <=, ZD_VOLATILE_BYTES + 64 * 1024);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(req); i++) {
        zd_media_cancel(&media, req[i]);
        g_free(req[i]->sg.sg);
        g_free(req[i]);
    }
    teardown();
}

/* A stream that gives a write to two commands. */
static void test_taken_once(void)
{
    ZdRequest two[2] = { };
    ZdWrite *w;

    setup();
    w = zd_volatile_add(&media.risk, media.flash, now_ns, 0, 8);
    zd_volatile_written(&media.risk, w);
    w->taken = false;
    for (unsigned i = 0; i < 2; i++) {
        two[i].media.active = true;
        two[i].media.write_seq = w->seq;
        zd_media_restore(&media, &two[i], on_done);
    }
    g_assert_true(two[0].media.write == w);
    g_assert_null(two[1].media.write);
    for (unsigned i = 0; i < 2; i++) {
        zd_media_cancel(&media, &two[i]);
    }
    teardown();
}

/* The image cannot be written any more: the newest stays, and is not "lost". */
static void test_image_fails(void)
{
    ZdCutRules rules = { .loss = ZD_LOSS_ALL };
    ZdCutReport report;

    setup();
    at_once = false;
    start_write(0, 0, 4096, 0xa0);
    drain();
    at_once = true;
    store_ret = -ENOSPC;
    zd_media_power_cut(&media, &rules, &report);
    store_ret = 0;
    g_assert_cmpuint(report.buffered, ==, 1);
    g_assert_cmpuint(report.lost, ==, 0);
    g_assert_cmpuint(report.lost_acknowledged, ==, 0);
    teardown();
}

/*
 * At random, a torn program takes no older data along: the map still names
 * their place.  A page that held nothing may be unreadable.
 */
static void test_torn_over_data(void)
{
    unsigned unreadable[2] = { 0 };

    setup();
    at_once = true;
    for (unsigned i = 0; i < 400; i++) {
        ZdCutRules rules = { .loss = ZD_LOSS_RANDOM };
        ZdFlashActivity activity;
        ZdCutReport report;
        bool over = i & 1;
        uint64_t first;

        memset(disk, over ? 0x5a : 0, 4096);
        start_write(0, 0, 4096, 0xa0);
        drain();
        slot[0].op = NULL;
        slot[0].covers = 0;
        slot[0].busy = true;
        zd_media_flush(&media, slot[0].req, on_done);
        zd_flash_activity(media.flash, &activity);
        turn_clock((activity.program_start + activity.program_end) / 2 -
                   now_ns);
        zd_media_cancel(&media, slot[0].req);
        slot[0].busy = false;
        zd_media_power_cut(&media, &rules, &report);
        g_assert_cmpuint(report.programming, ==, 1);
        unreadable[over] += zd_bad_find(&media.risk, 0, 8, &first);
        zd_bad_clear(&media.risk, 0, 8);
    }
    g_assert_cmpuint(unreadable[0], >, 20);
    g_assert_cmpuint(unreadable[1], ==, 0);
    teardown();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cut/histories", test_histories);
    g_test_add_func("/cut/race", test_race);
    g_test_add_func("/cut/torn-over-data", test_torn_over_data);
    g_test_add_func("/cut/image-fails", test_image_fails);
    g_test_add_func("/cut/trims", test_trims);
    g_test_add_func("/cut/slow-write", test_slow_write);
    g_test_add_func("/cut/large-writes", test_large_writes);
    g_test_add_func("/cut/taken-once", test_taken_once);
    return g_test_run();
}

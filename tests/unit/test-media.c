/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The medium with a clock that the test turns, 1 MiB of guest memory with
 * registers in the middle, and a store that ends when the test says so.  What
 * is checked: done means data and deadline, plain memory is used in place and
 * given back, registers and holes are bus errors, and cancelling at any moment
 * leaves nothing behind.
 */
#include "qemu/osdep.h"
#include "hw/qdev-core.h"
#include "hw/zdrive/catalog.h"
#include "media-fakes.h"

#define LONG_NS         1000000000ll    /* more than any command takes */

/* The tests */

static ZdMedia media;
static ZdFlashCard *bridge;
static DeviceState device;
static unsigned done;
static int done_ret;
static ZdRequest *done_req;

static void on_done(ZdRequest *req, int ret)
{
    g_assert_false(device.mem_reentrancy_guard.engaged_in_io);
    g_assert_false(req->media.mapped);
    g_assert_null(req->media.bounce);
    g_assert_null(req->media.ranges);
    done++;
    done_ret = ret;
    done_req = req;
}

static ZdFlashCard *new_bridge(void)
{
    return zd_flash_card_new(zd_catalog_find(NULL, "cm88")->card, 0, 0);
}

static void setup(bool timed, bool now)
{
    for (unsigned i = 0; i < sizeof(disk); i++) {
        disk[i] = i / 512 + i;
    }
    memset(memory, 0xaa, sizeof(memory));
    maps = unmaps = accesses = dirtied = 0;
    cancels = zeroed = store_ops = done = 0;
    store_ret = 0;
    at_once = now;
    use_icount = 0;
    bridge = timed ? new_bridge() : NULL;
    g_assert_true(zd_media_init(&media, &(ZdMediaConfig) {
        .sectors = MEDIUM_SECTORS,
        .flash = timed ? zd_catalog_find(NULL, "cm88")->flash : NULL,
        .bridge = bridge,
        .dies = 8,
        .stored = -1,
    }));
}

/* When a card that has done nothing yet ends a read that comes now. */
static int64_t model_read(uint64_t lba, uint32_t sectors)
{
    ZdFlashCard *card = new_bridge();
    ZdFlash *twin = zd_flash_new(zd_catalog_find(NULL, "cm88")->flash,
                                 MEDIUM_SECTORS, 0,
                                 &(ZdFlashOptions) { .dies = 8 });
    ZdFlashCmd cmd = {
        .op = ZD_FLASH_READ,
        .lba = lba,
        .sectors = sectors,
        .depth = 1,
    };
    int64_t at = zd_flash_card_forward(card, ZD_FLASH_READ, now_ns);
    int64_t end = zd_flash_submit(twin, &cmd, at);

    end = zd_flash_card_finish(card, ZD_FLASH_READ, sectors * 512,
                               cmd.data_ns, end);
    zd_flash_free(twin);
    zd_flash_card_free(card);
    return end;
}

static void teardown(void)
{
    g_assert_cmpuint(maps, ==, unmaps);
    g_assert_cmpuint(npending, ==, 0);
    g_assert_true(QSLIST_EMPTY(&media.guards));
    zd_media_cleanup(&media);
    zd_flash_card_free(bridge);
}

/* Pairs of base and length, ended by a length of 0. */
static ZdRequest *request(const dma_addr_t *entries)
{
    ZdRequest *req = g_new0(ZdRequest, 1);

    req->sg.as = &address_space;
    req->sg.dev = &device;
    req->sg.sg = g_new0(ScatterGatherEntry, 64);
    for (; entries[1]; entries += 2) {
        req->sg.sg[req->sg.nsg].base = entries[0];
        req->sg.sg[req->sg.nsg++].len = entries[1];
        req->sg.size += entries[1];
    }
    return req;
}

static void release(ZdRequest *req)
{
    g_free(req->sg.sg);
    g_free(req);
}

static const dma_addr_t plain[] = { 0x1000, 4096, 0x5000, 4096, 0, 0 };

static void test_deadline(void)
{
    ZdRequest *req = request(plain);
    int64_t expected;

    /* data first, deadline last */
    setup(true, true);
    expected = model_read(8, 16);
    zd_media_read(&media, req, 8, 16, on_done);
    g_assert_cmpuint(done, ==, 0);
    g_assert_cmpmem(memory + 0x1000, 4096, disk + 8 * 512, 4096);
    g_assert_cmpmem(memory + 0x5000, 4096, disk + 16 * 512, 4096);
    g_assert_cmpuint(dirtied, ==, 8192);
    g_assert_cmpint(expected, >, now_ns + 20000);
    turn_clock(expected - now_ns - 1);
    g_assert_cmpuint(done, ==, 0);
    turn_clock(1);
    g_assert_cmpuint(done, ==, 1);
    g_assert_cmpint(done_ret, ==, 0);
    g_assert_cmpuint(media.late, ==, 0);

    /* deadline first, data last */
    at_once = false;
    zd_media_read(&media, req, 0, 16, on_done);
    turn_clock(LONG_NS);
    g_assert_cmpuint(done, ==, 1);
    store_end();
    g_assert_cmpuint(done, ==, 2);
    g_assert_cmpuint(media.late, ==, 1);
    g_assert_cmpuint(media.late_max_ns, >, LONG_NS / 2);
    teardown();

    /* no deadline, unless a fault wants one */
    setup(false, true);
    req->media.extra_ns = 5000;
    zd_media_delay(&media, req, on_done);
    turn_clock(4999);
    g_assert_cmpuint(done, ==, 0);
    turn_clock(1);
    g_assert_cmpuint(done, ==, 1);
    req->media.extra_ns = 0;
    done = 2;
    zd_media_flush(&media, req, on_done);
    zd_media_delay(&media, req, on_done);
    g_assert_cmpuint(done, ==, 4);
    g_assert_cmpuint(media.flushes, ==, 1);
    teardown();
    release(req);
}

static unsigned chain_left;

static void on_done_chain(ZdRequest *req, int ret)
{
    done++;
    if (chain_left--) {
        zd_media_write(&media, req, 0, 8, false, on_done_chain);
    }
}

/* done starts the next command on the same medium. */
static void test_chain(void)
{
    ZdRequest *req = request(plain);
    ZdRequest *other = request(plain);

    setup(true, true);
    chain_left = 9;
    zd_media_write(&media, req, 0, 8, false, on_done_chain);
    zd_media_read(&media, other, 0, 8, on_done);
    turn_clock(MAX(req->media.deadline_ns, other->media.deadline_ns) - now_ns);
    g_assert_cmpuint(done, ==, 2);
    for (unsigned i = 0; i < 9; i++) {
        turn_clock(LONG_NS);
    }
    g_assert_cmpuint(done, ==, 11);
    g_assert_cmpuint(media.busy, ==, 0);
    g_assert_cmpuint(media.sectors_written, ==, 80);
    teardown();
    release(req);
    release(other);
}

static void test_map(void)
{
    /* only the first bytes of the list count; one entry lies in two banks */
    static const dma_addr_t split[] = {
        0x1f000, 0x2000, 0x40000, 0x2000, 0, 0,
    };
    static const dma_addr_t many[] = {
        0x1000, 512, 0x2000, 512, 0x3000, 512, 0x4000, 512, 0x5000, 512,
        0x6000, 512, 0x7000, 512, 0x8000, 512, 0x9000, 512, 0xa000, 512, 0, 0,
    };
    ZdRequest *req = request(split);
    ZdRequest *long_list = request(many);

    setup(false, true);
    zd_media_read(&media, req, 0, 17, on_done);
    g_assert_cmpuint(maps, ==, 3);
    g_assert_cmpuint(accesses, ==, 0);
    g_assert_cmpuint(dirtied, ==, 17 * 512);
    g_assert_cmpmem(memory + 0x1f000, 0x2000, disk, 0x2000);
    g_assert_cmpmem(memory + 0x40000, 512, disk + 0x2000, 512);
    g_assert_cmpuint(memory[0x40200], ==, 0xaa);

    memset(disk, 0, sizeof(disk));
    zd_media_write(&media, long_list, 100, 10, true, on_done);
    g_assert_cmpuint(done, ==, 2);
    g_assert_cmpuint(disk[100 * 512], ==, 0xaa);
    g_assert_cmpuint(disk[110 * 512 - 1], ==, 0xaa);
    g_assert_cmpuint(disk[110 * 512], ==, 0);
    teardown();
    release(req);
    release(long_list);
}

static void test_bounce(void)
{
    static const dma_addr_t regs[] = { 0x1000, 1024, MMIO_BASE, 512, 0, 0 };
    static const dma_addr_t hole[] = { 0x1000, 1024, HOLE_BASE, 512, 0, 0 };
    static const dma_addr_t overlap[] = { 0x1200, 1024, 0x1000, 1024, 0, 0 };
    ZdRequest *bad[] = { request(regs), request(hole) };
    ZdRequest *twice = request(overlap);
    unsigned i;

    setup(false, true);
    for (i = 0; i < G_N_ELEMENTS(bad); i++) {
        zd_media_read(&media, bad[i], 0, 3, on_done);
        g_assert_cmpint(done_ret, ==, -EFAULT);
        store_ops = 0;
        zd_media_write(&media, bad[i], 0, 3, false, on_done);
        g_assert_cmpint(done_ret, ==, -EFAULT);
        g_assert_cmpuint(store_ops, ==, 0);
    }

    /* list shorter than the transfer */
    zd_media_read(&media, bad[0], 0, 4, on_done);
    g_assert_cmpint(done_ret, ==, -EFAULT);

    /* overlapping entries are filled in order when it must be repeatable */
    use_icount = 1;
    maps = unmaps = accesses = 0;
    zd_media_read(&media, twice, 0, 4, on_done);
    g_assert_cmpuint(maps, ==, 0);
    g_assert_cmpuint(accesses, ==, 2);
    g_assert_cmpmem(memory + 0x1000, 1024, disk + 1024, 1024);
    g_assert_cmpuint(done, ==, 6);
    teardown();
    release(bad[0]);
    release(bad[1]);
    release(twice);
}

/* What was memory a moment ago are registers now, and nobody writes there. */
static void test_moved(void)
{
    ZdRequest *req = request(plain);

    setup(false, true);
    moved = true;
    zd_media_read(&media, req, 3, 16, on_done);
    moved = false;
    g_assert_cmpuint(done, ==, 1);
    g_assert_cmpint(done_ret, ==, 0);
    g_assert_cmpuint(maps, ==, 1);
    g_assert_cmpuint(dirtied, ==, 0);
    g_assert_cmpmem(memory + 0x1000, 4096, disk + 3 * 512, 4096);
    g_assert_cmpmem(memory + 0x5000, 4096, disk + 11 * 512, 4096);
    teardown();
    release(req);
}

static void test_errors(void)
{
    static const ZdRange ranges[] = { { 10, 2 }, { 20, 2 } };
    ZdRequest *req = request(plain);

    setup(false, true);
    store_ret = -EIO;
    zd_media_read(&media, req, 7, 8, on_done);
    g_assert_cmpint(done_ret, ==, -EIO);
    g_assert_cmpuint(req->media.error_lba, ==, 7);
    /* what may have been written in part is dirty */
    g_assert_cmpuint(dirtied, ==, 4096);
    zd_media_trim(&media, req, ranges, 2, on_done);
    g_assert_cmpint(done_ret, ==, -EIO);
    g_assert_cmpuint(req->media.error_lba, ==, 10);
    g_assert_cmpuint(zeroed, ==, 1);
    zd_media_flush(&media, req, on_done);
    g_assert_cmpint(done_ret, ==, -EIO);
    g_assert_cmpuint(done, ==, 3);

    at_once = false;
    zd_media_trim(&media, req, ranges, 2, on_done);
    store_end();
    g_assert_cmpuint(done, ==, 4);
    g_assert_cmpuint(zeroed, ==, 2);
    teardown();
    release(req);
}

static void test_trim_verify(void)
{
    ZdRange ranges[] = { { 10, 2 }, { 20, 3 }, { 30, 1 } };
    ZdRequest *req = request(plain);

    for (unsigned now = 0; now < 2; now++) {
        setup(true, now);
        zd_media_trim(&media, req, ranges, 3, on_done);
        while (npending) {
            store_end();
        }
        g_assert_cmpuint(done, ==, 0);
        turn_clock(LONG_NS);
        g_assert_cmpuint(done, ==, 1);
        g_assert_cmpuint(zeroed, ==, 3);
        g_assert_cmpuint(media.sectors_trimmed, ==, 6);
        g_assert_cmpuint(disk[22 * 512 + 1], ==, 0);
        g_assert_cmpuint(disk[23 * 512 + 1], !=, 0);

        store_ops = 0;
        zd_media_verify(&media, req, 0, MEDIUM_SECTORS, on_done);
        while (npending) {
            store_end();
        }
        turn_clock(LONG_NS);
        g_assert_cmpuint(done, ==, 2);
        g_assert_cmpuint(store_ops, ==, 2);
        teardown();
    }
    setup(false, true);
    zd_media_trim(&media, req, NULL, 0, on_done);
    g_assert_cmpuint(done, ==, 1);
    teardown();
    release(req);
}

static void test_cancel(void)
{
    static const ZdRange ranges[] = { { 10, 2 }, { 20, 2 } };
    ZdRequest *a = request(plain);
    ZdRequest *b = request(plain);
    ZdRequest *c = request(plain);

    setup(true, false);
    zd_media_read(&media, a, 0, 8, on_done);
    zd_media_trim(&media, b, ranges, 2, on_done);
    turn_clock(10);
    at_once = true;
    zd_media_write(&media, c, 0, 8, false, on_done);

    zd_media_cancel(&media, a);         /* data and deadline to come */
    g_assert_cmpuint(maps, ==, unmaps);
    zd_media_cancel(&media, a);         /* a second time is nothing */
    zd_media_cancel(&media, b);         /* half of its ranges */
    g_assert_cmpuint(cancels, ==, 2);
    turn_clock(LONG_NS);
    g_assert_cmpuint(done, ==, 1);
    g_assert_true(done_req == c);

    /* the deadline alone */
    zd_media_delay(&media, a, on_done);
    zd_media_cancel(&media, a);
    g_assert_cmpint(the_timer->expire_time, ==, -1);
    turn_clock(LONG_NS);
    g_assert_cmpuint(done, ==, 1);
    teardown();
    release(a);
    release(b);
    release(c);
}

/* DuraWrite looks at the data, wherever it lies and however it begins. */
static void test_classes(void)
{
    static const dma_addr_t pieces[] = {
        0x1200, 0x800, 0x3000, 0x1800, 0x9000, 0x1000, 0, 0,
    };
    ZdRequest *req = request(pieces);
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    ZdFlashCounters n;
    uint64_t stored;

    setup(true, true);
    for (unsigned i = 0; i < 0x3000; i++) {
        memory[0x3000 + i] = g_rand_int(rand);
    }
    memset(memory + 0x9000, 0, 0x1000);
    /* pages: half of one AAh; noise; half noise, half zeros; half of zeros */
    zd_media_write(&media, req, 4, 4 + 12 + 8, false, on_done);
    turn_clock(LONG_NS);
    g_assert_cmpuint(done, ==, 1);
    zd_media_counters(&media, &n);
    g_assert_cmpuint(n.host_written_bytes, ==, 0x3000);
    stored = n.host_stored_bytes - 2 * zd_flash_class_bytes(media.flash, 0) -
             zd_flash_class_bytes(media.flash, 31);
    g_assert_cmpuint(stored, >=, 0x800);
    g_assert_cmpuint(stored, <=, 0x900);
    teardown();

    /* compress=fixed:0.5 looks at nothing */
    setup(true, true);
    media.class_all = 16;
    zd_media_write(&media, req, 4, 24, false, on_done);
    turn_clock(LONG_NS);
    zd_media_counters(&media, &n);
    g_assert_cmpuint(n.host_stored_bytes, ==,
                     4 * zd_flash_class_bytes(media.flash, 16));
    teardown();
    release(req);
}

/* SECURITY ERASE: nothing is mapped, nothing is left, and it takes time. */
static void test_erase(void)
{
    ZdRequest *req = request(plain);

    setup(true, true);
    zd_media_write(&media, req, 0, 16, false, on_done);
    turn_clock(LONG_NS);
    g_assert_true(zd_flash_mapped(media.flash, 1));
    zd_media_erase(&media, req, on_done);
    turn_clock(LONG_NS);
    g_assert_cmpuint(done, ==, 1);
    turn_clock(LONG_NS + LONG_NS);
    g_assert_cmpuint(done, ==, 2);
    g_assert_false(zd_flash_mapped(media.flash, 1));
    for (unsigned i = 0; i < MEDIUM_SECTORS * 512; i++) {
        g_assert_cmpuint(disk[i], ==, 0);
    }
    teardown();
    release(req);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/media/deadline", test_deadline);
    g_test_add_func("/media/chain", test_chain);
    g_test_add_func("/media/map", test_map);
    g_test_add_func("/media/bounce", test_bounce);
    g_test_add_func("/media/moved", test_moved);
    g_test_add_func("/media/errors", test_errors);
    g_test_add_func("/media/trim-verify", test_trim_verify);
    g_test_add_func("/media/cancel", test_cancel);
    g_test_add_func("/media/classes", test_classes);
    g_test_add_func("/media/erase", test_erase);
    return g_test_run();
}

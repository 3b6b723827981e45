/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The medium with a clock that the test turns, 1 MiB of guest memory with
 * registers in the middle, and a store that ends when the test says so.  What
 * is checked: done means data and deadline, plain memory is used in place and
 * given back, registers and holes are bus errors, and cancelling at any moment
 * leaves nothing behind.
 */
#include "qemu/osdep.h"
#include "qemu/rcu.h"
#include "exec/memory.h"
#include "hw/qdev-core.h"
#include "hw/zdrive/journal.h"

#define LATENCY_NS      100000
#define MEMORY_BYTES    (1024 * 1024)
#define MMIO_BASE       0x80000
#define MMIO_END        0x81000
#define HOLE_BASE       0xf0000     /* nothing from here on */
#define MEDIUM_SECTORS  4096

/* QEMU */

static int64_t now_ns;
static QEMUTimer *the_timer;
static uint8_t memory[MEMORY_BYTES];
static MemoryRegion ram = { .ram = true };
static MemoryRegion registers;
static AddressSpace address_space;
static unsigned maps, unmaps, accesses;
static uint64_t dirtied;
/* The IOMMU's tables change between a look and the mapping. */
static bool moved;
static uint8_t copy_of_registers[4096];

int use_icount;
unsigned long rcu_gp_ctr = 1;
QemuEvent rcu_gp_event;
QEMUTimerListGroup main_loop_tlg;

struct rcu_reader_data *get_ptr_rcu_reader(void)
{
    static struct rcu_reader_data reader = { .depth = 1 };

    return &reader;
}

void qemu_event_set(QemuEvent *ev)
{
}

bool memory_region_is_ram_device(MemoryRegion *mr)
{
    return false;
}

int64_t qemu_clock_get_ns(QEMUClockType type)
{
    g_assert_cmpint(type, ==, QEMU_CLOCK_VIRTUAL);
    return now_ns;
}

void timer_init_full(QEMUTimer *ts, QEMUTimerListGroup *group,
                     QEMUClockType type, int scale, int attributes,
                     QEMUTimerCB *cb, void *opaque)
{
    g_assert_cmpint(type, ==, QEMU_CLOCK_VIRTUAL);
    ts->cb = cb;
    ts->opaque = opaque;
    ts->expire_time = -1;
    the_timer = ts;
}

void timer_mod(QEMUTimer *ts, int64_t expire_time)
{
    ts->expire_time = expire_time;
}

void timer_del(QEMUTimer *ts)
{
    ts->expire_time = -1;
}

static void turn_clock(int64_t ns)
{
    int64_t end = now_ns + ns;

    while (the_timer->expire_time >= 0 && the_timer->expire_time <= end) {
        now_ns = MAX(now_ns, the_timer->expire_time);
        the_timer->expire_time = -1;
        the_timer->cb(the_timer->opaque);
    }
    now_ns = end;
}

MemoryRegion *flatview_translate(FlatView *fv, hwaddr addr, hwaddr *xlat,
                                 hwaddr *len, bool is_write, MemTxAttrs attrs)
{
    if (addr >= HOLE_BASE) {
        return &registers;
    }
    if (addr >= MMIO_BASE && addr < MMIO_END) {
        *len = MIN(*len, MMIO_END - addr);
        return &registers;
    }
    *len = MIN(*len, (addr < MMIO_BASE ? MMIO_BASE : HOLE_BASE) - addr);
    return &ram;
}

void *address_space_map(AddressSpace *as, hwaddr addr, hwaddr *len,
                        bool is_write, MemTxAttrs attrs)
{
    hwaddr xlat;

    g_assert_true(flatview_translate(NULL, addr, &xlat, len, is_write,
                                     attrs) == &ram);
    /* two banks, so that an entry over the border maps in two parts */
    if (addr < 0x20000) {
        *len = MIN(*len, 0x20000 - addr);
    }
    maps++;
    return moved ? copy_of_registers : memory + addr;
}

MemoryRegion *memory_region_from_host(void *ptr, ram_addr_t *offset)
{
    return ptr == copy_of_registers ? NULL : &ram;
}

void address_space_unmap(AddressSpace *as, void *buffer, hwaddr len,
                         bool is_write, hwaddr access_len)
{
    unmaps++;
    dirtied += is_write ? access_len : 0;
}

MemTxResult address_space_rw(AddressSpace *as, hwaddr addr, MemTxAttrs attrs,
                             void *buf, hwaddr len, bool is_write)
{
    uint8_t *at = memory + addr;

    accesses++;
    if (addr + len > HOLE_BASE) {
        return MEMTX_DECODE_ERROR;
    }
    g_assert_true(attrs.memory);
    if (addr >= MMIO_BASE && addr < MMIO_END) {
        return MEMTX_ACCESS_ERROR;
    }
    memcpy(is_write ? at : buf, is_write ? buf : at, len);
    return MEMTX_OK;
}

void qemu_iovec_init_external(QEMUIOVector *qiov, struct iovec *iov, int niov)
{
    qiov->iov = iov;
    qiov->niov = niov;
    qiov->nalloc = -1;
    qiov->size = 0;
    for (int i = 0; i < niov; i++) {
        qiov->size += iov[i].iov_len;
    }
}

/* The store */

static uint8_t disk[MEDIUM_SECTORS * 512];
static bool at_once;
static int store_ret;
static ZdStoreOp *pending[64];
static unsigned npending, cancels, zeroed, store_ops;

static void store_op(ZdStoreOp *op)
{
    store_ops++;
    if (at_once) {
        op->done(op->opaque, store_ret);
    } else {
        pending[npending++] = op;
    }
}

static void store_end(void)
{
    ZdStoreOp *op = pending[0];

    g_assert_cmpuint(npending, >, 0);
    memmove(pending, pending + 1, --npending * sizeof(pending[0]));
    op->done(op->opaque, store_ret);
}

static void store_rw(uint64_t offset, QEMUIOVector *qiov, bool write)
{
    for (int i = 0; i < qiov->niov; i++) {
        memcpy(write ? disk + offset : qiov->iov[i].iov_base,
               write ? qiov->iov[i].iov_base : disk + offset,
               qiov->iov[i].iov_len);
        offset += qiov->iov[i].iov_len;
    }
}

void zd_store_read(ZdStore *store, unsigned member, uint64_t offset,
                   QEMUIOVector *qiov, ZdStoreOp *op)
{
    op->error_offset = offset;
    store_rw(offset, qiov, false);
    store_op(op);
}

void zd_store_write(ZdStore *store, unsigned member, uint64_t offset,
                    QEMUIOVector *qiov, bool through, ZdStoreOp *op)
{
    op->error_offset = offset;
    store_rw(offset, qiov, true);
    store_op(op);
}

void zd_store_zero(ZdStore *store, unsigned member, uint64_t offset,
                   uint64_t bytes, ZdStoreOp *op)
{
    op->error_offset = offset;
    memset(disk + offset, 0, bytes);
    zeroed++;
    store_op(op);
}

void zd_store_flush(ZdStore *store, unsigned member, ZdStoreOp *op)
{
    op->error_offset = 0;
    store_op(op);
}

void zd_store_cancel(ZdStore *store, ZdStoreOp *op)
{
    cancels++;
    for (unsigned i = 0; i < npending; i++) {
        if (pending[i] == op) {
            memmove(pending + i, pending + i + 1,
                    (--npending - i) * sizeof(pending[0]));
            return;
        }
    }
}

/* The journal: each command that it sees begin has to end there, once. */

static uint64_t begun, ended, aborted;

static void journal_begin(ZdRequest *req)
{
    g_assert_true(req->media.active);
    g_assert_cmpuint(req->media.journal_id, ==, 0);
    req->media.journal_id = ++begun;
}

void zd_journal_write(ZdMedia *m, ZdRequest *req, uint64_t lba,
                      uint32_t sectors, bool through)
{
    g_assert_cmpuint(req->media.iov.size, ==, sectors * 512);
    journal_begin(req);
}

void zd_journal_flush(ZdMedia *m, ZdRequest *req)
{
    journal_begin(req);
}

void zd_journal_trim(ZdMedia *m, ZdRequest *req, const ZdRange *ranges,
                     unsigned count)
{
    journal_begin(req);
}

void zd_journal_complete(ZdRequest *req, int ret)
{
    ended += req->media.journal_id != 0;
    req->media.journal_id = 0;
}

void zd_journal_abort(ZdRequest *req)
{
    aborted += req->media.journal_id != 0;
    zd_journal_complete(req, 0);
}

/* The tests */

static ZdMedia media;
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

static void setup(bool timed, bool now)
{
    for (unsigned i = 0; i < sizeof(disk); i++) {
        disk[i] = i / 512 + i;
    }
    memset(memory, 0xaa, sizeof(memory));
    maps = unmaps = accesses = dirtied = 0;
    cancels = zeroed = store_ops = done = 0;
    begun = ended = aborted = 0;
    store_ret = 0;
    at_once = now;
    use_icount = 0;
    zd_media_init(&media, NULL, 0, MEDIUM_SECTORS, timed);
}

static void teardown(void)
{
    g_assert_cmpuint(maps, ==, unmaps);
    g_assert_cmpuint(begun, ==, ended);
    g_assert_cmpuint(npending, ==, 0);
    g_assert_true(QSLIST_EMPTY(&media.guards));
    zd_media_cleanup(&media);
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

    /* data first, deadline last */
    setup(true, true);
    zd_media_read(&media, req, 8, 16, on_done);
    g_assert_cmpuint(done, ==, 0);
    g_assert_cmpmem(memory + 0x1000, 4096, disk + 8 * 512, 4096);
    g_assert_cmpmem(memory + 0x5000, 4096, disk + 16 * 512, 4096);
    g_assert_cmpuint(dirtied, ==, 8192);
    turn_clock(LATENCY_NS - 1);
    g_assert_cmpuint(done, ==, 0);
    turn_clock(1);
    g_assert_cmpuint(done, ==, 1);
    g_assert_cmpint(done_ret, ==, 0);

    /* deadline first, data last */
    at_once = false;
    zd_media_read(&media, req, 0, 16, on_done);
    turn_clock(2 * LATENCY_NS);
    g_assert_cmpuint(done, ==, 1);
    store_end();
    g_assert_cmpuint(done, ==, 2);

    /* no deadline */
    media.timed = false;
    at_once = true;
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
    turn_clock(LATENCY_NS);
    g_assert_cmpuint(done, ==, 2);
    turn_clock(9 * LATENCY_NS);
    g_assert_cmpuint(done, ==, 11);
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
        turn_clock(LATENCY_NS);
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
        turn_clock(LATENCY_NS);
        g_assert_cmpuint(done, ==, 2);
        g_assert_cmpuint(store_ops, ==, 2);
        teardown();
    }
    zd_media_init(&media, NULL, 0, MEDIUM_SECTORS, false);
    zd_media_trim(&media, req, NULL, 0, on_done);
    g_assert_cmpuint(done, ==, 3);
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
    /* reads are none of the journal's business */
    g_assert_cmpuint(begun, ==, 2);
    g_assert_cmpuint(aborted, ==, 1);
    turn_clock(LATENCY_NS);
    g_assert_cmpuint(done, ==, 1);
    g_assert_true(done_req == c);

    /* the deadline alone */
    zd_media_delay(&media, a, on_done);
    zd_media_cancel(&media, a);
    g_assert_cmpint(the_timer->expire_time, ==, -1);
    turn_clock(LATENCY_NS);
    g_assert_cmpuint(done, ==, 1);
    teardown();
    release(a);
    release(b);
    release(c);
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
    return g_test_run();
}

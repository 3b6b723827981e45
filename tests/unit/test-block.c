/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The block store on a block layer of a few lines: requests lie on a list until
 * the test, or aio_poll(), lets the first or the last of them end, in a
 * coroutine or not.  What is checked: every byte lands where volume order says,
 * no more requests than agreed are under way, the lowest failing offset is
 * reported after the rest has ended, cancelling waits and calls nobody.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/main-loop.h"
#include "qapi/error.h"
#include "block/aio-wait.h"
#include "block/block.h"
#include "sysemu/cpu-timers.h"
#include "hw/zdrive/store.h"
#include "hw/zdrive/store/volume-order.h"

#define MEMBERS         4
#define MEMBER_BYTES    (40 * ZD_CHUNK_BYTES + 3 * 512)
#define NODE_BYTES      (MEMBERS * MEMBER_BYTES)

/* The block layer */

typedef struct Request {
    enum { READ, WRITE, FLUSH, COROUTINE } kind;
    uint64_t offset;
    QEMUIOVector *qiov;
    BdrvRequestFlags flags;
    BlockCompletionFunc *cb;
    void *opaque;
    QTAILQ_ENTRY(Request) next;
} Request;

struct Coroutine {
    CoroutineEntry *entry;
    void *opaque;
};

static QTAILQ_HEAD(, Request) requests = QTAILQ_HEAD_INITIALIZER(requests);
static unsigned under_way, most_under_way, flushes, fua_writes, zeroes;
static unsigned acct_done, acct_failed;
static uint8_t *node;
static uint64_t bad_from, bad_to;
static bool in_coroutine;
static BlockdevOnError werror = BLOCKDEV_ON_ERROR_ENOSPC;
static QEMUBHFunc *bh_cb;
static void *bh_opaque;
static bool bh_scheduled;

static BlockBackend *const blk = (BlockBackend *)&node;

int use_icount;
AioWait global_aio_wait;

static int node_rw(uint64_t offset, uint64_t bytes, QEMUIOVector *qiov,
                   size_t skip, bool write)
{
    g_assert_cmpuint(offset + bytes, <=, NODE_BYTES);
    if (offset < bad_to && offset + bytes > bad_from) {
        return -EIO;
    }
    for (int i = 0; i < qiov->niov && bytes; i++) {
        size_t len = qiov->iov[i].iov_len;
        uint8_t *base = qiov->iov[i].iov_base;

        if (skip >= len) {
            skip -= len;
            continue;
        }
        len = MIN(len - skip, bytes);
        memcpy(write ? node + offset : base + skip,
               write ? base + skip : node + offset, len);
        skip = 0;
        offset += len;
        bytes -= len;
    }
    return 0;
}

static BlockAIOCB *request(Request r)
{
    Request *copy = g_memdup2(&r, sizeof(r));

    QTAILQ_INSERT_TAIL(&requests, copy, next);
    most_under_way = MAX(most_under_way, ++under_way);
    return NULL;
}

static bool end_one(bool last, bool coroutine)
{
    Request *r = last ? QTAILQ_LAST(&requests) : QTAILQ_FIRST(&requests);
    bool outer = in_coroutine;
    int ret = 0;

    if (!r) {
        return false;
    }
    QTAILQ_REMOVE(&requests, r, next);
    under_way--;
    if (r->kind == READ || r->kind == WRITE) {
        ret = node_rw(r->offset, r->qiov->size, r->qiov, 0, r->kind == WRITE);
    }
    fua_writes += !!(r->flags & BDRV_REQ_FUA);
    flushes += r->kind == FLUSH;
    in_coroutine = coroutine || r->kind == COROUTINE;
    if (r->kind == COROUTINE) {
        Coroutine *co = r->opaque;

        co->entry(co->opaque);
        g_free(co);
    } else {
        r->cb(r->opaque, ret);
    }
    in_coroutine = outer;
    g_free(r);
    return true;
}

static void run_bh(void)
{
    while (bh_scheduled) {
        bh_scheduled = false;
        bh_cb(bh_opaque);
    }
}

static void run_all(bool last, bool coroutine)
{
    do {
        while (end_one(last, coroutine)) {
            continue;
        }
        run_bh();
    } while (!QTAILQ_EMPTY(&requests));
}

BlockAIOCB *blk_aio_preadv(BlockBackend *b, int64_t offset, QEMUIOVector *qiov,
                           BdrvRequestFlags flags, BlockCompletionFunc *cb,
                           void *opaque)
{
    return request((Request) { READ, offset, qiov, flags, cb, opaque });
}

BlockAIOCB *blk_aio_pwritev(BlockBackend *b, int64_t offset, QEMUIOVector *qiov,
                            BdrvRequestFlags flags, BlockCompletionFunc *cb,
                            void *opaque)
{
    return request((Request) { WRITE, offset, qiov, flags, cb, opaque });
}

BlockAIOCB *blk_aio_flush(BlockBackend *b, BlockCompletionFunc *cb,
                          void *opaque)
{
    return request((Request) { FLUSH, 0, NULL, 0, cb, opaque });
}

Coroutine *qemu_coroutine_create(CoroutineEntry *entry, void *opaque)
{
    Coroutine *co = g_new(Coroutine, 1);

    co->entry = entry;
    co->opaque = opaque;
    return co;
}

void bdrv_coroutine_enter(BlockDriverState *bs, Coroutine *co)
{
    request((Request) { COROUTINE, 0, NULL, 0, NULL, co });
}

static bool node_is_zero(int64_t offset, int64_t bytes)
{
    return node[offset] == 0 && !memcmp(node + offset, node + offset + 1,
                                        bytes - 1);
}

int bdrv_co_is_zero_fast(BlockDriverState *bs, int64_t offset, int64_t bytes)
{
    return node_is_zero(offset, bytes);
}

int bdrv_block_status_above(BlockDriverState *bs, BlockDriverState *base,
                            int64_t offset, int64_t bytes, int64_t *pnum,
                            int64_t *map, BlockDriverState **file)
{
    *pnum = bytes;
    return node_is_zero(offset, bytes) ? BDRV_BLOCK_ZERO : BDRV_BLOCK_DATA;
}

int blk_co_pwrite_zeroes(BlockBackend *b, int64_t offset, int64_t bytes,
                         BdrvRequestFlags flags)
{
    g_assert_true(flags & BDRV_REQ_MAY_UNMAP);
    g_assert_cmpuint(offset + bytes, <=, NODE_BYTES);
    memset(node + offset, 0, bytes);
    zeroes++;
    return 0;
}

int blk_pwrite_zeroes(BlockBackend *b, int64_t offset, int64_t bytes,
                      BdrvRequestFlags flags)
{
    return blk_co_pwrite_zeroes(b, offset, bytes, flags);
}

int blk_preadv_part(BlockBackend *b, int64_t offset, int64_t bytes,
                    QEMUIOVector *qiov, size_t skip, BdrvRequestFlags flags)
{
    return node_rw(offset, bytes, qiov, skip, false);
}

int blk_pwritev_part(BlockBackend *b, int64_t offset, int64_t bytes,
                     QEMUIOVector *qiov, size_t skip, BdrvRequestFlags flags)
{
    fua_writes += !!(flags & BDRV_REQ_FUA);
    return node_rw(offset, bytes, qiov, skip, true);
}

int blk_flush(BlockBackend *b)
{
    flushes++;
    return 0;
}

bool aio_poll(AioContext *ctx, bool blocking)
{
    g_assert_false(in_coroutine);
    /* a list with nothing on it would be waited for, for ever */
    g_assert_true(end_one(false, true) || bh_scheduled || !blocking);
    run_bh();
    return true;
}

QEMUBH *qemu_bh_new_full(QEMUBHFunc *cb, void *opaque, const char *name,
                         MemReentrancyGuard *guard)
{
    bh_cb = cb;
    bh_opaque = opaque;
    return (QEMUBH *)&bh_cb;
}

void qemu_bh_schedule(QEMUBH *bh)
{
    bh_scheduled = true;
}

void block_acct_done(BlockAcctStats *stats, BlockAcctCookie *cookie)
{
    acct_done++;
}

void block_acct_failed(BlockAcctStats *stats, BlockAcctCookie *cookie)
{
    acct_failed++;
}

void block_acct_start(BlockAcctStats *stats, BlockAcctCookie *cookie,
                      int64_t bytes, enum BlockAcctType type)
{
    cookie->bytes = bytes;
    cookie->type = type;
}

/* What else block.c asks for, with one answer each. */
void aio_context_acquire(AioContext *ctx) { }
void aio_context_release(AioContext *ctx) { }
void aio_wait_kick(void) { }
const char *bdrv_get_device_or_node_name(const BlockDriverState *bs)
{
    return "n";
}
BlockDriverState *blk_bs(BlockBackend *b) { return NULL; }
void blk_dec_in_flight(BlockBackend *b) { }
void blk_drain(BlockBackend *b) { }
int64_t blk_getlength(BlockBackend *b) { return NODE_BYTES; }
BlockdevOnError blk_get_on_error(BlockBackend *b, bool is_read)
{
    return is_read ? BLOCKDEV_ON_ERROR_REPORT : werror;
}
BlockAcctStats *blk_get_stats(BlockBackend *b) { return NULL; }
void blk_inc_in_flight(BlockBackend *b) { }
bool blk_is_available(BlockBackend *b) { return true; }
bool blk_is_inserted(BlockBackend *b) { return true; }
const char *blk_name(const BlockBackend *b) { return "disk0"; }
void blk_set_on_error(BlockBackend *b, BlockdevOnError r, BlockdevOnError w) { }
int blk_set_perm(BlockBackend *b, uint64_t perm, uint64_t shared, Error **errp)
{
    return 0;
}
bool blk_supports_write_perm(BlockBackend *b) { return true; }
bool buffer_is_zero(const void *buf, size_t len) { return false; }
void qemu_bh_delete(QEMUBH *bh) { }
void qemu_hexdump(FILE *fp, const char *prefix, const void *buf, size_t len) { }
AioContext *qemu_get_aio_context(void) { return NULL; }
AioContext *qemu_get_current_aio_context(void) { return NULL; }
bool qemu_in_coroutine(void) { return in_coroutine; }
const QEnumLookup BlockdevOnError_lookup;
const char *qapi_enum_lookup(const QEnumLookup *lookup, int val)
{
    return "stop";
}

static char *error_text;

void error_setg_internal(Error **errp, const char *src, int line,
                         const char *func, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    g_free(error_text);
    error_text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
}

void error_setg_errno_internal(Error **errp, const char *src, int line,
                               const char *func, int os_errno, const char *fmt,
                               ...)
{
    g_assert_not_reached();
}

/* The tests */

typedef struct Op {
    ZdStoreOp op;
    unsigned done;
    int ret;
} Op;

static void op_done(void *opaque, int ret)
{
    Op *o = opaque;

    g_assert_false(in_coroutine);
    o->done++;
    o->ret = ret;
}

static void op_init(Op *o)
{
    *o = (Op) { .op.done = op_done, .op.opaque = o };
}

static ZdStore *setup(bool icount)
{
    ZdStoreConfig cfg = {
        .members = MEMBERS,
        .member_bytes = MEMBER_BYTES,
        .volume = blk,
    };
    ZdStore *store;

    use_icount = icount;
    node = g_malloc0(NODE_BYTES);
    bad_from = bad_to = 0;
    most_under_way = flushes = fua_writes = zeroes = 0;
    acct_done = acct_failed = 0;
    store = zd_store_new(&cfg, NULL);
    g_assert_nonnull(store);
    return store;
}

static void teardown(ZdStore *store)
{
    g_assert_true(QTAILQ_EMPTY(&requests));
    zd_store_free(store);
    g_free(node);
}

/* Write members through the store, in odd lengths and several iov entries. */
static void test_order(gconstpointer opaque)
{
    unsigned variant = GPOINTER_TO_UINT(opaque);
    ZdStore *store = setup(variant & 4);
    g_autofree uint8_t *data = g_malloc(MEMBER_BYTES);
    g_autofree uint8_t *back = g_malloc(MEMBER_BYTES);
    g_autoptr(GRand) rand = g_rand_new_with_seed(84);

    for (unsigned m = 0; m < MEMBERS; m++) {
        uint64_t at = 0;

        for (uint64_t i = 0; i < MEMBER_BYTES; i++) {
            data[i] = g_rand_int(rand);
        }
        while (at < MEMBER_BYTES) {
            uint64_t len = 512 * g_rand_int_range(rand, 1, 3000);
            struct iovec iov[3];
            QEMUIOVector qiov;
            Op o;

            len = MIN(len, MEMBER_BYTES - at);
            iov[0] = (struct iovec) { data + at, len / 3 };
            iov[1] = (struct iovec) { data + at + len / 3, len / 3 };
            iov[2] = (struct iovec) { data + at + len / 3 * 2,
                                      len - len / 3 * 2 };
            qemu_iovec_init_external(&qiov, iov, 3);
            op_init(&o);
            zd_store_write(store, m, at, &qiov, false, &o.op);
            run_all(variant & 1, variant & 2);
            g_assert_cmpuint(o.done, ==, 1);
            g_assert_cmpint(o.ret, ==, 0);
            at += len;
        }
        for (uint64_t i = 0; i < MEMBER_BYTES; i++) {
            uint64_t run, pos = zd_volume_map(MEMBERS, m, MEMBER_BYTES, i,
                                              &run);

            g_assert_cmpuint(node[pos], ==, data[i]);
        }
        {
            QEMUIOVector qiov = QEMU_IOVEC_INIT_BUF(qiov, back, MEMBER_BYTES);
            Op o;

            op_init(&o);
            zd_store_read(store, m, 0, &qiov, &o.op);
            run_all(variant & 1, variant & 2);
            g_assert_cmpuint(o.done, ==, 1);
            g_assert_cmpmem(back, MEMBER_BYTES, data, MEMBER_BYTES);
        }
    }
    g_assert_cmpuint(most_under_way, <=, 32);
    g_assert_cmpuint(acct_failed, ==, 0);
    teardown(store);
}

static void test_zero(gconstpointer opaque)
{
    ZdStore *store = setup(GPOINTER_TO_UINT(opaque));
    Op o;

    memset(node, 0xff, NODE_BYTES);
    op_init(&o);
    zd_store_zero(store, 2, 512, MEMBER_BYTES - 1024, &o.op);
    run_all(false, false);
    g_assert_cmpuint(o.done, ==, 1);
    g_assert_cmpint(o.ret, ==, 0);
    g_assert_cmpuint(most_under_way, <=, 32);
    for (unsigned m = 0; m < MEMBERS; m++) {
        for (uint64_t i = 0; i < MEMBER_BYTES; i++) {
            bool zero = m == 2 && i >= 512 && i < MEMBER_BYTES - 512;
            uint64_t run, pos = zd_volume_map(MEMBERS, m, MEMBER_BYTES, i,
                                              &run);

            g_assert_cmpuint(node[pos], ==, zero ? 0 : 0xff);
        }
    }

    /* what is zero already is not written again */
    zeroes = 0;
    op_init(&o);
    zd_store_zero(store, 2, 512, MEMBER_BYTES - 1024, &o.op);
    run_all(false, false);
    g_assert_cmpuint(o.done, ==, 1);
    g_assert_cmpuint(zeroes, ==, 0);
    teardown(store);
}

/* Chunks 5 and up of member 1 are bad; 5 is what the guest must hear of. */
static void test_error(gconstpointer opaque)
{
    unsigned variant = GPOINTER_TO_UINT(opaque);
    ZdStore *store = setup(variant & 4);
    g_autofree uint8_t *data = g_malloc(MEMBER_BYTES);
    QEMUIOVector qiov = QEMU_IOVEC_INIT_BUF(qiov, data, 39 * ZD_CHUNK_BYTES);
    Op o;

    bad_from = (5 * MEMBERS + 1) * ZD_CHUNK_BYTES;
    bad_to = NODE_BYTES;
    op_init(&o);
    zd_store_read(store, 1, 512, &qiov, &o.op);
    run_all(variant & 1, variant & 2);
    g_assert_cmpuint(o.done, ==, 1);
    g_assert_cmpint(o.ret, ==, -EIO);
    g_assert_cmpuint(o.op.error_offset, ==, 5 * ZD_CHUNK_BYTES);
    g_assert_cmpuint(acct_failed, ==, 1);
    teardown(store);
}

/* Stable writes: FUA for one piece, one flush for many, none after an error */
static void test_through(void)
{
    ZdStore *store = setup(false);
    g_autofree uint8_t *data = g_malloc0(MEMBER_BYTES);
    QEMUIOVector one = QEMU_IOVEC_INIT_BUF(one, data, 4096);
    QEMUIOVector many = QEMU_IOVEC_INIT_BUF(many, data, 10 * ZD_CHUNK_BYTES);
    Op o;

    op_init(&o);
    zd_store_write(store, 0, 4096, &one, true, &o.op);
    run_all(false, false);
    g_assert_cmpuint(o.done, ==, 1);
    g_assert_cmpuint(fua_writes, ==, 1);
    g_assert_cmpuint(flushes, ==, 0);

    op_init(&o);
    zd_store_write(store, 0, 4096, &many, true, &o.op);
    run_all(false, true);
    g_assert_cmpuint(o.done, ==, 1);
    g_assert_cmpuint(flushes, ==, 1);

    bad_to = NODE_BYTES;
    op_init(&o);
    zd_store_write(store, 0, 4096, &many, true, &o.op);
    run_all(false, true);
    g_assert_cmpint(o.ret, ==, -EIO);
    g_assert_cmpuint(flushes, ==, 1);

    op_init(&o);
    zd_store_flush(store, 3, &o.op);
    run_all(false, false);
    g_assert_cmpuint(o.done, ==, 1);
    g_assert_cmpuint(flushes, ==, 2);
    teardown(store);
}

static void test_cancel(void)
{
    ZdStore *store = setup(false);
    g_autofree uint8_t *data = g_malloc0(MEMBER_BYTES);
    QEMUIOVector one = QEMU_IOVEC_INIT_BUF(one, data, 4096);
    QEMUIOVector many = QEMU_IOVEC_INIT_BUF(many, data, 39 * ZD_CHUNK_BYTES);
    Op first, walk, last;

    /* others end while one is waited for, and are told later */
    op_init(&first);
    op_init(&walk);
    op_init(&last);
    zd_store_read(store, 0, 0, &one, &first.op);
    zd_store_write(store, 1, 0, &many, true, &walk.op);
    zd_store_read(store, 0, 4096, &one, &last.op);
    zd_store_cancel(store, &walk.op);
    g_assert_cmpuint(first.done, ==, 0);
    g_assert_cmpuint(walk.op.pending, ==, 0);
    g_assert_cmpuint(flushes, ==, 0);
    run_all(false, false);
    g_assert_cmpuint(first.done, ==, 1);
    g_assert_cmpuint(walk.done, ==, 0);
    g_assert_cmpuint(last.done, ==, 1);

    /* over for the block layer, cancelled before anyone was told */
    op_init(&first);
    op_init(&last);
    zd_store_read(store, 0, 0, &one, &first.op);
    zd_store_read(store, 0, 0, &one, &last.op);
    end_one(false, true);
    end_one(false, true);
    zd_store_cancel(store, &last.op);
    run_all(false, false);
    g_assert_cmpuint(first.done, ==, 1);
    g_assert_cmpuint(last.done, ==, 0);
    teardown(store);
}

static void test_range(void)
{
    ZdStore *store = setup(false);
    uint8_t data[1024];
    QEMUIOVector qiov = QEMU_IOVEC_INIT_BUF(qiov, data, sizeof(data));
    Op o;

    op_init(&o);
    zd_store_read(store, 0, MEMBER_BYTES - 512, &qiov, &o.op);
    g_assert_cmpint(o.ret, ==, -EIO);
    op_init(&o);
    zd_store_zero(store, 0, UINT64_MAX - 511, 1024, &o.op);
    g_assert_cmpint(o.ret, ==, -EIO);
    op_init(&o);
    zd_store_zero(store, MEMBERS, 0, 512, &o.op);
    g_assert_cmpint(o.ret, ==, -EIO);
    teardown(store);
}

static void test_refuse(void)
{
    ZdStoreConfig cfg = {
        .members = MEMBERS,
        .member_bytes = MEMBER_BYTES + 512,
        .volume = blk,
    };

    g_assert_null(zd_store_new(&cfg, NULL));
    g_assert_nonnull(strstr(error_text, "disk0"));
    g_assert_nonnull(strstr(error_text, "qemu-img resize"));

    cfg.member_bytes = MEMBER_BYTES;
    werror = BLOCKDEV_ON_ERROR_STOP;
    g_assert_null(zd_store_new(&cfg, NULL));
    g_assert_nonnull(strstr(error_text, "werror=stop"));
    werror = BLOCKDEV_ON_ERROR_ENOSPC;
}

int main(int argc, char **argv)
{
    /* bit 0: last request ends first; 1: in a coroutine; 2: icount */
    static const char *const variants[] = {
        "first", "last", "coroutine-first", "coroutine-last", "icount",
    };

    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < ARRAY_SIZE(variants); i++) {
        g_autofree char *order = g_strconcat("/block/order/", variants[i],
                                             NULL);
        g_autofree char *error = g_strconcat("/block/error/", variants[i],
                                             NULL);

        g_test_add_data_func(order, GUINT_TO_POINTER(i), test_order);
        g_test_add_data_func(error, GUINT_TO_POINTER(i), test_error);
    }
    g_test_add_data_func("/block/zero/async", GUINT_TO_POINTER(0), test_zero);
    g_test_add_data_func("/block/zero/icount", GUINT_TO_POINTER(1), test_zero);
    g_test_add_func("/block/through", test_through);
    g_test_add_func("/block/cancel", test_cancel);
    g_test_add_func("/block/range", test_range);
    g_test_add_func("/block/refuse", test_refuse);
    return g_test_run();
}

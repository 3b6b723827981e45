/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A store on QEMU's block layer: one node for the whole card in volume order,
 * or one node per SSD.
 *
 * An operation that is one run of bytes of its node goes straight to the block
 * layer.  Any other is a walk: it is cut at chunk borders into pieces, of which
 * at most ZD_WALK_PIECES are under way at a time.  The first error stops a walk
 * from starting more pieces; since they start in ascending order, the lowest
 * offset that failed is known once all that started have ended.
 *
 * Errors are always reported to the guest, as the real card would.  A drive
 * that asks for another policy (werror=stop, ignore) is refused; the default
 * enospc means report here.  A drive with cache=writethrough works: the block
 * layer itself makes every write stable.
 *
 * Locking: the big lock; nodes stay in the main AioContext.  The block layer
 * completes in coroutines, and who polls in a coroutine waits for ever
 * (aio_co_enter() queues wake-ups behind it); since whoever hears of an error
 * may want to cancel its neighbours, op->done never runs in a coroutine.  It
 * does not run during zd_store_cancel() either, so that a caller that cancels
 * one of a list finds the list as it was.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "qemu/main-loop.h"
#include "qemu/units.h"
#include "block/aio-wait.h"
#include "block/block.h"
#include "sysemu/cpu-timers.h"
#include "internal.h"
#include "volume-order.h"

#define ZD_WALK_PIECES      32
/*
 * Zeroing is cut even on a linear node, so that what is a hole already stays
 * one (see piece_zero_entry()).
 */
#define ZD_ZERO_BYTES       (4 * MiB)

typedef struct ZdWalk ZdWalk;

typedef struct ZdPiece {
    ZdWalk *walk;
    bool busy;
    uint64_t offset;            /* of the member */
    uint64_t node_offset;
    uint64_t bytes;
    QEMUIOVector qiov;
} ZdPiece;

struct ZdWalk {
    ZdStoreOp *op;
    unsigned member;
    QEMUIOVector *qiov;         /* NULL: zero */
    uint64_t start;
    uint64_t next;
    uint64_t end;
    bool filling;               /* walk_fill() is on the stack */
    bool flush;                 /* when all pieces have been written */
    ZdPiece piece[ZD_WALK_PIECES];
};

static uint64_t node_map(const ZdStore *store, unsigned member, uint64_t offset,
                         uint64_t bytes, uint64_t *run)
{
    uint64_t pos = zd_volume_map(store->stripes, member, store->member_bytes,
                                 offset, run);

    *run = MIN(*run, bytes);
    return pos;
}

static void op_start(ZdStore *store, unsigned member, ZdStoreOp *op,
                     uint64_t bytes, enum BlockAcctType type)
{
    op->store = store;
    op->blk = store->blk[member];
    block_acct_start(blk_get_stats(op->blk), &op->acct, bytes, type);
}

static void op_result(ZdStoreOp *op, int ret, uint64_t offset)
{
    if (ret < 0 && (op->ret == 0 || offset < op->error_offset)) {
        op->ret = ret;
        op->error_offset = offset;
    }
}

/* The block layer has nothing of @op any more. */
static void op_end(ZdStoreOp *op)
{
    ZdStore *store = op->store;
    BlockAcctStats *stats = blk_get_stats(op->blk);

    if (op->quiet) {
        /* nothing that query-blockstats shows */
    } else if (op->ret < 0) {
        block_acct_failed(stats, &op->acct);
    } else {
        block_acct_done(stats, &op->acct);
    }
    g_free(op->pieces);
    op->pieces = NULL;

    if (!op->done) {
        aio_wait_kick();
    } else if (store->hold || qemu_in_coroutine()) {
        op->ended = true;
        QTAILQ_INSERT_TAIL(&store->ended, op, next);
        qemu_bh_schedule(store->bh);
    } else {
        op->done(op->opaque, op->ret);
    }
}

static void block_ended_bh(void *opaque)
{
    ZdStore *store = opaque;
    ZdStoreOp *op;

    while (!store->hold && (op = QTAILQ_FIRST(&store->ended)) != NULL) {
        QTAILQ_REMOVE(&store->ended, op, next);
        op->ended = false;
        op->done(op->opaque, op->ret);
    }
}

static void single_done(void *opaque, int ret)
{
    ZdStoreOp *op = opaque;

    op->pending = 0;
    op_result(op, ret, op->error_offset);
    op_end(op);
}

/* Walks */

static void walk_fill(ZdWalk *walk);

static void piece_done(void *opaque, int ret)
{
    ZdPiece *piece = opaque;
    ZdWalk *walk = piece->walk;

    if (walk->qiov) {
        qemu_iovec_destroy(&piece->qiov);
    }
    piece->busy = false;
    walk->op->pending--;
    op_result(walk->op, ret, piece->offset);
    if (!walk->filling) {
        walk_fill(walk);
    }
}

/*
 * What reads as zeros is left alone: on a raw image without discard=unmap,
 * writing zeros would fill the holes of a sparse file, and the first mkfs of a
 * guest would make the image as large as the card.
 */
static void coroutine_fn piece_zero_entry(void *opaque)
{
    ZdPiece *piece = opaque;
    BlockBackend *blk = piece->walk->op->blk;
    int ret = -ENOMEDIUM;

    blk_inc_in_flight(blk);
    if (blk_is_available(blk)) {
        ret = bdrv_co_is_zero_fast(blk_bs(blk), piece->node_offset,
                                   piece->bytes);
    }
    blk_dec_in_flight(blk);

    if (ret <= 0) {
        ret = blk_co_pwrite_zeroes(blk, piece->node_offset, piece->bytes,
                                   BDRV_REQ_MAY_UNMAP);
    }
    piece_done(piece, MIN(ret, 0));
}

static void piece_start(ZdPiece *piece)
{
    ZdWalk *walk = piece->walk;
    ZdStoreOp *op = walk->op;
    uint64_t bytes = walk->end - walk->next;

    if (!walk->qiov) {
        bytes = MIN(bytes, ZD_ZERO_BYTES);
    }
    piece->busy = true;
    piece->offset = walk->next;
    piece->node_offset = node_map(op->store, walk->member, walk->next, bytes,
                                  &piece->bytes);
    walk->next += piece->bytes;
    op->pending++;

    if (!walk->qiov) {
        bdrv_coroutine_enter(blk_bs(op->blk),
                             qemu_coroutine_create(piece_zero_entry, piece));
        return;
    }
    qemu_iovec_init_slice(&piece->qiov, walk->qiov, piece->offset - walk->start,
                          piece->bytes);
    if (op->acct.type == BLOCK_ACCT_READ) {
        blk_aio_preadv(op->blk, piece->node_offset, &piece->qiov, 0,
                       piece_done, piece);
    } else {
        blk_aio_pwritev(op->blk, piece->node_offset, &piece->qiov, 0,
                        piece_done, piece);
    }
}

static void walk_fill(ZdWalk *walk)
{
    ZdStoreOp *op = walk->op;

    walk->filling = true;
    while (walk->next < walk->end && op->pending < ZD_WALK_PIECES &&
           op->ret == 0 && op->done) {
        ZdPiece *piece = walk->piece;

        while (piece->busy) {
            piece++;
        }
        piece->walk = walk;
        piece_start(piece);
    }
    walk->filling = false;

    if (op->pending) {
        return;
    }
    if (walk->flush && op->ret == 0 && op->done) {
        /* one flush instead of one for each piece */
        walk->flush = false;
        op->pending = 1;
        blk_aio_flush(op->blk, single_done, op);
        return;
    }
    op_end(op);
}

static void walk_start(ZdStoreOp *op, unsigned member, uint64_t offset,
                       uint64_t bytes, QEMUIOVector *qiov, bool flush)
{
    ZdWalk *walk = g_new0(ZdWalk, 1);

    walk->op = op;
    walk->member = member;
    walk->qiov = qiov;
    walk->start = offset;
    walk->next = offset;
    walk->end = offset + bytes;
    walk->flush = flush;
    op->pieces = walk;
    walk_fill(walk);
}

/* Synchronous, for icount */

static int zero_sync(BlockBackend *blk, uint64_t offset, uint64_t bytes)
{
    int64_t pnum = 0;
    int ret = -ENOMEDIUM;

    /* as piece_zero_entry() */
    if (blk_is_available(blk)) {
        ret = bdrv_block_status_above(blk_bs(blk), NULL, offset, bytes, &pnum,
                                      NULL, NULL);
    }
    if (ret >= 0 && (ret & BDRV_BLOCK_ZERO) && pnum == bytes) {
        return 0;
    }
    return blk_pwrite_zeroes(blk, offset, bytes, BDRV_REQ_MAY_UNMAP);
}

static int piece_sync(ZdStoreOp *op, uint64_t node_offset, uint64_t bytes,
                      QEMUIOVector *qiov, uint64_t qiov_offset,
                      BdrvRequestFlags flags)
{
    switch (op->acct.type) {
    case BLOCK_ACCT_READ:
        return blk_preadv_part(op->blk, node_offset, bytes, qiov, qiov_offset,
                               flags);
    case BLOCK_ACCT_WRITE:
        return blk_pwritev_part(op->blk, node_offset, bytes, qiov, qiov_offset,
                                flags);
    case BLOCK_ACCT_UNMAP:
        return zero_sync(op->blk, node_offset, bytes);
    default:
        return blk_flush(op->blk);
    }
}

/*
 * The block layer polls while it works, so whatever else that runs may cancel
 * @op; then neither @op nor @qiov exist any more.
 */
static void op_run_sync(ZdStoreOp *op, unsigned member, uint64_t offset,
                        uint64_t bytes, QEMUIOVector *qiov, bool through)
{
    ZdStore *store = op->store;
    BdrvRequestFlags flags = through ? BDRV_REQ_FUA : 0;
    ZdStoreGuard guard = { .op = op };
    uint64_t done = 0;

    QSLIST_INSERT_HEAD(&store->guards, &guard, next);
    do {
        uint64_t run;
        uint64_t want = bytes - done;
        uint64_t pos = node_map(store, member, offset + done,
                                qiov ? want : MIN(want, ZD_ZERO_BYTES), &run);
        int ret = piece_sync(op, pos, run, qiov, done, flags);

        if (guard.gone) {
            break;
        }
        op_result(op, ret, offset + done);
        done += run;
    } while (done < bytes && op->ret == 0);
    QSLIST_REMOVE_HEAD(&store->guards, next);
    if (!guard.gone) {
        op_end(op);
    }
}

/* The kind */

static void block_rw(ZdStore *store, unsigned member, uint64_t offset,
                     QEMUIOVector *qiov, bool through, ZdStoreOp *op,
                     enum BlockAcctType type)
{
    BdrvRequestFlags flags = through ? BDRV_REQ_FUA : 0;
    uint64_t run, pos;

    op_start(store, member, op, qiov->size, type);
    if (store->sync) {
        op_run_sync(op, member, offset, qiov->size, qiov, through);
        return;
    }
    pos = node_map(store, member, offset, qiov->size, &run);
    if (run < qiov->size) {
        walk_start(op, member, offset, qiov->size, qiov, through);
        return;
    }
    op->pending = 1;
    if (type == BLOCK_ACCT_READ) {
        blk_aio_preadv(op->blk, pos, qiov, flags, single_done, op);
    } else {
        blk_aio_pwritev(op->blk, pos, qiov, flags, single_done, op);
    }
}

static void block_read(ZdStore *store, unsigned member, uint64_t offset,
                       QEMUIOVector *qiov, ZdStoreOp *op)
{
    block_rw(store, member, offset, qiov, false, op, BLOCK_ACCT_READ);
}

static void block_write(ZdStore *store, unsigned member, uint64_t offset,
                        QEMUIOVector *qiov, bool through, ZdStoreOp *op)
{
    block_rw(store, member, offset, qiov, through, op, BLOCK_ACCT_WRITE);
}

static void block_zero(ZdStore *store, unsigned member, uint64_t offset,
                       uint64_t bytes, ZdStoreOp *op)
{
    op_start(store, member, op, bytes, BLOCK_ACCT_UNMAP);
    if (store->sync) {
        op_run_sync(op, member, offset, bytes, NULL, false);
    } else {
        walk_start(op, member, offset, bytes, NULL, false);
    }
}

static void block_flush(ZdStore *store, unsigned member, ZdStoreOp *op)
{
    op_start(store, member, op, 0, BLOCK_ACCT_FLUSH);
    if (store->sync) {
        op_run_sync(op, member, 0, 0, NULL, false);
    } else {
        op->pending = 1;
        blk_aio_flush(op->blk, single_done, op);
    }
}

static void block_cancel(ZdStore *store, ZdStoreOp *op)
{
    ZdStoreGuard *guard;

    if (op->ended) {
        QTAILQ_REMOVE(&store->ended, op, next);
        op->ended = false;
        return;
    }
    QSLIST_FOREACH(guard, &store->guards, next) {
        if (guard->op == op) {
            /* op_run_sync() is below us on the stack */
            guard->gone = true;
            guard->op = NULL;
            blk_drain(op->blk);
            return;
        }
    }
    op->done = NULL;
    store->hold++;
    AIO_WAIT_WHILE_UNLOCKED(NULL, op->pending > 0);
    if (--store->hold == 0 && !QTAILQ_EMPTY(&store->ended)) {
        qemu_bh_schedule(store->bh);
    }
}

static void block_cleanup(ZdStore *store)
{
    qemu_bh_delete(store->bh);
}

static const ZdStoreKind block_kind = {
    .read = block_read,
    .write = block_write,
    .zero = block_zero,
    .flush = block_flush,
    .cancel = block_cancel,
    .cleanup = block_cleanup,
};

/* Set up */

static const char *node_name(BlockBackend *blk)
{
    return *blk_name(blk) || !blk_bs(blk) ? blk_name(blk) :
           bdrv_get_device_or_node_name(blk_bs(blk));
}

int64_t zd_store_node_bytes(BlockBackend *blk, Error **errp)
{
    int64_t len;

    if (!blk_is_inserted(blk)) {
        error_setg(errp, "drive '%s' holds no image", node_name(blk));
        return -ENOMEDIUM;
    }
    len = blk_getlength(blk);
    if (len < 0) {
        error_setg_errno(errp, -len, "cannot tell the length of drive '%s'",
                         node_name(blk));
    }
    return len;
}

static bool node_policy_ok(BlockBackend *blk, Error **errp)
{
    BlockdevOnError rerror = blk_get_on_error(blk, true);
    BlockdevOnError werror = blk_get_on_error(blk, false);

    if (rerror != BLOCKDEV_ON_ERROR_REPORT) {
        error_setg(errp, "drive '%s': rerror=%s is not supported, the card "
                   "always reports errors; use rerror=report",
                   node_name(blk), BlockdevOnError_str(rerror));
        return false;
    }
    if (werror != BLOCKDEV_ON_ERROR_REPORT &&
        werror != BLOCKDEV_ON_ERROR_ENOSPC) {
        error_setg(errp, "drive '%s': werror=%s is not supported, the card "
                   "always reports errors; use werror=report",
                   node_name(blk), BlockdevOnError_str(werror));
        return false;
    }
    return true;
}

static bool node_setup(BlockBackend *blk, uint64_t need, Error **errp)
{
    int64_t len = zd_store_node_bytes(blk, errp);

    if (len < 0 || !node_policy_ok(blk, errp)) {
        return false;
    }
    if (!blk_supports_write_perm(blk)) {
        error_setg(errp, "drive '%s' is read-only; the card needs to write",
                   node_name(blk));
        return false;
    }
    if (len < need) {
        error_setg(errp, "drive '%s' is too short: it has %" PRId64 " bytes, "
                   "the card needs %" PRIu64 "; 'qemu-img resize FILE %" PRIu64
                   "' makes it long enough", node_name(blk), len, need, need);
        return false;
    }
    /* as hw/block/block.c: nobody else writes, nobody resizes */
    if (blk_set_perm(blk, BLK_PERM_CONSISTENT_READ | BLK_PERM_WRITE,
                     BLK_PERM_CONSISTENT_READ | BLK_PERM_WRITE_UNCHANGED,
                     errp) < 0) {
        return false;
    }
    blk_set_on_error(blk, BLOCKDEV_ON_ERROR_REPORT, BLOCKDEV_ON_ERROR_REPORT);
    return true;
}

bool zd_store_block_setup(ZdStore *store, const ZdStoreConfig *cfg,
                          Error **errp)
{
    if (cfg->volume &&
        !node_setup(cfg->volume, zd_volume_bytes(cfg->members,
                                                 cfg->member_bytes), errp)) {
        return false;
    }
    for (unsigned i = 0; i < cfg->members; i++) {
        if (!cfg->volume && !node_setup(cfg->member[i], cfg->member_bytes,
                                        errp)) {
            return false;
        }
        store->blk[i] = cfg->volume ?: cfg->member[i];
    }
    store->kind = &block_kind;
    store->stripes = cfg->volume ? cfg->members : 1;
    store->sync = icount_enabled();
    store->bh = qemu_bh_new(block_ended_bh, store);
    QTAILQ_INIT(&store->ended);
    QSLIST_INIT(&store->guards);
    return true;
}

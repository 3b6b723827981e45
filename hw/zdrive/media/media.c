/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The medium of one SSD: a command is done when its data has been moved by the
 * store *and* its deadline has come.  The deadline is one fixed latency after
 * the start, the same for every command, until the flash model decides; with
 * timing=off there is none.
 *
 * One virtual timer per medium serves a list of requests in order of their
 * deadlines.  Whoever calls done may find new requests, or fewer, on the medium
 * afterwards, so nothing here holds on to a list position or to a request over
 * that call.
 */
#include "qemu/osdep.h"
#include "hw/zdrive/journal.h"
#include "internal.h"

#define ZD_MEDIA_LATENCY_NS     100000

/* Verify reads the medium through a buffer of this size. */
#define ZD_VERIFY_BYTES         (1024 * 1024)

/* Time */

static void media_arm(ZdMedia *media)
{
    ZdRequest *first = QTAILQ_FIRST(&media->deadlines);

    if (first) {
        timer_mod(media->timer, first->media.deadline_ns);
    } else {
        timer_del(media->timer);
    }
}

static void media_finish(ZdRequest *req)
{
    ZdMediaOp *op = &req->media;

    op->active = false;
    zd_journal_complete(req, op->ret);
    op->done(req, op->ret);
}

static void media_timer(void *opaque)
{
    ZdMedia *media = opaque;
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    ZdRequest *req;

    while ((req = QTAILQ_FIRST(&media->deadlines)) != NULL &&
           req->media.deadline_ns <= now) {
        QTAILQ_REMOVE(&media->deadlines, req, media.next);
        req->media.waiting = false;
        if (!req->media.data_pending) {
            media_finish(req);
        }
    }
    media_arm(media);
}

static void media_wait(ZdMedia *media, ZdRequest *req, int64_t deadline_ns)
{
    ZdRequest *before;

    req->media.waiting = true;
    req->media.deadline_ns = deadline_ns;
    /* nearly always at the end */
    QTAILQ_FOREACH_REVERSE(before, &media->deadlines, media.next) {
        if (before->media.deadline_ns <= req->media.deadline_ns) {
            QTAILQ_INSERT_AFTER(&media->deadlines, before, req, media.next);
            return;
        }
    }
    QTAILQ_INSERT_HEAD(&media->deadlines, req, media.next);
    media_arm(media);
}

static void media_start(ZdMedia *media, ZdRequest *req, ZdMediaDone *done)
{
    ZdMediaOp *op = &req->media;

    op->done = done;
    op->media = media;
    op->active = true;
    op->waiting = false;
    op->data_pending = false;
    op->mapped = false;
    op->ret = 0;
    op->bounce = NULL;
    op->step = NULL;
    op->stepping = false;
    op->ranges = NULL;
    op->journal_id = 0;
    if (media->timed || op->extra_ns) {
        media_wait(media, req, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) +
                               (media->timed ? ZD_MEDIA_LATENCY_NS : 0) +
                               op->extra_ns);
    }
}

/* Data */

/* The data of @req has been moved, or will not be (@ret). */
static void media_data_end(ZdRequest *req, int ret, uint64_t error_lba)
{
    ZdMediaOp *op = &req->media;

    op->data_pending = false;
    op->ret = ret;
    op->error_lba = error_lba;
    g_free(op->ranges);
    op->ranges = NULL;
    if (!op->waiting) {
        media_finish(req);
    }
}

/* True when @req has to fail; then it has, or will at its deadline. */
static bool media_forced_end(ZdRequest *req)
{
    ZdMediaOp *op = &req->media;

    if (!op->forced_ret) {
        return false;
    }
    media_data_end(req, op->forced_ret, op->forced_lba);
    return true;
}

/* The store is through with a read, a write or a flush. */
static void media_store_done(void *opaque, int ret)
{
    ZdRequest *req = opaque;
    ZdMediaOp *op = &req->media;
    uint64_t error_lba = op->store.error_offset / ZD_SECTOR_SIZE;
    int dma;

    dma = zd_dma_end(req, ret == 0);
    if (ret == 0 && dma < 0) {
        ret = dma;
        error_lba = op->offset / ZD_SECTOR_SIZE;
    }
    media_data_end(req, ret, error_lba);
}

/* True when the store may begin; else the request has ended. */
static bool media_data_begin(ZdRequest *req, uint64_t lba, uint32_t sectors,
                             bool to_guest)
{
    ZdMediaOp *op = &req->media;
    int ret;

    if (media_forced_end(req)) {
        return false;
    }
    op->offset = lba * ZD_SECTOR_SIZE;
    op->bytes = (uint64_t)sectors * ZD_SECTOR_SIZE;
    op->data_pending = true;
    op->store.done = media_store_done;
    op->store.opaque = req;

    ret = zd_dma_begin(req, to_guest);
    if (ret < 0) {
        media_data_end(req, ret, lba);
    }
    return ret == 0;
}

void zd_media_read(ZdMedia *media, ZdRequest *req, uint64_t lba,
                   uint32_t sectors, ZdMediaDone *done)
{
    ZdMediaOp *op = &req->media;

    media->sectors_read += sectors;
    media_start(media, req, done);
    if (media_data_begin(req, lba, sectors, true)) {
        zd_store_read(media->store, media->member, op->offset, &op->iov,
                      &op->store);
    }
}

void zd_media_write(ZdMedia *media, ZdRequest *req, uint64_t lba,
                    uint32_t sectors, bool through, ZdMediaDone *done)
{
    ZdMediaOp *op = &req->media;

    media->sectors_written += sectors;
    media_start(media, req, done);
    if (media_data_begin(req, lba, sectors, false)) {
        zd_journal_write(media, req, lba, sectors, through);
        zd_store_write(media->store, media->member, op->offset, &op->iov,
                       through, &op->store);
    }
}

void zd_media_flush(ZdMedia *media, ZdRequest *req, ZdMediaDone *done)
{
    ZdMediaOp *op = &req->media;

    media->flushes++;
    media_start(media, req, done);
    if (media_forced_end(req)) {
        return;
    }
    op->data_pending = true;
    op->store.done = media_store_done;
    op->store.opaque = req;
    zd_journal_flush(media, req);
    zd_store_flush(media->store, media->member, &op->store);
}

void zd_media_delay(ZdMedia *media, ZdRequest *req, ZdMediaDone *done)
{
    media_start(media, req, done);
    if (!req->media.waiting) {
        media_finish(req);
    }
}

/* Commands of several store operations, one after the other */

static void zd_media_guard(ZdRequest *req, ZdMediaGuard *guard)
{
    guard->req = req;
    guard->gone = false;
    QSLIST_INSERT_HEAD(&req->media.media->guards, guard, next);
}

/* True when the request is gone and must not be touched any more. */
static bool zd_media_unguard(ZdMedia *media, ZdMediaGuard *guard)
{
    QSLIST_REMOVE_HEAD(&media->guards, next);
    return guard->gone;
}

/*
 * A loop, because the store may end each operation within its call: then
 * media_step_done() only clears data_pending and the next turn goes on.
 */
static void media_steps(ZdRequest *req)
{
    ZdMediaOp *op = &req->media;
    ZdMedia *media = op->media;
    bool more = op->ret == 0;

    while (more) {
        ZdMediaGuard guard;

        op->data_pending = true;
        op->stepping = true;
        zd_media_guard(req, &guard);
        more = op->step(req);
        if (zd_media_unguard(media, &guard)) {
            return;
        }
        op->stepping = false;
        if (more && op->data_pending) {
            return;
        }
        more = more && op->ret == 0;
    }

    g_free(op->bounce);
    op->bounce = NULL;
    media_data_end(req, op->ret, op->error_lba);
}

static void media_step_done(void *opaque, int ret)
{
    ZdRequest *req = opaque;
    ZdMediaOp *op = &req->media;

    op->data_pending = false;
    op->ret = ret;
    op->error_lba = op->store.error_offset / ZD_SECTOR_SIZE;
    if (!op->stepping) {
        media_steps(req);
    }
}

static bool verify_step(ZdRequest *req)
{
    ZdMediaOp *op = &req->media;
    uint64_t offset = op->offset;
    uint64_t bytes = MIN(op->bytes, ZD_VERIFY_BYTES);

    if (!bytes) {
        return false;
    }
    op->offset += bytes;
    op->bytes -= bytes;
    qemu_iovec_init_buf(&op->iov, op->bounce, bytes);
    zd_store_read(op->media->store, op->media->member, offset, &op->iov,
                  &op->store);
    return true;
}

void zd_media_verify(ZdMedia *media, ZdRequest *req, uint64_t lba,
                     uint32_t sectors, ZdMediaDone *done)
{
    ZdMediaOp *op = &req->media;

    media_start(media, req, done);
    if (media_forced_end(req)) {
        return;
    }
    op->offset = lba * ZD_SECTOR_SIZE;
    op->bytes = (uint64_t)sectors * ZD_SECTOR_SIZE;
    op->bounce = g_malloc(MIN(op->bytes, ZD_VERIFY_BYTES));
    op->step = verify_step;
    op->store.done = media_step_done;
    op->store.opaque = req;
    media_steps(req);
}

static bool trim_step(ZdRequest *req)
{
    ZdMediaOp *op = &req->media;
    const ZdRange *range = (const ZdRange *)op->ranges + op->range;

    if (op->range == op->range_count) {
        return false;
    }
    op->range++;
    op->media->sectors_trimmed += range->sectors;
    zd_store_zero(op->media->store, op->media->member,
                  range->lba * ZD_SECTOR_SIZE,
                  (uint64_t)range->sectors * ZD_SECTOR_SIZE, &op->store);
    return true;
}

void zd_media_trim(ZdMedia *media, ZdRequest *req, const ZdRange *ranges,
                   unsigned count, ZdMediaDone *done)
{
    ZdMediaOp *op = &req->media;

    media_start(media, req, done);
    op->ranges = g_memdup2(ranges, count * sizeof(*ranges));
    op->range = 0;
    op->range_count = count;
    op->step = trim_step;
    zd_journal_trim(media, req, ranges, count);
    op->store.done = media_step_done;
    op->store.opaque = req;
    media_steps(req);
}

/* Migration */

void zd_media_restore(ZdMedia *media, ZdRequest *req, ZdMediaDone *done)
{
    ZdMediaOp *op = &req->media;

    op->media = media;
    op->done = done;
    if (op->waiting) {
        media_wait(media, req, op->deadline_ns);
    }
}

/* The other way to end */

void zd_media_cancel(ZdMedia *media, ZdRequest *req)
{
    ZdMediaOp *op = &req->media;
    ZdMediaGuard *guard;

    if (!op->active) {
        return;
    }
    op->active = false;
    zd_journal_abort(req);
    if (op->waiting) {
        QTAILQ_REMOVE(&media->deadlines, req, media.next);
        op->waiting = false;
        media_arm(media);
    }
    QSLIST_FOREACH(guard, &media->guards, next) {
        if (guard->req == req) {
            guard->gone = true;
        }
    }
    if (op->data_pending) {
        op->data_pending = false;
        zd_store_cancel(media->store, &op->store);
        zd_dma_end(req, false);
    }
    g_free(op->ranges);
    op->ranges = NULL;
}

void zd_media_init(ZdMedia *media, ZdStore *store, unsigned member,
                   uint64_t sectors, bool timed)
{
    *media = (ZdMedia) {
        .store = store,
        .member = member,
        .sectors = sectors,
        .timed = timed,
    };
    QTAILQ_INIT(&media->deadlines);
    QSLIST_INIT(&media->guards);
    media->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, media_timer, media);
}

/* The link has aborted every request before. */
void zd_media_cleanup(ZdMedia *media)
{
    assert(QTAILQ_EMPTY(&media->deadlines));
    timer_free(media->timer);
    media->timer = NULL;
}

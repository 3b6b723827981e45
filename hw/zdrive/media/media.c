/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The medium of one SSD: a command is done when its data has been moved by the
 * store *and* its deadline has come.  The deadline is the flash model's
 * (timing.c); with timing=off there is none.
 *
 * One virtual timer per medium serves a list of requests in order of their
 * deadlines.  Whoever calls done may find new requests, or fewer, on the medium
 * afterwards, so nothing here holds on to a list position or to a request over
 * that call.
 */
#include "qemu/osdep.h"
#include "hw/zdrive/journal.h"
#include "internal.h"

/* Verify reads the medium through a buffer of this size. */
#define ZD_VERIFY_BYTES         (1024 * 1024)

/* Time */

static void media_arm(ZdMedia *media)
{
    ZdRequest *first = QTAILQ_FIRST(&media->deadlines);

    if (first && !media->frozen) {
        timer_mod(media->timer, first->media.deadline_ns);
    } else {
        timer_del(media->timer);
    }
}

/* A host that is too slow for the model shows; under icount it never is. */
static void media_count_late(ZdMedia *media, const ZdMediaOp *op)
{
    int64_t late = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - op->deadline_ns;

    if (late > ZD_LATE_NS) {
        media->late++;
        media->late_max_ns = MAX(media->late_max_ns, late);
    }
}

/* What the end of a command means for a power cut after it. */
static void media_settle(ZdMediaOp *op, bool told)
{
    ZdVolatile *risk = &op->media->risk;
    bool good = told && op->ret == 0;

    if (op->write) {
        zd_volatile_end(risk, op->write, good, op->through);
        op->write = NULL;
    }
    if (op->flush_seq && good) {
        zd_volatile_flushed(risk, op->flush_seq);
    }
    op->flush_seq = 0;
}

static void media_event(ZdRequest *req, bool ended)
{
    ZdMedia *media = req->media.media;

    if (media->event) {
        media->event(media->event_opaque, media->member, req, ended);
    }
}

static void media_finish(ZdRequest *req)
{
    ZdMediaOp *op = &req->media;

    op->active = false;
    if (op->timed) {
        media_count_late(op->media, op);
    }
    op->media->busy -= op->busy;
    media_settle(op, true);
    media_event(req, true);
    zd_journal_complete(req, op->ret);
    op->done(req, op->ret);
}

static void media_timer(void *opaque)
{
    ZdMedia *media = opaque;
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    ZdRequest *req;

    while (!media->frozen &&
           (req = QTAILQ_FIRST(&media->deadlines)) != NULL &&
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
    op->timed = false;
    op->busy = false;
    op->waiting = false;
    op->data_pending = false;
    op->mapped = false;
    op->ret = 0;
    op->bounce = NULL;
    op->step = NULL;
    op->stepping = false;
    op->ranges = NULL;
    op->write = NULL;
    op->write_seq = 0;
    op->reading_old = false;
    op->store.quiet = false;
    op->flush_seq = 0;
    op->journal_id = 0;
}

/* Reads and writes are what the model calls the depth of the queue. */
static void media_start_data(ZdMedia *media, ZdRequest *req, ZdMediaDone *done)
{
    media_start(media, req, done);
    req->media.busy = true;
    media->busy++;
}

/*
 * From here on the time of @req runs.  A command may take longer on purpose,
 * also with timing=off.
 */
static void media_time(ZdRequest *req, const ZdTiming *t)
{
    ZdMediaOp *op = &req->media;
    int64_t end = zd_timing(op->media, t);

    op->kind = t->kind;
    op->timed = op->media->flash || op->extra_ns;
    if (op->timed) {
        media_wait(op->media, req, end + op->extra_ns);
    }
    media_event(req, false);
}

static void media_time_short(ZdRequest *req)
{
    media_time(req, &(ZdTiming) { .kind = ZD_MEDIA_SHORT });
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
    if (!op->waiting && !op->media->frozen) {
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
    media_time_short(req);
    media_data_end(req, op->forced_ret, op->forced_lba);
    return true;
}

/* True when a power cut has left sectors of it unreadable; as above. */
static bool media_bad_end(ZdRequest *req, uint64_t lba, uint32_t sectors)
{
    uint64_t first;

    if (!zd_bad_find(&req->media.media->risk, lba, sectors, &first)) {
        return false;
    }
    media_time(req, &(ZdTiming) {
        .kind = ZD_MEDIA_VERIFY,
        .lba = lba,
        .sectors = sectors,
    });
    media_data_end(req, -EIO, first);
    return true;
}

/* The store is through with a read, a write or a flush. */
static void media_store_done(void *opaque, int ret)
{
    ZdRequest *req = opaque;
    ZdMediaOp *op = &req->media;
    uint64_t error_lba = op->store.error_offset / ZD_SECTOR_SIZE;
    int dma;

    if (op->write) {
        zd_volatile_written(&op->media->risk, op->write);
        if (ret == 0) {
            zd_bad_clear(&op->media->risk, op->write->lba, op->write->sectors);
        }
    }
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
        media_time_short(req);
        media_data_end(req, ret, lba);
    }
    return ret == 0;
}

void zd_media_read(ZdMedia *media, ZdRequest *req, uint64_t lba,
                   uint32_t sectors, ZdMediaDone *done)
{
    ZdMediaOp *op = &req->media;

    media->sectors_read += sectors;
    media_start_data(media, req, done);
    if (!media_bad_end(req, lba, sectors) &&
        media_data_begin(req, lba, sectors, true)) {
        media_time(req, &(ZdTiming) {
            .kind = ZD_MEDIA_READ,
            .lba = lba,
            .sectors = sectors,
        });
        zd_store_read(media->store, media->member, op->offset, &op->iov,
                      &op->store);
    }
}

static void media_write_now(ZdRequest *req)
{
    ZdMediaOp *op = &req->media;
    ZdMedia *media = op->media;

    op->store.done = media_store_done;
    zd_store_write(media->store, media->member, op->offset, &op->iov,
                   op->through, &op->store);
}

/* What was there has been read; what cannot be read cannot come back. */
static void media_old_done(void *opaque, int ret)
{
    ZdRequest *req = opaque;
    ZdMediaOp *op = &req->media;

    if (ret < 0) {
        zd_volatile_forget_old(&op->media->risk, op->write);
    }
    op->reading_old = false;
    op->store.quiet = false;
    media_write_now(req);
}

/* Keep what a write covers, before it does, until the SSD has it safe. */
static void media_write_over(ZdRequest *req)
{
    ZdMediaOp *op = &req->media;
    ZdMedia *media = op->media;

    if (!op->write || !op->write->old) {
        media_write_now(req);
        return;
    }
    op->reading_old = true;
    op->store.quiet = true;
    op->store.done = media_old_done;
    qemu_iovec_init_buf(&op->old_iov, op->write->old, op->bytes);
    zd_store_read(media->store, media->member, op->offset, &op->old_iov,
                  &op->store);
}

void zd_media_write(ZdMedia *media, ZdRequest *req, uint64_t lba,
                    uint32_t sectors, bool through, ZdMediaDone *done)
{
    ZdMediaOp *op = &req->media;

    media->sectors_written += sectors;
    media_start_data(media, req, done);
    if (media_data_begin(req, lba, sectors, false)) {
        zd_journal_write(media, req, lba, sectors, through);
        if (media->flash) {
            op->write = zd_volatile_add(&media->risk, media->flash,
                                        qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL),
                                        lba, sectors);
            op->write_seq = op->write->seq;
        }
        media_time(req, &(ZdTiming) {
            .kind = ZD_MEDIA_WRITE,
            .lba = lba,
            .sectors = sectors,
            .through = through,
            .iov = &op->iov,
            .programs = op->write ? op->write->programs : NULL,
        });
        op->through = through;
        media_write_over(req);
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
    op->flush_seq = media->risk.seq;
    media_time(req, &(ZdTiming) { .kind = ZD_MEDIA_FLUSH });
    op->data_pending = true;
    op->store.done = media_store_done;
    op->store.opaque = req;
    zd_journal_flush(media, req);
    zd_store_flush(media->store, media->member, &op->store);
}

void zd_media_delay(ZdMedia *media, ZdRequest *req, ZdMediaDone *done)
{
    media_start(media, req, done);
    media_time_short(req);
    if (!req->media.waiting && !media->frozen) {
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

    media_start_data(media, req, done);
    if (media_forced_end(req) || media_bad_end(req, lba, sectors)) {
        return;
    }
    media_time(req, &(ZdTiming) {
        .kind = ZD_MEDIA_VERIFY,
        .lba = lba,
        .sectors = sectors,
    });
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

static void media_zero(ZdRequest *req, const ZdRange *ranges, unsigned count)
{
    ZdMediaOp *op = &req->media;

    op->ranges = g_memdup2(ranges, count * sizeof(*ranges));
    op->range = 0;
    op->range_count = count;
    op->step = trim_step;
    zd_journal_trim(op->media, req, ranges, count);
    op->store.done = media_step_done;
    op->store.opaque = req;
    media_steps(req);
}

void zd_media_trim(ZdMedia *media, ZdRequest *req, const ZdRange *ranges,
                   unsigned count, ZdMediaDone *done)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    media_start(media, req, done);
    for (unsigned i = 0; i < count; i++) {
        zd_volatile_trim(&media->risk, media->flash, now, ranges[i].lba,
                         ranges[i].sectors);
        zd_bad_clear(&media->risk, ranges[i].lba, ranges[i].sectors);
    }
    media_time(req, &(ZdTiming) {
        .kind = ZD_MEDIA_TRIM,
        .ranges = ranges,
        .range_count = count,
    });
    media_zero(req, ranges, count);
}

void zd_media_erase(ZdMedia *media, ZdRequest *req, ZdMediaDone *done)
{
    g_autofree ZdRange *ranges = NULL;
    unsigned n = 0;

    media_start(media, req, done);
    zd_volatile_clear(&media->risk);
    media_time(req, &(ZdTiming) { .kind = ZD_MEDIA_ERASE });
    ranges = g_new(ZdRange, media->sectors / UINT32_MAX + 1);
    for (uint64_t lba = 0; lba < media->sectors; lba += ranges[n++].sectors) {
        ranges[n].lba = lba;
        ranges[n].sectors = MIN(media->sectors - lba, UINT32_MAX);
    }
    media_zero(req, ranges, n);
}

/* Power */

void zd_media_freeze(ZdMedia *media)
{
    media->frozen = true;
    media_arm(media);
}

/* Migration */

void zd_media_restore(ZdMedia *media, ZdRequest *req, ZdMediaDone *done)
{
    ZdMediaOp *op = &req->media;

    op->media = media;
    op->done = done;
    media->busy += op->busy;
    op->write = zd_volatile_take(&media->risk, op->write_seq);
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
    media->busy -= op->busy;
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
        if (op->write && op->reading_old) {
            zd_volatile_undone(&media->risk, op->write);
            op->write = NULL;
        }
    }
    media_settle(op, false);
    g_free(op->ranges);
    op->ranges = NULL;
}

bool zd_media_init(ZdMedia *media, const ZdMediaConfig *cfg)
{
    ZdFlashOptions options = { .dies = cfg->dies };

    *media = (ZdMedia) {
        .store = cfg->store,
        .member = cfg->member,
        .sectors = cfg->sectors,
        .bridge = cfg->bridge,
        .journal = cfg->journal,
        .event = cfg->event,
        .event_opaque = cfg->event_opaque,
        .class_all = -1,
    };
    if (cfg->flash) {
        media->flash = zd_flash_new(cfg->flash, cfg->sectors, cfg->seed,
                                    &options);
        if (!media->flash) {
            return false;
        }
        media->classes = g_malloc(ZD_MAX_PAGES);
        if (cfg->stored >= 0) {
            media->class_all = zd_flash_class_of(media->flash, cfg->stored);
        }
    }
    zd_volatile_init(&media->risk);
    media->random = cfg->seed + cfg->member;
    QTAILQ_INIT(&media->deadlines);
    QSLIST_INIT(&media->guards);
    media->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, media_timer, media);
    return true;
}

/* The link has aborted every request before. */
void zd_media_cleanup(ZdMedia *media)
{
    assert(QTAILQ_EMPTY(&media->deadlines));
    timer_free(media->timer);
    media->timer = NULL;
    zd_volatile_cleanup(&media->risk);
    zd_flash_free(media->flash);
    g_free(media->classes);
}

void zd_media_counters(const ZdMedia *media, ZdFlashCounters *out)
{
    if (media->flash) {
        zd_flash_counters(media->flash, out);
        return;
    }
    /* without a model nothing wears, and a byte written is a byte stored */
    *out = (ZdFlashCounters) {
        .host_read_bytes = media->sectors_read * ZD_SECTOR_SIZE,
        .host_written_bytes = media->sectors_written * ZD_SECTOR_SIZE,
        .nand_written_bytes = media->sectors_written * ZD_SECTOR_SIZE,
        .life_left_percent = 100,
        .life_curve = 100,
    };
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The medium of one SSD: joins *when* a command is done (today one fixed
 * latency, later the flash model) with *what* it moves (store), and owns the
 * virtual timer.  Every call ends in exactly one req->media.done(req, ret),
 * possibly before the call returns, unless zd_media_cancel() comes first.
 * ret is 0, -EIO or another -errno of the block layer, or -EFAULT when the
 * scatter list points to no memory.
 */
#ifndef HW_ZDRIVE_MEDIA_H
#define HW_ZDRIVE_MEDIA_H

#include "qemu/timer.h"
#include "hw/zdrive/request.h"
#include "hw/zdrive/store.h"

typedef void ZdMediaDone(ZdRequest *req, int ret);

/* One range of a TRIM command, in sectors. */
typedef struct ZdRange {
    uint64_t lba;
    uint32_t sectors;
} ZdRange;

/*
 * On the stack of whoever works on a request and calls out meanwhile; tells
 * that the call cancelled it.
 */
typedef struct ZdMediaGuard {
    ZdRequest *req;
    bool gone;
    QSLIST_ENTRY(ZdMediaGuard) next;
} ZdMediaGuard;

typedef struct ZdMedia {
    ZdStore *store;
    unsigned member;
    uint64_t sectors;               /* capacity in 512-byte sectors */
    bool timed;                     /* timing=model; false: timing=off */
    QEMUTimer *timer;
    QTAILQ_HEAD(, ZdRequest) deadlines;     /* sorted by deadline_ns */
    QSLIST_HEAD(, ZdMediaGuard) guards;     /* innermost first */
    uint64_t bounce_bytes;          /* of commands whose data is copied */
    struct ZdJournal *journal;      /* or NULL; set after zd_media_init() */

    /* life-time counters for SMART and stats, in sectors and commands */
    uint64_t sectors_read;
    uint64_t sectors_written;
    uint64_t sectors_trimmed;
    uint64_t flushes;
} ZdMedia;

void zd_media_init(ZdMedia *media, ZdStore *store, unsigned member,
                   uint64_t sectors, bool timed);
void zd_media_cleanup(ZdMedia *media);

/* The caller has checked that [lba, lba + sectors) is on the medium. */
void zd_media_read(ZdMedia *media, ZdRequest *req, uint64_t lba,
                   uint32_t sectors, ZdMediaDone *done);
/* @through: done means stable (FUA, or the write cache is off). */
void zd_media_write(ZdMedia *media, ZdRequest *req, uint64_t lba,
                    uint32_t sectors, bool through, ZdMediaDone *done);
/* Read from the store without moving anything to the host. */
void zd_media_verify(ZdMedia *media, ZdRequest *req, uint64_t lba,
                     uint32_t sectors, ZdMediaDone *done);
void zd_media_flush(ZdMedia *media, ZdRequest *req, ZdMediaDone *done);
/* Trimmed sectors read as zeros.  @ranges is copied. */
void zd_media_trim(ZdMedia *media, ZdRequest *req, const ZdRange *ranges,
                   unsigned count, ZdMediaDone *done);
/* Nothing but the latency of a command that does not touch the medium. */
void zd_media_delay(ZdMedia *media, ZdRequest *req, ZdMediaDone *done);

/* Go on with a migrated request whose data has been moved already. */
void zd_media_restore(ZdMedia *media, ZdRequest *req, ZdMediaDone *done);

/* Synchronous; see ZdDeviceOps.abort.  Calls no request's done. */
void zd_media_cancel(ZdMedia *media, ZdRequest *req);

#endif

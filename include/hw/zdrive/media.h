/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The medium of one SSD: joins *when* a command is done (the flash model) with
 * *what* it moves (store), and owns the virtual timer.  Every call ends in
 * exactly one req->media.done(req, ret), possibly before the call returns,
 * unless zd_media_cancel() comes first.
 * ret is 0, -EIO or another -errno of the block layer, or -EFAULT when the
 * scatter list points to no memory.
 */
#ifndef HW_ZDRIVE_MEDIA_H
#define HW_ZDRIVE_MEDIA_H

#include "qemu/timer.h"
#include "migration/vmstate.h"
#include "hw/zdrive/flash.h"
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

/* What a medium is made of. */
typedef struct ZdMediaConfig {
    ZdStore *store;
    unsigned member;
    uint64_t sectors;               /* capacity in 512-byte sectors */
    /* NULL: timing=off, no command takes any time */
    const ZdFlashParams *flash;
    uint32_t dies;                  /* see zd_flash_dies() */
    uint64_t seed;
    ZdFlashCard *bridge;            /* that the SSDs of a card share */
    double stored;                  /* compress=fixed:X; < 0: of the data */
} ZdMediaConfig;

typedef struct ZdMedia {
    ZdStore *store;
    unsigned member;
    uint64_t sectors;
    ZdFlash *flash;                 /* NULL: timing=off */
    ZdFlashCard *bridge;
    int class_all;                  /* of all data, or -1 */
    uint8_t *classes;               /* of the pages of one write */
    QEMUTimer *timer;
    QTAILQ_HEAD(, ZdRequest) deadlines;     /* sorted by deadline_ns */
    QSLIST_HEAD(, ZdMediaGuard) guards;     /* innermost first */
    uint64_t bounce_bytes;          /* of commands whose data is copied */
    unsigned busy;                  /* reads and writes under way */

    /* life-time counters for SMART and stats, in sectors and commands */
    uint64_t sectors_read;
    uint64_t sectors_written;
    uint64_t sectors_trimmed;
    uint64_t flushes;
    /* commands that the host ended more than ZD_LATE_NS after their time */
    uint64_t late;
    uint64_t late_max_ns;
} ZdMedia;

#define ZD_LATE_NS          100000

extern const VMStateDescription zd_vmstate_media;
/* Of a field that is a pointer to a ZdFlashCard. */
extern const VMStateInfo zd_vmstate_info_flash_card;

/* False when the flash model cannot be that large; then there is no medium. */
bool zd_media_init(ZdMedia *media, const ZdMediaConfig *cfg);
void zd_media_cleanup(ZdMedia *media);

/*
 * Member "flash" of a struct that is being visited: counters and histograms
 * of the models of @count SSDs together.  Nothing with timing=off.
 */
void zd_media_visit_stats(Visitor *v, ZdFlash *const flash[], unsigned count);

/* As zd_flash_counters(); without a model, what the medium knows itself. */
void zd_media_counters(const ZdMedia *media, ZdFlashCounters *out);

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
/* All of the medium, as SECURITY ERASE UNIT: unwritten, and as new inside. */
void zd_media_erase(ZdMedia *media, ZdRequest *req, ZdMediaDone *done);
/* Nothing but the latency of a command that does not touch the medium. */
void zd_media_delay(ZdMedia *media, ZdRequest *req, ZdMediaDone *done);

/* Go on with a migrated request whose data has been moved already. */
void zd_media_restore(ZdMedia *media, ZdRequest *req, ZdMediaDone *done);

/* Synchronous; see ZdDeviceOps.abort.  Calls no request's done. */
void zd_media_cancel(ZdMedia *media, ZdRequest *req);

#endif

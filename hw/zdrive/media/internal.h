/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of media/ share: how the medium reaches guest memory, and
 * when a command is done.
 */
#ifndef ZDRIVE_MEDIA_INTERNAL_H
#define ZDRIVE_MEDIA_INTERNAL_H

#include "hw/zdrive/media.h"

/*
 * Make op->iov of the first op->bytes of the request's scatter list: guest
 * pages where all of it is plain memory, else a bounce buffer (filled already
 * when the data goes to the medium).  0, -EFAULT or -ENOMEM.
 */
int zd_dma_begin(ZdRequest *req, bool to_guest);

/*
 * Give guest pages back; empty the bounce buffer into the guest when @good.
 * 0 or -EFAULT.
 */
int zd_dma_end(ZdRequest *req, bool good);

/* timing.c: what a command does, as far as its time depends on it. */
typedef enum ZdTimingKind {
    ZD_TIMING_SHORT,            /* the firmware answers by itself */
    ZD_TIMING_READ,
    ZD_TIMING_WRITE,
    ZD_TIMING_VERIFY,
    ZD_TIMING_FLUSH,
    ZD_TIMING_TRIM,
    ZD_TIMING_ERASE,
} ZdTimingKind;

typedef struct ZdTiming {
    ZdTimingKind kind;
    uint64_t lba;               /* read, write, verify */
    uint32_t sectors;
    bool through;               /* write */
    const QEMUIOVector *iov;    /* write: the data */
    const ZdRange *ranges;      /* trim */
    unsigned range_count;
} ZdTiming;

/*
 * Give a command to the flash model; when the host sees its end, in ns of
 * virtual time.  That is now with timing=off.
 */
int64_t zd_timing(ZdMedia *media, const ZdTiming *t);

/*
 * classes.c: how well the data of [lba, lba + sectors) in @iov compresses, one
 * class for each 4 KiB page of the medium that it touches.
 */
void zd_classify(const ZdFlash *flash, const QEMUIOVector *iov, uint64_t lba,
                 uint32_t sectors, uint8_t *classes);

#endif

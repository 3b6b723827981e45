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

/* That one write can touch: 65536 sectors that begin within a page. */
#define ZD_MAX_PAGES    (65536 * ZD_SECTOR_SIZE / ZD_FLASH_PAGE + 1)

/* Of data that writes have covered, kept for a power cut; of one medium. */
#define ZD_VOLATILE_BYTES   (16 * 1024 * 1024)

/* timing.c: what a command does, as far as its time depends on it. */
typedef struct ZdTiming {
    ZdMediaKind kind;
    uint64_t lba;               /* read, write, verify */
    uint32_t sectors;
    bool through;               /* write */
    const QEMUIOVector *iov;    /* write: the data */
    uint64_t *programs;         /* write: see ZdFlashCmd */
    const ZdRange *ranges;      /* trim */
    unsigned range_count;
} ZdTiming;

/*
 * Give a command to the flash model; when the host sees its end, in ns of
 * virtual time.  That is now with timing=off.
 */
int64_t zd_timing(ZdMedia *media, const ZdTiming *t);

/*
 * volatile.c: a write that begins, and how it ends.  zd_volatile_add() says
 * what was written over if its @old is filled in; zd_volatile_undone() is for
 * one that has not come to the image.
 */
ZdWrite *zd_volatile_add(ZdVolatile *v, const ZdFlash *flash, int64_t now,
                         uint64_t lba, uint32_t sectors);
void zd_volatile_forget_old(ZdVolatile *v, ZdWrite *w);
void zd_volatile_written(ZdVolatile *v, ZdWrite *w);
void zd_volatile_end(ZdVolatile *v, ZdWrite *w, bool acked, bool through);
void zd_volatile_undone(ZdVolatile *v, ZdWrite *w);
/*
 * The open write with @seq for the command that it is of, once; NULL when @seq
 * is 0.
 */
ZdWrite *zd_volatile_take(ZdVolatile *v, uint64_t seq);
/* The firmware writes down a trim before it answers. */
void zd_volatile_trim(ZdVolatile *v, const ZdFlash *flash, int64_t now,
                      uint64_t lba, uint32_t sectors);
/* All up to @seq is safe. */
void zd_volatile_flushed(ZdVolatile *v, uint64_t seq);
/* After a power cut: all that is left is safe. */
void zd_volatile_settle(ZdVolatile *v);
/* As after an erasure of everything. */
void zd_volatile_clear(ZdVolatile *v);
/* The same with writes of a stream whose commands have not come. */
void zd_volatile_drop(ZdVolatile *v);
void zd_volatile_init(ZdVolatile *v);
void zd_volatile_cleanup(ZdVolatile *v);
uint32_t zd_write_pages(const ZdWrite *w);
/* What it counts in ZdVolatile.bytes. */
uint64_t zd_write_bytes(const ZdWrite *w);

/* Programs between two writes of the map's journal; assumed. */
#define ZD_JOURNAL_PROGRAMS     32

/* Programs below this are in NAND, and the journal on NAND says so. */
uint64_t zd_volatile_journaled(const ZdFlash *flash, int64_t now);

/* Sectors that a power cut has left unreadable. */
void zd_bad_set(ZdVolatile *v, uint64_t page, unsigned mask);
/* The same for sectors [lba, end). */
void zd_bad_add(ZdVolatile *v, uint64_t lba, uint64_t end);
void zd_bad_clear(ZdVolatile *v, uint64_t lba, uint64_t sectors);
bool zd_bad_find(const ZdVolatile *v, uint64_t lba, uint64_t sectors,
                 uint64_t *first);

/*
 * classes.c: how well the data of [lba, lba + sectors) in @iov compresses, one
 * class for each 4 KiB page of the medium that it touches.
 */
void zd_classify(const ZdFlash *flash, const QEMUIOVector *iov, uint64_t lba,
                 uint32_t sectors, uint8_t *classes);

#endif

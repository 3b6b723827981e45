/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The medium of one SSD: joins *when* a command is done (the flash model) with
 * *what* it moves (store), owns the virtual timer, and knows what a power cut
 * takes back.  Every call ends in exactly one req->media.done(req, ret),
 * possibly before the call returns, unless zd_media_cancel() comes first.
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

/*
 * A request begins (its deadline is known) or has ended, well or not.  Nothing
 * may be started, cancelled or cut from here.
 */
typedef void ZdMediaEvent(void *opaque, unsigned member, const ZdRequest *req,
                          bool ended);

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
    struct ZdJournal *journal;      /* or NULL */
    ZdMediaEvent *event;            /* or NULL */
    void *event_opaque;
} ZdMediaConfig;

/* A write that a power cut could take back; see media/volatile.c. */
typedef struct ZdWrite {
    uint64_t seq;
    uint64_t lba;
    uint32_t sectors;
    bool open;                      /* its command has not ended */
    bool taken;                     /* that command is here */
    bool writing;                   /* the data is not in the image yet */
    bool acked;                     /* the host has heard that it is done */
    bool durable;                   /* so is everything below it */
    uint8_t *old;                   /* what it covers; NULL: not known */
    uint64_t *programs;             /* that carry its pages; NULL: a trim */
    QTAILQ_ENTRY(ZdWrite) next;
} ZdWrite;

typedef struct ZdVolatile {
    QTAILQ_HEAD(, ZdWrite) writes;  /* as they came */
    uint64_t seq;                   /* of the last one */
    uint64_t bytes;                 /* of all that is kept */
    unsigned writing;
    GHashTable *bad;                /* page to a bit for each dead sector */
} ZdVolatile;

/* What a power cut does to what it can take back. */
typedef enum ZdLoss {
    ZD_LOSS_RANDOM,                 /* any of it, by the seed */
    ZD_LOSS_NONE,
    ZD_LOSS_ALL,
    ZD_LOSS_ADVERSARIAL,            /* the oldest is lost, the newest stays */
} ZdLoss;

typedef struct ZdCutRules {
    ZdLoss loss;
    bool capacitor;                 /* the SSD has some */
    unsigned health;                /* of them, 0 to 100 % */
} ZdCutRules;

/* Of a full and healthy one: % of what a full write buffer needs. */
#define ZD_CAPACITOR_RESERVE        125

/* In pages of 4 KiB; one that was written twice counts twice. */
typedef struct ZdCutReport {
    uint64_t buffered, programming, journal_tail;   /* what was at risk */
    uint64_t saved;                 /* by the capacitors */
    uint64_t lost;                  /* older data is back */
    uint64_t lost_acknowledged;     /* of these, the host took as done */
    uint64_t unreadable;
} ZdCutReport;

typedef struct ZdMedia {
    ZdStore *store;
    unsigned member;
    uint64_t sectors;
    ZdFlash *flash;                 /* NULL: timing=off */
    ZdFlashCard *bridge;
    ZdMediaEvent *event;
    void *event_opaque;
    int class_all;                  /* of all data, or -1 */
    uint8_t *classes;               /* of the pages of one write */
    QEMUTimer *timer;
    QTAILQ_HEAD(, ZdRequest) deadlines;     /* sorted by deadline_ns */
    QSLIST_HEAD(, ZdMediaGuard) guards;     /* innermost first */
    uint64_t bounce_bytes;          /* of commands whose data is copied */
    struct ZdJournal *journal;      /* or NULL */
    unsigned busy;                  /* reads and writes under way */
    ZdVolatile risk;                /* what a power cut can take back */
    uint64_t random;                /* state of the generator of cuts */
    bool frozen;                    /* the supply fails: nothing is answered */

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
/* Of a field that is a ZdVolatile: only the sectors that are ruined. */
extern const VMStateInfo zd_vmstate_info_bad;

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

/*
 * The power is gone.  Every request has been cancelled before.  Waits for the
 * store.  With timing=off all that was written is safe.
 */
void zd_media_power_cut(ZdMedia *media, const ZdCutRules *rules,
                        ZdCutReport *report);
/* Where the chance of the next power cut starts. */
void zd_media_reseed(ZdMedia *media, uint64_t seed);
/*
 * Sectors that a power cut has left unreadable: ranges in ascending order, to
 * be freed; and all of them anew.
 */
ZdRange *zd_media_unreadable(const ZdMedia *media, unsigned *count);
void zd_media_set_unreadable(ZdMedia *media, const ZdRange *ranges,
                             unsigned count);
/*
 * The supply fails: what is under way goes on inside, but no command ends any
 * more until it is cancelled.
 */
void zd_media_freeze(ZdMedia *media);

/* Go on with a migrated request whose data has been moved already. */
void zd_media_restore(ZdMedia *media, ZdRequest *req, ZdMediaDone *done);

/* Synchronous; see ZdDeviceOps.abort.  Calls no request's done. */
void zd_media_cancel(ZdMedia *media, ZdRequest *req);

#endif

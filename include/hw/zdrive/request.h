/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one request type of the house.
 *
 * A bridge fills it in when it fetches a command, hands it to the link, and
 * owns it again when @complete runs or zd_link_abort() returns.  In between it
 * carries its scatter list, its deadline and its result; no layer keeps a
 * second copy of any of these.
 */
#ifndef HW_ZDRIVE_REQUEST_H
#define HW_ZDRIVE_REQUEST_H

#include "exec/memattrs.h"
#include "qemu/iov.h"
#include "qemu/queue.h"
#include "sysemu/dma.h"

#define ZD_SECTOR_SIZE      512
#define ZD_FIS_REG_LEN      20      /* Register FIS, both directions */

/*
 * Attributes of every DMA access of the house.  It goes to memory: an address
 * that belongs to registers, the card's own among them, is a bus error and
 * never a way back into the model.
 */
#define ZD_DMA_ATTRS        ((MemTxAttrs) { .memory = 1 })

/*
 * Move @len bytes between @buf and @addr, all of which has to be memory.
 * QEMU's own accesses to anything else fail, too, but each of them leaves a
 * line in its log of guest errors.
 */
MemTxResult zd_dma_rw(AddressSpace *as, dma_addr_t addr, void *buf,
                      dma_addr_t len, DMADirection dir);

typedef struct ZdLink ZdLink;
typedef struct ZdRequest ZdRequest;

/* How a request ended, as the bridge has to report it. */
typedef enum ZdOutcome {
    ZD_OUTCOME_GOOD,            /* @d2h holds a good status */
    ZD_OUTCOME_DEVICE_ERROR,    /* @d2h holds ERR or DF, and the error */
    ZD_OUTCOME_LINK_ERROR,      /* as before, because a frame was damaged */
    ZD_OUTCOME_LENGTH,          /* scatter list shorter than the transfer */
    ZD_OUTCOME_BUS_ERROR,       /* scatter list points to no memory */
} ZdOutcome;

/*
 * The part of a request that belongs to store/: one operation on the bytes of
 * a member, cut into at most one piece per 64 KiB chunk of the volume.
 */
typedef struct ZdStoreOp {
    void (*done)(void *opaque, int ret);
    void *opaque;
    struct ZdStore *store;
    BlockBackend *blk;
    BlockAcctCookie acct;       /* .type says what the operation is */
    bool quiet;                 /* the guest has not asked for it: no account */
    void *pieces;               /* NULL when one piece covers it all */
    unsigned pending;           /* block layer operations under way */
    int ret;                    /* 0 or the first -errno */
    uint64_t error_offset;      /* member offset of the piece that failed */
    bool ended;                 /* over, on the store's list, not yet done */
    QTAILQ_ENTRY(ZdStoreOp) next;
} ZdStoreOp;

/* Scatter entries that need no allocation. */
#define ZD_MEDIA_LOCAL_IOV  8

typedef enum ZdMediaKind {
    ZD_MEDIA_SHORT,             /* the firmware answers by itself */
    ZD_MEDIA_READ,
    ZD_MEDIA_WRITE,
    ZD_MEDIA_VERIFY,
    ZD_MEDIA_FLUSH,
    ZD_MEDIA_TRIM,
    ZD_MEDIA_ERASE,
} ZdMediaKind;

/* The part of a request that belongs to media/: when and what. */
typedef struct ZdMediaOp {
    /* set by the disk before the start: what shall go wrong */
    int64_t extra_ns;           /* takes so much longer */
    int forced_ret;             /* fails with this, if not 0, at ... */
    uint64_t forced_lba;
    void (*done)(ZdRequest *req, int ret);
    struct ZdMedia *media;
    uint8_t kind;               /* ZdMediaKind */
    int64_t deadline_ns;        /* QEMU_CLOCK_VIRTUAL; not done before */
    bool active;                /* between start and done or cancel */
    bool timed;                 /* ends at @deadline_ns if the host can */
    bool busy;                  /* counts for the depth of the queue */
    bool waiting;               /* on the medium's deadline list */
    bool data_pending;          /* the store works on it */
    bool to_guest;              /* direction of @iov */
    int ret;
    uint64_t offset;            /* member offset in bytes */
    uint64_t bytes;
    uint64_t error_lba;         /* valid when ret < 0 */
    struct ZdWrite *write;      /* what a power cut could take back of it */
    uint64_t write_seq;         /* its ZdWrite.seq, or 0 */
    bool reading_old;           /* the store reads what it will cover */
    bool through;               /* a write that is safe when it is done */
    uint64_t flush_seq;         /* a flush: all up to this write is safe then */
    QEMUIOVector old_iov;       /* what stood where it writes */
    QEMUIOVector iov;           /* guest pages, or @bounce */
    struct iovec local_iov[ZD_MEDIA_LOCAL_IOV];
    bool mapped;                /* @iov points to guest pages */
    void *bounce;               /* for what cannot be mapped */
    uint64_t bounced;           /* its length in the medium's account */
    bool (*step)(ZdRequest *req);   /* starts the next of several store ops */
    bool stepping;              /* @step is on the stack */
    void *ranges;               /* of a trim: what is left of it */
    unsigned range, range_count;
    uint64_t journal_id;        /* 0: not in the journal, or ended there */
    ZdStoreOp store;
    QTAILQ_ENTRY(ZdRequest) next;
} ZdMediaOp;

struct ZdRequest {
    ZdLink *link;

    /* filled in by the bridge */
    uint8_t fis[ZD_FIS_REG_LEN];    /* Register H2D FIS, SATA 3.0 10.3.4 */
    uint8_t cdb[16];                /* ATAPI or SCSI command */
    QEMUSGList sg;                  /* sg.size: bytes that the host offers */
    void (*complete)(ZdRequest *req);

    /* filled in by the device before it completes the request */
    ZdOutcome outcome;
    uint8_t d2h[ZD_FIS_REG_LEN];    /* Register D2H FIS, SATA 3.0 10.3.5 */

    /* link */
    bool queued;                    /* native queued: may run beside others */
    bool started;                   /* the device works on it */
    uint8_t resume;                 /* only while saved: ZdDeviceOps.save */
    QTAILQ_ENTRY(ZdRequest) next;

    /* device: what it keeps while the command runs */
    void *buffer;                   /* g_malloc()ed, freed at completion */
    uint32_t buffer_len;
    void (*finish)(ZdRequest *req, int ret);

    ZdMediaOp media;
};

#endif

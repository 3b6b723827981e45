/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of store/ share: the store itself and the table of functions
 * that tells its kinds apart.
 */
#ifndef ZDRIVE_STORE_INTERNAL_H
#define ZDRIVE_STORE_INTERNAL_H

#include "hw/zdrive/store.h"
#include "sparse.h"

/* As in store.h; store.c has checked that the range is on the member. */
typedef struct ZdStoreKind {
    void (*read)(ZdStore *store, unsigned member, uint64_t offset,
                 QEMUIOVector *qiov, ZdStoreOp *op);
    void (*write)(ZdStore *store, unsigned member, uint64_t offset,
                  QEMUIOVector *qiov, bool through, ZdStoreOp *op);
    void (*zero)(ZdStore *store, unsigned member, uint64_t offset,
                 uint64_t bytes, ZdStoreOp *op);
    void (*flush)(ZdStore *store, unsigned member, ZdStoreOp *op);
    void (*cancel)(ZdStore *store, ZdStoreOp *op);
    void (*cleanup)(ZdStore *store);
} ZdStoreKind;

/* On the stack of a synchronous call; tells that it cancelled @op. */
typedef struct ZdStoreGuard {
    ZdStoreOp *op;
    bool gone;
    QSLIST_ENTRY(ZdStoreGuard) next;
} ZdStoreGuard;

struct ZdStore {
    const ZdStoreKind *kind;
    unsigned members;
    uint64_t member_bytes;

    /* memory.c */
    ZdSparse *sparse[ZD_MAX_MEMBERS];

    /* block.c */
    BlockBackend *blk[ZD_MAX_MEMBERS];  /* the volume several times, or each */
    unsigned stripes;           /* members that share a node: all, or 1 */
    bool sync;                  /* icount: block layer called synchronously */
    QSLIST_HEAD(, ZdStoreGuard) guards;     /* innermost first */
    QEMUBH *bh;                 /* calls done of what is on @ended */
    unsigned hold;              /* not now: a cancel is under way */
    QTAILQ_HEAD(, ZdStoreOp) ended;
};

bool zd_store_memory_setup(ZdStore *store, const ZdStoreConfig *cfg,
                           Error **errp);
bool zd_store_block_setup(ZdStore *store, const ZdStoreConfig *cfg,
                          Error **errp);

#endif

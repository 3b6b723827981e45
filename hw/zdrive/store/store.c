/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store's front: chooses the kind, and keeps every operation on its member
 * whatever the layers above may have missed.
 */
#include "qemu/osdep.h"
#include "internal.h"
#include "volume-order.h"

QEMU_BUILD_BUG_ON(ZD_VOLUME_CHUNK != ZD_CHUNK_BYTES);

ZdStore *zd_store_new(const ZdStoreConfig *cfg, Error **errp)
{
    ZdStore *store = g_new0(ZdStore, 1);
    bool block = cfg->volume || cfg->member[0];

    assert(cfg->members >= 1 && cfg->members <= ZD_MAX_MEMBERS);
    store->members = cfg->members;
    store->member_bytes = cfg->member_bytes;

    if (!(block ? zd_store_block_setup : zd_store_memory_setup)(store, cfg,
                                                                errp)) {
        g_free(store);
        return NULL;
    }
    return store;
}

void zd_store_free(ZdStore *store)
{
    if (store) {
        store->kind->cleanup(store);
        g_free(store);
    }
}

uint64_t zd_store_volume_bytes(unsigned members, uint64_t member_bytes)
{
    return zd_volume_bytes(members, member_bytes);
}

static void op_begin(ZdStoreOp *op, uint64_t offset)
{
    op->pieces = NULL;
    op->pending = 0;
    op->ret = 0;
    op->error_offset = offset;
    op->ended = false;
}

/* The device checks ranges; this is the second fence before the image. */
static bool range_ok(ZdStore *store, unsigned member, uint64_t offset,
                     uint64_t bytes, ZdStoreOp *op)
{
    op_begin(op, offset);
    if (member < store->members && offset <= store->member_bytes &&
        bytes <= store->member_bytes - offset) {
        return true;
    }
    op->ret = -EIO;
    return false;
}

void zd_store_read(ZdStore *store, unsigned member, uint64_t offset,
                   QEMUIOVector *qiov, ZdStoreOp *op)
{
    if (range_ok(store, member, offset, qiov->size, op) && qiov->size) {
        store->kind->read(store, member, offset, qiov, op);
    } else {
        op->done(op->opaque, op->ret);
    }
}

void zd_store_write(ZdStore *store, unsigned member, uint64_t offset,
                    QEMUIOVector *qiov, bool through, ZdStoreOp *op)
{
    if (range_ok(store, member, offset, qiov->size, op) && qiov->size) {
        store->kind->write(store, member, offset, qiov, through, op);
    } else {
        op->done(op->opaque, op->ret);
    }
}

void zd_store_zero(ZdStore *store, unsigned member, uint64_t offset,
                   uint64_t bytes, ZdStoreOp *op)
{
    if (range_ok(store, member, offset, bytes, op) && bytes) {
        store->kind->zero(store, member, offset, bytes, op);
    } else {
        op->done(op->opaque, op->ret);
    }
}

void zd_store_flush(ZdStore *store, unsigned member, ZdStoreOp *op)
{
    op_begin(op, 0);
    store->kind->flush(store, member, op);
}

void zd_store_cancel(ZdStore *store, ZdStoreOp *op)
{
    store->kind->cancel(store, op);
}

uint64_t zd_store_memory_bytes(const ZdStore *store)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < ZD_MAX_MEMBERS; i++) {
        if (store->sparse[i]) {
            bytes += zd_sparse_memory_bytes(store->sparse[i]);
        }
    }
    return bytes;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A store in sparse memory: gone when QEMU exits.  Every operation ends within
 * the call that starts it; data is copied once, between guest and store pages.
 */
#include "qemu/osdep.h"
#include "internal.h"

static void memory_read(ZdStore *store, unsigned member, uint64_t offset,
                        QEMUIOVector *qiov, ZdStoreOp *op)
{
    for (int i = 0; i < qiov->niov; i++) {
        zd_sparse_read(store->sparse[member], offset, qiov->iov[i].iov_base,
                       qiov->iov[i].iov_len);
        offset += qiov->iov[i].iov_len;
    }
    op->done(op->opaque, 0);
}

static void memory_write(ZdStore *store, unsigned member, uint64_t offset,
                         QEMUIOVector *qiov, bool through, ZdStoreOp *op)
{
    for (int i = 0; i < qiov->niov; i++) {
        if (!zd_sparse_write(store->sparse[member], offset,
                             qiov->iov[i].iov_base, qiov->iov[i].iov_len)) {
            op->error_offset = offset;
            op->ret = -ENOMEM;
            break;
        }
        offset += qiov->iov[i].iov_len;
    }
    op->done(op->opaque, op->ret);
}

static void memory_zero(ZdStore *store, unsigned member, uint64_t offset,
                        uint64_t bytes, ZdStoreOp *op)
{
    zd_sparse_zero(store->sparse[member], offset, bytes);
    op->done(op->opaque, 0);
}

static void memory_flush(ZdStore *store, unsigned member, ZdStoreOp *op)
{
    op->done(op->opaque, 0);
}

static void memory_cancel(ZdStore *store, ZdStoreOp *op)
{
}

static void memory_cleanup(ZdStore *store)
{
    for (unsigned i = 0; i < store->members; i++) {
        zd_sparse_free(store->sparse[i]);
    }
}

static const ZdStoreKind memory_kind = {
    .read = memory_read,
    .write = memory_write,
    .zero = memory_zero,
    .flush = memory_flush,
    .cancel = memory_cancel,
    .cleanup = memory_cleanup,
};

bool zd_store_memory_setup(ZdStore *store, const ZdStoreConfig *cfg,
                           Error **errp)
{
    store->kind = &memory_kind;
    for (unsigned i = 0; i < cfg->members; i++) {
        store->sparse[i] = zd_sparse_new(cfg->member_bytes);
    }
    return true;
}

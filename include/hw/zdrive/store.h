/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes: where the data of a card's SSDs lives.
 *
 * Three kinds behind one interface: one block node for the whole card in
 * volume order, one node per member, or sparse memory.  In volume order, full
 * chunk c of member m of n lies at (c * n + m) * 64 KiB, exactly as
 * "mdadm --build --level=0 --chunk=64" sees the SSDs; what is left at the end
 * of each member after its last full chunk follows behind the last stripe,
 * member after member.
 *
 * With icount the block layer is called synchronously, so that the moment at
 * which the guest sees a result depends on virtual time alone; otherwise
 * asynchronously.  store.c is the only place that knows.
 */
#ifndef HW_ZDRIVE_STORE_H
#define HW_ZDRIVE_STORE_H

#include "migration/vmstate.h"
#include "sysemu/block-backend.h"
#include "hw/zdrive/request.h"

#define ZD_CHUNK_BYTES      65536
#define ZD_MAX_MEMBERS      8

typedef struct ZdStore ZdStore;

typedef struct ZdStoreConfig {
    unsigned members;               /* 1 to ZD_MAX_MEMBERS */
    uint64_t member_bytes;          /* a multiple of 512 */
    BlockBackend *volume;           /* or NULL */
    BlockBackend *member[ZD_MAX_MEMBERS];   /* all or none */
} ZdStoreConfig;

/*
 * Takes write permission on the nodes.  The back ends stay the caller's and
 * must outlive the store.  NULL and *errp on a read-only or too short node;
 * the message names the node, its length, the length needed and the remedy.
 */
ZdStore *zd_store_new(const ZdStoreConfig *cfg, Error **errp);
void zd_store_free(ZdStore *store);

/* Bytes that a volume node must hold for @members of @member_bytes. */
uint64_t zd_store_volume_bytes(unsigned members, uint64_t member_bytes);

/* Length of a node; negative and *@errp when it has none. */
int64_t zd_store_node_bytes(BlockBackend *blk, Error **errp);

/*
 * Start one operation; op->done(op->opaque, ret) runs when it has ended,
 * possibly before the call returns.  @qiov must live until then.
 */
void zd_store_read(ZdStore *store, unsigned member, uint64_t offset,
                   QEMUIOVector *qiov, ZdStoreOp *op);
void zd_store_write(ZdStore *store, unsigned member, uint64_t offset,
                    QEMUIOVector *qiov, bool through, ZdStoreOp *op);
void zd_store_zero(ZdStore *store, unsigned member, uint64_t offset,
                   uint64_t bytes, ZdStoreOp *op);
void zd_store_flush(ZdStore *store, unsigned member, ZdStoreOp *op);

/*
 * Wait until @op has ended without calling its done, nor that of any other
 * operation of the store.  Only between the start of @op and its done.
 */
void zd_store_cancel(ZdStore *store, ZdStoreOp *op);

/* The contents of a memory store; empty for block nodes, which are shared. */
extern const VMStateDescription zd_vmstate_store;

/* Bytes of host memory that a memory store holds (0 for block nodes). */
uint64_t zd_store_memory_bytes(const ZdStore *store);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest memory for the medium.  The store works in guest pages directly, so
 * that data is copied once or, with O_DIRECT images, never.  A scatter list
 * that cannot be mapped in whole (too many parts, ROM, with icount overlapping
 * entries) takes the slow path: one bounce buffer and an access per entry.
 */
#include "qemu/osdep.h"
#include "qemu/range.h"
#include "qemu/rcu.h"
#include "exec/memory.h"
#include "sysemu/cpu-timers.h"
#include "internal.h"

/* Longest transfer that an ATA command can name: 65536 sectors. */
#define ZD_DMA_MAX_BYTES    (65536ull * ZD_SECTOR_SIZE)

static DMADirection direction(const ZdMediaOp *op)
{
    return op->to_guest ? DMA_DIRECTION_FROM_DEVICE : DMA_DIRECTION_TO_DEVICE;
}

/* True when all of [base, base + len) up to a region's end is plain memory. */
static bool is_plain_memory(AddressSpace *as, dma_addr_t base, dma_addr_t *len,
                            bool is_write)
{
    hwaddr xlat;
    MemoryRegion *mr;

    RCU_READ_LOCK_GUARD();
    mr = address_space_translate(as, base, &xlat, len, is_write,
                                 MEMTXATTRS_UNSPECIFIED);
    return memory_access_is_direct(mr, is_write);
}

static bool is_memory(AddressSpace *as, dma_addr_t addr, dma_addr_t len,
                      bool is_write)
{
    RCU_READ_LOCK_GUARD();
    while (len) {
        hwaddr xlat, part = len;
        MemoryRegion *mr = address_space_translate(as, addr, &xlat, &part,
                                                   is_write, ZD_DMA_ATTRS);

        if (!memory_region_is_ram(mr)) {
            return false;
        }
        addr += part;
        len -= part;
    }
    return true;
}

MemTxResult zd_dma_rw(AddressSpace *as, dma_addr_t addr, void *buf,
                      dma_addr_t len, DMADirection dir)
{
    if (!is_memory(as, addr, len, dir == DMA_DIRECTION_FROM_DEVICE)) {
        return MEMTX_ACCESS_ERROR;
    }
    return dma_memory_rw(as, addr, buf, len, dir, ZD_DMA_ATTRS);
}

/*
 * With icount the result must not depend on the order in which the host fills
 * overlapping entries.  Lists in ascending order, all that drivers make, are
 * seen at one glance.
 */
static bool entries_overlap(const QEMUSGList *sg)
{
    const int most = 64;
    bool ascending = true;

    for (int i = 1; i < sg->nsg && ascending; i++) {
        ascending = sg->sg[i].base >= sg->sg[i - 1].base &&
                    sg->sg[i].base - sg->sg[i - 1].base >= sg->sg[i - 1].len;
    }
    if (ascending) {
        return false;
    }
    if (sg->nsg > most) {
        /* a close look would take longer than the slow path */
        return true;
    }
    for (int i = 0; i < sg->nsg; i++) {
        for (int j = 0; j < i; j++) {
            if (ranges_overlap(sg->sg[i].base, MAX(sg->sg[i].len, 1),
                               sg->sg[j].base, MAX(sg->sg[j].len, 1))) {
                return true;
            }
        }
    }
    return false;
}

static void unmap_all(ZdRequest *req, struct iovec *iov, int niov, bool touched)
{
    ZdMediaOp *op = &req->media;

    for (int i = 0; i < niov; i++) {
        dma_memory_unmap(req->sg.as, iov[i].iov_base, iov[i].iov_len,
                         direction(op), touched ? iov[i].iov_len : 0);
    }
    if (iov != op->local_iov) {
        g_free(iov);
    }
}

/*
 * Guest memory at @base, NULL when it is none.  Behind an IOMMU it may have
 * become something else since is_plain_memory() looked; then QEMU returns a
 * copy, which unmapping would write to where it came from.
 */
static void *map_memory(ZdRequest *req, dma_addr_t base, dma_addr_t *len)
{
    DMADirection dir = direction(&req->media);
    void *page = dma_memory_map(req->sg.as, base, len, dir, ZD_DMA_ATTRS);
    ram_addr_t offset;

    if (page && !memory_region_from_host(page, &offset)) {
        dma_memory_unmap(req->sg.as, page, *len, dir, 0);
        page = NULL;
    }
    return page;
}

/* False when any of it is not plain memory, or in too many parts. */
static bool map_all(ZdRequest *req)
{
    ZdMediaOp *op = &req->media;
    QEMUSGList *sg = &req->sg;
    struct iovec *iov = op->local_iov;
    unsigned room = ZD_MEDIA_LOCAL_IOV;
    unsigned niov = 0;
    uint64_t left = op->bytes;

    if (sg->nsg > IOV_MAX) {
        return false;
    }
    if (sg->nsg > room) {
        /* an entry may lie in more than one part of memory */
        room = MIN(2 * sg->nsg, IOV_MAX);
        iov = g_new(struct iovec, room);
    }
    for (int i = 0; i < sg->nsg && left; i++) {
        dma_addr_t base = sg->sg[i].base;
        uint64_t want = MIN(sg->sg[i].len, left);

        left -= want;
        while (want) {
            dma_addr_t len = want;
            void *page = NULL;

            if (niov < room && is_plain_memory(sg->as, base, &len,
                                               op->to_guest)) {
                len = want;
                page = map_memory(req, base, &len);
            }
            if (!page || !len) {
                unmap_all(req, iov, niov, false);
                return false;
            }
            iov[niov].iov_base = page;
            iov[niov].iov_len = len;
            niov++;
            base += len;
            want -= len;
        }
    }
    qemu_iovec_init_external(&op->iov, iov, niov);
    op->mapped = true;
    return true;
}

/* One access per entry between @buf and the scatter list. */
static int copy_slowly(ZdRequest *req, uint8_t *buf)
{
    ZdMediaOp *op = &req->media;
    uint64_t left = op->bytes;
    MemTxResult res = MEMTX_OK;

    for (int i = 0; i < req->sg.nsg && left && res == MEMTX_OK; i++) {
        uint64_t len = MIN(req->sg.sg[i].len, left);

        res = zd_dma_rw(req->sg.as, req->sg.sg[i].base, buf, len,
                        direction(op));
        buf += len;
        left -= len;
    }
    return res == MEMTX_OK ? 0 : -EFAULT;
}

/* All commands of an SSD together get no more than the longest one needs. */
static int bounce_begin(ZdRequest *req)
{
    ZdMediaOp *op = &req->media;
    ZdMedia *media = op->media;
    void *buf = NULL;
    int ret = 0;

    if (op->bytes <= ZD_DMA_MAX_BYTES - media->bounce_bytes) {
        /* never bytes of the host's heap to the guest: zeroed */
        buf = g_try_malloc0(op->bytes);
    }
    if (!buf) {
        return -ENOMEM;
    }
    if (!op->to_guest) {
        ret = copy_slowly(req, buf);
    }
    if (ret < 0) {
        g_free(buf);
        return ret;
    }
    op->bounce = buf;
    op->bounced = op->bytes;
    media->bounce_bytes += op->bounced;
    qemu_iovec_init_buf(&op->iov, buf, op->bytes);
    return 0;
}

int zd_dma_begin(ZdRequest *req, bool to_guest)
{
    ZdMediaOp *op = &req->media;

    op->to_guest = to_guest;
    op->mapped = false;
    op->bounce = NULL;
    if (req->sg.size < op->bytes || !req->sg.as) {
        return -EFAULT;
    }
    if (!(to_guest && icount_enabled() && entries_overlap(&req->sg)) &&
        map_all(req)) {
        return 0;
    }
    return bounce_begin(req);
}

int zd_dma_end(ZdRequest *req, bool good)
{
    ZdMediaOp *op = &req->media;
    void *buf = op->bounce;
    int ret = 0;

    if (op->mapped) {
        /* also what failed half way may have been written */
        op->mapped = false;
        unmap_all(req, op->iov.iov, op->iov.niov, true);
        return 0;
    }
    if (!buf) {
        return 0;
    }
    op->bounce = NULL;
    op->media->bounce_bytes -= op->bounced;
    op->bounced = 0;
    if (op->to_guest && good) {
        ret = copy_slowly(req, buf);
    }
    g_free(buf);
    return ret;
}

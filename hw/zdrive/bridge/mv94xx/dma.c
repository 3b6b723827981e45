/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chip's own DMA: rings, headers, tables and received FISes. */
#include "qemu/osdep.h"
#include "internal.h"

MemTxResult mv_dma_read(MvBridge *b, dma_addr_t addr, void *buf, size_t len)
{
    if (b->gone) {
        return MEMTX_DECODE_ERROR;
    }
    return pci_dma_rw(b->pci, addr, buf, len, DMA_DIRECTION_TO_DEVICE,
                      ZD_DMA_ATTRS);
}

MemTxResult mv_dma_write(MvBridge *b, dma_addr_t addr, const void *buf,
                         size_t len)
{
    if (b->gone) {
        return MEMTX_DECODE_ERROR;
    }
    return pci_dma_rw(b->pci, addr, (void *)buf, len,
                      DMA_DIRECTION_FROM_DEVICE, ZD_DMA_ATTRS);
}

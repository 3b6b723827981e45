/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chip's own DMA: rings, headers, tables and received FISes. */
#include "qemu/osdep.h"
#include "internal.h"

void mv_dma_failed(MvBridge *b)
{
    b->dma_failed = true;
    if (!(pci_get_word(b->pci->config + PCI_COMMAND) & PCI_COMMAND_MASTER)) {
        mv_guest_error(b, "DMA while bit 2 of the PCI command register (bus "
                       "master) is clear");
    }
}

static MemTxResult dma(MvBridge *b, dma_addr_t addr, void *buf, size_t len,
                       DMADirection dir)
{
    MemTxResult res;

    if (likely(!b->dma_failed)) {
        res = pci_dma_rw(b->pci, addr, buf, len, dir, ZD_DMA_ATTRS);
    } else {
        res = zd_dma_rw(pci_get_address_space(b->pci), addr, buf, len, dir);
    }
    if (unlikely(res != MEMTX_OK)) {
        mv_dma_failed(b);
    }
    return res;
}

MemTxResult mv_dma_read(MvBridge *b, dma_addr_t addr, void *buf, size_t len)
{
    if (b->gone) {
        return MEMTX_DECODE_ERROR;
    }
    return dma(b, addr, buf, len, DMA_DIRECTION_TO_DEVICE);
}

MemTxResult mv_dma_write(MvBridge *b, dma_addr_t addr, const void *buf,
                         size_t len)
{
    if (b->gone) {
        return MEMTX_DECODE_ERROR;
    }
    return dma(b, addr, (void *)buf, len, DMA_DIRECTION_FROM_DEVICE);
}

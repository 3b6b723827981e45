/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chip's own DMA: rings, headers, tables and received FISes.
 *
 * All of them live in memory.  An address that belongs to registers, the card's
 * own among them, is an error and never a way back into the model.
 */
#include "qemu/osdep.h"
#include "internal.h"

static const MemTxAttrs memory_only = { .memory = 1 };

MemTxResult mv_dma_read(MvBridge *b, dma_addr_t addr, void *buf, size_t len)
{
    return pci_dma_rw(b->pci, addr, buf, len, DMA_DIRECTION_TO_DEVICE,
                      memory_only);
}

MemTxResult mv_dma_write(MvBridge *b, dma_addr_t addr, const void *buf,
                         size_t len)
{
    return pci_dma_rw(b->pci, addr, (void *)buf, len,
                      DMA_DIRECTION_FROM_DEVICE, memory_only);
}

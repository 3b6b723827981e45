/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the 88SE9485 model share among themselves.
 */
#ifndef HW_ZDRIVE_MV94XX_INTERNAL_H
#define HW_ZDRIVE_MV94XX_INTERNAL_H

#include "mv94xx.h"

typedef struct MvHeader {
    uint32_t flags;
    uint32_t lens;
    uint32_t tags;
    uint32_t data_len;
    uint64_t cmd_tbl;
    uint64_t open_frame;
    uint64_t status_buf;
    uint64_t prd_tbl;
    uint64_t reserved[2];
} MvHeader;

QEMU_BUILD_BUG_ON(sizeof(MvHeader) != MV_HDR_SIZE);

/* One command in the chip: what a delivery descriptor and its header said. */
struct MvCommand {
    ZdRequest req;
    MvCore *core;
    uint16_t slot;
    uint8_t reg_set;
    dma_addr_t status_buf;
    /* only while migrating */
    uint8_t saved_core, saved_phy;
    QTAILQ_ENTRY(MvCommand) next_saved;
};

/* core.c */
uint32_t mv_core_read(MvCore *core, uint32_t offset);
void mv_core_write(MvCore *core, uint32_t offset, uint32_t val);
void mv_core_reset(MvCore *core);

/* The address in the register pair at @lo and @lo + 4. */
static inline dma_addr_t mv_reg64(const MvCore *core, uint32_t lo)
{
    return core->regs[lo / 4] | (uint64_t)core->regs[lo / 4 + 1] << 32;
}

/* ring.c */
/* True when a doorbell makes the chip fetch. */
bool mv_ring_enabled(const MvCore *core);
/* Fetch and start what the delivery ring holds. */
void mv_ring_run(MvCore *core);
/* tx_timer: the same, later. */
void mv_ring_go_on(void *opaque);
/* Post one completion descriptor. */
void mv_ring_post(MvCore *core, uint32_t entry);
/* The driver wrote @val to TX_PROD_IDX, which no entry of the ring has. */
void mv_ring_bad_doorbell(MvCore *core, uint32_t val);
/* Stop fetching; only a reset of the command issue starts it again. */
void mv_ring_stop(MvCore *core, uint32_t cause);
void mv_ring_late(void *opaque);
/* Forget a descriptor that is not yet out. */
void mv_ring_reset(MvCore *core);

/* command.c */
/* Start the command that delivery descriptor @desc names. */
void mv_command_start(MvCore *core, uint32_t desc);
/* COMMAND_ACTIVE abort: no completion, no access to its memory any more. */
void mv_command_abort(MvCore *core, unsigned slot);
/* Abort what no device has started yet. */
void mv_command_abort_unissued(MvCore *core);
void mv_command_free_all(MvBridge *b);
/* Go on with a command that came with a stream; false: it makes no sense. */
bool mv_command_restore(MvCommand *cmd, MvPhy *phy);
extern const ZdHostOps mv_host_ops;

/* phy.c */
uint32_t mv_phy_serial_read(MvPhy *phy);
void mv_phy_serial_write(MvCore *core, MvPhy *phy, uint32_t val);
uint32_t mv_phy_cfg_read(MvCore *core, MvPhy *phy);
void mv_phy_cfg_write(MvCore *core, MvPhy *phy, uint32_t val);
uint32_t mv_phy_vsr_read(MvCore *core, MvPhy *phy, uint32_t addr);
void mv_phy_vsr_write(MvCore *core, MvPhy *phy, uint32_t addr, uint32_t val);
void mv_phy_reset(MvCore *core, MvPhy *phy);
/*
 * A Control FIS with SRST set, or with SRST cleared: then true with the
 * signature in @fis, unless the device has not sent it yet.
 */
bool mv_phy_soft_reset(MvCore *core, MvPhy *phy, bool srst,
                       uint8_t fis[ZD_FIS_REG_LEN]);
/* Of ZdHostOps. */
void mv_phy_mistake(void *host, ZdLink *link, const ZdRequest *req,
                    const char *what);
void mv_phy_changed(void *host, ZdLink *link);
void mv_phy_signed_in(void *host, ZdLink *link);
void mv_phy_crc_error(void *host, ZdLink *link);

/* irq.c */
uint32_t mv_irq_core_status(MvCore *core);
uint32_t mv_irq_cause(MvBridge *b);
/* Bring the interrupt line in step; @again: send an MSI even without edge. */
void mv_irq_update(MvBridge *b, bool again);
/* Latch @bits in INT_STAT. */
void mv_irq_raise(MvCore *core, uint32_t bits);
/* One more completion: DONE now, or by the coalescing rules. */
void mv_irq_completion(MvCore *core);
void mv_irq_ack(MvCore *core, uint32_t bits);
void mv_irq_coal_reset(MvCore *core);
void mv_irq_coal_expired(void *opaque);

/* spi.c */
void mv_spi_init(MvSpi *spi);
void mv_spi_cleanup(MvSpi *spi);
uint32_t mv_spi_read(MvBridge *b, uint32_t offset);
void mv_spi_write(MvBridge *b, uint32_t offset, uint32_t val);

/* dma.c */
/* An address was no memory: maybe because there is none for this card. */
void mv_dma_failed(MvBridge *b);
MemTxResult mv_dma_read(MvBridge *b, dma_addr_t addr, void *buf, size_t len);
MemTxResult mv_dma_write(MvBridge *b, dma_addr_t addr, const void *buf,
                         size_t len);

/* mistake.c */
/* One LOG_GUEST_ERROR line, once per @fmt until the mistakes are forgotten. */
void mv_guest_error(MvBridge *b, const char *fmt, ...) G_GNUC_PRINTF(2, 3);
/* The same, once per @kind, which is the address of a text. */
void mv_guest_error_of(MvBridge *b, const char *kind, const char *fmt, ...)
    G_GNUC_PRINTF(3, 4);
/* Of the registers, when the first descriptor is about to be fetched. */
void mv_mistakes_of_start(MvCore *core);
/* Of a write of @val to TX_PROD_IDX. */
void mv_mistakes_of_doorbell(MvCore *core, uint32_t val);
/* Of a command that is about to go to @phy. */
void mv_mistakes_of_command(const MvCommand *cmd, const MvHeader *hdr,
                            const MvPhy *phy);

#endif

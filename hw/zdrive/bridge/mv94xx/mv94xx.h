/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Marvell 88SE9485 SAS/SATA bridge: two cores of four phys behind BAR 2.
 *
 * The card embeds one MvBridge, connects links to its phys, and gets its
 * interrupt line.  Everything here runs under the big lock.
 */
#ifndef HW_ZDRIVE_MV94XX_H
#define HW_ZDRIVE_MV94XX_H

#include "qemu/bitmap.h"
#include "qemu/timer.h"
#include "hw/pci/pci.h"
#include "hw/zdrive/link.h"
#include "regs.h"

typedef struct MvBridge MvBridge;
typedef struct MvCommand MvCommand;

typedef struct MvPhy {
    ZdLink *link;
    unsigned number;            /* in its core */
    bool ready;
    uint8_t rate;               /* 0: 1.5, 1: 3, 2: 6 Gb/s; valid when ready */
    uint32_t int_stat;
    uint32_t int_mask;
    uint32_t ser_limits;
    uint32_t cfg_addr;
    uint32_t vsr_addr;
    uint32_t cfg[MV_CFG_SIZE / 4];
    uint32_t vsr[MV_VSR_SIZE / 4];
} MvPhy;

typedef struct MvCore {
    MvBridge *bridge;
    unsigned number;
    MvPhy phy[MV_PHYS];

    uint32_t regs[MV_CORE_REGS_END / 4];    /* what reads back as written */
    uint32_t cmd[MV_CMD_SIZE / 4];

    uint16_t tx_cons;           /* last descriptor fetched */
    uint16_t rx_prod;           /* last entry written */
    bool tx_stopped;            /* by an error, until the next reset */
    bool tx_running;            /* mv_ring_run() is on the stack */
    QEMUTimer *tx_timer;        /* it goes on when others had their turn */
    bool done_unread;           /* DONE rose after the last INT_STAT read */

    /* a completion whose index is out, but whose descriptor is not yet */
    bool late;
    uint32_t late_index;
    uint32_t late_entry;
    QEMUTimer *late_timer;

    uint16_t coal_pending;      /* completions that wait for an interrupt */
    QEMUTimer *coal_timer;

    MvCommand *slot[MV_SLOTS];
    DECLARE_BITMAP(active, MV_SLOTS);
} MvCore;

#define MV_SPI_FLASH_SIZE   0x40000

/* Room for all kinds of mistakes that a driver can make. */
#define MV_MISTAKES         80

typedef struct MvSpi {
    uint32_t ctrl;
    uint32_t addr;
    uint32_t wr_data;
    uint32_t rd_data;
    bool write_enabled;
    uint8_t *flash;             /* MV_SPI_FLASH_SIZE bytes */
    /* called when a guest has changed the flash; NULL: nobody cares */
    void (*changed)(void *opaque, uint32_t addr, uint32_t len);
    void *opaque;
} MvSpi;

struct MvBridge {
    PCIDevice *pci;
    MemoryRegion bar0;
    MemoryRegion bar2;
    MvCore core[MV_CORES];
    MvSpi spi;
    uint32_t sgpio[MV_CORES][MV_SGPIO_SIZE / 4];
    uint32_t chip_config;
    uint32_t gbl_ctl;
    uint32_t gbl_int_enable;
    uint32_t gbl_mask[3];
    bool irq_level;
    bool asleep;                /* D3hot: no registers, no DMA, no interrupt */
    ZdFaults faults;
    uint64_t completions;
    uint64_t interrupts;
    bool gone;                  /* stopped: the card has left its slot */
    /* what was said of the driver since it was forgotten */
    const char *mistake[MV_MISTAKES];
    unsigned mistakes;
    bool dma_failed;            /* look first whether an address is memory */
    unsigned lines;             /* of them, since the card was made */
    GSList *free_commands;
    QTAILQ_HEAD(, MvCommand) saved;     /* only while migrating */
};

/*
 * Make BARs 0 and 2 of @pci and take the links, one per phy in card order
 * (core 0 phys 0-3, core 1 phys 0-3); NULL: nothing is wired to that phy.
 */
void mv_bridge_init(MvBridge *b, PCIDevice *pci,
                    ZdLink *links[MV_CORES * MV_PHYS]);
/*
 * The card leaves its slot: drops every command, and from now on there are no
 * registers, no DMA and no interrupt.
 */
void mv_bridge_stop(MvBridge *b);
/* After that; the links and the PCI device stay the caller's. */
void mv_bridge_cleanup(MvBridge *b);
/* Chip reset: PCI reset, or power on.  The SPI flash keeps its contents. */
void mv_bridge_reset(MvBridge *b);

/*
 * Registers, rings' positions, SPI flash and every command in the chip.  The
 * links and the devices behind them must be loaded before, the bridge reset
 * before all of them.
 */
extern const VMStateDescription mv_vmstate_bridge;

/*
 * D3hot: the chip drops what it does and is deaf until it is reset on the way
 * back.
 */
void mv_bridge_sleep(MvBridge *b);

/* A new driver: what was said of the last one's mistakes is said again. */
void mv_bridge_forget_mistakes(MvBridge *b);

/* Other faults are armed than before. */
void mv_bridge_faults_changed(MvBridge *b);

/* What the option ROM shows as disks. */
#define MV_VIEW_VOLUME      0
#define MV_VIEW_MEMBERS     1

/* What the card's option ROM and drivers expect in the SPI flash. */
typedef struct MvFlashInfo {
    char product_id[4];
    unsigned ssds;
    const char *serial[MV_CORES * MV_PHYS];     /* 20 characters each */
    uint64_t sas_address;
    uint8_t rom_view;           /* MV_VIEW_* */
} MvFlashInfo;

void mv_spi_write_card_info(MvBridge *b, const MvFlashInfo *info);
/* Change the view in a configuration block that is valid. */
void mv_spi_write_rom_view(MvBridge *b, uint8_t view);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The 88SE9485 as the option ROM drives it: one command at a time on each phy,
 * polled, through the registers of BAR 2 and nothing else.
 *
 * Both parts of the ROM compile these files.  The BIOS part keeps what the
 * bridge reads and writes in another segment and so puts it into an address
 * space of its own, DMA_SPACE; for UEFI that is empty.
 */
#ifndef ZDRIVE_ROM_HBA_H
#define ZDRIVE_ROM_HBA_H

#include "platform.h"

#define HBA_PHYS        8
#define HBA_RING        16      /* commands; each core has four at most */
#define HBA_SECTOR      512
/* A PRD holds up to 4 MiB less a byte; one command here stays below. */
#define HBA_MAX_SECTORS 4096

typedef struct HbaHeader {
    uint32_t flags;
    uint32_t lens;
    uint32_t tags;
    uint32_t data_len;
    uint32_t cmd_tbl[2];
    uint32_t open_frame[2];
    uint32_t status_buf[2];
    uint32_t prd_tbl[2];
    uint32_t reserved[4];
} HbaHeader;

typedef struct HbaPrd {
    uint32_t addr[2];
    uint32_t len;
} HbaPrd;

typedef struct HbaSlot {
    uint8_t table[0x60];
    uint8_t open_frame[0x40];
    HbaPrd prd[1];              /* what it moves is contiguous */
    uint32_t status[21];
} HbaSlot;

/* All that the bridge reads and writes; both cores share the FIS area. */
typedef struct HbaDma {
    uint8_t fis[0x1000];
    HbaHeader header[HBA_PHYS];
    HbaSlot slot[HBA_PHYS];
    uint32_t tx[2][HBA_RING];
    uint32_t rx[2][1 + HBA_RING + 15];
    uint8_t sector[HBA_SECTOR];
} HbaDma;

/* Parts of it, in its address space. */
typedef uint8_t DMA_SPACE DmaByte;
typedef uint32_t DMA_SPACE DmaDword;
/* volatile: the bridge writes it at any time */
typedef volatile uint32_t DMA_SPACE DmaRing;

typedef enum HbaResult {
    HBA_OK,
    HBA_BUSY,                   /* not done yet */
    HBA_ERROR,                  /* the device says so: status and error */
    HBA_TIMEOUT,
} HbaResult;

typedef struct HbaPhy {
    uint8_t result;             /* HbaResult of the last command */
    uint8_t status;             /* task file of the last command */
    uint8_t error;
    uint64_t sectors;           /* 0: no SSD that can be used */
} HbaPhy;

typedef struct Hba {
    HbaBar bar;                 /* BAR 2 as the platform reaches it */
    HbaDma DMA_SPACE *dma;
    uint64_t dma_address;       /* the same as the bridge sees it */
    uint8_t busy;               /* phys that have a command */
    uint8_t sick;               /* phys whose last command had no end */
    uint16_t return_ms;         /* that an SSD gets to return from a reset */
    uint32_t waited;            /* ticks in hba_wait(), since it was zeroed */
    uint16_t tx_last[2];
    uint16_t rx_last[2];
    HbaPhy phy[HBA_PHYS];
} Hba;

/* What goes into a command's Register FIS. */
typedef struct HbaCommand {
    uint8_t command;
    uint8_t feature;
    uint16_t count;
    uint64_t lba;
    uint64_t address;           /* of the data, as the bridge sees it */
    uint32_t bytes;             /* 0: no data */
} HbaCommand;

/* ATA commands, ACS-2 */
#define ATA_READ_DMA_EXT        0x25
#define ATA_WRITE_DMA_EXT       0x35
#define ATA_READ_VERIFY_EXT     0x42
#define ATA_SMART               0xB0
#define ATA_CHECK_POWER         0xE5
#define ATA_FLUSH_EXT           0xEA
#define ATA_IDENTIFY            0xEC
#define ATA_SEC_SET_PASSWORD    0xF1
#define ATA_SEC_ERASE_PREPARE   0xF3
#define ATA_SEC_ERASE_UNIT      0xF4
#define ATA_SEC_DISABLE         0xF6

/* Its status and error registers */
#define ATA_STATUS_DF           0x20
#define ATA_ERROR_IDNF          0x10
#define ATA_ERROR_UNC           0x40
#define ATA_ERROR_ICRC          0x80

/* SMART subcommands, in the feature register; the LBA is a password. */
#define SMART_READ_DATA         0xD0
#define SMART_RETURN_STATUS     0xDA
#define SMART_LBA               0xC24F00
#define SMART_LBA_FAILING       0x2CF400

/* For data; and when the command before had no end. */
#define HBA_TIMEOUT_MS          5000
#define HBA_IMPATIENT_MS        500
#define HBA_RETURN_MS           2000

/* Reset both cores and start their engines; SSDs sign in meanwhile. */
void hba_start(Hba *h);
/* Phys that have a link, and those whose SSD has sent its signature. */
uint8_t hba_linked(Hba *h);
uint8_t hba_signed_in(Hba *h);
/* Stop both cores: no DMA any more. */
void hba_stop(Hba *h);

/* Give phy @n, which has to be idle, a command. */
void hba_issue(Hba *h, unsigned n, const HbaCommand *cmd);
/*
 * Wait until all of @phys are idle, at most @ms.  What is still busy then is
 * aborted and its link is reset.
 */
void hba_wait(Hba *h, uint8_t phys, uint32_t ms);
/* The same for commands that take as long as a data transfer. */
void hba_wait_io(Hba *h, uint8_t phys);
/* Issue one command and wait for its end. */
HbaResult hba_run(Hba *h, unsigned n, const HbaCommand *cmd, uint32_t ms);
/* A command with up to one sector of data in dma->sector. */
HbaResult hba_run_sector(Hba *h, unsigned n, HbaCommand cmd, uint32_t ms);

/* LBA of the last command's task file. */
uint64_t hba_result_lba(const Hba *h, unsigned n);
/* Signalling rate of the link in units of 1.5 Gb/s: 1, 2, 4; 0: no link. */
unsigned hba_link_rate(Hba *h, unsigned n);

#endif

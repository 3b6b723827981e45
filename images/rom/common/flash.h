/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The card's configuration block in its SPI flash (real-cards.md 1.5), behind
 * the controller's registers of BAR 2.
 */
#ifndef ZDRIVE_ROM_FLASH_H
#define ZDRIVE_ROM_FLASH_H

#include "hba.h"

typedef struct FlashConfig {
    uint8_t signature[4];       /* "OCZ " */
    uint8_t version[4];
    uint8_t product[4];
    uint8_t vca_mode;
    uint8_t ssds;
    uint8_t portmap;
    uint8_t rom_view;           /* 0: the volume, 1: its members */
    uint8_t serial[HBA_PHYS][20];
    uint32_t error_flags;       /* all ones: none */
    uint32_t checksum;          /* the dwords of the block sum to zero */
} FlashConfig;

typedef enum FlashState {
    FLASH_GOOD,
    FLASH_SILENT,               /* the controller does not finish */
    FLASH_BAD_SIGNATURE,
    FLASH_BAD_CHECKSUM,
} FlashState;

#define FLASH_VIEW_VOLUME   0
#define FLASH_VIEW_MEMBERS  1

FlashState flash_read_config(Hba *h, FlashConfig *config);
/*
 * Store @config with a new checksum; the rest of its flash sector stays as it
 * is.  Uses the FIS area as buffer: no command may be running.
 */
bool flash_write_config(Hba *h, FlashConfig *config);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SMART Command Transport (ACS-2 clause 8): commands by writing log E0h, status
 * by reading it, data through log E1h.
 *
 * What a firmware has is in IDENTIFY word 206.  Here are data tables (the
 * temperature history) and error recovery control; the other actions end
 * with the extended status of an action that is not there.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "ata-internal.h"

enum {
    SCT_HAS_ERC     = 1 << 3,
    SCT_HAS_TABLES  = 1 << 5,
};

enum {
    SCT_ACTION_ERC      = 3,
    SCT_ACTION_TABLE    = 5,
};

/* Extended status codes, ACS-2 table 180 */
enum {
    SCT_OK                  = 0x0000,
    SCT_BAD_FUNCTION        = 0x0001,
    SCT_BAD_ERC_FUNCTION    = 0x0004,
    SCT_BAD_ERC_SELECTION   = 0x0005,
    SCT_BAD_ACTION          = 0x0011,
    SCT_BAD_TABLE           = 0x0012,
};

#define SCT_ERC_DEFAULT     256     /* 25.6 s, real-cards.md 2.4 */
#define SCT_TEMPERATURE     30      /* the sensor is a constant */
#define SCT_HISTORY         478

void zd_ata_sct_reset(ZdSsd *ssd)
{
    ssd->sct_action = 0;
    ssd->sct_function = 0;
    ssd->sct_status = SCT_OK;
    ssd->sct_table = false;
    ssd->sct_erc[0] = SCT_ERC_DEFAULT;
    ssd->sct_erc[1] = SCT_ERC_DEFAULT;
}

/* ACS-2 table 178; format version 3, SCT version 0 as on the cards */
void zd_ata_sct_status(ZdSsd *ssd, uint8_t page[ZD_SECTOR_SIZE])
{
    stw_le_p(page, 3);
    stw_le_p(page + 4, 1);              /* specification level */
    page[10] = 0;                       /* active, waits for a command */
    stw_le_p(page + 14, ssd->sct_status);
    stw_le_p(page + 16, ssd->sct_action);
    stw_le_p(page + 18, ssd->sct_function);
    /* now, and twice lowest and highest: this power cycle, life time */
    memset(page + 200, SCT_TEMPERATURE, 5);
}

/* ACS-2 8.3.6, table 2; the cards report two zero periods and no limits */
bool zd_ata_sct_data(ZdSsd *ssd, uint8_t page[ZD_SECTOR_SIZE])
{
    if (!ssd->sct_table) {
        return false;
    }
    ssd->sct_table = false;
    stw_le_p(page, 2);
    memset(page + 6, 0x80, 4);          /* -128 C: unknown */
    stw_le_p(page + 30, SCT_HISTORY);
    stw_le_p(page + 32, 1);             /* newest entry */
    memset(page + 34, 0x80, SCT_HISTORY);
    page[34 + 1] = SCT_TEMPERATURE;
    return true;
}

static uint16_t sct_read_table(ZdSsd *ssd, ZdRequest *req,
                               const uint8_t *key)
{
    if (lduw_le_p(key + 2) != 1) {
        return SCT_BAD_FUNCTION;
    }
    if (lduw_le_p(key + 4) != 2) {
        return SCT_BAD_TABLE;
    }
    ssd->sct_table = true;
    /* blocks to read from log E1h */
    req->d2h[FIS_COUNT] = 1;
    return SCT_OK;
}

static uint16_t sct_erc(ZdSsd *ssd, ZdRequest *req, const uint8_t *key)
{
    uint16_t function = lduw_le_p(key + 2);
    uint16_t selection = lduw_le_p(key + 4);
    uint16_t *timer;

    if (selection != 1 && selection != 2) {
        return SCT_BAD_ERC_SELECTION;
    }
    timer = &ssd->sct_erc[selection - 1];
    switch (function) {
    case 1:
        *timer = lduw_le_p(key + 6);
        return SCT_OK;
    case 2:
        req->d2h[FIS_COUNT] = *timer;
        req->d2h[FIS_LBA_LOW] = *timer >> 8;
        return SCT_OK;
    default:
        return SCT_BAD_ERC_FUNCTION;
    }
}

void zd_ata_sct_command(ZdSsd *ssd, ZdRequest *req)
{
    const uint8_t *key = req->buffer;
    uint16_t sct = ssd->profile->sct;

    ssd->sct_action = lduw_le_p(key);
    ssd->sct_function = lduw_le_p(key + 2);
    ssd->sct_table = false;
    if (ssd->sct_action == SCT_ACTION_TABLE && (sct & SCT_HAS_TABLES)) {
        ssd->sct_status = sct_read_table(ssd, req, key);
    } else if (ssd->sct_action == SCT_ACTION_ERC && (sct & SCT_HAS_ERC)) {
        ssd->sct_status = sct_erc(ssd, req, key);
    } else {
        ssd->sct_status = SCT_BAD_ACTION;
    }
    if (ssd->sct_status == SCT_OK) {
        zd_ata_good_later(req);
    } else {
        zd_ata_abort_command(req);
    }
}

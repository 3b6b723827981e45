/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SET FEATURES and SET MULTIPLE MODE: the volatile settings of the SSD.
 *
 * All of them return to their defaults at power-on, and at a COMRESET unless
 * software settings preservation is on, which it is by default (SATA 13.5).
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "ata-internal.h"

void zd_ata_settings_default(ZdSsd *ssd)
{
    /*
     * Look-ahead off: RevoDrive 3 firmware 2.25 reports it so
     * (real-cards.md 2.4).  Multiple 1: "multi 1" in the kernel's line.
     */
    ssd->settings = (ZdAtaSettings) {
        .write_cache = true,
        .look_ahead = false,
        .apm = ssd->profile->apm,
        .apm_level = ATA_APM_DEFAULT,
        .xfer_mode = 0x46,              /* Ultra DMA 6 */
        .multiple = 1,
        .preserve = true,
    };
}

/* ACS-2 table 107: mode in bits 2:0, kind above */
static void set_transfer_mode(ZdSsd *ssd, ZdRequest *req,
                              const ZdAtaCommand *cmd)
{
    uint8_t mode = req->fis[FIS_COUNT];
    bool valid;

    switch (mode & 0xf8) {
    case 0x00:                          /* default PIO, without IORDY too */
        valid = mode <= 0x01;
        break;
    case 0x08:                          /* PIO 0 to 4 */
        valid = mode <= 0x0c;
        break;
    case 0x20:                          /* multiword DMA 0 to 2 */
        valid = mode <= 0x22;
        break;
    case 0x40:                          /* Ultra DMA 0 to 6 */
        valid = mode <= 0x46;
        break;
    default:
        valid = false;
        break;
    }
    if (!valid) {
        zd_ata_abort_command(req);
        return;
    }
    if (mode & 0x60) {
        /* a PIO mode leaves the DMA mode alone */
        ssd->settings.xfer_mode = mode;
    }
    zd_ata_good_later(req);
}

static void set_write_cache_on(ZdSsd *ssd, ZdRequest *req,
                               const ZdAtaCommand *cmd)
{
    ssd->settings.write_cache = true;
    zd_ata_good_later(req);
}

/* ACS-2 7.45.5: what the cache holds goes to the medium first */
static void set_write_cache_off(ZdSsd *ssd, ZdRequest *req,
                                const ZdAtaCommand *cmd)
{
    ssd->settings.write_cache = false;
    zd_media_flush(&ssd->media, req, zd_ata_fault_done);
}

static void set_look_ahead(ZdSsd *ssd, ZdRequest *req,
                           const ZdAtaCommand *cmd)
{
    ssd->settings.look_ahead = req->fis[FIS_FEATURES] == 0xaa;
    zd_ata_good_later(req);
}

static void set_apm(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    uint8_t level = req->fis[FIS_COUNT];

    if (!ssd->profile->apm || level == 0x00 || level == 0xff) {
        zd_ata_abort_command(req);
        return;
    }
    ssd->settings.apm = true;
    ssd->settings.apm_level = level;
    zd_ata_good_later(req);
}

static void set_apm_off(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    if (!ssd->profile->apm) {
        zd_ata_abort_command(req);
        return;
    }
    ssd->settings.apm = false;
    zd_ata_good_later(req);
}

/* ACS-2 7.45.16 and 7.45.17: 10h enables, 90h disables */
static void set_sata(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    bool on = req->fis[FIS_FEATURES] == 0x10;

    switch (req->fis[FIS_COUNT]) {
    case 0x02:
        ssd->settings.auto_activate = on;
        break;
    case 0x03:
        ssd->settings.dipm = on;
        break;
    case 0x06:
        ssd->settings.preserve = on;
        break;
    default:
        zd_ata_abort_command(req);
        return;
    }
    zd_ata_good_later(req);
}

static const ZdAtaSub zd_ata_features[] = {
    { 0x02, set_write_cache_on },
    { 0x03, set_transfer_mode },
    { 0x05, set_apm },
    { 0x10, set_sata },
    { 0x55, set_look_ahead },
    { 0x82, set_write_cache_off },
    { 0x85, set_apm_off },
    { 0x90, set_sata },
    { 0xaa, set_look_ahead },
};

void zd_ata_set_features(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(zd_ata_features); i++) {
        if (zd_ata_features[i].code == req->fis[FIS_FEATURES]) {
            zd_ata_features[i].run(ssd, req, cmd);
            return;
        }
    }
    zd_ata_abort_command(req);
}

void zd_ata_set_multiple(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    uint8_t sectors = req->fis[FIS_COUNT];

    /* ACS-2 7.47: 0 turns multiple commands off */
    if (sectors > ATA_MULTIPLE_MAX || (sectors && !is_power_of_2(sectors))) {
        zd_ata_abort_command(req);
        return;
    }
    ssd->settings.multiple = sectors;
    zd_ata_good_later(req);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host protected area feature set (ACS-2 4.11): a host makes the SSD
 * smaller than it is, for good or until the next power-on.
 *
 * Dumps of other SandForce SSDs list the feature set (OCZ-VERTEX2, SF-2281);
 * its security extensions (SET MAX SET PASSWORD and the like) are left out.
 */
#include "qemu/osdep.h"
#include "ata-internal.h"

#define SET_MAX_KEEP    0x01        /* count: survives power-off */

void zd_ata_hpa_power_on(ZdSsd *ssd)
{
    ssd->sectors = ssd->kept_sectors;
    ssd->hpa_kept = false;
}

void zd_ata_read_native_max(ZdSsd *ssd, ZdRequest *req,
                            const ZdAtaCommand *cmd)
{
    bool ext = cmd->flags & ZD_ATA_F_EXT;
    uint64_t last = ssd->native_sectors - 1;

    /* ACS-2 7.31: what 28 bits cannot say reads as the most they can */
    zd_ata_set_lba(req->d2h, ext ? last : MIN(last, 0x0fffffff), ext);
    ssd->preceding = req->fis[FIS_COMMAND];
    zd_ata_good_later(req);
}

void zd_ata_set_max(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    bool ext = cmd->flags & ZD_ATA_F_EXT;
    bool keep = req->fis[FIS_COUNT] & SET_MAX_KEEP;
    uint64_t last = ext ? zd_ata_lba48(req) : zd_ata_lba28(req);
    uint8_t native = ext ? 0x27 : 0xf8;

    /* only straight after READ NATIVE MAX ADDRESS (EXT) is it this command */
    if (zd_ata_preceding(ssd) != native) {
        zd_ata_abort_command(req);
        return;
    }
    /* beyond the end, or a second lasting change in one power cycle */
    if (last >= ssd->native_sectors || (keep && ssd->hpa_kept)) {
        zd_ata_fail(req, ATA_ST_FAILED, ATA_ER_IDNF, last);
        return;
    }
    ssd->sectors = last + 1;
    if (keep) {
        ssd->kept_sectors = ssd->sectors;
        ssd->hpa_kept = true;
    }
    zd_ata_set_lba(req->d2h, last, ext);
    zd_ata_good_later(req);
}

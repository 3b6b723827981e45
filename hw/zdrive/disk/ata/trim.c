/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DATA SET MANAGEMENT with the TRIM function (ACS-2 7.5).
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "ata-internal.h"

void zd_ata_dsm(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    ZdRange ranges[ATA_TRIM_RANGES];
    uint16_t blocks = zd_ata_count16(req);
    unsigned entries = blocks * ZD_SECTOR_SIZE / 8;
    unsigned count = 0;
    unsigned i;

    if (!ssd->profile->trim || !(req->fis[FIS_FEATURES] & 1) ||
        blocks == 0 || blocks > ATA_TRIM_BLOCKS) {
        zd_ata_abort_command(req);
        return;
    }
    if (!zd_ata_data_out(req, blocks * ZD_SECTOR_SIZE)) {
        return;
    }
    /* check all of them before the first one is touched */
    for (i = 0; i < entries; i++) {
        uint64_t entry = ldq_le_p((uint8_t *)req->buffer + 8 * i);
        uint64_t lba = entry & 0xffffffffffffULL;
        uint32_t sectors = entry >> 48;

        if (!sectors) {
            continue;
        }
        if (lba >= ssd->sectors || sectors > ssd->sectors - lba) {
            zd_ata_fail(req, ATA_ST_FAILED, ATA_ER_IDNF, lba);
            return;
        }
        ranges[count++] = (ZdRange) { lba, sectors };
    }
    if (count) {
        zd_media_trim(&ssd->media, req, ranges, count, zd_ata_fault_done);
    } else {
        zd_ata_good_later(req);
    }
}

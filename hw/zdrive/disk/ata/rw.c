/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that read, write, verify and flush sectors.
 *
 * PIO, DMA and FPDMA differ on the wire only; here they all become one call
 * to the medium.  A read error is UNC with the first bad sector.  ACS-2 has no
 * "uncorrectable" for writes, so a write or flush that the medium refuses is a
 * device fault: DF and ERR with ABRT, which Linux takes as HARDWARE ERROR.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "ata-internal.h"

void zd_ata_extent(const ZdRequest *req, const ZdAtaCommand *cmd,
                   uint64_t *lba, uint32_t *sectors)
{
    if (req->queued) {
        /* SATA 13.6.4: the count is in Features, Count holds the tag */
        *lba = zd_ata_lba48(req);
        *sectors = zd_ata_features16(req) ?: 65536;
    } else if (cmd->flags & ZD_ATA_F_EXT) {
        *lba = zd_ata_lba48(req);
        *sectors = zd_ata_count16(req) ?: 65536;
    } else {
        *lba = zd_ata_lba28(req);
        *sectors = req->fis[FIS_COUNT] ?: 256;
    }
}

/* True when the extent lies on the medium, else @req has ended with IDNF. */
static bool zd_ata_in_range(ZdSsd *ssd, ZdRequest *req, uint64_t lba,
                            uint32_t sectors)
{
    if (lba >= ssd->sectors) {
        zd_ata_fail(req, ATA_ST_FAILED, ATA_ER_IDNF, lba);
        return false;
    }
    if (sectors > ssd->sectors - lba) {
        zd_ata_fail(req, ATA_ST_FAILED, ATA_ER_IDNF, ssd->sectors);
        return false;
    }
    return true;
}

void zd_ata_read_done(ZdRequest *req, int ret)
{
    if (!ret) {
        zd_ata_good(req);
    } else if (ret == -EFAULT) {
        zd_ata_outcome(req, ZD_OUTCOME_BUS_ERROR);
    } else {
        zd_ata_ssd(req)->uncorrectable++;
        zd_ata_fail(req, ATA_ST_FAILED, ATA_ER_UNC, req->media.error_lba);
    }
}

void zd_ata_write_done(ZdRequest *req, int ret)
{
    if (!ret) {
        zd_ata_good(req);
    } else if (ret == -EFAULT) {
        zd_ata_outcome(req, ZD_OUTCOME_BUS_ERROR);
    } else {
        zd_ata_fail(req, ATA_ST_FAULT, ATA_ER_ABRT, req->media.error_lba);
    }
}

static void zd_ata_do_write(ZdSsd *ssd, ZdRequest *req, uint64_t lba,
                            uint32_t sectors, bool fua)
{
    bool through = fua || !ssd->settings.write_cache;

    zd_media_write(&ssd->media, req, lba, sectors, through,
                   zd_ata_write_done);
}

void zd_ata_read(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    uint64_t lba;
    uint32_t sectors;

    zd_ata_extent(req, cmd, &lba, &sectors);
    if (zd_ata_in_range(ssd, req, lba, sectors) &&
        zd_ata_fits(req, sectors)) {
        zd_media_read(&ssd->media, req, lba, sectors, zd_ata_read_done);
    }
}

void zd_ata_write(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    uint64_t lba;
    uint32_t sectors;

    zd_ata_extent(req, cmd, &lba, &sectors);
    if (zd_ata_in_range(ssd, req, lba, sectors) &&
        zd_ata_fits(req, sectors)) {
        zd_ata_do_write(ssd, req, lba, sectors, cmd->flags & ZD_ATA_F_FUA);
    }
}

void zd_ata_fpdma(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    uint64_t lba;
    uint32_t sectors;

    zd_ata_extent(req, cmd, &lba, &sectors);
    if (!zd_ata_in_range(ssd, req, lba, sectors) ||
        !zd_ata_fits(req, sectors)) {
        return;
    }
    if (cmd->protocol == ZD_ATA_FPDMA_IN) {
        /*
         * FUA on a read wants data as stable as the medium has it; this
         * medium never returns anything that a flush would change.
         */
        zd_media_read(&ssd->media, req, lba, sectors, zd_ata_read_done);
    } else {
        zd_ata_do_write(ssd, req, lba, sectors,
                        req->fis[FIS_DEVICE] & ATA_DEV_FUA);
    }
}

void zd_ata_verify(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    uint64_t lba;
    uint32_t sectors;

    zd_ata_extent(req, cmd, &lba, &sectors);
    if (zd_ata_in_range(ssd, req, lba, sectors)) {
        zd_media_verify(&ssd->media, req, lba, sectors, zd_ata_read_done);
    }
}

void zd_ata_flush(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    zd_media_flush(&ssd->media, req, zd_ata_fault_done);
}

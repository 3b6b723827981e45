/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs: READ and WRITE LOG (DMA) EXT (general purpose logging) and SMART READ
 * and WRITE LOG.
 *
 * Both ways reach what the firmware's log directory in the catalogue names,
 * with the sizes it names for either way; anything else is aborted and leaves
 * no trace.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "ata-internal.h"

enum {
    LOG_DIRECTORY   = 0x00,
    LOG_STATISTICS  = 0x04,
    LOG_SELFTEST    = 0x07,
    LOG_SELECTIVE   = 0x09,
    LOG_NCQ_ERROR   = 0x10,
    LOG_PHY_EVENTS  = 0x11,
    LOG_HOST_FIRST  = 0x80,
    LOG_HOST_LAST   = 0x9f,
    LOG_SCT_STATUS  = 0xe0,
    LOG_SCT_DATA    = 0xe1,
};

static bool log_is_host(uint8_t address)
{
    return address >= LOG_HOST_FIRST && address <= LOG_HOST_LAST;
}

static unsigned log_sectors(const ZdSsd *ssd, uint8_t address, bool gpl)
{
    const ZdLogEntry *log;

    if (address == LOG_DIRECTORY) {
        return 1;
    }
    for (log = ssd->profile->logs; log->address; log++) {
        if (log->address == address) {
            return gpl ? log->gpl_sectors : log->smart_sectors;
        }
    }
    return 0;
}

/* True when [first, first + count) are pages of the log. */
static bool log_has(const ZdSsd *ssd, uint8_t address, bool gpl,
                    uint32_t first, uint32_t count)
{
    unsigned sectors = log_sectors(ssd, address, gpl);

    return count && first < sectors && count <= sectors - first;
}

/* ACS-2 A.2; version 1 in both, for SMART it says "multi-sector logs" */
static void log_directory(const ZdSsd *ssd, bool gpl, uint8_t *page)
{
    const ZdLogEntry *log;

    stw_le_p(page, 0x0001);
    for (log = ssd->profile->logs; log->address; log++) {
        stw_le_p(page + 2 * log->address,
                 gpl ? log->gpl_sectors : log->smart_sectors);
    }
}

void zd_ata_ncq_log_clear(ZdSsd *ssd)
{
    memset(ssd->ncq_log, 0, sizeof(ssd->ncq_log));
    ssd->ncq_log[0] = 0x80;             /* NQ: no queued command failed */
}

static void log_ncq_error(ZdSsd *ssd, uint8_t *page)
{
    memcpy(page, ssd->ncq_log, sizeof(ssd->ncq_log));
    zd_ata_checksum(page);
    /* SATA 13.6.3: reading it is what makes the device take commands again */
    ssd->ncq_error = false;
    zd_link_queue_resume(ssd->link);
}

/* SATA 13.7.2; which counters exist, and their order, as on the cards */
static void log_phy_events(ZdSsd *ssd, uint8_t *page, bool reset)
{
    static const uint16_t ids[] = {
        0x001, 0x003, 0x004, 0x006, 0x007, 0x008, 0x009, 0x00a,
        0x00f, 0x010, 0x012, 0x013, 0x002, 0x005, 0x00b, 0x00d,
    };
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(ids); i++) {
        uint16_t value = 0;

        switch (ids[i]) {
        case 0x001:                     /* command failed, ICRC */
        case 0x00b:                     /* CRC error in a host to device FIS */
            value = ssd->phy_crc;
            break;
        case 0x009:                     /* PhyRdy to PhyNRdy */
            value = ssd->phy_not_ready;
            break;
        case 0x00a:                     /* Register FIS due to COMRESET */
            value = ssd->phy_comreset;
            break;
        }
        /* bits 14:12 hold the size of the value: one word */
        stw_le_p(page + 4 + 4 * i, 0x1000 | ids[i]);
        stw_le_p(page + 6 + 4 * i, value);
    }
    zd_ata_checksum(page);
    if (reset) {
        ssd->phy_not_ready = 0;
        ssd->phy_comreset = 0;
        ssd->phy_crc = 0;
    }
}

static uint8_t *log_host(ZdSsd *ssd, uint8_t address, unsigned page)
{
    return ssd->host_logs + (address - LOG_HOST_FIRST) * ATA_HOST_LOG_BYTES +
           page * ZD_SECTOR_SIZE;
}

/* Fill one page, which is zero before; false: nothing to read now. */
static bool log_page(ZdSsd *ssd, ZdRequest *req, bool gpl, uint8_t address,
                     unsigned index, uint8_t *page)
{
    switch (address) {
    case LOG_DIRECTORY:
        log_directory(ssd, gpl, page);
        break;
    case LOG_STATISTICS:
        zd_ata_statistics_page(ssd, index, page);
        break;
    case LOG_SELFTEST:
        zd_ata_selftest_page(ssd, page);
        break;
    case LOG_SELECTIVE:
        zd_ata_selective_page(ssd, page);
        break;
    case LOG_NCQ_ERROR:
        log_ncq_error(ssd, page);
        break;
    case LOG_PHY_EVENTS:
        log_phy_events(ssd, page, gpl && (req->fis[FIS_FEATURES] & 1));
        break;
    case LOG_SCT_STATUS:
        zd_ata_sct_status(ssd, page);
        break;
    case LOG_SCT_DATA:
        return zd_ata_sct_data(ssd, page);
    default:
        if (log_is_host(address) && ssd->host_logs &&
            index < ATA_HOST_LOG_BYTES / ZD_SECTOR_SIZE) {
            memcpy(page, log_host(ssd, address, index), ZD_SECTOR_SIZE);
        }
        break;
    }
    return true;
}

static void read_log(ZdSsd *ssd, ZdRequest *req, bool gpl, uint32_t first,
                     uint32_t count)
{
    g_autofree uint8_t *pages = NULL;
    uint8_t address = req->fis[FIS_LBA_LOW];
    uint32_t i;

    if (!log_has(ssd, address, gpl, first, count)) {
        zd_ata_abort_command(req);
        return;
    }
    /* before a page is made: making one may have effects */
    if (!zd_ata_fits(req, count)) {
        return;
    }
    pages = g_malloc0(count * ZD_SECTOR_SIZE);
    for (i = 0; i < count; i++) {
        if (!log_page(ssd, req, gpl, address, first + i,
                      pages + i * ZD_SECTOR_SIZE)) {
            zd_ata_abort_command(req);
            return;
        }
    }
    zd_ata_data_in(req, pages, count * ZD_SECTOR_SIZE);
}

static void write_log(ZdSsd *ssd, ZdRequest *req, bool gpl, uint32_t first,
                      uint32_t count)
{
    uint8_t address = req->fis[FIS_LBA_LOW];
    bool writable = log_is_host(address) || address == LOG_SELECTIVE ||
                    address == LOG_SCT_STATUS;

    if (!writable || !log_has(ssd, address, gpl, first, count) ||
        (log_is_host(address) &&
         first + count > ATA_HOST_LOG_BYTES / ZD_SECTOR_SIZE)) {
        zd_ata_abort_command(req);
        return;
    }
    if (!zd_ata_data_out(req, count * ZD_SECTOR_SIZE)) {
        return;
    }
    switch (address) {
    case LOG_SCT_STATUS:
        zd_ata_sct_command(ssd, req);
        return;
    case LOG_SELECTIVE:
        memcpy(ssd->selective, req->buffer, ZD_SECTOR_SIZE);
        break;
    default:
        if (!ssd->host_logs) {
            ssd->host_logs = g_malloc0(ATA_HOST_LOGS * ATA_HOST_LOG_BYTES);
        }
        memcpy(log_host(ssd, address, first), req->buffer,
               count * ZD_SECTOR_SIZE);
        break;
    }
    zd_ata_good_later(req);
}

/* ACS-2 7.24: page number in bits 15:8 and 39:32 of the LBA registers */
static uint32_t ext_page(const ZdRequest *req)
{
    return req->fis[FIS_LBA_MID] | req->fis[FIS_LBA_MID_EXP] << 8;
}

void zd_ata_read_log_ext(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    read_log(ssd, req, true, ext_page(req), zd_ata_count16(req));
}

void zd_ata_write_log_ext(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    write_log(ssd, req, true, ext_page(req), zd_ata_count16(req));
}

void zd_ata_smart_read_log(ZdSsd *ssd, ZdRequest *req,
                           const ZdAtaCommand *cmd)
{
    read_log(ssd, req, false, 0, req->fis[FIS_COUNT]);
}

void zd_ata_smart_write_log(ZdSsd *ssd, ZdRequest *req,
                            const ZdAtaCommand *cmd)
{
    write_log(ssd, req, false, 0, req->fis[FIS_COUNT]);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command set: one table from opcode to handler, the checks that every
 * command passes, and the ways in which a command ends.
 *
 * What the table does not name is aborted (ACS-2 6.2: status ERR, error ABRT).
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "ata-internal.h"
#include "trace.h"

void zd_ata_fis(uint8_t fis[ZD_FIS_REG_LEN], uint8_t status, uint8_t error)
{
    fis[FIS_TYPE] = FIS_TYPE_REG_D2H;
    fis[FIS_FLAGS] = FIS_FLAG_I;
    fis[FIS_STATUS] = status;
    fis[FIS_ERROR] = error;
}

void zd_ata_set_lba(uint8_t fis[ZD_FIS_REG_LEN], uint64_t lba, bool ext)
{
    fis[FIS_LBA_LOW] = lba;
    fis[FIS_LBA_MID] = lba >> 8;
    fis[FIS_LBA_HIGH] = lba >> 16;
    if (ext) {
        fis[FIS_LBA_LOW_EXP] = lba >> 24;
        fis[FIS_LBA_MID_EXP] = lba >> 32;
        fis[FIS_LBA_HIGH_EXP] = lba >> 40;
    } else {
        fis[FIS_DEVICE] = (fis[FIS_DEVICE] & 0xf0) | ((lba >> 24) & 0xf);
    }
}

static void zd_ata_complete(ZdRequest *req)
{
    ZdSsd *ssd = zd_ata_ssd(req);

    trace_zd_ata_done(req->link->phy, req->fis[FIS_COMMAND],
                      req->d2h[FIS_STATUS], req->d2h[FIS_ERROR],
                      req->outcome);
    ssd->errors += req->outcome != ZD_OUTCOME_GOOD;
    if (req->queued) {
        ssd->ncq_active &= ~BIT(zd_ata_tag(req));
    }
    zd_link_complete(req);
}

void zd_ata_good(ZdRequest *req)
{
    zd_ata_fis(req->d2h, ATA_ST_GOOD, 0);
    req->outcome = ZD_OUTCOME_GOOD;
    zd_ata_complete(req);
}

void zd_ata_outcome(ZdRequest *req, ZdOutcome outcome)
{
    /*
     * The device has sent or asked for data that the host could not take or
     * give; to the device that is a transfer that broke off.
     */
    zd_ata_fis(req->d2h, ATA_ST_FAILED, ATA_ER_ICRC | ATA_ER_ABRT);
    req->outcome = outcome;
    zd_ata_complete(req);
}

/* Fields of log 10h, SATA 13.7.3; the rest of the page is zero. */
static void zd_ata_ncq_failed(ZdSsd *ssd, ZdRequest *req, uint8_t status,
                              uint8_t error, uint64_t lba)
{
    uint8_t *log = ssd->ncq_log;

    memset(log, 0, sizeof(ssd->ncq_log));
    log[0] = zd_ata_tag(req);
    log[2] = status;
    log[3] = error;
    log[4] = lba;
    log[5] = lba >> 8;
    log[6] = lba >> 16;
    log[7] = req->fis[FIS_DEVICE];
    log[8] = lba >> 24;
    log[9] = lba >> 32;
    log[10] = lba >> 40;
    log[12] = req->fis[FIS_COUNT];
    log[13] = req->fis[FIS_COUNT_EXP];
    ssd->ncq_error = true;
    ssd->errors++;
    ssd->queue_errors++;
    trace_zd_ata_ncq_error(req->link->phy, log[0], status, error, lba);
    /* the link makes the device forget every queued command */
    zd_link_queue_error(req, status, error);
}

/* End with an error in a Register FIS, whatever the kind of command. */
static void zd_ata_end_register(ZdRequest *req, ZdOutcome outcome,
                                uint8_t status, uint8_t error, uint64_t lba)
{
    bool ext = zd_ata_commands[req->fis[FIS_COMMAND]].flags & ZD_ATA_F_EXT;

    zd_ata_fis(req->d2h, status, error);
    req->d2h[FIS_DEVICE] = req->fis[FIS_DEVICE];
    zd_ata_set_lba(req->d2h, lba, ext);
    req->outcome = outcome;
    zd_ata_complete(req);
}

static void zd_ata_fail_register(ZdRequest *req, uint8_t status,
                                 uint8_t error, uint64_t lba)
{
    zd_ata_end_register(req, ZD_OUTCOME_DEVICE_ERROR, status, error, lba);
}

void zd_ata_fail(ZdRequest *req, uint8_t status, uint8_t error, uint64_t lba)
{
    if (req->queued) {
        /* a Set Device Bits FIS carries no DSC bit (SATA 10.3.6) */
        zd_ata_ncq_failed(zd_ata_ssd(req), req, status & ~ATA_ST_DSC, error,
                          lba);
    } else {
        zd_ata_fail_register(req, status, error, lba);
    }
}

void zd_ata_fail_link(ZdRequest *req, uint64_t lba)
{
    const uint8_t error = ATA_ER_ICRC | ATA_ER_ABRT;

    if (req->queued) {
        zd_ata_fail(req, ATA_ST_FAILED, error, lba);
    } else {
        zd_ata_end_register(req, ZD_OUTCOME_LINK_ERROR, ATA_ST_FAILED, error,
                            lba);
    }
}

void zd_ata_abort_done(ZdRequest *req, int ret)
{
    zd_ata_fail_register(req, ATA_ST_FAILED, ATA_ER_ABRT, 0);
}

void zd_ata_abort_command(ZdRequest *req)
{
    zd_media_delay(&zd_ata_ssd(req)->media, req, zd_ata_abort_done);
}

void zd_ata_good_done(ZdRequest *req, int ret)
{
    zd_ata_good(req);
}

void zd_ata_good_later(ZdRequest *req)
{
    zd_media_delay(&zd_ata_ssd(req)->media, req, zd_ata_good_done);
}

void zd_ata_fault_done(ZdRequest *req, int ret)
{
    if (ret < 0) {
        zd_ata_fail(req, ATA_ST_FAULT, ATA_ER_ABRT, 0);
    } else {
        zd_ata_good(req);
    }
}

bool zd_ata_fits(ZdRequest *req, uint32_t sectors)
{
    if (req->sg.size < (uint64_t)sectors * ZD_SECTOR_SIZE) {
        /* the bridge tells the driver's author */
        zd_ata_outcome(req, ZD_OUTCOME_LENGTH);
        return false;
    }
    return true;
}

void zd_ata_data_in_done(ZdRequest *req, int ret)
{
    if (zd_request_to_host(req, req->buffer, req->buffer_len)) {
        zd_ata_good(req);
    } else {
        zd_ata_outcome(req, ZD_OUTCOME_BUS_ERROR);
    }
}

void zd_ata_data_in(ZdRequest *req, const void *buf, uint32_t len)
{
    if (!zd_ata_fits(req, DIV_ROUND_UP(len, ZD_SECTOR_SIZE))) {
        return;
    }
    req->buffer = g_memdup2(buf, len);
    req->buffer_len = len;
    zd_media_delay(&zd_ata_ssd(req)->media, req, zd_ata_data_in_done);
}

bool zd_ata_data_out(ZdRequest *req, uint32_t len)
{
    if (!zd_ata_fits(req, DIV_ROUND_UP(len, ZD_SECTOR_SIZE))) {
        return false;
    }
    req->buffer = g_malloc(len);
    req->buffer_len = len;
    if (!zd_request_from_host(req, req->buffer, len)) {
        zd_ata_outcome(req, ZD_OUTCOME_BUS_ERROR);
        return false;
    }
    return true;
}

void zd_ata_checksum(uint8_t page[ZD_SECTOR_SIZE])
{
    uint8_t sum = 0;
    int i;

    for (i = 0; i < ZD_SECTOR_SIZE - 1; i++) {
        sum += page[i];
    }
    page[ZD_SECTOR_SIZE - 1] = -sum;
}

/* NOP, all subcommands: ACS-2 7.19 wants it aborted. */
static void zd_ata_nop(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    zd_ata_abort_command(req);
}

/* ACS-2 table 206: diagnostic passed, ATA device */
static void zd_ata_signature_fis(uint8_t fis[ZD_FIS_REG_LEN])
{
    memset(fis, 0, ZD_FIS_REG_LEN);
    zd_ata_fis(fis, ATA_ST_GOOD, 0x01);
    fis[FIS_COUNT] = 1;
    zd_ata_set_lba(fis, 1, true);
}

/* ACS-2 7.9: passed, with the signature of an ATA device */
void zd_ata_diagnostic_done(ZdRequest *req, int ret)
{
    req->outcome = ZD_OUTCOME_GOOD;
    zd_ata_signature_fis(req->d2h);
    zd_ata_complete(req);
}

static void zd_ata_diagnostic(ZdSsd *ssd, ZdRequest *req,
                              const ZdAtaCommand *cmd)
{
    zd_media_delay(&ssd->media, req, zd_ata_diagnostic_done);
}

/* Obsolete since ATA-6; the geometry is fixed, nothing reads it. */
static void zd_ata_init_params(ZdSsd *ssd, ZdRequest *req,
                               const ZdAtaCommand *cmd)
{
    zd_ata_good_later(req);
}

static void zd_ata_read_buffer(ZdSsd *ssd, ZdRequest *req,
                               const ZdAtaCommand *cmd)
{
    zd_ata_data_in(req, ssd->buffer, sizeof(ssd->buffer));
}

static void zd_ata_write_buffer(ZdSsd *ssd, ZdRequest *req,
                                const ZdAtaCommand *cmd)
{
    if (zd_ata_data_out(req, sizeof(ssd->buffer))) {
        memcpy(ssd->buffer, req->buffer, sizeof(ssd->buffer));
        zd_ata_good_later(req);
    }
}

#define EXT     ZD_ATA_F_EXT
#define SECURE  ZD_ATA_F_SECURE
#define FUA     ZD_ATA_F_FUA
#define MULTI   ZD_ATA_F_MULTI
#define FOLLOWS ZD_ATA_F_FOLLOWS
/* reaches sectors of the medium */
#define RW      (ZD_ATA_F_LBA | ZD_ATA_F_MEDIA | ZD_ATA_F_SECURE)
#define CACHE   (ZD_ATA_F_MEDIA | ZD_ATA_F_SECURE)

const ZdAtaCommand zd_ata_commands[256] = {
    [0x00] = { "NOP", ZD_ATA_NON_DATA, 0, zd_ata_nop },
    [0x06] = { "DATA SET MANAGEMENT", ZD_ATA_DMA_OUT,
               EXT | ZD_ATA_F_MEDIA | SECURE, zd_ata_dsm },
    [0x20] = { "READ SECTORS", ZD_ATA_PIO_IN, RW, zd_ata_read },
    [0x21] = { "READ SECTORS", ZD_ATA_PIO_IN, RW, zd_ata_read },
    [0x24] = { "READ SECTORS EXT", ZD_ATA_PIO_IN, RW | EXT, zd_ata_read },
    [0x25] = { "READ DMA EXT", ZD_ATA_DMA_IN, RW | EXT, zd_ata_read },
    [0x27] = { "READ NATIVE MAX ADDRESS EXT", ZD_ATA_NON_DATA, EXT,
               zd_ata_read_native_max },
    [0x29] = { "READ MULTIPLE EXT", ZD_ATA_PIO_IN, RW | EXT | MULTI,
               zd_ata_read },
    [0x2f] = { "READ LOG EXT", ZD_ATA_PIO_IN, EXT, zd_ata_read_log_ext },
    [0x30] = { "WRITE SECTORS", ZD_ATA_PIO_OUT, RW, zd_ata_write },
    [0x31] = { "WRITE SECTORS", ZD_ATA_PIO_OUT, RW, zd_ata_write },
    [0x34] = { "WRITE SECTORS EXT", ZD_ATA_PIO_OUT, RW | EXT, zd_ata_write },
    [0x35] = { "WRITE DMA EXT", ZD_ATA_DMA_OUT, RW | EXT, zd_ata_write },
    [0x37] = { "SET MAX ADDRESS EXT", ZD_ATA_NON_DATA, EXT | SECURE | FOLLOWS,
               zd_ata_set_max },
    [0x39] = { "WRITE MULTIPLE EXT", ZD_ATA_PIO_OUT, RW | EXT | MULTI,
               zd_ata_write },
    [0x3d] = { "WRITE DMA FUA EXT", ZD_ATA_DMA_OUT, RW | EXT | FUA,
               zd_ata_write },
    [0x3f] = { "WRITE LOG EXT", ZD_ATA_PIO_OUT, EXT | SECURE,
               zd_ata_write_log_ext },
    [0x40] = { "READ VERIFY SECTORS", ZD_ATA_NON_DATA, RW, zd_ata_verify },
    [0x41] = { "READ VERIFY SECTORS", ZD_ATA_NON_DATA, RW, zd_ata_verify },
    [0x42] = { "READ VERIFY SECTORS EXT", ZD_ATA_NON_DATA, RW | EXT,
               zd_ata_verify },
    [0x47] = { "READ LOG DMA EXT", ZD_ATA_DMA_IN, EXT, zd_ata_read_log_ext },
    [0x57] = { "WRITE LOG DMA EXT", ZD_ATA_DMA_OUT, EXT | SECURE,
               zd_ata_write_log_ext },
    [0x60] = { "READ FPDMA QUEUED", ZD_ATA_FPDMA_IN, RW | EXT, zd_ata_fpdma },
    [0x61] = { "WRITE FPDMA QUEUED", ZD_ATA_FPDMA_OUT, RW | EXT,
               zd_ata_fpdma },
    [0x90] = { "EXECUTE DEVICE DIAGNOSTIC", ZD_ATA_NON_DATA, 0,
               zd_ata_diagnostic },
    [0x91] = { "INITIALIZE DEVICE PARAMETERS", ZD_ATA_NON_DATA, 0,
               zd_ata_init_params },
    [0x92] = { "DOWNLOAD MICROCODE", ZD_ATA_PIO_OUT, 0, zd_ata_microcode },
    [0x93] = { "DOWNLOAD MICROCODE DMA", ZD_ATA_DMA_OUT, 0,
               zd_ata_microcode },
    [0xb0] = { "SMART", ZD_ATA_NON_DATA, 0, zd_ata_smart },
    [0xc4] = { "READ MULTIPLE", ZD_ATA_PIO_IN, RW | MULTI, zd_ata_read },
    [0xc5] = { "WRITE MULTIPLE", ZD_ATA_PIO_OUT, RW | MULTI, zd_ata_write },
    [0xc6] = { "SET MULTIPLE MODE", ZD_ATA_NON_DATA, 0, zd_ata_set_multiple },
    [0xc8] = { "READ DMA", ZD_ATA_DMA_IN, RW, zd_ata_read },
    [0xc9] = { "READ DMA", ZD_ATA_DMA_IN, RW, zd_ata_read },
    [0xca] = { "WRITE DMA", ZD_ATA_DMA_OUT, RW, zd_ata_write },
    [0xcb] = { "WRITE DMA", ZD_ATA_DMA_OUT, RW, zd_ata_write },
    [0xce] = { "WRITE MULTIPLE FUA EXT", ZD_ATA_PIO_OUT,
               RW | EXT | FUA | MULTI, zd_ata_write },
    [0xe0] = { "STANDBY IMMEDIATE", ZD_ATA_NON_DATA, 0,
               zd_ata_standby_immediate },
    [0xe1] = { "IDLE IMMEDIATE", ZD_ATA_NON_DATA, 0, zd_ata_idle_immediate },
    [0xe2] = { "STANDBY", ZD_ATA_NON_DATA, 0, zd_ata_standby },
    [0xe3] = { "IDLE", ZD_ATA_NON_DATA, 0, zd_ata_idle },
    [0xe4] = { "READ BUFFER", ZD_ATA_PIO_IN, 0, zd_ata_read_buffer },
    [0xe5] = { "CHECK POWER MODE", ZD_ATA_NON_DATA, 0, zd_ata_check_power },
    [0xe6] = { "SLEEP", ZD_ATA_NON_DATA, 0, zd_ata_sleep },
    [0xe7] = { "FLUSH CACHE", ZD_ATA_NON_DATA, CACHE, zd_ata_flush },
    [0xe8] = { "WRITE BUFFER", ZD_ATA_PIO_OUT, 0, zd_ata_write_buffer },
    [0xea] = { "FLUSH CACHE EXT", ZD_ATA_NON_DATA, CACHE | EXT,
               zd_ata_flush },
    [0xec] = { "IDENTIFY DEVICE", ZD_ATA_PIO_IN, 0, zd_ata_identify },
    [0xef] = { "SET FEATURES", ZD_ATA_NON_DATA, 0, zd_ata_set_features },
    [0xf1] = { "SECURITY SET PASSWORD", ZD_ATA_PIO_OUT, SECURE,
               zd_ata_security_set },
    [0xf2] = { "SECURITY UNLOCK", ZD_ATA_PIO_OUT, 0, zd_ata_security_unlock },
    [0xf3] = { "SECURITY ERASE PREPARE", ZD_ATA_NON_DATA, 0,
               zd_ata_security_prepare },
    [0xf4] = { "SECURITY ERASE UNIT", ZD_ATA_PIO_OUT, FOLLOWS,
               zd_ata_security_erase },
    [0xf5] = { "SECURITY FREEZE LOCK", ZD_ATA_NON_DATA, SECURE,
               zd_ata_security_freeze },
    [0xf6] = { "SECURITY DISABLE PASSWORD", ZD_ATA_PIO_OUT, SECURE,
               zd_ata_security_disable },
    [0xf8] = { "READ NATIVE MAX ADDRESS", ZD_ATA_NON_DATA, 0,
               zd_ata_read_native_max },
    [0xf9] = { "SET MAX ADDRESS", ZD_ATA_NON_DATA, SECURE | FOLLOWS,
               zd_ata_set_max },
};

static bool zd_ata_is_command(const ZdRequest *req)
{
    return req->fis[FIS_TYPE] == FIS_TYPE_REG_H2D &&
           (req->fis[FIS_FLAGS] & FIS_FLAG_C);
}

static bool zd_ata_is_queued(void *dev, const ZdRequest *req)
{
    uint8_t protocol = zd_ata_commands[req->fis[FIS_COMMAND]].protocol;

    return zd_ata_is_command(req) && protocol >= ZD_ATA_FPDMA_IN;
}

/* What a driver does wrong. */
static const char *const mistakes[] = {
    [ZD_ATA_BAD_FIS] = "not a command FIS (type 0x27 with bit C)",
    [ZD_ATA_BAD_TAG] = "tag is in use",
    [ZD_ATA_BAD_CHS] = "CHS addressing, LBA bit is clear",
    [ZD_ATA_BAD_SLEEP] = "the SSD sleeps and answers nothing until a reset",
};

static void zd_ata_start(void *dev, ZdRequest *req)
{
    ZdSsd *ssd = dev;
    uint8_t opcode = req->fis[FIS_COMMAND];
    const ZdAtaCommand *cmd = &zd_ata_commands[opcode];
    unsigned tag = req->queued ? zd_ata_tag(req) : 0;

    ssd->commands++;
    memset(req->d2h, 0, sizeof(req->d2h));
    req->d2h[FIS_DEVICE] = req->fis[FIS_DEVICE] & 0xf0;
    trace_zd_ata_command(req->link->phy, cmd->name ?: "unknown", opcode,
                         cmd->flags & ZD_ATA_F_EXT ? zd_ata_lba48(req)
                                                   : zd_ata_lba28(req),
                         req->queued ? zd_ata_features16(req)
                                     : zd_ata_count16(req), tag);

    if (ssd->power == ZD_POWER_SLEEP) {
        /* ACS-2 4.15.2: only a reset wakes it; no command is answered */
        zd_link_mistake(req, mistakes[ZD_ATA_BAD_SLEEP]);
        return;
    }
    if (!zd_ata_is_command(req)) {
        zd_link_mistake(req, mistakes[ZD_ATA_BAD_FIS]);
        zd_ata_abort_command(req);
        return;
    }
    if (!(cmd->flags & ZD_ATA_F_FOLLOWS)) {
        ssd->preceding = 0;
    }
    if (req->queued) {
        if (ssd->ncq_error) {
            /* SATA 13.6.3; the link holds them back, this is for others */
            zd_ata_fail_register(req, ATA_ST_FAILED, ATA_ER_ABRT, 0);
            return;
        }
        if (ssd->ncq_active & BIT(tag)) {
            zd_link_mistake(req, mistakes[ZD_ATA_BAD_TAG]);
            zd_ata_fail(req, ATA_ST_FAILED, ATA_ER_ABRT, 0);
            return;
        }
        ssd->ncq_active |= BIT(tag);
    }
    if ((ssd->faults.armed || ssd->busy || ssd->panicked) &&
        zd_ata_fault_start(ssd, req, cmd)) {
        return;
    }
    if (!cmd->run) {
        zd_ata_abort_command(req);
        return;
    }
    if ((cmd->flags & ZD_ATA_F_SECURE) && ssd->sec_locked) {
        zd_ata_fail(req, ATA_ST_FAILED, ATA_ER_ABRT, 0);
        return;
    }
    if ((cmd->flags & ZD_ATA_F_LBA) && !(req->fis[FIS_DEVICE] & ATA_DEV_LBA)) {
        zd_link_mistake(req, mistakes[ZD_ATA_BAD_CHS]);
        zd_ata_fail(req, ATA_ST_FAILED, ATA_ER_ABRT, 0);
        return;
    }
    if ((cmd->flags & ZD_ATA_F_MULTI) && !ssd->settings.multiple) {
        zd_ata_fail(req, ATA_ST_FAILED, ATA_ER_ABRT, 0);
        return;
    }
    if (cmd->flags & ZD_ATA_F_MEDIA) {
        zd_ata_accessed(ssd);
    }
    cmd->run(ssd, req, cmd);
}

static void zd_ata_abort(void *dev, ZdRequest *req)
{
    ZdSsd *ssd = dev;

    if (req->media.active) {
        zd_media_cancel(&ssd->media, req);
    }
    if (req->queued) {
        ssd->ncq_active &= ~BIT(zd_ata_tag(req));
    }
}

static void zd_ata_reset(void *dev, ZdReset kind)
{
    ZdSsd *ssd = dev;

    trace_zd_ata_reset(ssd->link->phy, kind);
    ssd->resets++;
    ssd->ncq_active = 0;
    ssd->ncq_error = false;
    zd_ata_ncq_log_clear(ssd);
    ssd->preceding = 0;
    ssd->sct_table = false;
    if (ssd->power == ZD_POWER_SLEEP) {
        ssd->power = ZD_POWER_STANDBY;
    }

    switch (kind) {
    case ZD_RESET_POWER_ON:
        zd_ata_settings_default(ssd);
        zd_ata_security_power_on(ssd);
        zd_ata_hpa_power_on(ssd);
        zd_ata_sct_reset(ssd);
        zd_ata_selftest_stop(ssd, 0x20);
        ssd->power_on_ms = zd_ata_power_on_ms(ssd);
        ssd->power_on_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
        ssd->power_cycles++;
        ssd->power = ZD_POWER_ACTIVE;
        ssd->last_access_ns = ssd->power_on_ns;
        ssd->phy_not_ready = 0;
        ssd->phy_comreset = 1;
        ssd->phy_crc = 0;
        memset(ssd->buffer, 0, sizeof(ssd->buffer));
        break;
    case ZD_RESET_COMRESET:
        /* SATA 13.5: with preservation on, settings survive */
        if (!ssd->settings.preserve) {
            zd_ata_settings_default(ssd);
            zd_ata_security_comreset(ssd);
            ssd->sectors = ssd->kept_sectors;
        }
        /* neither of the two link features is on SATA's list of 13.5.1 */
        ssd->settings.auto_activate = false;
        ssd->settings.dipm = false;
        zd_ata_selftest_stop(ssd, 0x20);
        ssd->phy_not_ready = MIN(ssd->phy_not_ready + 1, UINT16_MAX);
        ssd->phy_comreset = MIN(ssd->phy_comreset + 1, UINT16_MAX);
        break;
    case ZD_RESET_SOFT:
        zd_ata_selftest_stop(ssd, 0x20);
        break;
    }
    zd_ata_microcode_reset(ssd);
    zd_ata_fault_reset(ssd);
}

static bool zd_ata_signature(void *dev, uint8_t fis[ZD_FIS_REG_LEN])
{
    ZdSsd *ssd = dev;

    if (ssd->busy) {
        return false;
    }
    zd_ata_signature_fis(fis);
    fis[FIS_FLAGS] = 0;
    return true;
}

const ZdDeviceOps zd_ata_ops = {
    .is_queued = zd_ata_is_queued,
    .start = zd_ata_start,
    .abort = zd_ata_abort,
    .reset = zd_ata_reset,
    .signature = zd_ata_signature,
    .save = zd_ata_save,
    .restore = zd_ata_restore,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The security feature set (ACS-2 4.20, 7.41 to 7.46): passwords, lock and
 * erasure.
 *
 * States of the standard: disabled (SEC1, SEC2 frozen), locked (SEC4) and
 * unlocked (SEC5, SEC6 frozen).  A locked device aborts every command with
 * ZD_ATA_F_SECURE in the table.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "ata-internal.h"

#define ATTEMPTS        5

/* Data of the commands with a password, ACS-2 table 99 and following */
enum {
    PW_CONTROL      = 0,
    PW_PASSWORD     = 2,
    PW_MASTER_ID    = 34,
};

#define PW_MASTER       0x0001      /* else the user password */
#define PW_MAXIMUM      0x0100      /* SET PASSWORD: level */

uint16_t zd_ata_security_word128(const ZdSsd *ssd)
{
    return 0x0021 |                 /* supported, with enhanced erase */
           (ssd->sec_enabled ? 0x0002 : 0) |
           (ssd->sec_locked ? 0x0004 : 0) |
           (ssd->sec_frozen ? 0x0008 : 0) |
           (ssd->sec_attempts ? 0 : 0x0010) |
           (ssd->sec_enabled && ssd->sec_maximum ? 0x0100 : 0);
}

void zd_ata_security_power_on(ZdSsd *ssd)
{
    ssd->sec_locked = ssd->sec_enabled;
    ssd->sec_frozen = false;
    ssd->sec_attempts = ATTEMPTS;
}

void zd_ata_security_comreset(ZdSsd *ssd)
{
    ssd->sec_locked = ssd->sec_enabled;
    ssd->sec_frozen = false;
    ssd->sec_attempts = ATTEMPTS;
}

/* Fetch a command's data, when the device lets passwords in at all. */
static bool security_data(ZdSsd *ssd, ZdRequest *req)
{
    if (ssd->sec_frozen) {
        zd_ata_abort_command(req);
        return false;
    }
    return zd_ata_data_out(req, ZD_SECTOR_SIZE);
}

static bool is_master(const ZdRequest *req)
{
    return lduw_le_p((uint8_t *)req->buffer + PW_CONTROL) & PW_MASTER;
}

static bool password_matches(const ZdSsd *ssd, const ZdRequest *req)
{
    const uint8_t *want = is_master(req) ? ssd->sec_master : ssd->sec_user;

    return !memcmp((uint8_t *)req->buffer + PW_PASSWORD, want,
                   ATA_PASSWORD_LEN);
}

void zd_ata_security_set(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    const uint8_t *data;
    uint16_t id;

    if (!security_data(ssd, req)) {
        return;
    }
    data = req->buffer;
    if (is_master(req)) {
        memcpy(ssd->sec_master, data + PW_PASSWORD, ATA_PASSWORD_LEN);
        id = lduw_le_p(data + PW_MASTER_ID);
        if (id != 0x0000 && id != 0xffff) {
            ssd->sec_master_id = id;
        }
    } else {
        memcpy(ssd->sec_user, data + PW_PASSWORD, ATA_PASSWORD_LEN);
        ssd->sec_maximum = lduw_le_p(data + PW_CONTROL) & PW_MAXIMUM;
        ssd->sec_enabled = true;
    }
    zd_ata_good_later(req);
}

void zd_ata_security_unlock(ZdSsd *ssd, ZdRequest *req,
                            const ZdAtaCommand *cmd)
{
    if (!security_data(ssd, req)) {
        return;
    }
    if (!ssd->sec_enabled || !ssd->sec_attempts) {
        zd_ata_abort_command(req);
        return;
    }
    if ((is_master(req) && ssd->sec_maximum) || !password_matches(ssd, req)) {
        if (ssd->sec_locked) {
            ssd->sec_attempts--;
        }
        zd_ata_abort_command(req);
        return;
    }
    ssd->sec_locked = false;
    zd_ata_good_later(req);
}

void zd_ata_security_prepare(ZdSsd *ssd, ZdRequest *req,
                             const ZdAtaCommand *cmd)
{
    if (ssd->sec_frozen) {
        zd_ata_abort_command(req);
        return;
    }
    ssd->preceding = req->fis[FIS_COMMAND];
    zd_ata_good_later(req);
}

void zd_ata_erase_done(ZdRequest *req, int ret)
{
    ZdSsd *ssd = zd_ata_ssd(req);

    if (!ret) {
        /* the user password goes, the master password stays */
        ssd->sec_enabled = false;
        ssd->sec_locked = false;
        ssd->sec_maximum = false;
        memset(ssd->sec_user, 0, sizeof(ssd->sec_user));
    }
    zd_ata_fault_done(req, ret);
}

void zd_ata_security_erase(ZdSsd *ssd, ZdRequest *req,
                           const ZdAtaCommand *cmd)
{
    bool prepared = zd_ata_preceding(ssd) == 0xf3;

    if (!security_data(ssd, req)) {
        return;
    }
    if (!prepared || !ssd->sec_attempts ||
        (!ssd->sec_enabled && !is_master(req))) {
        zd_ata_abort_command(req);
        return;
    }
    if (!password_matches(ssd, req)) {
        if (ssd->sec_locked) {
            ssd->sec_attempts--;
        }
        zd_ata_abort_command(req);
        return;
    }
    /* normal and enhanced erase leave the same: all sectors unwritten */
    zd_media_erase(&ssd->media, req, zd_ata_erase_done);
}

void zd_ata_security_freeze(ZdSsd *ssd, ZdRequest *req,
                            const ZdAtaCommand *cmd)
{
    ssd->sec_frozen = true;
    zd_ata_good_later(req);
}

void zd_ata_security_disable(ZdSsd *ssd, ZdRequest *req,
                             const ZdAtaCommand *cmd)
{
    if (!security_data(ssd, req)) {
        return;
    }
    if (!ssd->sec_enabled || (is_master(req) && ssd->sec_maximum) ||
        !password_matches(ssd, req)) {
        zd_ata_abort_command(req);
        return;
    }
    ssd->sec_enabled = false;
    ssd->sec_maximum = false;
    zd_ata_good_later(req);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The power management feature set (ACS-2 4.15).
 *
 * An SSD has nothing to spin down, so the modes are what CHECK POWER MODE
 * reports and no more; SLEEP alone changes behaviour, it ends all service
 * until a reset.
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "ata-internal.h"

/* Standby timer period, ACS-2 table 57; 0 for a timer that is off */
static int64_t standby_ns(uint8_t period)
{
    int64_t seconds;

    switch (period) {
    case 0:
        return 0;
    case 1 ... 240:
        seconds = period * 5;
        break;
    case 241 ... 251:
        seconds = (period - 240) * 30 * 60;
        break;
    case 252:
        seconds = 21 * 60;
        break;
    case 255:
        seconds = 21 * 60 + 15;
        break;
    default:                    /* 253: 8 to 12 hours, 254: reserved */
        seconds = 8 * 3600;
        break;
    }
    return seconds * NANOSECONDS_PER_SECOND;
}

/* Let the standby timer have run out, if it has. */
static void update_power(ZdSsd *ssd)
{
    int64_t period = standby_ns(ssd->settings.standby);

    if (period && ssd->power < ZD_POWER_STANDBY &&
        qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - ssd->last_access_ns
            >= period) {
        ssd->power = ZD_POWER_STANDBY;
    }
}

void zd_ata_accessed(ZdSsd *ssd)
{
    ssd->power = ZD_POWER_ACTIVE;
    if (ssd->settings.standby) {
        ssd->last_access_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    }
}

static void set_standby_timer(ZdSsd *ssd, uint8_t period)
{
    ssd->settings.standby = period;
    ssd->last_access_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* ACS-2 table 38 */
void zd_ata_check_power(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    static const uint8_t report[] = {
        [ZD_POWER_ACTIVE] = 0xff,
        [ZD_POWER_IDLE] = 0x80,
        [ZD_POWER_STANDBY] = 0x00,
    };

    update_power(ssd);
    req->d2h[FIS_COUNT] = report[ssd->power];
    zd_ata_good_later(req);
}

void zd_ata_idle(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    set_standby_timer(ssd, req->fis[FIS_COUNT]);
    ssd->power = ZD_POWER_IDLE;
    zd_ata_good_later(req);
}

void zd_ata_idle_immediate(ZdSsd *ssd, ZdRequest *req,
                           const ZdAtaCommand *cmd)
{
    ssd->power = ZD_POWER_IDLE;
    if (req->fis[FIS_FEATURES] == 0x44) {
        /* unload, ACS-2 7.14.3: "UNL" asks, C4h says done */
        if ((zd_ata_lba28(req) & 0xffffff) != 0x554e4c) {
            zd_ata_abort_command(req);
            return;
        }
        req->d2h[FIS_LBA_LOW] = 0xc4;
    }
    zd_ata_good_later(req);
}

/* Standby and sleep leave nothing volatile behind. */
static void enter(ZdSsd *ssd, ZdRequest *req, ZdMediaDone *done)
{
    zd_media_flush(&ssd->media, req, done);
}

void zd_ata_standby_done(ZdRequest *req, int ret)
{
    if (!ret) {
        zd_ata_ssd(req)->power = ZD_POWER_STANDBY;
    }
    zd_ata_fault_done(req, ret);
}

void zd_ata_sleep_done(ZdRequest *req, int ret)
{
    if (!ret) {
        zd_ata_ssd(req)->power = ZD_POWER_SLEEP;
    }
    zd_ata_fault_done(req, ret);
}

void zd_ata_standby(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    set_standby_timer(ssd, req->fis[FIS_COUNT]);
    enter(ssd, req, zd_ata_standby_done);
}

void zd_ata_standby_immediate(ZdSsd *ssd, ZdRequest *req,
                              const ZdAtaCommand *cmd)
{
    enter(ssd, req, zd_ata_standby_done);
}

void zd_ata_sleep(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    enter(ssd, req, zd_ata_sleep_done);
}

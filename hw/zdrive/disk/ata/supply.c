/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The supply of an SSD: what happens when it fails, and what comes back.
 *
 * After a power cut the firmware reads its map from NAND before it answers; the
 * times are assumed, of the order that owners of SandForce SSDs report.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/timer.h"
#include "ata-internal.h"

#define RECOVERY_CLEAN_NS   (100 * SCALE_MS)
#define RECOVERY_CUT_NS     (600 * SCALE_MS)

void zd_ssd_supply_fails(ZdSsd *ssd)
{
    zd_media_freeze(&ssd->media);
}

void zd_ata_lose_power(ZdSsd *ssd, ZdLoss loss, ZdCutReport *report)
{
    ZdCutRules rules = {
        .loss = loss,
        .capacitor = ssd->profile->supercap,
        .health = ssd->capacitor,
    };

    /* ACS-2 7.50.6: only STANDBY IMMEDIATE and SLEEP prepare for it */
    ssd->was_cut = ssd->power < ZD_POWER_STANDBY;
    ssd->unsafe_off += ssd->was_cut;
    timer_del(ssd->signature_timer);
    /* nothing comes back now; with the power, all does */
    timer_del(ssd->return_timer);
    zd_link_set_down(ssd->link, ZD_LINK_DROPPED, false);
    zd_media_power_cut(&ssd->media, &rules, report);
}

void zd_ssd_power_off(ZdSsd *ssd, ZdLoss loss, ZdCutReport *report)
{
    /* takes every request away first */
    zd_link_set_down(ssd->link, ZD_LINK_UNPOWERED, true);
    zd_ata_lose_power(ssd, loss, report);
}

void zd_ssd_reseed(ZdSsd *ssd, uint64_t seed)
{
    zd_media_reseed(&ssd->media, seed);
}

int64_t zd_ssd_power_on(ZdSsd *ssd)
{
    int64_t recovery = ssd->was_cut ? RECOVERY_CUT_NS : RECOVERY_CLEAN_NS;

    ssd->ready_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + recovery;
    zd_link_set_down(ssd->link, ZD_LINK_UNPOWERED, false);
    return recovery;
}

void zd_ssd_set_capacitor(ZdSsd *ssd, unsigned health)
{
    ssd->capacitor = health;
}

bool zd_ssd_chance(ZdSsd *ssd, uint32_t one_in)
{
    return zd_faults_chance(&ssd->faults, one_in);
}

void zd_ssd_grow_bad_blocks(ZdSsd *ssd, uint64_t count)
{
    if (ssd->media.flash) {
        zd_flash_retire(ssd->media.flash, count);
    }
}

void zd_ssd_add_fault(ZdSsd *ssd, const char *fault)
{
    g_autofree char *before = zd_faults_format(&ssd->faults);
    g_autofree char *after = g_strdup_printf("%s;%s", before, fault);

    zd_ssd_set_faults(ssd, after, &error_abort);
}

uint8_t zd_ssd_describe(ZdSsd *ssd, const ZdRequest *req, uint64_t *lba,
                        uint32_t *sectors)
{
    uint8_t opcode = req->fis[FIS_COMMAND];
    const ZdAtaCommand *cmd = &zd_ata_commands[opcode];

    if (cmd->flags & ZD_ATA_F_LBA) {
        zd_ata_extent(req, cmd, lba, sectors);
    }
    return opcode;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SSD as a QOM object: made by a card, at the end of one link, with one
 * medium.  What it answers is in commands.c and the files it names.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/timer.h"
#include "ata-internal.h"

static ZdRate zd_ssd_rate(const ZdSsdProfile *profile)
{
    return profile->sata_gen >= 3 ? ZD_RATE_6G : ZD_RATE_3G;
}

bool zd_ssd_setup(ZdSsd *ssd, const ZdSsdConfig *cfg, ZdLink *link)
{
    if (!zd_media_init(&ssd->media, &cfg->media)) {
        return false;
    }
    ssd->link = link;
    ssd->profile = cfg->profile;
    ssd->native_sectors = cfg->media.sectors;
    ssd->kept_sectors = cfg->media.sectors;
    ssd->wwn = cfg->wwn;
    pstrcpy(ssd->model, sizeof(ssd->model), cfg->model);
    pstrcpy(ssd->firmware, sizeof(ssd->firmware), cfg->firmware);
    pstrcpy(ssd->serial, sizeof(ssd->serial), cfg->serial);

    ssd->capacitor = 100;
    ssd->smart_enabled = true;
    ssd->smart_autosave = true;
    ssd->sec_master_id = 0xfffe;
    ssd->power_on_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    zd_ata_fault_init(ssd, cfg->seed + cfg->media.member);
    zd_link_attach_device(link, &zd_ata_ops, ssd, zd_ssd_rate(cfg->profile));
    zd_ata_ops.reset(ssd, ZD_RESET_POWER_ON);
    return true;
}

ZdFlash *zd_ssd_flash(const ZdSsd *ssd)
{
    return ssd->media.flash;
}

static void zd_ssd_finalize(Object *obj)
{
    ZdSsd *ssd = ZDRIVE_SSD(obj);

    if (ssd->link) {
        zd_link_abort_all(ssd->link);
        zd_link_attach_device(ssd->link, NULL, NULL, ZD_RATE_NONE);
        zd_media_cleanup(&ssd->media);
        zd_ata_fault_cleanup(ssd);
        zd_ata_microcode_forget(ssd);
    }
    g_free(ssd->host_logs);
}

const TypeInfo zd_ssd_type_info = {
    .name = TYPE_ZDRIVE_SSD,
    .parent = TYPE_OBJECT,
    .instance_size = sizeof(ZdSsd),
    .instance_finalize = zd_ssd_finalize,
    .class_init = zd_ssd_class_init,
};

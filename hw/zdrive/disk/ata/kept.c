/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an SSD keeps without power: for the state file of the card, where it
 * waits until the next QEMU.  What power-on resets is not part of it; nor is
 * the flash model, which is a block of bytes of its own.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/timer.h"
#include "ata-internal.h"

static int kept_pre_save(void *opaque)
{
    ZdSsd *ssd = opaque;
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    int64_t on = now - ssd->power_on_ns;

    /* the time under power so far; no fraction of it gets lost */
    ssd->power_on_ms += on / SCALE_MS;
    ssd->power_on_ns = now - on % SCALE_MS;
    ssd->kept_ns = now;
    return 0;
}

static int kept_pre_load(void *opaque)
{
    ZdSsd *ssd = opaque;

    /* all zero when none come */
    g_clear_pointer(&ssd->host_logs, g_free);
    return 0;
}

static int kept_post_load(void *opaque, int version_id)
{
    ZdSsd *ssd = opaque;
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    ssd->firmware[8] = 0;
    ssd->new_firmware[8] = 0;
    ssd->given_firmware[8] = 0;
    if (ssd->kept_sectors < 1 || ssd->kept_sectors > ssd->native_sectors ||
        ssd->selftest_last > ATA_SELFTEST_ENTRIES) {
        return -EINVAL;
    }
    /* virtual time has begun anew */
    ssd->power_on_ns = now;
    ssd->selftest_start_ns += now - ssd->kept_ns;
    ssd->selftest_end_ns += now - ssd->kept_ns;
    return 0;
}

/* Its name is that of the other one because they share a subsection. */
const VMStateDescription zd_vmstate_ssd_kept = {
    .name = "zdrive/ssd",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = kept_pre_save,
    .pre_load = kept_pre_load,
    .post_load = kept_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(media.sectors_read, ZdSsd),
        VMSTATE_UINT64(media.sectors_written, ZdSsd),
        VMSTATE_UINT64(media.sectors_trimmed, ZdSsd),
        VMSTATE_UINT64(media.flushes, ZdSsd),
        {
            .name = "media.bad",
            .info = &zd_vmstate_info_bad,
            .size = sizeof(ZdVolatile),
            .offset = offsetof(ZdSsd, media.risk),
            .flags = VMS_SINGLE,
        },
        VMSTATE_UINT64(kept_sectors, ZdSsd),
        VMSTATE_BOOL(smart_enabled, ZdSsd),
        VMSTATE_BOOL(smart_autosave, ZdSsd),
        VMSTATE_BOOL(auto_offline, ZdSsd),
        VMSTATE_UINT8(offline_status, ZdSsd),
        VMSTATE_UINT64(power_cycles, ZdSsd),
        VMSTATE_UINT64(unsafe_off, ZdSsd),
        VMSTATE_UINT64(uncorrectable, ZdSsd),
        VMSTATE_UINT64(crc_errors, ZdSsd),
        VMSTATE_UINT64(power_on_ms, ZdSsd),
        VMSTATE_INT64(kept_ns, ZdSsd),
        VMSTATE_UINT8(selftest, ZdSsd),
        VMSTATE_UINT8(selftest_status, ZdSsd),
        VMSTATE_INT64(selftest_start_ns, ZdSsd),
        VMSTATE_INT64(selftest_end_ns, ZdSsd),
        VMSTATE_UINT8(selftest_last, ZdSsd),
        VMSTATE_STRUCT_ARRAY(selftest_log, ZdSsd, ATA_SELFTEST_ENTRIES, 1,
                             zd_vmstate_selftest, ZdSelftest),
        VMSTATE_UINT8_ARRAY(selective, ZdSsd, ZD_SECTOR_SIZE),
        VMSTATE_BOOL(sec_enabled, ZdSsd),
        VMSTATE_BOOL(sec_maximum, ZdSsd),
        VMSTATE_UINT16(sec_master_id, ZdSsd),
        VMSTATE_UINT8_ARRAY(sec_user, ZdSsd, ATA_PASSWORD_LEN),
        VMSTATE_UINT8_ARRAY(sec_master, ZdSsd, ATA_PASSWORD_LEN),
        VMSTATE_BUFFER_UNSAFE(firmware, ZdSsd, 0, 9),
        VMSTATE_BUFFER_UNSAFE(new_firmware, ZdSsd, 0, 9),
        VMSTATE_BUFFER_UNSAFE(given_firmware, ZdSsd, 0, 9),
        VMSTATE_END_OF_LIST()
    },
    .subsections = (const VMStateDescription * []) {
        &zd_vmstate_ssd_host_logs,
        NULL
    },
};

void zd_ssd_kept_begin(ZdSsd *ssd, const char *firmware, bool lost,
                     bool not_counted)
{
    if (strcmp(ssd->given_firmware, firmware)) {
        /* the user wants another one than before */
        pstrcpy(ssd->given_firmware, sizeof(ssd->given_firmware), firmware);
        pstrcpy(ssd->firmware, sizeof(ssd->firmware), firmware);
        ssd->new_firmware[0] = 0;
    }
    ssd->unsafe_off += lost;
    ssd->power_cycles += not_counted;
    /* set-up has reset an SSD that was as new */
    ssd->resets = 0;
    zd_ata_ops.reset(ssd, ZD_RESET_POWER_ON);
}

void zd_ssd_kept_end(ZdSsd *ssd)
{
    bool powered = !(ssd->link->down & (ZD_LINK_UNPLUGGED | ZD_LINK_MISSING |
                                        ZD_LINK_UNPOWERED));

    /* ACS-2 7.50.6: only STANDBY IMMEDIATE and SLEEP prepare for it */
    ssd->unsafe_off += powered && ssd->power < ZD_POWER_STANDBY;
}

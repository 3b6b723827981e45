/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Migration of an SSD, and of how its commands go on.
 *
 * Identity and capacity come from the card's properties and must be the same
 * on both sides; all that a host can change is in the stream.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "ata-internal.h"

/* The stream holds indexes into this table: append, never reorder. */
static ZdMediaDone *const resume_table[] = {
    NULL,                       /* nothing will come: asleep or hung */
    zd_ata_good_done,
    zd_ata_abort_done,
    zd_ata_data_in_done,
    zd_ata_diagnostic_done,
    zd_ata_read_done,
    zd_ata_write_done,
    zd_ata_fault_done,
    zd_ata_standby_done,
    zd_ata_sleep_done,
    zd_ata_erase_done,
};

uint8_t zd_ata_save(void *dev, const ZdRequest *req)
{
    uint8_t i;

    if (!req->media.active) {
        return 0;
    }
    for (i = 1; i < ARRAY_SIZE(resume_table); i++) {
        if (resume_table[i] == req->media.done) {
            return i;
        }
    }
    g_assert_not_reached();
}

bool zd_ata_restore(void *dev, ZdRequest *req, uint8_t resume)
{
    ZdSsd *ssd = dev;

    if (resume >= ARRAY_SIZE(resume_table) ||
        req->media.active != (resume != 0)) {
        return false;
    }
    if (resume) {
        zd_media_restore(&ssd->media, req, resume_table[resume]);
    }
    return true;
}

static const VMStateDescription vmstate_settings = {
    .name = "zdrive/ata-settings",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_BOOL(write_cache, ZdAtaSettings),
        VMSTATE_BOOL(look_ahead, ZdAtaSettings),
        VMSTATE_BOOL(apm, ZdAtaSettings),
        VMSTATE_UINT8(apm_level, ZdAtaSettings),
        VMSTATE_UINT8(xfer_mode, ZdAtaSettings),
        VMSTATE_UINT8(multiple, ZdAtaSettings),
        VMSTATE_BOOL(preserve, ZdAtaSettings),
        VMSTATE_BOOL(auto_activate, ZdAtaSettings),
        VMSTATE_BOOL(dipm, ZdAtaSettings),
        VMSTATE_UINT8(standby, ZdAtaSettings),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_selftest = {
    .name = "zdrive/self-test",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT8(number, ZdSelftest),
        VMSTATE_UINT8(status, ZdSelftest),
        VMSTATE_UINT16(hours, ZdSelftest),
        VMSTATE_END_OF_LIST()
    },
};

static bool host_logs_needed(void *opaque)
{
    return ((ZdSsd *)opaque)->host_logs;
}

static int host_logs_pre_load(void *opaque)
{
    ZdSsd *ssd = opaque;

    g_free(ssd->host_logs);
    ssd->host_logs = g_malloc0(ATA_HOST_LOGS * ATA_HOST_LOG_BYTES);
    return 0;
}

static const VMStateDescription vmstate_host_logs = {
    .name = "zdrive/ssd/host-logs",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = host_logs_needed,
    .pre_load = host_logs_pre_load,
    .fields = (const VMStateField[]) {
        VMSTATE_BUFFER_POINTER_UNSAFE(host_logs, ZdSsd, 1,
                                      ATA_HOST_LOGS * ATA_HOST_LOG_BYTES),
        VMSTATE_END_OF_LIST()
    },
};

static int ssd_pre_load(void *opaque)
{
    ZdSsd *ssd = opaque;

    /* all zero when the stream does not bring them */
    g_free(ssd->host_logs);
    ssd->host_logs = NULL;
    zd_ata_microcode_forget(ssd);
    return 0;
}

/* What the code takes for granted, where a stream could say otherwise. */
static int ssd_post_load(void *opaque, int version_id)
{
    ZdSsd *ssd = opaque;

    ssd->firmware[8] = 0;
    ssd->new_firmware[8] = 0;
    if (ssd->power > ZD_POWER_SLEEP ||
        ssd->selftest_last > ATA_SELFTEST_ENTRIES ||
        ssd->sectors > ssd->native_sectors ||
        ssd->kept_sectors > ssd->native_sectors ||
        ssd->image_len % ZD_SECTOR_SIZE ||
        ssd->image_len > ATA_IMAGE_BLOCKS * ZD_SECTOR_SIZE) {
        error_report("zdrive: the stream holds an SSD in a state that does "
                     "not exist");
        return -EINVAL;
    }
    return 0;
}

const VMStateDescription zd_vmstate_ssd = {
    .name = "zdrive/ssd",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_load = ssd_pre_load,
    .post_load = ssd_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64_EQUAL(native_sectors, ZdSsd,
                             "the card has another capacity here"),
        VMSTATE_STRUCT(media, ZdSsd, 1, zd_vmstate_media, ZdMedia),
        VMSTATE_STRUCT(settings, ZdSsd, 1, vmstate_settings, ZdAtaSettings),
        VMSTATE_UINT8(preceding, ZdSsd),
        VMSTATE_UINT64(sectors, ZdSsd),
        VMSTATE_UINT64(kept_sectors, ZdSsd),
        VMSTATE_BOOL(hpa_kept, ZdSsd),
        VMSTATE_UINT8(power, ZdSsd),
        VMSTATE_INT64(last_access_ns, ZdSsd),
        VMSTATE_UINT32(ncq_active, ZdSsd),
        VMSTATE_BOOL(ncq_error, ZdSsd),
        VMSTATE_UINT8_ARRAY(ncq_log, ZdSsd, 16),
        VMSTATE_BOOL(smart_enabled, ZdSsd),
        VMSTATE_BOOL(smart_autosave, ZdSsd),
        VMSTATE_BOOL(auto_offline, ZdSsd),
        VMSTATE_UINT8(offline_status, ZdSsd),
        VMSTATE_UINT64(power_cycles, ZdSsd),
        VMSTATE_UINT64(unsafe_off, ZdSsd),
        VMSTATE_UINT64(uncorrectable, ZdSsd),
        VMSTATE_UINT64(crc_errors, ZdSsd),
        VMSTATE_INT64(power_on_ns, ZdSsd),
        VMSTATE_UINT64(power_on_ms, ZdSsd),
        VMSTATE_UINT8(selftest, ZdSsd),
        VMSTATE_UINT8(selftest_status, ZdSsd),
        VMSTATE_INT64(selftest_start_ns, ZdSsd),
        VMSTATE_INT64(selftest_end_ns, ZdSsd),
        VMSTATE_UINT8(selftest_last, ZdSsd),
        VMSTATE_STRUCT_ARRAY(selftest_log, ZdSsd, ATA_SELFTEST_ENTRIES, 1,
                             vmstate_selftest, ZdSelftest),
        VMSTATE_UINT8_ARRAY(selective, ZdSsd, ZD_SECTOR_SIZE),
        VMSTATE_UINT16(phy_not_ready, ZdSsd),
        VMSTATE_UINT16(phy_comreset, ZdSsd),
        VMSTATE_UINT16(phy_crc, ZdSsd),
        VMSTATE_UINT16(sct_action, ZdSsd),
        VMSTATE_UINT16(sct_function, ZdSsd),
        VMSTATE_UINT16(sct_status, ZdSsd),
        VMSTATE_BOOL(sct_table, ZdSsd),
        VMSTATE_UINT16_ARRAY(sct_erc, ZdSsd, 2),
        VMSTATE_BOOL(sec_enabled, ZdSsd),
        VMSTATE_BOOL(sec_locked, ZdSsd),
        VMSTATE_BOOL(sec_frozen, ZdSsd),
        VMSTATE_BOOL(sec_maximum, ZdSsd),
        VMSTATE_UINT8(sec_attempts, ZdSsd),
        VMSTATE_UINT16(sec_master_id, ZdSsd),
        VMSTATE_UINT8_ARRAY(sec_user, ZdSsd, ATA_PASSWORD_LEN),
        VMSTATE_UINT8_ARRAY(sec_master, ZdSsd, ATA_PASSWORD_LEN),
        VMSTATE_UINT8_ARRAY(buffer, ZdSsd, ZD_SECTOR_SIZE),
        VMSTATE_BUFFER_UNSAFE(firmware, ZdSsd, 0, 9),
        VMSTATE_BUFFER_UNSAFE(new_firmware, ZdSsd, 0, 9),
        VMSTATE_UINT32(image_len, ZdSsd),
        VMSTATE_VBUFFER_ALLOC_UINT32(image, ZdSsd, 1, NULL, image_len),
        VMSTATE_STRUCT(faults, ZdSsd, 1, zd_vmstate_faults, ZdFaults),
        VMSTATE_BOOL(busy, ZdSsd),
        VMSTATE_BOOL(panicked, ZdSsd),
        VMSTATE_UINT8(panic, ZdSsd),
        VMSTATE_UINT8(capacitor, ZdSsd),
        VMSTATE_BOOL(was_cut, ZdSsd),
        VMSTATE_INT64(ready_ns, ZdSsd),
        VMSTATE_TIMER_PTR(signature_timer, ZdSsd),
        VMSTATE_TIMER_PTR(return_timer, ZdSsd),
        VMSTATE_UINT64(commands, ZdSsd),
        VMSTATE_UINT64(errors, ZdSsd),
        VMSTATE_UINT64(queue_errors, ZdSsd),
        VMSTATE_UINT64(hung, ZdSsd),
        VMSTATE_UINT64(resets, ZdSsd),
        VMSTATE_UINT64(link_losses, ZdSsd),
        VMSTATE_END_OF_LIST()
    },
    .subsections = (const VMStateDescription * []) {
        &vmstate_host_logs,
        NULL
    },
};

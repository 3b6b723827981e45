/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SMART: attributes, thresholds and health (ACS-2 7.48 and SFF-8035i).
 *
 * Which attributes exist, with flags, values and thresholds, is the
 * catalogue's; raw values that count something are computed from the medium's
 * and the device's counters when a host asks.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "qapi/visitor.h"
#include "ata-internal.h"

#define SMART_REVISION      10      /* real-cards.md 2.4 */
#define SMART_ATTRIBUTES    30
#define SMART_PREFAIL       0x0001
#define SMART_KEY           0xc24f  /* LBA 23:8 of every SMART command */
#define SMART_KEY_FAILING   0x2cf4

#define SECTORS_PER_GIB     (GiB / ZD_SECTOR_SIZE)

uint64_t zd_ata_power_on_ms(const ZdSsd *ssd)
{
    return ssd->power_on_ms +
           (qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - ssd->power_on_ns) /
           SCALE_MS;
}

static uint64_t attribute_raw(const ZdSsd *ssd, const ZdSmartAttr *attr)
{
    uint64_t ms;

    switch (attr->source) {
    case ZD_SMART_POWER_ON_TIME:
        /* the row's start value is in hours */
        ms = zd_ata_power_on_ms(ssd);
        return ((ms / 3600000 + attr->raw) & UINT32_MAX) |
               (ms % 3600000) << 32;
    case ZD_SMART_POWER_CYCLES:
        return attr->raw + ssd->power_cycles;
    case ZD_SMART_UNSAFE_OFF:
        return attr->raw + ssd->unsafe_off;
    case ZD_SMART_UNCORRECTABLE:
        return attr->raw + ssd->uncorrectable;
    case ZD_SMART_CRC_ERRORS:
        return attr->raw + ssd->crc_errors;
    case ZD_SMART_NAND_WRITTEN_GIB:
        /* until the flash model counts: write amplification 1 */
    case ZD_SMART_HOST_WRITTEN_GIB:
        return attr->raw + ssd->media.sectors_written / SECTORS_PER_GIB;
    case ZD_SMART_HOST_READ_GIB:
        return attr->raw + ssd->media.sectors_read / SECTORS_PER_GIB;
    case ZD_SMART_TEMPERATURE:
    case ZD_SMART_FIXED:
        break;
    }
    return attr->raw;
}

bool zd_ata_smart_visit(ZdSsd *ssd, Visitor *v, const char *name,
                        Error **errp)
{
    const ZdSmartAttr *attr = ssd->profile->smart;
    bool good = visit_start_struct(v, name, NULL, 0, errp);

    if (!good) {
        return false;
    }
    for (; attr->id && good; attr++) {
        g_autofree char *id = g_strdup_printf("%u", attr->id);
        uint64_t raw = attribute_raw(ssd, attr);

        good = visit_type_uint64(v, id, &raw, errp);
    }
    visit_end_struct(v, NULL);
    return good;
}

static void smart_read_data(ZdSsd *ssd, ZdRequest *req,
                            const ZdAtaCommand *cmd)
{
    const ZdSsdProfile *profile = ssd->profile;
    const ZdSmartAttr *attr = profile->smart;
    uint8_t page[ZD_SECTOR_SIZE] = { 0 };
    int i, n;

    stw_le_p(page, SMART_REVISION);
    for (i = 0; i < SMART_ATTRIBUTES && attr->id; i++, attr++) {
        uint8_t *p = page + 2 + 12 * i;
        uint64_t raw = attribute_raw(ssd, attr);

        p[0] = attr->id;
        stw_le_p(p + 1, attr->flags);
        p[3] = attr->value;
        p[4] = attr->worst;
        /* 48 bits; SandForce uses the reserved byte as the 7th of some */
        for (n = 0; n < 7; n++) {
            p[5 + n] = raw >> (8 * n);
        }
    }
    page[362] = ssd->offline_status | (ssd->auto_offline ? 0x80 : 0);
    page[363] = zd_ata_selftest_status(ssd);
    page[367] = profile->offline_caps;
    stw_le_p(page + 368, 0x0003);       /* saves by itself and on a timer */
    page[370] = 0x01;                   /* error logging */
    page[372] = profile->selftest_short_min;
    page[373] = profile->selftest_ext_min;
    page[374] = profile->selftest_conv_min;
    zd_ata_checksum(page);
    zd_ata_data_in(req, page, sizeof(page));
}

static void smart_read_thresholds(ZdSsd *ssd, ZdRequest *req,
                                  const ZdAtaCommand *cmd)
{
    const ZdSmartAttr *attr = ssd->profile->smart;
    uint8_t page[ZD_SECTOR_SIZE] = { 0 };
    int i;

    stw_le_p(page, SMART_REVISION);
    for (i = 0; i < SMART_ATTRIBUTES && attr->id; i++, attr++) {
        page[2 + 12 * i] = attr->id;
        page[3 + 12 * i] = attr->threshold;
    }
    zd_ata_checksum(page);
    zd_ata_data_in(req, page, sizeof(page));
}

static void smart_autosave(ZdSsd *ssd, ZdRequest *req,
                           const ZdAtaCommand *cmd)
{
    switch (req->fis[FIS_COUNT]) {
    case 0x00:
        ssd->smart_autosave = false;
        break;
    case 0xf1:
        ssd->smart_autosave = true;
        break;
    default:
        zd_ata_abort_command(req);
        return;
    }
    zd_ata_good_later(req);
}

/* Obsolete since ATA-5, which says 00h off, F8h on; smartctl still uses it. */
static void smart_auto_offline(ZdSsd *ssd, ZdRequest *req,
                               const ZdAtaCommand *cmd)
{
    switch (req->fis[FIS_COUNT]) {
    case 0x00:
        ssd->auto_offline = false;
        break;
    case 0xf8:
        ssd->auto_offline = true;
        break;
    default:
        zd_ata_abort_command(req);
        return;
    }
    zd_ata_good_later(req);
}

/* Obsolete; there is nothing that has to be saved. */
static void smart_save(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    zd_ata_good_later(req);
}

static void smart_enable(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    ssd->smart_enabled = req->fis[FIS_FEATURES] == 0xd8;
    zd_ata_good_later(req);
}

static void smart_return_status(ZdSsd *ssd, ZdRequest *req,
                                const ZdAtaCommand *cmd)
{
    const ZdSmartAttr *attr;
    uint16_t key = SMART_KEY;

    for (attr = ssd->profile->smart; attr->id; attr++) {
        if ((attr->flags & SMART_PREFAIL) && attr->threshold &&
            attr->value <= attr->threshold) {
            key = SMART_KEY_FAILING;
        }
    }
    req->d2h[FIS_LBA_MID] = key;
    req->d2h[FIS_LBA_HIGH] = key >> 8;
    zd_ata_good_later(req);
}

static const ZdAtaSub zd_ata_smart_subs[] = {
    { 0xd0, smart_read_data },
    { 0xd1, smart_read_thresholds },
    { 0xd2, smart_autosave },
    { 0xd3, smart_save },
    { 0xd4, zd_ata_offline_immediate },
    { 0xd5, zd_ata_smart_read_log },
    { 0xd6, zd_ata_smart_write_log },
    { 0xd8, smart_enable },
    { 0xd9, smart_enable },
    { 0xda, smart_return_status },
    { 0xdb, smart_auto_offline },
};

void zd_ata_smart(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    uint8_t code = req->fis[FIS_FEATURES];
    uint16_t key = req->fis[FIS_LBA_MID] | req->fis[FIS_LBA_HIGH] << 8;
    unsigned i;

    /* ACS-2 7.48.1: disabled, only ENABLE is left */
    if (key == SMART_KEY && (ssd->smart_enabled || code == 0xd8)) {
        for (i = 0; i < ARRAY_SIZE(zd_ata_smart_subs); i++) {
            if (zd_ata_smart_subs[i].code == code) {
                zd_ata_smart_subs[i].run(ssd, req, cmd);
                return;
            }
        }
    }
    zd_ata_abort_command(req);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SMART: attributes, thresholds and health (ACS-2 7.48 and SFF-8035i).
 *
 * Which attributes exist, with flags, values and thresholds, is the
 * catalogue's; what counts or wears is computed from the counters of the flash
 * model and of the device when a host asks.
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

uint64_t zd_ata_power_on_ms(const ZdSsd *ssd)
{
    return ssd->power_on_ms +
           (qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - ssd->power_on_ns) /
           SCALE_MS;
}

/* What a host sees of one attribute now. */
typedef struct Attribute {
    uint8_t value;
    uint64_t raw;
} Attribute;

static uint8_t reserve_left(const ZdFlashCounters *n)
{
    uint64_t all = n->reserve_blocks + n->retired_blocks;

    return all ? MAX(n->reserve_blocks * 100 / all, 1) : 100;
}

static Attribute attribute(const ZdSsd *ssd, const ZdSmartAttr *attr,
                           const ZdFlashCounters *n)
{
    Attribute a = { attr->value, attr->raw };
    uint64_t ms;

    switch (attr->source) {
    case ZD_SMART_POWER_ON_TIME:
        /* the row's start value is in hours */
        ms = zd_ata_power_on_ms(ssd);
        a.raw = ((ms / 3600000 + attr->raw) & UINT32_MAX) |
                (ms % 3600000) << 32;
        break;
    case ZD_SMART_POWER_CYCLES:
        a.raw += ssd->power_cycles;
        break;
    case ZD_SMART_UNSAFE_OFF:
        a.raw += ssd->unsafe_off;
        break;
    case ZD_SMART_UNCORRECTABLE:
    case ZD_SMART_SOFT_ERRORS:
        a.raw += ssd->uncorrectable;
        break;
    case ZD_SMART_CRC_ERRORS:
        a.raw += ssd->crc_errors;
        break;
    case ZD_SMART_NAND_WRITTEN_GIB:
        a.raw += n->nand_written_bytes / GiB;
        break;
    case ZD_SMART_HOST_WRITTEN_GIB:
        a.raw += n->host_written_bytes / GiB;
        break;
    case ZD_SMART_HOST_READ_GIB:
        a.raw += n->host_read_bytes / GiB;
        break;
    case ZD_SMART_RETIRED:
        a.raw += n->retired_blocks;
        a.value = reserve_left(n);
        break;
    case ZD_SMART_PROGRAM_FAILS:
        a.raw += n->program_fails;
        break;
    case ZD_SMART_ERASE_FAILS:
        a.raw += n->erase_fails;
        break;
    case ZD_SMART_WEAR_RANGE:
        a.raw += n->wear_range_percent;
        break;
    case ZD_SMART_LIFE_CURVE:
        a.raw = a.value = n->life_curve;
        break;
    case ZD_SMART_LIFE_LEFT:
        a.value = n->life_left_percent;
        break;
    case ZD_SMART_CAPACITOR:
        a.raw = a.value = ssd->capacitor;
        break;
    case ZD_SMART_TEMPERATURE:
    case ZD_SMART_FIXED:
        break;
    }
    return a;
}

bool zd_ata_smart_visit(ZdSsd *ssd, Visitor *v, const char *name,
                        Error **errp)
{
    const ZdSmartAttr *attr = ssd->profile->smart;
    bool good = visit_start_struct(v, name, NULL, 0, errp);
    ZdFlashCounters n;

    if (!good) {
        return false;
    }
    zd_media_counters(&ssd->media, &n);
    for (; attr->id && good; attr++) {
        g_autofree char *id = g_strdup_printf("%u", attr->id);
        uint64_t raw = attribute(ssd, attr, &n).raw;

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
    ZdFlashCounters counters;
    int i, n;

    zd_media_counters(&ssd->media, &counters);
    stw_le_p(page, SMART_REVISION);
    for (i = 0; i < SMART_ATTRIBUTES && attr->id; i++, attr++) {
        uint8_t *p = page + 2 + 12 * i;
        Attribute now = attribute(ssd, attr, &counters);

        p[0] = attr->id;
        stw_le_p(p + 1, attr->flags);
        p[3] = now.value;
        p[4] = MIN(now.value, attr->worst);
        /* 48 bits; SandForce uses the reserved byte as the 7th of some */
        for (n = 0; n < 7; n++) {
            p[5 + n] = now.raw >> (8 * n);
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
    ZdFlashCounters n;

    zd_media_counters(&ssd->media, &n);
    for (attr = ssd->profile->smart; attr->id; attr++) {
        if ((attr->flags & SMART_PREFAIL) && attr->threshold &&
            attribute(ssd, attr, &n).value <= attr->threshold) {
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

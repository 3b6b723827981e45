/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IDENTIFY DEVICE: what the SSD says about itself.
 *
 * Built anew for every command, because many words show current settings.
 * Words that dumps of the cards show come from the catalogue.  For feature
 * words that no dump of a card shows, dumps of other SSDs with the same
 * controller family were taken (hdparm -I of OCZ-VERTEX2 firmware 1.10 and of
 * an SF-2281 drive): multiple mode 16/1, HPA, buffers and NOP, FUA, unload,
 * GPL DMA, host initiated link power management, auto-activate, DIPM, settings
 * preservation, DOWNLOAD MICROCODE.  What those also list but this model cannot
 * do is not claimed: power-up in standby, WRITE UNCORRECTABLE.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "ata-internal.h"

#define PANIC_DIAGNOSTIC_BYTES  (32 * 1024)

#define ID_HPA                  0x0400      /* words 82 and 85 */

/* ACS-2 3.3.10: two characters a word, first one in the high byte. */
static void id_string(uint16_t *words, unsigned count, const char *text)
{
    size_t len = strlen(text);
    unsigned i;

    for (i = 0; i < count; i++) {
        uint8_t hi = 2 * i < len ? text[2 * i] : ' ';
        uint8_t lo = 2 * i + 1 < len ? text[2 * i + 1] : ' ';

        words[i] = hi << 8 | lo;
    }
}

static void id_number(uint16_t *words, unsigned count, uint64_t value)
{
    while (count--) {
        *words++ = value;
        value >>= 16;
    }
}

/* Mode selected by SET FEATURES 03h: one of the two words 63 and 88 */
static uint16_t id_mode(const ZdSsd *ssd, uint8_t kind)
{
    uint8_t mode = ssd->settings.xfer_mode;

    return (mode & 0xf8) == kind ? 1 << (8 + (mode & 7)) : 0;
}

static void id_geometry(const ZdSsd *ssd, uint16_t *id)
{
    uint32_t lba28 = MIN(ssd->sectors, 0x0fffffff);
    uint32_t chs;
    uint16_t cylinders;

    /* ATA-5: 16383/16/63 for everything beyond 8.4 GB */
    cylinders = MIN(ssd->sectors / (16 * 63), 16383);
    chs = cylinders * 16 * 63;

    id[1] = id[54] = cylinders;
    id[3] = id[55] = 16;
    id[6] = id[56] = 63;
    id_number(&id[57], 2, chs);
    id_number(&id[60], 2, lba28);
    id_number(&id[100], 4, ssd->sectors);
}

static void id_features(const ZdSsd *ssd, uint16_t *id)
{
    const ZdSsdProfile *profile = ssd->profile;
    const ZdAtaSettings *set = &ssd->settings;
    /* NOP, READ and WRITE BUFFER, HPA, power management */
    const uint16_t always = 0x7408;

    id[82] = always | 0x0063;           /* look-ahead, cache, security, SMART */
    id[83] = 0x7401 | (profile->apm ? 0x0008 : 0);  /* ... microcode */
    id[84] = 0x6163;    /* unload, WWN, FUA, GPL, self-test, error logging */
    id[85] = always |
             (set->look_ahead ? 0x0040 : 0) |
             (set->write_cache ? 0x0020 : 0) |
             (ssd->sec_enabled ? 0x0002 : 0) |
             (ssd->smart_enabled ? 0x0001 : 0);
    id[86] = 0xb401 | (set->apm ? 0x0008 : 0);      /* 119, 120 are valid */
    id[87] = id[84];
    id[119] = 0x4018;   /* READ and WRITE LOG DMA EXT; microcode in pieces */
    id[120] = 0x4018;
}

static void id_sata(const ZdSsd *ssd, uint16_t *id)
{
    const ZdAtaSettings *set = &ssd->settings;
    uint8_t gen = ssd->profile->sata_gen;

    id[75] = ATA_QUEUE_DEPTH - 1;
    /* phy event counters, host initiated power management, NCQ, speeds */
    id[76] = 0x0700 | ((2 << gen) - 2);
    id[77] = ssd->link->rate << 1;      /* as negotiated */
    /* settings preservation, DIPM, auto-activate */
    id[78] = 0x004c;
    id[79] = (set->preserve ? 0x0040 : 0) | (set->dipm ? 0x0008 : 0) |
             (set->auto_activate ? 0x0004 : 0);
    /* serial; every revision up to SATA 2.6 or 3.0 */
    id[222] = gen >= 3 ? 0x103f : 0x101f;
}

static void id_build(ZdSsd *ssd, uint16_t *id)
{
    const ZdSsdProfile *profile = ssd->profile;
    const ZdAtaSettings *set = &ssd->settings;

    memset(id, 0, ZD_SECTOR_SIZE);
    id[0] = 0x0040;                     /* ATA, not removable */
    id[2] = 0xc837;                     /* complete, needs no spin-up */
    id_geometry(ssd, id);
    id_string(&id[10], 10, ssd->serial);
    id_string(&id[23], 4, ssd->firmware);
    id_string(&id[27], 20, ssd->model);
    id[47] = 0x8000 | ATA_MULTIPLE_MAX;
    id[48] = 0x4000;                    /* no trusted computing */
    id[49] = 0x2f00;    /* standby timer as standard, IORDY, LBA, DMA */
    id[50] = 0x4000;                    /* no minimum for that timer */
    id[53] = 0x0007;                    /* 54-58, 64-70, 88 are valid */
    id[59] = set->multiple ? 0x0100 | set->multiple : 0;
    id[63] = 0x0007 | id_mode(ssd, 0x20);
    id[64] = 0x0003;                    /* PIO 3 and 4 */
    id[65] = id[66] = id[67] = id[68] = 120;    /* ns */
    id[80] = profile->major_version;
    id[81] = profile->minor_version;
    id_features(ssd, id);
    id_sata(ssd, id);
    id[88] = 0x007f | id_mode(ssd, 0x40);
    /* 2 minutes for either erase, as hdparm prints for the family */
    id[89] = id[90] = 1;
    id[91] = set->apm ? set->apm_level : 0;
    id[92] = ssd->sec_master_id;
    id[106] = 0x4000;                   /* physical = logical = 512 bytes */
    id[108] = ssd->wwn >> 48;
    id[109] = ssd->wwn >> 32;
    id[110] = ssd->wwn >> 16;
    id[111] = ssd->wwn;
    id[128] = zd_ata_security_word128(ssd);
    if (profile->trim) {
        id[69] = profile->trim_deterministic ? 0x4000 : 0;
        id[105] = ATA_TRIM_BLOCKS;
        id[169] = 0x0001;
    }
    id[206] = profile->sct;
    id[217] = 0x0001;                   /* not rotating */
    id[234] = 1;                        /* blocks of one piece of microcode */
    id[235] = ATA_IMAGE_BLOCKS;
}

/*
 * A SandForce controller that has not found its firmware names itself after
 * the panic code, and shows nothing or a diagnostic area (real-cards.md 6.2).
 */
static void id_panic(const ZdSsd *ssd, uint16_t *id)
{
    uint32_t sectors = ssd->panic == ZD_PANIC_DIAGNOSTIC ?
                       PANIC_DIAGNOSTIC_BYTES / ZD_SECTOR_SIZE : 0;

    id_string(&id[27], 20, "SandForce{200026BB}");
    id[82] &= ~ID_HPA;
    id[85] &= ~ID_HPA;
    id_number(&id[57], 2, 0);
    id_number(&id[60], 2, sectors);
    id_number(&id[100], 4, sectors);
}

void zd_ata_identify(ZdSsd *ssd, ZdRequest *req, const ZdAtaCommand *cmd)
{
    uint16_t id[256];
    uint8_t page[ZD_SECTOR_SIZE];
    int i;

    id_build(ssd, id);
    if (ssd->panicked) {
        id_panic(ssd, id);
    }
    for (i = 0; i < 256; i++) {
        stw_le_p(page + 2 * i, id[i]);
    }
    page[510] = 0xa5;                   /* ACS-2 7.12.7.99: checksum valid */
    zd_ata_checksum(page);
    zd_ata_data_in(req, page, sizeof(page));
}

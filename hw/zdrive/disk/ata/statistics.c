/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log 04h, device statistics (ACS-3 A.5): the ones that a RevoDrive 350 was
 * seen to report (real-cards.md 2.4).  Firmware 2.25 has no such log, so no
 * SSD of a Z-Drive R4 gets here.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "ata-internal.h"

#define REVISION            0x0001
#define SUPPORTED_VALID     (1ull << 63 | 1ull << 62)
#define MOST_CELSIUS        65      /* seen */

enum {
    PAGE_LIST           = 0x00,
    PAGE_GENERAL        = 0x01,
    PAGE_ERRORS         = 0x04,
    PAGE_TEMPERATURE    = 0x05,
    PAGE_TRANSPORT      = 0x06,
    PAGE_SSD            = 0x07,
};

static const uint8_t pages[] = {
    PAGE_LIST, PAGE_GENERAL, PAGE_ERRORS, PAGE_TEMPERATURE, PAGE_TRANSPORT,
    PAGE_SSD,
};

/* One statistic: flags in the top byte of its eight, the value below. */
static void put(uint8_t *page, unsigned offset, uint64_t value)
{
    stq_le_p(page + offset, SUPPORTED_VALID | value);
}

/* Fill page @number, which is zero before; one that is not there stays so. */
void zd_ata_statistics_page(const ZdSsd *ssd, unsigned number,
                            uint8_t page[ZD_SECTOR_SIZE])
{
    switch (number) {
    case PAGE_LIST:
        page[8] = ARRAY_SIZE(pages);
        memcpy(page + 9, pages, sizeof(pages));
        break;
    case PAGE_GENERAL:
        /* life-time power-on resets, logical sectors written */
        put(page, 0x08, ssd->power_cycles & UINT32_MAX);
        put(page, 0x18, ssd->media.sectors_written & MAKE_64BIT_MASK(0, 48));
        break;
    case PAGE_ERRORS:
        /* resets between command acceptance and completion: not counted */
        put(page, 0x10, 0);
        break;
    case PAGE_TEMPERATURE:
        /* specified maximum operating temperature */
        put(page, 0x58, MOST_CELSIUS);
        break;
    case PAGE_TRANSPORT:
        /* asynchronous signal recoveries: the link came back by itself */
        put(page, 0x10, ssd->link_losses & UINT32_MAX);
        break;
    case PAGE_SSD:
        /* percentage used: until the flash model counts, as new */
        put(page, 0x08, 0);
        break;
    default:
        return;
    }
    stq_le_p(page, (uint64_t)number << 16 | REVISION);
}

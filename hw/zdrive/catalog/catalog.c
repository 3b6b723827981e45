/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The product table and the ways to find a row in it.  Adding a card is adding
 * a row here and, for a new kind of SSD, a profile in a file beside this one.
 */
#include <string.h>

#include "internal.h"

/*
 * Capacities: the cards' are seen (real-cards.md 3.2, and CM88 1600 in a
 * review), the division over equal members is inferred there.
 */
static const ZdCapacity r4_x84_capacities[] = {
    { 300, 75 },
    { 600, 150 },
    { 1200, 300 },
    { 0 }
};

static const ZdCapacity r4_x88_capacities[] = {
    { 800, 100 },
    { 1600, 200 },
    { 3200, 400 },
    { 0 }
};

static const ZdCapacity revo_capacities[] = {
    { 120, 60 },
    { 240, 120 },
    { 0 }
};

static const ZdCapacity revo_x2_capacities[] = {
    { 100, 25 },
    { 240, 60 },
    { 480, 120 },
    { 0 }
};

static const ZdCapacity revo3_capacities[] = {
    { 120, 60 },
    { 240, 120 },
    { 480, 240 },
    { 0 }
};

static const ZdCapacity revo3_x2_capacities[] = {
    { 240, 60 },
    { 480, 120 },
    { 960, 240 },
    { 0 }
};

static const ZdCapacity revo350_x2_capacities[] = {
    { 240, 120 },
    { 0 }
};

static const ZdCapacity revo350_x4_capacities[] = {
    { 480, 120 },
    { 960, 240 },
    { 0 }
};

/*
 * Ids: 1b85:1044 and :1084 are Z-Drives by OCZ's driver; which model has which
 * is inferred from the pattern 10NM, N SSDs (real-cards.md 1.1).  Revision 02,
 * class 0100, subsystem = device: seen on the sibling cards 1021 and 1041
 * (1.2).
 *
 * RevoDrives: ids of 1021, 1041 and 1095:3124 are seen (1.1); a Revo card has
 * one model, named as its type, but for the RevoDrive 350, whose 240 GB card
 * is another board.
 *
 * Models: seen in smartmontools' drive database (2.3).
 *
 * Firmware: OCZ's driver turns TRIM off below 2.25, and for firmware with an E
 * suffix below 3.20E (2.5).  RM: 3.20E, seen on the sibling TALOS2 (2.2).  CM:
 * the one release seen on a CM84 is 2.13, which that driver distrusts; 2.25 was
 * the next public release of the same line and is the default here, so that
 * TRIM works with every driver.  "firmware=2.13" gives the card that was seen.
 *
 * Product id of the SPI flash configuration block: four bytes at 08h (1.5),
 * contents not seen anywhere; the model name is inferred.
 */
static const ZdProduct products[] = {
    {
        .model = "cm84",
        .type = "zdrive-r4",
        .title = "OCZ Z-Drive R4 CM84",
        .vendor_id = 0x1b85,
        .device_id = 0x1044,
        .revision = 0x02,
        .pci_class = 0x0100,
        .ssds = 4,
        .capacities = r4_x84_capacities,
        .default_gb = 600,
        .ssd_model = "OCZ Z-DRIVE R4 CM84",
        .firmware = "2.25",
        .product_id = { 'C', 'M', '8', '4' },
        .profile = &zd_profile_sf2282,
        .flash = &zd_flash_sf2282,
        .card = &zd_card_zdrive_r4,
    },
    {
        .model = "cm88",
        .type = "zdrive-r4",
        .title = "OCZ Z-Drive R4 CM88",
        .vendor_id = 0x1b85,
        .device_id = 0x1084,
        .revision = 0x02,
        .pci_class = 0x0100,
        .ssds = 8,
        .capacities = r4_x88_capacities,
        .default_gb = 1600,
        .ssd_model = "OCZ Z-DRIVE R4 CM88",
        .firmware = "2.25",
        .product_id = { 'C', 'M', '8', '8' },
        .profile = &zd_profile_sf2282,
        .flash = &zd_flash_sf2282,
        .card = &zd_card_zdrive_r4,
    },
    {
        .model = "rm84",
        .type = "zdrive-r4",
        .title = "OCZ Z-Drive R4 RM84",
        .vendor_id = 0x1b85,
        .device_id = 0x1044,
        .revision = 0x02,
        .pci_class = 0x0100,
        .ssds = 4,
        .capacities = r4_x84_capacities,
        .default_gb = 600,
        .ssd_model = "OCZ Z-DRIVE R4 RM84",
        .firmware = "3.20E",
        .product_id = { 'R', 'M', '8', '4' },
        .profile = &zd_profile_sf2582,
        .flash = &zd_flash_sf2582,
        .card = &zd_card_zdrive_r4,
    },
    {
        .model = "rm88",
        .type = "zdrive-r4",
        .title = "OCZ Z-Drive R4 RM88",
        .vendor_id = 0x1b85,
        .device_id = 0x1084,
        .revision = 0x02,
        .pci_class = 0x0100,
        .ssds = 8,
        .capacities = r4_x88_capacities,
        .default_gb = 1600,
        .ssd_model = "OCZ Z-DRIVE R4 RM88",
        .firmware = "3.20E",
        .product_id = { 'R', 'M', '8', '8' },
        .profile = &zd_profile_sf2582,
        .flash = &zd_flash_sf2582,
        .card = &zd_card_zdrive_r4,
    },
    {
        .model = "revodrive",
        .type = "revodrive",
        .title = "OCZ RevoDrive",
        .vendor_id = 0x1095,
        .device_id = 0x3124,
        .revision = 0x02,
        .pci_class = 0x0104,
        .ssds = 2,
        .capacities = revo_capacities,
        .default_gb = 240,
        .ssd_model = "OCZ-REVODRIVE",
        .firmware = "1.20",
        .product_id = { 'R', 'E', 'V', 'O' },
        .profile = &zd_profile_sf1222,
        .flash = &zd_flash_sf1222,
        .card = &zd_card_revodrive,
    },
    {
        .model = "revodrive-x2",
        .type = "revodrive-x2",
        .title = "OCZ RevoDrive X2",
        .vendor_id = 0x1095,
        .device_id = 0x3124,
        .revision = 0x02,
        .pci_class = 0x0104,
        .ssds = 4,
        .capacities = revo_x2_capacities,
        .default_gb = 240,
        .ssd_model = "OCZ-REVODRIVE X2",
        .firmware = "1.20",
        .product_id = { 'R', 'E', 'V', '2' },
        .profile = &zd_profile_sf1222,
        .flash = &zd_flash_sf1222,
        .card = &zd_card_revodrive_x2,
    },
    {
        .model = "revodrive3",
        .type = "revodrive3",
        .title = "OCZ RevoDrive 3",
        .vendor_id = 0x1b85,
        .device_id = 0x1021,
        .revision = 0x02,
        .pci_class = 0x0100,
        .ssds = 2,
        .capacities = revo3_capacities,
        .default_gb = 240,
        .ssd_model = "OCZ-REVODRIVE3",
        .firmware = "2.25",
        .product_id = { 'R', 'E', 'V', '3' },
        .profile = &zd_profile_sf2281,
        .flash = &zd_flash_sf2281,
        .card = &zd_card_revodrive3,
    },
    {
        .model = "revodrive3-x2",
        .type = "revodrive3-x2",
        .title = "OCZ RevoDrive 3 X2",
        .vendor_id = 0x1b85,
        .device_id = 0x1041,
        .revision = 0x02,
        .pci_class = 0x0100,
        .ssds = 4,
        .capacities = revo3_x2_capacities,
        .default_gb = 480,
        .ssd_model = "OCZ-REVODRIVE3 X2",
        .firmware = "2.25",
        .product_id = { 'R', '3', 'X', '2' },
        .profile = &zd_profile_sf2281,
        .flash = &zd_flash_sf2281,
        .card = &zd_card_revodrive3_x2,
    },
    {
        .model = "revodrive350-240",
        .type = "revodrive350",
        .title = "OCZ RevoDrive 350 240",
        .vendor_id = 0x1b85,
        .device_id = 0x1021,
        .revision = 0x02,
        .pci_class = 0x0100,
        .ssds = 2,
        .capacities = revo350_x2_capacities,
        .default_gb = 240,
        .ssd_model = "OCZ-REVODRIVE350",
        .firmware = "2.50",
        .product_id = { 'R', '3', '5', '0' },
        .profile = &zd_profile_revo350,
        .flash = &zd_flash_revo350,
        .card = &zd_card_revodrive350,
    },
    {
        .model = "revodrive350-480",
        .type = "revodrive350",
        .title = "OCZ RevoDrive 350 480",
        .vendor_id = 0x1b85,
        .device_id = 0x1041,
        .revision = 0x02,
        .pci_class = 0x0100,
        .ssds = 4,
        .capacities = revo350_x4_capacities,
        .default_gb = 480,
        .ssd_model = "OCZ-REVODRIVE350",
        .firmware = "2.50",
        .product_id = { 'R', '3', '5', '0' },
        .profile = &zd_profile_revo350,
        .flash = &zd_flash_revo350,
        .card = &zd_card_revodrive350,
    },
};

#define PRODUCTS_END    (products + sizeof(products) / sizeof(products[0]))

const ZdProduct *zd_catalog_next(const char *type, const ZdProduct *prev)
{
    const ZdProduct *row;

    for (row = prev ? prev + 1 : products; row < PRODUCTS_END; row++) {
        if (!type || strcmp(row->type, type) == 0) {
            return row;
        }
    }
    return NULL;
}

const ZdProduct *zd_catalog_find(const char *type, const char *model)
{
    const ZdProduct *row = NULL;

    while ((row = zd_catalog_next(type, row)) != NULL) {
        if (strcmp(row->model, model) == 0) {
            break;
        }
    }
    return row;
}

const ZdCapacity *zd_catalog_capacity(const ZdProduct *product,
                                      uint32_t card_gb)
{
    const ZdCapacity *cap;

    for (cap = product->capacities; cap->card_gb; cap++) {
        if (cap->card_gb == card_gb) {
            return cap;
        }
    }
    return NULL;
}

/* LBA1-03, real-cards.md 3.1; seen to hold for every member found there. */
uint64_t zd_catalog_idema_sectors(uint32_t gb)
{
    return 97696368 + 1953504 * ((int64_t)gb - 50);
}

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

/*
 * Ids: 1b85:1044 and :1084 are Z-Drives by OCZ's driver; which model has which
 * is inferred from the pattern 10NM, N SSDs (real-cards.md 1.1).  Revision 02,
 * class 0100, subsystem = device: seen on the sibling cards 1021 and 1041
 * (1.2).
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

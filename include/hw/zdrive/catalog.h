/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The catalogue: one row per product, one profile per SSD.  Plain data for the
 * device, the bench and the tests; includes no QEMU header.
 *
 * Sources: hardware/real-cards.md (ids 1.1, strings 2.2, attributes 2.3 and
 * 2.4, LBA counts 3); what no public dump shows is marked in catalog.c.
 */
#ifndef HW_ZDRIVE_CATALOG_H
#define HW_ZDRIVE_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hw/zdrive/flash.h"

/* One SMART attribute as the firmware defines it. */
typedef enum ZdSmartSource {
    ZD_SMART_FIXED,             /* raw stays what the row says */
    ZD_SMART_POWER_ON_TIME,     /* hours in 31:0, ms of the hour above */
    ZD_SMART_POWER_CYCLES,
    ZD_SMART_UNSAFE_OFF,        /* unexpected power losses */
    ZD_SMART_UNCORRECTABLE,     /* reported uncorrectable errors */
    ZD_SMART_CRC_ERRORS,
    ZD_SMART_NAND_WRITTEN_GIB,
    ZD_SMART_HOST_WRITTEN_GIB,
    ZD_SMART_HOST_READ_GIB,
    ZD_SMART_TEMPERATURE,       /* constant 30 C, min/max in the raw field */
    /* of the flash model; value and worst follow where the name says so */
    ZD_SMART_RETIRED,           /* blocks; value: reserve that is left, % */
    ZD_SMART_PROGRAM_FAILS,
    ZD_SMART_ERASE_FAILS,
    ZD_SMART_WEAR_RANGE,        /* most to least worn, % of the endurance */
    ZD_SMART_SOFT_ERRORS,       /* reads that no correction could save */
    ZD_SMART_LIFE_CURVE,        /* value and raw: 100, less if throttled */
    ZD_SMART_LIFE_LEFT,         /* value: % */
    ZD_SMART_CAPACITOR,         /* value and raw: charge, % */
} ZdSmartSource;

typedef struct ZdSmartAttr {
    uint8_t id;
    uint16_t flags;             /* P=1 O=2 S=4 R=8 C=16 K=32 (SFF-8035i) */
    uint8_t value;
    uint8_t worst;
    uint8_t threshold;
    uint64_t raw;               /* 48 bits, start value */
    ZdSmartSource source;
} ZdSmartAttr;

/* One log of the firmware's log directory. */
typedef struct ZdLogEntry {
    uint8_t address;
    uint8_t gpl_sectors;        /* 0: not by READ LOG EXT */
    uint8_t smart_sectors;      /* 0: not by SMART READ LOG */
} ZdLogEntry;

/* A SandForce SSD with one firmware line. */
typedef struct ZdSsdProfile {
    const char *name;           /* "sf2282" */
    uint8_t sata_gen;           /* 2: 3 Gb/s, 3: 6 Gb/s */
    uint16_t major_version;     /* IDENTIFY word 80 */
    uint16_t minor_version;     /* IDENTIFY word 81 */
    bool apm;
    bool trim;
    bool trim_deterministic;    /* IDENTIFY word 69 bit 14 */
    bool supercap;              /* attribute 235 lives */
    uint16_t sct;               /* IDENTIFY word 206 */
    uint8_t offline_caps;       /* SMART data byte 367 */
    uint8_t selftest_short_min;
    uint8_t selftest_ext_min;
    uint8_t selftest_conv_min;
    const ZdSmartAttr *smart;   /* ends with id 0 */
    /* ends with address 0; the directory itself is not listed */
    const ZdLogEntry *logs;
} ZdSsdProfile;

typedef struct ZdCapacity {
    uint32_t card_gb;           /* as sold; 0 ends the list */
    uint32_t ssd_gb;            /* of each member */
} ZdCapacity;

typedef struct ZdProduct {
    const char *model;          /* property value: "cm88" */
    const char *type;           /* QOM type that offers it: "zdrive-r4" */
    const char *title;          /* "OCZ Z-Drive R4 CM88" */
    uint16_t vendor_id;
    uint16_t device_id;         /* also the subsystem id */
    uint8_t revision;
    uint16_t pci_class;         /* class and subclass */
    uint8_t ssds;
    const ZdCapacity *capacities;
    uint32_t default_gb;
    const char *ssd_model;      /* IDENTIFY words 27-46 */
    const char *firmware;       /* IDENTIFY words 23-26, default */
    char product_id[4];         /* SPI flash configuration block, 0x08 */
    const ZdSsdProfile *profile;
    const ZdFlashParams *flash; /* controller and NAND of each member */
    const ZdFlashCardParams *card;
} ZdProduct;

/* All products of QOM type @type in order of the table; NULL @type: all. */
const ZdProduct *zd_catalog_next(const char *type, const ZdProduct *prev);
/* NULL when @type never had a model of that name. */
const ZdProduct *zd_catalog_find(const char *type, const char *model);
/* NULL when the product was never sold with @card_gb. */
const ZdCapacity *zd_catalog_capacity(const ZdProduct *product,
                                      uint32_t card_gb);

/*
 * Sectors of an SSD sold as @gb decimal gigabytes: IDEMA LBA1-03,
 * 97,696,368 + 1,953,504 * (gb - 50); negative steps below 50 GB.
 */
uint64_t zd_catalog_idema_sectors(uint32_t gb);

/*
 * Default serial number of member @member: "OCZ-" and 16 characters of base
 * 36, as on the cards, from a 64-bit @seed.  @out holds 20 characters and NUL.
 */
void zd_catalog_serial(uint64_t seed, unsigned member, char out[21]);
/* Default world wide name: NAA 5, OUI e8:3a:97, 36 bits from the seed. */
uint64_t zd_catalog_wwn(uint64_t seed, unsigned member);

#endif

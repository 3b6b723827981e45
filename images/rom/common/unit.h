/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units: what the firmware shows as a disk.  Either the whole card, a RAID-0
 * of its SSDs in phy order with chunks of 64 KiB and no metadata, or one SSD.
 */
#ifndef ZDRIVE_ROM_UNIT_H
#define ZDRIVE_ROM_UNIT_H

#include "hba.h"

#define UNIT_CHUNK      128     /* sectors */
/* Times that a command is sent whose data get damaged on the link. */
#define UNIT_TRIES      3

typedef struct Unit {
    uint64_t sectors;
    uint8_t members;
    uint8_t phy[HBA_PHYS];
} Unit;

typedef struct UnitIo {
    uint8_t command;            /* of the ATA commands that take an LBA */
    uint64_t lba;
    uint32_t count;             /* sectors */
    uint64_t address;           /* of the data, as the bridge sees it */
    /* the outcome */
    uint32_t done;              /* sectors before the first that failed */
    uint8_t phy;                /* that failed */
} UnitIo;

/* The unit of all @phys, or of the only one. */
void unit_make(const Hba *h, uint8_t phys, Unit *unit);
/* Read, write or verify; READ VERIFY moves no data. */
HbaResult unit_io(Hba *h, const Unit *unit, UnitIo *io);
/* FLUSH CACHE on all members. */
HbaResult unit_flush(Hba *h, const Unit *unit);

#endif

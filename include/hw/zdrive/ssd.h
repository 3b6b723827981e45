/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A SandForce SSD as an ATA device at the end of a link.
 */
#ifndef HW_ZDRIVE_SSD_H
#define HW_ZDRIVE_SSD_H

#include "qom/object.h"
#include "hw/zdrive/catalog.h"
#include "hw/zdrive/link.h"
#include "hw/zdrive/media.h"

#define TYPE_ZDRIVE_SSD "zdrive-ssd"
OBJECT_DECLARE_SIMPLE_TYPE(ZdSsd, ZDRIVE_SSD)

extern const TypeInfo zd_ssd_type_info;
extern const VMStateDescription zd_vmstate_ssd;

/* What makes one SSD different from its neighbours. */
typedef struct ZdSsdConfig {
    const ZdSsdProfile *profile;
    const char *model;          /* up to 40 characters, copied */
    const char *firmware;       /* up to 8 characters, copied */
    char serial[21];
    uint64_t wwn;
    uint64_t sectors;           /* user addressable 512-byte sectors */
    ZdStore *store;
    unsigned member;
    struct ZdJournal *journal;  /* or NULL */
    bool timed;
    uint64_t seed;              /* of all that happens at random */
} ZdSsdConfig;

/*
 * Set up a new SSD object and attach it to @link as powered-on device.
 * Not a user-creatable object: the card makes its SSDs.
 */
void zd_ssd_setup(ZdSsd *ssd, const ZdSsdConfig *cfg, ZdLink *link);

/* The faults of the SSD; see hw/zdrive/fault.h for the text. */
bool zd_ssd_set_faults(ZdSsd *ssd, const char *text, Error **errp);
char *zd_ssd_get_faults(const ZdSsd *ssd);

/* Counters: name and value of number @n; NULL behind the last one. */
const char *zd_ssd_counter(const ZdSsd *ssd, unsigned n, uint64_t *value);

#endif

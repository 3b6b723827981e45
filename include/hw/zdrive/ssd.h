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
/* What it keeps without power, but for the flash model. */
extern const VMStateDescription zd_vmstate_ssd_kept;

/* What makes one SSD different from its neighbours. */
typedef struct ZdSsdConfig {
    const ZdSsdProfile *profile;
    const char *model;          /* up to 40 characters, copied */
    const char *firmware;       /* up to 8 characters, copied */
    char serial[21];
    uint64_t wwn;
    ZdMediaConfig media;
    uint64_t seed;              /* of all that happens at random */
} ZdSsdConfig;

/*
 * Set up a new SSD object and attach it to @link as powered-on device.
 * Not a user-creatable object: the card makes its SSDs.  False when no flash
 * model is that large.
 */
bool zd_ssd_setup(ZdSsd *ssd, const ZdSsdConfig *cfg, ZdLink *link);

/* The supply begins to fail: no command ends any more. */
void zd_ssd_supply_fails(ZdSsd *ssd);
/* It is gone, and the SSD with it. */
void zd_ssd_power_off(ZdSsd *ssd, ZdLoss loss, ZdCutReport *report);
/* Where the chance of what is lost starts. */
void zd_ssd_reseed(ZdSsd *ssd, uint64_t seed);
/* It is back; returns the ns until the SSD answers. */
int64_t zd_ssd_power_on(ZdSsd *ssd);
/* Charge of the capacitors in percent, if it has any. */
void zd_ssd_set_capacitor(ZdSsd *ssd, unsigned health);
/* Whether it hits this one, by the seed. */
bool zd_ssd_chance(ZdSsd *ssd, uint32_t one_in);
void zd_ssd_grow_bad_blocks(ZdSsd *ssd, uint64_t count);
/* One more of the faults, in their grammar. */
void zd_ssd_add_fault(ZdSsd *ssd, const char *fault);
/* ATA opcode, first sector and sectors of @req. */
uint8_t zd_ssd_describe(ZdSsd *ssd, const ZdRequest *req, uint64_t *lba,
                        uint32_t *sectors);

/* What its timing comes from, NULL with timing=off. */
ZdFlash *zd_ssd_flash(const ZdSsd *ssd);

/*
 * Power comes to an SSD that zd_vmstate_ssd_kept was loaded into.  @firmware is
 * what the card was given; @lost: its power went unexpectedly the last time,
 * @not_counted: that power cycle is not among those it has counted.
 */
void zd_ssd_kept_begin(ZdSsd *ssd, const char *firmware, bool lost,
                     bool not_counted);
/* Power goes: an unexpected loss, unless the host has prepared for it. */
void zd_ssd_kept_end(ZdSsd *ssd);

/* The faults of the SSD; see hw/zdrive/fault.h for the text. */
bool zd_ssd_set_faults(ZdSsd *ssd, const char *text, Error **errp);
char *zd_ssd_get_faults(const ZdSsd *ssd);

/* Counters: name and value of number @n; NULL behind the last one. */
const char *zd_ssd_counter(const ZdSsd *ssd, unsigned n, uint64_t *value);

#endif

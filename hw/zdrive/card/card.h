/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The card as the user names it: one PCI function with a bridge, a link per
 * phy, and an SSD at the end of each link that the product populates.
 */
#ifndef HW_ZDRIVE_CARD_H
#define HW_ZDRIVE_CARD_H

#include "hw/pci/pci.h"
#include "sysemu/runstate.h"
#include "hw/zdrive/catalog.h"
#include "hw/zdrive/card/cuts.h"
#include "hw/zdrive/link.h"
#include "hw/zdrive/ssd.h"
#include "hw/zdrive/store.h"
#include "hw/zdrive/bridge/mv94xx/mv94xx.h"

#define TYPE_ZDRIVE_R4 "zdrive-r4"
OBJECT_DECLARE_SIMPLE_TYPE(ZdCard, ZDRIVE_R4)

#define ZD_CARD_PHYS    (MV_CORES * MV_PHYS)

/* The properties as the user gave them. */
typedef struct ZdCardProps {
    char *model;
    uint32_t capacity_gb;       /* 0: not given */
    uint64_t size;              /* bytes of the volume; 0: not given */
    BlockBackend *drive;
    BlockBackend *member[ZD_MAX_MEMBERS];
    char *serial;
    char *firmware;
    uint64_t wwn;               /* 0: not given */
    uint64_t seed;
    char *timing;
    char *compress;
    char *state;
    char *faults;               /* only until the card is realized */
    char *power_cut;            /* ... as well */
    char *rom_view;
    BlockBackend *flash;
    char *journal;
} ZdCardProps;

/* What they mean. */
typedef struct ZdCardPlan {
    const ZdProduct *product;
    uint64_t member_bytes;
    const char *firmware;
    bool timed;
    double stored;              /* compress=fixed:X; -1: of the data */
    uint32_t dies;              /* of each SSD */
    uint8_t rom_view;           /* MV_VIEW_* */
    char serial[ZD_MAX_MEMBERS][21];
    uint64_t wwn[ZD_MAX_MEMBERS];
    uint64_t hba_wwn;
} ZdCardPlan;

/* ZdPower.stage: what the timer waits for. */
enum {
    ZD_POWER_STAGE_NONE,
    ZD_POWER_STAGE_DUE,                  /* the moment of the cut */
    ZD_POWER_STAGE_RAMP,                 /* the voltage falls */
    ZD_POWER_STAGE_OFF,                  /* the power comes back */
};

/* The power rail; see power.c. */
typedef struct ZdPower {
    bool off;
    uint8_t loss;               /* ZdLoss, where a cut does not say */
    uint8_t health;             /* of the capacitors, % */
    uint8_t stage;              /* ZD_POWER_STAGE_ */
    QEMUTimer *timer;
    ZdCuts cuts;
    ZdCut fired;                /* the one that is under way */
    int64_t armed_ns;
    QEMUTimer *time_timer;      /* of cuts at a time */
    ZdFlashActivity seen[ZD_MAX_MEMBERS];   /* has been counted */
    char *report;               /* JSON, of the last cut; or NULL */
    Notifier suspend, wakeup;   /* S3 */
    /* only while migrating: cuts, fired, report */
    char *text[3];
    uint32_t text_len[3];
} ZdPower;

typedef struct ZdCardState ZdCardState;

struct ZdCard {
    PCIDevice parent_obj;

    ZdCardProps props;
    ZdCardPlan plan;
    MvBridge bridge;
    MemoryRegion blank_rom;
    uint16_t link_status;       /* PCIe link as trained, without faults */
    int32_t bootindex;
    ZdStore *store;
    ZdPower power;
    ZdFlashCard *timing;        /* what the SSDs share; NULL: timing=off */
    struct ZdJournal *journal;  /* or NULL */
    ZdLink link[ZD_MAX_MEMBERS];
    ZdSsd *ssd[ZD_MAX_MEMBERS];
    VMChangeStateEntry *vm_state;
    ZdCardState *state;         /* NULL: without a file */
};

extern const TypeInfo zd_card_type_info;

/*
 * plan.c: check the properties against the catalogue and the block nodes and
 * fill @plan.  @place names the card's place on the buses; it keeps the default
 * serial numbers of two cards apart.
 */
bool zd_card_plan(const char *type, const ZdCardProps *props,
                  const char *place, ZdCardPlan *plan, Error **errp);

/* vmstate.c: what the stream says about the card; opaque is a ZdCard. */
extern const VMStateInfo zd_card_identity;
/* What makes a card another one, a line for each; free with g_free(). */
char *zd_card_describe(const ZdCard *card);
/* "has X, this one has Y" of two such texts, or NULL. */
char *zd_card_differs(const char *here, const char *there);

/*
 * pci-config.c: identity and capability chain of real-cards.md 1.2.  Returns
 * false with *errp set when QEMU refuses a capability.
 */
bool zd_card_init_config(PCIDevice *pci, const ZdProduct *product,
                         Error **errp);
void zd_card_exit_config(PCIDevice *pci);
uint32_t zd_card_read_config(PCIDevice *pci, uint32_t addr, int len);
void zd_card_restore_config(PCIDevice *pci);
void zd_card_write_config(PCIDevice *pci, uint32_t addr, uint32_t val, int len);
/* What a reset leaves of the registers that QEMU's PCI code does not know. */
void zd_card_reset_config(ZdCard *card);
/* The link has, or no longer has, a fault of its width. */
void zd_card_update_link(ZdCard *card);

/* faults.c */
bool zd_card_set_faults(ZdCard *card, const char *text, Error **errp);
void zd_card_add_fault_properties(ObjectClass *klass);

/* power.c: the rail.  @cut is what has fired, or NULL. */
ZdMediaEvent zd_card_media_event;
void zd_card_cut_power(ZdCard *card, const char *trigger, const ZdCut *cut);
void zd_card_restore_power(ZdCard *card);
/* The end of S3; nothing without it. */
void zd_card_wake(ZdCard *card);
bool zd_card_set_cuts(ZdCard *card, const char *text, Error **errp);
/* From now on is counted what sets cuts off. */
void zd_card_count_cuts(ZdCard *card);
bool zd_card_init_power(ZdCard *card, Error **errp);
/* No cut comes any more. */
void zd_card_stop_power(ZdCard *card);
void zd_card_exit_power(ZdCard *card);

/* power-object.c */
extern const VMStateDescription zd_vmstate_power;
void zd_card_add_power_properties(ObjectClass *klass);

/*
 * rom.c: the file that every card has as option ROM if it is there, or NULL;
 * and the ROM BAR of one card.
 */
const char *zd_card_default_rom(void);
bool zd_card_init_rom(ZdCard *card, Error **errp);

/*
 * flash.c: look at the node for the SPI flash, and, once there is a bridge,
 * give it its contents.
 */
bool zd_card_open_flash(ZdCard *card, Error **errp);
bool zd_card_load_flash(ZdCard *card, Error **errp);

/* journal.c */
bool zd_card_open_journal(ZdCard *card, Error **errp);
void zd_card_close_journal(ZdCard *card);
void zd_card_add_journal_properties(ObjectClass *klass);

/*
 * state.c: what survives QEMU.  All of it does nothing without the property.
 *
 * Load the file into SSDs that have just been made.  *@as_new: it was of no use
 * and these SSDs are not either, others have to be made.
 */
bool zd_card_open_state(ZdCard *card, bool *as_new, Error **errp);
/* Power goes, or the card has never had any. */
void zd_card_close_state(ZdCard *card);
/* The machine runs, and the card is under power; or stops. */
void zd_card_run_state(ZdCard *card);
void zd_card_stop_state(ZdCard *card, RunState why);
/*
 * Write the file as it has to be after a crash that comes next: for a card
 * without power such a crash is no loss.
 */
void zd_card_save_state(ZdCard *card);
/* Migration: the card leaves this QEMU, and enters that one. */
void zd_card_leave_state(ZdCard *card);
bool zd_card_enter_state(ZdCard *card, Error **errp);

#endif

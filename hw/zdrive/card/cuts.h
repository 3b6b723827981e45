/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Power cuts that a user arms, and how he writes them.
 *
 *   CUTS = CUT { ";" CUT }
 *   CUT  = TRIGGER { "," KEY "=" VALUE }
 *
 * Blanks separate as commas do.  docs/power.rst has every trigger and key.
 */
#ifndef ZDRIVE_CARD_CUTS_H
#define ZDRIVE_CARD_CUTS_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

typedef enum ZdCutTrigger {
    ZD_CUT_COMMANDS,            /* so many commands have ended, since armed */
    ZD_CUT_WRITES,              /* ... writes */
    ZD_CUT_FLUSHES,             /* ... flushes */
    ZD_CUT_PROGRAMS,            /* in the middle of a program of a page */
    ZD_CUT_ERASES,              /* in the middle of an erase */
    ZD_CUT_COLLECTION,          /* garbage collection has begun */
    ZD_CUT_TIME,                /* virtual time since it was armed */
    ZD_CUT_LBA,                 /* in the middle of a write of this sector */
    ZD_CUT_RECOVERY,            /* half way through the next recovery */
    ZD_CUT_TRIGGERS
} ZdCutTrigger;

/* What comes after the cut. */
typedef enum ZdCutThen {
    ZD_THEN_STAY,               /* off, until a user switches it on */
    ZD_THEN_ON,                 /* on again after ZdCut.for_ns */
    ZD_THEN_RESET,              /* as the same, and the machine is reset */
    ZD_THEN_PAUSE,              /* off, and the machine stands still */
    ZD_THEN_QUIT,               /* QEMU ends */
} ZdCutThen;

/* Values of loss=: in the order of ZdLoss */
#define ZD_LOSS_CHOICES     "random none all adversarial"

/* All numbers are 64 bits wide, for the table of keys. */
typedef struct ZdCut {
    ZdCutTrigger trigger;
    uint32_t given;             /* one bit per key that the user gave */
    uint64_t at;
    uint64_t ssd;               /* that is counted, or concerned */
    uint64_t loss;              /* ZdLoss */
    uint64_t ramp_ns;
    uint64_t then;              /* ZdCutThen */
    uint64_t for_ns;
    uint64_t panic;             /* ZD_PANIC_ */
    uint64_t gone;
    uint64_t bad_blocks;
    uint64_t seed;              /* of what is lost */
    uint64_t one_in;            /* SSDs that have one of these three */
    uint64_t seen;
} ZdCut;

#define ZD_CUTS_MAX         16

typedef struct ZdCuts {
    unsigned count;
    ZdCut list[ZD_CUTS_MAX];
} ZdCuts;

/*
 * Replace all cuts by those of @text.  False: nothing has changed, and *@error,
 * to be freed, says what is wrong and what would be right.
 */
bool zd_cuts_parse(ZdCuts *cuts, const char *text, unsigned ssds,
                   char **error);
/* What zd_cuts_parse() takes, with what has been counted; to be freed. */
char *zd_cuts_format(const ZdCuts *cuts);

const char *zd_cut_name(const ZdCut *cut);
/* It waits for something that happens with timing=model only. */
bool zd_cut_needs_flash(const ZdCut *cut);
bool zd_cut_of_ssd(const ZdCut *cut);
bool zd_cut_has_loss(const ZdCut *cut);
bool zd_cut_has_seed(const ZdCut *cut);
bool zd_cut_panics(const ZdCut *cut);
const char *zd_cut_panic_form(const ZdCut *cut);

/* @n more of what sets @trigger off; true when @cut has waited for that. */
bool zd_cut_counts(ZdCut *cut, ZdCutTrigger trigger, unsigned ssd, uint64_t n);
void zd_cuts_remove(ZdCuts *cuts, unsigned n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding the SSDs of a card: who signs in, and what IDENTIFY DEVICE says.
 */
#ifndef ZDRIVE_ROM_SSD_H
#define ZDRIVE_ROM_SSD_H

#include "flash.h"
#include "unit.h"

typedef enum SsdState {
    SSD_NONE,                   /* no link */
    SSD_BUSY,                   /* a link, but no signature */
    SSD_GOOD,
    SSD_SILENT,                 /* signs in, but does not answer */
    SSD_FAILED,                 /* refuses IDENTIFY or has no DMA */
    SSD_PANIC,                  /* its controller runs without firmware */
} SsdState;

typedef struct SsdInfo {
    uint8_t state;              /* SsdState */
    char model[41];
    char serial[21];
    char firmware[9];
    uint16_t security;          /* word 128 */
} SsdInfo;

/*
 * How long SSDs get to sign in, and without a word of the flash on how many
 * there are.
 */
#define SSD_SIGN_IN_MS  3000
#define SSD_GUESS_MS    1000
/* Then to answer, all of them together; and to come back from a reset. */
#define SSD_ANSWER_MS   2000
#define SSD_RETURN_MS   1500
/* Each of the others, when the time to answer is used up. */
#define SSD_IMPATIENT_MS 250

/*
 * The phys that have to have a good SSD for the volume to be complete: what the
 * configuration says or, without one, all that have a link.
 */
uint8_t ssd_expected(FlashState flash, const FlashConfig *config,
                     const SsdInfo info[HBA_PHYS]);
/*
 * Wait for the SSDs of @expected phys (0: unknown) and ask all that there are.
 * Sets h->phy[].sectors and returns the phys that can be used.
 */
uint8_t ssd_find(Hba *h, uint8_t expected, SsdInfo info[HBA_PHYS]);
/* Ask one SSD, which has @ms to answer. */
void ssd_identify(Hba *h, unsigned n, SsdInfo *info, uint32_t ms);

#endif

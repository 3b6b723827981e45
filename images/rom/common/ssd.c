/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the SSDs.  All waits are for all SSDs together, so that a card with
 * several dead ones costs no more time than with one.
 */
#include "ssd.h"

#define WORD(sector, n) \
    ((uint16_t)((sector)[2 * (n)] | (sector)[2 * (n) + 1] << 8))

#define ID_SERIAL       10
#define ID_FIRMWARE     23
#define ID_MODEL        27
#define ID_CAPABILITIES 49
#define ID_FEATURES_83  83
#define ID_SECTORS      100
#define ID_SECURITY     128

#define CAP_DMA_LBA     0x0300
#define FEAT_48BIT      0x0400
/* What a SandForce controller shows that has lost its firmware's state. */
#define PANIC_SECTORS   64
#define PANIC_NAME      "SandForce{"

static void text(const DmaByte *sector, unsigned word, unsigned words,
                 char *to)
{
    unsigned i, len = 0;

    for (i = 0; i < 2 * words; i++) {
        /* two characters a word, the first one in the high byte */
        char c = (char)sector[2 * word + (i ^ 1)];

        to[i] = c >= ' ' && c <= '~' ? c : ' ';
        if (to[i] != ' ') {
            len = i + 1;
        }
    }
    to[len] = 0;
}

static bool begins(const char *s, const char *with)
{
    while (*with && *s == *with) {
        s++;
        with++;
    }
    return !*with;
}

void ssd_identify(Hba *h, unsigned n, SsdInfo *info)
{
    HbaCommand cmd = { .command = ATA_IDENTIFY };
    HbaResult result = hba_run_sector(h, n, cmd, SSD_ANSWER_MS);
    const DmaByte *id = h->dma->sector;
    uint64_t sectors = 0;
    unsigned i;

    h->phy[n].sectors = 0;
    info->model[0] = info->serial[0] = info->firmware[0] = 0;
    if (result != HBA_OK) {
        info->state = result == HBA_TIMEOUT ? SSD_SILENT : SSD_FAILED;
        return;
    }
    text(id, ID_MODEL, 20, info->model);
    text(id, ID_SERIAL, 10, info->serial);
    text(id, ID_FIRMWARE, 4, info->firmware);
    info->security = WORD(id, ID_SECURITY);
    for (i = 4; i--; ) {
        sectors = sectors << 16 | WORD(id, ID_SECTORS + i);
    }
    if (sectors <= PANIC_SECTORS || begins(info->model, PANIC_NAME)) {
        info->state = SSD_PANIC;
    } else if ((WORD(id, ID_CAPABILITIES) & CAP_DMA_LBA) != CAP_DMA_LBA ||
               !(WORD(id, ID_FEATURES_83) & FEAT_48BIT)) {
        info->state = SSD_FAILED;
    } else {
        info->state = SSD_GOOD;
        h->phy[n].sectors = sectors;
    }
}

uint8_t ssd_find(Hba *h, uint8_t expected, SsdInfo info[HBA_PHYS])
{
    uint32_t left = HBA_TICKS_PER_MS *
                    (expected ? SSD_SIGN_IN_MS : SSD_GUESS_MS);
    uint8_t found, good = 0;
    uint32_t passed;
    unsigned n;

    for (;;) {
        found = hba_signed_in(h);
        if (expected && (found & expected) == expected) {
            break;
        }
        passed = hba_pause();
        if (passed >= left) {
            break;
        }
        left -= passed;
    }
    /* Those that do not answer keep all others waiting only once. */
    for (n = 0; n < HBA_PHYS; n++) {
        const HbaCommand probe = { .command = ATA_CHECK_POWER };

        if (found & (1u << n)) {
            hba_issue(h, n, &probe);
        }
    }
    hba_wait(h, found, SSD_ANSWER_MS);
    for (n = 0; n < HBA_PHYS; n++) {
        if (!(found & (1u << n))) {
            info[n].state = SSD_NONE;
        } else if (h->phy[n].result == HBA_TIMEOUT) {
            info[n].state = SSD_SILENT;
        } else {
            ssd_identify(h, n, &info[n]);
        }
        good |= (info[n].state == SSD_GOOD) << n;
    }
    return good;
}

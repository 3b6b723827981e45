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

void ssd_identify(Hba *h, unsigned n, SsdInfo *info, uint32_t ms)
{
    HbaCommand cmd = { .command = ATA_IDENTIFY };
    HbaResult result = hba_run_sector(h, n, cmd, ms);
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

/*
 * Wait for signatures; the phys that have sent theirs.  Where nobody says how
 * many there are, they are those that have a link after a while.
 */
static uint8_t sign_in(Hba *h, uint8_t expected)
{
    uint32_t spent = 0;

    for (;;) {
        uint8_t found = hba_signed_in(h);

        if (!expected && spent >= SSD_GUESS_MS * HBA_TICKS_PER_MS) {
            expected = hba_linked(h);
            if (!expected) {
                return found;
            }
        }
        if ((expected && (found & expected) == expected) ||
            spent >= SSD_SIGN_IN_MS * HBA_TICKS_PER_MS) {
            return found;
        }
        spent += hba_pause();
    }
}

/* What is left of the time to answer, and what each one gets anyway. */
static uint32_t patience(const Hba *h)
{
    uint32_t spent = h->waited / HBA_TICKS_PER_MS;

    return spent + SSD_IMPATIENT_MS < SSD_ANSWER_MS ?
           SSD_ANSWER_MS - spent : SSD_IMPATIENT_MS;
}

/*
 * Give all @phys one command at once, so that those that do not answer keep
 * the others waiting only once.  A reset brings some of them back to reason.
 */
static void probe(Hba *h, uint8_t phys)
{
    const HbaCommand cmd = { .command = ATA_CHECK_POWER };
    unsigned n;

    for (n = 0; n < HBA_PHYS; n++) {
        if (phys & (1u << n)) {
            hba_issue(h, n, &cmd);
        }
    }
    h->return_ms = SSD_RETURN_MS;
    hba_wait(h, phys, SSD_ANSWER_MS);
}

uint8_t ssd_expected(FlashState flash, const FlashConfig *config,
                     const SsdInfo info[HBA_PHYS])
{
    uint8_t phys = 0;
    unsigned n;

    if (flash == FLASH_GOOD) {
        return config->portmap;
    }
    for (n = 0; n < HBA_PHYS; n++) {
        phys |= (info[n].state != SSD_NONE) << n;
    }
    return phys;
}

uint8_t ssd_find(Hba *h, uint8_t expected, SsdInfo info[HBA_PHYS])
{
    uint8_t found = sign_in(h, expected), linked = hba_linked(h), good = 0;
    unsigned n;

    h->waited = 0;
    probe(h, found);
    /* who does not even say who he is need not come back */
    h->return_ms = 0;
    for (n = 0; n < HBA_PHYS; n++) {
        uint8_t phy = 1u << n;

        if (!(found & phy)) {
            info[n].state = linked & phy ? SSD_BUSY : SSD_NONE;
        } else if (h->sick & phy & ~hba_signed_in(h)) {
            info[n].state = SSD_SILENT;
        } else {
            ssd_identify(h, n, &info[n], patience(h));
        }
        if (info[n].state == SSD_GOOD) {
            good |= phy;
        }
    }
    h->return_ms = HBA_RETURN_MS;
    return good;
}

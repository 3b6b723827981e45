/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Secure erase: SECURITY SET PASSWORD, ERASE PREPARE, ERASE UNIT (ACS-2 7.44
 * to 7.49) with a password that is gone with the data.
 */
#include "setup.h"

#define SEC_SUPPORTED   0x0001
#define SEC_ENABLED     0x0002
#define SEC_FROZEN      0x0008

#define PASSWORD        "qemu-zdrive setup"
#define PASSWORD_AT     2
#define ERASE_MS        (30u * 60 * 1000)

/* The password block of all three commands: a user password, normal erase. */
static void fill_password(void)
{
    const char *p = PASSWORD;
    unsigned i;

    for (i = 0; i < HBA_SECTOR; i++) {
        hba.dma->sector[i] = 0;
    }
    for (i = PASSWORD_AT; *p; i++) {
        hba.dma->sector[i] = *p++;
    }
}

static bool security(unsigned n, uint8_t command, uint32_t ms)
{
    HbaCommand cmd = { .command = command };

    if (command == ATA_SEC_ERASE_PREPARE) {
        return hba_run(&hba, n, &cmd, ms) == HBA_OK;
    }
    fill_password();
    return hba_run_sector(&hba, n, cmd, ms) == HBA_OK;
}

static const char *refusal(const SsdInfo *ssd)
{
    if (!(ssd->security & SEC_SUPPORTED)) {
        return "has no secure erase";
    }
    if (ssd->security & SEC_FROZEN) {
        return "is frozen until the next power cycle";
    }
    if (ssd->security & SEC_ENABLED) {
        return "is protected by a password of its owner";
    }
    return NULL;
}

static void erase(const Card *card, unsigned n)
{
    const char *why = refusal(&card->ssd[n]);

    put_text("  SSD ");
    put_number(n);
    put_char(' ');
    if (why) {
        put_text(why);
    } else if (!security(n, ATA_SEC_SET_PASSWORD, SSD_ANSWER_MS)) {
        put_text("refuses a password");
    } else if (security(n, ATA_SEC_ERASE_PREPARE, SSD_ANSWER_MS) &&
               security(n, ATA_SEC_ERASE_UNIT, ERASE_MS)) {
        put_text("is erased");
    } else {
        security(n, ATA_SEC_DISABLE, SSD_ANSWER_MS);
        put_text("could not be erased");
    }
    put_text("\n");
}

void erase_run(Card *card)
{
    unsigned n;
    uint8_t key;

    put_text("\n  Erase which SSD (0 to 7, A for all)? ");
    key = key_wait();
    put_char((char)key);
    if ((key & ~0x20) == 'A') {
        if (confirm("All data of the card will be lost. Erase", "ERASE")) {
            for (n = 0; n < HBA_PHYS; n++) {
                if (card->good & (1u << n)) {
                    erase(card, n);
                }
            }
        }
        return;
    }
    n = key - '0';
    if (n >= HBA_PHYS || !(card->good & (1u << n))) {
        put_text("\n  There is no such SSD.\n");
        return;
    }
    if (confirm("All data of this SSD and of the volume will be lost. Erase",
                "ERASE")) {
        erase(card, n);
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What POST and the setup utility both show and ask.
 */
#include "bios.h"
#include "words.h"

uint8_t expected_phys(const Card *card)
{
    return ssd_expected(card->flash, &card->config, card->ssd);
}

const char *card_model(const Card *card)
{
    unsigned n;

    for (n = 0; n < HBA_PHYS; n++) {
        if (card->good & (1u << n)) {
            return card->ssd[n].model;
        }
    }
    return "";
}

void show_address(void)
{
    put_hex(pci_address >> 8, 2);
    put_char(':');
    put_hex(pci_address >> 3 & 0x1F, 2);
    put_char('.');
    put_hex(pci_address & 7, 1);
}

void show_ssd(const Card *card, unsigned n)
{
    const SsdInfo *ssd = &card->ssd[n];

    put_text("  SSD ");
    put_number(n);
    if (ssd->state != SSD_GOOD) {
        put_char(' ');
        put_text(ssd_words(ssd->state));
    } else {
        put_text(": ");
        put_text(ssd->model);
        put_text(", ");
        put_size(hba.phy[n].sectors);
        put_text(", firmware ");
        put_text(ssd->firmware);
        put_text(", serial ");
        put_text(ssd->serial);
    }
    put_text("\n");
}

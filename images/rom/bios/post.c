/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What POST and the setup utility both show and ask.
 */
#include "bios.h"

unsigned count_phys(uint8_t n)
{
    unsigned count = 0;

    for (; n; n &= n - 1) {
        count++;
    }
    return count;
}

uint8_t expected_phys(const Card *card)
{
    return card->flash == FLASH_GOOD ? card->config.portmap : 0;
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
    static const char *const states[] = {
        [SSD_NONE] = "missing: no link",
        [SSD_SILENT] = "does not answer",
        [SSD_FAILED] = "refuses IDENTIFY DEVICE",
        [SSD_PANIC] = "is in panic mode: its controller has lost its state",
    };
    const SsdInfo *ssd = &card->ssd[n];

    put_text("  SSD ");
    put_number(n);
    if (ssd->state != SSD_GOOD) {
        put_char(' ');
        put_text(states[ssd->state]);
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

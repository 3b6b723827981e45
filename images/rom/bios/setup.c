/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The setup utility: plain lines and keys, so that it works on a serial
 * console as well.
 */
#include "bios.h"

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

bool setup_run(Card *card)
{
    return false;
}

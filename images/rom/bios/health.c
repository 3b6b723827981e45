/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Health of the SSDs, from SMART.
 */
#include "setup.h"

#define ATTRIBUTES      30
#define ATTRIBUTE_SIZE  12
#define ATTRIBUTES_AT   2

#define ATTR_RETIRED    5
#define ATTR_HOURS      9
#define ATTR_CYCLES     12
#define ATTR_POWER_LOSS 174
#define ATTR_TEMPERATURE 194
#define ATTR_LIFE_LEFT  231
#define ATTR_WRITTEN    241
#define ATTR_READ       242

static bool smart(unsigned n, uint8_t feature, bool data)
{
    HbaCommand cmd = {
        .command = ATA_SMART,
        .feature = feature,
        .count = data,
        .lba = SMART_LBA,
    };

    return (data ? hba_run_sector(&hba, n, cmd, SSD_ANSWER_MS) :
            hba_run(&hba, n, &cmd, SSD_ANSWER_MS)) == HBA_OK;
}

/* Where attribute @id is in the data that were read; -1: not there. */
static int find(uint8_t id)
{
    unsigned i;

    for (i = 0; i < ATTRIBUTES; i++) {
        int at = ATTRIBUTES_AT + i * ATTRIBUTE_SIZE;

        if (hba.dma->sector[at] == id) {
            return at;
        }
    }
    return -1;
}

static uint32_t raw(int at)
{
    const DmaByte *p = &hba.dma->sector[at + 5];

    return p[0] | p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void show_value(const char *name, uint8_t id, const char *unit)
{
    int at = find(id);

    if (at >= 0) {
        put_text(name);
        put_number(raw(at));
        put_text(unit);
    }
}

/* The threshold is passed when SMART says so; life counts down from 100. */
static void show_health(unsigned n)
{
    int at;

    if (!smart(n, SMART_RETURN_STATUS, false)) {
        put_text("SMART is off");
        return;
    }
    put_text((hba_result_lba(&hba, n) & 0xFFFF00) == SMART_LBA_FAILING ?
             "FAILING" : "healthy");
    if (!smart(n, SMART_READ_DATA, true)) {
        return;
    }
    at = find(ATTR_LIFE_LEFT);
    if (at >= 0) {
        put_text(", life left ");
        put_number(hba.dma->sector[at + 3]);
        put_char('%');
    }
    at = find(ATTR_TEMPERATURE);
    if (at >= 0) {
        put_text(", ");
        put_number(hba.dma->sector[at + 5]);
        put_text(" C");
    }
}

static void show_link(unsigned n)
{
    unsigned rate = hba_link_rate(&hba, n);

    put_text(rate == 4 ? "6" : rate == 2 ? "3" : "1.5");
    put_text(" Gb/s, ");
}

void health_show(const Card *card)
{
    unsigned n;

    put_text("\n");
    for (n = 0; n < HBA_PHYS; n++) {
        if (card->ssd[n].state == SSD_GOOD) {
            put_text("  SSD ");
            put_number(n);
            put_text("  ");
            put_size(hba.phy[n].sectors);
            put_text(", firmware ");
            put_text(card->ssd[n].firmware);
            put_text(", ");
            show_link(n);
            show_health(n);
            put_text("\n");
        } else if (card->ssd[n].state != SSD_NONE ||
                   (expected_phys(card) & (1u << n))) {
            show_ssd(card, n);
        }
    }
}

static unsigned ask_ssd(const Card *card)
{
    uint8_t key;

    put_text("\n  Which SSD (0 to 7)? ");
    key = key_wait() - '0';
    if (key >= HBA_PHYS || card->ssd[key].state != SSD_GOOD) {
        put_text("\n  There is no such SSD.\n");
        return HBA_PHYS;
    }
    put_number(key);
    put_text("\n");
    return key;
}

void health_details(const Card *card)
{
    unsigned n = ask_ssd(card);

    if (n == HBA_PHYS) {
        return;
    }
    show_ssd(card, n);
    if (!smart(n, SMART_READ_DATA, true)) {
        put_text("  SMART is off\n");
        return;
    }
    show_value("  Power on hours       ", ATTR_HOURS, "\n");
    show_value("  Power cycles         ", ATTR_CYCLES, "\n");
    show_value("  Unexpected losses    ", ATTR_POWER_LOSS, "\n");
    show_value("  Retired blocks       ", ATTR_RETIRED, "\n");
    show_value("  Written by hosts     ", ATTR_WRITTEN, " GiB\n");
    show_value("  Read by hosts        ", ATTR_READ, " GiB\n");
    put_text("\n  Any key: ");
    key_wait();
}

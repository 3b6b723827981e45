/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The setup utility: plain lines and single keys, so that it works on a serial
 * console as well.
 */
#include "bios.h"
#include "setup.h"
#include "words.h"

#define KEY_ESCAPE      0x1B

static const char *view_name(uint8_t view)
{
    return view == FLASH_VIEW_MEMBERS ? "members (each SSD is a disk)"
                                      : "volume (RAID-0 of all SSDs)";
}

static void show_bytes(const uint8_t *p, unsigned len)
{
    for (; len--; p++) {
        put_char(*p >= ' ' && *p <= '~' ? (char)*p : '.');
    }
}

static void show_card(const Card *card)
{
    const FlashConfig *config = &card->config;

    put_text("\n\n" ROM_NAME " " ROM_VERSION " Setup\n\n  Card           ");
    put_text(card_model(card));
    put_text(" at ");
    show_address();
    put_text("\n  Configuration  ");
    if (card->flash != FLASH_GOOD) {
        put_text("not valid\n");
        return;
    }
    show_bytes(config->product, sizeof(config->product));
    put_text(", version ");
    put_number(config->version[0]);
    put_char('.');
    put_number(config->version[1]);
    put_text(", ");
    put_number(config->ssds);
    put_text(" SSDs\n  Shows          ");
    put_text(view_name(config->rom_view));
    put_text("\n");
}

static void save(Card *card)
{
    put_text(flash_write_config(&hba, &card->config) ?
             "\n  Saved in the card's flash.\n" :
             "\n  The card's flash cannot be written.\n");
}

static void change_view(Card *card)
{
    if (card->flash != FLASH_GOOD) {
        put_text("\n  Make a new configuration first.\n");
        return;
    }
    card->config.rom_view = card->config.rom_view == FLASH_VIEW_MEMBERS ?
                            FLASH_VIEW_VOLUME : FLASH_VIEW_MEMBERS;
    save(card);
}

/* What the factory writes, from what is found. */
static void make_config(Card *card)
{
    FlashConfig *config = &card->config;
    const char *model = card_model(card);
    uint8_t *p = (uint8_t *)config;
    unsigned n, i, len = 0;

    if (!confirm("Replace the card's configuration", "YES")) {
        return;
    }
    for (i = 0; i < sizeof(*config); i++) {
        p[i] = 0;
    }
    for (i = 0; i < 4; i++) {
        config->signature[i] = "OCZ "[i];
    }
    config->version[0] = 1;
    while (model[len]) {
        len++;
    }
    /* the last word of the model: RM88 */
    for (i = 0; i < 4 && len >= 4; i++) {
        config->product[i] = model[len - 4 + i];
    }
    config->vca_mode = 1;
    config->ssds = count_phys(card->good);
    config->portmap = card->good;
    for (n = 0; n < HBA_PHYS; n++) {
        for (i = 0; i < sizeof(config->serial[n]) &&
             card->ssd[n].serial[i]; i++) {
            config->serial[n][i] = card->ssd[n].serial[i];
        }
    }
    config->error_flags = 0xFFFFFFFF;
    card->flash = FLASH_GOOD;
    save(card);
}

bool confirm(const char *what, const char *word)
{
    const char *p = word;

    put_text("\n  ");
    put_text(what);
    put_text("?\n  Type ");
    put_text(word);
    put_text(" to go on: ");
    while (*p) {
        uint8_t key = key_wait();

        put_char(key >= ' ' ? (char)key : '?');
        if ((key & ~0x20) != *p++) {
            put_text("\n  Nothing was changed.\n");
            return false;
        }
    }
    put_text("\n");
    return true;
}

void setup_run(Card *card)
{
    for (;;) {
        show_card(card);
        health_show(card);
        put_text("\n  V  change what is shown to the firmware\n"
                 "  D  details of an SSD\n"
                 "  E  secure erase\n"
                 "  C  make a new configuration\n"
                 "  Q  go on with booting\n\n  Choice: ");
        switch (key_wait() & ~0x20) {
        case 'V':
            change_view(card);
            break;
        case 'D':
            health_details(card);
            break;
        case 'E':
            erase_run(card);
            break;
        case 'C':
            make_config(card);
            break;
        case 'Q':
        case KEY_ESCAPE & ~0x20:
            put_text("\n");
            return;
        }
    }
}

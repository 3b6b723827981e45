/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sectors that a power cut has left unreadable: what a driver gets, what heals
 * them, and the property that shows and sets them.
 */
#include "qemu/osdep.h"
#include "zdrive-qtest.h"

#define PHY     1

static ZtCard *boot(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",size=64M");

    zt_core_start(&card->core[0]);
    return card;
}

static ZtCmd transfer(ZtCard *card, uint8_t opcode, uint64_t lba,
                      uint16_t sectors)
{
    uint64_t buf = zt_slot_buf(&card->core[0], 900) + SLOT_DATA;
    ZtCmd cmd = zt_ata(opcode, lba, sectors);

    return zt_on_phy(zt_with_data(cmd, buf, sectors * ZT_SECTOR), PHY);
}

static void reads(ZtCard *card, uint64_t lba, uint16_t sectors)
{
    ZtCmd cmd = transfer(card, ATA_READ_DMA_EXT, lba, sectors);

    zt_good(&card->core[0], &cmd);
}

static void fails(ZtCard *card, uint64_t lba, uint16_t sectors, uint64_t first)
{
    ZtCmd cmd = transfer(card, ATA_READ_DMA_EXT, lba, sectors);
    uint8_t fis[20];

    zt_fails(&card->core[0], &cmd, 0x51, 0x40);
    zt_d2h(&card->core[0], PHY, fis);
    g_assert_cmphex(zt_fis_lba(fis), ==, first);
}

static void writes(ZtCard *card, uint64_t lba, uint16_t sectors)
{
    ZtCmd cmd = transfer(card, ATA_WRITE_DMA_EXT, lba, sectors);

    zt_good(&card->core[0], &cmd);
}

/* Only these sectors, and each of them until it is written. */
static void test_heal(void)
{
    ZtCard *card = boot();

    zt_set(card, PHY, "unreadable", "13-17,40");
    zt_assert_get(card, PHY, "unreadable", "13-17,40-40");
    reads(card, 8, 5);
    fails(card, 8, 8, 13);
    fails(card, 16, 8, 16);
    reads(card, 18, 8);
    writes(card, 14, 2);
    zt_assert_get(card, PHY, "unreadable", "13-13,16-17,40-40");
    reads(card, 14, 2);
    fails(card, 14, 8, 16);
    writes(card, 8, 8);
    writes(card, 16, 8);
    writes(card, 40, 1);
    zt_assert_get(card, PHY, "unreadable", "");
    reads(card, 8, 16);
    zt_quit(card);
}

static void test_refused(void)
{
    static const char *const bad[] = { "x", "5-4", "1-2-3", "0-16384", "-1" };
    ZtCard *card = boot();

    zt_set(card, PHY, "unreadable", "7");
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_autofree char *error = zt_try_set(card, PHY, "unreadable", bad[i]);

        g_assert_nonnull(error);
        g_assert_nonnull(strstr(error, "this SSD has 0-16383"));
        zt_assert_get(card, PHY, "unreadable", "7-7");
    }
    zt_set(card, PHY, "unreadable", "");
    zt_assert_get(card, PHY, "unreadable", "");
    zt_quit(card);
}

static void test_migrated(void)
{
    ZtCard *card = boot();

    zt_set(card, PHY, "unreadable", "100-101,4000");
    card = zt_migrate(card, ZT_CARD ",size=64M");
    zt_assert_get(card, PHY, "unreadable", "100-101,4000-4000");
    fails(card, 96, 8, 100);
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "heal", test_heal },
    { "refused", test_refused },
    { "migrated", test_migrated },
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    zt_add_cases("unreadable", cases, ARRAY_SIZE(cases));
    return zt_run_tests();
}

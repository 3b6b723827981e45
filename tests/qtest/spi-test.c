/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SPI flash behind the bridge, by the protocol of the card vendor's
 * driver (88se9485.md 8): commands, write protection, and the two blocks that
 * driver and option ROM look for.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/cutils.h"
#include "zdrive-qtest.h"

#define FLASH_LEN       0x40000
#define CONFIG_BLOCK    0x20000
#define CONFIG_LEN      0xb8
#define HBA_PAGE        0x3ff00
#define HBA_LEN         0x100

#define SPI_START       (1u << 0)
#define SPI_ADDR_VALID  (1u << 1)
#define SPI_READ        (1u << 2)
#define STATUS_BUSY     (1u << 0)
#define STATUS_WEL      (1u << 1)

/* One operation; the start bit has cleared itself when it returns. */
static void spi_do(ZtCard *card, uint8_t opcode, unsigned len, uint32_t flags)
{
    zt_write(card, MVS_SPI_CTRL, opcode << 8 | len << 4 | flags | SPI_START);
    g_assert_cmphex(zt_read(card, MVS_SPI_CTRL) & SPI_START, ==, 0);
}

static uint32_t spi_read(ZtCard *card, uint32_t addr, unsigned len)
{
    zt_write(card, MVS_SPI_ADDR, addr);
    spi_do(card, 0x03, len, SPI_ADDR_VALID | SPI_READ);
    return zt_read(card, MVS_SPI_RD_DATA);
}

static void spi_write(ZtCard *card, uint32_t addr, uint32_t val, unsigned len)
{
    zt_write(card, MVS_SPI_ADDR, addr);
    zt_write(card, MVS_SPI_WR_DATA, val);
    spi_do(card, 0x02, len, SPI_ADDR_VALID);
}

static void spi_erase(ZtCard *card, uint8_t opcode, uint32_t addr)
{
    zt_write(card, MVS_SPI_ADDR, addr);
    spi_do(card, opcode, 0, SPI_ADDR_VALID);
}

static uint8_t spi_status(ZtCard *card)
{
    spi_do(card, 0x05, 1, SPI_READ);
    return zt_read(card, MVS_SPI_RD_DATA);
}

static void spi_write_enable(ZtCard *card)
{
    spi_do(card, 0x06, 0, 0);
    g_assert_cmphex(spi_status(card) & STATUS_WEL, ==, STATUS_WEL);
}

static void spi_read_block(ZtCard *card, uint32_t addr, uint8_t *buf,
                           unsigned len)
{
    unsigned i;

    for (i = 0; i < len; i += 4) {
        stl_le_p(buf + i, spi_read(card, addr + i, 4));
    }
}

/* One of those that the vendor's driver accepts. */
static void test_id(void)
{
    static const uint32_t known[] = { 0x441f, 0x431f, 0x9d7f };
    ZtCard *card = zt_boot(ZT_CARD);
    uint32_t id;
    unsigned i, n = 0;

    spi_do(card, 0x9f, 2, SPI_READ);
    id = zt_read(card, MVS_SPI_RD_DATA) & 0xffff;
    for (i = 0; i < ARRAY_SIZE(known); i++) {
        n += id == known[i];
    }
    g_assert_cmpint(n, ==, 1);
    zt_quit(card);
}

static void test_status(void)
{
    ZtCard *card = zt_boot(ZT_CARD);

    g_assert_cmphex(spi_status(card) & (STATUS_BUSY | STATUS_WEL), ==, 0);
    spi_write_enable(card);
    g_assert_cmphex(spi_status(card) & STATUS_BUSY, ==, 0);
    spi_do(card, 0x04, 0, 0);
    g_assert_cmphex(spi_status(card) & STATUS_WEL, ==, 0);
    zt_quit(card);
}

static void test_read_length(void)
{
    ZtCard *card = zt_boot(ZT_CARD);

    g_assert_cmphex(spi_read(card, CONFIG_BLOCK, 4), ==, 0x205a434f);
    g_assert_cmphex(spi_read(card, CONFIG_BLOCK, 1) & 0xff, ==, 0x4f);
    g_assert_cmphex(spi_read(card, CONFIG_BLOCK + 1, 2) & 0xffff, ==, 0x5a43);
    /* 18 address bits; reading goes on at the start of the part */
    g_assert_cmphex(spi_read(card, CONFIG_BLOCK + FLASH_LEN, 4), ==,
                    0x205a434f);
    g_assert_cmphex(spi_read(card, FLASH_LEN - 1, 4) >> 8, ==,
                    spi_read(card, 0, 3) & 0xffffff);
    zt_quit(card);
}

static void test_program(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    const uint32_t addr = 0x30000;

    g_assert_cmphex(spi_read(card, addr, 4), ==, 0xffffffff);
    /* not without write enable */
    spi_write(card, addr, 0, 4);
    g_assert_cmphex(spi_read(card, addr, 4), ==, 0xffffffff);
    spi_write_enable(card);
    spi_write(card, addr, 0xf0f1f2f3, 4);
    g_assert_cmphex(spi_read(card, addr, 4), ==, 0xf0f1f2f3);
    /* once per operation */
    g_assert_cmphex(spi_status(card) & STATUS_WEL, ==, 0);
    spi_write(card, addr, 0, 4);
    g_assert_cmphex(spi_read(card, addr, 4), ==, 0xf0f1f2f3);
    /* bits go from 1 to 0 only, and @len bytes of them */
    spi_write_enable(card);
    spi_write(card, addr, 0x0f0f0f0f, 2);
    g_assert_cmphex(spi_read(card, addr, 4), ==, 0xf0f10203);
    g_assert_cmphex(spi_read(card, addr + 4, 4), ==, 0xffffffff);
    g_assert_cmphex(spi_read(card, addr - 4, 4), ==, 0xffffffff);
    zt_quit(card);
}

static const struct {
    const char *name;
    uint8_t opcode;
    uint32_t len;
} erases[] = {
    { "4k", 0x20, 4 * 1024 },
    { "32k", 0x52, 32 * 1024 },
    { "64k", 0xd8, 64 * 1024 },
    { "chip", 0xc7, FLASH_LEN },
};

static void program_zero(ZtCard *card, uint32_t addr)
{
    spi_write_enable(card);
    spi_write(card, addr, 0, 4);
}

static void test_erase(const void *data)
{
    unsigned n = GPOINTER_TO_UINT(data);
    ZtCard *card = zt_boot(ZT_CARD);
    uint32_t len = erases[n].len;
    uint32_t base = len == FLASH_LEN ? 0 : 0x10000;

    program_zero(card, base);
    program_zero(card, base + len - 4);
    if (len < FLASH_LEN) {
        program_zero(card, base + len);
        program_zero(card, base - 4);
    }
    spi_erase(card, erases[n].opcode, base + 100);
    g_assert_cmphex(spi_read(card, base, 4), ==, 0);    /* protected */
    spi_write_enable(card);
    spi_erase(card, erases[n].opcode, base + 100);
    g_assert_cmphex(spi_read(card, base, 4), ==, 0xffffffff);
    g_assert_cmphex(spi_read(card, base + len - 4, 4), ==, 0xffffffff);
    if (len < FLASH_LEN) {
        g_assert_cmphex(spi_read(card, base + len, 4), ==, 0);
        g_assert_cmphex(spi_read(card, base - 4, 4), ==, 0);
    }
    zt_quit(card);
}

/* The contents outlive a reset, write enable does not. */
static void test_reset(void)
{
    ZtCard *card = zt_boot(ZT_CARD);

    program_zero(card, 0x30000);
    spi_write_enable(card);
    zt_system_reset(card);
    g_assert_cmphex(spi_status(card) & STATUS_WEL, ==, 0);
    g_assert_cmphex(spi_read(card, 0x30000, 4), ==, 0);
    g_assert_cmphex(spi_read(card, CONFIG_BLOCK, 4), ==, 0x205a434f);
    zt_quit(card);
}

static void test_unknown(void)
{
    ZtCard *card = zt_boot(ZT_CARD);

    spi_do(card, 0x77, 4, SPI_READ);
    spi_do(card, 0x00, 15, SPI_READ | SPI_ADDR_VALID);
    g_assert_cmphex(spi_status(card), ==, 0);
    g_assert_cmphex(spi_read(card, CONFIG_BLOCK, 4), ==, 0x205a434f);
    zt_quit(card);
}

static const struct {
    const char *model;
    unsigned ssds;
} models[] = {
    { "cm84", 4 }, { "cm88", 8 }, { "rm84", 4 }, { "rm88", 8 },
};

/* real-cards.md 1.5 */
static void test_config_block(const void *data)
{
    unsigned m = GPOINTER_TO_UINT(data);
    ZtCard *card = zt_boot(ZT_CARD ",model=%s", models[m].model);
    g_autofree char *product = g_ascii_strup(models[m].model, -1);
    uint8_t block[CONFIG_LEN];
    uint32_t sum = 0;
    unsigned i;

    spi_read_block(card, CONFIG_BLOCK, block, sizeof(block));
    g_assert_cmpmem(block, 4, "OCZ ", 4);
    g_assert_cmpmem(block + 0x08, 4, product, 4);
    g_assert_cmpint(block[0x0c], ==, 1);
    g_assert_cmpint(block[0x0d], ==, models[m].ssds);
    g_assert_cmphex(block[0x0e], ==, (1 << models[m].ssds) - 1);
    g_assert_cmphex((uint32_t)ldl_le_p(block + 0xb0), ==, 0xffffffff);
    for (i = 0; i < CONFIG_LEN; i += 4) {
        sum += ldl_le_p(block + i);
    }
    g_assert_cmphex(sum, ==, 0);

    for (i = 0; i < MVS_CORES * MVS_PHYS; i++) {
        ZtCore *core = &card->core[i / MVS_PHYS];
        const uint8_t *serial = block + 0x10 + 20 * i;
        g_autofree char *expected = NULL;
        uint16_t id[256];

        if (i >= models[m].ssds) {
            g_assert_true(buffer_is_zero(serial, 20));
            continue;
        }
        if (i % MVS_PHYS == 0) {
            zt_core_start(core);
        }
        zt_identify(core, i % MVS_PHYS, id);
        expected = zt_id_string(id, 10, 10);
        g_assert_cmpint(strlen(expected), ==, 20);
        g_assert_cmpmem(serial, 20, expected, 20);
    }
    zt_quit(card);
}

/* A serial number shorter than its field is filled up as in IDENTIFY. */
static void test_short_serial(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",serial=ABC");
    uint8_t block[CONFIG_LEN];
    uint16_t id[256];
    g_autofree char *serial = NULL;

    spi_read_block(card, CONFIG_BLOCK, block, sizeof(block));
    zt_core_start(&card->core[0]);
    zt_identify(&card->core[0], 2, id);
    serial = zt_id_string(id, 10, 10);
    g_assert_cmpstr(serial, ==, "ABC2");
    g_assert_cmpmem(block + 0x10 + 2 * 20, 4, "ABC2", 4);
    zt_quit(card);
}

/* struct hba_info_page of mvsas */
static void test_hba_page(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    uint8_t page[HBA_LEN];
    uint8_t sum = 0;
    unsigned i;

    spi_read_block(card, HBA_PAGE, page, sizeof(page));
    g_assert_cmpmem(page, 4, "MRVL", 4);
    for (i = 0; i < HBA_LEN; i++) {
        sum += page[i];
    }
    g_assert_cmpint(sum, ==, 0);
    for (i = 0; i < 8; i++) {
        g_assert_cmphex(page[56 + 8 * i] >> 4, ==, 5);  /* NAA 5 */
        /* 1 would be 3 Gb/s, the mistake of older option ROMs */
        g_assert_cmphex(page[176 + i], ==, 2);
    }
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "id", test_id },
    { "status", test_status },
    { "read-length", test_read_length },
    { "program", test_program },
    { "reset", test_reset },
    { "unknown", test_unknown },
    { "short-serial", test_short_serial },
    { "hba-page", test_hba_page },
};

int main(int argc, char **argv)
{
    unsigned i;

    g_test_init(&argc, &argv, NULL);
    zt_add_cases("spi", cases, ARRAY_SIZE(cases));
    for (i = 0; i < ARRAY_SIZE(erases); i++) {
        zt_add_variant("spi", "erase", erases[i].name, i, test_erase);
    }
    for (i = 0; i < ARRAY_SIZE(models); i++) {
        zt_add_variant("spi", "config-block", models[i].model, i,
                       test_config_block);
    }
    return zt_run_tests();
}

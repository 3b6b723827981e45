/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log 04h of a RevoDrive 350's SSD: pages and statistics where ACS-3 has them.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/zdrive/disk/ata/ata-internal.h"

#define FLAGS 0xC0ull

static uint64_t statistic(const ZdSsd *ssd, unsigned number, unsigned offset)
{
    uint8_t page[ZD_SECTOR_SIZE] = { 0 };

    zd_ata_statistics_page(ssd, number, page);
    g_assert_cmphex(ldq_le_p(page), ==, (uint64_t)number << 16 | 1);
    g_assert_cmphex(page[offset + 7], ==, FLAGS);
    return ldq_le_p(page + offset) & ((1ull << 56) - 1);
}

static void test_list(void)
{
    static const uint8_t want[] = { 6, 0, 1, 4, 5, 6, 7 };
    uint8_t page[ZD_SECTOR_SIZE] = { 0 };
    ZdSsd ssd = { 0 };

    zd_ata_statistics_page(&ssd, 0, page);
    g_assert_cmphex(ldq_le_p(page), ==, 1);
    g_assert_cmpmem(page + 8, sizeof(want), want, sizeof(want));
}

static void test_values(void)
{
    ZdSsd ssd = {
        .power_cycles = 2304,
        .link_losses = 1608,
        .media.sectors_written = 12112685363,
    };

    g_assert_cmpuint(statistic(&ssd, 1, 0x08), ==, 2304);
    g_assert_cmpuint(statistic(&ssd, 1, 0x18), ==, 12112685363);
    g_assert_cmpuint(statistic(&ssd, 4, 0x10), ==, 0);
    g_assert_cmpuint(statistic(&ssd, 5, 0x58), ==, 65);
    g_assert_cmpuint(statistic(&ssd, 6, 0x10), ==, 1608);
    g_assert_cmpuint(statistic(&ssd, 7, 0x08), ==, 0);
}

static void test_absent(void)
{
    static const uint8_t zero[ZD_SECTOR_SIZE];
    uint8_t page[ZD_SECTOR_SIZE] = { 0 };
    ZdSsd ssd = { 0 };

    zd_ata_statistics_page(&ssd, 2, page);
    zd_ata_statistics_page(&ssd, 3, page);
    g_assert_cmpmem(page, sizeof(page), zero, sizeof(zero));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/statistics/list", test_list);
    g_test_add_func("/statistics/values", test_values);
    g_test_add_func("/statistics/absent", test_absent);
    return g_test_run();
}

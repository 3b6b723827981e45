/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Migration: the card goes on in another QEMU as if nothing had happened,
 * with its commands in flight, its errors, timers and settings.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "zdrive-qtest.h"

#define CARD        ZT_CARD ",size=64M"
#define IMAGE_LEN   (64 * 1024 * 1024)
#define PHY         2

static ZtCard *boot(const char *args)
{
    ZtCard *card = zt_boot("%s", args);

    zt_core_start(&card->core[0]);
    zt_core_start(&card->core[1]);
    return card;
}

static void write_pattern(ZtCard *card, unsigned core, unsigned phy,
                          uint64_t lba, uint32_t seed)
{
    uint64_t buf = zt_alloc(card, 4096);
    ZtCmd cmd = zt_with_data(zt_ata(ATA_WRITE_DMA_EXT, lba, 8), buf, 4096);

    zt_fill(card, buf, 4096, seed);
    cmd = zt_on_phy(cmd, phy);
    zt_good(&card->core[core], &cmd);
}

static void check_pattern(ZtCard *card, unsigned core, unsigned phy,
                          uint64_t lba, uint32_t seed)
{
    uint64_t buf = zt_alloc(card, 4096);
    ZtCmd cmd = zt_with_data(zt_ata(ATA_READ_DMA_EXT, lba, 8), buf, 4096);

    cmd = zt_on_phy(cmd, phy);
    zt_good(&card->core[core], &cmd);
    zt_assert_pattern(card, buf, 4096, seed);
}

/* Data in memory travels along; data in an image stays where it is. */
static void test_memory(void)
{
    ZtCard *card = boot(CARD);
    unsigned n;

    for (n = 0; n < 8; n++) {
        write_pattern(card, n / 4, n % 4, 1000 + n, n);
    }
    card = zt_migrate(card, CARD);
    for (n = 0; n < 8; n++) {
        check_pattern(card, n / 4, n % 4, 1000 + n, n);
        write_pattern(card, n / 4, n % 4, 2000 + n, n + 50);
        check_pattern(card, n / 4, n % 4, 2000 + n, n + 50);
    }
    zt_quit(card);
}

#define TAGS        8

/*
 * Queued reads and writes on one SSD, running and waiting single commands on
 * another: each of them ends once, with its data.
 */
static void in_flight(const char *args)
{
    ZtCard *card = boot(args);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 3 * TAGS * 4096);
    bool seen[256] = { };
    unsigned i;
    ZtCmd cmd;

    for (i = 0; i < TAGS; i++) {
        write_pattern(card, 0, PHY, i * 8, i);
        zt_fill(card, buf + (TAGS + i) * 4096, 4096, 100 + i);
    }
    for (i = 0; i < TAGS; i++) {
        cmd = zt_ncq(ATA_READ_FPDMA, i, i * 8, 8);
        cmd = zt_with_data(zt_on_phy(cmd, PHY), buf + i * 4096, 4096);
        zt_queue(core, &cmd);
        cmd = zt_ncq(ATA_WRITE_FPDMA, TAGS + i, 500 + i * 8, 8);
        cmd = zt_with_data(zt_on_phy(cmd, PHY), buf + (TAGS + i) * 4096,
                           4096);
        zt_queue(core, &cmd);
        cmd = i ? zt_ata(ATA_READ_DMA_EXT, 8 * i, 8)
                : zt_ata(ATA_IDENTIFY, 0, 0);
        cmd = zt_with_data(zt_on_phy(cmd, PHY + 1),
                           buf + (2 * TAGS + i) * 4096, i ? 4096 : ZT_SECTOR);
        cmd.slot = 2 * TAGS + i;
        zt_queue(core, &cmd);
    }
    qtest_memset(card->qts, buf, 0xdd, TAGS * 4096);
    qtest_memset(card->qts, buf + 2 * TAGS * 4096, 0xdd, TAGS * 4096);
    zt_doorbell(core);
    qtest_clock_step(card->qts, ZT_IN_FLIGHT_NS);

    card = zt_migrate(card, args);
    core = &card->core[0];
    for (i = 0; i < 3 * TAGS; i++) {
        uint32_t entry = zt_completion(core);
        unsigned slot = RXQ_SLOT(entry);

        g_assert_cmphex(entry, ==, RXQ_DONE | RXQ_GOOD | slot);
        g_assert_cmpint(slot, <, 3 * TAGS);
        g_assert_false(seen[slot]);
        seen[slot] = true;
    }
    zt_assert_quiet(core);
    for (i = 0; i < TAGS; i++) {
        zt_assert_pattern(card, buf + i * 4096, 4096, i);
        check_pattern(card, 0, PHY, 500 + i * 8, 100 + i);
        if (i) {
            zt_assert_zero(card, buf + (2 * TAGS + i) * 4096, 4096);
        }
    }
    g_assert_cmphex(qtest_readb(card->qts, buf + 2 * TAGS * 4096), ==, 0x40);
    zt_quit(card);
}

static void test_in_flight(void)
{
    in_flight(CARD);
}

static void test_in_flight_file(void)
{
    g_autofree char *path = zt_tmp_image("migrate.img", IMAGE_LEN);
    g_autofree char *args = g_strdup_printf(
        "-drive if=none,id=d,format=raw,cache=none,file=%s " ZT_CARD
        ",drive=d", path);

    in_flight(args);
}

/* Commands in flight can be aborted over there, too. */
static void test_abort(void)
{
    ZtCard *card = boot(CARD);
    uint64_t buf = zt_alloc(card, 4096);
    ZtCmd cmd = zt_ncq(ATA_READ_FPDMA, 5, 0, 8);
    ZtCore *core;
    uint16_t id[256];

    cmd = zt_with_data(zt_on_phy(cmd, PHY), buf, 4096);
    zt_queue(&card->core[0], &cmd);
    zt_doorbell(&card->core[0]);
    card = zt_migrate(card, CARD);
    core = &card->core[0];
    g_assert_true(zt_slot_active(core, 5));
    zt_cmd_write(core, MVS_COMMAND_ACTIVE, 1u << 5);
    g_assert_false(zt_slot_active(core, 5));
    zt_assert_quiet(core);
    zt_identify(core, PHY, id);
    zt_quit(card);
}

/* Every register of both cores and of the chip reads the same. */
static void test_registers(void)
{
    ZtCard *card = boot(CARD);
    g_autofree uint8_t *before = g_malloc(MVS_BAR2_SIZE);
    g_autofree uint8_t *after = g_malloc(MVS_BAR2_SIZE);
    g_autoptr(GRand) rnd = g_rand_new_with_seed(7);
    static const uint32_t scratch[] = {
        MVS_PORTS_IMP, MVS_STP_REG_SET_0, MVS_STP_REG_SET_1,
        MVS_INT_MASK_SRS_0, MVS_INT_MASK_SRS_1, MVS_P_INT_MASK(0),
        MVS_P_INT_MASK(3),
    };
    unsigned c, i;

    for (c = 0; c < MVS_CORES; c++) {
        ZtCore *core = &card->core[c];
        ZtCmd cmd = zt_cheap(PHY, 4);

        for (i = 0; i < ARRAY_SIZE(scratch); i++) {
            zt_core_write(core, scratch[i], g_rand_int(rnd));
        }
        zt_good(core, &cmd);
        zt_vsr_write(core, 1, 0x110, g_rand_int(rnd));
        zt_vsr_write(core, 3, VSR_PHY_MODE2, MODE2_DISABLED);
        zt_cfg_write(core, 2, PHYR_PHY_STAT, g_rand_int(rnd));
        zt_cmd_write(core, 0x1e4, g_rand_int(rnd));
        zt_write(card, MVS_SGPIO(c) + 0x20, g_rand_int(rnd));
    }
    zt_write(card, MVS_HST_CHIP_CONFIG, 0x100);
    qtest_bufread(card->qts, card->bar2.addr, before, MVS_BAR2_SIZE);
    card = zt_migrate(card, CARD);
    qtest_bufread(card->qts, card->bar2.addr, after, MVS_BAR2_SIZE);
    g_assert_cmpmem(after, MVS_BAR2_SIZE, before, MVS_BAR2_SIZE);
    zt_quit(card);
}

/* The pin stays up, and the acknowledge takes it down over there. */
static void test_interrupt(void)
{
    ZtCard *card = boot(CARD);
    ZtCmd cmd = zt_cheap(PHY, 0);
    ZtCore *core = &card->core[0];

    zt_write(card, MVS_GBL_PI, 0xc0000);
    zt_good(core, &cmd);
    g_assert_true(zt_intx(card));
    card = zt_migrate(card, CARD);
    core = &card->core[0];
    g_assert_true(zt_intx(card));
    /* not read yet: the first acknowledge cannot know of it */
    zt_core_write(core, MVS_INT_STAT, CINT_DONE);
    g_assert_true(zt_intx(card));
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT), ==, CINT_DONE);
    zt_core_write(core, MVS_INT_STAT, CINT_DONE);
    g_assert_false(zt_intx(card));
    zt_good(core, &cmd);
    g_assert_true(zt_intx(card));
    zt_quit(card);
}

/* Completions that wait for their interrupt wait no longer than before. */
static void test_coalescing(void)
{
    const int64_t us = 1000;
    ZtCard *card = boot(CARD ",timing=off");
    ZtCmd cmd = zt_cheap(PHY, 0);
    ZtCore *core = &card->core[0];

    zt_core_write(core, MVS_INT_COAL, RING_EN | 0x1ff);
    zt_core_write(core, MVS_INT_COAL_TMOUT, RING_EN | 500);
    zt_good(core, &cmd);
    qtest_clock_step(card->qts, 200 * us);
    card = zt_migrate(card, CARD ",timing=off");
    core = &card->core[0];
    qtest_clock_step(card->qts, 299 * us);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT), ==, 0);
    qtest_clock_step(card->qts, 1 * us);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT), ==, CINT_DONE);
    zt_quit(card);
}

/* An NCQ error that the driver has not seen yet. */
static void test_ncq_error(void)
{
    ZtCard *card = boot(CARD);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 4096);
    uint64_t log = zt_alloc(card, 4096);
    ZtCmd bad = zt_ncq(ATA_READ_FPDMA, 17, 1ull << 40, 8);
    ZtCmd next = zt_ncq(ATA_READ_FPDMA, 3, 0, 8);
    ZtCmd read_log = zt_ata(ATA_READ_LOG_EXT, 0x10, 1);

    bad = zt_with_data(zt_on_phy(bad, PHY), buf, 4096);
    next = zt_with_data(zt_on_phy(next, PHY), buf, 4096);
    read_log = zt_with_data(zt_on_phy(read_log, PHY), log, ZT_SECTOR);
    zt_queue(core, &bad);
    zt_doorbell(core);
    zt_assert_quiet(core);
    zt_queue(core, &next);
    zt_doorbell(core);

    card = zt_migrate(card, CARD);
    core = &card->core[0];
    g_assert_cmphex(zt_core_read(core, MVS_NON_NCQ_ERR_0), ==, 1u << PHY);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT), ==,
                    CINT_NON_SPEC_NCQ_ERROR);
    zt_assert_quiet(core);
    zt_good(core, &read_log);
    g_assert_cmphex(qtest_readb(card->qts, log), ==, 17);
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD | 3);
    zt_quit(card);
}

/* Settings of the SSD and contents of the SPI flash. */
static void test_settings(void)
{
    ZtCard *card = boot(CARD);
    ZtCmd cache_off = zt_on_phy(zt_ata_features(0xef, 0x82, 0, 0), PHY);
    ZtCmd apm = zt_on_phy(zt_ata_features(0xef, 0x05, 0, 0x42), PHY);
    ZtCmd dipm = zt_on_phy(zt_ata_features(0xef, 0x10, 0, 3), PHY);
    uint16_t before[256], after[256];

    zt_good(&card->core[0], &cache_off);
    zt_good(&card->core[0], &apm);
    zt_good(&card->core[0], &dipm);
    zt_identify(&card->core[0], PHY, before);
    g_assert_cmphex(before[91], ==, 0x42);
    zt_write(card, MVS_SPI_CTRL, 0x0601);               /* write enable */
    zt_write(card, MVS_SPI_ADDR, 0x31000);
    zt_write(card, MVS_SPI_WR_DATA, 0x600df00d);
    zt_write(card, MVS_SPI_CTRL, 0x0243);               /* program */
    card = zt_migrate(card, CARD);
    zt_identify(&card->core[0], PHY, after);
    g_assert_cmpmem(after, sizeof(after), before, sizeof(before));
    zt_write(card, MVS_SPI_CTRL, 0x0347);               /* read */
    g_assert_cmphex(zt_read(card, MVS_SPI_RD_DATA), ==, 0x600df00d);
    zt_quit(card);
}

#define LARGE       (8 * 1024 * 1024)

/* As much as a power cut could take back, and more. */
static void test_large(void)
{
    const char *args = ZT_CARD ",size=512M";
    ZtCard *card = boot(args);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, LARGE);
    ZtPrd prd[8];
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(prd); i++) {
        prd[i].addr = cpu_to_le64(buf + i * (LARGE / 8));
        prd[i].len = cpu_to_le32(LARGE / 8);
    }
    for (i = 0; i < 6; i++) {
        ZtCmd cmd = zt_ncq(ATA_WRITE_FPDMA, i, i * (LARGE / ZT_SECTOR),
                           LARGE / ZT_SECTOR);

        cmd = zt_on_phy(zt_with_data(cmd, buf, LARGE), PHY);
        cmd.prd = prd;
        cmd.prds = ARRAY_SIZE(prd);
        zt_queue(core, &cmd);
    }
    zt_doorbell(core);
    qtest_clock_step(card->qts, ZT_IN_FLIGHT_NS);
    g_assert_false(zt_completed(core));
    card = zt_migrate(card, args);
    for (i = 0; i < 6; i++) {
        uint32_t entry = zt_completion(&card->core[0]);

        g_assert_cmphex(entry & (RXQ_DONE | RXQ_GOOD), ==,
                        RXQ_DONE | RXQ_GOOD);
    }
    zt_quit(card);
}

#define ROOT_PORT   QPCI_DEVFN(3, 0)

/* The card behind the root port. */
static QPCIDevice *behind_port(ZtCard *card)
{
    QPCIDevice *card_pci;

    card->pci = qpci_device_find(card->bus, ROOT_PORT);
    g_assert_nonnull(card->pci);
    qpci_config_writeb(card->pci, PCI_SECONDARY_BUS, 1);
    qpci_config_writeb(card->pci, PCI_SUBORDINATE_BUS, 1);
    card_pci = qpci_device_find(card->bus, 1 << 8);
    g_assert_nonnull(card_pci);
    return card_pci;
}

/* An error that is logged leaves the link as it is, and moves. */
static void test_aer(void)
{
    const char *args = "-device pcie-root-port,id=rp,addr=3 "
                       "-device zdrive-r4,id=zd,bus=rp,size=64M";
    ZtCard *card = zt_qemu("%s", args);
    QPCIDevice *pci = behind_port(card);
    uint32_t link = qpci_config_readl(pci, 0x7c);
    g_autofree char *said = qtest_hmp(card->qts, "pcie_aer_inject_error zd "
                                      "MALF_TLP 1 2 3 4");

    g_assert_nonnull(strstr(said, "OK"));
    g_assert_cmphex(qpci_config_readl(pci, 0x7c), ==, link);
    g_free(pci);
    card = zt_migrate(card, args);
    pci = behind_port(card);
    g_assert_cmphex(qpci_config_readl(pci, 0x7c), ==, link);
    g_free(pci);
    zt_quit(card);
}

/* Asleep here, asleep there: only a reset wakes it. */
static void test_sleep(void)
{
    ZtCard *card = boot(CARD);
    ZtCmd sleep = zt_on_phy(zt_ata(0xe6, 0, 0), PHY);
    ZtCmd cheap = zt_cheap(PHY, 9);
    ZtCore *core;

    zt_good(&card->core[0], &sleep);
    card = zt_migrate(card, CARD);
    core = &card->core[0];
    zt_queue(core, &cheap);
    zt_doorbell(core);
    zt_assert_quiet(core);
    zt_core_write(core, MVS_P_SER_CTLSTAT(PHY), PHY_RST);
    zt_good(core, &cheap);
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "memory", test_memory },
    { "in-flight", test_in_flight },
    { "in-flight-file", test_in_flight_file },
    { "large", test_large },
    { "abort", test_abort },
    { "registers", test_registers },
    { "interrupt", test_interrupt },
    { "coalescing", test_coalescing },
    { "ncq-error", test_ncq_error },
    { "settings", test_settings },
    { "aer", test_aer },
    { "sleep", test_sleep },
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    zt_add_cases("migrate", cases, ARRAY_SIZE(cases));
    return zt_run_tests();
}

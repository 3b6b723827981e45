/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults at the level of registers: what each of them lets a driver see, what
 * goes on beside it, and that it can be taken back.  Also what no driver asks
 * for but can happen: an SSD that is pulled, D3hot, and the soft reset.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qapi/qmp/qdict.h"
#include "hw/pci/pci_regs.h"
#include "zdrive-qtest.h"

#define SICK            2       /* phy of core 0, and SSD of the card */
#define SEC_NS          (1000ll * 1000 * 1000)
#define MSEC_NS         (1000ll * 1000)
#define ERR_R_ERR       (1u << 23)
#define PHYEV_CRC_ERR   (1u << 22)
#define PHYR_CRC_ERR    0x34
#define SIGNATURE       0x01500034u

/* ---- commands ---- */

static ZtCard *boot(const char *faults)
{
    ZtCard *card = zt_boot(ZT_CARD ",size=512M,faults='%s'", faults);

    zt_core_start(&card->core[0]);
    return card;
}

static ZtCmd transfer(ZtCard *card, uint8_t opcode, unsigned phy,
                      uint64_t lba)
{
    uint64_t buf = zt_slot_buf(&card->core[0], 900) + SLOT_DATA;

    return zt_on_phy(zt_with_data(zt_ata(opcode, lba, 8), buf, 4096), phy);
}

/* The other SSDs do not notice. */
static void assert_others(ZtCard *card)
{
    unsigned phy;

    for (phy = 0; phy < MVS_PHYS; phy++) {
        ZtCmd cmd = transfer(card, ATA_READ_DMA_EXT, phy, 100);

        if (phy != SICK) {
            zt_good(&card->core[0], &cmd);
        }
    }
}

static void assert_works(ZtCard *card)
{
    ZtCmd cmd = transfer(card, ATA_WRITE_DMA_EXT, SICK, 100);

    zt_good(&card->core[0], &cmd);
    cmd.fis[2] = ATA_READ_DMA_EXT;
    zt_good(&card->core[0], &cmd);
}

/* ---- medium ---- */

static void test_read_error(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = transfer(card, ATA_READ_DMA_EXT, SICK, 96);
    uint8_t fis[20];

    zt_set(card, SICK, "faults", "read-error,lba=100-101,times=2");
    zt_fails(core, &cmd, 0x51, 0x40);
    zt_d2h(core, SICK, fis);
    g_assert_cmphex(zt_fis_lba(fis), ==, 100);
    assert_others(card);
    /* also without data; the third one finds the sectors good again */
    cmd = zt_on_phy(zt_ata(0x42, 101, 1), SICK);
    zt_fails(core, &cmd, 0x51, 0x40);
    zt_good(core, &cmd);
    zt_assert_get(card, SICK, "faults",
               "read-error,lba=100-101,times=2,hits=2");
    g_assert_cmpint(zt_count(card, SICK, "smart", "187"), ==, 2);
    g_assert_cmpint(zt_count(card, SICK, "stats", "uncorrectable"), ==, 2);
    g_assert_cmpint(zt_count(card, -1, "stats", "uncorrectable"), ==, 2);
    zt_quit(card);
}

static void test_write_fault(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = transfer(card, ATA_WRITE_DMA_EXT, SICK, 100);
    ZtCmd flush = zt_on_phy(zt_ata(0xea, 0, 0), SICK);

    zt_fill(card, cmd.data, 4096, 1);
    zt_good(core, &cmd);
    zt_fill(card, cmd.data, 4096, 2);
    zt_set(card, SICK, "faults", "write-fault");
    zt_fails(core, &cmd, 0x71, 0x04);
    zt_fails(core, &flush, 0x71, 0x04);
    /* nothing was written */
    cmd.fis[2] = ATA_READ_DMA_EXT;
    zt_good(core, &cmd);
    zt_assert_pattern(card, cmd.data, 4096, 1);
    zt_set(card, SICK, "faults", "");
    zt_good(core, &flush);
    assert_works(card);
    zt_quit(card);
}

static void test_slow(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",timing=off");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(SICK, 7);

    zt_core_start(core);
    zt_set(card, SICK, "faults", "slow,delay=3s,opcode=0xe5");
    zt_queue(core, &cmd);
    zt_doorbell(core);
    qtest_clock_step(card->qts, 3 * SEC_NS - MSEC_NS);
    g_assert_false(zt_completed(core));
    assert_others(card);
    qtest_clock_step(card->qts, 2 * MSEC_NS);
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD | 7);
    zt_quit(card);
}

/* ---- hanging ---- */

static void test_hang(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_ncq(ATA_READ_FPDMA, 5, 0, 8);
    ZtCmd other = zt_ncq(ATA_READ_FPDMA, 6, 0, 8);

    cmd = zt_on_phy(zt_with_data(cmd, zt_slot_buf(core, 900) + SLOT_DATA,
                                 4096), SICK);
    other = zt_on_phy(zt_with_data(other, cmd.data, 4096), SICK);
    zt_set(card, SICK, "faults", "hang,tag=5");
    zt_queue(core, &cmd);
    zt_queue(core, &other);
    zt_doorbell(core);
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD | 6);
    zt_assert_quiet(core);
    assert_others(card);
    /* it stays hung without the fault, until its slot is taken back */
    zt_set(card, SICK, "faults", "");
    zt_assert_quiet(core);
    g_assert_true(zt_slot_active(core, 5));
    zt_core_write(core, MVS_P_SER_CTLSTAT(SICK), PHY_RST);
    g_assert_false(zt_slot_active(core, 5));
    zt_good(core, &cmd);
    g_assert_cmpint(zt_count(card, SICK, "stats", "hung"), ==, 1);
    zt_quit(card);
}

/* ---- link ---- */

static void test_crc_error(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = transfer(card, ATA_READ_DMA_EXT, SICK, 100);
    uint32_t entry;
    uint8_t fis[20];

    zt_set(card, SICK, "faults", "crc-error,times=1");
    entry = zt_execute(core, &cmd);
    zt_assert_chip_error(core, &cmd, entry, ERR_R_ERR, 0);
    zt_d2h(core, SICK, fis);
    g_assert_cmphex(fis[2], ==, 0x51);
    g_assert_cmphex(fis[3], ==, 0x84);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(SICK)) & PHYEV_CRC_ERR,
                    ==, PHYEV_CRC_ERR);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT) & CINT_PORT(SICK), ==,
                    CINT_PORT(SICK));
    g_assert_cmphex(zt_cfg_read(core, SICK, PHYR_CRC_ERR), ==, 1);
    zt_good(core, &cmd);
    /* identifier 001h leads log 11h */
    cmd = zt_on_phy(zt_ata(ATA_READ_LOG_EXT, 0x11, 1), SICK);
    cmd = zt_with_data(cmd, zt_slot_buf(core, 900) + SLOT_DATA, ZT_SECTOR);
    zt_good(core, &cmd);
    g_assert_cmphex(qtest_readl(card->qts, cmd.data + 4), ==, 0x00011001);
    g_assert_cmpint(zt_count(card, -1, "stats", "crc-errors"), ==, 1);
    assert_others(card);
    zt_quit(card);
}

/* One SSD more on the phy: events of 88se9485.md 4.11. */
static void assert_plugged(ZtCore *core)
{
    uint32_t stat = zt_core_read(core, MVS_P_INT_STAT(SICK));

    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(SICK)), ==,
                    PHY_READY_6G);
    g_assert_cmphex(stat & PHYEV_PLUGGED, ==, PHYEV_PLUGGED);
    g_assert_cmphex(stat & PHYEV_POOF, ==, 0);
    g_assert_cmphex(zt_cfg_read(core, SICK, PHYR_SATA_SIG(0)), ==, SIGNATURE);
    g_assert_cmphex(zt_vsr_read(core, SICK, VSR_PHY_MODE3), ==, MODE3_SATA);
    zt_core_write(core, MVS_P_INT_STAT(SICK), stat);
}

/* One less: 4.10. */
static void assert_unplugged(ZtCore *core)
{
    uint32_t stat = zt_core_read(core, MVS_P_INT_STAT(SICK));

    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(SICK)), ==, 0);
    g_assert_cmphex(stat, ==, PHYEV_RDY_CH | PHYEV_POOF);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT) & CINT_PORT(SICK), ==,
                    CINT_PORT(SICK));
    g_assert_cmphex(zt_vsr_read(core, SICK, VSR_PHY_MODE3), ==, 0);
    zt_core_write(core, MVS_P_INT_STAT(SICK), stat);
}

/* Commands under way are gone, later ones have no destination. */
static void assert_deaf(ZtCard *card)
{
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(SICK, 9);
    uint32_t entry = zt_execute(core, &cmd);

    zt_assert_chip_error(core, &cmd, entry, ERR_NO_DEST, 0);
    /* a reset of the phy brings nothing back */
    zt_core_write(core, MVS_P_SER_CTLSTAT(SICK), PHY_RST);
    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(SICK)), ==, 0);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(SICK)), ==, 0);
    assert_others(card);
}

static void test_unplug(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(SICK, 8);
    uint8_t fis[20];

    zt_core_write(core, MVS_P_INT_STAT(SICK), 0xffffffff);
    zt_assert_get(card, SICK, "link", "up");
    zt_queue(core, &cmd);
    zt_doorbell(core);
    zt_set(card, SICK, "link", "down");
    zt_assert_get(card, SICK, "link", "down");
    g_assert_false(zt_slot_active(core, 8));
    assert_unplugged(core);
    zt_assert_quiet(core);
    assert_deaf(card);

    zt_set(card, SICK, "link", "up");
    zt_assert_get(card, SICK, "link", "up");
    assert_plugged(core);
    assert_works(card);
    g_assert_cmpint(zt_count(card, SICK, "stats", "power-cycles"), ==, 2);
    g_assert_cmpint(zt_count(card, SICK, "smart", "174"), ==, 1);

    /* one that was prepared for it does not count it as a loss of power */
    cmd = zt_on_phy(zt_ata(0xe0, 0, 0), SICK);
    zt_good(core, &cmd);
    zt_set(card, SICK, "link", "down");
    zt_set(card, SICK, "link", "up");
    assert_plugged(core);
    g_assert_cmpint(zt_count(card, SICK, "smart", "174"), ==, 1);
    cmd = zt_cheap(SICK, 0);
    zt_good(core, &cmd);
    zt_d2h(core, SICK, fis);
    g_assert_cmphex(fis[12], ==, 0xff);
    zt_quit(card);
}

/* Plugged while its phy is disabled, it shows up when that is enabled. */
static void test_unplug_disabled(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];

    zt_set(card, SICK, "link", "down");
    zt_vsr_write(core, SICK, VSR_PHY_MODE2, MODE2_DISABLED);
    zt_core_write(core, MVS_P_INT_STAT(SICK), 0xffffffff);
    zt_set(card, SICK, "link", "up");
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(SICK)), ==, 0);
    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(SICK)), ==, 0);
    zt_vsr_write(core, SICK, VSR_PHY_MODE2, MODE2_ENABLED);
    assert_plugged(core);
    assert_works(card);
    zt_quit(card);
}

static void test_link_drop(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(SICK, 8);

    zt_core_write(core, MVS_P_INT_STAT(SICK), 0xffffffff);
    zt_set(card, SICK, "faults", "link-drop,delay=2s,after=1");
    zt_good(core, &cmd);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    assert_unplugged(core);
    assert_deaf(card);
    qtest_clock_step(card->qts, 2 * SEC_NS);
    assert_plugged(core);
    assert_works(card);
    g_assert_cmpint(zt_count(card, SICK, "stats", "power-cycles"), ==, 1);

    /* without a delay it stays away until it is told to come */
    zt_set(card, SICK, "faults", "link-drop");
    zt_queue(core, &cmd);
    zt_doorbell(core);
    qtest_clock_step(card->qts, 100 * SEC_NS);
    assert_unplugged(core);
    zt_set(card, SICK, "faults", "");
    assert_plugged(core);
    zt_set(card, SICK, "faults", "link-drop");
    zt_queue(core, &cmd);
    zt_doorbell(core);
    assert_unplugged(core);
    zt_set(card, SICK, "link", "up");
    assert_plugged(core);
    assert_works(card);
    zt_quit(card);
}

static void test_missing(void)
{
    ZtCard *card = boot("ssd2:missing");
    ZtCore *core = &card->core[0];

    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(SICK)), ==, 0);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(SICK)), ==, 0);
    zt_assert_get(card, SICK, "link", "down");
    assert_deaf(card);
    /* no plug helps */
    zt_set(card, SICK, "link", "up");
    zt_assert_get(card, SICK, "link", "down");
    zt_set(card, SICK, "faults", "");
    assert_plugged(core);
    assert_works(card);
    zt_quit(card);
}

static void test_signature_late(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(SICK, 8);

    zt_set(card, SICK, "faults", "signature-late,delay=3s,times=1");
    zt_core_write(core, MVS_P_SER_CTLSTAT(SICK), PHY_RST);
    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(SICK)), ==,
                    PHY_READY_6G);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(SICK)) &
                    (PHYEV_COMWAKE | PHYEV_SIG_FIS), ==, PHYEV_COMWAKE);
    g_assert_cmphex(zt_cfg_read(core, SICK, PHYR_SATA_SIG(0)), ==, 0);
    assert_others(card);
    /* a device that is not ready answers nothing */
    zt_queue(core, &cmd);
    zt_doorbell(core);
    zt_assert_quiet(core);
    qtest_clock_step(card->qts, 3 * SEC_NS);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(SICK)) & PHYEV_SIG_FIS,
                    ==, PHYEV_SIG_FIS);
    g_assert_cmphex(zt_cfg_read(core, SICK, PHYR_SATA_SIG(0)), ==, SIGNATURE);
    zt_cmd_write(core, MVS_COMMAND_ACTIVE, 1u << 8);
    assert_works(card);
    zt_core_write(core, MVS_P_SER_CTLSTAT(SICK), PHY_RST);
    assert_works(card);
    zt_quit(card);
}

static void test_signature_absent(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];

    zt_set(card, SICK, "faults", "signature-absent");
    zt_core_write(core, MVS_P_INT_STAT(SICK), 0xffffffff);
    zt_core_write(core, MVS_P_SER_CTLSTAT(SICK), PHY_RST_HARD);
    qtest_clock_step(card->qts, 100 * SEC_NS);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(SICK)) & PHYEV_SIG_FIS,
                    ==, 0);
    zt_set(card, SICK, "faults", "");
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(SICK)) & PHYEV_SIG_FIS,
                    ==, PHYEV_SIG_FIS);
    assert_works(card);
    zt_quit(card);
}

/* ---- panic ---- */

static void panic(const char *form, uint64_t sectors)
{
    g_autofree char *fault = g_strdup_printf("panic,form=%s", form);
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = transfer(card, ATA_READ_DMA_EXT, SICK, 0);
    g_autofree char *before = NULL;
    g_autofree char *model = NULL;
    g_autofree char *after = NULL;
    uint16_t id[256];

    zt_identify(core, SICK, id);
    before = zt_id_string(id, 27, 20);
    /* the firmware dies: no answer, and a new name after the reset */
    zt_set(card, SICK, "faults", fault);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    zt_assert_quiet(core);
    zt_core_write(core, MVS_P_SER_CTLSTAT(SICK), PHY_RST);
    zt_identify(core, SICK, id);
    model = zt_id_string(id, 27, 20);
    g_assert_cmpstr(model, ==, "SandForce{200026BB}");
    g_assert_cmpuint(zt_id_sectors(id), ==, sectors);
    zt_fails(core, &cmd, 0x51, 0x04);
    assert_others(card);
    /* and the next reset finds the firmware again */
    zt_set(card, SICK, "faults", "");
    zt_fails(core, &cmd, 0x51, 0x04);
    zt_core_write(core, MVS_P_SER_CTLSTAT(SICK), PHY_RST);
    zt_identify(core, SICK, id);
    after = zt_id_string(id, 27, 20);
    g_assert_cmpstr(after, ==, before);
    assert_works(card);
    zt_quit(card);
}

static void test_panic_no_capacity(void)
{
    panic("no-capacity", 0);
}

static void test_panic_diagnostic(void)
{
    panic("diagnostic", 64);
}

static void test_panic_busy(void)
{
    ZtCard *card = boot("ssd2:panic form=busy");
    ZtCore *core = &card->core[0];

    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(SICK)), ==,
                    PHY_READY_6G);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(SICK)) & PHYEV_SIG_FIS,
                    ==, 0);
    g_assert_cmphex(zt_cfg_read(core, SICK, PHYR_SATA_SIG(0)), ==, 0);
    assert_others(card);
    zt_set(card, SICK, "faults", "");
    qtest_clock_step(card->qts, 100 * SEC_NS);
    g_assert_cmphex(zt_cfg_read(core, SICK, PHYR_SATA_SIG(0)), ==, 0);
    zt_core_write(core, MVS_P_SER_CTLSTAT(SICK), PHY_RST);
    assert_works(card);
    zt_quit(card);
}

/* ---- the card ---- */

/* 88se9485.md 7.7: the index moves before its descriptor. */
static void test_completion_late(void)
{
    ZtCard *card = boot("card:completion-late delay=1ms times=1");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(SICK, 8);

    qtest_memset(card->qts, core->rx + 4, 0xff, 1024 * 4);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    qtest_clock_step(card->qts, 2 * ZT_COMMAND_NS);
    g_assert_cmphex(qtest_readl(card->qts, core->rx), ==, 0);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT) & CINT_DONE, ==,
                    CINT_DONE);
    g_assert_cmphex(qtest_readl(card->qts, core->rx + 4), ==, 0xffffffff);
    qtest_clock_step(card->qts, MSEC_NS);
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD | 8);
    zt_good(core, &cmd);
    zt_quit(card);
}

static void test_irq_lost(void)
{
    ZtCard *card = boot("card:irq-lost times=1");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(SICK, 8);

    zt_write(card, MVS_GBL_PI, 0xc0000);
    zt_core_write(core, MVS_P_INT_MASK(0), 0);
    zt_good(core, &cmd);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT) & CINT_DONE, ==, 0);
    zt_good(core, &cmd);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT) & CINT_DONE, ==,
                    CINT_DONE);
    zt_assert_get(card, -1, "faults", "card:irq-lost,times=1,hits=1");
    zt_quit(card);
}

static void test_intx_dead(void)
{
    ZtCard *card = boot("card:intx-dead");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(SICK, 8);

    zt_write(card, MVS_GBL_PI, 0xc0000);
    zt_good(core, &cmd);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT) & CINT_DONE, ==,
                    CINT_DONE);
    g_assert_false(zt_intx(card));
    zt_set(card, -1, "faults", "");
    g_assert_true(zt_intx(card));
    zt_quit(card);
}

#define CONFIG_BLOCK    0x20000
#define CONFIG_LEN      0xb8

static void read_config_block(ZtCard *card, uint8_t p[CONFIG_LEN])
{
    unsigned i;

    for (i = 0; i < CONFIG_LEN; i += 4) {
        zt_write(card, MVS_SPI_ADDR, CONFIG_BLOCK + i);
        zt_write(card, MVS_SPI_CTRL, 0x03 << 8 | 4 << 4 | 7);
        stl_le_p(p + i, zt_read(card, MVS_SPI_RD_DATA));
    }
}

static uint32_t sum_of(const uint8_t p[CONFIG_LEN])
{
    uint32_t sum = 0;
    unsigned i;

    for (i = 0; i < CONFIG_LEN; i += 4) {
        sum += ldl_le_p(p + i);
    }
    return sum;
}

/* The named field differs, and the checksum fits unless it is the field. */
static void test_spi_corrupt(void)
{
    static const struct {
        const char *field;
        unsigned offset, len;
    } fields[] = {
        { "signature", 0x00, 4 },
        { "checksum", 0xb4, 4 },
        { "drive-count", 0x0d, 1 },
        { "serial", 0x10, 20 },
    };
    ZtCard *card = boot("");
    uint8_t healthy[CONFIG_LEN], block[CONFIG_LEN];
    unsigned i, n;

    read_config_block(card, healthy);
    g_assert_cmphex(sum_of(healthy), ==, 0);
    for (i = 0; i < ARRAY_SIZE(fields); i++) {
        g_autofree char *fault = g_strdup_printf("card:spi-corrupt,field=%s",
                                                 fields[i].field);

        zt_set(card, -1, "faults", fault);
        read_config_block(card, block);
        for (n = 0; n < 0xb4; n++) {
            g_assert_cmpint(block[n] != healthy[n], ==,
                            n >= fields[i].offset &&
                            n < fields[i].offset + fields[i].len);
        }
        g_assert_cmpint(sum_of(block) != 0, ==, fields[i].offset == 0xb4);
    }
    zt_set(card, -1, "faults", "");
    read_config_block(card, block);
    g_assert_cmpmem(block, CONFIG_LEN, healthy, CONFIG_LEN);
    zt_quit(card);
}

/* ---- properties ---- */

static void test_texts(void)
{
    ZtCard *card = boot("ssd1:read-error lba=5;card:intx-dead;ssd1:hang tag=3");
    g_autofree char *no_target = zt_try_set(card, -1, "faults", "hang");
    g_autofree char *no_ssd = zt_try_set(card, -1, "faults", "ssd8:hang");
    g_autofree char *no_kind = zt_try_set(card, -1, "faults",
                                       "ssd0:hang;ssd1:fire");
    g_autofree char *no_link = zt_try_set(card, 0, "link", "sideways");

    g_assert_cmpstr(no_target, ==, "'hang' does not say whose fault it is: "
                    "put one of card: ssd0: to ssd7: before it");
    g_assert_cmpstr(no_ssd, ==, "'ssd8:hang' does not say whose fault it is: "
                    "put one of card: ssd0: to ssd7: before it");
    g_assert_cmpstr(no_kind, ==, "'fire' is no fault of an SSD, which has: "
                    "read-error write-fault hang slow crc-error link-drop "
                    "missing signature-late signature-absent panic");
    g_assert_cmpstr(no_link, ==, "link 'sideways' is unknown; it is one of: "
                    "up down");
    /* what was refused has changed nothing */
    zt_assert_get(card, -1, "faults", "card:intx-dead,hits=0;"
               "ssd1:read-error,lba=5,hits=0;ssd1:hang,tag=3,hits=0");
    zt_assert_get(card, 1, "faults",
               "read-error,lba=5,hits=0;hang,tag=3,hits=0");
    zt_assert_get(card, 0, "faults", "");
    /* they are armed for good, not until the next reset */
    zt_system_reset(card);
    zt_assert_get(card, 1, "faults",
               "read-error,lba=5,hits=0;hang,tag=3,hits=0");
    zt_set(card, -1, "faults", "");
    zt_assert_get(card, 1, "faults", "");
    zt_quit(card);
}

/* Counters, armed faults and what they did so far move along. */
static void test_migrate(void)
{
    ZtCard *card = boot("ssd2:read-error lba=100 times=2");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = transfer(card, ATA_READ_DMA_EXT, SICK, 100);
    ZtCard *to;

    zt_fails(core, &cmd, 0x51, 0x40);
    zt_set(card, 3, "link", "down");
    to = zt_migrate(card, ZT_CARD ",size=512M");
    core = &to->core[0];
    zt_fails(core, &cmd, 0x51, 0x40);
    zt_good(core, &cmd);
    zt_assert_get(to, SICK, "faults", "read-error,lba=100,times=2,hits=2");
    zt_assert_get(to, 3, "link", "down");
    g_assert_cmpint(zt_count(to, SICK, "stats", "uncorrectable"), ==, 2);
    zt_quit(to);
}

/* ---- what can happen besides ---- */

#define PM_CONTROL      0x44
#define BAR_2           0x18

/* PCI Power Management 1.2, 5.4.1; the card says NoSoftRst-. */
static void test_d3hot(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    uint32_t bar = qpci_config_readl(card->pci, BAR_2);
    uint16_t command = qpci_config_readw(card->pci, PCI_COMMAND);
    ZtCmd cmd = zt_cheap(SICK, 8);
    unsigned n;

    zt_write(card, MVS_GBL_PI, 0xc0000);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    qpci_config_writew(card->pci, PM_CONTROL, 3);
    g_assert_cmphex(zt_read(card, MVS_GBL_PI), ==, 0xffffffff);
    zt_write(card, MVS_GBL_PI, 0xc0000);
    zt_assert_quiet(core);
    g_assert_false(zt_intx(card));
    g_assert_cmphex(qpci_config_readl(card->pci, BAR_2), ==, bar);

    qpci_config_writew(card->pci, PM_CONTROL, 0);
    g_assert_cmphex(qpci_config_readw(card->pci, PCI_COMMAND), ==, 0);
    g_assert_cmphex(qpci_config_readl(card->pci, BAR_2) & ~0xf, ==, 0);
    qpci_config_writel(card->pci, BAR_2, bar);
    qpci_config_writew(card->pci, PCI_COMMAND, command);
    g_assert_cmphex(zt_read(card, MVS_GBL_PI), ==, 0);
    for (n = 0; n < MVS_PHYS; n++) {
        g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(n)), ==,
                        PHY_READY_6G);
    }
    zt_core_program(core);
    assert_works(card);

    /* D1 keeps all; D2 does not exist */
    qpci_config_writew(card->pci, PM_CONTROL, 1);
    qpci_config_writew(card->pci, PM_CONTROL, 2);
    g_assert_cmphex(qpci_config_readw(card->pci, PM_CONTROL) & 3, ==, 1);
    qpci_config_writew(card->pci, PM_CONTROL, 0);
    assert_works(card);
    zt_quit(card);
}

#define HDR_RESET       (1u << 7)
#define CONTROL_SRST    (1u << 2)

static void send_control(ZtCore *core, unsigned slot, uint8_t control)
{
    ZtCmd cmd = zt_cheap(SICK, slot);
    uint64_t header = zt_header(core, slot);

    cmd.fis[1] = 0;
    cmd.fis[15] = control;
    zt_queue(core, &cmd);
    qtest_writel(core->card->qts, header,
                 qtest_readl(core->card->qts, header) | HDR_RESET);
    zt_doorbell(core);
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD | slot);
}

/* 88se9485.md 4.8: a Control FIS under MCH_RESET. */
static void test_soft_reset(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd hung = zt_cheap(SICK, 8);
    uint8_t fis[20];

    zt_set(card, SICK, "faults", "hang,times=1");
    zt_queue(core, &hung);
    zt_doorbell(core);
    send_control(core, 3, CONTROL_SRST);
    g_assert_false(zt_slot_active(core, 8));
    g_assert_false(zt_slot_active(core, 3));
    send_control(core, 3, 0);
    zt_d2h(core, SICK, fis);
    g_assert_cmphex(ldl_le_p(fis), ==, SIGNATURE);
    g_assert_cmphex(fis[12], ==, 1);
    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(SICK)), ==,
                    PHY_READY_6G);
    assert_works(card);
    assert_others(card);
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "read-error", test_read_error },
    { "write-fault", test_write_fault },
    { "slow", test_slow },
    { "hang", test_hang },
    { "crc-error", test_crc_error },
    { "unplug", test_unplug },
    { "unplug-disabled", test_unplug_disabled },
    { "link-drop", test_link_drop },
    { "missing", test_missing },
    { "signature-late", test_signature_late },
    { "signature-absent", test_signature_absent },
    { "panic-no-capacity", test_panic_no_capacity },
    { "panic-diagnostic", test_panic_diagnostic },
    { "panic-busy", test_panic_busy },
    { "completion-late", test_completion_late },
    { "irq-lost", test_irq_lost },
    { "intx-dead", test_intx_dead },
    { "spi-corrupt", test_spi_corrupt },
    { "texts", test_texts },
    { "migrate", test_migrate },
    { "d3hot", test_d3hot },
    { "soft-reset", test_soft_reset },
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    zt_add_cases("fault", cases, ARRAY_SIZE(cases));
    return zt_run_tests();
}

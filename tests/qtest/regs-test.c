/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of the 88SE9485 without commands: values after a reset, what
 * reads back as written, write-1-to-clear, the indirect spaces, phys, resets
 * and the interrupt tree.
 */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "zdrive-qtest.h"

/* Registers of a core end here. */
#define CORE_LEN    0x298

/* What a register of a core is after a reset, and which bits a driver owns. */
typedef struct Reg {
    uint16_t offset;
    uint32_t reset;
    uint32_t writable;
} Reg;

static const Reg core_regs[] = {
    { MVS_PORTS_IMP, 0, 0xffffffff },
    { MVS_CTL, 0, 0x0000000f },
    { MVS_PCS, 0, 0x0000ff79 },
    { MVS_CMD_LIST_LO, 0, 0xffffffc0 },
    { MVS_CMD_LIST_HI, 0, 0xffffffff },
    { MVS_RX_FIS_LO, 0, 0xffffff00 },
    { MVS_RX_FIS_HI, 0, 0xffffffff },
    { MVS_STP_REG_SET_0, 0, 0xffffffff },
    { MVS_STP_REG_SET_1, 0, 0xffffffff },
    { MVS_TX_CFG, 0, 0x00010fff },
    { MVS_TX_LO, 0, 0xfffffffc },
    { MVS_TX_HI, 0, 0xffffffff },
    { MVS_TX_PROD_IDX, MVS_NONE, 0x00000fff },
    { MVS_TX_CONS_IDX, MVS_NONE, 0 },
    { MVS_RX_CFG, 0, 0x00010fff },
    { MVS_RX_LO, 0, 0xfffffffc },
    { MVS_RX_HI, 0, 0xffffffff },
    { MVS_RX_CONS_IDX, MVS_NONE, 0 },
    { MVS_INT_COAL, 0, 0x000101ff },
    { MVS_INT_COAL_TMOUT, 0, 0x0001ffff },
    { MVS_INT_STAT, 0, 0 },
    { MVS_INT_MASK, 0, 0xffffffff },
    { MVS_INT_STAT_SRS_0, 0, 0 },
    { MVS_INT_MASK_SRS_0, 0, 0xffffffff },
    { MVS_INT_STAT_SRS_1, 0, 0 },
    { MVS_INT_MASK_SRS_1, 0, 0xffffffff },
    { MVS_NON_NCQ_ERR_0, 0, 0 },
    { MVS_NON_NCQ_ERR_1, 0, 0 },
    { MVS_CMD_ADDR, 0, 0x000003ff },
    { MVS_P_INT_MASK(0), 0, 0xffffffff },
    { MVS_P_INT_MASK(3), 0, 0xffffffff },
    { MVS_P_SER_CTLSTAT(0), PHY_READY_6G, 0x00003000 },
    { MVS_P_SER_CTLSTAT(3), PHY_READY_6G, 0x00003000 },
    { MVS_P_CFG_ADDR(0), 0, 0x000001ff },
    { MVS_P_CFG_ADDR(3), 0, 0x000001ff },
    { MVS_P_VSR_ADDR(0), 0, 0x000001ff },
    { MVS_P_VSR_ADDR(3), 0, 0x000001ff },
    { MVS_PA_VSR_ADDR, 0, 0x000001ff },
};

static void assert_reset_values(ZtCore *core)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(core_regs); i++) {
        if (zt_core_read(core, core_regs[i].offset) != core_regs[i].reset) {
            g_test_message("register %03x", core_regs[i].offset);
        }
        g_assert_cmphex(zt_core_read(core, core_regs[i].offset), ==,
                        core_regs[i].reset);
    }
}

static void test_reset_values(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    unsigned c;

    for (c = 0; c < MVS_CORES; c++) {
        assert_reset_values(&card->core[c]);
    }
    g_assert_cmphex(zt_read(card, MVS_GBL_INT_STAT), ==, 0);
    g_assert_cmphex(zt_read(card, MVS_GBL_CTL), ==, 0);
    g_assert_cmphex(zt_read(card, MVS_GBL_PI), ==, 0);
    g_assert_false(zt_intx(card));
    zt_quit(card);
}

/* Registers of the whole chip that keep what is written. */
static const uint32_t chip_scratch[] = {
    MVS_HST_CHIP_CONFIG, MVS_GBL_CTL, MVS_GBL_PI, MVS_GBL_MASK(0),
    MVS_GBL_MASK(1), MVS_GBL_MASK(2),
};

static void test_read_write(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    unsigned c, i;

    for (c = 0; c < MVS_CORES; c++) {
        for (i = 0; i < ARRAY_SIZE(core_regs); i++) {
            const Reg *reg = &core_regs[i];
            ZtCore *core = &card->core[c];
            uint32_t ones, zeros;

            zt_core_write(core, reg->offset,
                          reg->writable ? reg->writable : 0xffffffff);
            ones = zt_core_read(core, reg->offset);
            zt_core_write(core, reg->offset, 0);
            zeros = zt_core_read(core, reg->offset);
            if ((ones ^ zeros) != reg->writable) {
                g_test_message("register %03x", reg->offset);
            }
            g_assert_cmphex(ones ^ zeros, ==, reg->writable);
        }
    }
    for (i = 0; i < ARRAY_SIZE(chip_scratch); i++) {
        zt_write(card, chip_scratch[i], 0x12345678 + i);
    }
    for (i = 0; i < ARRAY_SIZE(chip_scratch); i++) {
        g_assert_cmphex(zt_read(card, chip_scratch[i]), ==, 0x12345678 + i);
    }
    zt_quit(card);
}

/* Both cores have registers of their own. */
static void test_cores_apart(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(core_regs); i++) {
        if (core_regs[i].writable) {
            zt_core_write(&card->core[1], core_regs[i].offset,
                          core_regs[i].writable & 0x15155155);
        }
    }
    assert_reset_values(&card->core[0]);
    zt_quit(card);
}

static void test_sgpio(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    unsigned c, offset;

    for (c = 0; c < MVS_CORES; c++) {
        for (offset = 0; offset < MVS_SGPIO_LEN; offset += 4) {
            g_assert_cmphex(zt_read(card, MVS_SGPIO(c) + offset), ==, 0);
            zt_write(card, MVS_SGPIO(c) + offset, 0xa0b0c000 + c + offset);
        }
    }
    for (c = 0; c < MVS_CORES; c++) {
        for (offset = 0; offset < MVS_SGPIO_LEN; offset += 4) {
            g_assert_cmphex(zt_read(card, MVS_SGPIO(c) + offset), ==,
                            0xa0b0c000 + c + offset);
        }
    }
    zt_quit(card);
}

/* Everything that no table of 88se9485.md names. */
static bool is_reserved(uint32_t offset)
{
    uint32_t reg = (offset - MVS_CORE(0)) % 0x4000;
    unsigned c;

    for (c = 0; c < MVS_CORES; c++) {
        if (offset >= MVS_SGPIO(c) && offset < MVS_SGPIO(c) + MVS_SGPIO_LEN) {
            return false;
        }
    }
    if (offset >= MVS_CORE(0) && offset < MVS_CORE(2)) {
        return reg < MVS_PORTS_IMP || reg >= CORE_LEN ||
               (reg > MVS_GBL_PORT_TYPE && reg < MVS_CTL);
    }
    return !(offset >= MVS_SPI_CTRL && offset <= MVS_SPI_RD_DATA) &&
           offset != MVS_HST_CHIP_CONFIG &&
           !(offset >= MVS_GBL_INT_STAT && offset <= MVS_GBL_MASK(2));
}

/* Zero, never all ones, which mvsas would take for events. */
static void assert_reserved_zero(ZtCard *card)
{
    g_autofree uint32_t *all = g_malloc(MVS_BAR2_SIZE);
    uint32_t offset;

    qtest_bufread(card->qts, card->bar2.addr, all, MVS_BAR2_SIZE);
    for (offset = 0; offset < MVS_BAR2_SIZE; offset += 4) {
        if (is_reserved(offset) && all[offset / 4]) {
            g_test_message("offset %05x", offset);
            g_assert_cmphex(all[offset / 4], ==, 0);
        }
    }
}

static void test_reserved(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    uint32_t offset;
    QPCIBar bar0;

    assert_reserved_zero(card);
    for (offset = 0; offset < MVS_BAR2_SIZE; offset += 4) {
        /* the ends of each block, and samples of the rest */
        if (is_reserved(offset) &&
            (offset % 0x404 == 0 || !is_reserved(offset - 4) ||
             !is_reserved(offset + 4))) {
            zt_write(card, offset, 0xffffffff);
        }
    }
    assert_reserved_zero(card);
    assert_reset_values(&card->core[0]);
    assert_reset_values(&card->core[1]);

    bar0 = qpci_iomap(card->pci, 0, NULL);
    for (offset = 0; offset < MVS_BAR0_SIZE; offset += 0x1004) {
        qpci_io_writel(card->pci, bar0, offset, 0xffffffff);
        g_assert_cmphex(qpci_io_readl(card->pci, bar0, offset), ==, 0);
    }
    zt_quit(card);
}

static void test_access_size(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    const uint64_t scratch = card->bar2.addr + MVS_CORE(0) + MVS_PORTS_IMP;
    unsigned i;

    qtest_writel(card->qts, scratch, 0x11223344);
    for (i = 0; i < 4; i++) {
        qtest_writeb(card->qts, scratch + i, 0xff);
    }
    for (i = 0; i < 4; i += 2) {
        qtest_writew(card->qts, scratch + i, 0xffff);
    }
    g_assert_cmphex(qtest_readl(card->qts, scratch), ==, 0x11223344);
    zt_quit(card);
}

/* Phys 4 to 7 of a core: a driver writes to them by mistake. */
static void test_phys_4_to_7(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[1];
    unsigned phy, i;

    for (phy = MVS_PHYS; phy < 8; phy++) {
        const uint32_t regs[] = {
            MVS_P_INT_STAT(phy), MVS_P_INT_MASK(phy), MVS_P_SER_CTLSTAT(phy),
            MVS_P_CFG_ADDR(phy), MVS_P_CFG_DATA(phy), MVS_P_VSR_ADDR(phy),
            MVS_P_VSR_DATA(phy),
        };

        for (i = 0; i < ARRAY_SIZE(regs); i++) {
            zt_core_write(core, regs[i], 0xffffffff);
            g_assert_cmphex(zt_core_read(core, regs[i]), ==, 0);
        }
    }
    assert_reset_values(core);
    assert_reset_values(&card->core[0]);
    zt_quit(card);
}

static void test_core_reset(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(core_regs); i++) {
        if (core_regs[i].writable && core_regs[i].offset != MVS_CTL) {
            zt_core_write(core, core_regs[i].offset, core_regs[i].writable);
        }
    }
    zt_core_write(core, MVS_PCS, 0);
    zt_cmd_write(core, 0x118, 0x400);
    zt_vsr_write(core, 1, 0x110, 0xfc0);
    zt_cfg_write(core, 1, PHYR_PHY_STAT, 4);
    zt_core_write(core, MVS_P_INT_STAT(0), 0xffffffff);
    zt_core_write(&card->core[1], MVS_PORTS_IMP, 0xff);

    zt_core_write(core, MVS_CTL, CCTL_RST);
    g_assert_cmphex(zt_core_read(core, MVS_CTL), ==, 0);
    /* not part of the reset */
    zt_core_write(core, MVS_PORTS_IMP, 0);
    assert_reset_values(core);
    g_assert_cmphex(zt_cmd_read(core, 0x118), ==, 0);
    g_assert_cmphex(zt_vsr_read(core, 1, 0x110), ==, 0);
    g_assert_cmphex(zt_cfg_read(core, 1, PHYR_PHY_STAT), ==, 0);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(0)), ==, PHYEV_PLUGGED);
    /* the other core goes on */
    g_assert_cmphex(zt_core_read(&card->core[1], MVS_PORTS_IMP), ==, 0xff);
    zt_quit(card);
}

static void test_system_reset(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    unsigned i, c;

    for (c = 0; c < MVS_CORES; c++) {
        for (i = 0; i < ARRAY_SIZE(core_regs); i++) {
            zt_core_write(&card->core[c], core_regs[i].offset,
                          core_regs[i].writable & ~CCTL_RST);
        }
    }
    for (i = 0; i < ARRAY_SIZE(chip_scratch); i++) {
        zt_write(card, chip_scratch[i], 0xffffffff);
    }
    zt_write(card, MVS_SGPIO(1), 0xffffffff);
    zt_system_reset(card);
    for (c = 0; c < MVS_CORES; c++) {
        assert_reset_values(&card->core[c]);
    }
    for (i = 0; i < ARRAY_SIZE(chip_scratch); i++) {
        g_assert_cmphex(zt_read(card, chip_scratch[i]), ==, 0);
    }
    g_assert_cmphex(zt_read(card, MVS_SGPIO(1)), ==, 0);
    g_assert_false(zt_intx(card));
    zt_quit(card);
}

static void test_pcs_cmd_rst(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];

    zt_core_write(core, MVS_PCS, 0xf00 | PCS_CMD_RST);
    g_assert_cmphex(zt_core_read(core, MVS_PCS), ==, 0xf00);
    zt_quit(card);
}

static void test_cfg_space(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    static const uint32_t scratch[] = {
        PHYR_SATA_CTL, PHYR_PHY_STAT, 0x38, CONFIG_ID_FRAME(3),
        CONFIG_ID_FRAME(4),
    };
    static const uint32_t signature[] = { 0x01500034, 1, 0, 1 };
    unsigned c, phy, i;

    for (c = 0; c < MVS_CORES; c++) {
        for (phy = 0; phy < MVS_PHYS; phy++) {
            for (i = 0; i < ARRAY_SIZE(scratch); i++) {
                zt_cfg_write(&card->core[c], phy, scratch[i],
                             c << 24 | phy << 16 | i);
            }
        }
    }
    for (c = 0; c < MVS_CORES; c++) {
        for (phy = 0; phy < MVS_PHYS; phy++) {
            ZtCore *core = &card->core[c];

            for (i = 0; i < ARRAY_SIZE(scratch); i++) {
                g_assert_cmphex(zt_cfg_read(core, phy, scratch[i]), ==,
                                c << 24 | phy << 16 | i);
            }
            for (i = 0; i < ARRAY_SIZE(signature); i++) {
                zt_cfg_write(core, phy, PHYR_SATA_SIG(i), 0xffffffff);
                g_assert_cmphex(zt_cfg_read(core, phy, PHYR_SATA_SIG(i)), ==,
                                signature[i]);
            }
            /* no SAS device has sent an IDENTIFY frame */
            for (i = 0; i < 7; i++) {
                g_assert_cmphex(zt_cfg_read(core, phy,
                                            CONFIG_ATT_ID_FRAME(i)), ==, 0);
            }
            /* "phy tune" has not dropped the link */
            g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(phy)), ==,
                            PHY_READY_6G);
        }
    }
    g_assert_cmphex(zt_cfg_read(&card->core[0], 0, 0xfffffffc), ==, 0);
    zt_cfg_write(&card->core[0], 0, 0xfffffffc, 0xffffffff);
    zt_quit(card);
}

static void test_vsr_space(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    static const uint32_t scratch[] = {
        0x00, 0x04, 0x30, 0x10c, 0x110, 0x118, 0x11c, 0x120, 0x124, 0x1a0,
    };
    unsigned c, phy, i;

    for (c = 0; c < MVS_CORES; c++) {
        for (phy = 0; phy < MVS_PHYS; phy++) {
            for (i = 0; i < ARRAY_SIZE(scratch); i++) {
                zt_vsr_write(&card->core[c], phy, scratch[i],
                             c << 24 | phy << 16 | i);
            }
            zt_vsr_write(&card->core[c], phy, VSR_PHY_MODE3, 0xffffffff);
        }
    }
    for (c = 0; c < MVS_CORES; c++) {
        for (phy = 0; phy < MVS_PHYS; phy++) {
            ZtCore *core = &card->core[c];

            for (i = 0; i < ARRAY_SIZE(scratch); i++) {
                g_assert_cmphex(zt_vsr_read(core, phy, scratch[i]), ==,
                                c << 24 | phy << 16 | i);
            }
            g_assert_cmphex(zt_vsr_read(core, phy, VSR_PHY_MODE3), ==,
                            MODE3_SATA);
        }
    }
    g_assert_cmphex(zt_vsr_read(&card->core[0], 0, 0xfffffffc), ==, 0);
    zt_vsr_write(&card->core[0], 0, 0xfffffffc, 0xffffffff);
    zt_quit(card);
}

/* The all-phy port writes to the four phys of its core and reads the first. */
static void test_vsr_all_phys(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[1];
    unsigned phy;

    zt_core_write(core, MVS_PA_VSR_ADDR, 0x30);
    zt_core_write(core, MVS_PA_VSR_PORT, 0x3300);
    for (phy = 0; phy < MVS_PHYS; phy++) {
        g_assert_cmphex(zt_vsr_read(core, phy, 0x30), ==, 0x3300);
        g_assert_cmphex(zt_vsr_read(&card->core[0], phy, 0x30), ==, 0);
        zt_vsr_write(core, phy, 0x30, phy + 1);
    }
    g_assert_cmphex(zt_core_read(core, MVS_PA_VSR_ADDR), ==, 0x30);
    g_assert_cmphex(zt_core_read(core, MVS_PA_VSR_PORT), ==, 1);
    zt_quit(card);
}

static void test_cmd_space(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    static const uint32_t scratch[] = {
        0x118, 0x124, 0x128, 0x138, 0x13c, 0x1a4, 0x1bc, 0x1e0, 0x1e4,
    };
    unsigned c, i;

    for (c = 0; c < MVS_CORES; c++) {
        for (i = 0; i < ARRAY_SIZE(scratch); i++) {
            zt_cmd_write(&card->core[c], scratch[i], c << 24 | i);
        }
    }
    for (c = 0; c < MVS_CORES; c++) {
        for (i = 0; i < ARRAY_SIZE(scratch); i++) {
            g_assert_cmphex(zt_cmd_read(&card->core[c], scratch[i]), ==,
                            c << 24 | i);
        }
        /* no slot is active, and what aborts them can be written */
        for (i = 0; i < MVS_SLOTS; i += 32) {
            g_assert_false(zt_slot_active(&card->core[c], i));
            zt_cmd_write(&card->core[c], MVS_COMMAND_ACTIVE + i / 8,
                         0xffffffff);
            g_assert_false(zt_slot_active(&card->core[c], i));
        }
    }
    g_assert_cmphex(zt_cmd_read(&card->core[0], 0xfffffffc), ==, 0);
    zt_quit(card);
}

static const struct {
    const char *model;
    unsigned ssds;
} models[] = { { "cm84", 4 }, { "rm88", 8 } };

/* 88se9485.md 4.2: what mvsas has to find at probe. */
static void test_phys(const void *data)
{
    unsigned m = GPOINTER_TO_UINT(data);
    ZtCard *card = zt_boot(ZT_CARD ",model=%s", models[m].model);
    unsigned n;

    for (n = 0; n < MVS_CORES * MVS_PHYS; n++) {
        ZtCore *core = &card->core[n / MVS_PHYS];
        unsigned phy = n % MVS_PHYS;
        bool present = n < models[m].ssds;

        g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(phy)), ==,
                        present ? PHY_READY_6G : 0);
        g_assert_cmphex(zt_vsr_read(core, phy, VSR_PHY_MODE3), ==,
                        present ? MODE3_SATA : 0);
        g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(phy)), ==,
                        present ? PHYEV_PLUGGED : 0);
        g_assert_cmphex(zt_cfg_read(core, phy, PHYR_SATA_SIG(0)), ==,
                        present ? 0x01500034 : 0);
    }
    zt_quit(card);
}

static void test_p_int_stat(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];

    /* as mvs_94xx_init: all but SIG_FIS */
    zt_core_write(core, MVS_P_INT_STAT(1), PHYEV_PLUGGED & ~PHYEV_SIG_FIS);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(1)), ==, PHYEV_SIG_FIS);
    zt_core_write(core, MVS_P_INT_STAT(1), 0);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(1)), ==, PHYEV_SIG_FIS);
    zt_core_write(core, MVS_P_INT_STAT(1), PHYEV_SIG_FIS);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(1)), ==, 0);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(2)), ==, PHYEV_PLUGGED);
    zt_quit(card);
}

/* As mvsas at probe and by sysfs "enable": unplug and plug of one phy. */
static void test_phy_disable(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];

    zt_core_write(core, MVS_P_INT_STAT(2), 0xffffffff);
    zt_vsr_write(core, 2, VSR_PHY_MODE2, MODE2_DISABLED);
    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(2)), ==, 0);
    g_assert_cmphex(zt_vsr_read(core, 2, VSR_PHY_MODE2), ==, MODE2_DISABLED);
    g_assert_cmphex(zt_vsr_read(core, 2, VSR_PHY_MODE3), ==, 0);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(2)), ==,
                    PHYEV_RDY_CH | PHYEV_POOF);
    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(1)), ==,
                    PHY_READY_6G);

    /* a reset does not wake it */
    zt_core_write(core, MVS_P_INT_STAT(2), 0xffffffff);
    zt_core_write(core, MVS_P_SER_CTLSTAT(2), PHY_RST);
    zt_core_write(core, MVS_P_SER_CTLSTAT(2), PHY_RST_HARD);
    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(2)), ==, 0);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(2)), ==, 0);

    zt_vsr_write(core, 2, VSR_PHY_MODE2, MODE2_ENABLED);
    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(2)), ==,
                    PHY_READY_6G);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(2)), ==, PHYEV_PLUGGED);

    /* what is not seen yet of an unplug must not hide the new disk */
    zt_vsr_write(core, 2, VSR_PHY_MODE2, MODE2_DISABLED);
    zt_vsr_write(core, 2, VSR_PHY_MODE2, MODE2_ENABLED);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(2)), ==, PHYEV_PLUGGED);
    zt_quit(card);
}

/* The init of mvsas: all phys off by the all-phy port, then on one by one. */
static void test_phy_init_sequence(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[1];
    unsigned phy;

    zt_core_write(core, MVS_CTL, CCTL_RST);
    zt_core_write(core, MVS_PA_VSR_ADDR, VSR_PHY_MODE2);
    zt_core_write(core, MVS_PA_VSR_PORT, MODE2_DISABLED);
    for (phy = 0; phy < MVS_PHYS; phy++) {
        g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(phy)), ==, 0);
    }
    for (phy = 0; phy < MVS_PHYS; phy++) {
        zt_vsr_write(core, phy, VSR_PHY_MODE2, MODE2_DISABLED);
        zt_vsr_write(core, phy, VSR_PHY_MODE2, MODE2_ENABLED);
        zt_cfg_write(core, phy, PHYR_SATA_CTL, 0x20000000);
        zt_cfg_write(core, phy, PHYR_SATA_CTL, 0x00100000);
    }
    for (phy = 0; phy < MVS_PHYS; phy++) {
        g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(phy)), ==,
                        PHYEV_PLUGGED);
        zt_core_write(core, MVS_P_INT_STAT(phy), 0x81);
        zt_core_write(core, MVS_P_INT_MASK(phy), PHYEV_MVSAS);
        g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(phy)), ==,
                        PHYEV_SIG_FIS);
        g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(phy)), ==,
                        PHY_READY_6G);
    }
    zt_quit(card);
}

static const struct {
    const char *name;
    uint32_t bit;
} resets[] = { { "link", PHY_RST }, { "hard", PHY_RST_HARD } };

/* 4.7 and 4.9: ready stays, a signature comes, POOF does not. */
static void test_phy_reset(const void *data)
{
    uint32_t bit = resets[GPOINTER_TO_UINT(data)].bit;
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    uint32_t events;

    zt_core_write(core, MVS_P_INT_STAT(3), 0xffffffff);
    zt_core_write(core, MVS_P_INT_MASK(3), PHYEV_MVSAS);
    zt_core_write(core, MVS_INT_MASK, CINT_MVSAS);
    zt_core_write(core, MVS_P_SER_CTLSTAT(3), PHY_READY_6G | bit);
    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(3)), ==,
                    PHY_READY_6G);
    events = zt_core_read(core, MVS_P_INT_STAT(3));
    g_assert_cmphex(events & (PHYEV_SIG_FIS | PHYEV_COMWAKE), ==,
                    PHYEV_SIG_FIS | PHYEV_COMWAKE);
    g_assert_cmphex(events & (PHYEV_RDY_CH | PHYEV_POOF), ==, 0);
    g_assert_cmphex(zt_read(card, MVS_GBL_INT_STAT), ==, 0);
    g_assert_cmphex(zt_cfg_read(core, 3, PHYR_SATA_SIG(0)), ==, 0x01500034);
    zt_quit(card);
}

/* An empty phy stays empty whatever is done to it. */
static void test_phy_empty(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",model=cm84");
    ZtCore *core = &card->core[1];

    zt_core_write(core, MVS_P_SER_CTLSTAT(0), PHY_RST);
    zt_core_write(core, MVS_P_SER_CTLSTAT(0), PHY_RST_HARD);
    zt_vsr_write(core, 0, VSR_PHY_MODE2, MODE2_DISABLED);
    zt_vsr_write(core, 0, VSR_PHY_MODE2, MODE2_ENABLED);
    g_assert_cmphex(zt_core_read(core, MVS_P_SER_CTLSTAT(0)), ==, 0);
    g_assert_cmphex(zt_core_read(core, MVS_P_INT_STAT(0)), ==, 0);
    g_assert_cmphex(zt_vsr_read(core, 0, VSR_PHY_MODE3), ==, 0);
    zt_quit(card);
}

/* mvs_94xx_phy_set_link_rate, and the speeds in MODE2. */
static const struct {
    uint32_t limit;
    uint32_t speeds;
    unsigned rate;              /* 0: 1.5, 1: 3, 2: 6 Gb/s */
} rates[] = {
    { 0, 0x70, 2 },
    { PHY_MAX_RATE(1), 0x70, 1 },
    { PHY_MAX_RATE(2), 0x70, 2 },
    { 0, 0x30, 1 },
    { 0, 0x10, 0 },
    { 0, 0x50, 2 },
    { PHY_MAX_RATE(1), 0x50, 0 },
};

static void test_phy_rate(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(rates); i++) {
        uint32_t stat;

        zt_vsr_write(core, 0, VSR_PHY_MODE2,
                     (MODE2_ENABLED & ~MODE2_SPEEDS) | rates[i].speeds);
        zt_core_write(core, MVS_P_SER_CTLSTAT(0), rates[i].limit);
        zt_core_write(core, MVS_P_SER_CTLSTAT(0), rates[i].limit | PHY_RST);
        stat = zt_core_read(core, MVS_P_SER_CTLSTAT(0));
        g_assert_cmphex(stat & PHY_READY, ==, PHY_READY);
        g_assert_cmpint(PHY_NEG_RATE(stat), ==, rates[i].rate);
        g_assert_cmphex(stat & 0x3000, ==, rates[i].limit);
    }
    zt_quit(card);
}

/*
 * Phy event -> core (P_INT_MASK) -> cause (INT_MASK) -> pin (GBL_PI); each
 * stage can be shut, and the cause shows what GBL_PI hides.
 */
static void test_interrupt_tree(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    unsigned c;

    for (c = 0; c < MVS_CORES; c++) {
        ZtCore *core = &card->core[c];

        g_assert_cmphex(zt_core_read(core, MVS_INT_STAT), ==, 0);
        zt_core_write(core, MVS_P_INT_MASK(2), PHYEV_RDY_CH);
        g_assert_cmphex(zt_core_read(core, MVS_INT_STAT), ==, CINT_PORT(2));
        g_assert_cmphex(zt_read(card, MVS_GBL_INT_STAT), ==, 0);
        zt_core_write(core, MVS_INT_MASK, CINT_MVSAS);
        g_assert_cmphex(zt_read(card, MVS_GBL_INT_STAT), ==, MVS_IRQ_SAS(c));
        g_assert_false(zt_intx(card));

        /* the other core's enable does not open it */
        zt_write(card, MVS_GBL_PI, MVS_IRQ_SAS(!c));
        g_assert_false(zt_intx(card));
        zt_write(card, MVS_GBL_PI, MVS_IRQ_SAS(c));
        g_assert_true(zt_intx(card));
        /* the cause is a level: writing it changes nothing */
        zt_write(card, MVS_GBL_INT_STAT, 0xffffffff);
        g_assert_true(zt_intx(card));
        /* and so is a port bit: only its phy takes it away */
        zt_core_write(core, MVS_INT_STAT, 0xffffffff);
        g_assert_cmphex(zt_core_read(core, MVS_INT_STAT), ==, CINT_PORT(2));
        g_assert_true(zt_intx(card));

        zt_write(card, MVS_GBL_PI, 0);
        g_assert_false(zt_intx(card));
        g_assert_cmphex(zt_read(card, MVS_GBL_INT_STAT), ==, MVS_IRQ_SAS(c));
        zt_write(card, MVS_GBL_PI, 0xc0000);
        g_assert_true(zt_intx(card));
        zt_core_write(core, MVS_INT_MASK, 0);
        g_assert_false(zt_intx(card));
        zt_core_write(core, MVS_INT_MASK, CINT_MVSAS);
        g_assert_true(zt_intx(card));
        zt_core_write(core, MVS_P_INT_MASK(2), 0);
        g_assert_false(zt_intx(card));
        zt_core_write(core, MVS_P_INT_MASK(2), PHYEV_RDY_CH);
        g_assert_true(zt_intx(card));
        zt_core_write(core, MVS_P_INT_STAT(2), PHYEV_RDY_CH);
        g_assert_false(zt_intx(card));
        g_assert_cmphex(zt_read(card, MVS_GBL_INT_STAT), ==, 0);
        zt_write(card, MVS_GBL_PI, 0);
    }
    zt_quit(card);
}

/* Inputs of the I/O APIC that PCI interrupts of a q35 arrive at. */
static unsigned raised_gsis(ZtCard *card)
{
    unsigned gsi, n = 0;

    for (gsi = 16; gsi < 24; gsi++) {
        n += qtest_get_irq(card->qts, gsi);
    }
    return n;
}

/* The pin as the interrupt controller sees it, and as INTx Disable shuts it. */
static void test_intx_pin(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    uint16_t cmd = qpci_config_readw(card->pci, PCI_COMMAND);

    qtest_irq_intercept_in(card->qts, "ioapic");
    zt_write(card, MVS_GBL_PI, 0xc0000);
    zt_core_write(core, MVS_INT_MASK, CINT_MVSAS);
    g_assert_cmpint(raised_gsis(card), ==, 0);
    zt_core_write(core, MVS_P_INT_MASK(0), PHYEV_RDY_CH);
    g_assert_cmpint(raised_gsis(card), ==, 1);
    qpci_config_writew(card->pci, PCI_COMMAND,
                       cmd | PCI_COMMAND_INTX_DISABLE);
    g_assert_cmpint(raised_gsis(card), ==, 0);
    g_assert_true(zt_intx(card));
    qpci_config_writew(card->pci, PCI_COMMAND, cmd);
    g_assert_cmpint(raised_gsis(card), ==, 1);
    zt_core_write(core, MVS_P_INT_STAT(0), PHYEV_RDY_CH);
    g_assert_cmpint(raised_gsis(card), ==, 0);
    zt_quit(card);
}

#define MSI_DATA    0x4155

/* Point MSI to guest memory; returns the address. */
static uint64_t enable_msi(ZtCard *card)
{
    uint64_t addr = zt_alloc(card, 4096);

    qpci_config_writel(card->pci, 0x54, addr);
    qpci_config_writel(card->pci, 0x58, addr >> 32);
    qpci_config_writew(card->pci, 0x5c, MSI_DATA);
    qpci_config_writew(card->pci, 0x52,
                       qpci_config_readw(card->pci, 0x52) | 1);
    return addr;
}

/* True when a message came since the last look. */
static bool got_msi(ZtCard *card, uint64_t addr)
{
    uint32_t val = qtest_readl(card->qts, addr);

    qtest_writel(card->qts, addr, 0);
    g_assert_true(val == 0 || val == MSI_DATA);
    return val == MSI_DATA;
}

static void test_msi(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    uint64_t addr = enable_msi(card);

    zt_write(card, MVS_GBL_PI, 0xc0000);
    zt_core_write(core, MVS_INT_MASK, CINT_MVSAS);
    g_assert_false(got_msi(card, addr));
    zt_core_write(core, MVS_P_INT_MASK(0), PHYEV_MVSAS);
    g_assert_true(got_msi(card, addr));
    g_assert_false(zt_intx(card));

    /* OCZ's driver: off in the hard handler, on again in the thread */
    zt_write(card, MVS_GBL_PI, 0);
    g_assert_false(got_msi(card, addr));
    zt_write(card, MVS_GBL_PI, 0xc0000);
    g_assert_true(got_msi(card, addr));

    /* an acknowledge that leaves a cause is followed by another message */
    zt_core_write(core, MVS_P_INT_MASK(1), PHYEV_MVSAS);
    got_msi(card, addr);
    zt_core_write(core, MVS_P_INT_STAT(0), 0xffffffff);
    g_assert_true(got_msi(card, addr));
    zt_core_write(core, MVS_P_INT_STAT(1), 0xffffffff);
    g_assert_false(got_msi(card, addr));
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "reset-values", test_reset_values },
    { "read-write", test_read_write },
    { "cores-apart", test_cores_apart },
    { "sgpio", test_sgpio },
    { "reserved", test_reserved },
    { "access-size", test_access_size },
    { "phys-4-to-7", test_phys_4_to_7 },
    { "core-reset", test_core_reset },
    { "system-reset", test_system_reset },
    { "pcs-cmd-rst", test_pcs_cmd_rst },
    { "cfg-space", test_cfg_space },
    { "vsr-space", test_vsr_space },
    { "vsr-all-phys", test_vsr_all_phys },
    { "cmd-space", test_cmd_space },
    { "p-int-stat", test_p_int_stat },
    { "phy-disable", test_phy_disable },
    { "phy-init-sequence", test_phy_init_sequence },
    { "phy-empty", test_phy_empty },
    { "phy-rate", test_phy_rate },
    { "interrupt-tree", test_interrupt_tree },
    { "intx-pin", test_intx_pin },
    { "msi", test_msi },
};

int main(int argc, char **argv)
{
    unsigned i;

    g_test_init(&argc, &argv, NULL);
    zt_add_cases("regs", cases, ARRAY_SIZE(cases));
    for (i = 0; i < ARRAY_SIZE(models); i++) {
        zt_add_variant("regs", "phys", models[i].model, i, test_phys);
    }
    for (i = 0; i < ARRAY_SIZE(resets); i++) {
        zt_add_variant("regs", "phy-reset", resets[i].name, i,
                       test_phy_reset);
    }
    return zt_run_tests();
}

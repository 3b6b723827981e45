/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A driver that its author is still at work on: one mistake each, and the lines
 * that say what it was, once however often it was made.  hostile-test.c has
 * those that could do harm; docs/driver-guide.rst has the remedies.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "zdrive-qtest.h"

#define ATA_SLEEP       0xe6
#define PM_CONTROL      0x44
#define MAX_LINES       4

/* A good command; what follows has one thing wrong in it. */
static ZtCmd read_sectors(ZtCard *card, unsigned slot)
{
    return zt_with_data(zt_in_slot(zt_ata(ATA_READ_DMA_EXT, 0, 8), slot),
                        zt_alloc(card, 4096), 4096);
}

static void ring(ZtCore *core)
{
    zt_doorbell(core);
    qtest_clock_step(core->card->qts, 10 * ZT_COMMAND_NS);
}

static void queue_and_ring(ZtCore *core, const ZtCmd *cmd)
{
    zt_queue(core, cmd);
    ring(core);
}

static void set_header(ZtCore *core, unsigned dword, uint32_t val)
{
    qtest_writel(core->card->qts, zt_header(core, 0) + 4 * dword, val);
}

/* Slot 0 reads 8 sectors; @dword of its header has @val. */
static void wrong_header(ZtCore *core, unsigned dword, uint32_t val)
{
    ZtCmd cmd = read_sectors(core->card, 0);

    zt_queue(core, &cmd);
    set_header(core, dword, val);
    ring(core);
}

/* The same with @n entries of @prd. */
static void wrong_prds(ZtCore *core, const ZtPrd *prd, unsigned n)
{
    ZtCmd cmd = read_sectors(core->card, 0);

    cmd.prd = prd;
    cmd.prds = n;
    queue_and_ring(core, &cmd);
}

static void with_register(ZtCore *core, uint32_t reg, uint32_t val)
{
    ZtCmd cmd = zt_cheap(0, 0);

    zt_core_write(core, reg, val);
    queue_and_ring(core, &cmd);
}

/* ---- rings ---- */

static void ring_off(ZtCore *core)
{
    with_register(core, MVS_TX_CFG, 2048);
}

static void fetch_off(ZtCore *core)
{
    with_register(core, MVS_PCS, 0x58);
}

static void fis_off(ZtCore *core)
{
    with_register(core, MVS_PCS, 0x49);
}

static void tx_unset(ZtCore *core)
{
    with_register(core, MVS_TX_LO, 0);
}

static void rx_unset(ZtCore *core)
{
    with_register(core, MVS_RX_LO, 0);
}

static void list_unset(ZtCore *core)
{
    with_register(core, MVS_CMD_LIST_LO, 0);
}

static void fis_unset(ZtCore *core)
{
    with_register(core, MVS_RX_FIS_LO, 0);
}

static void unaligned(ZtCore *core)
{
    with_register(core, MVS_RX_LO, core->rx + 2);
}

static void high_dword(ZtCore *core)
{
    with_register(core, MVS_TX_HI, 1);
}

/* 2048 x 4, and 1024 x 4 */
static void tx_bytes(ZtCore *core)
{
    with_register(core, MVS_TX_CFG, RING_EN | 0x2000);
}

static void rx_bytes(ZtCore *core)
{
    with_register(core, MVS_RX_CFG, RING_EN | 0x1000);
}

static void doorbell_none(ZtCore *core)
{
    zt_core_write(core, MVS_TX_PROD_IDX, -1);
}

static void doorbell_address(ZtCore *core)
{
    zt_core_write(core, MVS_TX_PROD_IDX, core->tx);
}

static void doorbell_next(ZtCore *core)
{
    ZtCmd cmd = zt_cheap(0, 1);

    zt_queue(core, &cmd);
    zt_core_write(core, MVS_TX_PROD_IDX, core->tx_next);
}

static void doorbell_previous(ZtCore *core)
{
    ZtCmd cmd = zt_cheap(0, 1);

    zt_good(core, &cmd);
    zt_queue(core, &cmd);
    zt_core_write(core, MVS_TX_PROD_IDX, core->tx_next - 2);
}

static void doorbell_stopped(ZtCore *core)
{
    zt_core_write(core, MVS_TX_PROD_IDX, 2048);
    zt_core_write(core, MVS_TX_PROD_IDX, 0);
}

/* ---- headers ---- */

static void no_length(ZtCore *core)
{
    wrong_header(core, 1, 0);
}

static void length_in_bytes(ZtCore *core)
{
    wrong_header(core, 1, 0x01000014);
}

static void byte_swapped(ZtCore *core)
{
    ZtCmd cmd = read_sectors(core->card, 0);
    unsigned i;

    zt_queue(core, &cmd);
    for (i = 0; i < HDR_LEN / 4; i++) {
        uint64_t at = zt_header(core, 0) + 4 * i;

        qtest_writel(core->card->qts, at,
                     bswap32(qtest_readl(core->card->qts, at)));
    }
    ring(core);
}

static void no_table(ZtCore *core)
{
    wrong_header(core, 4, 0);
}

static void no_status(ZtCore *core)
{
    wrong_header(core, 8, 0);
}

static void no_prd_table(ZtCore *core)
{
    wrong_header(core, 10, 0);
}

static void table_high(ZtCore *core)
{
    wrong_header(core, 5, 1);
}

static void atapi(ZtCore *core)
{
    wrong_header(core, 0, 1 << 16 | 1 << 5);
}

static void fpdma(ZtCore *core)
{
    wrong_header(core, 0, 1 << 16 | HDR_FPDMA);
}

static void reset(ZtCore *core)
{
    wrong_header(core, 0, 1 << 16 | 1 << 7);
}

static void no_prd_count(ZtCore *core)
{
    wrong_header(core, 0, 0);
}

/* Another slot's header was written. */
static void wrong_slot(ZtCore *core)
{
    ZtCmd cmd = zt_cheap(0, 3);

    zt_prepare(core, &cmd);
    zt_queue_raw(core, TXQ(TXQ_STP, 0, 1, 4));
    ring(core);
}

static void no_fpdma(ZtCore *core)
{
    ZtCmd cmd = zt_with_data(zt_ncq(ATA_READ_FPDMA, 5, 0, 8),
                             zt_alloc(core->card, 4096), 4096);

    cmd.slot = 0;
    zt_queue(core, &cmd);
    set_header(core, 0, 1 << 16);
    ring(core);
}

static void wrong_tag(ZtCore *core)
{
    ZtCmd cmd = zt_with_data(zt_ncq(ATA_READ_FPDMA, 5, 0, 8),
                             zt_alloc(core->card, 4096), 4096);

    cmd.slot = 0;
    zt_queue(core, &cmd);
    set_header(core, 2, 0);
    ring(core);
}

/* The count of the FIS is 32 << 3. */
static void tag_32(ZtCore *core)
{
    ZtCmd cmd = zt_with_data(zt_ncq(ATA_READ_FPDMA, 32, 0, 8),
                             zt_alloc(core->card, 4096), 4096);

    cmd.fis[13] = 1;
    cmd.slot = 0;
    zt_queue(core, &cmd);
    set_header(core, 2, 32);
    ring(core);
}

/* ---- data ---- */

/* 64 bits of address, 32 of length, 32 that the chip does not have */
static void prd_16_bytes(ZtCore *core)
{
    uint64_t buf = zt_alloc(core->card, 8192);
    uint32_t raw[8] = { 0 };
    unsigned i;

    for (i = 0; i < 2; i++) {
        raw[4 * i] = cpu_to_le32(buf + 4096 * i);
        raw[4 * i + 2] = cpu_to_le32(2048);
    }
    wrong_prds(core, (ZtPrd *)raw, 2);
}

static void prd_length_minus_1(ZtCore *core)
{
    ZtPrd prd = { cpu_to_le64(zt_alloc(core->card, 4096)),
                  cpu_to_le32(4095) };

    wrong_prds(core, &prd, 1);
}

static void prd_too_long(ZtCore *core)
{
    ZtPrd prd = { cpu_to_le64(zt_alloc(core->card, 4096)),
                  cpu_to_le32(0x400000) };

    wrong_prds(core, &prd, 1);
}

static void prd_big_endian(ZtCore *core)
{
    ZtPrd prd = { cpu_to_be64(zt_alloc(core->card, 4096)),
                  cpu_to_be32(4096 << 8) };

    wrong_prds(core, &prd, 1);
}

/* ---- SSDs ---- */

static void set_disabled(ZtCore *core)
{
    with_register(core, MVS_STP_REG_SET_0, 0xfffffffe);
}

/* Both are under way at the same time. */
static void set_shared(ZtCore *core)
{
    ZtCmd cmd[2] = { zt_cheap(0, 0), zt_cheap(1, 1) };

    cmd[1].reg_set = 0;
    zt_queue(core, &cmd[0]);
    queue_and_ring(core, &cmd[1]);
}

static void mixed(ZtCore *core, bool queued_first)
{
    ZtCmd cmd[2] = {
        zt_with_data(zt_ncq(ATA_READ_FPDMA, 5, 0, 8),
                     zt_alloc(core->card, 4096), 4096),
        zt_cheap(0, 6),
    };

    zt_queue(core, &cmd[!queued_first]);
    queue_and_ring(core, &cmd[queued_first]);
}

static void mixed_in(ZtCore *core)
{
    mixed(core, true);
}

static void mixed_after(ZtCore *core)
{
    mixed(core, false);
}

static void same_tag(ZtCore *core)
{
    ZtCmd cmd = zt_with_data(zt_ncq(ATA_READ_FPDMA, 5, 0, 8),
                             zt_alloc(core->card, 4096), 4096);

    zt_queue(core, &cmd);
    cmd.slot = 6;
    queue_and_ring(core, &cmd);
}

static void chs(ZtCore *core)
{
    ZtCmd cmd = read_sectors(core->card, 0);

    cmd.fis[7] = 0;
    queue_and_ring(core, &cmd);
}

static void asleep(ZtCore *core)
{
    ZtCmd sleep = zt_in_slot(zt_ata(ATA_SLEEP, 0, 0), 1);
    ZtCmd cmd = zt_cheap(0, 2);

    queue_and_ring(core, &sleep);
    queue_and_ring(core, &cmd);
    zt_core_write(core, MVS_P_SER_CTLSTAT(0), PHY_RST);
}

/* ---- registers ---- */

static void consumer_index(ZtCore *core)
{
    zt_core_write(core, MVS_RX_CONS_IDX, 0);
}

static void signature(ZtCore *core)
{
    zt_cfg_write(core, 0, PHYR_SATA_SIG(0), 0);
}

static void port_type(ZtCore *core)
{
    zt_vsr_write(core, 0, VSR_PHY_MODE3, 0);
}

static void cfg_space(ZtCore *core)
{
    zt_cfg_read(core, 0, 0x140);
}

static void vsr_space(ZtCore *core)
{
    zt_vsr_read(core, 0, 0x00a);
}

static void phy_5(ZtCore *core)
{
    zt_core_read(core, MVS_P_SER_CTLSTAT(5));
}

static void no_core(ZtCore *core)
{
    zt_read(core->card, MVS_CTL);
}

static void core_2(ZtCore *core)
{
    zt_write(core->card, MVS_CORE(2) + MVS_CTL, CCTL_RST);
}

/* A header of another chip: reads and writes are two things to say. */
static void reserved(ZtCore *core)
{
    zt_core_read(core, 0x17c);
    zt_core_write(core, 0x17c, 1);
}

static void half_dword(ZtCore *core)
{
    qtest_readl(core->card->qts,
                core->card->bar2.addr + MVS_CORE(0) + MVS_INT_STAT + 2);
}

static void coalescing(ZtCore *core)
{
    ZtCmd cmd = zt_cheap(0, 0);

    zt_core_write(core, MVS_INT_COAL, RING_EN | 32);
    zt_core_write(core, MVS_INT_COAL_TMOUT, RING_EN);
    queue_and_ring(core, &cmd);
}

static void spi_empty(ZtCore *core)
{
    zt_write(core->card, MVS_SPI_CTRL, 0x0301);
}

static void spi_long(ZtCore *core)
{
    zt_write(core->card, MVS_SPI_CTRL, 0x0381);
}

static void spi_address(ZtCore *core)
{
    zt_write(core->card, MVS_SPI_ADDR, 0x40000);
}

static void spi_data(ZtCore *core)
{
    zt_write(core->card, MVS_SPI_RD_DATA, 0);
}

/* ---- PCI ---- */

static void bus_master(ZtCard *card, bool on)
{
    qpci_config_writew(card->pci, PCI_COMMAND, PCI_COMMAND_MEMORY |
                       (on ? PCI_COMMAND_MASTER : 0));
}

/* Nothing of the core's can be read.  assert_mended() sets the bit again. */
static void no_master(ZtCore *core)
{
    ZtCmd cmd = zt_cheap(0, 0);

    zt_queue(core, &cmd);
    bus_master(core->card, false);
    ring(core);
}

static const struct {
    const char *name;
    void (*make)(ZtCore *core);
    const char *says[MAX_LINES];
    const char *props;
} mistakes[] = {
    { "ring-off", ring_off,
      { "TX_PROD_IDX 0x0 of core 0: nothing is fetched with TX_CFG 0x800 and "
        "PCS 0x59" } },
    { "fetch-off", fetch_off,
      { "nothing is fetched with TX_CFG 0x10800 and PCS 0x58" } },
    { "fis-off", fis_off, { "PCS 0x49 of core 0 does not receive FISes" } },
    { "tx-unset", tx_unset,
      { "TX_LO of core 0 is 0x0, which cannot be its address",
        "entry 0 of the delivery ring of core 0 is 0" } },
    { "rx-unset", rx_unset, { "RX_LO of core 0 is 0x0" } },
    { "list-unset", list_unset,
      { "CMD_LIST_LO of core 0 is 0x0", "address 0 for its command table",
        "a command of 0 dwords", "not a command FIS" } },
    { "fis-unset", fis_unset, { "RX_FIS_LO of core 0 is 0x0" } },
    { "unaligned", unaligned, { "which cannot be its address" } },
    { "high-dword", high_dword,
      { "delivery ring of core 0 at 0x1", "the ring has stopped" } },
    { "tx-bytes", tx_bytes,
      { "is outside a ring of 0 entries", "the ring has stopped" } },
    { "rx-bytes", rx_bytes,
      { "slot 0 of core 0 completes, but RX_CFG 0x10000 has no ring" } },
    { "doorbell-none", doorbell_none,
      { "TX_PROD_IDX 0xffffffff of core 0 is outside a ring of 2048 entries",
        "the ring has stopped and waits for PCS bit 1" } },
    { "doorbell-address", doorbell_address,
      { "is outside a ring of 2048 entries", "the ring has stopped" } },
    { "doorbell-next", doorbell_next,
      { "entry 1 of the delivery ring of core 0 is 0, TX_PROD_IDX is 0x1" } },
    { "doorbell-previous", doorbell_previous,
      { "TX_PROD_IDX 0x0 of core 0 is an entry that was fetched before" } },
    { "doorbell-stopped", doorbell_stopped,
      { "is outside a ring of 2048 entries",
        "TX_PROD_IDX 0x0 of core 0: the ring has stopped" } },
    { "no-length", no_length, { "a command of 0 dwords in the header" } },
    { "length-in-bytes", length_in_bytes,
      { "a command of 20 dwords in the header, a Register FIS has 5" } },
    { "byte-swapped", byte_swapped,
      { "a command of 1 dwords in the header", "not a command FIS",
        "status buffer of core 0 at 0x" } },
    { "no-table", no_table,
      { "slot 0 of core 0: the header has address 0 for its command table",
        "not a command FIS" } },
    { "no-status", no_status, { "address 0 for its status buffer" } },
    { "no-prd-table", no_prd_table,
      { "address 0 for its PRD table", "the PRD table holds" } },
    { "table-high", table_high,
      { "command table at 0x1", "the ring has stopped" } },
    { "atapi", atapi, { "header bit 5 (ATAPI) does not fit command 0x25" } },
    { "fpdma", fpdma, { "header bit 6 (FPDMA) does not fit command 0x25" } },
    { "reset", reset, { "header bit 7 (reset) does not fit command 0x25" } },
    { "no-prd-count", no_prd_count, { "the PRD table holds 0 bytes" } },
    { "wrong-slot", wrong_slot,
      { "slot 4 of core 0: the header has address 0 for its command table",
        "a command of 0 dwords", "not a command FIS" } },
    { "no-fpdma", no_fpdma,
      { "header bit 6 (FPDMA) does not fit command 0x60" } },
    { "wrong-tag", wrong_tag, { "tag 0 in the header, 5 in the FIS" } },
    { "tag-32", tag_32, { "tag 32 in the header, 0 in the FIS" } },
    { "prd-16-bytes", prd_16_bytes,
      { "the PRD table holds 2048 bytes, less than the command" } },
    { "prd-length-minus-1", prd_length_minus_1,
      { "the PRD table holds 4095 bytes" } },
    { "prd-too-long", prd_too_long, { "the PRD table holds 0 bytes" } },
    { "prd-big-endian", prd_big_endian, { "a PRD points to no memory" } },
    { "set-disabled", set_disabled,
      { "slot 0 of core 0: register set 0 is not enabled" } },
    { "set-shared", set_shared,
      { "slot 1 of core 0: register set 0 of phy 1 is in use by phy 0" },
      ",timing=model" },
    { "mixed-in", mixed_in,
      { "command 0xe5 is not queued, and the SSD is at work on 1 of the other "
        "kind" }, ",timing=model" },
    { "mixed-after", mixed_after,
      { "command 0x60 is queued, and the SSD is at work on 1" },
      ",timing=model" },
    { "same-tag", same_tag,
      { "phy 0 of core 0: command 0x60: tag is in use" }, ",timing=model" },
    { "chs", chs,
      { "phy 0 of core 0: command 0x25: CHS addressing, LBA bit is clear" } },
    { "asleep", asleep, { "command 0xe5: the SSD sleeps" } },
    { "consumer-index", consumer_index,
      { "write of 0x0 to read-only register 0x140 of core 0" } },
    { "signature", signature,
      { "CFG index 0x20 of phy 0 of core 0, which is read-only" } },
    { "port-type", port_type,
      { "VSR index 0xc of phy 0 of core 0, which is read-only" } },
    { "cfg-space", cfg_space, { "CFG index 0x140 of phy 0" } },
    { "vsr-space", vsr_space, { "VSR index 0xa of phy 0" } },
    { "phy-5", phy_5,
      { "access to register 0x1e4 of core 0 for phy 5 of 4" } },
    { "no-core", no_core, { "read of reserved BAR 2 offset 0x100" } },
    { "core-2", core_2,
      { "write of 0x20 to reserved BAR 2 offset 0x28100" } },
    { "reserved", reserved,
      { "read of reserved register 0x17c of core 0",
        "write of 0x1 to reserved register 0x17c of core 0" } },
    { "half-dword", half_dword,
      { "access to 4 bytes at BAR 2 offset 0x20152" } },
    { "coalescing", coalescing,
      { "INT_COAL 0x10020 of core 0 holds a completion's interrupt back" } },
    { "spi-empty", spi_empty, { "SPI command 0x03 for 0 bytes, not 1 to 4" } },
    { "spi-long", spi_long, { "SPI command 0x03 for 8 bytes, not 1 to 4" } },
    { "spi-address", spi_address, { "SPI address 0x40000 is past" } },
    { "spi-data", spi_data, { "read-only BAR 2 offset 0xc80c" } },
    { "no-master", no_master,
      { "DMA while bit 2 of the PCI command register (bus master) is clear",
        "delivery ring of core 0 at", "the ring has stopped" } },
};

/* Each of @says has its line, and there is no other. */
static void assert_said(const char *const says[MAX_LINES])
{
    unsigned i;

    for (i = 0; i < MAX_LINES && says[i]; i++) {
        if (zt_log_lines(says[i]) != 1) {
            g_autofree char *log = zt_log();

            g_test_message("no \"%s\" in: %s", says[i], log);
        }
        g_assert_cmpint(zt_log_lines(says[i]), ==, 1);
    }
    if (zt_log_lines("") != i) {
        g_autofree char *log = zt_log();

        g_test_message("log: %s", log);
    }
    g_assert_cmpint(zt_log_lines(""), ==, i);
}

/* The driver is mended and begins anew. */
static void assert_mended(ZtCore *core)
{
    uint16_t id[256];

    bus_master(core->card, true);
    zt_core_program(core);
    zt_identify(core, 0, id);
    g_assert_cmphex(id[0], ==, 0x0040);
}

static void test_mistake(const void *data)
{
    unsigned n = GPOINTER_TO_UINT(data);
    ZtCard *card = zt_boot_logged(mistakes[n].props ?: "");
    ZtCore *core = &card->core[0];

    mistakes[n].make(core);
    mistakes[n].make(core);
    assert_said(mistakes[n].says);
    assert_mended(core);
    assert_said(mistakes[n].says);
    zt_quit(card);
}

/* All that a good driver does is in no log. */
static void test_none(void)
{
    ZtCard *card = zt_boot_logged("");
    unsigned c, phy;

    for (c = 0; c < MVS_CORES; c++) {
        ZtCore *core = &card->core[c];
        uint64_t buf = zt_alloc(card, 4096);

        for (phy = 0; phy < MVS_PHYS; phy++) {
            ZtCmd cmd = zt_on_phy(zt_ncq(ATA_READ_FPDMA, 31, 0, 8), phy);
            uint16_t id[256];

            cmd = zt_with_data(cmd, buf, 4096);
            zt_identify(core, phy, id);
            zt_good(core, &cmd);
        }
    }
    g_assert_cmpint(zt_log_lines(""), ==, 0);
    zt_quit(card);
}

/* A driver that is loaded again hears of the same mistake again. */
static void test_again(void)
{
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    unsigned i;

    for (i = 1; i <= 3; i++) {
        consumer_index(core);
        consumer_index(core);
        g_assert_cmpint(zt_log_lines("read-only register"), ==, i);
        bus_master(card, true);
        consumer_index(core);
        g_assert_cmpint(zt_log_lines("read-only register"), ==, i);
        bus_master(card, false);
        bus_master(card, true);
    }
    assert_mended(core);
    zt_quit(card);
}

static void test_deep_sleep(void)
{
    static const char *const says[MAX_LINES] = {
        "access to BAR 2 offset 0x20104 while the card is in D3hot",
    };
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];

    qpci_config_writew(card->pci, PM_CONTROL, 3);
    g_assert_cmphex(zt_core_read(core, MVS_PCS), ==, 0xffffffff);
    zt_core_write(core, MVS_PCS, 0x59);
    assert_said(says);
    qpci_config_writew(card->pci, PM_CONTROL, 0);
    zt_system_reset(card);
    assert_mended(core);
    assert_said(says);
    zt_quit(card);
}

/*
 * QEMU has a line of its own for each access to no memory.  The card looks
 * first when it knows that such addresses come.
 */
static void test_log_of_qemu(void)
{
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    g_autofree char *log = NULL;
    unsigned i, n = 0;
    char *at;

    zt_core_write(core, MVS_RX_HI, 1);
    zt_core_write(core, MVS_RX_FIS_HI, 1);
    for (i = 0; i < 100; i++) {
        ZtPrd prd = { cpu_to_le64(1ull << 32), cpu_to_le32(4096) };
        ZtCmd cmd = zt_with_data(zt_ata(ATA_READ_DMA_EXT, 0, 8), 0, 4096);

        cmd.prd = &prd;
        cmd.prds = 1;
        cmd.slot = i;
        queue_and_ring(core, &cmd);
    }
    log = zt_log();
    for (at = log; (at = strchr(at, '\n')); at++) {
        n++;
    }
    g_assert_cmpint(n - zt_log_lines(""), <=, 2);
    g_assert_cmpint(zt_log_lines("is not memory"), ==, 2);
    g_assert_cmpint(zt_log_lines("a PRD points to no memory"), ==, 1);
    assert_mended(core);
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "log-of-qemu", test_log_of_qemu },
    { "none", test_none },
    { "again", test_again },
    { "deep-sleep", test_deep_sleep },
};

int main(int argc, char **argv)
{
    unsigned i;

    g_test_init(&argc, &argv, NULL);
    zt_add_cases("mistake", cases, ARRAY_SIZE(cases));
    for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
        zt_add_variant("mistake", "of", mistakes[i].name, i, test_mistake);
    }
    return zt_run_tests();
}

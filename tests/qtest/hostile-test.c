/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A driver that does everything wrong: rings, headers, tables and data where
 * no memory is, loops of PRDs, descriptors that make no sense.  QEMU stays
 * responsive, nothing but the driver's own memory is touched, one line says
 * what was wrong, and after a reset the card works as before.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "zdrive-qtest.h"

#define ATA_READ_VERIFY_EXT 0x42

/* Marks registers that nobody may change. */
#define SCRATCH     0x5ca1ab1e

/*
 * One mistake, however often it was made: one line, which contains @text.  That
 * a ring has stopped is said when assert_stopped() looks.
 */
static void assert_logged(const char *text)
{
    unsigned all = zt_log_lines("") - zt_log_lines("the ring has stopped");

    if (zt_log_lines(text) != 1 || all != 1) {
        g_autofree char *log = zt_log();

        g_test_message("log: %s", log);
    }
    g_assert_cmpint(zt_log_lines(text), ==, 1);
    g_assert_cmpint(all, ==, 1);
}

/* Both cores take commands after a reset. */
static void assert_alive(ZtCard *card)
{
    unsigned c;

    for (c = 0; c < MVS_CORES; c++) {
        ZtCore *core = &card->core[c];
        uint16_t id[256];

        if (!core->list) {
            continue;
        }
        zt_core_program(core);
        g_assert_cmphex(zt_core_read(core, MVS_INT_STAT), ==, 0);
        if (zt_core_read(core, MVS_P_SER_CTLSTAT(0)) & PHY_READY) {
            zt_identify(core, 0, id);
            g_assert_cmphex(id[0], ==, 0x0040);
        }
    }
}

/* The engine stands and has reported @cause. */
static void assert_stopped(ZtCore *core, uint32_t cause)
{
    ZtCmd cmd = zt_cheap(0, 99);

    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT) & ~CINT_DONE, ==,
                    cause | CINT_CI_STOP);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    zt_assert_quiet(core);
    g_assert_false(zt_slot_active(core, 99));
}

/* ---- addresses ---- */

/* Where no structure can be. */
enum { OWN_BAR2, OWN_BAR0, OTHER_DEVICE, HOLE, AT_THE_END, ACROSS_THE_END,
       ADDRESSES };

static void find_addresses(ZtCard *card, uint64_t addr[ADDRESSES])
{
    addr[OWN_BAR2] = card->bar2.addr + MVS_CORE(0);
    addr[OWN_BAR0] = qpci_iomap(card->pci, 0, NULL).addr;
    addr[OTHER_DEVICE] = 0xfec00000;            /* I/O APIC */
    addr[HOLE] = 0xd0000000;
    addr[AT_THE_END] = ~0ull;
    addr[ACROSS_THE_END] = ~0ull << 4;
}

/* The structure that a test moves there. */
enum { TX_RING, RX_RING, CMD_LIST, FIS_AREA, CMD_TABLE, STATUS_BUF, PRD_TABLE,
       DATA_IN, DATA_OUT, STRUCTURES };

static const char *const structures[] = {
    [TX_RING] = "tx-ring",
    [RX_RING] = "rx-ring",
    [CMD_LIST] = "command-list",
    [FIS_AREA] = "fis-area",
    [CMD_TABLE] = "command-table",
    [STATUS_BUF] = "status-buffer",
    [PRD_TABLE] = "prd-table",
    [DATA_IN] = "data-in",
    [DATA_OUT] = "data-out",
};

static void set_base(ZtCore *core, uint32_t lo, uint64_t addr)
{
    zt_core_write(core, lo, addr);
    zt_core_write(core, lo + 4, addr >> 32);
}

/* Change one 64-bit field of a header that zt_queue() has written. */
static void set_header(ZtCore *core, unsigned slot, unsigned dword,
                       uint64_t addr)
{
    qtest_writeq(core->card->qts, zt_header(core, slot) + 4 * dword, addr);
}

static void try_address(ZtCore *core, unsigned structure, uint64_t addr)
{
    ZtCmd cmd = zt_ata(structure == DATA_OUT ? ATA_WRITE_DMA_EXT
                                             : ATA_READ_DMA_EXT, 0, 8);
    uint32_t entry;

    cmd = zt_with_data(cmd, structure >= DATA_IN ? addr
                                                 : zt_slot_buf(core, 50),
                       4096);
    if (structure == STATUS_BUF) {
        cmd.fis[2] = 0xff;              /* so that an error is written */
    }
    zt_queue(core, &cmd);
    switch (structure) {
    case TX_RING:
        set_base(core, MVS_TX_LO, addr);
        break;
    case RX_RING:
        set_base(core, MVS_RX_LO, addr);
        break;
    case CMD_LIST:
        set_base(core, MVS_CMD_LIST_LO, addr);
        break;
    case FIS_AREA:
        set_base(core, MVS_RX_FIS_LO, addr);
        break;
    case CMD_TABLE:
        set_header(core, 0, 4, addr);
        break;
    case STATUS_BUF:
        set_header(core, 0, 8, addr);
        break;
    case PRD_TABLE:
        set_header(core, 0, 10, addr);
        break;
    }
    zt_doorbell(core);
    qtest_clock_step(core->card->qts, 10 * ZT_COMMAND_NS);

    switch (structure) {
    case TX_RING:
    case CMD_LIST:
    case CMD_TABLE:
    case PRD_TABLE:
        assert_stopped(core, CINT_DMA_PCIE);
        break;
    case DATA_IN:
    case DATA_OUT:
        entry = zt_completion(core);
        zt_assert_chip_error(core, &cmd, entry, ERR_DATA_OVER_UNDER, 0);
        break;
    default:
        /* what the chip wanted to say is lost */
        break;
    }
    g_assert_false(zt_slot_active(core, 0));
}

static void test_address(const void *data)
{
    unsigned structure = GPOINTER_TO_UINT(data);
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    uint64_t addr[ADDRESSES];
    unsigned n;

    find_addresses(card, addr);
    for (n = 0; n < ADDRESSES; n++) {
        zt_core_program(core);
        zt_core_write(&card->core[0], MVS_PORTS_IMP, SCRATCH);
        zt_core_write(&card->core[1], MVS_PORTS_IMP, SCRATCH);
        try_address(core, structure, addr[n]);
        /* nothing came back into the card's own registers */
        g_assert_cmphex(zt_core_read(core, MVS_PORTS_IMP), ==, SCRATCH);
        g_assert_cmphex(zt_core_read(&card->core[1], MVS_PORTS_IMP), ==,
                        SCRATCH);
        g_assert_cmphex(zt_core_read(&card->core[1], MVS_TX_CFG), ==,
                        core->tx_entries | RING_EN);
        assert_alive(card);
    }
    g_assert_cmpint(zt_log_lines("is not memory") + zt_log_lines("no memory"),
                    ==, 1);
    zt_quit(card);
}

/* An MSI that points at the card's own doorbell. */
static void test_msi_to_self(void)
{
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    uint64_t addr = card->bar2.addr + MVS_CORE(1) + MVS_PORTS_IMP;
    ZtCmd cmd = zt_cheap(0, 0);

    zt_core_write(&card->core[1], MVS_PORTS_IMP, SCRATCH);
    qpci_config_writel(card->pci, 0x54, addr);
    qpci_config_writel(card->pci, 0x58, 0);
    qpci_config_writew(card->pci, 0x5c, 0x4155);
    qpci_config_writew(card->pci, 0x52,
                       qpci_config_readw(card->pci, 0x52) | 1);
    zt_write(card, MVS_GBL_PI, 0xc0000);
    zt_good(core, &cmd);
    g_assert_cmphex(zt_core_read(&card->core[1], MVS_PORTS_IMP), ==, SCRATCH);
    assert_alive(card);
    zt_quit(card);
}

/* "Interrupt disable" by a write to its byte alone, with the pin up. */
static void test_intx_disable(void)
{
    ZtCard *card = zt_boot_logged("");
    ZtCmd cmd = zt_cheap(0, 0);

    zt_write(card, MVS_GBL_PI, 0xc0000);
    zt_good(&card->core[0], &cmd);
    g_assert_true(zt_intx(card));
    qpci_config_writeb(card->pci, PCI_COMMAND + 1,
                       PCI_COMMAND_INTX_DISABLE >> 8);
    qpci_config_writew(card->pci, PCI_COMMAND,
                       PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
    g_assert_true(zt_intx(card));
    zt_system_reset(card);
    assert_alive(card);
    zt_quit(card);
}

/* ---- registers ---- */

/* One access each that no driver should make. */
static const struct {
    const char *name;
    uint32_t addr, index;       /* index register first, if there is one */
    uint32_t data, val;
    const char *log;
} accesses[] = {
    { "chip", 0, 0, 0x30000, 1, "reserved BAR 2 offset 0x30000" },
    { "core", 0, 0, MVS_CORE(1) + 0x300, 1, "reserved register 0x300" },
    { "cfg", MVS_CORE(0) + MVS_P_CFG_ADDR(1), 0x4000,
      MVS_CORE(0) + MVS_P_CFG_DATA(1), 1, "CFG index 0x4000" },
    { "cfg-odd", MVS_CORE(0) + MVS_P_CFG_ADDR(1), 0x1e,
      MVS_CORE(0) + MVS_P_CFG_DATA(1), 1, "CFG index 0x1e" },
    { "vsr", MVS_CORE(0) + MVS_P_VSR_ADDR(3), 0x4000,
      MVS_CORE(0) + MVS_P_VSR_DATA(3), 1, "VSR index 0x4000" },
    { "vsr-all", MVS_CORE(1) + MVS_PA_VSR_ADDR, 0x4000,
      MVS_CORE(1) + MVS_PA_VSR_PORT, 1, "VSR index 0x4000" },
    { "cmd", MVS_CORE(0) + MVS_CMD_ADDR, 0x400,
      MVS_CORE(0) + MVS_CMD_DATA, 1, "CMD_ADDR 0x400" },
    { "spi-protected", MVS_SPI_ADDR, 0, MVS_SPI_CTRL, 0x0243,
      "write enable" },
    { "spi-unknown", MVS_SPI_ADDR, 0, MVS_SPI_CTRL, 0x7741,
      "unknown SPI command 0x77" },
};

static void test_access(const void *data)
{
    unsigned n = GPOINTER_TO_UINT(data);
    ZtCard *card = zt_boot_logged("");
    unsigned i;

    for (i = 0; i < 3; i++) {
        if (accesses[n].addr) {
            zt_write(card, accesses[n].addr, accesses[n].index);
        }
        zt_write(card, accesses[n].data, accesses[n].val);
        if (accesses[n].addr) {
            zt_read(card, accesses[n].data);
        }
    }
    assert_logged(accesses[n].log);
    assert_alive(card);
    zt_quit(card);
}

/* ---- delivery ring and descriptors ---- */

static void test_doorbell(void)
{
    static const uint32_t outside[] = { 2048, 2049, 0xffe };
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(outside); i++) {
        zt_core_write(core, MVS_TX_PROD_IDX, outside[i]);
        assert_stopped(core, 0);
        zt_core_program(core);
    }
    assert_logged("outside a ring");
    assert_alive(card);
    zt_quit(card);
}

/* Rings of size 0 and rings that shrink under the engine. */
static void test_ring_size(void)
{
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    unsigned i;

    zt_core_write(core, MVS_TX_CFG, 0);
    zt_core_write(core, MVS_TX_CFG, RING_EN);
    zt_core_write(core, MVS_TX_PROD_IDX, 0);
    zt_assert_quiet(core);
    assert_alive(card);
    for (i = 0; i < 20; i++) {
        ZtCmd cmd = zt_cheap(0, i);

        zt_good(core, &cmd);
    }
    zt_core_write(core, MVS_TX_CFG, 4 | RING_EN);
    zt_core_write(core, MVS_RX_CFG, 4 | RING_EN);
    zt_core_write(core, MVS_TX_PROD_IDX, 2);
    qtest_clock_step(card->qts, 10 * ZT_COMMAND_NS);
    assert_alive(card);
    zt_quit(card);
}

static void test_no_rx_ring(void)
{
    static const uint32_t cfg[] = { 0, 1024, RING_EN };
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(0, 0);
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(cfg); i++) {
        zt_core_write(core, MVS_RX_CFG, cfg[i]);
        zt_queue(core, &cmd);
        zt_doorbell(core);
        zt_assert_quiet(core);
        g_assert_false(zt_slot_active(core, 0));
        zt_core_program(core);
    }
    assert_logged("no ring");
    assert_alive(card);
    zt_quit(card);
}

/* Nobody takes the completions: the ring goes round. */
static void test_rx_overrun(void)
{
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    unsigned i;

    for (i = 0; i < 1024 + 100; i++) {
        ZtCmd cmd = zt_cheap(0, i);

        zt_queue(core, &cmd);
    }
    zt_doorbell(core);
    while (zt_core_read(core, MVS_TX_CONS_IDX) != 1024 + 100 - 1) {
        qtest_clock_step(card->qts, 1);
    }
    g_assert_cmphex(zt_core_read(core, MVS_RX_CONS_IDX), ==, 99);
    assert_alive(card);
    zt_quit(card);
}

/*
 * A ring full of the longest commands, which end at once: half a minute of
 * work, and QEMU answers meanwhile.
 */
static void test_busy(void)
{
    ZtCard *card = zt_boot_logged(",size=256M,model=cm84");
    ZtCore *core = &card->core[0];
    gint64 start = g_get_monotonic_time();
    unsigned i;

    for (i = 0; i < MVS_SLOTS - 1; i++) {
        ZtCmd cmd = zt_in_slot(zt_ata(ATA_READ_VERIFY_EXT, 0, 0), i);

        zt_queue(core, &cmd);
    }
    start = g_get_monotonic_time();
    zt_doorbell(core);
    qtest_qmp_assert_success(card->qts, "{'execute': 'query-status'}");
    g_assert_cmpint(g_get_monotonic_time() - start, <, 5 * G_USEC_PER_SEC);
    g_assert_cmpint(zt_core_read(core, MVS_TX_CONS_IDX), <, MVS_SLOTS / 2);
    assert_alive(card);
    zt_quit(card);
}

/* What a driver sends to an SSD whose queue has stopped: some of it waits. */
static void test_halted_queue(void)
{
    ZtCard *card = zt_boot_logged(",model=cm84");
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 4096);
    ZtCmd bad = zt_with_data(zt_ncq(ATA_READ_FPDMA, 0, 1ull << 40, 8), buf,
                             4096);
    ZtCmd log = zt_with_data(zt_in_slot(zt_ata(ATA_READ_LOG_EXT, 0x10, 1),
                                        500), buf, ZT_SECTOR);
    unsigned i, good = 0;

    zt_queue(core, &bad);
    for (i = 0; i < 100; i++) {
        ZtCmd cmd = zt_with_data(zt_ncq(ATA_READ_FPDMA, i % 32, 0, 8), buf,
                                 4096);

        cmd.slot = 1 + i;
        zt_queue(core, &cmd);
    }
    zt_doorbell(core);
    for (i = 0; i < 100 - 32; i++) {
        uint32_t entry = zt_completion(core);

        g_assert_cmphex(entry & (RXQ_DONE | RXQ_ERR), ==, RXQ_DONE | RXQ_ERR);
    }
    zt_assert_quiet(core);
    zt_queue(core, &log);
    zt_doorbell(core);
    for (i = 0; i < 32 + 1; i++) {
        good += !!(zt_completion(core) & RXQ_GOOD);
    }
    g_assert_cmpint(good, ==, 32 + 1);
    zt_assert_quiet(core);
    assert_alive(card);
    zt_quit(card);
}

static void test_slot_range(void)
{
    static const uint16_t slots[] = { 2048, 3000, 4095 };
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(slots); i++) {
        zt_queue_raw(core, TXQ(TXQ_STP, 0, 1, slots[i]));
        zt_doorbell(core);
        assert_stopped(core, 0);
        zt_core_program(core);
    }
    assert_logged("slot");
    assert_alive(card);
    zt_quit(card);
}

/* A slot that the chip still has: only the second use of it fails. */
static void test_slot_busy(void)
{
    ZtCard *card = zt_boot_logged(",timing=model");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(0, 7);
    uint32_t entry;

    zt_queue(core, &cmd);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    entry = zt_completion(core);
    zt_assert_chip_error(core, &cmd, entry, 0, ERR1_SLOT_BUSY);
    g_assert_true(zt_slot_active(core, 7));
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD | 7);
    zt_assert_quiet(core);
    assert_logged("again");
    assert_alive(card);
    zt_quit(card);
}

/* Descriptors that are refused with an error record. */
static const struct {
    const char *name;
    uint32_t desc;
    uint32_t err0;
    const char *log;
} descriptors[] = {
    { "type-0", TXQ(0, 0, 1, 5), ERR_BAD_PROTO, "protocol 0" },
    { "type-ssp", TXQ(TXQ_SSP, 0, 1, 5), ERR_BAD_PROTO, "protocol 1" },
    { "type-smp", TXQ(TXQ_SMP, 0, 1, 5), ERR_BAD_PROTO, "protocol 2" },
    { "type-4", TXQ(4u, 0, 1, 5), ERR_BAD_PROTO, "protocol 4" },
    { "type-5", TXQ(5u, 0, 1, 5), ERR_BAD_PROTO, "protocol 5" },
    { "type-6", TXQ(6u, 0, 1, 5), ERR_BAD_PROTO, "protocol 6" },
    { "phy-none", TXQ(TXQ_STP, 0, 0, 5), ERR_NO_DEST, "phy" },
    { "phy-two", TXQ(TXQ_STP, 0, 3, 5), ERR_NO_DEST, "phy" },
    { "phy-all", TXQ(TXQ_STP, 0, 0xff, 5), ERR_NO_DEST, "phy" },
    { "phy-4", TXQ(TXQ_STP, 0, 0x10, 5), ERR_NO_DEST, "phy" },
    { "phy-7", TXQ(TXQ_STP, 0, 0x80, 5), ERR_NO_DEST, "phy" },
    { "set-64", TXQ(TXQ_STP, 64, 1, 5), ERR_NO_DEST, "register set 64" },
    { "set-127", TXQ(TXQ_STP, 127, 1, 5), ERR_NO_DEST, "register set 127" },
};

static void test_descriptor(const void *data)
{
    unsigned n = GPOINTER_TO_UINT(data);
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(0, 5);
    const uint64_t end = core->fis + FIS_SET(64);
    unsigned i;

    zt_prepare(core, &cmd);
    qtest_memset(card->qts, end, 0xdd, 64 * 0x100);
    for (i = 0; i < 3; i++) {
        zt_queue_raw(core, descriptors[n].desc);
        zt_doorbell(core);
        zt_assert_chip_error(core, &cmd, zt_completion(core),
                             descriptors[n].err0, 0);
        g_assert_false(zt_slot_active(core, 5));
    }
    assert_logged(descriptors[n].log);
    /* no FIS behind the area of 64 sets */
    for (i = 0; i < 64; i++) {
        g_assert_cmphex(qtest_readl(card->qts, end + i * 0x100 + FIS_D2H),
                        ==, 0xdddddddd);
    }
    /* the engine goes on without a reset */
    zt_good(core, &cmd);
    assert_alive(card);
    zt_quit(card);
}

/* A phy without SSD is no mistake of the driver's: disks do vanish. */
static void test_phy_absent(void)
{
    ZtCard *card = zt_boot_logged(",model=cm84");
    ZtCore *core = &card->core[1];
    ZtCmd cmd = zt_cheap(2, 0);

    zt_queue(core, &cmd);
    zt_doorbell(core);
    zt_assert_chip_error(core, &cmd, zt_completion(core), ERR_NO_DEST, 0);
    g_assert_cmpint(zt_log_lines(""), ==, 0);
    assert_alive(card);
    zt_quit(card);
}

/* The command table holds no command. */
static const struct {
    const char *name;
    uint8_t type, flags;
} bad_fis[] = {
    { "type-0", 0x00, 0x80 },
    { "type-d2h", 0x34, 0x80 },
    { "type-data", 0x46, 0x80 },
    { "type-ff", 0xff, 0xff },
    { "control", 0x27, 0x00 },
};

static void test_fis(const void *data)
{
    unsigned n = GPOINTER_TO_UINT(data);
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(0, 0);

    cmd.fis[0] = bad_fis[n].type;
    cmd.fis[1] = bad_fis[n].flags;
    zt_fails(core, &cmd, 0x51, 0x04);
    zt_fails(core, &cmd, 0x51, 0x04);
    assert_logged("command FIS");
    assert_alive(card);
    zt_quit(card);
}

/* ---- data ---- */

/* Loops of PRDs end, as an error or with the data that they name. */
static void run_loop(ZtCore *core, const ZtPrd *prd, unsigned prds,
                     uint32_t len)
{
    ZtCmd cmd = zt_with_data(zt_ata(ATA_READ_DMA_EXT, 0, 64), 0, len);
    unsigned i;

    cmd.prd = prd;
    cmd.prds = prds;
    cmd.prd_count = 0xffff;
    for (i = 0; i < 64; i++) {
        cmd.slot = i;
        zt_queue(core, &cmd);
    }
    zt_doorbell(core);
    for (i = 0; i < 64; i++) {
        g_assert_cmphex(zt_completion(core) & RXQ_DONE, ==, RXQ_DONE);
    }
}

static void test_prd_loop(void)
{
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    uint64_t table = zt_alloc(card, 4096);
    uint64_t other = zt_alloc(card, 4096);
    ZtPrd to_other = { cpu_to_le64(other), cpu_to_le32(PRD_CHAIN | 0x3fffff) };
    ZtPrd to_table = { cpu_to_le64(table), cpu_to_le32(PRD_CHAIN | 1) };
    ZtPrd to_nobody = { cpu_to_le64(table), cpu_to_le32(PRD_CHAIN) };
    ZtPrd small[2] = { { cpu_to_le64(other + 2048), cpu_to_le32(1) },
                       { cpu_to_le64(other), cpu_to_le32(PRD_CHAIN | 2) } };
    ZtPrd zero = { 0, 0 };

    /* a block that is its own next one */
    qtest_memwrite(card->qts, table, &to_table, sizeof(to_table));
    run_loop(core, &to_table, 1, 0xffffffff);
    /* two that name each other */
    qtest_memwrite(card->qts, table, &to_other, sizeof(to_other));
    qtest_memwrite(card->qts, other, &to_table, sizeof(to_table));
    run_loop(core, &to_table, 1, 64 * ZT_SECTOR);
    /* one byte per round */
    qtest_memwrite(card->qts, other, small, sizeof(small));
    run_loop(core, small, 2, 64 * ZT_SECTOR);
    /* 65535 entries of nothing, and a chain of no entries */
    run_loop(core, &zero, 1, 64 * ZT_SECTOR);
    run_loop(core, &to_nobody, 1, 64 * ZT_SECTOR);
    assert_alive(card);
    zt_quit(card);
}

/*
 * Lists that QEMU cannot map need memory of the host.  All commands of an SSD
 * together get as much as the longest one; the second of two has none left.
 */
static void test_host_memory(void)
{
    static const unsigned entries = 1400, sectors = 65500;
    ZtCard *card = zt_boot("-blockdev driver=null-co,node-name=d,size=%u,"
                           "latency-ns=500000000 " ZT_CARD
                           ",model=cm84,drive=d", 256 * 1024 * 1024);
    ZtCore *core = &card->core[0];
    uint64_t table = zt_alloc(card, entries * sizeof(ZtPrd));
    uint64_t buf = zt_alloc(card, 32768);
    ZtPrd chain = { cpu_to_le64(table), cpu_to_le32(PRD_CHAIN | entries) };
    unsigned i;

    zt_core_start(core);
    for (i = 0; i < entries; i++) {
        ZtPrd prd = { cpu_to_le64(buf), cpu_to_le32(24000) };

        qtest_memwrite(card->qts, table + i * sizeof(prd), &prd, sizeof(prd));
    }
    for (i = 0; i < 2; i++) {
        ZtCmd cmd = zt_with_data(zt_ncq(ATA_READ_FPDMA, i, 0, sectors), 0,
                                 sectors * ZT_SECTOR);

        cmd.prd = &chain;
        cmd.prds = 1;
        zt_queue(core, &cmd);
    }
    zt_doorbell(core);
    qtest_clock_step(card->qts, ZT_COMMAND_NS);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT), ==,
                    CINT_NON_SPEC_NCQ_ERROR);
    assert_alive(card);
    zt_quit(card);
}

/* data_len and what the command moves differ. */
static const struct {
    const char *name;
    uint8_t opcode;
    uint16_t count;
    uint32_t len;               /* data_len */
    uint32_t prd;               /* bytes of the only PRD */
} shorts[] = {
    { "data-len", ATA_READ_DMA_EXT, 8, 4095, 4096 },
    { "data-len-0", ATA_READ_DMA_EXT, 8, 0, 4096 },
    { "prd", ATA_READ_DMA_EXT, 8, 4096, 4095 },
    { "prd-0", ATA_READ_DMA_EXT, 8, 4096, 0 },
    { "write", ATA_WRITE_DMA_EXT, 8, 512, 4096 },
    { "identify", ATA_IDENTIFY, 0, 511, 512 },
    { "65536", ATA_READ_DMA_EXT, 0, 4096, 4096 },
};

static void test_short(const void *data)
{
    unsigned n = GPOINTER_TO_UINT(data);
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 8192);
    ZtPrd prd = { cpu_to_le64(buf), cpu_to_le32(shorts[n].prd) };
    ZtCmd cmd = zt_with_data(zt_ata(shorts[n].opcode, 0, shorts[n].count),
                             0, shorts[n].len);
    unsigned i;

    cmd.prd = &prd;
    cmd.prds = 1;
    qtest_memset(card->qts, buf, 0xdd, 8192);
    for (i = 0; i < 2; i++) {
        zt_queue(core, &cmd);
        zt_doorbell(core);
        zt_assert_chip_error(core, &cmd, zt_completion(core),
                             ERR_DATA_OVER_UNDER, 0);
    }
    /* nothing behind what the lists allow */
    g_assert_cmphex(qtest_readb(card->qts,
                                buf + MIN(shorts[n].len, shorts[n].prd)),
                    ==, 0xdd);
    assert_logged("bytes");
    assert_alive(card);
    zt_quit(card);
}

/* A longer list is fine: the rest stays as it was. */
static void test_long(void)
{
    ZtCard *card = zt_boot_logged("");
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 8192);
    ZtCmd cmd = zt_with_data(zt_ata(ATA_READ_DMA_EXT, 0, 8), buf, 8192);

    qtest_memset(card->qts, buf, 0xdd, 8192);
    zt_good(core, &cmd);
    zt_assert_zero(card, buf, 4096);
    g_assert_cmphex(qtest_readb(card->qts, buf + 4096), ==, 0xdd);
    g_assert_cmpint(zt_log_lines(""), ==, 0);
    zt_quit(card);
}

/* A command in flight keeps what it had read of its slot. */
static void test_overwrite_in_flight(void)
{
    ZtCard *card = zt_boot_logged(",timing=model");
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 8192);
    ZtCmd cmd = zt_with_data(zt_ata(ATA_READ_DMA_EXT, 0, 8), buf, 4096);

    qtest_memset(card->qts, buf, 0xdd, 8192);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    qtest_memset(card->qts, zt_header(core, 0), 0xff, HDR_LEN);
    qtest_memset(card->qts, zt_slot_buf(core, 0), 0xff, SLOT_BUF_LEN);
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD);
    zt_assert_zero(card, buf, 4096);
    g_assert_cmphex(qtest_readb(card->qts, buf + 4096), ==, 0xdd);
    assert_alive(card);
    zt_quit(card);
}

/* Accesses that are not to an aligned dword: no effect, and one line. */
static void test_width(void)
{
    ZtCard *card = zt_boot_logged("");
    const uint64_t reg = card->bar2.addr + MVS_CORE(0) + MVS_PORTS_IMP;
    const uint64_t rom = qpci_iomap(card->pci, 0, NULL).addr;
    g_autofree char *log = NULL;
    unsigned i;

    zt_core_write(&card->core[0], MVS_PORTS_IMP, SCRATCH);
    for (i = 0; i < 100; i++) {
        qtest_writeb(card->qts, reg + i % 4, i);
        qtest_writew(card->qts, reg + i % 2, i);
        g_assert_cmphex(qtest_readb(card->qts, reg + i % 4), ==, 0);
        g_assert_cmphex(qtest_readw(card->qts, reg), ==, 0);
    }
    g_assert_cmphex(zt_core_read(&card->core[0], MVS_PORTS_IMP), ==, SCRATCH);
    assert_logged("32-bit");
    /* QEMU has no line of its own for each of them */
    log = zt_log();
    g_assert_null(strstr(log, "Invalid"));
    /* a 64-bit access is two of 32 */
    qtest_writeq(card->qts, reg + 4, 0x1122334455667788ull);
    g_assert_cmphex(zt_core_read(&card->core[0], MVS_GBL_PORT_TYPE), ==,
                    0x55667788);
    qtest_readb(card->qts, rom + 1);
    qtest_readw(card->qts, rom + 1);
    assert_alive(card);
    zt_quit(card);
}

/* The same mistake after each of many resets: the log comes to an end. */
static void test_log_end(void)
{
    ZtCard *card = zt_boot_logged("");
    unsigned i;

    for (i = 0; i < 300; i++) {
        zt_core_read(&card->core[0], 0x2fc);
        zt_system_reset(card);
    }
    g_assert_cmpint(zt_log_lines("reserved register"), ==, 200);
    g_assert_cmpint(zt_log_lines("no more lines"), ==, 1);
    assert_alive(card);
    zt_quit(card);
}

/* Random values in random registers, over and over. */
static void test_random_writes(void)
{
    ZtCard *card = zt_boot_logged(",timing=model");
    g_autoptr(GRand) rnd = g_rand_new_with_seed(0x9485);
    unsigned i;

    for (i = 0; i < 20000; i++) {
        uint32_t core = MVS_CORE(g_rand_int_range(rnd, 0, 2));
        uint32_t reg = g_rand_int_range(rnd, 0x9c / 4, 0x298 / 4) * 4;
        uint32_t val = g_rand_int(rnd);

        switch (g_rand_int_range(rnd, 0, 4)) {
        case 0:
            val = 0xffffffff;
            break;
        case 1:
            val = 1u << g_rand_int_range(rnd, 0, 32);
            break;
        case 2:
            val &= 0x00ffffff;          /* addresses that exist */
            break;
        }
        zt_write(card, core + reg, val);
        if (i % 100 == 0) {
            qtest_clock_step(card->qts, ZT_COMMAND_NS);
        }
    }
    assert_alive(card);
    zt_quit(card);
}

/* Memory full of noise as rings, lists and tables, with full doorbells. */
static void test_random_memory(void)
{
    ZtCard *card = zt_boot_logged(",timing=model");
    g_autoptr(GRand) rnd = g_rand_new_with_seed(0x1b85);
    g_autofree uint32_t *noise = g_malloc(MVS_SLOTS * HDR_LEN);
    ZtCore *core = &card->core[0];
    unsigned round, i;

    for (round = 0; round < 20; round++) {
        for (i = 0; i < MVS_SLOTS * HDR_LEN / 4; i++) {
            noise[i] = g_rand_int(rnd);
            if (i % 2) {
                noise[i] &= g_rand_int_range(rnd, 0, 8) ? 0 : 3;
            } else {
                noise[i] &= 0x03fffffc;
            }
        }
        qtest_bufwrite(card->qts, core->list, noise, MVS_SLOTS * HDR_LEN);
        for (i = 0; i < core->tx_entries; i++) {
            noise[i] = TXQ(TXQ_STP, g_rand_int_range(rnd, 0, 64),
                           1u << g_rand_int_range(rnd, 0, 4),
                           g_rand_int_range(rnd, 0, MVS_SLOTS));
            if (g_rand_int_range(rnd, 0, 50) == 0) {
                noise[i] = g_rand_int(rnd) & ~0x800u;
            }
        }
        qtest_bufwrite(card->qts, core->tx, noise, core->tx_entries * 4);
        zt_core_write(core, MVS_TX_PROD_IDX, core->tx_entries - 1);
        qtest_clock_step(card->qts, 100 * ZT_COMMAND_NS);
        zt_core_program(core);
    }
    assert_alive(card);
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "msi-to-self", test_msi_to_self },
    { "intx-disable", test_intx_disable },
    { "doorbell", test_doorbell },
    { "ring-size", test_ring_size },
    { "no-rx-ring", test_no_rx_ring },
    { "rx-overrun", test_rx_overrun },
    { "busy", test_busy },
    { "halted-queue", test_halted_queue },
    { "slot-range", test_slot_range },
    { "slot-busy", test_slot_busy },
    { "phy-absent", test_phy_absent },
    { "prd-loop", test_prd_loop },
    { "host-memory", test_host_memory },
    { "long", test_long },
    { "overwrite-in-flight", test_overwrite_in_flight },
    { "width", test_width },
    { "log-end", test_log_end },
    { "random-writes", test_random_writes },
    { "random-memory", test_random_memory },
};

int main(int argc, char **argv)
{
    unsigned i;

    g_test_init(&argc, &argv, NULL);
    zt_add_cases("hostile", cases, ARRAY_SIZE(cases));
    for (i = 0; i < STRUCTURES; i++) {
        zt_add_variant("hostile", "address", structures[i], i, test_address);
    }
    for (i = 0; i < ARRAY_SIZE(accesses); i++) {
        zt_add_variant("hostile", "access", accesses[i].name, i, test_access);
    }
    for (i = 0; i < ARRAY_SIZE(descriptors); i++) {
        zt_add_variant("hostile", "descriptor", descriptors[i].name, i,
                       test_descriptor);
    }
    for (i = 0; i < ARRAY_SIZE(bad_fis); i++) {
        zt_add_variant("hostile", "fis", bad_fis[i].name, i, test_fis);
    }
    for (i = 0; i < ARRAY_SIZE(shorts); i++) {
        zt_add_variant("hostile", "short", shorts[i].name, i, test_short);
    }
    return zt_run_tests();
}

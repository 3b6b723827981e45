/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mini driver: what mvsas does to start a core and to run one command.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "zdrive-qtest.h"

/* Host seconds that a block node of the host may take. */
#define PATIENCE_S      10
#define QUIET_NS        (50 * 1000 * 1000)

static void write64(ZtCore *core, uint32_t lo, uint64_t addr)
{
    zt_core_write(core, lo, addr);
    zt_core_write(core, lo + 4, addr >> 32);
}

/* Appendix A of 88se9485.md without the tuning. */
void zt_core_program(ZtCore *core)
{
    unsigned n;

    zt_core_write(core, MVS_CTL, CCTL_RST);
    g_assert_cmphex(zt_core_read(core, MVS_CTL) & CCTL_RST, ==, 0);

    write64(core, MVS_CMD_LIST_LO, core->list);
    write64(core, MVS_RX_FIS_LO, core->fis);
    zt_core_write(core, MVS_TX_CFG, core->tx_entries);
    write64(core, MVS_TX_LO, core->tx);
    zt_core_write(core, MVS_RX_CFG, core->rx_entries);
    write64(core, MVS_RX_LO, core->rx);
    qtest_writel(core->card->qts, core->rx, MVS_NONE);
    core->tx_next = 0;
    core->rx_last = MVS_NONE;

    for (n = 0; n < MVS_PHYS; n++) {
        zt_core_write(core, MVS_P_INT_STAT(n),
                      zt_core_read(core, MVS_P_INT_STAT(n)));
        zt_core_write(core, MVS_P_INT_MASK(n), PHYEV_MVSAS);
    }
    zt_core_write(core, MVS_PCS, 0xf00 | PCS_CMD_RST);
    zt_core_write(core, MVS_TX_CFG, 0);
    zt_core_write(core, MVS_TX_CFG, core->tx_entries | RING_EN);
    zt_core_write(core, MVS_RX_CFG, core->rx_entries | RING_EN);
    zt_core_write(core, MVS_PCS, 0x59);
    zt_core_write(core, MVS_STP_REG_SET_0, 0xffffffff);
    zt_core_write(core, MVS_INT_MASK, CINT_MVSAS);
}

void zt_core_start_rings(ZtCore *core, unsigned tx_entries,
                         unsigned rx_entries)
{
    ZtCard *card = core->card;

    core->tx_entries = tx_entries;
    core->rx_entries = rx_entries;
    core->tx = zt_alloc(card, tx_entries * 4);
    core->rx = zt_alloc(card, (rx_entries + 1) * 4);
    core->list = zt_alloc(card, MVS_SLOTS * HDR_LEN);
    core->fis = zt_alloc(card, FIS_AREA_LEN);
    core->slots = zt_alloc(card, (uint64_t)MVS_SLOTS * SLOT_BUF_LEN);
    zt_core_program(core);
}

void zt_core_start(ZtCore *core)
{
    zt_core_start_rings(core, 2048, 1024);
}

uint64_t zt_header(ZtCore *core, unsigned slot)
{
    return core->list + slot * HDR_LEN;
}

uint64_t zt_slot_buf(ZtCore *core, unsigned slot)
{
    return core->slots + slot * SLOT_BUF_LEN;
}

ZtCmd zt_ata_features(uint8_t opcode, uint8_t features, uint64_t lba,
                      uint16_t count)
{
    return (ZtCmd) {
        .fis = {
            0x27, 0x80, opcode, features,
            lba, lba >> 8, lba >> 16, 0x40,
            lba >> 24, lba >> 32, lba >> 40, 0,
            count, count >> 8,
        },
    };
}

ZtCmd zt_ata(uint8_t opcode, uint64_t lba, uint16_t count)
{
    return zt_ata_features(opcode, 0, lba, count);
}

ZtCmd zt_on_phy(ZtCmd cmd, unsigned phy)
{
    cmd.phy = phy;
    cmd.reg_set = phy;
    return cmd;
}

ZtCmd zt_with_data(ZtCmd cmd, uint64_t addr, uint32_t len)
{
    cmd.data = addr;
    cmd.len = len;
    return cmd;
}

ZtCmd zt_in_slot(ZtCmd cmd, unsigned slot)
{
    cmd.slot = slot;
    return cmd;
}

ZtCmd zt_cheap(unsigned phy, unsigned slot)
{
    return zt_in_slot(zt_on_phy(zt_ata(ATA_CHECK_POWER, 0, 0), phy), slot);
}

ZtCmd zt_ncq(uint8_t opcode, unsigned tag, uint64_t lba, uint16_t sectors)
{
    ZtCmd cmd = zt_ata_features(opcode, sectors, lba, tag << 3);

    cmd.fis[11] = sectors >> 8;
    cmd.slot = tag;
    return cmd;
}

static bool is_fpdma(const ZtCmd *cmd)
{
    return cmd->fis[2] == ATA_READ_FPDMA || cmd->fis[2] == ATA_WRITE_FPDMA;
}

void zt_prepare(ZtCore *core, const ZtCmd *cmd)
{
    QTestState *qts = core->card->qts;
    uint64_t buf = zt_slot_buf(core, cmd->slot);
    const ZtPrd whole = { cpu_to_le64(cmd->data), cpu_to_le32(cmd->len) };
    const ZtPrd *prd = cmd->prd ? cmd->prd : &whole;
    unsigned prds = cmd->prd ? cmd->prds : cmd->len != 0;
    unsigned count = cmd->prd_count ? cmd->prd_count : prds;
    uint32_t hdr[HDR_LEN / 4] = { 0 };

    hdr[0] = cpu_to_le32(count << 16 | (is_fpdma(cmd) ? HDR_FPDMA : 0));
    hdr[1] = cpu_to_le32(0x01000005);
    hdr[2] = cpu_to_le32(is_fpdma(cmd) ? cmd->fis[12] >> 3 : cmd->slot);
    hdr[3] = cpu_to_le32(cmd->len);
    stq_le_p(&hdr[4], buf);
    stq_le_p(&hdr[8], buf + SLOT_STATUS);
    stq_le_p(&hdr[10], prds ? buf + SLOT_PRD : 0);
    qtest_memwrite(qts, zt_header(core, cmd->slot), hdr, sizeof(hdr));
    qtest_memwrite(qts, buf, cmd->fis, sizeof(cmd->fis));
    if (prds) {
        qtest_memwrite(qts, buf + SLOT_PRD, prd, prds * sizeof(*prd));
    }
    qtest_memset(qts, buf + SLOT_STATUS, 0, 8);
}

void zt_queue_raw(ZtCore *core, uint32_t desc)
{
    qtest_writel(core->card->qts, core->tx + core->tx_next * 4, desc);
    core->tx_next = (core->tx_next + 1) % core->tx_entries;
}

void zt_queue(ZtCore *core, const ZtCmd *cmd)
{
    zt_prepare(core, cmd);
    zt_queue_raw(core, TXQ(TXQ_STP, cmd->reg_set, 1u << cmd->phy, cmd->slot));
}

void zt_doorbell(ZtCore *core)
{
    zt_core_write(core, MVS_TX_PROD_IDX,
                  (core->tx_next + core->tx_entries - 1) % core->tx_entries);
}

bool zt_completed(ZtCore *core)
{
    return qtest_readl(core->card->qts, core->rx) != core->rx_last;
}

/*
 * A few steps of virtual time are enough for most commands.  Some take seconds
 * (SECURITY ERASE UNIT), so the steps grow; and when the host's block layer
 * works, the only thing to do is to look again.
 */
uint32_t zt_completion(ZtCore *core)
{
    QTestState *qts = core->card->qts;
    gint64 end = g_get_monotonic_time() + PATIENCE_S * G_USEC_PER_SEC;
    int64_t step = ZT_COMMAND_NS / 4;

    while (!zt_completed(core)) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        qtest_clock_step(qts, step);
        step = MIN(step + step / 8, 1000 * ZT_COMMAND_NS);
    }
    core->rx_last = (core->rx_last == MVS_NONE ? 0 : core->rx_last + 1) %
                    core->rx_entries;
    return qtest_readl(qts, core->rx + 4 + core->rx_last * 4);
}

void zt_assert_quiet(ZtCore *core)
{
    qtest_clock_step(core->card->qts, QUIET_NS);
    g_assert_false(zt_completed(core));
}

void zt_d2h(ZtCore *core, unsigned reg_set, uint8_t fis[20])
{
    qtest_memread(core->card->qts, core->fis + FIS_SET(reg_set) + FIS_D2H,
                  fis, 20);
}

uint64_t zt_fis_lba(const uint8_t fis[20])
{
    return fis[4] | fis[5] << 8 | fis[6] << 16 | (uint64_t)fis[8] << 24 |
           (uint64_t)fis[9] << 32 | (uint64_t)fis[10] << 40;
}

uint32_t zt_execute(ZtCore *core, const ZtCmd *cmd)
{
    uint32_t entry;

    /* what an earlier command left must not be taken for an answer */
    qtest_memset(core->card->qts,
                 core->fis + FIS_SET(cmd->reg_set) + FIS_D2H, 0xff, 20);
    zt_queue(core, cmd);
    zt_doorbell(core);
    entry = zt_completion(core);
    g_assert_cmphex(RXQ_SLOT(entry), ==, cmd->slot);
    return entry;
}

static void assert_d2h(ZtCore *core, const ZtCmd *cmd, uint8_t status,
                       uint8_t error)
{
    uint8_t fis[20];

    zt_d2h(core, cmd->reg_set, fis);
    g_assert_cmphex(fis[0], ==, 0x34);
    g_assert_cmphex(fis[2], ==, status);
    g_assert_cmphex(fis[3], ==, error);
}

void zt_good(ZtCore *core, const ZtCmd *cmd)
{
    uint32_t entry = zt_execute(core, cmd);

    g_assert_cmphex(entry, ==, RXQ_DONE | RXQ_GOOD | cmd->slot);
    assert_d2h(core, cmd, 0x50, 0);
}

static void assert_error_record(ZtCore *core, unsigned slot, uint32_t err0,
                                uint32_t err1)
{
    QTestState *qts = core->card->qts;
    uint64_t status = zt_slot_buf(core, slot) + SLOT_STATUS;

    g_assert_cmphex(qtest_readl(qts, status), ==, err0);
    g_assert_cmphex(qtest_readl(qts, status + 4), ==, err1);
}

void zt_fails(ZtCore *core, const ZtCmd *cmd, uint8_t status, uint8_t error)
{
    uint32_t entry = zt_execute(core, cmd);

    g_assert_cmphex(entry, ==, RXQ_DONE | RXQ_ERR | cmd->slot);
    assert_error_record(core, cmd->slot, ERR_TFILE, 0);
    assert_d2h(core, cmd, status, error);
}

void zt_assert_chip_error(ZtCore *core, const ZtCmd *cmd, uint32_t entry,
                          uint32_t err0, uint32_t err1)
{
    g_assert_cmphex(entry, ==, RXQ_DONE | RXQ_ERR | cmd->slot);
    assert_error_record(core, cmd->slot, err0, err1);
}

void zt_identify(ZtCore *core, unsigned phy, uint16_t id[256])
{
    ZtCmd cmd = zt_on_phy(zt_ata(ATA_IDENTIFY, 0, 0), phy);
    unsigned i;

    cmd = zt_with_data(cmd, zt_slot_buf(core, 0) + SLOT_DATA, ZT_SECTOR);
    zt_good(core, &cmd);
    qtest_memread(core->card->qts, cmd.data, id, ZT_SECTOR);
    for (i = 0; i < 256; i++) {
        id[i] = le16_to_cpu(id[i]);
    }
}

char *zt_id_string(const uint16_t id[256], unsigned word, unsigned words)
{
    char *s = g_malloc0(2 * words + 1);
    unsigned i;

    for (i = 0; i < words; i++) {
        s[2 * i] = id[word + i] >> 8;
        s[2 * i + 1] = id[word + i];
    }
    return g_strchomp(s);
}

uint64_t zt_id_sectors(const uint16_t id[256])
{
    return id[100] | (uint64_t)id[101] << 16 | (uint64_t)id[102] << 32 |
           (uint64_t)id[103] << 48;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command engine: rings and their indexes, PRDs, register sets, 64-bit
 * addresses, aborts of every kind, and native queueing at full depth.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "zdrive-qtest.h"

#define SMALL       "size=64M"          /* volume of a card for data tests */

static void test_identify(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    g_autoptr(GHashTable) serials = g_hash_table_new_full(g_str_hash,
                                                          g_str_equal, g_free,
                                                          NULL);
    unsigned c, phy;

    for (c = 0; c < MVS_CORES; c++) {
        zt_core_start(&card->core[c]);
        for (phy = 0; phy < MVS_PHYS; phy++) {
            g_autofree char *model = NULL;
            uint16_t id[256];

            zt_identify(&card->core[c], phy, id);
            model = zt_id_string(id, 27, 20);
            g_assert_cmpstr(model, ==, "OCZ Z-DRIVE R4 CM88");
            g_assert_true(g_hash_table_add(serials,
                                           zt_id_string(id, 10, 10)));
        }
    }
    zt_quit(card);
}

/* Index, mirror, entry and interrupt of the very first commands. */
static void test_first_index(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(0, 77);
    unsigned i;

    zt_core_start(core);
    zt_assert_quiet(core);
    g_assert_cmphex(zt_core_read(core, MVS_RX_CONS_IDX), ==, MVS_NONE);
    for (i = 0; i < 3; i++) {
        zt_good(core, &cmd);
        g_assert_cmphex(zt_core_read(core, MVS_TX_CONS_IDX), ==, i);
        g_assert_cmphex(zt_core_read(core, MVS_RX_CONS_IDX), ==, i);
        g_assert_cmphex(qtest_readl(card->qts, core->rx), ==, i);
        g_assert_cmphex(zt_core_read(core, MVS_INT_STAT), ==, CINT_DONE);
    }
    zt_quit(card);
}

/* timing=model: the time of a command, to the nanosecond; off: none. */
static void test_latency(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCmd cmd = zt_cheap(1, 0);

    zt_core_start(&card->core[0]);
    zt_queue(&card->core[0], &cmd);
    zt_doorbell(&card->core[0]);
    qtest_clock_step(card->qts, ZT_CHEAP_NS - 1);
    g_assert_false(zt_completed(&card->core[0]));
    qtest_clock_step(card->qts, 1);
    g_assert_true(zt_completed(&card->core[0]));
    zt_quit(card);

    card = zt_boot(ZT_CARD ",timing=off");
    zt_core_start(&card->core[0]);
    zt_queue(&card->core[0], &cmd);
    zt_doorbell(&card->core[0]);
    g_assert_true(zt_completed(&card->core[0]));
    zt_quit(card);
}

/* Disabled, each part of the engine stops. */
static void test_run_condition(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(0, 0);
    uint8_t fis[20];

    zt_core_start(core);
    zt_core_write(core, MVS_PCS, 0x58);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    zt_assert_quiet(core);
    g_assert_false(zt_slot_active(core, 0));
    /* enabled, it takes what waits */
    zt_core_write(core, MVS_PCS, 0x59);
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD);

    /* without FIS receive the area is left alone */
    zt_core_write(core, MVS_PCS, 0x59 & ~PCS_FIS_RX_EN);
    g_assert_cmphex(zt_execute(core, &cmd), ==, RXQ_DONE | RXQ_GOOD);
    zt_d2h(core, 0, fis);
    g_assert_cmphex(fis[0], ==, 0xff);

    /* a ring that is enabled once more starts at the first entry */
    zt_core_write(core, MVS_PCS, 0x59);
    zt_core_write(core, MVS_TX_CFG, core->tx_entries);
    zt_core_write(core, MVS_TX_CFG, core->tx_entries | RING_EN);
    zt_core_write(core, MVS_RX_CFG, core->rx_entries);
    zt_core_write(core, MVS_RX_CFG, core->rx_entries | RING_EN);
    core->tx_next = 0;
    core->rx_last = MVS_NONE;
    qtest_writel(card->qts, core->rx, MVS_NONE);
    zt_good(core, &cmd);
    g_assert_cmphex(zt_core_read(core, MVS_RX_CONS_IDX), ==, 0);
    zt_quit(card);
}

/* @count commands in batches of @batch by one doorbell each. */
static void run_many(ZtCore *core, unsigned count, unsigned batch)
{
    unsigned done, i, slot = 0;

    for (done = 0; done < count; done += batch) {
        for (i = 0; i < batch; i++) {
            ZtCmd cmd = zt_cheap(i % MVS_PHYS, slot + i);

            zt_queue(core, &cmd);
        }
        zt_doorbell(core);
        for (i = 0; i < batch; i++) {
            g_assert_cmphex(zt_completion(core), ==,
                            RXQ_DONE | RXQ_GOOD | (slot + i));
        }
        slot = (slot + batch) % (MVS_SLOTS - batch);
        g_assert_cmphex(zt_core_read(core, MVS_RX_CONS_IDX), ==,
                        core->rx_last);
    }
}

/* More commands than either ring has entries, by an odd batch size. */
static void test_wrap(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",timing=off");

    zt_core_start(&card->core[0]);
    run_many(&card->core[0], 2048 + 300, 47);
    zt_quit(card);
}

static void test_small_rings(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",timing=off");

    zt_core_start_rings(&card->core[1], 12, 8);
    run_many(&card->core[1], 100, 5);
    zt_quit(card);
}

/* The last one that one doorbell can name: all entries but one. */
static void test_full_ring(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];

    zt_core_start_rings(core, 64, 1024);
    run_many(core, 63 * 3, 63);
    zt_quit(card);
}

/* Write a pattern, read it into another place, compare; both by DMA. */
static void write_and_read(ZtCore *core, unsigned phy, uint64_t lba,
                           unsigned sectors)
{
    ZtCard *card = core->card;
    uint32_t len = sectors * ZT_SECTOR;
    uint64_t out = zt_alloc(card, len);
    uint64_t in = zt_alloc(card, len);
    ZtCmd cmd;

    zt_fill(card, out, len, lba + phy);
    cmd = zt_with_data(zt_ata(ATA_WRITE_DMA_EXT, lba, sectors), out, len);
    cmd = zt_on_phy(cmd, phy);
    zt_good(core, &cmd);
    cmd = zt_with_data(zt_ata(ATA_READ_DMA_EXT, lba, sectors), in, len);
    cmd = zt_on_phy(cmd, phy);
    cmd.prd_count = PRD_MAX;
    zt_good(core, &cmd);
    zt_assert_pattern(card, in, len, lba + phy);
}

/* Everything above 4 GiB: rings, headers, tables, FIS area, data. */
static void test_high_memory(void)
{
    ZtCard *card = zt_boot("-m 6G " ZT_CARD "," SMALL);
    unsigned c;

    card->memory = 0x100000000ull + 0x12345000;
    for (c = 0; c < MVS_CORES; c++) {
        zt_core_start(&card->core[c]);
        write_and_read(&card->core[c], 3 - c, 7, 130);
    }
    zt_quit(card);
}

/* A table that says 255 entries: data_len alone bounds it. */
static void test_prd_count_255(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, PRD_MAX * 4096);
    ZtPrd prd[PRD_MAX];
    ZtCmd cmd = zt_with_data(zt_ata(ATA_IDENTIFY, 0, 0), 0, ZT_SECTOR);
    unsigned i;

    zt_core_start(core);
    for (i = 0; i < PRD_MAX; i++) {
        prd[i].addr = cpu_to_le64(buf + i * 4096);
        prd[i].len = cpu_to_le32(200);
    }
    qtest_memset(card->qts, buf, 0xee, PRD_MAX * 4096);
    cmd.prd = prd;
    cmd.prds = PRD_MAX;
    zt_good(core, &cmd);
    /* 200 + 200 + 112 bytes and no more */
    g_assert_cmphex(qtest_readb(card->qts, buf), ==, 0x40);
    g_assert_cmphex(qtest_readb(card->qts, buf + 200), ==, 0xee);
    g_assert_cmphex(qtest_readb(card->qts, buf + 2 * 4096 + 111), !=, 0xee);
    g_assert_cmphex(qtest_readb(card->qts, buf + 2 * 4096 + 112), ==, 0xee);
    g_assert_cmphex(qtest_readb(card->qts, buf + 3 * 4096), ==, 0xee);
    zt_quit(card);
}

/* Ways to cut 16 sectors into PRDs; a length of 0 is skipped. */
static const struct {
    const char *name;
    uint32_t len[16];
} cuts[] = {
    { "one", { 8192 } },
    { "halves", { 4096, 4096 } },
    { "odd", { 1, 2, 3, 5, 8181 } },
    { "zero", { 0, 4096, 0, 0, 4096 } },
    { "sectors", { 512, 512, 512, 512, 512, 512, 512, 512,
                   512, 512, 512, 512, 512, 512, 512, 512 } },
    { "longer", { 4096, 65536 } },
};

/* The PRDs of cut @n over @buf, each with a gap of 1000 bytes behind it. */
static unsigned cut_prds(unsigned n, uint64_t buf, ZtPrd *prd)
{
    unsigned i, used = 0;

    for (i = 0; i < ARRAY_SIZE(cuts[n].len); i++) {
        prd[i].addr = cpu_to_le64(buf);
        prd[i].len = cpu_to_le32(cuts[n].len[i]);
        buf += cuts[n].len[i] + 1000;
        used = cuts[n].len[i] ? i + 1 : used;
    }
    return used;
}

static void copy_cut(ZtCard *card, unsigned n, uint64_t buf, uint8_t *flat,
                     bool to_guest)
{
    unsigned i, left = 8192;

    for (i = 0; i < ARRAY_SIZE(cuts[n].len) && left; i++) {
        unsigned len = MIN(cuts[n].len[i], left);

        if (len && to_guest) {
            qtest_bufwrite(card->qts, buf, flat, len);
        } else if (len) {
            qtest_bufread(card->qts, buf, flat, len);
        }
        flat += len;
        left -= len;
        buf += cuts[n].len[i] + 1000;
    }
}

static void test_prd_cut(const void *data)
{
    unsigned n = GPOINTER_TO_UINT(data);
    ZtCard *card = zt_boot(ZT_CARD "," SMALL);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 128 * 1024) + 3;
    uint8_t want[8192], got[8192];
    ZtPrd prd[16];
    ZtCmd cmd = zt_with_data(zt_ata(ATA_WRITE_DMA_EXT, 5, 16), 0, 8192);

    zt_core_start(core);
    cmd.prd = prd;
    cmd.prds = cut_prds(n, buf, prd);
    zt_pattern(want, sizeof(want), n);
    copy_cut(card, n, buf, want, true);
    zt_good(core, &cmd);

    qtest_memset(card->qts, buf, 0xee, 100000);
    cmd.fis[2] = ATA_READ_DMA_EXT;
    zt_good(core, &cmd);
    copy_cut(card, n, buf, got, false);
    g_assert_cmpmem(got, sizeof(got), want, sizeof(want));
    /* the gap behind the first one */
    g_assert_cmphex(qtest_readb(card->qts, buf + cuts[n].len[0]), ==, 0xee);
    zt_quit(card);
}

/* Tables in three blocks, chained as mvs_94xx_fix_dma() would. */
static void test_prd_chain(void)
{
    ZtCard *card = zt_boot(ZT_CARD "," SMALL);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 3 * 4096);
    uint64_t table = zt_alloc(card, 4096);
    ZtPrd first[] = {
        { cpu_to_le64(buf), cpu_to_le32(1024) },
        { cpu_to_le64(table), cpu_to_le32(PRD_CHAIN | 3) },
        { cpu_to_le64(~0ull), cpu_to_le32(4096) },      /* never reached */
    };
    ZtPrd second[] = {
        { cpu_to_le64(buf + 1024), cpu_to_le32(1024) },
        { cpu_to_le64(buf + 2048), cpu_to_le32(1024) },
        { cpu_to_le64(table + 1024), cpu_to_le32(PRD_CHAIN | 1) },
    };
    ZtPrd third = { cpu_to_le64(buf + 3072), cpu_to_le32(1024) };
    ZtCmd cmd = zt_with_data(zt_ata(ATA_WRITE_DMA_EXT, 0, 8), 0, 4096);

    zt_core_start(core);
    qtest_memwrite(card->qts, table, second, sizeof(second));
    qtest_memwrite(card->qts, table + 1024, &third, sizeof(third));
    cmd.prd = first;
    cmd.prds = 3;
    zt_fill(card, buf, 4096, 9);
    zt_good(core, &cmd);
    cmd = zt_with_data(zt_ata(ATA_READ_DMA_EXT, 0, 8), buf + 4096, 4096);
    zt_good(core, &cmd);
    zt_assert_pattern(card, buf + 4096, 4096, 9);
    zt_quit(card);
}

/* The largest command there is: 65536 sectors. */
static void test_largest(void)
{
    ZtCard *card = zt_boot("-m 512M " ZT_CARD ",size=512M");
    ZtCore *core = &card->core[0];
    const uint32_t len = 65536 * ZT_SECTOR;
    uint64_t buf = zt_alloc(card, len);
    ZtPrd prd[16];
    ZtCmd cmd = zt_with_data(zt_ata(ATA_WRITE_DMA_EXT, 0, 0), 0, len);
    unsigned i;

    zt_core_start(core);
    for (i = 0; i < 16; i++) {
        prd[i].addr = cpu_to_le64(buf + i * (len / 16));
        prd[i].len = cpu_to_le32(len / 16);
    }
    cmd.prd = prd;
    cmd.prds = 16;
    zt_fill(card, buf, 4096, 1);
    zt_fill(card, buf + len - 4096, 4096, 2);
    zt_good(core, &cmd);
    qtest_memset(card->qts, buf, 0, len);
    cmd.fis[2] = ATA_READ_DMA_EXT;
    zt_good(core, &cmd);
    zt_assert_pattern(card, buf, 4096, 1);
    zt_assert_pattern(card, buf + len - 4096, 4096, 2);
    zt_quit(card);
}

/* Each register set has its own block; enabled or not. */
static void test_register_sets(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    g_autofree uint8_t *area = g_malloc(FIS_AREA_LEN);
    ZtCmd cmd = zt_cheap(0, 0);
    unsigned set, i;

    zt_core_start(core);
    for (set = 0; set < 64; set++) {
        cmd.reg_set = set;
        zt_core_write(core, MVS_STP_REG_SET_0, set & 1 ? 0 : 0xffffffff);
        qtest_memset(card->qts, core->fis, 0xee, FIS_AREA_LEN);
        zt_queue(core, &cmd);
        zt_doorbell(core);
        g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD);
        qtest_bufread(card->qts, core->fis, area, FIS_AREA_LEN);
        for (i = 0; i < FIS_AREA_LEN; i++) {
            bool mine = i >= FIS_SET(set) && i < FIS_SET(set + 1);

            g_assert_true(mine || area[i] == 0xee);
        }
        g_assert_cmphex(area[FIS_SET(set) + FIS_D2H], ==, 0x34);
        g_assert_cmphex(area[FIS_SET(set) + FIS_D2H + 2], ==, 0x50);
        g_assert_cmphex(area[FIS_SET(set) + FIS_D2H + 12], ==, 0xff);
    }
    zt_quit(card);
}

static const unsigned some_slots[] = { 0, 5, 8, 31, 32, 45, 1000, 2047 };

static void test_command_active(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    unsigned i, slot;

    zt_core_start(core);
    for (i = 0; i < ARRAY_SIZE(some_slots); i++) {
        ZtCmd cmd = zt_cheap(i % MVS_PHYS, some_slots[i]);

        zt_queue(core, &cmd);
    }
    g_assert_false(zt_slot_active(core, some_slots[0]));
    zt_doorbell(core);
    for (slot = 0; slot < MVS_SLOTS; slot++) {
        bool expected = false;

        for (i = 0; i < ARRAY_SIZE(some_slots); i++) {
            expected |= some_slots[i] == slot;
        }
        g_assert_true(zt_slot_active(core, slot) == expected);
    }
    for (i = 0; i < ARRAY_SIZE(some_slots); i++) {
        slot = RXQ_SLOT(zt_completion(core));
        g_assert_false(zt_slot_active(core, slot));
    }
    zt_quit(card);
}

/* What ends a command without a completion. */
typedef enum Abort {
    ABORT_ACTIVE,
    ABORT_PHY_RST,
    ABORT_PHY_RST_HARD,
    ABORT_CTL,
    ABORT_DISABLE,
    ABORT_SYSTEM,
} Abort;

static const char *const aborts[] = {
    [ABORT_ACTIVE] = "command-active",
    [ABORT_PHY_RST] = "phy-rst",
    [ABORT_PHY_RST_HARD] = "phy-rst-hard",
    [ABORT_CTL] = "ctl-rst",
    [ABORT_DISABLE] = "phy-disable",
    [ABORT_SYSTEM] = "system-reset",
};

static void do_abort(ZtCore *core, Abort how, unsigned phy,
                     const unsigned *slots, unsigned count)
{
    switch (how) {
    case ABORT_ACTIVE:
        while (count--) {
            zt_cmd_write(core, MVS_COMMAND_ACTIVE + (*slots >> 3),
                         1u << (*slots % 32));
            slots++;
        }
        break;
    case ABORT_PHY_RST:
    case ABORT_PHY_RST_HARD:
        zt_core_write(core, MVS_P_SER_CTLSTAT(phy),
                      how == ABORT_PHY_RST ? PHY_RST : PHY_RST_HARD);
        break;
    case ABORT_CTL:
        zt_core_write(core, MVS_CTL, CCTL_RST);
        break;
    case ABORT_DISABLE:
        zt_vsr_write(core, phy, VSR_PHY_MODE2, MODE2_DISABLED);
        zt_vsr_write(core, phy, VSR_PHY_MODE2, MODE2_ENABLED);
        break;
    case ABORT_SYSTEM:
        zt_system_reset(core->card);
        break;
    }
}

/*
 * Started and waiting commands, reads and others: after the abort the slots
 * are free, and nobody writes to memory that belongs to others again.
 */
static void abort_and_look(ZtCore *core, Abort how)
{
    ZtCard *card = core->card;
    static const unsigned slots[] = { 0, 1, 40, 1500 };
    const unsigned phy = 2;
    uint64_t buf = zt_alloc(card, ARRAY_SIZE(slots) * 4096);
    g_autofree uint8_t *fis = g_malloc(FIS_AREA_LEN);
    uint16_t id[256];
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(slots); i++) {
        ZtCmd cmd = i ? zt_ata(ATA_READ_DMA_EXT, 8 * i, 8)
                      : zt_ata(ATA_IDENTIFY, 0, 0);

        cmd = zt_on_phy(zt_in_slot(cmd, slots[i]), phy);
        cmd = zt_with_data(cmd, buf + i * 4096, i ? 4096 : ZT_SECTOR);
        zt_queue(core, &cmd);
    }
    zt_doorbell(core);
    qtest_clock_step(card->qts, ZT_IN_FLIGHT_NS);
    do_abort(core, how, phy, slots, ARRAY_SIZE(slots));

    for (i = 0; i < ARRAY_SIZE(slots); i++) {
        g_assert_false(zt_slot_active(core, slots[i]));
        qtest_memset(card->qts, zt_slot_buf(core, slots[i]), 0xdd,
                     SLOT_BUF_LEN);
    }
    qtest_memset(card->qts, buf, 0xdd, ARRAY_SIZE(slots) * 4096);
    qtest_memset(card->qts, core->fis, 0xdd, FIS_AREA_LEN);
    zt_assert_quiet(core);
    qtest_bufread(card->qts, core->fis, fis, FIS_AREA_LEN);
    for (i = 0; i < FIS_AREA_LEN; i++) {
        g_assert_cmphex(fis[i], ==, 0xdd);
    }
    for (i = 0; i < ARRAY_SIZE(slots); i++) {
        uint8_t byte[3];

        byte[0] = qtest_readb(card->qts, buf + i * 4096);
        byte[1] = qtest_readb(card->qts, buf + i * 4096 + 511);
        byte[2] = qtest_readb(card->qts,
                              zt_slot_buf(core, slots[i]) + SLOT_STATUS);
        g_assert_cmpmem(byte, 3, "\xdd\xdd\xdd", 3);
    }

    /* the same slots at once again */
    if (how == ABORT_CTL || how == ABORT_SYSTEM) {
        zt_core_program(core);
    }
    zt_identify(core, phy, id);
    g_assert_cmphex(id[0], ==, 0x0040);
    for (i = 0; i < ARRAY_SIZE(slots); i++) {
        ZtCmd cmd = zt_cheap(phy, slots[i]);

        zt_good(core, &cmd);
    }
    zt_assert_quiet(core);
}

static void test_abort(const void *data)
{
    ZtCard *card = zt_boot(ZT_CARD "," SMALL);

    zt_core_start(&card->core[0]);
    abort_and_look(&card->core[0], GPOINTER_TO_UINT(data));
    zt_quit(card);
}

/* The same while the host's block layer works on them. */
static void test_abort_file(const void *data)
{
    g_autofree char *path = zt_tmp_image("abort.img", 64 * 1024 * 1024);
    ZtCard *card = zt_boot("-drive if=none,id=d,format=raw,file=%s " ZT_CARD
                           ",drive=d", path);

    zt_core_start(&card->core[0]);
    abort_and_look(&card->core[0], GPOINTER_TO_UINT(data));
    zt_quit(card);
}

/* Aborting one leaves its neighbours, on its own phy too, alone. */
static void test_abort_one(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    unsigned i;

    zt_core_start(core);
    for (i = 0; i < 8; i++) {
        ZtCmd cmd = zt_cheap(i & 1, i);

        zt_queue(core, &cmd);
    }
    zt_doorbell(core);
    zt_cmd_write(core, MVS_COMMAND_ACTIVE, 1u << 0 | 1u << 4 | 1u << 3);
    for (i = 0; i < 5; i++) {
        unsigned slot = RXQ_SLOT(zt_completion(core));

        g_assert_true(slot != 0 && slot != 4 && slot != 3);
    }
    zt_assert_quiet(core);
    zt_quit(card);
}

/* PHY_RST of one phy: the commands of the others go on. */
static void test_reset_one_phy(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    unsigned phy;

    zt_core_start(core);
    for (phy = 0; phy < MVS_PHYS; phy++) {
        ZtCmd cmd = zt_cheap(phy, phy);

        zt_queue(core, &cmd);
    }
    zt_doorbell(core);
    zt_core_write(core, MVS_P_SER_CTLSTAT(1), PHY_RST);
    for (phy = 0; phy < 3; phy++) {
        g_assert_cmphex(RXQ_SLOT(zt_completion(core)), !=, 1);
    }
    zt_assert_quiet(core);
    zt_quit(card);
}

/* PCS.CMD_RST forgets what was not issued to a device yet. */
static void test_pcs_cmd_rst(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    unsigned slot;
    ZtCmd cmd;

    zt_core_start(core);
    for (slot = 0; slot < 4; slot++) {
        cmd = zt_cheap(0, slot);
        zt_queue(core, &cmd);
    }
    zt_doorbell(core);
    zt_core_write(core, MVS_PCS, 0x59 | PCS_CMD_RST);
    g_assert_cmphex(zt_core_read(core, MVS_PCS), ==, 0x59);
    /* the SSD runs the first one and waits with the others */
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD);
    zt_assert_quiet(core);
    for (slot = 0; slot < 4; slot++) {
        g_assert_false(zt_slot_active(core, slot));
    }

    /* nor is there anything left of what was not even fetched */
    zt_core_write(core, MVS_PCS, 0x58);
    cmd = zt_cheap(0, 9);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    zt_core_write(core, MVS_PCS, 0x58 | PCS_CMD_RST);
    zt_core_write(core, MVS_PCS, 0x59);
    zt_assert_quiet(core);
    cmd = zt_cheap(0, 10);
    zt_good(core, &cmd);
    zt_quit(card);
}

/* ... and nothing that waits is issued on the way. */
static void test_pcs_cmd_rst_mixed(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 4096);
    ZtCmd first = zt_with_data(zt_ncq(ATA_READ_FPDMA, 0, 0, 8), buf, 4096);
    ZtCmd single = zt_cheap(0, 1);
    ZtCmd second = zt_with_data(zt_ncq(ATA_READ_FPDMA, 2, 0, 8), buf, 4096);

    zt_core_start(core);
    zt_queue(core, &first);
    zt_queue(core, &single);
    zt_queue(core, &second);
    zt_doorbell(core);
    zt_core_write(core, MVS_PCS, 0x59 | PCS_CMD_RST);
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD);
    zt_assert_quiet(core);
    zt_quit(card);
}

#define DEPTH       32
#define NCQ_BYTES   8192
#define NCQ_LBA(tag) ((uint64_t)(((tag) * 7 + 3) % DEPTH) * 40)

/* 32 commands on each of 8 SSDs; read back in another order of tags. */
static void run_ncq(ZtCard *card, bool write, uint64_t buf)
{
    bool seen[MVS_CORES][MVS_PHYS * DEPTH] = { };
    unsigned c, i;

    for (c = 0; c < MVS_CORES; c++) {
        for (i = 0; i < MVS_PHYS * DEPTH; i++) {
            unsigned phy = i % MVS_PHYS;
            unsigned tag = i / MVS_PHYS;
            unsigned area = write ? tag : DEPTH - 1 - tag;
            unsigned n = (c * MVS_PHYS + phy) * DEPTH + area;
            ZtCmd cmd = zt_ncq(write ? ATA_WRITE_FPDMA : ATA_READ_FPDMA, tag,
                               NCQ_LBA(area), NCQ_BYTES / ZT_SECTOR);

            cmd = zt_with_data(cmd, buf + n * NCQ_BYTES, NCQ_BYTES);
            cmd = zt_in_slot(zt_on_phy(cmd, phy), phy * DEPTH + tag);
            zt_queue(&card->core[c], &cmd);
        }
    }
    zt_doorbell(&card->core[0]);
    zt_doorbell(&card->core[1]);
    for (c = 0; c < MVS_CORES; c++) {
        for (i = 0; i < MVS_PHYS * DEPTH; i++) {
            uint32_t entry = zt_completion(&card->core[c]);

            g_assert_cmphex(entry & ~0xfffu, ==, RXQ_DONE | RXQ_GOOD);
            g_assert_false(seen[c][RXQ_SLOT(entry)]);
            seen[c][RXQ_SLOT(entry)] = true;
        }
        zt_assert_quiet(&card->core[c]);
    }
}

static void ncq_all(ZtCard *card)
{
    const unsigned total = MVS_CORES * MVS_PHYS * DEPTH;
    uint64_t buf = zt_alloc(card, total * NCQ_BYTES);
    unsigned n;

    zt_core_start(&card->core[0]);
    zt_core_start(&card->core[1]);
    for (n = 0; n < total; n++) {
        zt_fill(card, buf + n * NCQ_BYTES, NCQ_BYTES, n);
    }
    run_ncq(card, true, buf);
    qtest_memset(card->qts, buf, 0, total * NCQ_BYTES);
    run_ncq(card, false, buf);
    for (n = 0; n < total; n++) {
        zt_assert_pattern(card, buf + n * NCQ_BYTES, NCQ_BYTES, n);
    }
}

static void test_ncq(void)
{
    ZtCard *card = zt_boot("-m 256M " ZT_CARD "," SMALL);

    ncq_all(card);
    zt_quit(card);
}

static void test_ncq_file(void)
{
    g_autofree char *path = zt_tmp_image("ncq.img", 64 * 1024 * 1024);
    ZtCard *card = zt_boot("-m 256M -drive if=none,id=d,format=raw,file=%s "
                           ZT_CARD ",drive=d", path);

    ncq_all(card);
    zt_quit(card);
}

/* Queued commands end together, the one that has to run alone after them. */
static void test_ncq_then_single(void)
{
    ZtCard *card = zt_boot(ZT_CARD "," SMALL);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 5 * 4096);
    unsigned tag;
    ZtCmd cmd;

    zt_core_start(core);
    for (tag = 0; tag < 4; tag++) {
        cmd = zt_ncq(ATA_READ_FPDMA, tag, tag * 8, 8);
        cmd = zt_with_data(cmd, buf + tag * 4096, 4096);
        zt_queue(core, &cmd);
    }
    cmd = zt_cheap(0, 100);
    zt_queue(core, &cmd);
    cmd = zt_with_data(zt_ncq(ATA_READ_FPDMA, 5, 40, 8), buf + 4 * 4096, 4096);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    for (tag = 0; tag < 4; tag++) {
        g_assert_cmpint(RXQ_SLOT(zt_completion(core)), <, 4);
    }
    g_assert_cmpint(RXQ_SLOT(zt_completion(core)), ==, 100);
    g_assert_cmpint(RXQ_SLOT(zt_completion(core)), ==, 5);
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "identify", test_identify },
    { "first-index", test_first_index },
    { "latency", test_latency },
    { "run-condition", test_run_condition },
    { "wrap", test_wrap },
    { "small-rings", test_small_rings },
    { "full-ring", test_full_ring },
    { "high-memory", test_high_memory },
    { "prd-count-255", test_prd_count_255 },
    { "prd-chain", test_prd_chain },
    { "largest", test_largest },
    { "register-sets", test_register_sets },
    { "command-active", test_command_active },
    { "abort-one", test_abort_one },
    { "reset-one-phy", test_reset_one_phy },
    { "pcs-cmd-rst", test_pcs_cmd_rst },
    { "pcs-cmd-rst-mixed", test_pcs_cmd_rst_mixed },
    { "ncq", test_ncq },
    { "ncq-file", test_ncq_file },
    { "ncq-then-single", test_ncq_then_single },
};

int main(int argc, char **argv)
{
    unsigned i;

    g_test_init(&argc, &argv, NULL);
    zt_add_cases("ring", cases, ARRAY_SIZE(cases));
    for (i = 0; i < ARRAY_SIZE(cuts); i++) {
        zt_add_variant("ring", "prd-cut", cuts[i].name, i, test_prd_cut);
    }
    for (i = 0; i < ARRAY_SIZE(aborts); i++) {
        zt_add_variant("ring", "abort", aborts[i], i, test_abort);
        zt_add_variant("ring", "abort-file", aborts[i], i, test_abort_file);
    }
    return zt_run_tests();
}

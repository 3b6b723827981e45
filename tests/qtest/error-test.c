/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors of the host's block layer as the guest sees them: the error path of
 * native queueing with log 10h, and error ends of single commands.
 */
#include "qemu/osdep.h"
#include "zdrive-qtest.h"

#define IMAGE_LEN       (64 * 1024 * 1024)
#define SSDS            8

/* The member and the sector of it where errors are. */
#define BAD_PHY         2
#define BAD_LBA         1000
/* LBA as the whole image counts, in volume order. */
#define CHUNK_SECTORS   (ZT_CHUNK / ZT_SECTOR)
#define BAD_SECTOR \
    ((BAD_LBA / CHUNK_SECTORS * SSDS + BAD_PHY) * CHUNK_SECTORS + \
     BAD_LBA % CHUNK_SECTORS)

/* A card over an image that fails requests of @iotype; @sector -1: all. */
static ZtCard *boot(const char *iotype, int sector)
{
    g_autofree char *path = zt_tmp_image("error.img", IMAGE_LEN);
    g_autofree char *where = sector < 0 ? g_strdup("") :
        g_strdup_printf("\"sector\": %d, ", sector);
    ZtCard *card = zt_boot(
        "-blockdev driver=file,filename=%s,node-name=file0 "
        "-blockdev '{\"driver\": \"blkdebug\", \"node-name\": \"bad0\", "
        "\"image\": \"file0\", \"inject-error\": [{\"event\": \"none\", "
        "\"iotype\": \"%s\", %s\"errno\": 5, \"once\": false}]}' "
        ZT_CARD ",drive=bad0", path, iotype, where);

    zt_core_start(&card->core[0]);
    return card;
}

static void assert_lba(ZtCore *core, uint64_t lba)
{
    uint8_t fis[20];

    zt_d2h(core, BAD_PHY, fis);
    g_assert_cmphex(zt_fis_lba(fis), ==, lba);
}

static ZtCmd command(uint8_t opcode, uint64_t lba, uint64_t data)
{
    return zt_on_phy(zt_with_data(zt_ata(opcode, lba, 8), data, 4096),
                     BAD_PHY);
}

static void test_read(void)
{
    ZtCard *card = boot("read", BAD_SECTOR);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 4096);
    ZtCmd cmd = command(ATA_READ_DMA_EXT, BAD_LBA, buf);

    zt_fails(core, &cmd, 0x51, 0x40);
    assert_lba(core, BAD_LBA);
    /* neighbours, and the same LBA of another SSD */
    cmd = command(ATA_READ_DMA_EXT, BAD_LBA - 8, buf);
    zt_good(core, &cmd);
    cmd = zt_on_phy(command(ATA_READ_DMA_EXT, BAD_LBA, buf), BAD_PHY + 1);
    zt_good(core, &cmd);
    /* and still: media errors stay */
    cmd = command(0x24, BAD_LBA, buf);
    zt_fails(core, &cmd, 0x51, 0x40);
    cmd = command(0x42, BAD_LBA, 0);
    cmd.len = 0;
    zt_fails(core, &cmd, 0x51, 0x40);
    zt_quit(card);
}

/* ACS has no code for it: a device fault. */
static void test_write(void)
{
    ZtCard *card = boot("write", BAD_SECTOR);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 4096);
    ZtCmd cmd = command(ATA_WRITE_DMA_EXT, BAD_LBA, buf);

    zt_fails(core, &cmd, 0x71, 0x04);
    cmd = command(ATA_READ_DMA_EXT, BAD_LBA, buf);
    zt_good(core, &cmd);
    zt_quit(card);
}

static void test_flush(void)
{
    ZtCard *card = boot("flush", -1);
    ZtCore *core = &card->core[0];
    ZtCmd cmd = command(ATA_WRITE_DMA_EXT, 0, zt_alloc(card, 4096));

    /* the block layer flushes what was written */
    zt_good(core, &cmd);
    cmd = zt_on_phy(zt_ata(0xea, 0, 0), BAD_PHY);
    zt_fails(core, &cmd, 0x71, 0x04);
    cmd.fis[2] = 0xe7;
    zt_fails(core, &cmd, 0x71, 0x04);
    zt_quit(card);
}

static void test_standby_flush(void)
{
    ZtCard *card = boot("flush", -1);
    ZtCore *core = &card->core[0];
    ZtCmd cmd = command(ATA_WRITE_DMA_EXT, 0, zt_alloc(card, 4096));

    zt_good(core, &cmd);
    cmd = zt_on_phy(zt_ata(0xe0, 0, 0), BAD_PHY);
    zt_fails(core, &cmd, 0x71, 0x04);
    zt_quit(card);
}

/* Wait for the chip to report an NCQ error of register set @set. */
static void wait_ncq_error(ZtCore *core, unsigned set)
{
    gint64 end = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;
    const uint32_t reg = set < 32 ? MVS_NON_NCQ_ERR_0 : MVS_NON_NCQ_ERR_1;

    while (!(zt_core_read(core, MVS_INT_STAT) & CINT_NON_SPEC_NCQ_ERROR)) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        qtest_clock_step(core->card->qts, ZT_COMMAND_NS / 4);
    }
    g_assert_cmphex(zt_core_read(core, reg), ==, 1u << (set % 32));
    g_assert_cmphex(zt_core_read(core, MVS_NON_NCQ_ERR_0 +
                                       MVS_NON_NCQ_ERR_1 - reg), ==, 0);
}

/* Log 10h of @phy into @log; its bytes sum up to 0. */
static void read_ncq_log(ZtCore *core, unsigned phy, uint8_t log[512])
{
    uint64_t buf = zt_slot_buf(core, 1000) + SLOT_DATA;
    ZtCmd cmd = zt_on_phy(zt_ata(ATA_READ_LOG_EXT, 0x10, 1), phy);
    uint8_t sum = 0;
    unsigned i;

    cmd = zt_in_slot(zt_with_data(cmd, buf, ZT_SECTOR), 1000);
    zt_good(core, &cmd);
    qtest_memread(core->card->qts, buf, log, ZT_SECTOR);
    for (i = 0; i < ZT_SECTOR; i++) {
        sum += log[i];
    }
    g_assert_cmpint(sum, ==, 0);
}

#define TAGS        8
#define FAILING_TAG 3

/* Eight reads of which the one with FAILING_TAG meets the bad sector. */
static void queue_reads(ZtCore *core, unsigned set, uint64_t buf)
{
    unsigned i;

    for (i = 0; i < TAGS; i++) {
        unsigned tag = (FAILING_TAG + i) % TAGS;
        ZtCmd cmd = zt_ncq(ATA_READ_FPDMA, tag, tag == FAILING_TAG ?
                           BAD_LBA : 8 * tag, 8);

        cmd = zt_with_data(zt_on_phy(cmd, BAD_PHY), buf + tag * 4096, 4096);
        cmd.reg_set = set;
        zt_queue(core, &cmd);
    }
    zt_doorbell(core);
}

/* 88se9485.md 4.6, for a set of either error register. */
static void ncq_error(unsigned set)
{
    ZtCard *card = boot("read", BAD_SECTOR);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, TAGS * 4096);
    ZtCmd other = zt_cheap(0, 500);
    uint8_t log[512];
    uint8_t sdb[8];
    unsigned tag, before = 0;

    zt_core_write(core, MVS_STP_REG_SET_1, 0xffffffff);
    zt_write(card, MVS_GBL_PI, 0xc0000);
    queue_reads(core, set, buf);
    /* another SSD of the core, in flight meanwhile */
    zt_queue(core, &other);
    zt_doorbell(core);
    wait_ncq_error(core, set);
    g_assert_true(zt_intx(card));

    /* good ones may have come before; the failed one is not among them */
    qtest_clock_step(card->qts, 2 * ZT_COMMAND_NS);
    while (zt_completed(core)) {
        uint32_t entry = zt_completion(core);

        g_assert_cmphex(entry & ~0xfffu, ==, RXQ_DONE | RXQ_GOOD);
        g_assert_cmphex(RXQ_SLOT(entry), !=, FAILING_TAG);
        before += RXQ_SLOT(entry) == 500;
    }
    g_assert_cmpint(before, ==, 1);
    for (tag = 0; tag < TAGS; tag++) {
        g_assert_false(zt_slot_active(core, tag));
    }
    qtest_memset(card->qts, buf, 0xdd, TAGS * 4096);
    zt_assert_quiet(core);
    for (tag = 0; tag < TAGS; tag++) {
        g_assert_cmphex(qtest_readl(card->qts, buf + tag * 4096), ==,
                        0xdddddddd);
    }
    qtest_memread(card->qts, core->fis + FIS_SET(set) + FIS_SDB, sdb, 8);
    g_assert_cmphex(sdb[0], ==, 0xa1);
    g_assert_cmphex(sdb[2] & 1, ==, 1);
    g_assert_cmphex(sdb[3], ==, 0x40);

    /* both levels are write-1-to-clear */
    zt_core_write(core, set < 32 ? MVS_NON_NCQ_ERR_0 : MVS_NON_NCQ_ERR_1, 0);
    wait_ncq_error(core, set);
    zt_core_write(core, set < 32 ? MVS_NON_NCQ_ERR_0 : MVS_NON_NCQ_ERR_1,
                  1u << (set % 32));
    zt_core_write(core, MVS_INT_STAT, CINT_NON_SPEC_NCQ_ERROR | CINT_DONE);
    g_assert_cmphex(zt_core_read(core, MVS_NON_NCQ_ERR_0), ==, 0);
    g_assert_cmphex(zt_core_read(core, MVS_NON_NCQ_ERR_1), ==, 0);
    g_assert_cmphex(zt_core_read(core, MVS_INT_STAT) &
                    CINT_NON_SPEC_NCQ_ERROR, ==, 0);

    read_ncq_log(core, BAD_PHY, log);
    g_assert_cmphex(log[0], ==, FAILING_TAG);
    g_assert_cmphex(log[2] & 0x41, ==, 0x41);
    g_assert_cmphex(log[3], ==, 0x40);
    g_assert_cmphex(log[4] | log[5] << 8 | log[6] << 16, ==, BAD_LBA);
    zt_quit(card);
}

static void test_ncq(void)
{
    ncq_error(BAD_PHY);
}

static void test_ncq_high_set(void)
{
    ncq_error(45);
}

/* Let the errors of queue_reads() happen and acknowledge them. */
static void take_ncq_error(ZtCore *core, uint64_t buf)
{
    queue_reads(core, BAD_PHY, buf);
    wait_ncq_error(core, BAD_PHY);
    while (zt_completed(core)) {
        zt_completion(core);
    }
    zt_core_write(core, MVS_NON_NCQ_ERR_0, 0xffffffff);
    zt_core_write(core, MVS_INT_STAT, 0xffffffff);
}

/*
 * SATA 3.0 13.6.3: after the error the SSD takes no queued command before the
 * log is read or the link is reset.  Other commands it serves.
 */
static void test_ncq_recovery(void)
{
    ZtCard *card = boot("read", BAD_SECTOR);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, TAGS * 4096);
    ZtCmd queued = zt_ncq(ATA_READ_FPDMA, 9, 0, 8);
    ZtCmd cheap = zt_cheap(BAD_PHY, 100);
    uint8_t log[512];

    queued = zt_on_phy(zt_with_data(queued, buf, 4096), BAD_PHY);
    take_ncq_error(core, buf);
    zt_queue(core, &queued);
    zt_doorbell(core);
    zt_assert_quiet(core);
    g_assert_true(zt_slot_active(core, 9));
    zt_good(core, &cheap);
    read_ncq_log(core, BAD_PHY, log);
    g_assert_cmphex(log[0], ==, FAILING_TAG);
    g_assert_cmphex(zt_completion(core), ==, RXQ_DONE | RXQ_GOOD | 9);

    take_ncq_error(core, buf);
    zt_queue(core, &queued);
    zt_doorbell(core);
    zt_assert_quiet(core);
    zt_core_write(core, MVS_P_SER_CTLSTAT(BAD_PHY), PHY_RST);
    zt_assert_quiet(core);
    g_assert_false(zt_slot_active(core, 9));
    zt_good(core, &queued);
    zt_quit(card);
}

/* A range that does not exist: an error of the command, same path. */
static void test_ncq_range(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",size=%u", IMAGE_LEN);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 4096);
    ZtCmd cmd = zt_ncq(ATA_READ_FPDMA, 17, IMAGE_LEN / SSDS / ZT_SECTOR, 8);
    uint8_t log[512];

    zt_core_start(core);
    cmd = zt_on_phy(zt_with_data(cmd, buf, 4096), BAD_PHY);
    zt_queue(core, &cmd);
    zt_doorbell(core);
    wait_ncq_error(core, BAD_PHY);
    zt_assert_quiet(core);
    read_ncq_log(core, BAD_PHY, log);
    g_assert_cmphex(log[0], ==, 17);
    g_assert_cmphex(log[3], ==, 0x10);
    zt_quit(card);
}

/* The same tag twice: an error of the driver's, which ends all of them. */
static void test_ncq_tag_twice(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",size=%u", IMAGE_LEN);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 8192);
    ZtCmd cmd = zt_ncq(ATA_READ_FPDMA, 4, 0, 8);
    uint8_t log[512];

    zt_core_start(core);
    cmd = zt_on_phy(zt_with_data(cmd, buf, 4096), BAD_PHY);
    zt_queue(core, &cmd);
    cmd.slot = 77;
    cmd.data = buf + 4096;
    zt_queue(core, &cmd);
    zt_doorbell(core);
    wait_ncq_error(core, BAD_PHY);
    zt_assert_quiet(core);
    g_assert_false(zt_slot_active(core, 4));
    g_assert_false(zt_slot_active(core, 77));
    read_ncq_log(core, BAD_PHY, log);
    g_assert_cmphex(log[3], ==, 0x04);
    zt_quit(card);
}

/* Without a failure the log says so. */
static void test_ncq_log_empty(void)
{
    ZtCard *card = zt_boot(ZT_CARD);
    uint8_t log[512];

    zt_core_start(&card->core[0]);
    read_ncq_log(&card->core[0], 1, log);
    g_assert_cmphex(log[0] & 0x80, ==, 0x80);
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "read", test_read },
    { "write", test_write },
    { "flush", test_flush },
    { "standby-flush", test_standby_flush },
    { "ncq", test_ncq },
    { "ncq-high-set", test_ncq_high_set },
    { "ncq-recovery", test_ncq_recovery },
    { "ncq-range", test_ncq_range },
    { "ncq-tag-twice", test_ncq_tag_twice },
    { "ncq-log-empty", test_ncq_log_empty },
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    zt_add_cases("error", cases, ARRAY_SIZE(cases));
    return zt_run_tests();
}

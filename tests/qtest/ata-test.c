/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SSD as an ATA device: IDENTIFY, every opcode, settings, SMART, logs,
 * power modes and security.  Paragraphs of ACS-2 (T13/2015-D) are quoted.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "zdrive-qtest.h"

#define PHY         1

static ZtCard *boot(const char *props)
{
    ZtCard *card = zt_boot(ZT_CARD ",size=64M%s", props);

    zt_core_start(&card->core[0]);
    return card;
}

static uint64_t page_addr(ZtCore *core)
{
    return zt_slot_buf(core, 0) + SLOT_DATA;
}

/* A command without data, by its registers. */
static ZtCmd plain(uint8_t opcode, uint8_t features, uint64_t lba,
                   uint16_t count)
{
    return zt_on_phy(zt_ata_features(opcode, features, lba, count), PHY);
}

static void good(ZtCore *core, ZtCmd cmd)
{
    zt_good(core, &cmd);
}

static void aborted(ZtCore *core, ZtCmd cmd)
{
    zt_fails(core, &cmd, 0x51, 0x04);
}

/* The same with one page of data, to or from the guest. */
static ZtCmd with_page(ZtCore *core, ZtCmd cmd)
{
    return zt_with_data(cmd, page_addr(core), ZT_SECTOR);
}

static void read_page(ZtCore *core, ZtCmd cmd, uint8_t page[ZT_SECTOR])
{
    good(core, with_page(core, cmd));
    qtest_memread(core->card->qts, page_addr(core), page, ZT_SECTOR);
}

static void write_page(ZtCore *core, ZtCmd cmd, const uint8_t page[ZT_SECTOR])
{
    qtest_memwrite(core->card->qts, page_addr(core), page, ZT_SECTOR);
    good(core, with_page(core, cmd));
}

static uint16_t identify_word(ZtCore *core, unsigned word)
{
    uint16_t id[256];

    zt_identify(core, PHY, id);
    return id[word];
}

static void assert_checksum(const uint8_t page[ZT_SECTOR])
{
    uint8_t sum = 0;
    unsigned i;

    for (i = 0; i < ZT_SECTOR; i++) {
        sum += page[i];
    }
    g_assert_cmpint(sum, ==, 0);
}

/* ---- IDENTIFY DEVICE ---- */

static const struct {
    uint16_t word, mask, value;
    const char *what;
} words[] = {
    { 0, 0x8000, 0, "ATA device" },
    { 2, 0xffff, 0xc837, "complete, needs no spin-up" },
    { 47, 0x00ff, 16, "16 sectors per READ MULTIPLE" },
    { 49, 0x0300, 0x0300, "LBA and DMA" },
    { 53, 0x0006, 0x0006, "words 64-70 and 88 valid" },
    { 59, 0x01ff, 0x0101, "multi 1" },
    { 69, 0x4000, 0x4000, "deterministic read after TRIM" },
    { 75, 0x001f, 31, "queue depth 32" },
    { 76, 0x010e, 0x010e, "NCQ; 1.5, 3 and 6 Gb/s" },
    { 77, 0x000e, 0x0006, "running at 6 Gb/s" },
    { 80, 0x0100, 0x0100, "ATA8-ACS" },
    { 82, 0x006b, 0x006b, "SMART, security, power, cache, look-ahead" },
    { 83, 0xf409, 0x7409, "FLUSH CACHE EXT, 48-bit, APM, microcode" },
    { 84, 0xc160, 0x4160, "WWN, FUA, GPL" },
    { 85, 0x0061, 0x0021, "SMART and write cache on, look-ahead off" },
    { 86, 0x3408, 0x3408, "flush, 48-bit and APM on" },
    { 87, 0xc160, 0x4160, "WWN, FUA, GPL" },
    { 88, 0x7f7f, 0x407f, "UDMA 6" },
    { 91, 0x00ff, 0x00fe, "APM level 254" },
    { 105, 0xffff, 1, "one block of TRIM ranges" },
    { 106, 0xf000, 0x4000, "512-byte sectors" },
    { 128, 0x000f, 0x0001, "security disabled, not frozen" },
    { 169, 0x0001, 1, "TRIM" },
    { 206, 0x0001, 1, "SCT" },
    { 217, 0xffff, 1, "not rotating" },
    { 222, 0xf000, 0x1000, "serial" },
};

static void test_identify(void)
{
    ZtCard *card = boot("");
    uint8_t page[ZT_SECTOR];
    uint16_t id[256];
    unsigned i;

    zt_identify(&card->core[0], PHY, id);
    for (i = 0; i < ARRAY_SIZE(words); i++) {
        if ((id[words[i].word] & words[i].mask) != words[i].value) {
            g_test_message("word %u, %s", words[i].word, words[i].what);
        }
        g_assert_cmphex(id[words[i].word] & words[i].mask, ==,
                        words[i].value);
    }
    /* 7.12.7.99: integrity word */
    g_assert_cmphex(id[255] & 0xff, ==, 0xa5);
    read_page(&card->core[0], plain(ATA_IDENTIFY, 0, 0, 0), page);
    assert_checksum(page);
    zt_quit(card);
}

/* ---- opcodes ---- */

/* All that the SSD may know; everything else it aborts. */
static const uint8_t known[] = {
    0x06, 0x20, 0x21, 0x24, 0x25, 0x27, 0x29, 0x2f, 0x30, 0x31, 0x34, 0x35,
    0x37, 0x39, 0x3d, 0x3f, 0x40, 0x41, 0x42, 0x47, 0x57, 0x60, 0x61, 0x90,
    0x91, 0x92, 0x93, 0xb0, 0xb1, 0xc4, 0xc5, 0xc6, 0xc8, 0xc9, 0xca, 0xcb,
    0xce, 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xea, 0xec,
    0xef, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf8, 0xf9,
};

/* Those that ask for no answer but a reset. */
static bool ends_in_reset(uint8_t opcode)
{
    return opcode == ATA_READ_FPDMA || opcode == ATA_WRITE_FPDMA ||
           opcode == 0xe6;
}

static void test_all_opcodes(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    unsigned opcode, sectors;

    sectors = identify_word(core, 100);
    for (opcode = 0; opcode < 256; opcode++) {
        ZtCmd cmd = with_page(core, plain(opcode, 0, 0, 1));

        qtest_memset(card->qts, cmd.data, 0, ZT_SECTOR);
        if (!memchr(known, opcode, sizeof(known))) {
            aborted(core, cmd);
        } else if (ends_in_reset(opcode)) {
            zt_queue(core, &cmd);
            zt_doorbell(core);
            qtest_clock_step(card->qts, 10 * ZT_COMMAND_NS);
            while (zt_completed(core)) {
                zt_completion(core);
            }
            zt_core_write(core, MVS_P_SER_CTLSTAT(PHY), PHY_RST);
            zt_core_write(core, MVS_NON_NCQ_ERR_0, 0xffffffff);
        } else {
            g_assert_cmphex(zt_execute(core, &cmd) & RXQ_DONE, ==, RXQ_DONE);
        }
        /* still there; and no pair of commands that only works as one */
        good(core, zt_cheap(PHY, 0));
    }
    g_assert_cmpint(identify_word(core, 100), ==, sectors);
    good(core, zt_with_data(plain(ATA_READ_DMA_EXT, 0, 0, 1),
                            page_addr(core), ZT_SECTOR));
    zt_quit(card);
}

/* 7.9: the signature of an ATA device */
static void test_diagnostic(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = plain(0x90, 0, 0, 0);
    uint8_t fis[20];

    g_assert_cmphex(zt_execute(core, &cmd), ==, RXQ_DONE | RXQ_GOOD);
    zt_d2h(core, PHY, fis);
    g_assert_cmphex(fis[2] & 0x89, ==, 0);
    g_assert_cmphex(fis[3], ==, 0x01);
    g_assert_cmphex(zt_fis_lba(fis), ==, 1);
    g_assert_cmphex(fis[12], ==, 1);
    zt_quit(card);
}

static void test_buffer(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    uint8_t out[ZT_SECTOR], in[ZT_SECTOR];

    zt_pattern(out, ZT_SECTOR, 4);
    write_page(core, plain(0xe8, 0, 0, 0), out);
    read_page(core, plain(0xe4, 0, 0, 0), in);
    g_assert_cmpmem(in, ZT_SECTOR, out, ZT_SECTOR);
    zt_quit(card);
}

/* ---- settings ---- */

/* One SET FEATURES or SET MULTIPLE and what IDENTIFY says afterwards. */
static const struct {
    const char *what;
    uint8_t opcode, features;
    uint16_t count;
    bool good;
    uint16_t word, mask, value;
} settings[] = {
    { "write cache off", 0xef, 0x82, 0, true, 85, 0x20, 0 },
    { "write cache on", 0xef, 0x02, 0, true, 85, 0x20, 0x20 },
    { "look-ahead on", 0xef, 0xaa, 0, true, 85, 0x40, 0x40 },
    { "look-ahead off", 0xef, 0x55, 0, true, 85, 0x40, 0 },
    { "APM off", 0xef, 0x85, 0, true, 86, 0x08, 0 },
    { "APM 80h", 0xef, 0x05, 0x80, true, 91, 0xff, 0x80 },
    { "APM is on", 0xef, 0x05, 0x80, true, 86, 0x08, 0x08 },
    { "APM 00h", 0xef, 0x05, 0x00, false, 91, 0xff, 0x80 },
    { "APM FFh", 0xef, 0x05, 0xff, false, 91, 0xff, 0x80 },
    { "UDMA 2", 0xef, 0x03, 0x42, true, 88, 0x7f00, 0x0400 },
    { "UDMA 5", 0xef, 0x03, 0x45, true, 88, 0x7f00, 0x2000 },
    { "UDMA 7", 0xef, 0x03, 0x47, false, 88, 0x7f00, 0x2000 },
    { "MWDMA 2", 0xef, 0x03, 0x22, true, 63, 0x0700, 0x0400 },
    { "no UDMA then", 0xef, 0x03, 0x22, true, 88, 0x7f00, 0 },
    { "MWDMA 3", 0xef, 0x03, 0x23, false, 63, 0x0700, 0x0400 },
    { "PIO 4", 0xef, 0x03, 0x0c, true, 63, 0x0700, 0x0400 },
    { "PIO 5", 0xef, 0x03, 0x0d, false, 63, 0x0700, 0x0400 },
    { "UDMA 6", 0xef, 0x03, 0x46, true, 88, 0x7f00, 0x4000 },
    { "unknown mode", 0xef, 0x03, 0x80, false, 88, 0x7f00, 0x4000 },
    { "DIPM on", 0xef, 0x10, 3, true, 79, 0x08, 0x08 },
    { "DIPM off", 0xef, 0x90, 3, true, 79, 0x08, 0 },
    { "unknown SATA feature", 0xef, 0x10, 0x7f, false, 79, 0x08, 0 },
    { "multiple 16", 0xc6, 0, 16, true, 59, 0x1ff, 0x110 },
    { "multiple 3", 0xc6, 0, 3, false, 59, 0x1ff, 0x110 },
    { "multiple 32", 0xc6, 0, 32, false, 59, 0x1ff, 0x110 },
    { "multiple 1", 0xc6, 0, 1, true, 59, 0x1ff, 0x101 },
    { "unknown feature", 0xef, 0x77, 0, false, 85, 0x20, 0x20 },
    { "unknown feature 00h", 0xef, 0x00, 0, false, 85, 0x20, 0x20 },
};

static void test_settings(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(settings); i++) {
        ZtCmd cmd = plain(settings[i].opcode, settings[i].features, 0,
                          settings[i].count);
        uint16_t word;

        if (settings[i].good) {
            good(core, cmd);
        } else {
            aborted(core, cmd);
        }
        word = identify_word(core, settings[i].word);
        if ((word & settings[i].mask) != settings[i].value) {
            g_test_message("%s", settings[i].what);
        }
        g_assert_cmphex(word & settings[i].mask, ==, settings[i].value);
    }
    zt_quit(card);
}

/* Multiple mode off: its commands are aborted (7.47). */
static void test_multiple_off(void)
{
    static const uint8_t multiple[] = { 0x29, 0x39, 0xc4, 0xc5, 0xce };
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    unsigned i;

    good(core, plain(0xc6, 0, 0, 0));
    for (i = 0; i < ARRAY_SIZE(multiple); i++) {
        aborted(core, with_page(core, plain(multiple[i], 0, 0, 1)));
    }
    good(core, plain(0xc6, 0, 0, 8));
    for (i = 0; i < ARRAY_SIZE(multiple); i++) {
        good(core, with_page(core, plain(multiple[i], 0, 0, 1)));
    }
    zt_quit(card);
}

/* SATA 13.5: settings stay over a COMRESET if that is asked for. */
static void test_settings_comreset(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];

    good(core, plain(0xef, 0x10, 0, 6));
    good(core, plain(0xef, 0x82, 0, 0));
    zt_core_write(core, MVS_P_SER_CTLSTAT(PHY), PHY_RST);
    g_assert_cmphex(identify_word(core, 85) & 0x20, ==, 0);
    good(core, plain(0xef, 0x90, 0, 6));
    zt_core_write(core, MVS_P_SER_CTLSTAT(PHY), PHY_RST);
    g_assert_cmphex(identify_word(core, 85) & 0x20, ==, 0x20);
    zt_quit(card);
}

/* ---- SMART ---- */

#define SMART       0xb0
#define SMART_KEY   0xc24f00

static ZtCmd smart(uint8_t features, unsigned log, unsigned count)
{
    return plain(SMART, features, SMART_KEY | log, count);
}

static const struct {
    const char *model;
    bool supercap;
} smart_models[] = { { "cm88", false }, { "rm88", true } };

/* Values and thresholds name the same attributes; none has failed. */
static void test_smart_attributes(const void *data)
{
    unsigned m = GPOINTER_TO_UINT(data);
    g_autofree char *props = g_strdup_printf(",model=%s",
                                             smart_models[m].model);
    ZtCard *card = boot(props);
    ZtCore *core = &card->core[0];
    uint8_t values[ZT_SECTOR], limits[ZT_SECTOR];
    bool seen[256] = { };
    unsigned i;

    read_page(core, smart(0xd0, 0, 0), values);
    read_page(core, smart(0xd1, 0, 0), limits);
    assert_checksum(values);
    assert_checksum(limits);
    g_assert_cmpint(lduw_le_p(values), ==, 10);
    for (i = 0; i < 30; i++) {
        const uint8_t *value = values + 2 + 12 * i;
        const uint8_t *limit = limits + 2 + 12 * i;

        g_assert_cmpint(value[0], ==, limit[0]);
        g_assert_false(value[0] && seen[value[0]]);
        seen[value[0]] = true;
        if (value[0] && limit[1]) {
            g_assert_cmpint(value[3], >, limit[1]);
        }
    }
    g_assert_true(seen[1] && seen[5] && seen[9] && seen[12] && seen[174] &&
                  seen[194] && seen[231] && seen[241] && seen[242]);
    g_assert_true(seen[235] == smart_models[m].supercap);
    zt_quit(card);
}

/* Raw value of attribute @id. */
static uint64_t raw_value(ZtCore *core, uint8_t id)
{
    uint8_t page[ZT_SECTOR];
    unsigned i;

    read_page(core, smart(0xd0, 0, 0), page);
    for (i = 0; i < 30; i++) {
        const uint8_t *p = page + 2 + 12 * i;

        if (p[0] == id) {
            return ldl_le_p(p + 5) | (uint64_t)lduw_le_p(p + 9) << 32;
        }
    }
    g_assert_not_reached();
}

static void test_smart_counters(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    const int64_t hour = 3600ll * 1000 * 1000 * 1000;

    g_assert_cmpint(raw_value(core, 9) & 0xffffffff, ==, 0);
    g_assert_cmpint(raw_value(core, 12), ==, 1);
    qtest_clock_step(card->qts, 3 * hour);
    g_assert_cmpint(raw_value(core, 9) & 0xffffffff, ==, 3);
    zt_quit(card);
}

static void test_smart_status(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    uint8_t fis[20];

    good(core, smart(0xda, 0, 0));
    zt_d2h(core, PHY, fis);
    g_assert_cmphex(zt_fis_lba(fis) & 0xffff00, ==, SMART_KEY);

    /* 7.48.1: the key, and disabled, everything but ENABLE is aborted */
    aborted(core, plain(SMART, 0xda, 0, 0));
    aborted(core, smart(0x55, 0, 0));
    good(core, smart(0xd9, 0, 0));
    g_assert_cmphex(identify_word(core, 85) & 1, ==, 0);
    aborted(core, smart(0xda, 0, 0));
    aborted(core, with_page(core, smart(0xd0, 0, 0)));
    good(core, smart(0xd8, 0, 0));
    good(core, smart(0xda, 0, 0));
    g_assert_cmphex(identify_word(core, 85) & 1, ==, 1);
    zt_quit(card);
}

/* A short self-test runs in virtual time and ends in the log. */
static void test_selftest(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    uint8_t page[ZT_SECTOR];

    good(core, smart(0xd4, 1, 0));
    read_page(core, smart(0xd0, 0, 0), page);
    g_assert_cmphex(page[363] & 0xf0, ==, 0xf0);
    qtest_clock_step(card->qts, page[372] * 60ll * 1000 * 1000 * 1000);
    read_page(core, smart(0xd0, 0, 0), page);
    g_assert_cmphex(page[363], ==, 0);
    read_page(core, plain(ATA_READ_LOG_EXT, 0, 0x07, 1), page);
    assert_checksum(page);
    g_assert_cmphex(page[4], ==, 1);            /* the short one */
    g_assert_cmphex(page[5] & 0xf0, ==, 0);     /* without error */
    zt_quit(card);
}

/* ---- logs ---- */

static const struct {
    const char *name;
    uint8_t opcode;
} read_logs[] = { { "pio", ATA_READ_LOG_EXT }, { "dma", 0x47 } };

static ZtCmd read_log(uint8_t opcode, uint8_t log, unsigned page,
                      unsigned count)
{
    return plain(opcode, 0, log | (page & 0xff) << 8 |
                            (uint64_t)(page >> 8) << 32, count);
}

/* What the directory lists can be read to its last page and no further. */
static void test_log_directory(const void *data)
{
    uint8_t opcode = read_logs[GPOINTER_TO_UINT(data)].opcode;
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    uint8_t directory[ZT_SECTOR];
    unsigned log;

    read_page(core, read_log(opcode, 0, 0, 1), directory);
    g_assert_cmphex(lduw_le_p(directory), ==, 1);
    g_assert_cmpint(lduw_le_p(directory + 2 * 0x10), ==, 1);
    for (log = 1; log < 256; log++) {
        unsigned pages = lduw_le_p(directory + 2 * log);

        if (pages && log != 0xe1) {
            /* SCT data waits for an SCT command */
            good(core, with_page(core, read_log(opcode, log, pages - 1, 1)));
        }
        aborted(core, with_page(core, read_log(opcode, log, pages, 1)));
        aborted(core, with_page(core, read_log(opcode, log, 0xffff, 1)));
    }
    aborted(core, with_page(core, read_log(opcode, 0, 0, 0)));
    zt_quit(card);
}

static void test_smart_log_directory(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    uint8_t directory[ZT_SECTOR];
    unsigned log;

    read_page(core, smart(0xd5, 0, 1), directory);
    g_assert_cmphex(lduw_le_p(directory), ==, 1);
    for (log = 1; log < 256; log++) {
        ZtCmd cmd = with_page(core, smart(0xd5, log, 1));

        if (!lduw_le_p(directory + 2 * log)) {
            aborted(core, cmd);
        } else if (log != 0xe1) {
            good(core, cmd);
        }
    }
    zt_quit(card);
}

/* Host specific logs keep what is written, by either way. */
static void test_host_log(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    uint8_t out[ZT_SECTOR], in[ZT_SECTOR];

    zt_pattern(out, ZT_SECTOR, 1);
    write_page(core, read_log(0x3f, 0x80, 0, 1), out);
    read_page(core, read_log(ATA_READ_LOG_EXT, 0x80, 0, 1), in);
    g_assert_cmpmem(in, ZT_SECTOR, out, ZT_SECTOR);
    read_page(core, smart(0xd5, 0x80, 1), in);
    g_assert_cmpmem(in, ZT_SECTOR, out, ZT_SECTOR);
    read_page(core, read_log(ATA_READ_LOG_EXT, 0x81, 0, 1), in);
    g_assert_cmphex(in[0] | in[1] | in[511], ==, 0);

    zt_pattern(out, ZT_SECTOR, 2);
    write_page(core, smart(0xd6, 0x9f, 1), out);
    read_page(core, read_log(0x47, 0x9f, 0, 1), in);
    g_assert_cmpmem(in, ZT_SECTOR, out, ZT_SECTOR);

    /* logs of the device are its own */
    aborted(core, with_page(core, read_log(0x3f, 0x10, 0, 1)));
    aborted(core, with_page(core, read_log(0x57, 0x00, 0, 1)));
    aborted(core, with_page(core, read_log(0x3f, 0x77, 0, 1)));
    zt_quit(card);
}

/* SATA 13.7.2: the event counters, each with its size in the identifier */
static void test_phy_events(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    uint8_t page[ZT_SECTOR];
    unsigned i;
    bool found = false;

    zt_core_write(core, MVS_P_SER_CTLSTAT(PHY), PHY_RST);
    read_page(core, read_log(ATA_READ_LOG_EXT, 0x11, 0, 1), page);
    assert_checksum(page);
    for (i = 4; i < 508; ) {
        uint16_t id = lduw_le_p(page + i);

        if (!id) {
            break;
        }
        if ((id & 0xfff) == 0x00a) {            /* signature after COMRESET */
            found = true;
            g_assert_cmpint(lduw_le_p(page + i + 2), >, 0);
        }
        i += 2 + 2 * ((id >> 12) & 7);
    }
    g_assert_true(found);
    zt_quit(card);
}

/* ---- power ---- */

static uint8_t power_mode(ZtCore *core)
{
    uint8_t fis[20];

    good(core, plain(ATA_CHECK_POWER, 0, 0, 0));
    zt_d2h(core, PHY, fis);
    return fis[12];
}

static void test_power_modes(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    const int64_t second = 1000 * 1000 * 1000;

    g_assert_cmphex(power_mode(core), ==, 0xff);
    good(core, plain(0xe1, 0, 0, 0));
    g_assert_cmphex(power_mode(core), ==, 0x80);
    good(core, plain(0xe0, 0, 0, 0));
    g_assert_cmphex(power_mode(core), ==, 0x00);
    /* only the medium wakes it */
    zt_identify(core, PHY, (uint16_t[256]) { 0 });
    g_assert_cmphex(power_mode(core), ==, 0x00);
    good(core, with_page(core, plain(ATA_READ_DMA_EXT, 0, 0, 1)));
    g_assert_cmphex(power_mode(core), ==, 0xff);

    /* table 57: the timer in units of 5 s */
    good(core, plain(0xe3, 0, 0, 2));
    qtest_clock_step(card->qts, 9 * second);
    g_assert_cmphex(power_mode(core), ==, 0x80);
    qtest_clock_step(card->qts, 2 * second);
    g_assert_cmphex(power_mode(core), ==, 0x00);
    good(core, plain(0xe2, 0, 0, 0));
    g_assert_cmphex(power_mode(core), ==, 0x00);
    zt_quit(card);
}

/* 4.15.2: asleep, it answers nothing but a reset. */
static void test_sleep(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    ZtCmd cmd = zt_cheap(PHY, 9);

    good(core, plain(0xe6, 0, 0, 0));
    zt_queue(core, &cmd);
    zt_doorbell(core);
    zt_assert_quiet(core);
    g_assert_true(zt_slot_active(core, 9));
    zt_core_write(core, MVS_P_SER_CTLSTAT(PHY), PHY_RST);
    g_assert_false(zt_slot_active(core, 9));
    zt_assert_quiet(core);
    g_assert_cmphex(power_mode(core), ==, 0x00);
    zt_quit(card);
}

/* ---- host protected area ---- */

static uint64_t max_lba(ZtCore *core)
{
    uint16_t id[256];

    zt_identify(core, PHY, id);
    return zt_id_sectors(id) - 1;
}

static void test_hpa(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    const uint64_t native = 64 * 1024 * 1024 / 8 / ZT_SECTOR - 1;
    ZtCmd cmd = plain(0x42, 0, 1000, 1);
    uint8_t fis[20];

    good(core, plain(0x27, 0, 0, 0));
    zt_d2h(core, PHY, fis);
    g_assert_cmpint(zt_fis_lba(fis), ==, native);
    good(core, plain(0x37, 0, 999, 0));
    g_assert_cmpint(max_lba(core), ==, 999);
    zt_fails(core, &cmd, 0x51, 0x10);
    /* never without its partner straight before */
    aborted(core, plain(0x37, 0, native, 0));
    good(core, plain(0x27, 0, 0, 0));
    good(core, plain(0x37, 0, native, 0));
    g_assert_cmpint(max_lba(core), ==, native);
    zt_good(core, &cmd);
    zt_quit(card);
}

/* ---- security ---- */

static void password(uint8_t page[ZT_SECTOR], const char *text)
{
    memset(page, 0, ZT_SECTOR);
    memcpy(page + 2, text, strlen(text));
}

static void test_security(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    uint8_t right[ZT_SECTOR], wrong[ZT_SECTOR];

    password(right, "open sesame");
    password(wrong, "open barley");
    write_page(core, plain(0xf1, 0, 0, 0), right);
    g_assert_cmphex(identify_word(core, 128) & 0x0f, ==, 0x03);
    good(core, with_page(core, plain(ATA_READ_DMA_EXT, 0, 0, 1)));

    /* without settings preservation a COMRESET locks */
    good(core, plain(0xef, 0x90, 0, 6));
    zt_core_write(core, MVS_P_SER_CTLSTAT(PHY), PHY_RST);
    g_assert_cmphex(identify_word(core, 128) & 0x0f, ==, 0x07);
    aborted(core, with_page(core, plain(ATA_READ_DMA_EXT, 0, 0, 1)));
    aborted(core, with_page(core, plain(ATA_WRITE_DMA_EXT, 0, 0, 1)));
    qtest_memwrite(card->qts, page_addr(core), wrong, ZT_SECTOR);
    aborted(core, with_page(core, plain(0xf2, 0, 0, 0)));
    write_page(core, plain(0xf2, 0, 0, 0), right);
    good(core, with_page(core, plain(ATA_READ_DMA_EXT, 0, 0, 1)));
    write_page(core, plain(0xf6, 0, 0, 0), right);
    g_assert_cmphex(identify_word(core, 128) & 0x0f, ==, 0x01);

    good(core, plain(0xf5, 0, 0, 0));
    g_assert_cmphex(identify_word(core, 128) & 0x0f, ==, 0x09);
    aborted(core, with_page(core, plain(0xf1, 0, 0, 0)));
    zt_quit(card);
}

/* SECURITY ERASE UNIT, straight after PREPARE only, leaves zeros. */
static void test_security_erase(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    uint8_t page[ZT_SECTOR], in[ZT_SECTOR];

    zt_pattern(page, ZT_SECTOR, 3);
    write_page(core, plain(ATA_WRITE_DMA_EXT, 0, 500, 1), page);
    password(page, "gone");
    write_page(core, plain(0xf1, 0, 0, 0), page);
    aborted(core, with_page(core, plain(0xf4, 0, 0, 0)));
    good(core, plain(0xf3, 0, 0, 0));
    write_page(core, plain(0xf4, 0, 0, 0), page);
    read_page(core, plain(ATA_READ_DMA_EXT, 0, 500, 1), in);
    g_assert_cmphex(in[0] | in[100] | in[511], ==, 0);
    g_assert_cmphex(identify_word(core, 128) & 0x0f, ==, 0x01);
    zt_quit(card);
}

#define IMAGE_BLOCKS    5

/* An image that is accepted (docs/ssd.rst), @blocks long. */
static void make_image(uint8_t *image, unsigned blocks, const char *revision)
{
    uint32_t sum = 0;
    unsigned i;

    zt_pattern(image, blocks * ZT_SECTOR, 7);
    memcpy(image, "ZDRIVEFW", 8);
    memcpy(image + 8, revision, 8);
    stl_le_p(image + 16, blocks);
    stl_le_p(image + 20, 0);
    for (i = 0; i < blocks * ZT_SECTOR; i += 4) {
        sum += ldl_le_p(image + i);
    }
    stl_le_p(image + 20, -sum);
}

/* ACS-2 7.10: blocks in Count and LBA 7:0, offset in LBA 23:8 */
static ZtCmd microcode(uint8_t opcode, uint8_t mode, unsigned offset,
                       unsigned blocks, uint64_t data)
{
    return zt_with_data(plain(opcode, mode, offset << 8 | blocks >> 8,
                              blocks & 0xff), data, blocks * ZT_SECTOR);
}

static void assert_firmware(ZtCore *core, const char *revision)
{
    g_autofree char *text = NULL;
    uint16_t id[256];

    zt_identify(core, PHY, id);
    text = zt_id_string(id, 23, 4);
    g_assert_cmpstr(text, ==, revision);
}

static void test_microcode(void)
{
    ZtCard *card = boot(",firmware=2.25");
    ZtCore *core = &card->core[0];
    uint64_t data = zt_alloc(card, IMAGE_BLOCKS * ZT_SECTOR);
    uint8_t image[IMAGE_BLOCKS * ZT_SECTOR];
    uint8_t fis[20];
    unsigned i;

    make_image(image, IMAGE_BLOCKS, "2.50    ");
    image[100] ^= 1;
    qtest_memwrite(card->qts, data, image, sizeof(image));
    aborted(core, microcode(0x92, 0x07, 0, IMAGE_BLOCKS, data));
    image[100] ^= 1;
    qtest_memwrite(card->qts, data, image, sizeof(image));
    /* not all of it, and modes that do not exist */
    aborted(core, microcode(0x92, 0x07, 0, IMAGE_BLOCKS - 1, data));
    aborted(core, microcode(0x92, 0x01, 0, IMAGE_BLOCKS, data));
    aborted(core, microcode(0x92, 0x07, 0, 0, data));
    zt_core_write(core, MVS_P_SER_CTLSTAT(PHY), PHY_RST);
    assert_firmware(core, "2.25");

    /* whole, in force from the next reset on */
    good(core, microcode(0x93, 0x07, 0, IMAGE_BLOCKS, data));
    zt_d2h(core, PHY, fis);
    g_assert_cmphex(fis[12], ==, 0x02);
    assert_firmware(core, "2.25");
    zt_core_write(core, MVS_P_SER_CTLSTAT(PHY), PHY_RST);
    assert_firmware(core, "2.50");

    /* in pieces; one that does not follow ends it */
    make_image(image, IMAGE_BLOCKS, "9.99 Z  ");
    qtest_memwrite(card->qts, data, image, sizeof(image));
    good(core, microcode(0x92, 0x03, 0, 1, data));
    aborted(core, microcode(0x92, 0x03, 2, 1, data + 2 * ZT_SECTOR));
    aborted(core, microcode(0x92, 0x03, 1, 1, data + ZT_SECTOR));
    for (i = 0; i < IMAGE_BLOCKS; i++) {
        good(core, microcode(0x92, 0x03, i, 1, data + i * ZT_SECTOR));
        zt_d2h(core, PHY, fis);
        g_assert_cmphex(fis[12], ==, i < IMAGE_BLOCKS - 1 ? 0x01 : 0x02);
    }
    zt_core_write(core, MVS_P_SER_CTLSTAT(PHY), PHY_RST);
    assert_firmware(core, "9.99 Z");

    /* a reset in between forgets the pieces */
    good(core, microcode(0x92, 0x03, 0, 1, data));
    zt_core_write(core, MVS_P_SER_CTLSTAT(PHY), PHY_RST);
    aborted(core, microcode(0x92, 0x03, 1, 1, data + ZT_SECTOR));
    zt_quit(card);
}

/* Word 77 follows what the phy has negotiated. */
static void test_speed(void)
{
    ZtCard *card = boot("");
    ZtCore *core = &card->core[0];
    unsigned rate;

    for (rate = 1; rate <= 2; rate++) {
        zt_core_write(core, MVS_P_SER_CTLSTAT(PHY),
                      PHY_MAX_RATE(rate) | PHY_RST);
        g_assert_cmphex(identify_word(core, 77), ==, (rate + 1) << 1);
    }
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "identify", test_identify },
    { "all-opcodes", test_all_opcodes },
    { "diagnostic", test_diagnostic },
    { "buffer", test_buffer },
    { "settings", test_settings },
    { "multiple-off", test_multiple_off },
    { "settings-comreset", test_settings_comreset },
    { "smart-counters", test_smart_counters },
    { "smart-status", test_smart_status },
    { "selftest", test_selftest },
    { "smart-log-directory", test_smart_log_directory },
    { "host-log", test_host_log },
    { "phy-events", test_phy_events },
    { "power-modes", test_power_modes },
    { "sleep", test_sleep },
    { "hpa", test_hpa },
    { "security", test_security },
    { "security-erase", test_security_erase },
    { "microcode", test_microcode },
    { "speed", test_speed },
};

int main(int argc, char **argv)
{
    unsigned i;

    g_test_init(&argc, &argv, NULL);
    zt_add_cases("ata", cases, ARRAY_SIZE(cases));
    for (i = 0; i < ARRAY_SIZE(smart_models); i++) {
        zt_add_variant("ata", "smart-attributes", smart_models[i].model, i,
                       test_smart_attributes);
    }
    for (i = 0; i < ARRAY_SIZE(read_logs); i++) {
        zt_add_variant("ata", "log-directory", read_logs[i].name, i,
                       test_log_directory);
    }
    return zt_run_tests();
}

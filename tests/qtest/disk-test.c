/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of the SSDs: every way to read and write it, the ends of the
 * medium, TRIM, where it lies in the images of the host, and that what a
 * driver was told is stable has been flushed by the block layer.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qapi/qmp/qdict.h"
#include "qapi/qmp/qlist.h"
#include "zdrive-qtest.h"

#define VOLUME      (64 * 1024 * 1024ull)
#define SSDS        8
#define PIECES      128
#define SECTORS     (VOLUME / SSDS / ZT_SECTOR)

/* Every command that reads or writes. */
static const struct {
    const char *name;
    uint8_t opcode;
    bool write;
    bool ext;
} opcodes[] = {
    { "write-sectors", 0x30, true, false },
    { "write-sectors-31", 0x31, true, false },
    { "write-sectors-ext", 0x34, true, true },
    { "write-dma-ext", 0x35, true, true },
    { "write-multiple-ext", 0x39, true, true },
    { "write-dma-fua-ext", 0x3d, true, true },
    { "write-fpdma", 0x61, true, true },
    { "write-multiple", 0xc5, true, false },
    { "write-dma", 0xca, true, false },
    { "write-multiple-fua-ext", 0xce, true, true },
    { "read-sectors", 0x20, false, false },
    { "read-sectors-21", 0x21, false, false },
    { "read-sectors-ext", 0x24, false, true },
    { "read-dma-ext", 0x25, false, true },
    { "read-multiple-ext", 0x29, false, true },
    { "read-fpdma", 0x60, false, true },
    { "read-multiple", 0xc4, false, false },
    { "read-dma", 0xc8, false, false },
};

/* 28-bit commands have bits 27:24 of the LBA in the device register. */
static ZtCmd rw(unsigned n, uint64_t lba, unsigned sectors, uint64_t buf)
{
    uint8_t opcode = opcodes[n].opcode;
    ZtCmd cmd;

    if (opcode == ATA_READ_FPDMA || opcode == ATA_WRITE_FPDMA) {
        cmd = zt_ncq(opcode, 11, lba, sectors);
    } else {
        cmd = zt_ata(opcode, lba, sectors);
    }
    if (!opcodes[n].ext) {
        cmd.fis[7] |= (lba >> 24) & 0xf;
        memset(&cmd.fis[8], 0, 3);
    }
    return zt_with_data(zt_on_phy(cmd, 1), buf, sectors * ZT_SECTOR);
}

static ZtCard *boot_volume(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",size=%llu", VOLUME);

    zt_core_start(&card->core[0]);
    return card;
}

/* What each of them writes, each of the others reads. */
static void test_opcodes(void)
{
    ZtCard *card = boot_volume();
    ZtCore *core = &card->core[0];
    const unsigned len = 24 * ZT_SECTOR;
    uint64_t out = zt_alloc(card, len);
    uint64_t in = zt_alloc(card, len);
    unsigned w, r;

    for (w = 0; w < ARRAY_SIZE(opcodes); w++) {
        ZtCmd cmd = rw(w, 100 * w, 24, out);

        if (!opcodes[w].write) {
            continue;
        }
        zt_fill(card, out, len, w);
        zt_good(core, &cmd);
        for (r = 0; r < ARRAY_SIZE(opcodes); r++) {
            if (!opcodes[r].write) {
                qtest_memset(card->qts, in, 0, len);
                cmd = rw(r, 100 * w, 24, in);
                zt_good(core, &cmd);
                zt_assert_pattern(card, in, len, w);
            }
        }
    }
    zt_quit(card);
}

/* A count of 0 is 256 sectors with 28 bits, 65536 with 48. */
static void test_count_zero(void)
{
    ZtCard *card = boot_volume();
    ZtCore *core = &card->core[0];
    const unsigned len = 256 * ZT_SECTOR;
    uint64_t out = zt_alloc(card, len);
    uint64_t in = zt_alloc(card, len);
    ZtCmd cmd = zt_with_data(zt_ata(0xca, 77, 0), out, len);

    zt_fill(card, out, len, 256);
    zt_good(core, &cmd);
    cmd = zt_with_data(zt_ata(0x20, 77, 0), in, len);
    zt_good(core, &cmd);
    zt_assert_pattern(card, in, len, 256);
    /* more than this small SSD has */
    cmd = zt_with_data(zt_ata(ATA_READ_DMA_EXT, 0, 0), in, len);
    zt_fails(core, &cmd, 0x51, 0x10);
    zt_quit(card);
}

/* What mvsas never sends: 1 MiB in one command, in pieces that lie anywhere. */
static void test_mebibyte(void)
{
    ZtCard *card = boot_volume();
    ZtCore *core = &card->core[0];
    const unsigned piece = 8192, len = PIECES * piece;
    uint64_t out = zt_alloc(card, len), in = zt_alloc(card, len);
    ZtCmd cmd = zt_on_phy(zt_ncq(ATA_WRITE_FPDMA, 11, 8, len / ZT_SECTOR), 1);
    ZtPrd prd[PIECES];
    unsigned i;

    for (i = 0; i < PIECES; i++) {
        zt_fill(card, out + i * piece, piece, i);
        prd[i].addr = cpu_to_le64(out + i * piece);
        prd[i].len = cpu_to_le32(piece);
    }
    cmd.len = len;
    cmd.prd = prd;
    cmd.prds = PIECES;
    zt_good(core, &cmd);
    cmd.fis[2] = ATA_READ_FPDMA;
    for (i = 0; i < PIECES; i++) {
        prd[i].addr = cpu_to_le64(in + (i * 7 % PIECES) * piece);
    }
    zt_good(core, &cmd);
    for (i = 0; i < PIECES; i++) {
        zt_assert_pattern(card, in + (i * 7 % PIECES) * piece, piece, i);
    }
    zt_quit(card);
}

/* Address and count around the end of the medium. */
static const struct {
    uint64_t lba;
    unsigned sectors;
    bool good;
} ranges[] = {
    { SECTORS - 1, 1, true },
    { SECTORS - 8, 8, true },
    { SECTORS - 7, 8, false },
    { SECTORS - 1, 2, false },
    { SECTORS, 1, false },
    { SECTORS + 1000, 8, false },
    { 0xfffffff, 1, false },
    { 0xfffffffffffull, 8, false },
    { 0xffffffffffffull, 1, false },
    { 0xfffffffffffcull, 8, false },
};

static void test_bounds(const void *data)
{
    unsigned n = GPOINTER_TO_UINT(data);
    ZtCard *card = boot_volume();
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 8192);
    unsigned i;

    qtest_memset(card->qts, buf, 0xdd, 8192);
    for (i = 0; i < ARRAY_SIZE(ranges); i++) {
        ZtCmd cmd = rw(n, ranges[i].lba, ranges[i].sectors, buf);
        uint8_t fis[20];

        if (!opcodes[n].ext && ranges[i].lba > 0xfffffff) {
            continue;
        }
        if (ranges[i].good) {
            zt_good(core, &cmd);
            continue;
        }
        qtest_memset(card->qts, buf, 0xdd, 8192);
        if (cmd.fis[2] == ATA_READ_FPDMA || cmd.fis[2] == ATA_WRITE_FPDMA) {
            /* error-test looks at this path */
            zt_queue(core, &cmd);
            zt_doorbell(core);
            zt_assert_quiet(core);
            g_assert_cmphex(zt_core_read(core, MVS_NON_NCQ_ERR_0), ==, 2);
            zt_core_write(core, MVS_NON_NCQ_ERR_0, 2);
            zt_core_write(core, MVS_P_SER_CTLSTAT(1), PHY_RST);
        } else {
            zt_fails(core, &cmd, 0x51, 0x10);
            zt_d2h(core, 1, fis);
            g_assert_cmphex(zt_fis_lba(fis) & 0xffffff, ==,
                            MAX(ranges[i].lba, SECTORS) & 0xffffff);
        }
        g_assert_cmphex(qtest_readl(card->qts, buf), ==, 0xdddddddd);
    }
    /* CHS addressing is not there */
    if (!opcodes[n].ext) {
        ZtCmd cmd = rw(n, 1, 1, buf);

        cmd.fis[7] = 0;
        zt_fails(core, &cmd, 0x51, 0x04);
    }
    zt_quit(card);
}

static void test_verify(void)
{
    static const uint8_t verify[] = { 0x40, 0x41, 0x42 };
    ZtCard *card = boot_volume();
    ZtCore *core = &card->core[0];
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(verify); i++) {
        ZtCmd cmd = zt_ata(verify[i], SECTORS - 8, 8);

        zt_good(core, &cmd);
        cmd = zt_ata(verify[i], SECTORS - 7, 8);
        zt_fails(core, &cmd, 0x51, 0x10);
    }
    zt_quit(card);
}

/* ---- TRIM ---- */

typedef struct Range {
    uint64_t lba;
    uint16_t sectors;
} Range;

static ZtCmd trim(ZtCore *core, const Range *range, unsigned count)
{
    uint64_t buf = zt_slot_buf(core, 0) + SLOT_DATA;
    uint64_t entries[ZT_SECTOR / 8] = { 0 };
    unsigned i;

    for (i = 0; i < count; i++) {
        entries[i] = cpu_to_le64(range[i].lba |
                                 (uint64_t)range[i].sectors << 48);
    }
    qtest_memwrite(core->card->qts, buf, entries, sizeof(entries));
    return zt_with_data(zt_on_phy(zt_ata_features(0x06, 1, 0, 1), 1), buf,
                        ZT_SECTOR);
}

static void run_trim(ZtCard *card)
{
    static const Range list[] = {
        { 10, 5 }, { 0, 0 }, { 200, 300 }, { 12, 1 }, { 1000, 1 },
        { SECTORS - 3, 3 },
    };
    static const Range outside[] = { { 600, 10 }, { SECTORS - 3, 4 } };
    ZtCore *core = &card->core[0];
    const unsigned len = 1024 * ZT_SECTOR;
    uint64_t out = zt_alloc(card, len);
    uint64_t in = zt_alloc(card, len);
    g_autofree uint8_t *want = g_malloc(len);
    g_autofree uint8_t *got = g_malloc(len);
    ZtCmd cmd = zt_with_data(zt_ata(ATA_WRITE_DMA_EXT, 0, 1024), out, len);
    unsigned i;

    zt_pattern(want, len, 6);
    zt_fill(card, out, len, 6);
    cmd = zt_on_phy(cmd, 1);
    zt_good(core, &cmd);
    cmd = zt_with_data(zt_on_phy(zt_ata(ATA_WRITE_DMA_EXT, SECTORS - 4, 4),
                                 1), out, 4 * ZT_SECTOR);
    zt_good(core, &cmd);

    cmd = trim(core, list, ARRAY_SIZE(list));
    zt_good(core, &cmd);
    for (i = 0; i < ARRAY_SIZE(list); i++) {
        if (list[i].lba < 1024) {
            memset(want + list[i].lba * ZT_SECTOR, 0,
                   list[i].sectors * ZT_SECTOR);
        }
    }
    /* a list with one bad range changes nothing */
    cmd = trim(core, outside, ARRAY_SIZE(outside));
    zt_fails(core, &cmd, 0x51, 0x10);

    cmd = zt_with_data(zt_ata(ATA_READ_DMA_EXT, 0, 1024), in, len);
    cmd = zt_on_phy(cmd, 1);
    zt_good(core, &cmd);
    qtest_bufread(card->qts, in, got, len);
    g_assert_cmpmem(got, len, want, len);

    cmd = zt_with_data(zt_on_phy(zt_ata(ATA_READ_DMA_EXT, SECTORS - 4, 4),
                                 1), in, 4 * ZT_SECTOR);
    zt_good(core, &cmd);
    zt_assert_pattern(card, in, ZT_SECTOR, 6);
    zt_assert_zero(card, in + ZT_SECTOR, 3 * ZT_SECTOR);
}

static void test_trim(void)
{
    ZtCard *card = boot_volume();

    run_trim(card);
    zt_quit(card);
}

/* With discard=unmap, which gives space back to the host, and without. */
static const struct {
    const char *name;
    const char *drive;
} discards[] = {
    { "ignore", "" },
    { "unmap", ",discard=unmap" },
    { "detect-zeroes", ",discard=unmap,detect-zeroes=unmap" },
};

static void test_trim_file(const void *data)
{
    g_autofree char *path = zt_tmp_image("trim.img", VOLUME);
    ZtCard *card = zt_boot("-drive if=none,id=d,format=raw,file=%s%s " ZT_CARD
                           ",drive=d", path,
                           discards[GPOINTER_TO_UINT(data)].drive);

    zt_core_start(&card->core[0]);
    run_trim(card);
    zt_quit(card);
}

static void test_trim_refused(void)
{
    ZtCard *card = boot_volume();
    ZtCore *core = &card->core[0];
    static const Range one = { 0, 8 };
    ZtCmd cmd = trim(core, &one, 1);

    cmd.fis[3] = 0;                     /* no function that exists */
    zt_fails(core, &cmd, 0x51, 0x04);
    cmd = trim(core, &one, 1);
    cmd.fis[12] = 0;
    zt_fails(core, &cmd, 0x51, 0x04);
    cmd.fis[12] = 2;                    /* more than IDENTIFY word 105 */
    cmd.len = 2 * ZT_SECTOR;
    zt_fails(core, &cmd, 0x51, 0x04);
    zt_quit(card);
}

/* ---- images of the host ---- */

static void read_host(const char *path, uint64_t offset, void *buf,
                      size_t len)
{
    int fd = open(path, O_RDONLY);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(pread(fd, buf, len, offset), ==, len);
    close(fd);
}

static void write_host(const char *path, uint64_t offset, const void *buf,
                       size_t len)
{
    int fd = open(path, O_WRONLY);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(pwrite(fd, buf, len, offset), ==, len);
    close(fd);
}

static void assert_host_pattern(const char *path, uint64_t offset, size_t len,
                                uint32_t seed)
{
    g_autofree uint8_t *want = g_malloc(len);
    g_autofree uint8_t *got = g_malloc(len);

    zt_pattern(want, len, seed);
    read_host(path, offset, got, len);
    g_assert_cmpmem(got, len, want, len);
}

static void flush(ZtCore *core, unsigned phy)
{
    ZtCmd cmd = zt_on_phy(zt_ata(0xea, 0, 0), phy);

    zt_good(core, &cmd);
}

/* Write @sectors of a pattern to SSD @member, or compare them. */
static void write_member(ZtCard *card, unsigned member, uint64_t lba,
                         unsigned sectors, uint32_t seed)
{
    ZtCore *core = &card->core[member / MVS_PHYS];
    uint64_t buf = zt_alloc(card, sectors * ZT_SECTOR);
    ZtCmd cmd = zt_with_data(zt_ata(ATA_WRITE_DMA_EXT, lba, sectors), buf,
                             sectors * ZT_SECTOR);

    zt_fill(card, buf, sectors * ZT_SECTOR, seed);
    cmd = zt_on_phy(cmd, member % MVS_PHYS);
    zt_good(core, &cmd);
    card->memory = buf;
}

static void check_member(ZtCard *card, unsigned member, uint64_t lba,
                         unsigned sectors, uint32_t seed)
{
    ZtCore *core = &card->core[member / MVS_PHYS];
    uint64_t buf = zt_alloc(card, sectors * ZT_SECTOR);
    ZtCmd cmd = zt_with_data(zt_ata(ATA_READ_DMA_EXT, lba, sectors), buf,
                             sectors * ZT_SECTOR);

    cmd = zt_on_phy(cmd, member % MVS_PHYS);
    zt_good(core, &cmd);
    zt_assert_pattern(card, buf, sectors * ZT_SECTOR, seed);
    card->memory = buf;
}

static ZtCard *boot_args(const char *args)
{
    ZtCard *card = zt_boot("%s", args);

    zt_core_start(&card->core[0]);
    zt_core_start(&card->core[1]);
    return card;
}

/*
 * Chunk c of SSD m of n lies at (c * n + m) * 64 KiB: what the host puts
 * there the guest reads, and the other way round.
 */
static void test_volume_order(const void *data)
{
    unsigned ssds = GPOINTER_TO_UINT(data);
    g_autofree char *path = zt_tmp_image("volume.img", VOLUME);
    g_autofree char *args = g_strdup_printf(
        "-drive if=none,id=d,format=raw,file=%s " ZT_CARD
        ",model=%s,drive=d", path, ssds == 4 ? "cm84" : "cm88");
    g_autofree uint8_t *chunk = g_malloc(ZT_CHUNK);
    const unsigned per_chunk = ZT_CHUNK / ZT_SECTOR;
    ZtCard *card;
    unsigned c, m;

    for (c = 0; c < 3 * ssds; c++) {
        zt_pattern(chunk, ZT_CHUNK, c);
        write_host(path, (uint64_t)c * ZT_CHUNK, chunk, ZT_CHUNK);
    }
    card = boot_args(args);
    for (c = 0; c < 3; c++) {
        for (m = 0; m < ssds; m++) {
            check_member(card, m, c * per_chunk, per_chunk, c * ssds + m);
        }
    }
    /* across chunk borders, unaligned, on every SSD */
    for (m = 0; m < ssds; m++) {
        write_member(card, m, 5 * per_chunk - 3, per_chunk + 6, 1000 + m);
        check_member(card, m, 5 * per_chunk - 3, per_chunk + 6, 1000 + m);
        flush(&card->core[m / MVS_PHYS], m % MVS_PHYS);
    }
    for (m = 0; m < ssds; m++) {
        g_autofree uint8_t *want = g_malloc(ZT_CHUNK + 6 * ZT_SECTOR);

        zt_pattern(want, ZT_CHUNK + 6 * ZT_SECTOR, 1000 + m);
        read_host(path, (4ull * ssds + m + 1) * ZT_CHUNK - 3 * ZT_SECTOR,
                  chunk, 3 * ZT_SECTOR);
        g_assert_cmpmem(chunk, 3 * ZT_SECTOR, want, 3 * ZT_SECTOR);
        read_host(path, (5ull * ssds + m) * ZT_CHUNK, chunk, ZT_CHUNK);
        g_assert_cmpmem(chunk, ZT_CHUNK, want + 3 * ZT_SECTOR, ZT_CHUNK);
        read_host(path, (6ull * ssds + m) * ZT_CHUNK, chunk, 3 * ZT_SECTOR);
        g_assert_cmpmem(chunk, 3 * ZT_SECTOR,
                        want + 3 * ZT_SECTOR + ZT_CHUNK, 3 * ZT_SECTOR);
    }
    zt_quit(card);
}

/*
 * A capacity that was sold is no multiple of 64 KiB per SSD: the remainders
 * follow behind the last stripe, SSD after SSD.
 */
static void test_volume_tail(void)
{
    const uint64_t sectors = 146533968;         /* 75 GB, IDEMA */
    const uint64_t bytes = sectors * ZT_SECTOR;
    const uint64_t full = bytes / ZT_CHUNK;
    const uint64_t tail = bytes % ZT_CHUNK;
    g_autofree char *path = zt_tmp_image("tail.img", 4 * bytes);
    g_autofree char *args = g_strdup_printf(
        "-drive if=none,id=d,format=raw,file=%s " ZT_CARD
        ",model=cm84,drive=d", path);
    ZtCard *card = boot_args(args);
    unsigned m;

    g_assert_cmpint(tail % ZT_SECTOR, ==, 0);
    for (m = 0; m < 4; m++) {
        uint16_t id[256];

        zt_identify(&card->core[0], m, id);
        g_assert_cmpint(zt_id_sectors(id), ==, sectors);
        /* the last full chunk and the tail by one command */
        write_member(card, m, sectors - tail / ZT_SECTOR - 2,
                     tail / ZT_SECTOR + 2, 50 + m);
    }
    for (m = 0; m < 4; m++) {
        g_autofree uint8_t *want = g_malloc(tail + 1024);
        g_autofree uint8_t *got = g_malloc(tail + 1024);

        check_member(card, m, sectors - tail / ZT_SECTOR - 2,
                     tail / ZT_SECTOR + 2, 50 + m);
        flush(&card->core[0], m);
        zt_pattern(want, tail + 1024, 50 + m);
        read_host(path, ((full - 1) * 4 + m + 1) * ZT_CHUNK - 1024, got,
                  1024);
        g_assert_cmpmem(got, 1024, want, 1024);
        read_host(path, full * 4 * ZT_CHUNK + m * tail, got, tail);
        g_assert_cmpmem(got, tail, want + 1024, tail);
    }
    zt_quit(card);
}

/* One image for each SSD: bytes are where the SSD has them. */
static void test_members(const void *data)
{
    unsigned ssds = GPOINTER_TO_UINT(data);
    const uint64_t len = 8 * 1024 * 1024 + 512;
    GString *args = g_string_new(NULL);
    char *path[SSDS];
    ZtCard *card;
    unsigned m;

    for (m = 0; m < ssds; m++) {
        g_autofree char *name = g_strdup_printf("member%u.img", m);

        path[m] = zt_tmp_image(name, len);
        g_string_append_printf(args, "-drive if=none,id=d%u,format=raw,"
                               "file=%s ", m, path[m]);
    }
    g_string_append_printf(args, ZT_CARD ",model=rm8%u", ssds);
    for (m = 0; m < ssds; m++) {
        g_string_append_printf(args, ",drive%u=d%u", m, m);
    }
    card = boot_args(args->str);
    for (m = 0; m < ssds; m++) {
        uint16_t id[256];

        zt_identify(&card->core[m / MVS_PHYS], m % MVS_PHYS, id);
        g_assert_cmpint(zt_id_sectors(id), ==, len / ZT_SECTOR);
        write_member(card, m, 100, 300, m);
        write_member(card, m, len / ZT_SECTOR - 1, 1, 70 + m);
        flush(&card->core[m / MVS_PHYS], m % MVS_PHYS);
    }
    for (m = 0; m < ssds; m++) {
        assert_host_pattern(path[m], 100 * ZT_SECTOR, 300 * ZT_SECTOR, m);
        assert_host_pattern(path[m], len - ZT_SECTOR, ZT_SECTOR, 70 + m);
        g_free(path[m]);
    }
    g_string_free(args, true);
    zt_quit(card);
}

/* Data survives the end of QEMU, flushed or not, when it ends in order. */
static void test_persistence(void)
{
    g_autofree char *path = zt_tmp_image("keep.img", VOLUME);
    g_autofree char *args = g_strdup_printf(
        "-drive if=none,id=d,format=raw,file=%s " ZT_CARD ",drive=d", path);
    ZtCard *card = boot_args(args);

    write_member(card, 6, 1234, 500, 9);
    zt_quit(card);
    card = boot_args(args);
    check_member(card, 6, 1234, 500, 9);
    zt_quit(card);
}

/* Memory is new and zero at each start. */
static void test_memory(void)
{
    ZtCard *card = boot_args(ZT_CARD);
    ZtCore *core = &card->core[1];
    uint64_t buf = zt_alloc(card, 4096);
    uint16_t id[256];
    ZtCmd cmd;

    zt_identify(core, 3, id);
    cmd = zt_ata(ATA_READ_DMA_EXT, zt_id_sectors(id) - 8, 8);
    cmd = zt_on_phy(zt_with_data(cmd, buf, 4096), 3);
    qtest_memset(card->qts, buf, 0xdd, 4096);
    zt_good(core, &cmd);
    zt_assert_zero(card, buf, 4096);
    write_member(card, 7, zt_id_sectors(id) - 8, 8, 1);
    check_member(card, 7, zt_id_sectors(id) - 8, 8, 1);
    /* the same LBA elsewhere is another sector */
    cmd = zt_on_phy(cmd, 2);
    zt_good(core, &cmd);
    zt_assert_zero(card, buf, 4096);
    zt_quit(card);
}

/* What "info blockstats" and QMP tell the user. */
static int64_t counter(ZtCard *card, const char *name)
{
    QDict *reply = qtest_qmp(card->qts, "{'execute': 'query-blockstats'}");
    const QListEntry *entry = qlist_first(qdict_get_qlist(reply, "return"));
    QDict *node = qobject_to(QDict, qlist_entry_obj(entry));
    int64_t val = qdict_get_int(qdict_get_qdict(node, "stats"), name);

    qobject_unref(reply);
    return val;
}

static void test_blockstats(void)
{
    g_autofree char *path = zt_tmp_image("stats.img", VOLUME);
    g_autofree char *args = g_strdup_printf(
        "-drive if=none,id=d,format=raw,file=%s " ZT_CARD ",drive=d", path);
    ZtCard *card = boot_args(args);

    write_member(card, 3, 0, 16, 1);
    g_assert_cmpint(counter(card, "wr_operations"), ==, 1);
    g_assert_cmpint(counter(card, "wr_bytes"), ==, 16 * ZT_SECTOR);
    check_member(card, 3, 0, 16, 1);
    g_assert_cmpint(counter(card, "rd_operations"), ==, 1);
    g_assert_cmpint(counter(card, "rd_bytes"), ==, 16 * ZT_SECTOR);
    flush(&card->core[0], 3);
    g_assert_cmpint(counter(card, "flush_operations"), ==, 1);
    zt_quit(card);
}

/* ---- sizes ---- */

/* Capacities sold, and the LBA counts of real-cards.md 3.1. */
static const struct {
    const char *props;
    uint64_t sectors;
} sizes[] = {
    { "model=cm84,capacity-gb=300", 146533968 },
    { "model=rm84,capacity-gb=600", 293046768 },
    { "model=cm84,capacity-gb=1200", 586072368 },
    { "model=rm88,capacity-gb=800", 195371568 },
    { "model=cm88,capacity-gb=1600", 390721968 },
    { "model=rm88,capacity-gb=3200", 781422768 },
    { "model=cm84", 293046768 },
    { "model=cm88", 390721968 },
    { "model=cm88,size=4G", 4ull * 1024 * 1024 * 1024 / 8 / 512 },
    { "model=cm84,size=512K", 256 },
    { "model=cm88,size=512K", 128 },
};

static void test_sizes(void)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(sizes); i++) {
        g_autofree char *args = g_strdup_printf(ZT_CARD ",%s",
                                                sizes[i].props);
        ZtCard *card = boot_args(args);
        uint16_t id[256];
        uint32_t lba28;

        zt_identify(&card->core[0], 3, id);
        g_assert_cmpint(zt_id_sectors(id), ==, sizes[i].sectors);
        lba28 = id[60] | id[61] << 16;
        g_assert_cmpint(lba28, ==, MIN(sizes[i].sectors, 0xfffffff));
        zt_quit(card);
    }
}

/* ---- durability ---- */

/* Entries of the log that block/blklogwrites.c writes. */
#define LOG_FLUSH       1
#define LOG_FUA         2

typedef struct LogEntry {
    uint64_t sector, sectors, flags, len;
} LogEntry;

static unsigned read_write_log(const char *path, LogEntry *entry,
                               unsigned max)
{
    uint64_t offset = ZT_SECTOR;        /* behind the superblock */
    unsigned n;
    int fd = open(path, O_RDONLY);

    g_assert_cmpint(fd, >=, 0);
    for (n = 0; n < max; n++) {
        uint64_t raw[4] = { 0 };

        if (pread(fd, raw, sizeof(raw), offset) != sizeof(raw) ||
            (!raw[1] && !raw[2])) {
            break;
        }
        entry[n].sector = le64_to_cpu(raw[0]);
        entry[n].sectors = le64_to_cpu(raw[1]);
        entry[n].flags = le64_to_cpu(raw[2]);
        offset += (1 + entry[n].sectors) * ZT_SECTOR;
    }
    close(fd);
    return n;
}

/*
 * What has reached the host when a command ends: nothing, data, or data that
 * is stable.
 */
typedef enum Effect { NOTHING, DATA, STABLE_DATA, STABLE } Effect;

static const struct {
    const char *what;
    uint8_t opcode, features;
    uint8_t device;             /* bit 7: FUA of FPDMA */
    Effect effect;
} steps[] = {
    { "WRITE DMA EXT, cached", 0x35, 0, 0x40, DATA },
    { "FLUSH CACHE EXT", 0xea, 0, 0x40, STABLE },
    { "WRITE SECTORS EXT, cached", 0x34, 0, 0x40, DATA },
    { "FLUSH CACHE", 0xe7, 0, 0x40, STABLE },
    { "WRITE DMA FUA EXT", 0x3d, 0, 0x40, STABLE_DATA },
    { "WRITE MULTIPLE FUA EXT", 0xce, 0, 0x40, STABLE_DATA },
    { "WRITE FPDMA, cached", 0x61, 0, 0x40, DATA },
    { "WRITE FPDMA, FUA", 0x61, 0, 0xc0, STABLE_DATA },
    { "WRITE DMA EXT, cached", 0x35, 0, 0x40, DATA },
    { "write cache off", 0xef, 0x82, 0x40, STABLE },
    { "WRITE DMA EXT, not cached", 0x35, 0, 0x40, STABLE_DATA },
    { "WRITE FPDMA, not cached", 0x61, 0, 0x40, STABLE_DATA },
    { "write cache on", 0xef, 0x02, 0x40, NOTHING },
    { "WRITE DMA EXT, cached again", 0x35, 0, 0x40, DATA },
    { "STANDBY IMMEDIATE", 0xe0, 0, 0x40, STABLE },
    { "WRITE DMA EXT, cached", 0x35, 0, 0x40, DATA },
    { "SLEEP", 0xe6, 0, 0x40, STABLE },
};

static void test_durability(void)
{
    g_autofree char *path = zt_tmp_image("stable.img", VOLUME);
    g_autofree char *log = zt_tmp_image("stable.log", 0);
    g_autofree char *args = g_strdup_printf(
        "-blockdev driver=file,filename=%s,node-name=f0 "
        "-blockdev driver=file,filename=%s,node-name=l0 "
        "-blockdev driver=blklogwrites,file=f0,log=l0,node-name=w0 "
        /* a flush that stands for FUA is only seen by the nodes below */
        "-blockdev driver=raw,file=w0,node-name=d0 "
        ZT_CARD ",drive=d0", path, log);
    ZtCard *card = boot_args(args);
    ZtCore *core = &card->core[0];
    uint64_t buf = zt_alloc(card, 4096);
    LogEntry entry[64];
    unsigned i, e, old = 0;

    for (i = 0; i < ARRAY_SIZE(steps); i++) {
        bool write = steps[i].effect == DATA ||
                     steps[i].effect == STABLE_DATA;
        bool wrote = false, stable = false;
        ZtCmd cmd = zt_ata_features(steps[i].opcode, steps[i].features,
                                    write ? 8 * i : 0, write ? 8 : 0);
        unsigned n;

        if (steps[i].opcode == ATA_WRITE_FPDMA) {
            cmd = zt_ncq(ATA_WRITE_FPDMA, 3, 8 * i, 8);
        }
        cmd.fis[7] = steps[i].device;
        cmd = zt_with_data(cmd, buf, write ? 4096 : 0);
        zt_good(core, &cmd);
        n = read_write_log(log, entry, ARRAY_SIZE(entry));
        for (e = old; e < n; e++) {
            if (entry[e].sectors) {
                g_assert_cmpint(entry[e].sector, ==, 8 * i);
                g_assert_cmpint(entry[e].sectors, ==, 8);
                wrote = true;
                stable = entry[e].flags & LOG_FUA;
            }
            stable |= entry[e].flags & LOG_FLUSH;
        }
        if (wrote != write || stable != (steps[i].effect >= STABLE_DATA)) {
            g_test_message("%s", steps[i].what);
        }
        g_assert_true(wrote == write);
        g_assert_true(stable == (steps[i].effect >= STABLE_DATA));
        old = n;
    }
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "opcodes", test_opcodes },
    { "count-zero", test_count_zero },
    { "mebibyte", test_mebibyte },
    { "verify", test_verify },
    { "trim", test_trim },
    { "trim-refused", test_trim_refused },
    { "volume-tail", test_volume_tail },
    { "persistence", test_persistence },
    { "memory", test_memory },
    { "blockstats", test_blockstats },
    { "sizes", test_sizes },
    { "durability", test_durability },
};

int main(int argc, char **argv)
{
    unsigned i;

    g_test_init(&argc, &argv, NULL);
    zt_add_cases("disk", cases, ARRAY_SIZE(cases));
    for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
        zt_add_variant("disk", "bounds", opcodes[i].name, i, test_bounds);
    }
    for (i = 0; i < ARRAY_SIZE(discards); i++) {
        zt_add_variant("disk", "trim-file", discards[i].name, i,
                       test_trim_file);
    }
    zt_add_variant("disk", "volume-order", "4", 4, test_volume_order);
    zt_add_variant("disk", "volume-order", "8", 8, test_volume_order);
    zt_add_variant("disk", "members", "4", 4, test_members);
    zt_add_variant("disk", "members", "8", 8, test_members);
    return zt_run_tests();
}

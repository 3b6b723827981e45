/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal: what commands leave in it, byte for byte the same in two runs;
 * what it refuses, and that a full disk ends the recording and nothing else.
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include <sys/resource.h>
#include "qemu/bswap.h"
#include "zdrive-qtest.h"
#include "qapi/qmp/qdict.h"

#define CARD            ZT_CARD ",model=cm84,size=64M,timing=off"
#define HEADER          128
#define RECORD          32

#define ATA_FLUSH_EXT       0xea
#define ATA_WRITE_FUA_EXT   0x3d
#define ATA_TRIM            0x06

enum { WRITE = 1, FLUSH, TRIM, END, MARK, LOADED };

static void write_data(ZtCard *card, unsigned phy, uint8_t opcode,
                       uint64_t lba, uint32_t seed)
{
    uint64_t buf = zt_alloc(card, 4096);
    ZtCmd cmd = zt_with_data(zt_ata(opcode, lba, 8), buf, 4096);

    zt_fill(card, buf, 4096, seed);
    cmd = zt_on_phy(cmd, phy);
    zt_good(&card->core[0], &cmd);
}

static void flush(ZtCard *card, unsigned phy)
{
    ZtCmd cmd = zt_on_phy(zt_ata(ATA_FLUSH_EXT, 0, 0), phy);

    zt_good(&card->core[0], &cmd);
}

static void trim(ZtCard *card, unsigned phy)
{
    uint64_t buf = zt_alloc(card, ZT_SECTOR);
    ZtCmd cmd = zt_with_data(zt_ata(ATA_TRIM, 0, 1), buf, ZT_SECTOR);

    qtest_memset(card->qts, buf, 0, ZT_SECTOR);
    qtest_writeq(card->qts, buf, (uint64_t)16 << 48 | 800);
    cmd.fis[3] = 1;
    cmd = zt_on_phy(cmd, phy);
    zt_good(&card->core[0], &cmd);
}

static QDict *set_mark(ZtCard *card, const char *text)
{
    return qtest_qmp(card->qts, "{'execute': 'qom-set', 'arguments': {"
                     "'path': '/machine/peripheral/zd', 'property': 'mark', "
                     "'value': %s}}", text);
}

static void one_run(const char *args)
{
    ZtCard *card = zt_boot("%s", args);
    QDict *answer;

    zt_core_start(&card->core[0]);
    write_data(card, 1, ATA_WRITE_DMA_EXT, 100, 1);
    write_data(card, 2, ATA_WRITE_FUA_EXT, 200, 2);
    answer = set_mark(card, "half");
    g_assert_true(qdict_haskey(answer, "return"));
    qobject_unref(answer);
    flush(card, 1);
    trim(card, 3);
    zt_quit(card);
}

typedef struct Expected {
    uint8_t type, flags, ssd;
    uint32_t count;
    uint64_t id, lba;
    uint32_t data;
} Expected;

static void test_records(void)
{
    static const Expected expected[] = {
        { WRITE, 0, 1, 8, 1, 100, 4096 },
        { END, 0, 1, 0, 1, 0, 0 },
        { WRITE, 1, 2, 8, 2, 200, 4096 },
        { END, 0, 2, 0, 2, 0, 0 },
        { MARK, 0, 0, 0, 0, 0, 4 },
        { FLUSH, 0, 1, 0, 3, 0, 0 },
        { END, 0, 1, 0, 3, 0, 0 },
        { TRIM, 0, 3, 1, 4, 0, 16 },
        { END, 0, 3, 0, 4, 0, 0 },
    };
    g_autofree char *files[2] = { zt_tmp_file("a"), zt_tmp_file("b") };
    g_autofree char *contents[2] = { NULL, NULL };
    uint8_t pattern[4096];
    gsize len[2];
    uint8_t *at;

    for (unsigned i = 0; i < 2; i++) {
        g_autofree char *args = g_strdup_printf(CARD ",journal=%s", files[i]);

        one_run(args);
        g_assert_true(g_file_get_contents(files[i], &contents[i], &len[i],
                                          NULL));
    }
    g_assert_cmpmem(contents[0], len[0], contents[1], len[1]);
    g_assert_cmpmem(contents[0], 8, "ZDJOURNL", 8);

    at = (uint8_t *)contents[0] + HEADER;
    for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
        const Expected *e = &expected[i];

        g_assert_cmpuint(ldl_le_p(at), ==, RECORD + e->data);
        g_assert_cmpuint(at[8], ==, e->type);
        g_assert_cmpuint(at[9], ==, e->flags);
        g_assert_cmpuint(at[10], ==, e->ssd);
        g_assert_cmpuint(ldl_le_p(at + 12), ==, e->count);
        g_assert_cmpuint(ldq_le_p(at + 16), ==, e->id);
        g_assert_cmpuint(ldq_le_p(at + 24), ==, e->lba);
        if (e->type == WRITE) {
            zt_pattern(pattern, sizeof(pattern), e->id);
            g_assert_cmpmem(at + RECORD, 4096, pattern, 4096);
        }
        at += RECORD + e->data;
    }
    g_assert_true(at == (uint8_t *)contents[0] + len[0]);
}

/* A stream goes on in the file of the card that loads it. */
static void test_migration(void)
{
    g_autofree char *file = zt_tmp_file("moved");
    g_autofree char *args = g_strdup_printf(CARD ",journal=%s", file);
    g_autofree char *contents = NULL;
    ZtCard *card = zt_boot(CARD);
    gsize len;

    zt_core_start(&card->core[0]);
    write_data(card, 1, ATA_WRITE_DMA_EXT, 100, 1);
    card = zt_migrate(card, args);
    write_data(card, 1, ATA_WRITE_DMA_EXT, 100, 1);
    zt_quit(card);
    g_assert_true(g_file_get_contents(file, &contents, &len, NULL));
    g_assert_cmpuint(len, ==, HEADER + 3 * RECORD + 4096);
    g_assert_cmpuint(contents[HEADER + 8], ==, LOADED);
}

static char *error_of(QDict *answer)
{
    QDict *error = qdict_get_qdict(answer, "error");
    char *text = g_strdup(error ? qdict_get_str(error, "desc") : "none");

    qobject_unref(answer);
    return text;
}

/* What becomes of another card with @file as its journal. */
static char *error_with(ZtCard *card, const char *file)
{
    return error_of(qtest_qmp(
        card->qts, "{'execute': 'device_add', 'arguments': {"
        "'driver': 'zdrive-r4', 'size': 67108864, 'bus': 'rp', "
        "'model': 'cm84', 'journal': %s}}", file));
}

static void assert_says(char *error, const char *words)
{
    if (!strstr(error, words)) {
        g_error("'%s' does not say '%s'", error, words);
    }
    g_free(error);
}

static void test_refused(void)
{
    g_autofree char *other = zt_tmp_file("other");
    g_autofree char *used = zt_tmp_file("used");
    g_autofree char *contents = NULL;
    ZtCard *card;
    gsize len;

    g_assert_true(g_file_set_contents(other, "a disk image", -1, NULL));
    card = zt_boot(CARD ",journal=%s -device pcie-root-port,id=rp", used);
    assert_says(error_with(card, used), "is in use");
    assert_says(error_with(card, other), "is no journal");
    assert_says(error_with(card, "/nonexistent/j"), "/nonexistent/j");
    zt_quit(card);
    g_assert_true(g_file_get_contents(other, &contents, &len, NULL));
    g_assert_cmpmem(contents, len, "a disk image", 12);

    card = zt_boot(CARD);
    assert_says(error_of(set_mark(card, "x")), "journal=FILE");
    zt_quit(card);
}

/* The file goes away under the recording: a mark in it is no success. */
static void test_removed(void)
{
    g_autofree char *file = zt_tmp_file("removed");
    ZtCard *card = zt_boot(CARD ",journal=%s", file);

    g_assert_cmpint(g_unlink(file), ==, 0);
    assert_says(error_of(set_mark(card, "x")), "was removed");
    zt_quit(card);
}

/* Where not even the header fits nothing starts. */
static void test_full_at_start(void)
{
    g_autofree char *file = zt_tmp_file("full-at-start");
    struct rlimit limit, before;
    ZtCard *card;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 64;
    setrlimit(RLIMIT_FSIZE, &limit);
    card = zt_boot(CARD " -device pcie-root-port,id=rp");
    setrlimit(RLIMIT_FSIZE, &before);
    assert_says(error_with(card, file), "make room");
    zt_quit(card);
}

/* The guest's commands end well although nothing more can be recorded. */
static void test_full(void)
{
    g_autofree char *file = zt_tmp_file("full");
    g_autofree char *contents = NULL;
    struct rlimit limit, before;
    ZtCard *card;
    gsize len;

    /* QEMU inherits both: files end after 4 KiB, as on a full disk */
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &limit);
    card = zt_boot(CARD ",journal=%s", file);
    setrlimit(RLIMIT_FSIZE, &before);
    zt_core_start(&card->core[0]);
    flush(card, 1);
    write_data(card, 1, ATA_WRITE_DMA_EXT, 100, 1);
    flush(card, 1);
    assert_says(error_of(set_mark(card, "x")), "has ended");
    zt_quit(card);
    /* whole records only */
    g_assert_true(g_file_get_contents(file, &contents, &len, NULL));
    g_assert_cmpuint(len, ==, HEADER + 2 * RECORD);
}

static const ZtCase cases[] = {
    { "records", test_records },
    { "migration", test_migration },
    { "refused", test_refused },
    { "removed", test_removed },
    { "full", test_full },
    { "full-at-start", test_full_at_start },
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    zt_add_cases("journal", cases, G_N_ELEMENTS(cases));
    return zt_run_tests();
}

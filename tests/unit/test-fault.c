/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The grammar of faults, its messages, and which command a fault hits when.
 */
#include <string.h>
#include <glib.h>

#include "hw/zdrive/fault.h"

#define READ_FPDMA      0x60
#define WRITE_FPDMA     0x61
#define FLUSH_EXT       0xea
#define IDENTIFY        0xec

static const ZdFaultCommand nothing = { .opcode = 0xe5, .tag = -1 };

static ZdFaultCommand command(uint8_t opcode, int tag, uint64_t lba,
                              uint32_t sectors)
{
    return (ZdFaultCommand) {
        .opcode = opcode,
        .tag = tag,
        .data = true,
        .access = opcode == READ_FPDMA ? ZD_ACCESS_READ : ZD_ACCESS_WRITE,
        .lba = lba,
        .sectors = sectors,
    };
}

static void init(ZdFaults *faults, ZdFaultScope scope, const char *text)
{
    char *error = NULL;

    zd_faults_init(faults, scope, 1);
    g_assert_true(zd_faults_parse(faults, text, &error));
    g_assert_null(error);
}

/* Text that comes back as it is, but for the counters. */
static const struct {
    ZdFaultScope scope;
    const char *in;
    const char *out;
} good[] = {
    { ZD_FAULT_OF_SSD, "", "" },
    { ZD_FAULT_OF_SSD, " ; ;\n", "" },
    { ZD_FAULT_OF_SSD, "hang", "hang,hits=0" },
    { ZD_FAULT_OF_SSD, "read-error,lba=100-200,times=3;"
                       "hang,opcode=0x61,tag=5",
      "read-error,lba=100-200,times=3,hits=0;hang,opcode=0x61,tag=5,hits=0" },
    { ZD_FAULT_OF_SSD, "  read-error \t lba=7  times=0; ",
      "read-error,lba=7,times=0,hits=0" },
    { ZD_FAULT_OF_SSD, "read-error lba=0x10-0x1f",
      "read-error,lba=16-31,hits=0" },
    { ZD_FAULT_OF_SSD, "hang opcode=96", "hang,opcode=0x60,hits=0" },
    { ZD_FAULT_OF_SSD, "slow delay=5", "slow,delay=5ms,hits=0" },
    { ZD_FAULT_OF_SSD, "slow delay=3000ms", "slow,delay=3s,hits=0" },
    { ZD_FAULT_OF_SSD, "slow delay=1500us", "slow,delay=1500us,hits=0" },
    { ZD_FAULT_OF_SSD, "link-drop delay=0", "link-drop,delay=0s,hits=0" },
    { ZD_FAULT_OF_SSD, "panic form=busy", "panic,form=busy,hits=0" },
    { ZD_FAULT_OF_SSD, "missing\nsignature-absent,after=1",
      "missing,hits=0;signature-absent,after=1,hits=0" },
    { ZD_FAULT_OF_SSD, "crc-error,one-in=100,seen=9,hits=2",
      "crc-error,one-in=100,seen=9,hits=2" },
    { ZD_FAULT_OF_SSD, "hang,hits=3", "hang,hits=3" },
    { ZD_FAULT_OF_CARD, "intx-dead;link-width,width=4;spi-corrupt,"
                        "field=drive-count;irq-lost,times=1;"
                        "completion-late,delay=1ms",
      "intx-dead,hits=0;link-width,width=4,hits=0;spi-corrupt,"
      "field=drive-count,hits=0;irq-lost,times=1,hits=0;"
      "completion-late,delay=1ms,hits=0" },
};

static void test_good(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(good); i++) {
        g_autofree char *text = NULL;
        g_autofree char *again = NULL;
        ZdFaults faults;

        init(&faults, good[i].scope, good[i].in);
        text = zd_faults_format(&faults);
        g_assert_cmpstr(text, ==, good[i].out);
        zd_faults_clear(&faults);
        /* what is printed is accepted */
        init(&faults, good[i].scope, text);
        again = zd_faults_format(&faults);
        g_assert_cmpstr(again, ==, text);
        zd_faults_clear(&faults);
    }
}

static const struct {
    ZdFaultScope scope;
    const char *text;
    const char *error;          /* is part of the message */
} bad[] = {
    { ZD_FAULT_OF_SSD, "reed-error", "'reed-error' is no fault of an SSD, "
      "which has: read-error write-fault hang slow crc-error link-drop "
      "missing signature-late signature-absent panic" },
    { ZD_FAULT_OF_SSD, "intx-dead", "is no fault of an SSD" },
    { ZD_FAULT_OF_CARD, "hang", "'hang' is no fault of the card, which has: "
      "completion-late irq-lost intx-dead spi-corrupt link-width" },
    { ZD_FAULT_OF_SSD, "hang,lbs=1", "'lbs' is nothing that fault 'hang' "
      "takes; it takes: lba opcode tag times after one-in" },
    { ZD_FAULT_OF_SSD, "missing,lba=1", "it takes: nothing" },
    { ZD_FAULT_OF_SSD, "hang,lba", "lba= wants a sector, or FIRST-LAST" },
    { ZD_FAULT_OF_SSD, "hang,lba=", "lba= wants" },
    { ZD_FAULT_OF_SSD, "hang,lba=5-", "lba= wants" },
    { ZD_FAULT_OF_SSD, "hang,lba=-5", "lba= wants" },
    { ZD_FAULT_OF_SSD, "hang,lba=9-5", "lba= wants" },
    { ZD_FAULT_OF_SSD, "hang,lba=0x1000000000000", "lba= wants" },
    { ZD_FAULT_OF_SSD, "hang,lba=99999999999999999999999", "lba= wants" },
    { ZD_FAULT_OF_SSD, "hang,opcode=256", "opcode= wants an ATA command" },
    { ZD_FAULT_OF_SSD, "hang,tag=32", "tag= wants 0 to 31" },
    { ZD_FAULT_OF_SSD, "hang,one-in=0", "one-in= wants a number from 1" },
    { ZD_FAULT_OF_SSD, "hang,times=-1", "times= wants" },
    { ZD_FAULT_OF_SSD, "slow", "fault 'slow' needs delay=" },
    { ZD_FAULT_OF_SSD, "slow,delay=2m", "delay= wants a time" },
    { ZD_FAULT_OF_SSD, "slow,delay=ms", "delay= wants a time" },
    { ZD_FAULT_OF_SSD, "slow,delay=90000s", "delay= wants a time" },
    { ZD_FAULT_OF_SSD, "slow,delay=99999999999999999999s", "delay= wants" },
    { ZD_FAULT_OF_SSD, "panic", "fault 'panic' needs form=" },
    { ZD_FAULT_OF_SSD, "panic,form=blue", "form= wants one of: no-capacity "
      "diagnostic busy" },
    { ZD_FAULT_OF_CARD, "spi-corrupt,field=x", "field= wants one of: "
      "signature checksum drive-count serial" },
    { ZD_FAULT_OF_CARD, "link-width,width=8", "width= wants one of: 1 2 4" },
    { ZD_FAULT_OF_SSD, "read-error;;foo", "'foo'" },
};

/* A mistake says what would be right, and leaves what was. */
static void test_bad(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        const char *before = bad[i].scope == ZD_FAULT_OF_SSD ?
                             "missing,hits=0" : "intx-dead,hits=0";
        g_autofree char *error = NULL;
        g_autofree char *text = NULL;
        ZdFaults faults;

        init(&faults, bad[i].scope, before);
        g_assert_false(zd_faults_parse(&faults, bad[i].text, &error));
        if (!strstr(error, bad[i].error)) {
            g_test_message("%s: %s", bad[i].text, error);
            g_test_fail();
        }
        text = zd_faults_format(&faults);
        g_assert_cmpstr(text, ==, before);
        zd_faults_clear(&faults);
    }
}

static void test_filters(void)
{
    const struct {
        const char *text;
        ZdFaultKind kind;
        ZdFaultCommand cmd;
        bool hits;
    } cases[] = {
        { "hang", ZD_FAULT_HANG, nothing, true },
        { "hang", ZD_FAULT_SLOW, nothing, false },
        { "hang,opcode=0x60", ZD_FAULT_HANG, command(0x60, 3, 0, 8), true },
        { "hang,opcode=0x61", ZD_FAULT_HANG, command(0x60, 3, 0, 8), false },
        { "hang,tag=3", ZD_FAULT_HANG, command(0x60, 3, 0, 8), true },
        { "hang,tag=0", ZD_FAULT_HANG, command(0x60, 3, 0, 8), false },
        { "hang,tag=0", ZD_FAULT_HANG, nothing, false },
        { "hang,lba=0", ZD_FAULT_HANG, nothing, false },
        { "hang,lba=7", ZD_FAULT_HANG, command(0x60, 3, 0, 8), true },
        { "hang,lba=8", ZD_FAULT_HANG, command(0x60, 3, 0, 8), false },
        { "hang,lba=8", ZD_FAULT_HANG, command(0x60, 3, 8, 1), true },
        { "hang,lba=8", ZD_FAULT_HANG, command(0x60, 3, 9, 1), false },
        { "hang,lba=5-9", ZD_FAULT_HANG, command(0x60, 3, 0, 100), true },
        { "hang,lba=5-9", ZD_FAULT_HANG, command(0x60, 3, 9, 9), true },
        { "hang,lba=5-9", ZD_FAULT_HANG, command(0x60, 3, 10, 9), false },
        { "read-error", ZD_FAULT_READ_ERROR, command(READ_FPDMA, 0, 0, 1),
          true },
        { "read-error", ZD_FAULT_READ_ERROR, command(WRITE_FPDMA, 0, 0, 1),
          false },
        { "read-error", ZD_FAULT_READ_ERROR, nothing, false },
        { "write-fault", ZD_FAULT_WRITE_FAULT, command(WRITE_FPDMA, 0, 0, 1),
          true },
        { "write-fault", ZD_FAULT_WRITE_FAULT,
          { .opcode = FLUSH_EXT, .tag = -1, .access = ZD_ACCESS_FLUSH },
          true },
        { "write-fault,lba=0-9", ZD_FAULT_WRITE_FAULT,
          { .opcode = FLUSH_EXT, .tag = -1, .access = ZD_ACCESS_FLUSH },
          false },
        { "crc-error", ZD_FAULT_CRC_ERROR, nothing, false },
        { "crc-error", ZD_FAULT_CRC_ERROR,
          { .opcode = IDENTIFY, .tag = -1, .data = true }, true },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        ZdFault *hit;
        ZdFaults faults;

        init(&faults, ZD_FAULT_OF_SSD, cases[i].text);
        hit = zd_faults_fire(&faults, cases[i].kind, &cases[i].cmd);
        if (!hit != !cases[i].hits) {
            g_test_message("case %u: %s", i, cases[i].text);
            g_test_fail();
        }
        g_assert_cmpuint(zd_faults_hits(&faults), ==, cases[i].hits);
        zd_faults_clear(&faults);
    }
}

/* "after" of those that match go well, then "times" of them are hit. */
static void test_when(void)
{
    ZdFaultCommand other = command(READ_FPDMA, 1, 0, 8);
    ZdFaultCommand here = command(READ_FPDMA, 1, 100, 8);
    g_autofree char *text = NULL;
    ZdFaults faults;

    init(&faults, ZD_FAULT_OF_SSD, "read-error,lba=100,times=2,after=3");
    for (unsigned i = 0; i < 10; i++) {
        ZdFault *hit = zd_faults_fire(&faults, ZD_FAULT_READ_ERROR, &here);

        g_assert_cmpint(hit != NULL, ==, i == 3 || i == 4);
        g_assert_null(zd_faults_fire(&faults, ZD_FAULT_READ_ERROR, &other));
    }
    text = zd_faults_format(&faults);
    g_assert_cmpstr(text, ==, "read-error,lba=100,times=2,after=3,seen=5,"
                    "hits=2");
    zd_faults_clear(&faults);

    /* a link that drops does so once, unless the user wants more */
    init(&faults, ZD_FAULT_OF_SSD, "link-drop");
    g_assert_nonnull(zd_faults_fire(&faults, ZD_FAULT_LINK_DROP, &nothing));
    g_assert_null(zd_faults_fire(&faults, ZD_FAULT_LINK_DROP, &nothing));
    zd_faults_clear(&faults);
}

static unsigned count_hits(uint64_t seed, unsigned *first)
{
    ZdFaults faults;
    char *error = NULL;
    unsigned hits;

    zd_faults_init(&faults, ZD_FAULT_OF_SSD, seed);
    g_assert_true(zd_faults_parse(&faults, "hang,one-in=50", &error));
    *first = 0;
    for (unsigned i = 0; i < 50000; i++) {
        if (zd_faults_fire(&faults, ZD_FAULT_HANG, &nothing) && !*first) {
            *first = i + 1;
        }
    }
    hits = zd_faults_hits(&faults);
    zd_faults_clear(&faults);
    return hits;
}

/* The rate is met, and the seed alone decides. */
static void test_random(void)
{
    unsigned first[3], hits[3];

    hits[0] = count_hits(1, &first[0]);
    hits[1] = count_hits(1, &first[1]);
    hits[2] = count_hits(2, &first[2]);
    g_assert_cmpuint(hits[0], ==, hits[1]);
    g_assert_cmpuint(first[0], ==, first[1]);
    g_assert_true(first[0] != first[2] || hits[0] != hits[2]);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmpuint(hits[i], >, 850);
        g_assert_cmpuint(hits[i], <, 1150);
    }
    /* no seed ends the generator */
    g_assert_cmpuint(count_hits(0xb0e43425c2db41f5ull, &first[0]), >, 850);
}

static void test_card(void)
{
    g_autofree char *error = NULL;
    ZdFaultTexts texts;

    g_assert_true(zd_fault_texts_split(&texts, "ssd3:read-error,lba=100; "
                                       "card:intx-dead;;ssd3:hang", 4,
                                       &error));
    g_assert_cmpstr(texts.ssd[3]->str, ==, "read-error,lba=100;hang;");
    g_assert_cmpstr(texts.ssd[0]->str, ==, "");
    g_assert_cmpstr(texts.card->str, ==, "intx-dead;");
    zd_fault_texts_free(&texts);
}

static void test_card_bad(void)
{
    static const char *const wrong[] = {
        "hang", "ssd4:hang", "ssd:hang", "ssd-1:hang", "ssd33:hang",
        "sd0:hang", "cards:intx-dead", ":hang", "ssd0:hang;hang",
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree char *error = NULL;
        ZdFaultTexts texts;

        g_assert_false(zd_fault_texts_split(&texts, wrong[i], 4, &error));
        g_assert_nonnull(strstr(error, "card: ssd0: to ssd3:"));
        zd_fault_texts_free(&texts);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fault/good", test_good);
    g_test_add_func("/fault/bad", test_bad);
    g_test_add_func("/fault/filters", test_filters);
    g_test_add_func("/fault/when", test_when);
    g_test_add_func("/fault/random", test_random);
    g_test_add_func("/fault/card", test_card);
    g_test_add_func("/fault/card-bad", test_card_bad);
    return g_test_run();
}

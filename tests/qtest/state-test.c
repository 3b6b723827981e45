/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The property "state": an SSD goes on in the next QEMU as a real one does
 * after a power cycle, whatever happened to QEMU; and no file, be it damaged,
 * foreign or in use, does more harm than one line and a card that is new.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/crc32c.h"
#include "qapi/qmp/qdict.h"
#include <glib/gstdio.h>
#include <math.h>
#include <sys/resource.h>
#include "hw/zdrive/catalog.h"
#include "hw/zdrive/flash.h"
#include "zdrive-qtest.h"

#define SSDS        8
#define PHY         1

/* Places in the file, as card/state.c has them. */
enum {
    AT_VERSION      = 8,
    AT_POWER        = 12,
    AT_GENERATION   = 16,
    AT_LENGTH       = 24,
    AT_FRONT        = 32,
    AT_SUM          = 36,
    AT_FLASH        = 40,
    HEADER_BYTES    = 104,
};

#define CARD        ZT_CARD ",size=64M,serial=S,wwn=1,state=%s%s"

/* ---- running QEMU ---- */

static ZtCard *boot(const char *path, const char *more)
{
    ZtCard *card = zt_boot(CARD, path, more);

    zt_core_start(&card->core[0]);
    zt_core_start(&card->core[1]);
    return card;
}

/* What the sanitisers say of QEMU's coroutines is not about us. */
static void drop_remarks(char *text)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);

    *text = '\0';
    for (unsigned i = 0; line[i]; i++) {
        if (!strstr(line[i], "WARNING: ASan") &&
            !g_str_has_prefix(line[i], "False positive error") &&
            !g_str_has_prefix(line[i], "For details see")) {
            text = g_stpcpy(g_stpcpy(text, line[i]), line[i + 1] ? "\n" : "");
        }
    }
}

/* A whole life of QEMU that does nothing; what it said, and its status. */
static char *live(const char *args, int *status)
{
    g_autofree char *command = g_strdup_printf(
        "echo '{\"execute\":\"qmp_capabilities\"} {\"execute\":\"quit\"}' | "
        "%s -M q35 -nodefaults -display none -accel qtest -qmp stdio "
        "-plugin %s %s", g_getenv("QTEST_QEMU_BINARY"), zt_module(), args);
    const char *argv[] = { "sh", "-c", command, NULL };
    g_autoptr(GError) error = NULL;
    char *said;

    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL,
                               G_SPAWN_SEARCH_PATH |
                               G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
                               &said, status, &error));
    g_assert_no_error(error);
    drop_remarks(said);
    g_strchomp(said);
    if (*said) {
        g_test_message("%s", said);
    }
    return said;
}

static unsigned lines(const char *text)
{
    unsigned n = *text != 0;

    while ((text = strchr(text, '\n'))) {
        text++;
        n++;
    }
    return n;
}

/* Without a word. */
static void live_well(const char *path, const char *more)
{
    g_autofree char *args = g_strdup_printf(CARD, path, more);
    g_autofree char *said = NULL;
    int status;

    said = live(args, &status);
    g_assert_cmpstr(said, ==, "");
    g_assert_cmpint(status, ==, 0);
}

/* QEMU tells its number, so that one can do to it what libqtest does not. */
static void kill_hard(ZtCard *card, const char *pidfile)
{
    g_autofree char *pid = NULL;

    g_assert_true(g_file_get_contents(pidfile, &pid, NULL, NULL));
    kill(atoi(pid), SIGKILL);
    while (qtest_probe_child(card->qts)) {
        g_usleep(1000);
    }
    /* libqtest takes this death for a failure; what it holds is given up */
    g_free(card->pci);
    g_free(card);
}

static QDict *get(ZtCard *card, unsigned ssd, const char *property)
{
    g_autofree char *path = g_strdup_printf("/machine/peripheral/zd/ssd%u",
                                            ssd);

    return qtest_qmp(card->qts, "{'execute': 'qom-get', 'arguments': "
                     "{'path': %s, 'property': %s}}", path, property);
}

static int64_t smart(ZtCard *card, unsigned ssd, const char *id)
{
    QDict *reply = get(card, ssd, "smart");
    int64_t raw = qdict_get_int(qdict_get_qdict(reply, "return"), id);

    qobject_unref(reply);
    return raw;
}

static void assert_power(ZtCard *card, int64_t cycles, int64_t losses)
{
    for (unsigned i = 0; i < SSDS; i++) {
        g_assert_cmpint(smart(card, i, "12"), ==, cycles);
        g_assert_cmpint(smart(card, i, "174"), ==, losses);
    }
}

static int64_t flash_counter(ZtCard *card, unsigned ssd, const char *name)
{
    QDict *reply = get(card, ssd, "stats");
    QDict *flash = qdict_get_qdict(qdict_get_qdict(reply, "return"), "flash");
    int64_t n = flash ? qdict_get_int(flash, name) : -1;

    qobject_unref(reply);
    return n;
}

static void simple(ZtCard *card, unsigned ssd, ZtCmd cmd)
{
    cmd = zt_on_phy(cmd, ssd % MVS_PHYS);
    zt_good(&card->core[ssd / MVS_PHYS], &cmd);
}

static void with_page(ZtCard *card, ZtCmd cmd, const uint8_t page[ZT_SECTOR])
{
    uint64_t buf = zt_alloc(card, ZT_SECTOR);

    qtest_memwrite(card->qts, buf, page, ZT_SECTOR);
    simple(card, PHY, zt_with_data(cmd, buf, ZT_SECTOR));
}

static void write_pages(ZtCard *card, unsigned ssd, uint64_t lba, unsigned n)
{
    uint64_t buf = zt_alloc(card, 4096 * n);

    zt_fill(card, buf, 4096 * n, lba);
    simple(card, ssd, zt_with_data(zt_ata(ATA_WRITE_DMA_EXT, lba, 8 * n), buf,
                                   4096 * n));
}

/* As a driver does before it lets power go. */
static void standby(ZtCard *card)
{
    for (unsigned i = 0; i < SSDS; i++) {
        simple(card, i, zt_ata(0xe0, 0, 0));
    }
}

/* ---- files ---- */

static char *file_of(const char *name)
{
    return zt_tmp_file(name);
}

static uint8_t *contents(const char *path, size_t *len)
{
    char *data;

    g_assert_true(g_file_get_contents(path, &data, len, NULL));
    return (uint8_t *)data;
}

static void put(const char *path, const void *data, size_t len)
{
    g_assert_true(g_file_set_contents(path, data, len, NULL));
}

static bool same_contents(const char *one, const char *two)
{
    size_t a_len, b_len;
    g_autofree uint8_t *a = contents(one, &a_len);
    g_autofree uint8_t *b = contents(two, &b_len);

    return a_len == b_len && !memcmp(a, b, a_len);
}

static uint64_t generation(const char *path)
{
    size_t len;
    g_autofree uint8_t *data = contents(path, &len);

    g_assert_cmpint(len, >, HEADER_BYTES);
    return ldq_le_p(data + AT_GENERATION);
}

static void repair_sum(uint8_t *data)
{
    uint32_t front = ldl_le_p(data + AT_FRONT);
    uint32_t power = ldl_le_p(data + AT_POWER);

    stl_le_p(data + AT_POWER, 0);
    stl_le_p(data + AT_SUM, 0);
    stl_le_p(data + AT_SUM, crc32c(crc32c(0xffffffff, data, HEADER_BYTES),
                                   data + HEADER_BYTES, front - HEADER_BYTES));
    stl_le_p(data + AT_POWER, power);
}

/* ---- the SSDs go on ---- */

static void test_continues(void)
{
    g_autofree char *path = file_of("state");
    ZtCard *card = boot(path, "");
    int64_t written, hours;

    assert_power(card, 1, 0);
    write_pages(card, 3, 0, 64);
    write_pages(card, 3, 1024, 64);
    qtest_clock_step(card->qts, 90 * 60 * 1000000000ll);
    hours = smart(card, 3, "9");
    written = flash_counter(card, 3, "host_written_bytes");
    g_assert_cmpint(written, ==, 2 * 64 * 4096);
    g_assert_cmpint(hours & 0xffffffff, ==, 1);
    standby(card);
    zt_quit(card);

    card = boot(path, "");
    assert_power(card, 2, 0);
    g_assert_cmpint(flash_counter(card, 3, "host_written_bytes"), ==, written);
    g_assert_cmpint(flash_counter(card, 3, "mapped_pages"), ==, 128);
    g_assert_cmpint(smart(card, 3, "9"), >=, hours);
    write_pages(card, 3, 0, 1);
    g_assert_cmpint(flash_counter(card, 3, "host_written_bytes"), ==,
                    written + 4096);
    /* one SSD is not told that power goes */
    standby(card);
    simple(card, 5, zt_ata(0xe1, 0, 0));
    zt_quit(card);

    card = boot(path, "");
    g_assert_cmpint(smart(card, 5, "174"), ==, 1);
    g_assert_cmpint(smart(card, 4, "174"), ==, 0);
    g_assert_cmpint(smart(card, 5, "12"), ==, 3);
    zt_quit(card);
}

/* What power-on keeps, and what it does not. */
static void test_settings(void)
{
    g_autofree char *path = file_of("settings");
    uint8_t page[ZT_SECTOR] = { 0 }, got[ZT_SECTOR];
    ZtCard *card = boot(path, "");
    uint64_t sectors, buf;
    uint16_t id[256];
    ZtCmd cmd;

    zt_identify(&card->core[0], PHY, id);
    sectors = zt_id_sectors(id);
    /* kept: HPA, password, host log, SMART off; not kept: cache, APM */
    simple(card, PHY, zt_ata(0x27, 0, 0));
    simple(card, PHY, zt_ata(0x37, sectors - 101, 1));
    simple(card, PHY, zt_ata_features(0xef, 0x82, 0, 0));
    simple(card, PHY, zt_ata_features(0xef, 0x05, 0, 0x42));
    memset(page, 0x5a, sizeof(page));
    with_page(card, zt_ata(0x3f, 0x85, 1), page);
    memset(page, 0, sizeof(page));
    strcpy((char *)page + 2, "sesame");
    with_page(card, zt_ata(0xf1, 0, 0), page);
    /* an extended self-test, and off with SMART */
    simple(card, PHY, zt_ata_features(0xb0, 0xd4, 0xc24f02, 0));
    qtest_clock_step(card->qts, 12 * 60 * 1000000000ll);
    simple(card, PHY, zt_ata_features(0xb0, 0xd9, 0xc24f00, 0));
    zt_quit(card);

    card = boot(path, "");
    zt_identify(&card->core[0], PHY, id);
    g_assert_cmpint(zt_id_sectors(id), ==, sectors - 100);
    g_assert_cmphex(id[128] & 0x0f, ==, 0x07);  /* enabled and locked */
    g_assert_cmphex(id[85] & 0x21, ==, 0x20);   /* SMART off, cache on */
    g_assert_cmphex(id[91] & 0xff, ==, 0xfe);
    with_page(card, zt_ata(0xf2, 0, 0), page);
    buf = zt_alloc(card, ZT_SECTOR);
    cmd = zt_with_data(zt_ata(ATA_READ_LOG_EXT, 0x85, 1), buf, ZT_SECTOR);
    simple(card, PHY, cmd);
    qtest_memread(card->qts, buf, got, ZT_SECTOR);
    for (unsigned i = 0; i < ZT_SECTOR; i++) {
        g_assert_cmphex(got[i], ==, 0x5a);
    }
    /* it was interrupted with 8 tenths left, or 7 and a bit */
    simple(card, PHY, zt_with_data(zt_ata(ATA_READ_LOG_EXT, 0x07, 1), buf,
                                   ZT_SECTOR));
    qtest_memread(card->qts, buf, got, ZT_SECTOR);
    g_assert_cmphex(got[2], ==, 1);
    g_assert_cmphex(got[4], ==, 0x02);
    g_assert_cmphex(got[5], ==, 0x27);
    zt_quit(card);
}

static char *firmware(const char *path, const char *more)
{
    ZtCard *card = boot(path, more);
    uint16_t id[256];

    zt_identify(&card->core[0], PHY, id);
    zt_quit(card);
    return zt_id_string(id, 23, 4);
}

/* What was downloaded stays, until the user wants another one. */
static void test_firmware(void)
{
    g_autofree char *path = file_of("firmware");
    ZtCard *card = boot(path, "");
    uint8_t image[ZT_SECTOR] = "ZDRIVEFW" "9.99    ";
    g_autofree char *loaded = NULL;
    g_autofree char *given = NULL;
    g_autofree char *kept = NULL;
    uint32_t sum = 0;

    stl_le_p(image + 16, 1);
    for (unsigned i = 0; i < ZT_SECTOR; i += 4) {
        sum += ldl_le_p(image + i);
    }
    stl_le_p(image + 20, -sum);
    with_page(card, zt_ata_features(0x92, 0x07, 0, 1), image);
    zt_quit(card);
    loaded = firmware(path, "");
    g_assert_cmpstr(loaded, ==, "9.99");
    given = firmware(path, ",firmware=1.23");
    g_assert_cmpstr(given, ==, "1.23");
    kept = firmware(path, ",firmware=1.23");
    g_assert_cmpstr(kept, ==, "1.23");
}

/* ---- how QEMU ends ---- */

static void test_killed(void)
{
    g_autofree char *path = file_of("killed");
    g_autofree char *pid = file_of("killed.pid");
    g_autofree char *more = g_strdup_printf(" -pidfile %s", pid);
    ZtCard *card = boot(path, more);
    int64_t written;

    write_pages(card, 0, 0, 32);
    standby(card);
    zt_quit(card);
    /* the state is from before this power-on ... */
    kill_hard(boot(path, more), pid);
    card = boot(path, more);
    assert_power(card, 3, 1);
    written = flash_counter(card, 0, "host_written_bytes");
    g_assert_cmpint(written, ==, 32 * 4096);
    /* ... or was saved after it, by a pause */
    write_pages(card, 0, 0, 32);
    qtest_qmp_assert_success(card->qts, "{'execute': 'stop'}");
    qtest_qmp_assert_success(card->qts, "{'execute': 'cont'}");
    write_pages(card, 0, 0, 32);
    kill_hard(card, pid);
    card = boot(path, more);
    assert_power(card, 4, 2);
    g_assert_cmpint(flash_counter(card, 0, "host_written_bytes"), ==,
                    2 * written);
    standby(card);
    zt_quit(card);
    /* the first one may be, too */
    g_unlink(path);
    kill_hard(boot(path, more), pid);
    card = boot(path, more);
    assert_power(card, 2, 1);
    zt_quit(card);
}

/* A card that has no power has none to lose. */
static void test_power(void)
{
    g_autofree char *path = file_of("rail");
    g_autofree char *pid = file_of("rail.pid");
    g_autofree char *more = g_strdup_printf(" -pidfile %s", pid);
    ZtCard *card = boot(path, more);

    write_pages(card, 0, 0, 32);
    zt_set(card, -1, "power", "off");
    assert_power(card, 1, 1);
    kill_hard(card, pid);
    card = boot(path, more);
    assert_power(card, 2, 1);
    zt_set(card, -1, "power", "off");
    zt_set(card, -1, "power", "on");
    assert_power(card, 3, 2);
    kill_hard(card, pid);
    card = boot(path, more);
    assert_power(card, 4, 3);
    zt_set(card, -1, "power", "off");
    zt_quit(card);
    card = boot(path, more);
    assert_power(card, 5, 4);
    zt_quit(card);
}

/* Power comes when the machine runs, not before. */
static void test_never_ran(void)
{
    g_autofree char *path = file_of("idle");
    g_autofree char *copy = file_of("idle.copy");
    size_t len;
    g_autofree uint8_t *data = NULL;

    live_well(path, "");
    data = contents(path, &len);
    put(copy, data, len);
    live_well(path, " -S");
    g_assert_true(same_contents(path, copy));
}

static void test_deterministic(void)
{
    g_autofree char *one = file_of("same.1");
    g_autofree char *two = file_of("same.2");

    for (unsigned i = 0; i < 2; i++) {
        const char *path = i ? two : one;
        ZtCard *card = boot(path, "");

        write_pages(card, 2, 40, 64);
        qtest_clock_step(card->qts, 1234567890);
        write_pages(card, 6, 0, 8);
        zt_quit(card);
        card = boot(path, "");
        write_pages(card, 2, 400, 64);
        zt_quit(card);
    }
    g_assert_true(same_contents(one, two));
}

/* A symbolic link stays one. */
static void test_link(void)
{
    g_autofree char *path = file_of("real");
    g_autofree char *link = file_of("link");

    put(path, "", 0);
    g_assert_cmpint(symlink(path, link), ==, 0);
    live_well(link, "");
    g_assert_true(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
    g_assert_cmpint(generation(path), >=, 1);
}

/* The file cannot be written any more: one line each time, QEMU goes on. */
static void test_write_error(void)
{
    g_autofree char *path = file_of("full");
    g_autofree char *obstacle = file_of("full.tmp");
    g_autofree char *err = file_of("full.err");
    g_autofree char *more = g_strdup_printf(" 2>%s", err);
    ZtCard *card = boot(path, more);
    g_autofree char *said = NULL;
    uint64_t before = generation(path);

    g_assert_cmpint(g_mkdir(obstacle, 0700), ==, 0);
    qtest_qmp_assert_success(card->qts, "{'execute': 'stop'}");
    qtest_qmp_assert_success(card->qts, "{'execute': 'cont'}");
    write_pages(card, 0, 0, 1);
    said = (char *)contents(err, &(size_t) { 0 });
    g_test_message("%s", said);
    g_assert_cmpint(lines(g_strchomp(said)), ==, 1);
    g_assert_nonnull(strstr(said, path));
    g_assert_nonnull(strstr(said, "in the way"));
    g_assert_cmpint(generation(path), ==, before);
    g_assert_cmpint(g_rmdir(obstacle), ==, 0);
    zt_quit(card);
    g_assert_cmpint(generation(path), >, before);
}

static void test_in_use(void)
{
    g_autofree char *path = file_of("used");
    g_autofree char *one = g_strdup_printf(CARD, path, "");
    g_autofree char *two = g_strdup_printf(
        "-device zdrive-r4,size=64M,state=%s "
        "-device zdrive-r4,size=64M,state=%s", path, path);
    ZtCard *card = boot(path, "");
    g_autofree char *by_qemu = NULL;
    g_autofree char *by_card = NULL;
    int status;

    /* also after the file has been replaced */
    for (unsigned i = 0; i < 2; i++) {
        g_free(by_qemu);
        by_qemu = live(one, &status);
        g_assert_cmpint(WEXITSTATUS(status), ==, 1);
        g_assert_cmpint(lines(by_qemu), ==, 1);
        g_assert_nonnull(strstr(by_qemu, "in use"));
        qtest_qmp_assert_success(card->qts, "{'execute': 'stop'}");
        qtest_qmp_assert_success(card->qts, "{'execute': 'cont'}");
    }
    zt_quit(card);
    g_unlink(path);
    by_card = live(two, &status);
    g_assert_cmpint(WEXITSTATUS(status), ==, 1);
    g_assert_cmpint(lines(by_card), ==, 1);
    g_assert_nonnull(strstr(by_card, "a file of its own"));
}

/* What somebody else has called like the temporary file is not deleted. */
static void test_foreign_temporary(void)
{
    g_autofree char *path = file_of("foreign");
    g_autofree char *tmp = g_strconcat(path, ".tmp", NULL);
    g_autofree char *args = g_strdup_printf(CARD, path, "");
    g_autofree char *two = g_strdup_printf(
        "-device zdrive-r4,size=64M,state=%s "
        "-device zdrive-r4,size=64M,state=%s", tmp, path);
    g_autofree char *said = NULL;
    g_autofree char *by_card = NULL;
    g_autofree uint8_t *left = NULL;
    int status;
    size_t len;

    put(tmp, "my notes", 8);
    said = live(args, &status);
    g_assert_cmpint(WEXITSTATUS(status), ==, 1);
    g_assert_cmpint(lines(said), ==, 1);
    g_assert_nonnull(strstr(said, tmp));
    g_assert_nonnull(strstr(said, "move that away"));
    left = contents(tmp, &len);
    g_assert_cmpmem(left, len, "my notes", 8);
    /* nor is the file of another card that is called so */
    g_unlink(tmp);
    by_card = live(two, &status);
    g_assert_cmpint(WEXITSTATUS(status), ==, 1);
    g_assert_nonnull(strstr(by_card, "move that away"));
    /* but what a QEMU that was killed has left is */
    put(tmp, "ZDRI", 4);
    live_well(path, "");
    g_assert_false(g_file_test(tmp, G_FILE_TEST_EXISTS));
}

/* Deleted while in use and made by somebody else: that one stays. */
static void test_replaced(void)
{
    g_autofree char *path = file_of("replaced");
    g_autofree char *err = file_of("replaced.err");
    g_autofree char *more = g_strdup_printf(" 2>%s", err);
    ZtCard *card = boot(path, more);
    g_autofree char *said = NULL;
    g_autofree uint8_t *left = NULL;
    size_t len;

    g_assert_cmpint(g_unlink(path), ==, 0);
    put(path, "from the backup", 15);
    qtest_qmp_assert_success(card->qts, "{'execute': 'stop'}");
    left = contents(path, &len);
    g_assert_cmpmem(left, len, "from the backup", 15);
    said = (char *)contents(err, &len);
    g_test_message("%s", said);
    g_assert_nonnull(strstr(said, "no longer the one"));
    /* once the name is free it is saved again */
    g_assert_cmpint(g_unlink(path), ==, 0);
    zt_quit(card);
    live_well(path, "");
}

/* One file for both: neither renamed nor written over. */
static void test_journal(void)
{
    g_autofree char *path = file_of("both");
    g_autofree char *bad = g_strconcat(path, ".bad", NULL);
    g_autofree char *args = g_strdup_printf(
        "-device zdrive-r4,size=64M,state=%s,journal=%s", path, path);
    g_autofree char *said = live(args, &(int) { 0 });

    g_assert_cmpint(lines(said), ==, 1);
    g_assert_nonnull(strstr(said, "in use"));
    g_assert_false(g_file_test(bad, G_FILE_TEST_EXISTS));
}

/* The name of an image that is in use, by mistake: hands off. */
static void test_image(void)
{
    g_autofree char *path = zt_tmp_image("image", 64 * 1024 * 1024);
    g_autofree char *args = g_strdup_printf(
        "-drive if=none,id=d,format=raw,file=%s "
        "-device zdrive-r4,drive=d,state=%s", path, path);
    g_autofree char *bad = g_strconcat(path, ".bad", NULL);
    g_autofree char *said = NULL;
    int status;

    said = live(args, &status);
    g_assert_cmpint(WEXITSTATUS(status), ==, 1);
    g_assert_nonnull(strstr(said, "in use"));
    g_assert_false(g_file_test(bad, G_FILE_TEST_EXISTS));
}

/* A card that comes and goes while the machine runs. */
static void test_plug(void)
{
    g_autofree char *path = file_of("plug");
    ZtCard *card = zt_qemu("-device pcie-root-port,id=rp,addr=3");

    for (unsigned i = 1; i <= 2; i++) {
        qtest_qmp_device_add(card->qts, "zdrive-r4", "zd",
                             "{'bus': 'rp', 'model': 'cm84', 'size': 67108864,"
                             " 'state': %s}", path);
        g_assert_cmpint(smart(card, 0, "12"), ==, i);
        g_assert_cmpint(smart(card, 0, "174"), ==, i - 1);
        qtest_qmp_device_del_send(card->qts, "zd");
        qtest_qmp_assert_success(card->qts, "{'execute': 'system_reset'}");
        qtest_qmp_eventwait(card->qts, "DEVICE_DELETED");
    }
    card->pci = NULL;
    zt_quit(card);
}

/* ---- migration and snapshots ---- */

static void test_migrate(void)
{
    g_autofree char *path = file_of("move");
    g_autofree char *args = g_strdup_printf(CARD, path, "");
    ZtCard *card = boot(path, "");
    g_autofree char *said = NULL;
    int status;

    write_pages(card, 0, 0, 16);
    card = zt_migrate(card, args);
    assert_power(card, 1, 0);
    g_assert_cmpint(flash_counter(card, 0, "host_written_bytes"), ==, 65536);
    said = live(args, &status);
    g_assert_nonnull(strstr(said, "in use"));
    write_pages(card, 0, 0, 16);
    standby(card);
    zt_quit(card);
    card = boot(path, "");
    assert_power(card, 2, 0);
    g_assert_cmpint(flash_counter(card, 0, "host_written_bytes"), ==, 131072);
    zt_quit(card);
}

/* The destination's file is of no use: the state that came is what counts. */
static void test_migrate_rubbish(void)
{
    g_autofree char *path = file_of("leaves");
    g_autofree char *to = file_of("rubbish");
    g_autofree char *err = file_of("rubbish.err");
    g_autofree char *more = g_strdup_printf(" 2>%s", err);
    g_autofree char *args = g_strdup_printf(CARD, to, more);
    ZtCard *card = boot(path, "");
    g_autofree char *said = NULL;

    put(to, "something else", 14);
    write_pages(card, 0, 0, 16);
    card = zt_migrate(card, args);
    g_assert_cmpint(flash_counter(card, 0, "host_written_bytes"), ==, 65536);
    zt_quit(card);
    said = (char *)contents(err, &(size_t) { 0 });
    g_test_message("%s", said);
    g_assert_nonnull(strstr(said, "what came by migration"));
    g_assert_null(strstr(said, "as new"));
    live_well(to, "");
}

/* The source is paused and still there: it has let go of the file. */
static void test_migrate_paused(void)
{
    g_autofree char *path = file_of("paused");
    g_autofree char *stream = file_of("paused.stream");
    g_autofree char *to = g_strdup_printf("exec:cat > %s", stream);
    g_autofree char *from = g_strdup_printf(" -incoming 'exec:cat %s'",
                                            stream);
    ZtCard *card = boot(path, ""), *other;

    write_pages(card, 0, 0, 16);
    qtest_qmp_assert_success(card->qts, "{'execute': 'stop'}");
    qtest_qmp_assert_success(card->qts, "{'execute': 'migrate', "
                             "'arguments': {'uri': %s}}", to);
    for (bool done = false; !done;) {
        QDict *reply = qtest_qmp(card->qts, "{'execute': 'query-migrate'}");

        done = !g_strcmp0(qdict_get_try_str(qdict_get_qdict(reply, "return"),
                                            "status"), "completed");
        qobject_unref(reply);
    }
    other = zt_qemu(CARD, path, from);
    qtest_qmp_assert_success(other->qts, "{'execute': 'cont'}");
    while (flash_counter(other, 0, "host_written_bytes") != 65536) {
        g_usleep(10000);
    }
    other->pci = NULL;
    zt_quit(other);
    zt_quit(card);
    card = boot(path, "");
    assert_power(card, 2, 1);
    zt_quit(card);
}

static void test_snapshot(void)
{
    g_autofree char *path = file_of("snap");
    g_autofree char *copy = file_of("snap.copy");
    g_autofree char *disk = file_of("snap.qcow2");
    g_autofree char *make = g_strdup_printf("%s create -q -f qcow2 %s 1M",
                                            g_getenv("QTEST_QEMU_IMG"), disk);
    g_autofree char *more = g_strdup_printf(" -drive if=none,file=%s", disk);
    g_autofree uint8_t *data = NULL;
    ZtCard *card;
    size_t len;

    g_assert_true(g_spawn_command_line_sync(make, NULL, NULL, NULL, NULL));
    card = boot(path, more);
    write_pages(card, 0, 0, 16);
    data = contents(path, &len);
    put(copy, data, len);
    g_free(qtest_hmp(card->qts, "savevm one"));
    g_assert_true(same_contents(path, copy));
    write_pages(card, 0, 0, 16);
    g_free(qtest_hmp(card->qts, "loadvm one"));
    g_assert_true(same_contents(path, copy));
    g_assert_cmpint(flash_counter(card, 0, "host_written_bytes"), ==, 65536);
    zt_quit(card);
    card = boot(path, more);
    assert_power(card, 2, 1);
    g_assert_cmpint(flash_counter(card, 0, "host_written_bytes"), ==, 65536);
    zt_quit(card);
}

/* With timing=off the model stands still, and stays in the file. */
static void test_timing(void)
{
    g_autofree char *path = file_of("timing");
    g_autofree char *args = g_strdup_printf(CARD, path, "");
    ZtCard *card = boot(path, "");
    g_autofree char *said = NULL;
    int status;

    write_pages(card, 0, 0, 16);
    zt_quit(card);
    card = boot(path, ",timing=off");
    g_assert_cmpint(flash_counter(card, 0, "host_written_bytes"), ==, -1);
    g_assert_cmpint(smart(card, 0, "12"), ==, 2);
    write_pages(card, 0, 0, 16);
    zt_quit(card);
    card = boot(path, "");
    g_assert_cmpint(flash_counter(card, 0, "host_written_bytes"), ==, 65536);
    g_assert_cmpint(smart(card, 0, "12"), ==, 3);
    zt_quit(card);
    /* there never was one */
    g_unlink(path);
    live_well(path, ",timing=off");
    said = live(args, &status);
    g_assert_cmpint(status, ==, 0);
    g_assert_cmpint(lines(said), ==, 1);
    g_assert_nonnull(strstr(said, "begin as new"));
}

/* ---- files that are of no use ---- */

static void spoil_foreign(uint8_t *data, size_t *len)
{
    data[0] = 'X';
}

static void spoil_text(uint8_t *data, size_t *len)
{
    *len = 3;
}

static void spoil_short(uint8_t *data, size_t *len)
{
    *len = 50;
}

static void spoil_truncated(uint8_t *data, size_t *len)
{
    *len -= 1;
}

static void spoil_settings(uint8_t *data, size_t *len)
{
    data[HEADER_BYTES + 400] ^= 0x10;
}

static void spoil_flash(uint8_t *data, size_t *len)
{
    data[*len - 100] ^= 0x10;
}

static void spoil_version(uint8_t *data, size_t *len)
{
    stl_le_p(data + AT_VERSION, 2);
}

static void spoil_power(uint8_t *data, size_t *len)
{
    data[AT_POWER] ^= 1;
}

static void spoil_nothing(uint8_t *data, size_t *len)
{
}

static const struct {
    const char *name;
    void (*spoil)(uint8_t *data, size_t *len);
    const char *more;
    const char *says;
} useless[] = {
    { "foreign", spoil_foreign, "", "is no state of a card" },
    { "foreign-short", spoil_text, "", "is no state of a card" },
    { "header-cut", spoil_short, "", "its end is missing" },
    { "truncated", spoil_truncated, "", "bytes and not" },
    { "settings", spoil_settings, "", "checksum" },
    { "flash", spoil_flash, "", "flash of SSD 7: the state is damaged" },
    { "version", spoil_version, "", "is of version 2" },
    { "power", spoil_power, "", "header is wrong" },
    { "size", spoil_nothing, ",size=128M", "has 8388608 bytes per SSD" },
    { "model", spoil_nothing, ",model=rm88", "has model cm88" },
    { "serial", spoil_nothing, ",serial=T", "has serial number S0" },
    { "wwn", spoil_nothing, ",wwn=2", "world wide name 0x1, " },
};

static void test_useless(const void *index)
{
    unsigned n = GPOINTER_TO_UINT(index);
    g_autofree char *path = file_of(useless[n].name);
    g_autofree char *bad = g_strconcat(path, ".bad", NULL);
    g_autofree char *args = g_strdup_printf(CARD, path, useless[n].more);
    g_autofree uint8_t *data = NULL;
    g_autofree uint8_t *aside = NULL;
    g_autofree char *said = NULL;
    size_t len, aside_len;
    int status;
    ZtCard *card;

    live_well(path, "");
    data = contents(path, &len);
    useless[n].spoil(data, &len);
    put(path, data, len);
    said = live(args, &status);
    g_assert_cmpint(status, ==, 0);
    g_assert_cmpint(lines(said), ==, 1);
    g_assert_nonnull(strstr(said, useless[n].says));
    g_assert_nonnull(strstr(said, path));
    g_assert_nonnull(strstr(said, bad));
    aside = contents(bad, &aside_len);
    g_assert_cmpmem(aside, aside_len, data, len);
    /* the second power cycle of a card that was new */
    card = boot(path, useless[n].more);
    assert_power(card, 2, 1);
    zt_quit(card);
}

static void test_empty(void)
{
    g_autofree char *path = file_of("empty");

    put(path, "", 0);
    live_well(path, "");
    live_well(path, "");
}

/* What was put aside is never overwritten. */
static void test_aside(void)
{
    g_autofree char *path = file_of("twice");
    g_autofree char *args = g_strdup_printf(CARD, path, "");
    static const char *const names[] = { ".bad", ".bad.1", ".bad.2" };

    for (unsigned i = 0; i < 3; i++) {
        g_autofree char *said = NULL;
        char text[2] = { '0' + i };
        int status;

        put(path, text, 1);
        said = live(args, &status);
        g_assert_cmpint(status, ==, 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        g_autofree char *bad = g_strconcat(path, names[i], NULL);
        size_t len;
        g_autofree uint8_t *data = contents(bad, &len);

        g_assert_cmpint(len, ==, 1);
        g_assert_cmpint(data[0], ==, '0' + i);
    }
}

/* ---- chance ---- */

#define CARDS       16
#define ROUNDS      2

/* Many files at once, a card for each; returns how many lines were said. */
static unsigned load_many(void (*spoil)(uint8_t *data, size_t len,
                                        GRand *rand), GRand *rand)
{
    g_autofree char *path = file_of("chance");
    g_autofree uint8_t *data = NULL;
    g_autofree char *said = NULL;
    GString *args = g_string_new(NULL);
    size_t len;
    int status;

    g_unlink(path);
    live_well(path, "");
    data = contents(path, &len);
    for (unsigned i = 0; i < CARDS; i++) {
        g_autofree char *name = g_strdup_printf("%s.%u", path, i);
        g_autofree uint8_t *copy = g_memdup2(data, len);

        spoil(copy, len, rand);
        put(name, copy, len);
        g_string_append_printf(args, "-device zdrive-r4,size=64M,serial=S,"
                               "wwn=1,romfile=,state=%s ", name);
    }
    said = live(args->str, &status);
    g_string_free(args, true);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 0);
    zt_remove_tmp();
    return lines(said);
}

static void flip(uint8_t *data, size_t len, GRand *rand)
{
    /* half of them where most of the meaning is */
    size_t most = g_rand_boolean(rand) ? len : ldl_le_p(data + AT_FRONT);

    data[g_rand_int_range(rand, 0, most)] ^= 1 << g_rand_int_range(rand, 0, 8);
}

/* Whatever bit is wrong, it is seen. */
static void test_flips(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);

    for (unsigned i = 0; i < ROUNDS; i++) {
        g_assert_cmpint(load_many(flip, rand), ==, CARDS);
    }
}

static void forge(uint8_t *data, size_t len, GRand *rand)
{
    uint32_t front = ldl_le_p(data + AT_FRONT);
    bool header = g_rand_int_range(rand, 0, 4) == 0;

    for (unsigned n = g_rand_int_range(rand, 1, 20); n; n--) {
        size_t at = g_rand_int_range(rand, HEADER_BYTES + 100, front);

        if (header) {
            at = g_rand_int_range(rand, AT_LENGTH, HEADER_BYTES);
        }
        data[at] = g_rand_int(rand);
    }
    if (ldl_le_p(data + AT_FRONT) > HEADER_BYTES &&
        ldl_le_p(data + AT_FRONT) <= len) {
        repair_sum(data);
    }
}

/* Somebody has made them on purpose: any answer will do, but there is one. */
static void test_forged(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(2);

    for (unsigned i = 0; i < ROUNDS; i++) {
        load_many(forge, rand);
    }
}

/* ---- speed ---- */

#define TOUCHED     (100ull * 1000 * 1000 * 1000)

static double processor_seconds(void)
{
    struct rusage use;

    getrusage(RUSAGE_CHILDREN, &use);
    return use.ru_utime.tv_sec + use.ru_stime.tv_sec +
           (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

typedef struct Used {
    double wall, processor;
} Used;

/* What a QEMU takes that does nothing; the least of a few, others work, too. */
static Used least(const char *args)
{
    Used least = { INFINITY, INFINITY };

    for (unsigned i = 0; i < 3; i++) {
        double before = processor_seconds();
        int64_t start = g_get_monotonic_time();
        g_autofree char *said = NULL;
        int status;

        said = live(args, &status);
        g_assert_cmpstr(said, ==, "");
        least.processor = MIN(least.processor, processor_seconds() - before);
        least.wall = MIN(least.wall,
                         (g_get_monotonic_time() - start) / 1e6);
    }
    return least;
}

/* The models of a file are replaced by ones of which @TOUCHED is in use. */
static uint64_t fill_card(const char *path)
{
    const ZdProduct *p = zd_catalog_find("zdrive-r4", "cm88");
    uint64_t sectors = zd_catalog_idema_sectors(
        zd_catalog_capacity(p, 1600)->ssd_gb);
    ZdFlashOptions options = { .dies = zd_flash_dies(p->flash, sectors) };
    size_t len;
    g_autofree uint8_t *data = contents(path, &len);
    uint32_t front = ldl_le_p(data + AT_FRONT);
    uint64_t length = front;
    FILE *f = fopen(path, "w");

    fseek(f, front, SEEK_SET);
    for (unsigned i = 0; i < SSDS; i++) {
        ZdFlash *flash = zd_flash_new(p->flash, sectors, i, &options);
        g_autofree uint8_t *block = NULL;

        zd_flash_prefill(flash, 0, TOUCHED / SSDS / 512, 31);
        block = zd_flash_save(flash, &len);
        zd_flash_free(flash);
        g_assert_cmpint(fwrite(block, 1, len, f), ==, len);
        stq_le_p(data + AT_FLASH + 8 * i, len);
        length += len;
    }
    stq_le_p(data + AT_LENGTH, length);
    repair_sum(data);
    rewind(f);
    g_assert_cmpint(fwrite(data, 1, front, f), ==, front);
    g_assert_cmpint(fclose(f), ==, 0);
    return length;
}

/*
 * With -S power does not come, so that nothing is saved at the end; without it
 * the file is written twice, when the machine stops and when power goes.
 */
static void test_speed(void)
{
    g_autofree char *path = file_of("large");
    g_autofree char *args = g_strdup_printf(
        "-S -device zdrive-r4,capacity-gb=1600,state=%s", path);
    const char *running = args + strlen("-S ");
    Used without, loaded, saved;
    uint64_t length;

    least(running);
    without = least(args);
    length = fill_card(path);
    loaded = least(args);
    saved = least(running);
    g_test_message("100 GB touched: %.1f MB, loaded in %.2f s (%.2f s of the "
                   "processor), saved twice in %.2f s (%.2f s)", length / 1e6,
                   loaded.wall - without.wall,
                   loaded.processor - without.processor,
                   saved.wall - loaded.wall,
                   saved.processor - loaded.processor);
    /* the clock on the wall knows of other work, too */
    g_assert_cmpfloat(loaded.processor - without.processor, <, 2);
}

static const ZtCase cases[] = {
    { "continues", test_continues },
    { "settings", test_settings },
    { "firmware", test_firmware },
    { "killed", test_killed },
    { "power", test_power },
    { "never-ran", test_never_ran },
    { "deterministic", test_deterministic },
    { "link", test_link },
    { "write-error", test_write_error },
    { "in-use", test_in_use },
    { "foreign-temporary", test_foreign_temporary },
    { "replaced", test_replaced },
    { "journal", test_journal },
    { "image", test_image },
    { "plug", test_plug },
    { "migrate", test_migrate },
    { "migrate-rubbish", test_migrate_rubbish },
    { "migrate-paused", test_migrate_paused },
    { "snapshot", test_snapshot },
    { "timing", test_timing },
};

static const ZtCase file_cases[] = {
    { "empty", test_empty },
    { "aside", test_aside },
    { "speed", test_speed },
};

static const ZtCase chance_cases[] = {
    { "flips", test_flips },
    { "forged", test_forged },
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    zt_add_cases("state", cases, ARRAY_SIZE(cases));
    zt_add_cases("state-file", file_cases, ARRAY_SIZE(file_cases));
    zt_add_cases("state-chance", chance_cases, ARRAY_SIZE(chance_cases));
    for (unsigned i = 0; i < ARRAY_SIZE(useless); i++) {
        g_autofree char *path = g_strdup_printf("zdrive/state-file/%s",
                                                useless[i].name);

        qtest_add_data_func(path, GUINT_TO_POINTER(i), test_useless);
    }
    return zt_run_tests();
}

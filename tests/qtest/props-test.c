/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties that do not fit: QEMU ends with status 1 and exactly one line
 * that names the value and says what would be possible.  What is fine at the
 * edge of the rules is accepted.
 *
 * How the module loads, its help and its ABI guard: tests/host/loading.py.
 */
#include "qemu/osdep.h"
#include "qapi/qmp/qdict.h"
#include "zdrive-qtest.h"

#define MIB     (1024 * 1024ull)

/* Images that the tables name as drives d0 to d7, ro and short. */
static const struct {
    const char *id;
    uint64_t len;
    const char *options;
} images[] = {
    { "d0", 64 * MIB, "" },
    { "d1", 64 * MIB, "" },
    { "d2", 64 * MIB, "" },
    { "d3", 64 * MIB, "" },
    { "ro", 64 * MIB, ",readonly=on" },
    { "short", MIB, "" },
    { "odd", 64 * MIB + 512, "" },
    { "empty", 0, "" },
    { "stop", 64 * MIB, ",werror=stop" },
    { "ignore", 64 * MIB, ",werror=ignore" },
    { "romem", MIB / 4, ",readonly=on" },
};

/* "-drive" arguments for every image whose id @props uses. */
static char *drive_args(const char *props)
{
    GString *args = g_string_new(NULL);
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(images); i++) {
        g_autofree char *used = g_strdup_printf("=%s,", images[i].id);
        g_autofree char *all = g_strdup_printf("%s,", props);

        if (strstr(all, used)) {
            g_autofree char *path = zt_tmp_image(images[i].id, images[i].len);

            g_string_append_printf(args, "-drive if=none,id=%s,format=raw,"
                                   "file=%s%s ", images[i].id, path,
                                   images[i].options);
        }
    }
    return g_string_free(args, false);
}

typedef struct Bad {
    const char *name;
    const char *props;
    const char *says[3];
} Bad;

static const Bad bad[] = {
    { "model", "model=zm99", { "zm99", "cm84 cm88 rm84 rm88" } },
    { "model-empty", "model=", { "model", "cm84 cm88 rm84 rm88" } },
    { "model-case", "model=CM88", { "CM88", "cm84 cm88 rm84 rm88" } },
    { "capacity-unsold", "capacity-gb=1000", { "1000", "800 1600 3200" } },
    { "capacity-model", "model=rm84,capacity-gb=1600",
      { "1600", "rm84", "300 600 1200" } },
    { "capacity-text", "capacity-gb=big", { "capacity-gb" } },
    { "size-multiple", "size=1000000", { "size", "1000000", "1048576" } },
    { "size-small", "size=512", { "size", "524288" } },
    { "size-huge", "size=128T", { "size", "64 TiB" } },
    { "size-text", "size=big", { "size" } },
    { "size-capacity", "size=1G,capacity-gb=800",
      { "size", "capacity-gb" } },
    { "drive-and-member", "model=cm84,drive=d0,drive3=d1",
      { "drive", "drive3" } },
    { "member-missing", "model=cm84,drive0=d0,drive1=d1,drive2=d2",
      { "drive3", "missing" } },
    { "member-missing-first", "model=cm84,drive1=d1,drive2=d2,drive3=d3",
      { "drive0", "missing" } },
    { "member-beyond", "model=cm84,drive5=d0", { "drive5", "cm84" } },
    { "member-twice", "model=cm84,drive0=d0,drive1=d0,drive2=d2,drive3=d3",
      { "d0", "in use" } },
    { "no-node", "drive=nowhere", { "drive", "nowhere" } },
    { "no-node-member", "model=cm84,drive0=nowhere", { "drive0", "nowhere" } },
    { "read-only", "drive=ro", { "ro", "read-only" } },
    { "read-only-member", "model=cm84,drive0=d0,drive1=d1,drive2=ro,"
      "drive3=d3", { "ro", "read-only" } },
    { "short-capacity", "drive=short,capacity-gb=800", { "short", "1048576" } },
    { "short-size", "drive=short,size=64M", { "short", "1048576",
                                              "67108864" } },
    { "short-member", "model=cm84,drive0=d0,drive1=d1,drive2=short,drive3=d3",
      { "short", "1048576", "67108864" } },
    { "drive-length", "drive=odd", { "67109376" } },
    { "drive-empty", "drive=empty", { "0 bytes" } },
    { "werror-stop", "drive=stop", { "werror" } },
    { "werror-ignore", "drive=ignore", { "werror" } },
    { "timing", "timing=fast", { "fast", "model", "off" } },
    { "serial-long", "serial=01234567890123456789", { "serial", "19" } },
    { "serial-empty", "serial=", { "serial", "19" } },
    { "serial-ascii", "serial=M\xc3\xbcller", { "serial", "ASCII" } },
    { "serial-control", "serial=a\tb", { "serial", "ASCII" } },
    { "firmware-long", "firmware=2.2512345", { "firmware", "8" } },
    { "firmware-empty", "firmware=", { "firmware", "8" } },
    { "firmware-ascii", "firmware=2\xc2\xb2", { "firmware", "ASCII" } },
    { "wwn-text", "wwn=unique", { "wwn" } },
    { "wwn-wraps", "wwn=-1", { "wwn 0xffffffffffffffff", "smaller" } },
    { "seed-text", "seed=random", { "seed" } },
    { "state-no-folder", "state=/nowhere/zd.state",
      { "/nowhere", "make it, or give another name" } },
    { "state-slash", "state=/tmp/none/", { "/tmp/none/", "another name" } },
    { "state-folder", "state=/tmp", { "/tmp", "another name" } },
    { "state-device", "state=/dev/null", { "/dev/null", "regular file" } },
    { "state-read-only", "state=/proc/zd.state",
      { "/proc/zd.state", "folder writable" } },
    { "flash-read-only", "flash=romem", { "flash", "read-only" } },
    { "journal-folder", "journal=/tmp", { "journal", "another name" } },
    { "journal-no-folder", "journal=/nowhere/j",
      { "journal", "/nowhere/j", "another name" } },
    { "journal-empty", "journal=", { "journal", "another name" } },
    { "journal-device", "journal=/dev/null",
      { "journal", "/dev/null", "regular file" } },
    { "mark", "mark=x", { "mark", "when the card is there" } },
    { "cut-time", "power-cut=time=90000s", { "time wants", "one day" } },
    { "cut-ramp", "power-cut=time=1s ramp=90000s", { "ramp=", "one day" } },
    { "unknown", "colour=blue", { "colour" } },
    { "romfile", "romfile=/nowhere/rom.bin", { "/nowhere/rom.bin" } },
};

static void test_bad(const void *data)
{
    const Bad *b = &bad[GPOINTER_TO_UINT(data)];
    g_autofree char *drives = drive_args(b->props);
    g_autofree char *command = g_strdup_printf(
        "%s -M q35 -nodefaults -display none -accel qtest -S -plugin %s %s "
        "-device 'zdrive-r4,%s'", g_getenv("QTEST_QEMU_BINARY"), zt_module(),
        drives, b->props);
    g_autofree char *out = NULL;
    g_autofree char *err = NULL;
    g_auto(GStrv) lines = NULL;
    g_autoptr(GError) error = NULL;
    int status;
    unsigned i;

    g_assert_true(g_spawn_command_line_sync(command, &out, &err, &status,
                                            &error));
    g_assert_no_error(error);
    g_test_message("%s", g_strchomp(err));
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 1);
    g_assert_cmpstr(out, ==, "");
    lines = g_strsplit(err, "\n", -1);
    g_assert_cmpint(g_strv_length(lines), ==, 1);
    for (i = 0; i < ARRAY_SIZE(b->says) && b->says[i]; i++) {
        /* what QEMU repeats of the command line does not count */
        const char *message = strstr(err, b->props);

        message = message ? message + strlen(b->props) : err;
        g_assert_nonnull(strstr(message, b->says[i]));
    }
}

/* On the edge, but right. */
static const struct {
    const char *name;
    const char *props;
    unsigned word, words;       /* an IDENTIFY string of SSD 3 ... */
    const char *text;           /* ... that has to be this */
} good[] = {
    { "serial-19", "serial=0123456789abcdefXYZ", 10, 10,
      "0123456789abcdefXYZ3" },
    { "serial-1", "serial=Z", 10, 10, "Z3" },
    { "serial-blank", "serial=a b", 10, 10, "a b3" },
    { "firmware-8", "firmware=12345678", 23, 4, "12345678" },
    { "firmware-cm", "model=cm84", 23, 4, "2.25" },
    { "firmware-rm", "model=rm88", 23, 4, "3.20E" },
    { "model-cm84", "model=cm84", 27, 20, "OCZ Z-DRIVE R4 CM84" },
    { "model-cm88", "model=cm88", 27, 20, "OCZ Z-DRIVE R4 CM88" },
    { "model-rm84", "model=rm84", 27, 20, "OCZ Z-DRIVE R4 RM84" },
    { "model-rm88", "model=rm88", 27, 20, "OCZ Z-DRIVE R4 RM88" },
    { "timing-model", "timing=model", 0, 0, "" },
    { "timing-off", "timing=off", 0, 0, "" },
    { "drive-longer", "drive=odd,size=64M", 0, 0, "" },
    { "drive-same-length", "drive=d0,size=64M", 0, 0, "" },
    { "members", "model=rm84,drive0=d0,drive1=d1,drive2=d2,drive3=d3", 0, 0,
      "" },
};

static void test_good(const void *data)
{
    unsigned n = GPOINTER_TO_UINT(data);
    g_autofree char *drives = drive_args(good[n].props);
    ZtCard *card = zt_boot("%s " ZT_CARD ",'%s'", drives, good[n].props);
    g_autofree char *text = NULL;
    uint16_t id[256];

    zt_core_start(&card->core[0]);
    zt_identify(&card->core[0], 3, id);
    text = zt_id_string(id, good[n].word, good[n].words);
    g_assert_cmpstr(text, ==, good[n].text);
    zt_quit(card);
}

static uint64_t wwn_of(const uint16_t id[256])
{
    return (uint64_t)id[108] << 48 | (uint64_t)id[109] << 32 |
           (uint64_t)id[110] << 16 | id[111];
}

static void test_wwn(void)
{
    ZtCard *card = zt_boot(ZT_CARD ",wwn=0x5e83a97000001230");
    unsigned i;

    for (i = 0; i < MVS_CORES * MVS_PHYS; i++) {
        uint16_t id[256];

        if (i % MVS_PHYS == 0) {
            zt_core_start(&card->core[i / MVS_PHYS]);
        }
        zt_identify(&card->core[i / MVS_PHYS], i % MVS_PHYS, id);
        g_assert_cmphex(wwn_of(id), ==, 0x5e83a97000001230 + i);
    }
    zt_quit(card);
}

/* Serial number and WWN of SSD 0 of a card with @props. */
static char *identity(const char *props)
{
    ZtCard *card = zt_boot(ZT_CARD "%s", props);
    g_autofree char *serial = NULL;
    char *all;
    uint16_t id[256];

    zt_core_start(&card->core[0]);
    zt_identify(&card->core[0], 0, id);
    serial = zt_id_string(id, 10, 10);
    g_assert_cmpmem(serial, 4, "OCZ-", 4);
    g_assert_cmpint(strlen(serial), ==, 20);
    g_assert_cmphex(wwn_of(id) >> 36, ==, 0x5e83a97);
    all = g_strdup_printf("%s %" PRIx64, serial, wwn_of(id));
    zt_quit(card);
    return all;
}

/* The seed makes the identity, and nothing else does. */
static void test_seed(void)
{
    g_autofree char *one = identity(",seed=1");
    g_autofree char *again = identity(",seed=1,size=64M");
    g_autofree char *two = identity(",seed=2");
    g_autofree char *none = identity("");
    g_autofree char *zero = identity(",seed=0");

    g_assert_cmpstr(one, ==, again);
    g_assert_cmpstr(one, !=, two);
    g_assert_cmpstr(none, ==, zero);
    g_assert_cmpstr(one, !=, zero);
}

/* A bad value at run time: an error of QMP, and QEMU goes on. */
static void test_device_add(void)
{
    ZtCard *card = zt_qemu("-device pcie-root-port,id=rp,addr=3");
    QDict *reply;
    unsigned i;

    for (i = 0; i < 3; i++) {
        reply = qtest_qmp(card->qts, "{'execute': 'device_add', 'arguments': "
                          "{'driver': 'zdrive-r4', 'id': 'zd', 'bus': 'rp', "
                          "'timing': 'fast'}}");
        g_assert_true(qdict_haskey(reply, "error"));
        qobject_unref(reply);
    }
    qtest_qmp_device_add(card->qts, "zdrive-r4", "zd",
                         "{'bus': 'rp', 'model': 'cm84'}");
    card->pci = NULL;
    zt_quit(card);
}

static const ZtCase cases[] = {
    { "wwn", test_wwn },
    { "seed", test_seed },
    { "device-add", test_device_add },
};

int main(int argc, char **argv)
{
    unsigned i;

    g_test_init(&argc, &argv, NULL);
    zt_add_cases("props", cases, ARRAY_SIZE(cases));
    for (i = 0; i < ARRAY_SIZE(bad); i++) {
        zt_add_variant("props", "bad", bad[i].name, i, test_bad);
    }
    for (i = 0; i < ARRAY_SIZE(good); i++) {
        zt_add_variant("props", "good", good[i].name, i, test_good);
    }
    return zt_run_tests();
}
